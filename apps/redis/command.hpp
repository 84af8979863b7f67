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

struct call {  // of a command; args[0] is its name
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
  [[nodiscard]] bool is_replayed() const noexcept {  // from the master or the append-only file
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

// A key of the database, open while a command runs. What every command calls is inline.
class opened_key {
 public:
  opened_key(const call& c, std::size_t argument, int mode)
      : ctx_(c.ctx),
        key_(api::OpenKey(c.ctx, c.args[argument], mode)),
        to_be_written_(mode == api::read_write) {}
  opened_key(const opened_key&) = delete;
  opened_key& operator=(const opened_key&) = delete;
  ~opened_key() {
    used_.reset();
    if (key_ != nullptr) api::CloseKey(key_);
  }

  [[nodiscard]] bool empty() const noexcept;
  // Null if missing or another type.
  [[nodiscard]] value* find(const family& of) const {
    if (key_ == nullptr) return nullptr;
    const api::type* const type = api::ModuleTypeGetType(key_);
    if (type != of.type) return of.has(type) ? find_foreign(of) : nullptr;
    auto* const v = static_cast<value*>(api::ModuleTypeGetValue(key_));
    use(v);
    if (to_be_written_ && v->is_lent()) make_writable(*v);
    return v;
  }
  [[nodiscard]] value* find_or_refuse(const family& of) const {  // refuses another type
    value* const v = find(of);
    if (v == nullptr && !empty()) refuse_type();
    return v;
  }
  // Refuses a missing key, too.
  [[nodiscard]] value& get(const family& of, const char* missing = not_found) const;
  value& set(std::unique_ptr<value> v);  // replaces what the key holds

 private:
  value* use(value* v) const {
    if (!used_ || &**used_ != v) used_.emplace(*v);
    return v;
  }
  [[nodiscard]] value* find_foreign(const family& of) const;  // of another module
  void make_writable(value& v) const;
  [[noreturn]] static void refuse_type();

  api::ctx* ctx_;
  api::key* key_;
  bool to_be_written_;
  mutable std::optional<use_of> used_;
};

// The items' hashes by the hash function of the value's filter, valid until the next call.
[[nodiscard]] std::span<const std::uint64_t> hashes_of(const value& v,
                                                       std::span<const std::string_view> items);

// Counts a change of the value, and tells clients that wait for the key or watch it.
void changed(const call& c, std::size_t argument, value& v, const char* event);

// Tells replicas and the append-only file this command, as it was said.
void replicate(const call& c);

struct command {
  const char* name;
  api::command_function run;
  const char* flags;
  int arity;  // with the name; -n for n or more
  const char* summary;
  // Which arguments are keys: the first, the last (-1 for the last of all), and the step.
  int first_key = 1;
  int last_key = 1;
  // If not 0: the argument that counts the keys after it; first_key is then one more key.
  int counted_keys_at = 0;
};
// Fast is what takes the same time for an item whatever else the key holds, as the server means it.
inline constexpr const char* writes = "write deny-oom";
inline constexpr const char* writes_fast = "write deny-oom fast";
inline constexpr const char* writes_less = "write";  // never needs more memory
inline constexpr const char* writes_less_fast = "write fast";
inline constexpr const char* reads = "readonly fast";
inline constexpr const char* reads_slowly = "readonly";

[[nodiscard]] bool create_commands(api::ctx* c, std::span<const command> all);

namespace detail {
using body = void (*)(const call&);
inline std::uint64_t run_so_far = 0;
void reply_to_exception(api::ctx* c) noexcept;  // the one that is being handled
}  // namespace detail
[[nodiscard]] inline std::uint64_t commands_run() noexcept { return detail::run_so_far; }

// The function that the server calls for a command.
template <detail::body Run, int Arity>
int entry(api::ctx* c, api::string** args, int count) {
  if (Arity >= 0 ? count != Arity : count < -Arity) return api::WrongArity(c);
  ++detail::run_so_far;
  try {
    Run({.ctx = c, .args = {args, static_cast<std::size_t>(count)}});
  } catch (...) {
    detail::reply_to_exception(c);
  }
  return api::ok;
}

template <detail::body Run, int Arity>
[[nodiscard]] constexpr command make_command(const char* name, const char* flags,
                                             const char* summary) {
  return {
      .name = name, .run = entry<Run, Arity>, .flags = flags, .arity = Arity, .summary = summary};
}

// ---- replies ----------------------------------------------------------------------------------

inline void reply_ok(const call& c) { api::ReplyWithSimpleString(c.ctx, "OK"); }
// The answers of a batch (detail/filter/batch.hpp): an array of booleans, in RESP2 of integers.
void reply_bits(const call& c, std::span<const std::uint64_t> bitmap, std::size_t count);
void reply_text(const call& c, std::string_view text);
void reply_number(const call& c, std::uint64_t number);  // unsigned, unlike integer replies
// In RESP2 the shortest text that is this number, not 17 digits.
void reply_rate(const call& c, double rate);
struct named_number {
  const char* name;
  std::uint64_t number;
};
void reply_numbers(const call& c, std::span<const named_number> all);  // a map, flat in RESP2
void reply_piece(const call& c, std::uint64_t iterator, std::span<const std::byte> bytes);

}  // namespace bloomery_redis
