// What a filter tells people: what it looks at for a key, and the cells whose fill can be drawn.
//
// A view that has something to tell has explain(hash) and cells(). Sentences name their numbers in
// braces, "block {block} of {blocks}", with the numbers beside them: who prints puts them in
// ({name:x}: hexadecimal), and a program takes them by name. So a filter needs no formatting.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bloomery/core/shape.hpp"

namespace bloomery {

// A place that belongs to the key, and what is there.
struct key_place {
  std::uint64_t position = 0;  // of a bit, a counter or a cell
  std::uint64_t value = 0;
};

struct named_number {
  std::string_view name;
  std::variant<std::uint64_t, bool, std::vector<std::uint64_t>> value;
};

struct finding {
  std::string_view text{};
  std::vector<named_number> numbers{};
  std::string_view list{};  // of which it is an item, such as "layers"; empty when there is but one
};

struct explanation {
  std::string_view unit{};                 // what the places are: "bit", "counter", "cell"
  std::vector<key_place> places{};         // all of them, whatever the answer
  std::span<const std::uint64_t> block{};  // in which all of them are, if they are in one
  std::vector<finding> findings{};         // what else it finds
  finding why{};                           // the answer's reason; the places where it is empty
};

// Cells of so many bits, packed without gaps in each part, or in each word; 0 is an empty one.
struct cell_array {
  std::string_view unit{};  // what they are, in the plural
  std::vector<std::span<const std::uint64_t>> parts{};
  std::uint32_t cell_bits = 1;
  bool in_words = false;
};

namespace detail {

// An explanation by counters at the positions of `probes`, whose least one bounds the count.
template <class Probes, class Get, class Hash>
explanation explain_counters(const Probes& probes, const Hash& hash, std::uint64_t count, Get get) {
  explanation e{.unit = "counter"};
  e.places.reserve(max_probes);  // all_of must not throw
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  probes.all_of(hash, [&](std::uint64_t counter) {
    e.places.push_back({counter, get(counter)});
    least = least < e.places.back().value ? least : e.places.back().value;
    return true;
  });
  e.findings.push_back({.text = "the least of them is {least}, the count is {count}",
                        .numbers = {{"least", least}, {"count", count}}});
  return e;
}

}  // namespace detail
}  // namespace bloomery
