// libcurl, loaded when the first URL is used: it brings forty libraries with it, for which every
// start of the tool would wait (7 of 16 ms).
#pragma once

#define CURL_DISABLE_TYPECHECK  // whose casts our warnings would count
#include <curl/curl.h>

namespace bloomery::cli {

struct curl_functions {
  decltype(&::curl_free) free;
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_escape) easy_escape;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_strerror) easy_strerror;
};

// Throws errc::io where there is no libcurl.
[[nodiscard]] const curl_functions& curl();

}  // namespace bloomery::cli
