// bloomery pull: a filter from Redis into a file.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bloomery/format/file.hpp"
#include "bloomery/format/shard_files.hpp"
#include "cli/output/streams.hpp"
#include "cli/verbs/transfer.hpp"

namespace bloomery::cli {

namespace {

constexpr std::uint64_t most_pull_bytes = std::uint64_t{1} << 40U;

// A complete image that was received and verified.
struct pulled {
  std::vector<std::uint64_t> bytes;  // aligned
  std::size_t size = 0;

  [[nodiscard]] std::span<const std::byte> span() const {
    return std::as_bytes(std::span(bytes)).first(size);
  }
};

// Appends a piece; throws when there are more bytes than the header announces.
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
  output_file out(o.file, {}, o.json);
  redis_cluster cluster = connect(o, url);
  atomic_file file(out.path());
  pulled image;
  {
    progress meter("pulling", o.show());
    // The filter is one key of this name, or several shards.
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
  out.finish(o.quiet);
  const any_filter f = any_filter::open(out.path(), nullptr, {.verify = false});
  if (!o.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

}  // namespace

void add_pull(command& app, int& /*status*/) {
  auto o = std::make_shared<transfer_options>();
  command* verb = app.add_subcommand("pull", "Fetch a filter from a Redis server or cluster");
  verb->add_option("URL", o->url, "redis://[[USER]:PASSWORD@]HOST[:PORT]/KEY[?db=N]")
      ->required()
      ->type_name("");
  verb->add_option("-o,--output", o->file, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  add_transfer_options(*verb, *o);
  verb->footer("Example:\n  bloomery pull redis://127.0.0.1:6379/words -o words.bloom");
  verb->callback([o] { run_pull(*o); });
}

}  // namespace bloomery::cli
