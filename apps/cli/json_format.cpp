// JSON lines: an object on each line, of which one field is the key. A line without the field has no key.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bloomery/core/error.hpp"
#include "cli/line_format.hpp"

namespace bloomery::cli {

namespace {

class json_format final : public converting_format {
 public:
  // `path` is the names on the way to the field, with dots in between.
  explicit json_format(std::string_view path) : converting_format(false) {
    for (std::size_t from = 0; from <= path.size();) {
      const std::size_t end = std::min(path.find('.', from), path.size());
      if (end == from) {
        throw error(errc::bad_argument,
                    fmt::format("--json-key is '{}', but must be names with dots between", path));
      }
      names_.emplace_back(path.substr(from, end - from));
      from = end + 1;
    }
  }

 private:
  std::optional<std::size_t> convert(const chunk& c, std::string_view record, char* to,
                                     line_function line) const override {
    const nlohmann::json whole = nlohmann::json::parse(record, nullptr, false);
    if (whole.is_discarded()) throw_bad_record(c, line(), "not JSON");
    const nlohmann::json* at = &whole;
    for (const std::string& name : names_) {
      if (!at->is_object()) return std::nullopt;
      const auto found = at->find(name);
      if (found == at->end()) return std::nullopt;
      at = &*found;
    }
    if (at->is_null()) return std::nullopt;
    if (at->is_structured()) {
      throw_bad_record(c, line(), "the field is an object or an array, not a key");
    }
    // Numbers as JSON writes them; never longer than the line: 1e2 is written 100.0.
    const std::string key = at->is_string() ? at->get<std::string>() : at->dump();
    if (key.size() > record.size() + 8) {
      throw_bad_record(c, line(), "the number is too long to be a key; write it as a string");
    }
    key.copy(to, key.size());
    return key.size();
  }

  [[nodiscard]] std::size_t room_for(const chunk& c) const override {
    return c.text.size() + 8 * c.number;
  }

  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<record_format> make_json_format(const record_options& o) {
  return std::make_unique<json_format>(o.json_key);
}

}  // namespace bloomery::cli
