#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "bloomery/core/error.hpp"
#include "job.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

using content = image_sink::content;

// ---- sending

// A filter that a client reads in pieces. Its checksums are kept: computing them reads all of it.
struct reading {
  std::uint64_t id;
  std::uint64_t changes;
  content what;
  image_source source;
};
constexpr std::size_t most_readings = 16;

std::list<reading> readings;

image_source unprepared(const value& v, content what) {
  return what == content::dump ? image_source(v.filter(), v.facts, image_source::when::later)
                               : image_source(v.filter(), image_source::when::later);
}

// The source kept for this filter, or null. Refuses if it has changed since the client began.
const image_source* kept_source(const value& v, content what, bool from_start) {
  const auto found = std::find_if(readings.begin(), readings.end(),
                                  [&](const reading& r) { return r.id == v.id && r.what == what; });
  if (found == readings.end()) return nullptr;
  if (found->changes == v.changes) return &found->source;
  readings.erase(found);
  if (from_start) return nullptr;
  throw refusal("ERR the filter changed meanwhile; begin again at 0, or copy it first");
}

using reply_function = void (*)(const call&, const image_source&, std::uint64_t iterator);

class preparation final : public job {  // computes and keeps checksums; sends the first piece
 public:
  preparation(const value& v, content what, reply_function answer, std::uint64_t iterator)
      : made_{v.id, v.changes, what, unprepared(v, what)}, answer_(answer), iterator_(iterator) {}

  bool step() override { return made_.source.prepare(step_bytes); }
  void finish(const call& c) override {
    if (readings.size() == most_readings) readings.pop_back();
    readings.push_front(std::move(made_));
    answer_(c, readings.front().source, iterator_);
  }

 private:
  reading made_;
  reply_function answer_;
  std::uint64_t iterator_;
};

void send_piece(const call& c, const family& of, content what, std::uint64_t iterator,
                reply_function answer) {
  std::unique_ptr<job> work;
  std::uint64_t bytes = 0;
  {
    const opened_key key(c, 1, api::read_only);
    const value& v = key.get(of);
    if (const image_source* const kept = kept_source(v, what, iterator == 0)) {
      answer(c, *kept, iterator);
      return;
    }
    bytes = v.bytes();
    work = std::make_unique<preparation>(v, what, answer, iterator);
  }
  constexpr std::array<std::size_t, 1> keys = {1};
  run_job(c, of, keys, bytes, std::move(work));
}

template <bool EndsWithNull>
void answer_dump(const call& c, const image_source& source, std::uint64_t iterator) {
  const std::uint64_t offset = iterator == 0 ? 0 : dump_start_bytes + iterator - 1;
  const auto piece = source.read(offset, iterator == 0 ? dump_start_bytes : dump_piece_bytes);
  const std::uint64_t end = offset + piece.size();
  if (EndsWithNull && piece.empty()) {
    api::ReplyWithArray(c.ctx, 2);
    api::ReplyWithLongLong(c.ctx, 0);
    api::ReplyWithNull(c.ctx);
  } else {
    reply_piece(c, piece.empty() ? 0 : 1 + end - dump_start_bytes, piece);
  }
}

void answer_export(const call& c, const image_source& source, std::uint64_t offset) {
  const auto piece = source.read(offset, dump_piece_bytes);
  const std::uint64_t end = offset + piece.size();
  reply_piece(c, end < source.bytes() && !piece.empty() ? end : 0, piece);
}

// ---- receiving

struct place {
  int database;
  std::string key;
  content what;
  auto operator<=>(const place&) const = default;
};
struct writing {
  image_sink sink;
  long long last_piece;
};
std::map<place, writing> writings;
constexpr long long patience_ms = 60'000;
constexpr std::size_t most_writings = 64;

void drop_abandoned(long long now) {
  std::erase_if(writings, [&](const auto& w) { return now - w.second.last_piece > patience_ms; });
  if (writings.size() >= most_writings) {
    throw refusal("ERR too many filters are being loaded; finish some of them first");
  }
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// Sends replicas the whole filter that a client sent in pieces.
void replicate_pieces(const call& c, const value& v, const image_source& source) {
  std::size_t most = dump_start_bytes;
  for (std::uint64_t offset = 0; offset < source.bytes(); most = dump_piece_bytes) {
    const auto piece = source.read(offset, most);
    offset += piece.size();
    api::Replicate(c.ctx, v.kin->load_command, "slb", c.args[1],
                   static_cast<long long>(1 + offset - dump_start_bytes),
                   reinterpret_cast<const char*>(piece.data()), piece.size());
  }
}

// What a command does with a filter that is complete.
struct landing {
  const family& of;
  const char* event;
  void (*adopt)(value&) = nullptr;
  const char* damaged = nullptr;  // said instead of what is wrong
};

// Checks a complete stream and makes it the key's value.
class arrival final : public job {
 public:
  arrival(image_sink sink, const landing& how) : sink_(std::move(sink)), how_(how) {}

  [[nodiscard]] std::uint64_t bytes() const { return sink_->received(); }

  bool step() override {
    try {
      dumped got = sink_->finish();
      sink_.reset();
      check_kind(how_.of, got.filter);
      made_ = std::make_unique<value>(std::move(got), how_.of);
    } catch (const bloomery::error& e) {
      if (how_.damaged == nullptr || e.code() == bloomery::errc::no_memory) throw;
      throw refusal(how_.damaged);
    }
    if (how_.adopt != nullptr) how_.adopt(*made_);
    source_.emplace(made_->filter(), made_->facts);
    return true;
  }
  void finish(const call& c) override {
    opened_key key(c, 1, api::read_write);
    if (!key.empty()) throw refusal("ERR item exists");
    value& v = key.set(std::move(made_));
    replicate_pieces(c, v, *source_);
    changed(c, 1, v, how_.event);
    reply_ok(c);
  }
  void come_too_late(const call& c) override { finish(c); }

 private:
  std::optional<image_sink> sink_;
  landing how_;
  std::unique_ptr<value> made_;
  std::optional<image_source> source_;  // the image of the new value
};

// Takes one piece. If it was the last one, returns the work that is left to do.
std::unique_ptr<arrival> take_piece(const call& c, const place& at, bool first,
                                    const landing& how) {
  const long long now = api::Milliseconds();
  if (first) {
    writings.erase(at);
    drop_abandoned(now);
    const std::uint64_t most = c.is_replayed() ? UINT64_MAX : most_filter_bytes();
    writings.emplace(at, writing{image_sink(at.what, most), now});
  }
  writing& w = writings.at(at);
  w.last_piece = now;
  try {
    const bool knew = w.sink.expected().has_value();
    w.sink.append(bytes_of(c.text(3)));
    if (!knew && w.sink.expected()) check_memory(c.ctx, *w.sink.expected(), *w.sink.expected());
    if (!w.sink.complete()) return nullptr;
    auto work = std::make_unique<arrival>(std::move(w.sink), how);
    writings.erase(at);
    return work;
  } catch (...) {
    writings.erase(at);
    throw;
  }
}

// Takes one piece and replies, either at once or when the work on the last one is done.
void take_and_reply(const call& c, const place& at, bool first, const landing& how) {
  auto work = take_piece(c, at, first, how);
  if (work == nullptr) {
    reply_ok(c);
    return;
  }
  constexpr std::array<std::size_t, 1> keys = {1};
  if (work->bytes() >= slow_bytes && may_wait(c)) {
    run_in_thread(c, how.of, keys, std::move(work));
  } else {
    work->step();
    work->finish(c);
  }
}

std::uint64_t iterator_of(const call& c, const char* otherwise) {
  const auto n = c.integer(2);
  if (!n || *n < 0) throw refusal(otherwise);
  return static_cast<std::uint64_t>(*n);
}

}  // namespace

void scan_dump(const call& c, const family& of, const dump_texts& say) {
  send_piece(c, of, content::dump, iterator_of(c, say.bad_iterator),
             say.ends_with_null ? answer_dump<true> : answer_dump<false>);
}

void load_chunk(const call& c, const family& of, const dump_texts& say) {
  const std::uint64_t iterator = iterator_of(c, say.bad_load_iterator);
  const bool first = iterator == 1;
  {
    opened_key key(c, 1, api::read_only);
    if (key.find_or_refuse(of) != nullptr) throw refusal(say.no_start);
  }
  const place at{api::GetSelectedDb(c.ctx), std::string(c.text(1)), content::dump};
  const auto w = writings.find(at);
  if (!first) {
    if (w == writings.end()) throw refusal(say.no_start);
    const image_sink& sink = w->second.sink;
    if (sink.received() + c.text(3).size() != dump_start_bytes + iterator - 1) {
      throw refusal(say.no_start);
    }
    if (sink.received() + c.text(3).size() > sink.expected().value_or(0))
      throw refusal(say.too_long);
  } else if (c.text(3).size() != dump_start_bytes) {
    throw refusal(say.bad_start);
  }
  try {
    take_and_reply(c, at, first, {.of = of, .event = "loadchunk", .damaged = say.bad_start});
  } catch (const bloomery::error& e) {
    if (e.code() == bloomery::errc::no_memory) throw;
    throw refusal(say.bad_start);
  }
}

void export_image(const call& c, const family& of) {
  send_piece(c, of, content::image,
             iterator_of(c, "ERR iterator must be 0 or one that this command gave"), answer_export);
}

void import_image(const call& c, const family& of, void (*adopt)(value&)) {
  const std::uint64_t offset =
      iterator_of(c, "ERR iterator must be the offset of the data in the file");
  {
    opened_key key(c, 1, api::read_only);
    if (key.find_or_refuse(of) != nullptr) throw refusal("ERR item exists");
  }
  const place at{api::GetSelectedDb(c.ctx), std::string(c.text(1)), content::image};
  if (offset != 0) {
    const auto w = writings.find(at);
    if (w == writings.end()) throw refusal("ERR no import of this key was begun; begin at 0");
    if (w->second.sink.received() != offset) {
      throw refusal("ERR the next piece begins at " + std::to_string(w->second.sink.received()));
    }
  }
  take_and_reply(c, at, offset == 0, {.of = of, .event = "import", .adopt = adopt});
}

}  // namespace bloomery_redis
