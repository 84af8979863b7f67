// Requests to a server's routes, with bodies: whatever comes is answered, or refused with a status
// that HTTP has, and the answer does not depend on the pieces in which the body comes.
//
// Before them is the parser of Boost.Beast, which is not in here, and what server.cpp adds to its
// rules: tests/serve/hostile_test.py sends requests as bytes, broken, cut into pieces and altered
// at random, to a server with both.
//
//     byte 0     the pieces of the body
//     a line     method and target, with a space between
//     lines      fields: a letter of `fields` below, then the value
//     empty line, and the body
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "cli/serve/routes.hpp"
#include "input.hpp"

namespace {

using bloomery_fuzz::require;
using namespace bloomery;
using namespace bloomery::cli;

// A folder with a filter of text, one of integers, and two versions of the first.
class served_folder {
 public:
  served_folder() {
    std::string path = (std::filesystem::temp_directory_path() / "serve_fuzz.XXXXXX").string();
    require(::mkdtemp(path.data()) != nullptr);
    save(path + "/words", {"apple", "pear"}, key_type::text);
    save(path + "/numbers", {"12345678"}, key_type::integers);
    shelf_.emplace(shelf_options{.folder = path, .hasher = [](const image_header& h) {
                                   return erase(xxh3_hasher(h.hash.seed), h.hash.form);
                                 }});
    save(path + "/words", {"apple", "pear", "plum"}, key_type::text);
    shelf_->scan();
    route_options o;
    o.writable = true;
    o.write_token = "0123456789abcdef";
    o.page = path;
    o.mirrors = {{"http://a/", path}};
    o.digests = {{"d", path + "/words"}};
    o.most_add_bytes = 1000;
    o.add = [](const std::string&, const key_form&, const std::vector<std::string_view>&) {};
    routes_.emplace(*shelf_, o, counters_);
    std::filesystem::remove_all(path);  // what is served is mapped
  }

  routes& answers() { return *routes_; }

 private:
  static void save(const std::string& path, const std::vector<std::string_view>& keys,
                   key_type form) {
    any_filter f(sizing::make_plan({.kind = filter_kind::blocked, .keys = 100, .fpr = 0.01}),
                 erase(xxh3_hasher(1), form));
    f.add(keys);
    f.save(path);
  }

  serve_counters counters_;
  std::optional<shelf> shelf_;
  std::optional<routes> routes_;
};

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

http_request served_request(std::string_view& text) {
  http_request q;
  std::string_view first = take_line(text);
  q.method = first.substr(0, first.find(' '));
  q.target = first.substr(std::min(first.size(), q.method.size() + 1));
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const std::string value(line.substr(1));
    switch (line[0]) {
      case 'a': q.accept = value; break;
      case 't': q.authorization = value; break;
      case 'c': q.content_type = value; break;
      case 'n': q.if_none_match = value; break;
      case 'i': q.if_range = value; break;
      case 'r': q.range = value; break;
      default: break;
    }
  }
  return q;
}

struct served_answer {
  unsigned status = 0;
  std::string body{};

  friend bool operator==(const served_answer&, const served_answer&) = default;
};

served_answer answer_in_pieces(routes& r, const http_request& q, std::string_view body,
                               std::size_t piece) {
  http_plan plan = r.answer(q);
  std::string out;
  http_reply reply;
  try {
    if (plan.body) {
      for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
        plan.body->feed(body.substr(0, piece), out);
      }
      if (auto next = plan.body->finish(out)) {
        plan = *std::move(next);
      } else {
        return {plan.reply.status, out};
      }
    }
    reply = plan.work ? plan.work() : std::move(plan.reply);
  } catch (const std::exception& e) {
    // Where something was answered already, that depends on the pieces.
    return {routes::failed(e).status, ""};
  }
  require(status_text(reply.status) != "Unknown" && reply.status < 500 + 5);
  require(reply.fields.find("\r\n\r\n") == std::string::npos);
  require(reply.fields.empty() || reply.fields.ends_with("\r\n"));
  require(!reply.owner || reply.pause_after <= reply.bytes.size());
  std::string head;
  append_head(head, reply, {.date = "x"});
  return {reply.status, reply.file ? "" : reply.body};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static served_folder served;
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0] % 64U;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const http_request q = served_request(text);
  const served_answer at_once = answer_in_pieces(served.answers(), q, text, size + 1);
  const bool told = q.target.find("metrics") != std::string::npos;  // which counts itself
  require(told || at_once == answer_in_pieces(served.answers(), q, text, piece));
  // An array of keys is one for another reader, too, or for neither: of strings, for words.
  if (q.method == "POST" && q.target == "/filters/words/check" &&
      q.content_type == "application/json" && (at_once.status == 200 || at_once.status == 400)) {
    const auto other = nlohmann::json::parse(text, nullptr, false);
    bool strings = other.is_array();
    if (strings) {
      for (const auto& value : other) strings = strings && value.is_string();
    }
    // Ours does not mind bytes that are no UTF-8: keys are bytes.
    require(!strings || at_once.status == 200);
  }
  return 0;
}
