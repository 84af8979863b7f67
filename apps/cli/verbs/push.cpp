// bloomery push and pull: filter files into Redis and back, in pieces, so that no command keeps a
// server busy for long. The key appears when the last piece is there and all checksums hold. A
// filter may be spread over several keys, NAME/0 and so on; see docs/redis.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/shard_files.hpp"
#include "cli/args/common.hpp"
#include "cli/output/text.hpp"
#include "cli/redis/cluster.hpp"
#include "cli/redis/shards.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t piece_bytes = std::size_t{4} << 20U;
constexpr std::uint64_t most_pull_bytes = std::uint64_t{1} << 40U;

struct transfer_options {
  std::string file;
  std::string url;
  std::uint32_t shards = 1;
  std::optional<std::uint32_t> wait;
  std::uint32_t timeout = 30;
  bool cluster = false;
  bool replace = false;
  bool json = false;
  bool quiet = false;
  bool progress = false;
  bool stats = false;

  [[nodiscard]] progress_options show() const {
    return {.quiet = quiet, .forced = progress, .stats = stats};
  }
};

redis_url checked_url(const transfer_options& o) {
  redis_url url = parse_redis_url(o.url);
  if (url.key.empty()) {
    throw error(errc::bad_argument,
                "the URL names no key; it should be like redis://127.0.0.1:6379/name");
  }
  return url;
}

redis_cluster connect(const transfer_options& o, const redis_url& url) {
  return {url,
          {.cluster = o.cluster,
           .replicas = o.wait,
           .patience = std::chrono::seconds(o.timeout),
           .reply_timeout = 60s}};
}

// The bytes of an image from its parts, which are somewhere else.
class image_bytes_of {
 public:
  explicit image_bytes_of(const filter_version& v) : writer_(v.header) {
    writer_.pass(v.words);
    header_ = writer_.header();
    parts_ = {std::as_bytes(std::span(header_)), std::as_bytes(v.words), writer_.checksums()};
    for (const auto part : parts_) bytes_ += part.size();
  }
  image_bytes_of(const image_bytes_of&) = delete;
  image_bytes_of& operator=(const image_bytes_of&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }
  // Up to `most` bytes from `offset` on, all of one part.
  [[nodiscard]] std::string_view read(std::uint64_t offset, std::size_t most) const {
    for (const auto part : parts_) {
      if (offset < part.size()) {
        const auto piece = part.subspan(static_cast<std::size_t>(offset));
        return {reinterpret_cast<const char*>(piece.data()), std::min(piece.size(), most)};
      }
      offset -= part.size();
    }
    return {};
  }

 private:
  image_writer writer_;
  image_writer::header_bytes header_;
  std::array<std::span<const std::byte>, 3> parts_;
  std::uint64_t bytes_ = 0;
};

// Two pieces are on their way at a time: the server takes one while the other travels.
std::optional<redis_reply> send_pieces(redis_connection& c, const std::string& key,
                                       const image_bytes_of& image, progress& meter) {
  constexpr std::size_t ahead = 2;
  std::vector<std::uint64_t> on_their_way;
  std::optional<redis_reply> problem;
  std::uint64_t offset = 0;
  while (offset < image.size() || !on_their_way.empty()) {
    if (offset < image.size() && !problem && on_their_way.size() < ahead) {
      const std::string_view piece = image.read(offset, piece_bytes);
      const std::string at = std::to_string(offset);
      const std::array<std::string_view, 4> command = {"BF.IMPORT", key, at, piece};
      c.append(command);
      c.flush();
      offset += piece.size();
      on_their_way.push_back(piece.size());
      continue;
    }
    if (on_their_way.empty()) break;
    redis_reply r = c.read();
    meter.advance(on_their_way.front());
    on_their_way.erase(on_their_way.begin());
    if (r.is_error() && !problem) problem = std::move(r);
  }
  return problem;
}

void push_one(redis_cluster& cluster, const std::string& key, const filter_version& f,
              const transfer_options& o, progress& meter) {
  const image_bytes_of image(f);
  // A braced name is in the slot of what it has in its braces: the key's own.
  const std::string first = o.replace ? fmt::format("{{{}}}:loading", key) : key;
  if (redis_slot(first) != redis_slot(key)) {
    throw error(errc::bad_argument, fmt::format("{}: --replace needs a key without braces", key));
  }
  const auto problem = cluster.converse(key, true, [&](redis_connection& c) {
    if (o.replace) static_cast<void>(c.call({"DEL", first}));
    std::optional<redis_reply> wrong = send_pieces(c, first, image, meter);
    if (!wrong && o.replace) {
      if (redis_reply renamed = c.call({"RENAME", first, key}); renamed.is_error()) wrong = renamed;
    }
    return wrong;
  });
  if (problem) throw_refusal(cluster, key, *problem);
}

void run_push(const transfer_options& o) {
  const redis_url url = checked_url(o);
  const any_filter f = any_filter::open(o.file);
  f.verify();
  redis_cluster cluster = connect(o, url);
  const filter_version whole = f.version();
  {
    progress meter("pushing", o.show());
    meter.set_total(whole.words.size_bytes());
    // The first key of a spread filter is what tells others that it is there.
    for (std::uint32_t i = o.shards; i-- > 0;) {
      const bool alone = o.shards == 1;
      push_one(cluster, alone ? url.key : shard_key(url.key, i),
               alone ? whole : shard_of(whole, {.index = i, .count = o.shards}), o, meter);
    }
  }
  if (!o.quiet) {
    tell("{}: {} pushed to {}{}\n", url.key,
         as_bytes(static_cast<double>(whole.words.size_bytes())), url.server.text(),
         o.shards == 1 ? "" : fmt::format(", in {} keys", with_commas(o.shards)));
  }
  if (o.json) {
    print_json({{"key", url.key},
                {"shards", o.shards},
                {"bytes", whole.words.size_bytes()},
                {"keys", f.keys()}});
  }
}

// ---- pull

// A whole image, received and verified.
struct pulled {
  std::vector<std::uint64_t> bytes;  // aligned
  std::size_t size = 0;

  [[nodiscard]] std::span<const std::byte> span() const {
    return std::as_bytes(std::span(bytes)).first(size);
  }
};

// Appends a piece; throws when there is more than the header speaks of.
void take_piece(pulled& into, std::string_view piece, const std::string& key) {
  if (piece.empty()) return;
  into.bytes.resize((into.size + piece.size() + 7) / 8);
  std::memcpy(reinterpret_cast<char*>(into.bytes.data()) + into.size, piece.data(), piece.size());
  into.size += piece.size();
  if (into.size < image_header_bytes) return;
  const std::uint64_t total = image_bytes(into.span().first(image_header_bytes));
  if (total > most_pull_bytes || into.size > total) {
    throw error(errc::corrupt, fmt::format("{}: there is more of it than it says", key));
  }
  into.bytes.reserve(static_cast<std::size_t>(std::min(total, std::uint64_t{1} << 30U) / 8 + 1));
}

std::optional<redis_reply> receive_pieces(redis_connection& c, const std::string& key, pulled& into,
                                          progress& meter) {
  using type = redis_reply::type;
  into = {};
  for (;;) {
    redis_reply r = c.call({"BF.EXPORT", key, std::to_string(into.size)});
    if (r.is_error()) return r;
    if (r.kind != type::array || r.items.size() != 2 || r.items[0].kind != type::integer ||
        r.items[1].kind != type::text) {
      throw error(errc::corrupt, fmt::format("{}: {}: BF.EXPORT has another reply than it should",
                                             c.server().text(), key));
    }
    const std::string& piece = r.items[1].text;
    take_piece(into, piece, key);
    meter.advance(piece.size());
    const std::int64_t next = r.items[0].number;
    if (next == 0) return std::nullopt;
    if (piece.empty() || next != static_cast<std::int64_t>(into.size)) {
      throw error(errc::corrupt, fmt::format("{}: {}: BF.EXPORT does not go on where it ended",
                                             c.server().text(), key));
    }
  }
}

filter_version pull_one(redis_cluster& cluster, const std::string& key, pulled& into,
                        progress& meter) {
  constexpr int most_attempts = 5;  // at a filter that changes meanwhile
  for (int attempt = 1;; ++attempt) {
    const auto problem = cluster.converse(
        key, false, [&](redis_connection& c) { return receive_pieces(c, key, into, meter); });
    if (!problem) break;
    if (!problem->is_error("ERR the filter changed meanwhile") || attempt == most_attempts) {
      throw_refusal(cluster, key, *problem);
    }
  }
  try {
    const image_view image = image_view::parse(into.span());
    image.verify();
    return {.header = image.header(), .words = image.words()};
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", key, e.what()));
  }
}

void run_pull(const transfer_options& o) {
  const redis_url url = checked_url(o);
  redis_cluster cluster = connect(o, url);
  atomic_file file(o.file);
  pulled image;
  {
    progress meter("pulling", o.show());
    // A key of this name, or one that is spread.
    if (const auto layout = find_shards(cluster, url.key); layout && !layout->alone) {
      shard_joiner joiner(file);
      for (std::uint32_t i = 0; i < layout->shards; ++i) {
        joiner.add(pull_one(cluster, shard_key(url.key, i), image, meter));
      }
      joiner.finish();
    } else {
      static_cast<void>(pull_one(cluster, url.key, image, meter));
      file.append(image.span());
    }
  }
  file.commit();
  const any_filter f = any_filter::open(o.file);
  if (!o.quiet) print_summary(o.file, f);
  if (o.json) print_json(info_json(f, std::filesystem::file_size(o.file)));
}

void add_shared_options(command& verb, transfer_options& o) {
  verb.add_flag("--cluster", o.cluster,
                "The server is a node of a cluster: find the node of each key");
  verb.add_option("--timeout", o.timeout,
                  "Give up when nothing has succeeded for so many seconds (default 30)")
      ->between(1, 86400)
      ->type_name("S");
  verb.add_flag("--json", o.json, "Print what was done as JSON");
  add_quiet(verb, o.quiet);
  verb.add_flag("--progress", o.progress, "Show progress also when standard error is no terminal");
  verb.add_flag("--stats", o.stats, "Say at the end how much was sent, and how fast");
}

}  // namespace

void add_push(command& app, int& status) {
  auto o = std::make_shared<transfer_options>();
  command* push = app.add_subcommand("push", "Load a filter file into a Redis server or cluster");
  push->add_option("F", o->file, "The filter file")->required()->type_name("");
  push->add_option("URL", o->url, "redis://[[USER]:PASSWORD@]HOST[:PORT]/KEY[?db=N]")
      ->required()
      ->type_name("");
  push->add_option("--shards", o->shards,
                   "Spread a blocked filter over so many keys, KEY/0 and so on (default 1: KEY)")
      ->between(1, max_shards)
      ->type_name("N");
  push->add_flag("--replace", o->replace, "Put it in place of a key that is there, at once");
  push->add_option("--wait", o->wait,
                   "Replicas that must have it before it counts (default 1 in a cluster with "
                   "replicas)")
      ->type_name("R");
  add_shared_options(*push, *o);
  push->footer(
      "Example:\n  bloomery push words.bloom redis://127.0.0.1:6379/words\n"
      "  bloomery push --cluster --shards 12 urls.bloom redis://10.0.0.1:7000/urls");
  push->callback([o, &status] {
    run_push(*o);
    status = exit_success;
  });

  auto p = std::make_shared<transfer_options>();
  command* pull = app.add_subcommand("pull", "Fetch a filter from a Redis server or cluster");
  pull->add_option("URL", p->url, "redis://[[USER]:PASSWORD@]HOST[:PORT]/KEY[?db=N]")
      ->required()
      ->type_name("");
  pull->add_option("-o,--output", p->file, "The filter file to write")->required()->type_name("F");
  add_shared_options(*pull, *p);
  pull->footer("Example:\n  bloomery pull redis://127.0.0.1:6379/words -o words.bloom");
  pull->callback([p, &status] {
    run_pull(*p);
    status = exit_success;
  });
}

}  // namespace bloomery::cli
