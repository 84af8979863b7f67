// The URLs of a web cache or a mirror, as keys of a cache digest: from lists, access logs, and the
// directories of nginx, Squid and mirrors. exchange/cache_contents.hpp knows the forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/crypto/digest.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

struct left_out_urls {
  std::uint64_t bad = 0;  // lines that are no URL, or no line of a log
  std::uint64_t other =
      0;                  // lines of a log with another method than GET or another status than 200
  std::uint64_t cut = 0;  // and those whose query Squid did not write
  std::uint64_t files = 0;  // that are no objects of the cache
  std::string first_bad;    // "list:17: 'text'"
  bool of_log = false;      // the first bad line
};

class cached_urls {
 public:
  // The base is a URL, for what has paths only; it may be empty. Throws errc::bad_argument for one
  // that is none.
  cached_urls(const std::string& base, const progress_options& show);

  void add_lists(const std::vector<std::string>& paths);  // URLs, one a line
  void add_logs(const std::vector<std::string>& paths);
  void add_nginx(const std::string& folder);
  void add_squid(const std::string& folder);
  void add_mirror(const std::string& folder);

  // All different ones, sorted.
  [[nodiscard]] std::vector<request_key> take();
  [[nodiscard]] const left_out_urls& left_out() const { return left_out_; }

 private:
  void add(std::string_view url) { keys_.push_back(key_of_request(url)); }
  void tell_bad(std::string_view file, std::uint64_t number, std::string_view line, bool of_log);

  std::string base_;
  progress_options show_;
  std::vector<request_key> keys_;
  left_out_urls left_out_;
};

// A line of a list without the blanks around it, which are no part of a URL.
std::string_view without_blanks(std::string_view line);

}  // namespace bloomery::cli
