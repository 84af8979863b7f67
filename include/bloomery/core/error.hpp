// What can go wrong, as one exception type with a code.
//
// Construction, opening and combining throw bloomery::error, whose text, fit to be shown, names the
// wrong value and the limit. Hot paths (add, contains) are noexcept and never get here.
//
// The library may also be built with -fno-exceptions. An error then ends the program: the handler
// that the program has set may report it, and then std::terminate is called.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bloomery {

enum class errc : std::uint8_t {
  bad_argument = 1,  // a parameter outside its range
  unreachable,       // the parameters are each valid, but no shape honours them together
  no_memory,         // the array could not be allocated
  io,                // the operating system refused; the text carries its reason
  not_bloomery,      // the bytes do not start with the magic
  unsupported,       // a version, kind, hash or capability that this build does not have
  corrupt,           // a checksum, a length or a field that contradicts another
  mismatch,          // two filters, or a filter and a key, that do not belong together
  full,              // no room for another key, and no leave to grow
};

class error : public std::runtime_error {
 public:
  error(errc code, const std::string& what) : std::runtime_error(what), code_(code) {}

  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

// For builds with -fno-exceptions; in others it is never called. Null, as at the start, for none.
// Set it before other threads use the library.
using error_handler = void (*)(const error& e);
void use_error_handler(error_handler handler) noexcept;

namespace detail {

// Throws the error, or ends the program where there are no exceptions.
[[noreturn]] void fail(errc code, const std::string& what);

// The shortest text that reads back as the same number; std::to_string prints 1e-7 as 0.000000.
std::string to_text(double value);
std::string to_text(std::uint64_t value);

// "fpr is 1.5, but it must be above 0 and below 1"
[[noreturn]] void throw_bad_argument(std::string_view name, double value, std::string_view limit);
[[noreturn]] void throw_bad_argument(std::string_view name, std::uint64_t value,
                                     std::string_view limit);

}  // namespace detail
}  // namespace bloomery
