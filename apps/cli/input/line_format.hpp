// Records that end with a certain byte, such as lines.
#pragma once

#include "cli/input/records.hpp"

namespace bloomery::cli {

class line_format : public record_format {  // the last record of a file need not have the end
 public:
  line_format(char end, bool keep_empty, bool crlf)
      : end_(end), keep_empty_(keep_empty), crlf_(crlf) {}

  [[nodiscard]] std::string_view terminator() const override { return {&end_, 1}; }
  [[nodiscard]] bool ends_alone() const override { return true; }
  [[nodiscard]] std::size_t whole(std::string_view text, std::size_t searched) const override;
  void split(chunk& c) const override;
  void count(chunk& c) const override;

 private:
  void cut_returns(chunk& c) const;

  char end_;
  bool keep_empty_;
  bool crlf_;
};

}  // namespace bloomery::cli
