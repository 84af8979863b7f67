// Records that a byte ends, and those among them whose text stands for another key.
#pragma once

#include <functional>
#include <optional>

#include "cli/records.hpp"

namespace bloomery::cli {

// The last record of a file needs no end.
class line_format : public record_format {
 public:
  line_format(char end, bool keep_empty, bool crlf)
      : end_(end), keep_empty_(keep_empty), crlf_(crlf) {}

  [[nodiscard]] std::string_view terminator() const override { return {&end_, 1}; }
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t searched) const override;
  void split(chunk& c) const override;
  void count(chunk& c) const override;

 private:
  void cut_returns(chunk& c) const;

  char end_;
  bool keep_empty_;
  bool crlf_;
};

class converting_format : public line_format {
 public:
  explicit converting_format(bool crlf) : line_format('\n', false, crlf) {}

  void begin(chunk& c, bool first_of_file) override;
  void split(chunk& c) const override;
  void count(chunk& c) const override { split_to_count(c); }

 protected:
  using line_function = const std::function<std::uint64_t()>&;

  // No key of the chunk becomes longer than its record and eight bytes.
  [[nodiscard]] virtual std::size_t room_for(const chunk& c) const { return c.text.size(); }
  // Writes the key of a record and says how long it is; nothing when the record has none. `line` gives its
  // number for messages.
  virtual std::optional<std::size_t> convert(const chunk& c, std::string_view record, char* to,
                                             line_function line) const = 0;
};

}  // namespace bloomery::cli
