// The messages of reconcile as bytes (docs/exchange.md), checked as far as that goes without sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/exchange/reconcile.hpp"
#include "bloomery/sketch/riblt.hpp"
#include "reconcile_plan.hpp"
#include "tug_of_war.hpp"

namespace bloomery::reconcile_wire {

enum class type : std::uint8_t {
  hello = 1,
  plan = 2,
  filter = 3,
  keys = 4,       // more follow
  last_keys = 5,  // the end of the list
  symbols = 6,
  more = 7,
  wanted = 8,
  check = 9,
  refusal = 10,
  sums = 11,
};

using bytes = std::vector<std::byte>;
using byte_view = std::span<const std::byte>;

struct hello {
  reconcile_method wish = reconcile_method::automatic;
  std::uint64_t nonce = 0;
  set_size size;
};
inline constexpr std::size_t hello_limit = 64;
[[nodiscard]] bytes write(const hello& h);
[[nodiscard]] hello read_hello(byte_view from);

inline constexpr std::size_t sums_limit = 10 * tug_of_war::sums;
[[nodiscard]] bytes write(const tug_sums& sums);
[[nodiscard]] tug_sums read_sums(byte_view from);

inline constexpr std::size_t plan_limit = 14;
[[nodiscard]] bytes write(const reconcile_plan& p);
[[nodiscard]] reconcile_plan read_plan(byte_view from);

// Symbols first, first + 1, ... of a set with so many items; whether they end what was asked for.
struct symbol_run {
  bool last = false;
  std::uint64_t items = 0;
  std::uint64_t first = 0;
  std::span<const riblt_symbol> symbols;
};
inline constexpr std::size_t run_symbols = 4096;  // in a message
inline constexpr std::size_t run_limit = 30 + run_symbols * 22;
[[nodiscard]] bytes write(const symbol_run& run);
struct symbol_list {
  bool last = false;
  std::uint64_t items = 0;
  std::uint64_t first = 0;
  std::vector<riblt_symbol> symbols;
};
[[nodiscard]] symbol_list read_symbols(byte_view from);

inline constexpr std::size_t number_limit = 10;
[[nodiscard]] bytes write_number(std::uint64_t value);
[[nodiscard]] std::uint64_t read_number(byte_view from);

// Places, rising, in a list of `total`.
[[nodiscard]] std::size_t places_limit(std::uint64_t total);
[[nodiscard]] bytes write_places(std::span<const std::uint64_t> places);
[[nodiscard]] std::vector<std::uint64_t> read_places(byte_view from, std::uint64_t total);

struct set_check {
  std::uint64_t keys = 0;
  std::array<std::uint64_t, 2> sum{};

  friend bool operator==(const set_check&, const set_check&) = default;
};
inline constexpr std::size_t check_limit = 26;
[[nodiscard]] bytes write(const set_check& c);
[[nodiscard]] set_check read_check(byte_view from);

// Keys in the order of bytes, each without those (255 at most) that it shares with the one before.
inline constexpr std::size_t keys_message_bytes = std::size_t{256} << 10U;
class key_writer {
 public:
  void add(std::string_view key);
  [[nodiscard]] bool full() const noexcept { return bytes_.size() >= keys_message_bytes; }
  [[nodiscard]] bytes take();  // starts the next message; the keys go on

 private:
  std::string last_;
  bytes bytes_;
};
class key_reader {
 public:
  // Calls for every key of a message. Throws errc::corrupt unless the order is strict.
  template <class Take>
  void read(byte_view from, Take take) {
    while (!from.empty()) take(next(from));
  }

 private:
  std::string next(byte_view& from);

  std::string last_;
  bool any_ = false;
};

inline constexpr std::size_t refusal_limit = 300;
[[nodiscard]] bytes write_refusal(std::string_view why);
[[nodiscard]] std::string read_refusal(byte_view from);  // only what can be shown on a terminal

}  // namespace bloomery::reconcile_wire
