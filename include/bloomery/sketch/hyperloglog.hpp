// How many different keys a stream has, in 64 KiB: HyperLogLog (Flajolet, Fusy, Gandouet and
// Meunier 2007) with the estimator of Ertl (2017), which needs no table of corrections and is
// unbiased from the first key to the last.
//
//     hash  | register, p bits | 0 0 0 1 ...          the register becomes 4 unless it is larger
//
// The upper p bits of a hash choose one of m = 2^p registers. It keeps the largest position that
// the first 1 of the other bits has had. Twice as many keys raise the registers by one, and the
// estimate errs by 1.04 / sqrt(m) of the keys.
//
// Up to m / 16 keys their hashes are kept and the count is exact: lists with few different keys are
// common.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

class hyperloglog {
 public:
  static constexpr std::uint32_t min_precision = 8;
  static constexpr std::uint32_t max_precision = 20;

  // 2^precision bytes, and as many while there are few keys. Throws errc::bad_argument.
  explicit hyperloglog(std::uint32_t precision = 16);

  void add_batch(std::span<const std::uint64_t> hashes);
  void add(std::uint64_t hash) { add_batch({&hash, 1}); }
  // Adds what the other one has seen. Throws errc::mismatch when the precisions differ.
  void merge(const hyperloglog& other);

  // How many different hashes there were: exactly, or with this error, as a share of the keys.
  [[nodiscard]] double keys() const noexcept;
  [[nodiscard]] bool exact() const noexcept { return !few_.empty(); }
  [[nodiscard]] double standard_error() const noexcept;
  // Four standard errors above: the keys are more with a chance of 3 in 100,000. A filter that is
  // planned for so many keeps its rate.
  [[nodiscard]] std::uint64_t keys_at_most() const noexcept;

  [[nodiscard]] std::uint32_t precision() const noexcept { return precision_; }

 private:
  bool keep(std::uint64_t hash) noexcept;  // among few; false when there is no room
  void leave_few();
  void raise(std::span<const std::uint64_t> hashes) noexcept;  // their registers
  template <class Visit>
  void for_each_of_few(Visit visit) const;

  std::uint32_t precision_;
  std::vector<std::uint8_t> registers_;
  std::vector<std::uint64_t> few_;  // open addressing, 0 in an empty slot; empty if there are many
  std::uint64_t few_keys_ = 0;
  bool zero_ = false;  // whether the hash 0 is one of the few
};

}  // namespace bloomery
