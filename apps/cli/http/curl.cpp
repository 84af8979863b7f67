#include "cli/http/curl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

#if defined(__APPLE__)
constexpr const char* library = "libcurl.4.dylib";
#else
constexpr const char* library = "libcurl.so.4";
#endif

[[noreturn]] void throw_missing() {
  const char* const why = dlerror();
  throw error(errc::io,
              fmt::format("URLs need libcurl, which cannot be loaded (Debian: libcurl4): {}",
                          why != nullptr ? why : library));
}

template <class Function>
void find(void* from, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(from, name));
  if (function == nullptr) throw_missing();
}

curl_functions load() {
  void* const from = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // until the end of the process
  if (from == nullptr) throw_missing();
  curl_functions all{};
  find(from, all.free, "curl_free");
  find(from, all.global_init, "curl_global_init");
  find(from, all.slist_append, "curl_slist_append");
  find(from, all.slist_free_all, "curl_slist_free_all");
  find(from, all.url, "curl_url");
  find(from, all.url_cleanup, "curl_url_cleanup");
  find(from, all.url_get, "curl_url_get");
  find(from, all.url_set, "curl_url_set");
  find(from, all.easy_cleanup, "curl_easy_cleanup");
  find(from, all.easy_escape, "curl_easy_escape");
  find(from, all.easy_getinfo, "curl_easy_getinfo");
  find(from, all.easy_init, "curl_easy_init");
  find(from, all.easy_perform, "curl_easy_perform");
  find(from, all.easy_setopt, "curl_easy_setopt");
  find(from, all.easy_strerror, "curl_easy_strerror");
  return all;
}

}  // namespace

const curl_functions& curl() {
  static const curl_functions loaded = load();
  return loaded;
}

}  // namespace bloomery::cli
