// Quantiles of a stream of numbers, and how many lie in a range: exact while few numbers differ,
// within a bound that is chosen once from then on, in memory that does not grow with the stream.
//
//     numbers -> sorted, 2^18 at a time -> (number, count) in order     up to 2^20 different ones
//                                          dyadic_counts, 32-bit keys   when there are more
//
// In the sketch a number is the upper half of its double, turned such that keys order as numbers
// do: 21 binary digits, so that whole numbers up to 2^21 stay as they are and others are within a
// millionth. At a bound of 0.1 % it takes 100 MB (dyadic_counts.hpp), hence the numbers themselves
// while they fit into a sixth of that.
//
// Questions sort what was added since the one before, so they are no const functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bloomery/sketch/dyadic_counts.hpp"

namespace bloomery {

struct number_options {
  std::size_t exact = std::size_t{1} << 20U;  // different numbers that are kept as they are
  double epsilon = 0.001;  // of range counts and ranks beyond that, as a share of the total
  double delta = 0.01;     // how many answers may be further off
  std::uint64_t seed = 0;  // chooses the functions of the sketch
};

class number_counts {
 public:
  // Throws errc::bad_argument for options out of range, errc::unreachable as dyadic_counts does.
  explicit number_counts(const number_options& o = {});

  void add(double number) { add_batch({&number, 1}); }
  // Throws errc::bad_argument for one that is not a number, before any is added.
  void add_batch(std::span<const double> numbers);

  // The least number that at least share * total are not above; share from 0 to 1. The least and
  // the largest are always exact. Of others at most share * total numbers are below the answer,
  // surely, and unless exact() epsilon * total fewer are not above it in at most delta of all
  // cases. Throws errc::bad_argument for another share, or when nothing was added.
  [[nodiscard]] double quantile(double share);
  // Numbers from first to last, both included. Never too low; unless exact(), too high by more
  // than epsilon * total in at most delta of all cases.
  [[nodiscard]] std::uint64_t count_range(double first, double last);

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] bool exact();
  [[nodiscard]] const number_options& options() const noexcept { return options_; }

 private:
  struct counted_number {
    double number = 0;
    std::uint64_t count = 0;
  };

  void take_pending();
  void merge_pending();
  void sketch_held();

  number_options options_;
  std::uint64_t total_ = 0;
  double least_ = 0;
  double largest_ = 0;
  std::vector<double> pending_;
  std::vector<counted_number> held_;  // in order
  std::optional<dyadic_counts> sketch_;
};

}  // namespace bloomery
