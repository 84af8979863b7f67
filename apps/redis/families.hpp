// Families beside BF: cuckoo filters (CF), count-min sketches (CMS), most frequent items (TOPK),
// quantiles (TDIGEST).
#pragma once

#include "api.hpp"
#include "transfer.hpp"

namespace bloomery_redis {

// Error replies of the sketches about pieces. No client depends on their words.
inline constexpr dump_texts sketch_texts = {
    .bad_iterator = "ERR iterator must be 0 or one that this command gave",
    .bad_load_iterator = "ERR iterator must be the one that came with the piece",
    .bad_start = "ERR received bad data",
    .no_start = "ERR not the next piece",
    .too_long = "ERR more bytes than the sketch has"};

// The commands of a family that transfer a filter in pieces.
template <family& Family, const dump_texts& Texts>
struct pieces_of {
  static void scan(const call& c) { scan_dump(c, Family, Texts); }
  static void load(const call& c) { load_chunk(c, Family, Texts); }
  static void give(const call& c) { export_image(c, Family); }
  static void take(const call& c) { import_image(c, Family, nullptr); }
};

[[nodiscard]] bool create_cuckoo_commands(api::ctx* c);
[[nodiscard]] bool create_count_min_commands(api::ctx* c);
[[nodiscard]] bool create_top_k_commands(api::ctx* c);
[[nodiscard]] bool create_t_digest_commands(api::ctx* c);

}  // namespace bloomery_redis
