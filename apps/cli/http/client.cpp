#include "cli/http/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "bloomery/core/version.hpp"
#include "cli/http/curl.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

constexpr int most_redirects = 5;
constexpr std::size_t most_error_bytes = 4096;  // of a page that says why not
constexpr long most_connections = 2;

struct curl_address_freer {
  void operator()(CURLU* address) const { curl().url_cleanup(address); }
};
using curl_address = std::unique_ptr<CURLU, curl_address_freer>;

struct text_freer {
  void operator()(char* text) const { curl().free(text); }
};
using curl_text = std::unique_ptr<char, text_freer>;

curl_address parse_address(const std::string& text) {
  curl_address parsed(curl().url());
  if (!parsed || curl().url_set(parsed.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    throw error(errc::bad_argument,
                fmt::format("{}: this is no URL such as https://HOST/filters/NAME", escaped(text)));
  }
  return parsed;
}

std::string part_of(const curl_address& from, CURLUPart part) {
  char* raw = nullptr;
  if (curl().url_get(from.get(), part, &raw, 0) != CURLUE_OK) return "";
  const curl_text owned(raw);
  return owned.get();
}

void set_part(const curl_address& to, CURLUPart part, const char* value, unsigned flags = 0) {
  if (curl().url_set(to.get(), part, value, flags) != CURLUE_OK) {
    throw error(errc::bad_argument, "this is no part of a URL");
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Scheme, host and port of an address that http_url wrote.
std::string_view origin_of(std::string_view url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

std::string error_of_server(const http_answer& r) {  // {"error": "..."}, or nothing
  const std::string_view text(reinterpret_cast<const char*>(r.body.data()), r.body.size());
  const nlohmann::json told = nlohmann::json::parse(text, nullptr, false);
  if (!told.is_object() || !told.contains("error") || !told["error"].is_string()) return "";
  constexpr std::size_t most = 200;
  return fmt::format(": {}", escaped(told["error"].get<std::string>().substr(0, most)));
}

}  // namespace

http_url::http_url(const std::string& text) {
  const curl_address parsed = parse_address(text);
  const std::string scheme = part_of(parsed, CURLUPART_SCHEME);
  std::string path = part_of(parsed, CURLUPART_PATH);
  while (path.ends_with('/')) path.pop_back();
  if ((scheme != "http" && scheme != "https") || path.empty()) {
    throw error(errc::bad_argument,
                fmt::format("{}: this is no URL such as https://HOST/filters/NAME", escaped(text)));
  }
  set_part(parsed, CURLUPART_PATH, path.c_str());
  set_part(parsed, CURLUPART_FRAGMENT, nullptr);
  text_ = part_of(parsed, CURLUPART_URL);
}

std::string http_url::shown() const {
  const curl_address parsed = parse_address(text_);
  set_part(parsed, CURLUPART_USER, nullptr);
  set_part(parsed, CURLUPART_PASSWORD, nullptr);
  return escaped(part_of(parsed, CURLUPART_URL));
}

http_url http_url::with_ending(const std::string& ending) const {
  const curl_address parsed = parse_address(text_);
  set_part(parsed, CURLUPART_PATH, (part_of(parsed, CURLUPART_PATH) + ending).c_str());
  return http_url(part_of(parsed, CURLUPART_URL));
}

http_url http_url::with_query(const std::string& name, const std::string& value) const {
  const curl_address parsed = parse_address(text_);
  set_part(parsed, CURLUPART_QUERY, (name + "=" + value).c_str(), CURLU_APPENDQUERY);
  return http_url(part_of(parsed, CURLUPART_URL));
}

http_url http_url::beside(const std::string& file) const {
  const curl_address parsed = parse_address(text_);
  const std::string path = part_of(parsed, CURLUPART_PATH);
  const curl_text quoted(curl().easy_escape(
      nullptr, file.data(), static_cast<int>(std::min<std::size_t>(file.size(), 1024))));
  if (!quoted) throw std::bad_alloc();
  set_part(parsed, CURLUPART_PATH, (path.substr(0, path.rfind('/') + 1) + quoted.get()).c_str());
  return http_url(part_of(parsed, CURLUPART_URL));
}

http_refusal::http_refusal(const http_url& url, const http_answer& reply)
    : error(errc::io, fmt::format("{}: the server answers with status {}{}", url.shown(),
                                  reply.status, error_of_server(reply))),
      status_(reply.status),
      retry_after_(reply.retry_after) {}

struct http_client::handle {
  const curl_functions& library = curl();
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;

  handle() {
    static const CURLcode ready = curl().global_init(CURL_GLOBAL_DEFAULT);
    easy = ready == CURLE_OK ? curl().easy_init() : nullptr;
    if (easy == nullptr) throw error(errc::io, "libcurl could not be started");
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() {
    library.easy_cleanup(easy);
    library.slist_free_all(headers);
  }

  template <class Value>
  void set(CURLoption option, Value value) const {
    if (curl().easy_setopt(easy, option, value) != CURLE_OK) {
      throw error(errc::io, "libcurl does not take an option");
    }
  }
  void add_header(const std::string& line) {
    curl_slist* const longer = curl().slist_append(headers, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    headers = longer;
  }
};

// What the callbacks of one request share.
struct http_client::transfer {
  handle* of = nullptr;
  progress* meter = nullptr;
  const std::atomic<bool>* stop = nullptr;
  std::uint64_t most_bytes = 0;
  http_answer reply = {};
  std::uint64_t counted = 0;  // for the meter
  bool too_long = false;
  bool no_memory = false;
  bool cut = false;  // a page that says why not: the rest is not needed

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    static_cast<transfer*>(self)->take_header({data, size * count});
    return size * count;
  }
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    // No exception may pass through libcurl.
    auto& t = *static_cast<transfer*>(self);
    try {
      return t.take_body({data, size * count}) ? size * count : 0;
    } catch (const std::bad_alloc&) {
      t.no_memory = true;
      return 0;
    }
  }
  static int on_progress(void* self, curl_off_t total, curl_off_t now, curl_off_t /*up_total*/,
                         curl_off_t /*up_now*/) {
    auto& t = *static_cast<transfer*>(self);
    if (t.stop != nullptr && *t.stop) return 1;
    const auto so_far = static_cast<std::uint64_t>(std::max<curl_off_t>(0, now));
    if (total > 0) t.meter->set_total(static_cast<std::uint64_t>(total));
    if (so_far > t.counted) t.meter->advance(so_far - std::exchange(t.counted, so_far));
    return 0;
  }

 private:
  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // after an interim reply comes another
      reply = {};
      return;
    }
    const std::size_t colon = line.find(':');
    constexpr std::size_t longest = 200;
    if (colon == std::string_view::npos || line.size() > longest) return;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "content-type") reply.content_type = lower(value);
    if (name == "etag") reply.etag = value;
    if (name == "bloomery-version") reply.version = value;
    if (name == "retry-after") {  // a number of seconds; that it may be a date is left out
      std::uint32_t seconds = 0;
      std::from_chars(value.data(), value.data() + value.size(), seconds);
      reply.retry_after = std::chrono::seconds(seconds);
    }
  }

  bool take_body(std::string_view piece) {
    long status = 0;
    curl().easy_getinfo(of->easy, CURLINFO_RESPONSE_CODE, &status);
    const std::size_t room =
        static_cast<std::size_t>(status == 200 ? most_bytes : most_error_bytes) - reply.body.size();
    if (piece.size() > room) {
      too_long = status == 200;
      cut = !too_long;
      return false;
    }
    const auto bytes = std::as_bytes(std::span(piece));
    reply.body.insert(reply.body.end(), bytes.begin(), bytes.end());
    return true;
  }
};

http_client::http_client(http_options o)
    : options_(std::move(o)), handle_(std::make_unique<handle>()) {
  std::signal(SIGPIPE, SIG_IGN);  // a connection that ends is an error to tell
  const handle& h = *handle_;
  h.set(CURLOPT_NOSIGNAL, 1L);
  h.set(CURLOPT_PROTOCOLS_STR, "http,https");
  h.set(CURLOPT_FOLLOWLOCATION, 0L);
  h.set(CURLOPT_MAXCONNECTS, most_connections);
  h.set(CURLOPT_USERAGENT, fmt::format("bloomery/{}.{}.{}", BLOOMERY_VERSION_MAJOR,
                                       BLOOMERY_VERSION_MINOR, BLOOMERY_VERSION_PATCH)
                               .c_str());
  const auto seconds = std::max<std::int64_t>(1, (options_.idle.count() + 999) / 1000);
  h.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.idle.count()));
  h.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  h.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(seconds));
  h.set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.total.count()));
  h.set(CURLOPT_NOPROGRESS, 0L);
  h.set(CURLOPT_XFERINFOFUNCTION, &transfer::on_progress);
  h.set(CURLOPT_HEADERFUNCTION, &transfer::on_header);
  h.set(CURLOPT_WRITEFUNCTION, &transfer::on_body);
  h.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // those of a proxy are not the reply's
  if (!options_.token.empty()) h.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
  if (!options_.ca_file.empty()) h.set(CURLOPT_CAINFO, options_.ca_file.c_str());
}

http_client::~http_client() = default;

// One request. The address that the reply leads to, if it does.
std::string http_client::perform(const std::string& url, const http_question& request,
                                 transfer& state) {
  const handle& h = *handle_;
  std::array<char, CURL_ERROR_SIZE> reason{};
  h.set(CURLOPT_URL, url.c_str());
  const bool at_home = origin_of(url) == origin_of(request.url.text());
  h.set(CURLOPT_XOAUTH2_BEARER,
        at_home && !options_.token.empty() ? options_.token.c_str() : nullptr);
  h.set(CURLOPT_HTTPHEADER, h.headers);
  h.set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.most_bytes));
  h.set(CURLOPT_ACCEPT_ENCODING, request.compressed ? "" : nullptr);
  h.set(CURLOPT_ERRORBUFFER, reason.data());
  h.set(CURLOPT_XFERINFODATA, &state);
  h.set(CURLOPT_HEADERDATA, &state);
  h.set(CURLOPT_WRITEDATA, &state);
  const CURLcode result = curl().easy_perform(h.easy);
  curl().easy_setopt(h.easy, CURLOPT_ERRORBUFFER, nullptr);
  curl_off_t body = 0;
  long headers = 0;
  curl().easy_getinfo(h.easy, CURLINFO_SIZE_DOWNLOAD_T, &body);
  curl().easy_getinfo(h.easy, CURLINFO_HEADER_SIZE, &headers);
  received_ += static_cast<std::uint64_t>(body) + static_cast<std::uint64_t>(headers);
  const std::string name = http_url(url).shown();
  if (state.no_memory || result == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (result == CURLE_ABORTED_BY_CALLBACK) throw http_stopped{};
  if (state.too_long || result == CURLE_FILESIZE_EXCEEDED) {
    throw error(errc::no_memory, fmt::format("{}: the server sends more than {} {}", name,
                                             request.most_is, counted(request.most_bytes, "byte")));
  }
  if (result != CURLE_OK && !state.cut) {
    const char* text = reason[0] != '\0' ? reason.data() : curl().easy_strerror(result);
    throw error(errc::io, fmt::format("{}: {}", name, escaped(text)));
  }
  curl().easy_getinfo(h.easy, CURLINFO_RESPONSE_CODE, &state.reply.status);
  char* next = nullptr;
  curl().easy_getinfo(h.easy, CURLINFO_REDIRECT_URL, &next);
  return is_redirect(state.reply.status) && next != nullptr ? next : "";
}

http_answer http_client::get(const http_question& request, progress& meter) {
  handle& h = *handle_;
  curl().slist_free_all(std::exchange(h.headers, nullptr));
  if (!request.accept.empty()) h.add_header("Accept: " + request.accept);
  if (!request.unless.empty()) h.add_header("If-None-Match: " + request.unless);
  std::string url = request.url.text();
  for (int redirects = 0;; ++redirects) {
    transfer state;
    state.of = &h;
    state.meter = &meter;
    state.stop = options_.stop;
    state.most_bytes = request.most_bytes;
    std::string next = perform(url, request, state);
    if (next.empty()) return std::move(state.reply);
    if (redirects == most_redirects) {
      throw error(errc::io,
                  fmt::format("{}: more than {} redirects", request.url.shown(), most_redirects));
    }
    if (lower(next.substr(0, 8)) != "https://" &&
        (lower(next.substr(0, 7)) != "http://" || lower(url.substr(0, 6)) == "https:")) {
      throw error(errc::io, fmt::format("{}: it redirects to {}, which is not as safe",
                                        http_url(url).shown(), escaped(next)));
    }
    // Addresses here have no / at their end: a web server that wants one means a folder.
    const std::string after = http_url(next).text();
    if (after == url && next.ends_with('/')) {
      const std::string name = http_url(url).shown();
      throw error(errc::io, fmt::format("{}: this is a folder; the URL of a filter ends with its "
                                        "name, as in {}/NAME",
                                        name, name));
    }
    url = after;
  }
}

}  // namespace bloomery::cli
