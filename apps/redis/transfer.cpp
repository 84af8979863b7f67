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

// A filter as it was when a client began to read it in pieces, with its checksums: computing them
// reads all of it. Whoever changes the filter meanwhile changes a copy.
struct snapshot {
  std::uint64_t id;
  std::uint64_t changes;
  content what;
  std::shared_ptr<const bloomery::any_filter> held;
  image_source source;
};
struct reading {
  std::uint64_t client;
  std::shared_ptr<const snapshot> from;
  long long last_piece;
};
constexpr std::size_t most_readings = 16;
constexpr long long patience_ms = 60'000;

std::list<reading> readings;  // the last used one first

void keep_tidy(api::ctx* c);

const snapshot& begin_reading(api::ctx* c, std::uint64_t client,
                              std::shared_ptr<const snapshot> from) {
  std::erase_if(readings, [&](const reading& r) {
    return r.client == client && r.from->id == from->id && r.from->what == from->what;
  });
  if (readings.size() == most_readings) readings.pop_back();
  readings.push_front({client, std::move(from), api::Milliseconds()});
  keep_tidy(c);
  return *readings.front().from;
}

// The snapshot that the client reads from, or null. A client may go on with another connection.
const snapshot* kept_snapshot(const call& c, const value& v, content what, bool from_start) {
  const std::uint64_t client = api::GetClientId(c.ctx);
  auto found = readings.end();
  for (auto r = readings.begin(); r != readings.end(); ++r) {
    if (r->from->id != v.id || r->from->what != what) continue;
    if (from_start && r->from->changes != v.changes) continue;
    if (found == readings.end() || (r->client == client && found->client != client)) found = r;
  }
  if (found == readings.end()) return nullptr;
  if (from_start) return &begin_reading(c.ctx, client, found->from);
  found->last_piece = api::Milliseconds();
  readings.splice(readings.begin(), readings, found);
  return found->from.get();
}

// Replies with a piece; true if that was the last one.
using reply_function = bool (*)(const call&, const image_source&, std::uint64_t iterator);

void answer_from(const call& c, const snapshot& from, std::uint64_t iterator,
                 reply_function answer) {
  if (!answer(c, from.source, iterator)) return;
  const auto done = std::find_if(readings.begin(), readings.end(),
                                 [&](const reading& r) { return r.from.get() == &from; });
  if (done != readings.end()) readings.erase(done);
}

class preparation final : public job {  // computes and keeps checksums; sends the first piece
 public:
  preparation(const call& c, const value& v, content what, reply_function answer,
              std::uint64_t iterator)
      : made_(std::make_shared<snapshot>(
            snapshot{v.id, v.changes, what, v.lend(), unprepared(v, what)})),
        client_(api::GetClientId(c.ctx)),
        answer_(answer),
        iterator_(iterator) {}

  bool step() override { return made_->source.prepare(step_bytes); }
  void finish(const call& c) override {
    answer_from(c, begin_reading(c.ctx, client_, std::move(made_)), iterator_, answer_);
  }

 private:
  static image_source unprepared(const value& v, content what) {
    constexpr auto later = image_source::when::later;
    return what == content::dump ? v.image(later) : image_source(v.filter(), later);
  }

  std::shared_ptr<snapshot> made_;
  std::uint64_t client_;
  reply_function answer_;
  std::uint64_t iterator_;
};

void reply_nothing(const call& c) {
  api::ReplyWithArray(c.ctx, 2);
  api::ReplyWithLongLong(c.ctx, 0);
  api::ReplyWithNull(c.ctx);
}

void send_piece(const call& c, const family& of, content what, std::uint64_t iterator,
                reply_function answer, bool skip_empty = false) {
  std::unique_ptr<job> work;
  std::uint64_t bytes = 0;
  {
    const opened_key key(c, 1, api::read_only);
    const value& v = key.get(of);
    if (what == content::image && v.is_foreign() && !of.absorbs) throw refusal(foreign_refusal);
    if (skip_empty && iterator == 0 && v.filter().keys() == 0 && !v.is_foreign()) {
      reply_nothing(c);
      return;
    }
    if (const snapshot* const kept = kept_snapshot(c, v, what, iterator == 0)) {
      answer_from(c, *kept, iterator, answer);
      return;
    }
    bytes = v.bytes();
    work = std::make_unique<preparation>(c, v, what, answer, iterator);
  }
  run_job(c, bytes, std::move(work));
}

template <bool EndsWithNull>
bool answer_dump(const call& c, const image_source& source, std::uint64_t iterator) {
  const std::uint64_t offset = iterator == 0 ? 0 : dump_start_bytes + iterator - 1;
  const auto piece = source.read(offset, iterator == 0 ? dump_start_bytes : dump_piece_bytes);
  const std::uint64_t end = offset + piece.size();
  if (EndsWithNull && piece.empty()) {
    reply_nothing(c);
  } else {
    reply_piece(c, piece.empty() ? 0 : 1 + end - dump_start_bytes, piece);
  }
  return piece.empty();
}

bool answer_export(const call& c, const image_source& source, std::uint64_t offset) {
  const auto piece = source.read(offset, dump_piece_bytes);
  const std::uint64_t end = offset + piece.size();
  const bool last = end >= source.bytes() || piece.empty();
  reply_piece(c, last ? 0 : end, piece);
  return last;
}

// ---- receiving

struct place {
  int database;
  std::string key;
  content what;
  auto operator<=>(const place&) const = default;
};
// The stream of a filter of ours, or of one that another module handed out.
class any_sink {
 public:
  explicit any_sink(image_sink ours) : ours_(std::move(ours)) {}
  explicit any_sink(bloomery::foreign::pieces foreign) : foreign_(std::move(foreign)) {}

  // Bytes so far, and all of them once that is known, without the first piece of LOADCHUNK.
  [[nodiscard]] std::uint64_t received() const {
    return ours_ ? ours_->received() : foreign_->received();
  }
  [[nodiscard]] std::optional<std::uint64_t> expected() const {
    return ours_ ? ours_->expected() : foreign_->expected();
  }
  [[nodiscard]] bool complete() const { return expected() == received(); }
  void append(std::span<const std::byte> piece) {
    ours_ ? ours_->append(piece) : foreign_->append(piece);
  }
  // Bytes before the pieces that iterators of LOADCHUNK count.
  [[nodiscard]] std::uint64_t start() const { return ours_ ? dump_start_bytes : 0; }
  [[nodiscard]] dumped finish(const family& of) const {
    if (!ours_) return of.adopt(foreign_->finish());
    dumped got = ours_->finish();
    check_kind(of, got);
    return got;
  }

 private:
  std::optional<image_sink> ours_;
  std::optional<bloomery::foreign::pieces> foreign_;
};
struct writing {
  any_sink sink;
  std::uint64_t client;
  long long last_piece;
};
std::map<place, writing> writings;
constexpr std::size_t most_writings = 64;
// A client that leaves may come back with another connection, but soon.
constexpr long long grace_ms = 3'000;

std::uint64_t bytes_to_come() {  // of all that was begun
  std::uint64_t sum = 0;
  for (const auto& [at, w] : writings) sum += w.sink.expected().value_or(0) - w.sink.received();
  return sum;
}

// ---- what nobody asks for any more

void drop_abandoned() {
  const long long now = api::Milliseconds();
  std::erase_if(writings, [&](const auto& w) { return now - w.second.last_piece > patience_ms; });
  std::erase_if(readings, [&](const reading& r) { return now - r.last_piece > patience_ms; });
}

bool tidying = false;

void on_tidy(api::ctx* c, void*) {
  tidying = false;
  drop_abandoned();
  keep_tidy(c);
}

void keep_tidy(api::ctx* c) {
  constexpr long long every_ms = 500;
  if (tidying || (readings.empty() && writings.empty())) return;
  tidying = true;
  api::CreateTimer(c, every_ms, on_tidy, nullptr);
}

void on_flush(api::ctx*, api::event, std::uint64_t, void* data) {
  const int database = static_cast<const api::flush_info*>(data)->database;
  std::erase_if(writings,
                [&](const auto& w) { return database < 0 || w.first.database == database; });
  readings.clear();
}

void on_client(api::ctx*, api::event, std::uint64_t what, void* data) {
  if (what != api::client_left) return;
  const std::uint64_t client = static_cast<const api::client_info*>(data)->id;
  std::erase_if(readings, [&](const reading& r) { return r.client == client; });
  const long long forgotten = api::Milliseconds() - patience_ms + grace_ms;
  for (auto& [at, w] : writings) {
    if (w.client == client) w.last_piece = std::min(w.last_piece, forgotten);
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
class arrival final : public change {
 public:
  arrival(any_sink sink, const landing& how) : sink_(std::move(sink)), how_(how) {}
  arrival(dumped got, const landing& how) : got_(std::move(got)), how_(how) {}

  [[nodiscard]] std::uint64_t bytes() const { return sink_ ? sink_->received() : 0; }

  void work() override {
    try {
      if (sink_) got_ = sink_->finish(how_.of);
      sink_.reset();
      made_ = std::make_unique<value>(std::move(*got_), how_.of);
    } catch (const bloomery::error& e) {
      if (how_.damaged == nullptr || e.code() == bloomery::errc::no_memory) throw;
      throw refusal(how_.damaged);
    }
    if (how_.adopt != nullptr) how_.adopt(*made_);
    source_.emplace(made_->image());
  }
  void commit(const call& c, bool) override {
    if (how_.of.admit != nullptr && !c.is_replayed()) how_.of.admit(*made_);
    opened_key key(c, 1, api::read_write);
    if (!key.empty()) throw refusal("ERR item exists");
    value& v = key.set(std::move(made_));
    replicate_pieces(c, v, *source_);
    changed(c, 1, v, how_.event);
  }

 private:
  std::optional<any_sink> sink_;
  std::optional<dumped> got_;
  landing how_;
  std::unique_ptr<value> made_;
  std::optional<image_source> source_;  // the image of the new value
};

// A first piece that is no start of ours may be the header of another module.
std::optional<bloomery::foreign::origin> origin_of_pieces(const family& of) {
  using bloomery::foreign::origin;
  for (const origin known : {origin::redisbloom_bloom, origin::redisbloom_cuckoo}) {
    if (std::ranges::find(of.origins, known) != of.origins.end()) return known;
  }
  return std::nullopt;
}

bool starts_ours(std::string_view piece) { return piece.substr(0, 6) == "BLOOMY"; }

any_sink new_sink(const call& c, const place& at, const family& of) {
  const std::uint64_t most = c.is_replayed() ? UINT64_MAX : most_filter_bytes();
  const auto foreign = origin_of_pieces(of);
  const bool ours = at.what == content::image || starts_ours(c.text(3));
  if (ours || !foreign) return any_sink(image_sink(at.what, most));
  return any_sink(bloomery::foreign::pieces(*foreign, bytes_of(c.text(3)), most));
}

// Takes one piece. If it was the last one, returns the work that is left to do.
std::unique_ptr<arrival> take_piece(const call& c, const place& at, bool first,
                                    const landing& how) {
  if (first) {
    writings.erase(at);
    drop_abandoned();
    if (writings.size() >= most_writings) {
      throw refusal("ERR too many filters are being loaded; finish some of them first");
    }
    writings.emplace(at, writing{.sink = new_sink(c, at, how.of), .client = 0, .last_piece = 0});
    keep_tidy(c.ctx);
  }
  writing& w = writings.at(at);
  w.client = api::GetClientId(c.ctx);
  w.last_piece = api::Milliseconds();
  try {
    const bool knew = !first && w.sink.expected().has_value();
    if (!first || w.sink.start() != 0) w.sink.append(bytes_of(c.text(3)));
    if (!knew && w.sink.expected()) {  // the filter is made beside its bytes
      check_memory(c.ctx, *w.sink.expected(), *w.sink.expected() + bytes_to_come());
    }
    if (!w.sink.complete()) return nullptr;
    auto work = std::make_unique<arrival>(std::move(w.sink), how);
    writings.erase(at);
    return work;
  } catch (...) {
    writings.erase(at);
    throw;
  }
}

void land(const call& c, const landing& how, std::unique_ptr<arrival> work) {
  constexpr std::array<std::size_t, 1> keys = {1};
  if (work->bytes() >= slow_bytes && may_wait(c)) {
    const call without_bytes{.ctx = c.ctx, .args = c.args.first(2)};
    const std::uint64_t bytes = work->bytes();  // again, for the filter beside them
    run_in_thread(without_bytes, how.of, keys, bytes, std::move(work));
  } else {
    work->work();
    work->commit(c, true);
    reply_ok(c);
  }
}

// Takes one piece and replies, either at once or when the work on the last one is done.
void take_and_reply(const call& c, const place& at, bool first, const landing& how) {
  if (auto work = take_piece(c, at, first, how)) {
    land(c, how, std::move(work));
  } else {
    reply_ok(c);
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
             say.ends_with_null ? answer_dump<true> : answer_dump<false>, say.ends_with_null);
}

void load_chunk(const call& c, const family& of, const dump_texts& say) {
  const std::uint64_t iterator = iterator_of(c, say.bad_load_iterator);
  const bool first = iterator == 1;
  const place at{api::GetSelectedDb(c.ctx), std::string(c.text(1)), content::dump};
  {
    opened_key key(c, 1, api::read_only);
    if (!key.empty()) writings.erase(at);
    if (key.find_or_refuse(of) != nullptr) throw refusal(say.no_start);
  }
  const auto w = writings.find(at);
  if (!first) {
    if (w == writings.end()) throw refusal(say.no_start);
    const any_sink& sink = w->second.sink;
    if (sink.received() + c.text(3).size() != sink.start() + iterator - 1) {
      throw refusal(say.no_start);
    }
    if (sink.received() + c.text(3).size() > sink.expected().value_or(0))
      throw refusal(say.too_long);
  } else if (c.text(3).size() != dump_start_bytes &&
             (starts_ours(c.text(3)) || !origin_of_pieces(of))) {
    throw refusal(say.bad_start);
  }
  try {
    take_and_reply(c, at, first, {.of = of, .event = "loadchunk", .damaged = say.bad_start});
  } catch (const bloomery::error& e) {
    if (e.code() == bloomery::errc::no_memory) throw;
    throw refusal(say.bad_start);
  }
}

void load_whole(const call& c, const family& of, const dump_texts& say) {
  if (!opened_key(c, 1, api::read_only).empty()) {
    throw refusal("BUSYKEY Target key name already exists.");
  }
  const landing how{.of = of, .event = "load", .damaged = say.bad_start};
  try {
    const auto bytes = bytes_of(c.text(2));
    check_memory(c.ctx, bytes.size(), 2 * bytes.size());
    if (of.adopt != nullptr && !bytes.empty() && bytes[0] == std::byte{1}) {
      auto got = of.adopt(bloomery::foreign::decode_valkey(bytes));
      land(c, how, std::make_unique<arrival>(std::move(got), how));
      return;
    }
    image_sink sink(content::dump, c.is_replayed() ? UINT64_MAX : most_filter_bytes());
    sink.append(bytes);
    land(c, how, std::make_unique<arrival>(any_sink(std::move(sink)), how));
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
  const place at{api::GetSelectedDb(c.ctx), std::string(c.text(1)), content::image};
  {
    opened_key key(c, 1, api::read_only);
    if (!key.empty()) writings.erase(at);
    if (key.find_or_refuse(of) != nullptr) throw refusal("ERR item exists");
  }
  if (offset != 0) {
    const auto w = writings.find(at);
    if (w == writings.end()) throw refusal("ERR no import of this key was begun; begin at 0");
    if (w->second.sink.received() != offset) {
      throw refusal("ERR the next piece begins at " + std::to_string(w->second.sink.received()));
    }
  }
  take_and_reply(c, at, offset == 0, {.of = of, .event = "import", .adopt = adopt});
}

void forget_readings(const value& v) {
  std::erase_if(readings, [&](const reading& r) { return r.from->id == v.id; });
}

bool watch_clients(api::ctx* c) {
  if (api::SubscribeToServerEvent == nullptr) return true;
  return api::SubscribeToServerEvent(c, api::on_flush, on_flush) == api::ok &&
         api::SubscribeToServerEvent(c, api::on_client, on_client) == api::ok;
}

}  // namespace bloomery_redis
