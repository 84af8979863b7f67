#include "cli/input/first_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/input/decompress.hpp"

namespace bloomery::cli {

namespace {

bool is_tar(std::string_view text) {  // by the first header, whose name is filled up with NUL
  constexpr std::size_t magic_at = 257;
  return text.size() >= magic_at && text.substr(magic_at).starts_with("ustar");
}

// Which form of Unicode that is not UTF-8, by its mark of the byte order; nothing for none.
std::string_view wide_text(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "UTF-16";
  return {};
}

bool most_end_with_return(std::string_view text) {
  std::size_t lines = 0;
  std::size_t returns = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', end + 1)) {
    ++lines;
    if (end != 0 && text[end - 1] == '\r') ++returns;
  }
  return lines != 0 && returns * 10 >= lines * 9;
}

}  // namespace

void refuse_wide_text(std::string_view start, std::string_view file) {
  const std::string_view wide = wide_text(start);
  if (wide.empty() || start.find('\0') == std::string_view::npos) return;
  throw error(errc::bad_argument,
              fmt::format("{0}: this is {1}, not UTF-8; convert it with 'iconv -f {1} -t UTF-8'",
                          file, wide));
}

first_look::first_look(const record_options& o, progress& meter)
    : meter_(&meter),
      text_(!o.null && o.record_bytes == 0),
      json_(!o.json_key.empty()),
      lines_(text_ && !json_ && o.column.empty() && o.kmer == 0 && !o.crlf && !o.numbers &&
             !o.any_line_end) {}

void first_look::take(std::string_view text, std::string_view file) {
  constexpr std::size_t enough = std::size_t{64} << 10U;
  if (!text_) return;
  const std::string_view start = text.substr(0, enough);
  const auto refuse = [&](std::string_view what) {
    throw error(errc::bad_argument, fmt::format("{}: {}", file, what));
  };
  if (const std::string_view mistake = no_list(start); !mistake.empty()) refuse(mistake);
  if (start.find('\0') != std::string_view::npos) {
    if (is_tar(start)) {
      refuse("this is a tar archive, not a list of keys; 'tar -xO' prints the files in it");
    }
    refuse_wide_text(start, file);
    if (!json_) {
      warn(told_of_zeros_, file,
           "has NUL bytes, which are rare in text; -0 reads keys that end with NUL, and "
           "--record-bytes binary ones");
    }
  }
  if (lines_ && most_end_with_return(start)) {
    warn(told_of_returns_, file, crlf_warning);
  }
}

void first_look::warn(bool& done, std::string_view file, std::string_view what) {
  if (!std::exchange(done, true)) meter_->warn(fmt::format("warning: {}: {}", file, what));
}

}  // namespace bloomery::cli
