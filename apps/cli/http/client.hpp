// A client of HTTP that trusts no server: replies are bounded in bytes and time, redirects in
// number, and they never lead from https to http. Proxies are those of the environment.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/output/progress.hpp"

namespace bloomery::cli {

// An address of http or https, whose path is not empty.
class http_url {
 public:
  // Throws errc::bad_argument for anything else.
  explicit http_url(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string shown() const;  // without a password
  // With something behind its path, and before its query.
  [[nodiscard]] http_url with_ending(const std::string& ending) const;
  [[nodiscard]] http_url with_query(const std::string& name, const std::string& value) const;
  // Another file in the same folder, by its name.
  [[nodiscard]] http_url beside(const std::string& file) const;

 private:
  std::string text_;
};

struct http_options {
  std::string ca_file;  // empty for those of the system
  std::string token;    // for the server that is asked first, and none that it leads to
  std::chrono::milliseconds idle = std::chrono::seconds(30);
  std::chrono::milliseconds total = std::chrono::hours(1);
  const std::atomic<bool>* stop = nullptr;  // ends a transfer with http_stopped
};

struct http_question {
  http_url url;
  std::string accept;
  std::uint64_t most_bytes = 0;
  std::string most_is = "the limit of";  // for messages: "more than the limit of 7 bytes"
  std::string unless = {};               // If-None-Match
  bool compressed = false;  // the server may compress it; the limit is for what comes out
};

struct http_answer {
  long status = 0;
  std::vector<std::byte> body;  // of 200; aligned as new does it
  std::string content_type;
  std::string etag;
  std::string version;  // Bloomery-Version
  std::chrono::seconds retry_after{0};
};

// A reply with a status that is no success.
class http_refusal : public error {
 public:
  http_refusal(const http_url& url, const http_answer& reply);
  [[nodiscard]] std::chrono::seconds retry_after() const { return retry_after_; }
  [[nodiscard]] long status() const { return status_; }

 private:
  long status_;
  std::chrono::seconds retry_after_;
};

struct http_stopped {};  // thrown when *stop is true

class http_client {
 public:
  explicit http_client(http_options o);
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;
  ~http_client();

  // Follows redirects; any other status is the caller's to judge. Throws errc::io, and
  // errc::no_memory for a reply that is too long.
  http_answer get(const http_question& request, progress& meter);
  // All bytes that came so far, those of headers too.
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  struct transfer;
  struct handle;

  std::string perform(const std::string& url, const http_question& request, transfer& state);

  http_options options_;
  std::unique_ptr<handle> handle_;
  std::uint64_t received_ = 0;
};

}  // namespace bloomery::cli
