// Reads JSON (RFC 8259) whose form is known, value after value, out of bytes that nobody vouches
// for: nesting is bounded, and whatever is not JSON throws errc::corrupt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery::detail {

class json_reader {
 public:
  // `what` is what errors call the text.
  json_reader(std::string_view text, std::string_view what) : rest_(text), what_(what) {}

  // Calls member(name) for each member; it has to read or skip the value.
  template <class Member>
  void object(Member member) {
    for (bool more = open('{', '}'); more; more = goes_on('}')) {
      const std::string name = string();
      expect(':');
      member(std::string_view(name));
    }
  }
  // Calls item() for each item, likewise.
  template <class Item>
  void array(Item item) {
    for (bool more = open('[', ']'); more; more = goes_on(']')) item();
  }
  [[nodiscard]] std::string string();    // as UTF-8
  [[nodiscard]] std::uint64_t number();  // a whole one
  void skip();                           // a value of any form
  void finish();                         // throws unless nothing follows

  [[noreturn]] void fail(std::string_view why) const;

 private:
  [[nodiscard]] char peek();        // after blanks; 0 at the end
  [[nodiscard]] bool take(char c);  // if it is next
  void expect(char c);
  bool open(char start, char end);  // whether there is something inside
  bool goes_on(char end);
  void skip_digits();
  void skip_number();
  void append_escaped(std::string& to);
  [[nodiscard]] std::uint32_t hexadecimal();

  std::string_view rest_;
  std::string_view what_;
  unsigned depth_ = 0;
};

// The text between quotation marks, with what JSON wants escaped, and U+FFFD where it is no UTF-8.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace bloomery::detail
