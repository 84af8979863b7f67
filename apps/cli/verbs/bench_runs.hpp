// Measures the machine's floor and the kinds' speed for bloomery bench, through the public calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bloomery/core/shape.hpp"

namespace bloomery::cli {

inline constexpr double measured_fpr = 0.01;
inline constexpr int measured_repetitions = 5;
inline constexpr std::uint64_t fewest_measured_keys = 1000;  // fewer would measure the clock

struct measurement {
  std::uint64_t keys = 0;
  unsigned threads = 1;
  std::vector<filter_kind> kinds;
  // Called before each kind of each repetition. Repetitions are counted from 1.
  std::function<void(filter_kind, int)> tell = [](filter_kind, int) {};
};

struct measured_kind {  // times are in nanoseconds a key, medians of the repetitions
  filter_kind kind = filter_kind::blocked;
  double bits_per_key = 0;
  std::uint32_t lines = 1;      // random lines that a lookup reads,
  std::uint32_t add_lines = 1;  // and an add; none for kinds that are built from all keys
  double fpr = 0;               // share of absent keys that were found
  std::optional<double> add;    // nothing for kinds that are built from all keys at once
  double add_bulk = 0;          // for those, the building
  double contains = 0;
  double contains_bulk = 0;
  // Million keys a second of all threads together, when there are several.
  std::optional<double> parallel_add;  // nothing for kinds that one thread at a time may change
  std::optional<double> parallel_contains;
};

struct measured_floor {
  double read = 0;
  double write = 0;
  std::string read_pipeline;
  std::string write_pipeline;
  std::uint64_t bytes = 0;  // of the array: those of the blocked filter
};

struct measured_machine {
  measured_floor floor;
  std::vector<measured_kind> rows;
};

// Kinds take turns with each other and the floor, so that other load affects all of them. Keys are
// made in pieces. Memory: one filter, the floor's array, and for static kinds what building takes.
[[nodiscard]] measured_machine measure(const measurement& m);

}  // namespace bloomery::cli
