// What every command shares: how it is declared, how it gets its arguments and keys, and how its
// errors become replies. No exception leaves a command: the server is written in C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api.hpp"
#include "text.hpp"
#include "value.hpp"

namespace bloomery_redis {

// One call of a command. args[0] is its name.
struct call {
  api::ctx* ctx;
  std::span<api::string* const> args;

  [[nodiscard]] std::size_t size() const noexcept { return args.size(); }
  [[nodiscard]] std::string_view text(std::size_t i) const noexcept { return text_of(args[i]); }
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const noexcept {
    return is_word(text(i), word);
  }
  [[nodiscard]] std::optional<long long> integer(std::size_t i) const noexcept;
  [[nodiscard]] std::optional<double> real(std::size_t i) const noexcept;
  // The arguments from `first` on, as keys of a filter. The span is valid until the next call.
  [[nodiscard]] std::span<const std::string_view> items(std::size_t first) const;
  // Whether the call comes from the master or from the append-only file.
  [[nodiscard]] bool is_replayed() const noexcept {
    return (api::GetContextFlags(ctx) & (api::is_replicated | api::is_loading)) != 0;
  }
};

// An error whose text is the reply, word for word. A command throws it before it replies anything.
class refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
inline constexpr const char* wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr const char* not_found = "ERR not found";

// A key of the database, open while a command runs.
class opened_key {
 public:
  opened_key(const call& c, std::size_t argument, int mode);
  opened_key(const opened_key&) = delete;
  opened_key& operator=(const opened_key&) = delete;
  ~opened_key();

  [[nodiscard]] bool empty() const noexcept;
  // The value, or null if the key is missing or holds something of another type.
  [[nodiscard]] value* find(const family& of) const;
  // The value, or null if the key is missing. Refuses a value of another type.
  [[nodiscard]] value* find_or_refuse(const family& of) const;
  // The value. Refuses a missing key and a value of another type.
  [[nodiscard]] value& get(const family& of, const char* missing = not_found) const;
  // Replaces what the key holds.
  value& set(std::unique_ptr<value> v);

 private:
  api::key* key_;
  bool to_be_written_;
};

// The hashes of items by the hash function of the value's filter. The span is valid until the next
// call.
[[nodiscard]] std::span<const std::uint64_t> hashes_of(const value& v,
                                                       std::span<const std::string_view> items);

// Counts a change of the value, and tells clients that wait for the key or watch it.
void changed(const call& c, std::size_t argument, value& v, const char* event);

struct command {
  const char* name;
  api::command_function run;
  const char* flags;
  int arity;  // with the name; -n for n or more
  const char* summary;
  // Which arguments are keys: the first, the last (-1 for the last argument), and the step between
  // two.
  int first_key = 1;
  int last_key = 1;
  // If this is not 0: the argument that gives the number of keys that follow it; first_key is then
  // one more key.
  int counted_keys_at = 0;
};
inline constexpr const char* writes = "write deny-oom";
inline constexpr const char* writes_less = "write";  // never needs more memory
inline constexpr const char* reads = "readonly fast";
inline constexpr const char* reads_slowly = "readonly";

[[nodiscard]] bool create_commands(api::ctx* c, std::span<const command> all);
[[nodiscard]] std::uint64_t commands_run() noexcept;

namespace detail {
using body = void (*)(const call&);
int guarded(body run, int arity, api::ctx* c, api::string** args, int count) noexcept;
}  // namespace detail

// The function that the server calls for a command.
template <detail::body Run, int Arity>
int entry(api::ctx* c, api::string** args, int count) {
  return detail::guarded(Run, Arity, c, args, count);
}

// Declares a command.
template <detail::body Run, int Arity>
[[nodiscard]] constexpr command make_command(const char* name, const char* flags,
                                             const char* summary) {
  return {
      .name = name, .run = entry<Run, Arity>, .flags = flags, .arity = Arity, .summary = summary};
}

// ---- replies ----------------------------------------------------------------------------------

inline void reply_ok(const call& c) { api::ReplyWithSimpleString(c.ctx, "OK"); }
// The answers of a batch (detail/filter/batch.hpp) as an array of booleans, which are integers in
// RESP2.
void reply_bits(const call& c, std::span<const std::uint64_t> bitmap, std::size_t count);
void reply_text(const call& c, std::string_view text);
// An unsigned number of the library. Integer replies of the server are signed.
void reply_number(const call& c, std::uint64_t number);
struct named_number {
  const char* name;
  std::uint64_t number;
};
// A map; in RESP2 a flat array.
void reply_numbers(const call& c, std::span<const named_number> all);
// [iterator, bytes]
void reply_piece(const call& c, std::uint64_t iterator, std::span<const std::byte> bytes);

}  // namespace bloomery_redis
