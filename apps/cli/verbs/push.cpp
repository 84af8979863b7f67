// bloomery push: a filter file into Redis. The key appears when it is whole and all checksums hold.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bloomery/format/shard_files.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/transfer.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20U;

class image_bytes_of {  // reads an image from its parts, which stay where they are
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
  // Up to `most` bytes from `offset` on; fewer where a part ends.
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

// Two pieces are sent before a reply is read, so that the server works while the next one travels.
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
  // The name has the key in braces as its hash tag, so it is in the key's slot.
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
  const any_filter f = open_verified(as_file(o.file), 0);
  if (f.hash().form.type == key_type::integers) {
    throw error(errc::unsupported,
                fmt::format("{}: its keys are integers, but a server hashes the strings that it is "
                            "given",
                            o.file));
  }
  redis_cluster cluster = connect(o, url);
  const filter_version whole = f.version();
  {
    progress meter("pushing", o.show());
    meter.set_total(whole.words.size_bytes());
    // The first shard is sent last, because clients take its existence for that of all shards.
    for (std::uint32_t i = o.shards; i-- > 0;) {
      const bool alone = o.shards == 1;
      push_one(cluster, alone ? url.key : shard_key(url.key, i),
               alone ? whole : shard_of(whole, {.index = i, .count = o.shards}), o, meter);
    }
  }
  if (!o.quiet) {
    tell("{}: {} pushed to {}{}\n", url.key,
         as_bytes(static_cast<double>(whole.words.size_bytes())), url.server.text(),
         o.shards == 1 ? "" : fmt::format(", in {}", counted(o.shards, "key")));
  }
  if (o.json) {
    print_json({{"key", url.key},
                {"shards", o.shards},
                {"bytes", whole.words.size_bytes()},
                {"keys", f.keys()}});
  }
}

}  // namespace

void add_push(command& app, int& /*status*/) {
  auto o = std::make_shared<transfer_options>();
  command* verb = app.add_subcommand("push", "Load a filter file into a Redis server or cluster");
  verb->add_option("F", o->file, "The filter file; - is standard input")->required()->type_name("");
  verb->add_option("URL", o->url, "redis://[[USER]:PASSWORD@]HOST[:PORT]/KEY[?db=N]")
      ->required()
      ->type_name("");
  verb->add_option("--shards", o->shards,
                   "Spread a blocked filter over so many keys, KEY/0 and so on (default 1: KEY)")
      ->between(1, max_shards)
      ->type_name("N");
  verb->add_flag("--replace", o->replace, "Put it in place of a key that is there, at once");
  verb->add_option("--wait", o->wait,
                   "Replicas that must have it before it counts (default 1 in a cluster with "
                   "replicas)")
      ->type_name("R");
  add_limit(*verb);
  add_transfer_options(*verb, *o);
  verb->footer(
      "Example:\n  bloomery push words.bloom redis://127.0.0.1:6379/words\n"
      "  bloomery push --cluster --shards 12 urls.bloom redis://10.0.0.1:7000/urls");
  verb->callback([o] { run_push(*o); });
}

}  // namespace bloomery::cli
