// What a server answers to which request. docs/serve.md is the contract; `bloomery fetch` and
// whoever reads it rely on that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve/counters.hpp"
#include "cli/serve/http.hpp"
#include "cli/serve/made_forms.hpp"
#include "cli/serve/shelf.hpp"

namespace bloomery::cli {

struct route_options {
  std::string page;                                          // a folder, or nothing
  std::vector<std::pair<std::string, std::string>> digests;  // names and files, for Squid
  std::vector<std::pair<std::string, std::string>> mirrors;  // URLs and folders, likewise
  bool writable = false;
  std::string write_token;
  std::string read_token;  // nothing: everybody may read
  std::uint64_t most_add_bytes = std::uint64_t{64} << 20U;
  std::uint64_t cache_bytes = std::uint64_t{256} << 20U;
  // Adds keys to the file, as one change.
  std::function<void(const std::string& path, const key_form& form,
                     const std::vector<std::string_view>& keys)>
      add;
};

class routes {
 public:
  routes(shelf& filters, route_options o, serve_counters& counters);

  // Never throws anything of HTTP's or the library's: errors are replies. The request need not
  // outlive the call.
  [[nodiscard]] http_plan answer(const http_request& q);

  // The reply to a request that threw: http_error, or what the library throws.
  [[nodiscard]] static http_reply failed(const std::exception& e);

 private:
  http_plan dispatch(const http_request& q, http_route& route);
  http_plan of_filter(const http_request& q, std::string_view rest, std::string_view query);
  http_plan image(const http_request& q, const std::string& name, const shelf_filter& f);
  http_plan delta(const std::string& name, const shelf_filter& f, std::string_view query);
  http_plan check_one(const shelf_filter& f, std::string_view query);
  http_plan check_many(const http_request& q, const shelf_filter& f, std::string_view query);
  http_plan add(const http_request& q, const std::string& name, const shelf_filter& f);
  http_plan digest(std::string_view path) const;
  http_plan from_mirror(const http_request& q) const;
  http_plan from_page(const http_request& q, std::string_view path) const;
  [[nodiscard]] http_reply listing() const;
  [[nodiscard]] std::string list_json() const;

  shelf* filters_;
  route_options options_;
  serve_counters* counters_;
  mutable made_forms made_;  // asking it changes what is recent
};

}  // namespace bloomery::cli
