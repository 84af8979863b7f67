// The Bloom join of two tables on two hosts (Bratbergsengen 1984, Mackert and Lohman 1986; Broder
// and Mitzenmacher 2004, 3.2): rows of A travel to B, those that pass a filter of B's keys.
//
//     B  hello: the join, or an estimate                 ->  A
//     B  <-  the seed of all hashes
//     B  how many rows and different keys                ->  A
//     B  <-  offer: numbers, and perhaps a filter of A's keys
//     B  filter of B's keys, of those that A's let pass  ->  A
//     B  <-  the rows of A whose key passes
//     B  joins: what passed by mistake finds no partner, so the result is exact
//
// plan_join chooses the filters and their sizes by the bytes that all of it is expected to take:
// none when A is small, B's alone when B has fewer keys, and first A's when A has fewer.
//
// Memory: a table is read row by row, several times. What is held is 8 bytes for each row, the
// filters, and at B the rows of both tables that match. Nothing comes out before everything has
// arrived, so a broken connection never looks like a result. The peer is not trusted: join_limits
// bounds what it makes us hold, with all that is kept beside each row.
//
// A draws the seed of the hashes at random, so that nobody can make keys that collide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/transport.hpp"
#include "bloomery/set/estimate.hpp"

namespace bloomery {

// A table: calls the function with key and rest of each row, in the same order each time.
using row_visit = std::function<void(std::string_view key, std::string_view rest)>;
using row_scan = std::function<void(const row_visit&)>;

// How often the keys of a table occur.
struct table_counts {
  std::uint64_t rows = 0;
  std::uint64_t keys = 0;   // different keys
  std::uint64_t bytes = 0;  // of all rows, in the form in which they are sent
  double squares = 0;       // the sum over the keys of the square of their number of rows
};

// ---- the plan ---------------------------------------------------------------------------------

struct join_plan {
  std::uint32_t offered_bits = 0;  // of A's filter; 0: A sends none
  std::uint32_t asked_bits = 0;    // of B's filter; 0: A sends all of its rows
  double filter_bytes = 0;
  double row_bytes = 0;  // of the rows that pass, whether B has a partner for them or not

  [[nodiscard]] double bytes() const noexcept { return filter_bytes + row_bytes; }
};

// The plan with the fewest bytes. `shared` is how many keys both tables are thought to have; half
// of the smaller when nobody knows. The result of the join does not depend on it.
[[nodiscard]] join_plan plan_join(const table_counts& a, std::uint64_t keys_b,
                                  std::optional<double> shared = std::nullopt);

// ---- estimates --------------------------------------------------------------------------------

// A class: keys of one table that occur about equally often, in a filter, and the rows of the other
// table that passed this filter.
struct passed_class {
  table_counts counts;  // of the class: keys, rows and squares
  double fpr = 0;       // of its filter
  double rows = 0;      // rows of the other table that passed
  double squares = 0;   // the sum over their keys of the square of the number of rows
};

// Estimates the rows of the join before any row is sent: for each class, the rows that passed, less
// the false positives, times its mean rows of a key. `asking` is the other table as a whole. The
// standard error is that of the filters, over hash functions, and that of the means, over which
// keys are shared; the latter is 0 for a class whose keys occur equally often, such as unique ones.
[[nodiscard]] estimate estimate_join(std::span<const passed_class> classes,
                                     const table_counts& asking);

// The same from two compared filters of bits (set/estimate.hpp) alone; takes both tables' numbers
// of rows as independent of each other and of which keys are shared.
[[nodiscard]] estimate estimate_join(const estimate& shared_keys, const table_counts& a,
                                     const table_counts& b);

// ---- the two sides ----------------------------------------------------------------------------

// Reads a table once and keeps the hashes of its keys.
class join_side {
 public:
  explicit join_side(row_scan rows);  // with a random seed
  join_side(row_scan rows, std::uint64_t seed);

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] std::uint64_t hash(std::string_view key) const noexcept;

  [[nodiscard]] const table_counts& counts() const noexcept { return counts_; }
  void scan(const row_visit& visit) const { rows_(visit); }
  // The hashes of the keys of all rows, sorted.
  [[nodiscard]] std::span<const std::uint64_t> hashes() const noexcept { return hashes_; }

 private:
  row_scan rows_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> hashes_;
  table_counts counts_;
};

struct join_limits {
  // The most memory that the peer may make us hold, on top of 8 bytes for each row of our own:
  // filters, and at B the rows of both tables that match. More is errc::no_memory. One message,
  // so one filter and one row, has at most a quarter of it, or 128 KiB.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;

  [[nodiscard]] std::size_t message_bytes() const noexcept {
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(memory_bytes / 4, 128U << 10U, UINT32_MAX));
  }
};

// What A may say about its table.
inline constexpr std::size_t most_about_bytes = std::size_t{1} << 20U;

// What was sent, in the payloads of messages. B knows all of it; A does not know what was joined.
struct join_report {
  join_plan plan;
  table_counts a;
  std::uint64_t keys_b = 0;
  std::uint64_t rows_b = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t other_bytes = 0;   // numbers, names, and the frames of the messages
  std::uint64_t plain_bytes = 0;   // of all of A's rows
  std::uint64_t rows_sent = 0;     // by A
  std::uint64_t rows_matched = 0;  // rows of A for which B has a partner
  std::uint64_t pairs = 0;         // rows of the join

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return filter_bytes + row_bytes + other_bytes;
  }
};

// A's side. `about` is handed to B as it is: what B must know of the table, such as its columns.
// Answers one B, which may ask for the join or for the estimate. errc::bad_argument for an `about`
// that is too long.
join_report send_join(message_channel& peer, const join_side& a, std::string_view about,
                      const join_limits& limits = {});

// B's side. `begin` is called with what A said about its table, before the first row; `each` for
// each pair of rows with the same key, in the order of A's rows, and for one row of A in that of
// B's. The table is read when A has told the seed. Throws errc::corrupt when A breaks the protocol.
using join_begin = std::function<void(std::string_view about)>;
using join_each =
    std::function<void(std::string_view key, std::string_view rest_a, std::string_view rest_b)>;
join_report receive_join(message_channel& peer, const row_scan& rows, const join_begin& begin,
                         const join_each& each, const join_limits& limits = {});

// The estimate alone: filters of the table with fewer keys travel, one for each class of keys that
// occur 1, 2, 3, 4, 5 to 8 times and so on; two numbers for each come back.
struct join_size {
  estimate rows;
  join_report report;
};
join_size receive_estimate(message_channel& peer, const row_scan& rows,
                           const join_limits& limits = {});

// ---- rows as lists of fields ------------------------------------------------------------------

// Appends a field; reads all fields. errc::corrupt for text that append_field did not make, and for
// more fields than `most`: an empty one is one byte in the list, and sixteen when it is read.
void append_field(std::string& list, std::string_view field);
void split_fields(std::string_view list, std::vector<std::string_view>& out, std::size_t most);

}  // namespace bloomery
