// What is known of a kind without a filter at hand: its name, what its filters can do, how they lay
// out their positions. All of it comes from one row of a table (src/core/kind_table.hpp), which is
// the one list of kinds: the compiler holds the types in format/all_filters.hpp against it, and
// scripts/check_kinds.py the lists of C, Python and the web. Code that names a kind means what that
// one alone has, such as the generations of a windowed filter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bloomery/core/shape.hpp"

namespace bloomery {

// What a filter can do beyond answering.
struct abilities {
  bool add = false;               // keys one by one; without it, all keys at once
  bool add_concurrently = false;  // in several threads at once, in any order, with the same result
  bool remove = false;
  bool count = false;
  bool value = false;      // has a value for each key
  bool merge = false;      // with another of the same shape, hash and seed
  bool grow = false;       // takes any number of keys at its rate
  bool forget = false;     // loses keys with time
  bool lists_top = false;  // keeps the most frequent keys themselves, and the others not for sure

  friend constexpr bool operator==(const abilities&, const abilities&) = default;
};

// Of a filter in memory; a mapped one only answers.
[[nodiscard]] abilities abilities_of(filter_kind kind) noexcept;

// The kinds, in the order of docs and listings.
[[nodiscard]] std::span<const filter_kind> all_kinds() noexcept;
[[nodiscard]] std::optional<filter_kind> kind_from_name(std::string_view name) noexcept;
[[nodiscard]] std::optional<filter_kind> kind_from_number(std::uint64_t number) noexcept;

// Whether the kind is one array of bits, which can be folded, intersected and estimated.
[[nodiscard]] bool is_of_bits(filter_kind kind) noexcept;

// Whether a key that is added again takes space again: such a filter is planned for all additions,
// any other for the different keys among them.
[[nodiscard]] bool keeps_repetitions(filter_kind kind) noexcept;

// Whether a plan can be asked for cells, counters or fingerprints, of so many bits.
[[nodiscard]] bool has_chosen_cells(filter_kind kind) noexcept;

// Where the positions of a key are in a filter that is one array of bits or counters.
enum class position_layout : std::uint8_t {
  none,      // the filter is something else
  anywhere,  // each of them anywhere
  slices,    // one in each of as many equal slices
  blocks,    // all of them in one block
};
[[nodiscard]] position_layout layout_of(const shape& s) noexcept;

}  // namespace bloomery
