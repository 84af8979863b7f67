// What the commands of the family BF (Bloom filters) share.
//
// A filter that grows is layered: no command may stop to double a large table, and EXPANSION is the
// factor of a layer. The others have a fixed size: blocked, or classic below its rates, counting if
// keys can be removed, windowed if keys are forgotten. Scalable filters come from files only.
// facts[0] is the capacity asked for, facts[1] the expansion, 0 for a fixed size. In a filter with
// a window of time facts[2] is the window, facts[3] the generations, facts[4] when its clock last
// advanced, and facts[5] the milliseconds of its unit of time: 1, or 1000 when the tool made it.
//
// A filter that came from another module has its layers beside ours. They are asked, too; new items
// go to ours, which is then layered, whether the whole may grow or not: facts[0] says what is left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bloomery/filter/windowed.hpp"
#include "command.hpp"

namespace bloomery_redis {

extern family bloom_family;

struct bloom_spec {
  double error = 0.01;
  std::uint64_t capacity = 100;
  std::uint64_t expansion = 2;  // 0 for a fixed size
  bool counting = false;
  std::uint64_t window = 0;  // in milliseconds; 0 for none
  std::uint32_t generations = 4;
  bloomery::shard_number shard = {};
};
[[nodiscard]] bloom_spec default_spec();  // for a filter that nobody described
// Argument i; nothing if it is no such number. Other modules take larger ones. What comes by their
// append-only file or their replication is taken as far as it goes.
[[nodiscard]] std::optional<std::uint64_t> read_capacity(const call& c, std::size_t i);
[[nodiscard]] std::optional<std::uint64_t> read_expansion(const call& c, std::size_t i);

struct bloom_insertion {  // what BF.INSERT says
  bloom_spec spec = default_spec();
  bool create = true;
  std::size_t first_item = 0;  // beyond the arguments where there is no ITEMS
};
[[nodiscard]] bloom_insertion read_insert(const call& c);

// Throws bloomery::error when there can be no such filter, or not enough memory.
[[nodiscard]] std::unique_ptr<value> make_bloom(const call& c, const bloom_spec& spec);
// The filter beside one of another module, which takes what is added from now on.
[[nodiscard]] dumped adopt_bloom(std::unique_ptr<bloomery::foreign::value> from);
void check_room(const call& c, const bloom_spec& spec);  // throws like it, and makes nothing
// Tells replicas to make it, in all details: their own defaults may be others.
void replicate_reserve(const call& c, const bloom_spec& spec);

// The two arguments from number i on.
[[nodiscard]] bloomery::shard_number read_shard(const call& c, std::size_t i);
// Refuses items of other shards.
void check_own(const value& v, std::span<const std::string_view> items);

[[nodiscard]] std::uint64_t capacity_of(const value& v);  // as INFO tells it
[[nodiscard]] std::uint64_t layers_of(const value& v);
[[nodiscard]] std::uint64_t layers_of(const bloomery::any_filter& f);  // of ours

// Before a change: moves the clock of a filter with a window, here and on replicas.
void keep_time(const call& c, value& v);
// A filter with a window as it is now, generations that are too old left out; nothing for others.
// Asking it changes nothing, so a replica forgets by its own clock.
[[nodiscard]] std::optional<bloomery::windowed_view> seen_now(const value& v);
// The facts of a window, from the filter.
void settle_window(fact_list& facts, bloomery::any_filter& filter);
void admit_window(const value& v);  // refuses a clock that is far ahead
[[nodiscard]] std::uint64_t keys_of(const value& v);

struct added {
  std::vector<std::uint64_t> is_new;  // a bit for each item that was added or already there
  std::size_t done = 0;               // how many items that is
  std::size_t fresh = 0;              // of these, how many changed the filter
  const char* refused = nullptr;      // why the others were not
};
// Valid until the next call.
[[nodiscard]] const added& add_items(const call& c, value& v,
                                     std::span<const std::string_view> items);

[[nodiscard]] bool create_bloom_commands(api::ctx* c);

namespace bloom {  // the commands, by file
void reserve(const call& c);
void insert(const call& c);
void add(const call& c);
void madd(const call& c);
void exists(const call& c);
void mexists(const call& c);
void card(const call& c);
void info(const call& c);
void debug(const call& c);
void rem(const call& c);
void mrem(const call& c);
void rotate(const call& c);
void merge(const call& c);
void compare(const call& c);
void stats(const call& c);
void shard(const call& c);
void scandump(const call& c);
void loadchunk(const call& c);
void load(const call& c);
void export_(const call& c);
void import(const call& c);
}  // namespace bloom

}  // namespace bloomery_redis
