// Quantiles of a stream in a few kilobytes: the merging t-digest (Dunning and Ertl 2019).
//
//     numbers -> a buffer -> centroids (mean, weight), sorted, small at both ends
//
// A centroid stands for neighbours. It may weigh at most n q (1 - q) Z / (2 c), where q is the
// share of the n numbers that lie below it, c the compression and Z = 4 ln(n / 2c) + 24. So a
// quantile near 0 or 1 comes from few numbers or from one, and p99.9 is nearly as exact as p50 is
// rough: that is what it is for. Nothing is promised for every stream. Who needs a bound takes
// number_counts, which is a thousand times as large.
//
// Numbers and centroids define one curve from ranks to values: a centroid of weight 1 is flat over
// its rank, a heavier one is a point in the middle of its ranks, and between points the curve is
// straight. Quantiles read it one way, ranks the other; where several numbers are equal a rank is
// the middle one.
//
// Questions change nothing: the same numbers in the same order make the same digest, whoever asked
// meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery {

struct centroid {
  double mean = 0;
  double weight = 0;
  friend bool operator==(const centroid&, const centroid&) = default;
};

class t_digest {
 public:
  static constexpr double usual_compression = 100;
  static constexpr double most_compression = 100'000;

  // Throws errc::bad_argument unless the compression is from 1 to 100,000.
  explicit t_digest(double compression = usual_compression);
  // From what another one had: its nodes, sorted, with positive weights, between `least` and
  // `largest` (none for an empty one), and its passes. It goes on as that one would have. Throws
  // errc::corrupt for others.
  struct pass_state {
    std::uint64_t made = 0;  // compressions()
    bool due = false;        // buffered() > 0: some of the nodes are numbers as they came
  };
  t_digest(double compression, std::span<const centroid> nodes, double least, double largest,
           pass_state passes);

  // Throws errc::bad_argument for an infinity or no number.
  void add(double number);
  void add_batch(std::span<const double> numbers);  // none of them if it throws
  // As if the other's numbers had been added, about.
  void merge(const t_digest& other);
  void clear() noexcept;

  [[nodiscard]] double total() const noexcept { return total_; }
  [[nodiscard]] double least() const noexcept { return least_; }  // no number when it is empty
  [[nodiscard]] double largest() const noexcept { return largest_; }

  // These are no numbers when it is empty. The share is from 0 to 1.
  [[nodiscard]] double quantile(double share) const;
  // How many are below this number, and how many are not above it; 0 to total().
  struct rank_range {
    double below = 0;
    double not_above = 0;
  };
  [[nodiscard]] rank_range ranks(double number) const;
  // The middle: those below and half of those that are equal.
  [[nodiscard]] double rank(double number) const {
    const rank_range r = ranks(number);
    return (r.below + r.not_above) / 2;
  }
  [[nodiscard]] double cdf(double number) const { return rank(number) / total_; }
  // The mean of the numbers between two quantiles.
  [[nodiscard]] double trimmed_mean(double low_share, double high_share) const;

  [[nodiscard]] double compression() const noexcept { return compression_; }
  // All numbers as centroids, those in the buffer too.
  [[nodiscard]] std::span<const centroid> centroids() const;
  // Centroids and the buffer as they are before the next pass, sorted: what the constructor takes.
  [[nodiscard]] std::vector<centroid> nodes() const;

  [[nodiscard]] std::size_t merged() const noexcept { return merged_.size(); }
  [[nodiscard]] double merged_weight() const noexcept { return merged_weight_; }
  [[nodiscard]] std::size_t buffered() const noexcept { return buffer_.size(); }
  [[nodiscard]] std::uint64_t compressions() const noexcept { return compressions_; }
  [[nodiscard]] std::size_t capacity() const noexcept;  // of centroids and buffer
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  void put(const centroid& c);
  void compress();
  [[nodiscard]] std::vector<centroid> compressed(bool backwards) const;
  [[nodiscard]] double value_at(double rank) const;
  // Calls visit(rank, value) for the points of the curve, in order, until it returns false.
  template <class Visit>
  void walk(Visit visit) const;

  double compression_;
  std::vector<centroid> merged_;
  std::vector<centroid> buffer_;
  mutable std::vector<centroid> seen_;  // of both, if `seen_valid_`
  mutable bool seen_valid_ = true;
  double merged_weight_ = 0;
  double total_ = 0;
  double least_;
  double largest_;
  std::uint64_t compressions_ = 0;
};

}  // namespace bloomery
