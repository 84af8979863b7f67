// The bodies of POST: keys to ask for, which are answered while they come, and keys to add.
#pragma once

#include <memory>

#include "cli/serve/counters.hpp"
#include "cli/serve/http.hpp"
#include "cli/serve/key_stream.hpp"
#include "cli/serve/shelf.hpp"

namespace bloomery::cli {

// What is answered: the lines that are found; all of them, with + or - and a tab before; JSON; or a
// bit for each key, the first one the lowest of its byte.
enum class answer_form : std::uint8_t { found, annotated, json, bitmap };

[[nodiscard]] std::unique_ptr<body_reader> make_check_body(version_ptr version,
                                                           std::unique_ptr<key_stream> keys,
                                                           answer_form form,
                                                           serve_counters& counters);

using add_work = std::function<http_reply(const std::vector<std::string_view>& keys)>;
[[nodiscard]] std::unique_ptr<body_reader> make_add_body(std::unique_ptr<key_stream> keys,
                                                         std::uint64_t most_bytes, add_work work);

}  // namespace bloomery::cli
