// JSON lines: one field of each line's object is the key. A line without it is one without a key.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bloomery/core/error.hpp"
#include "cli/input/line_format.hpp"

namespace bloomery::cli {

namespace {

class json_format final : public line_format {
 public:
  explicit json_format(const record_options& o)
      : line_format('\n', false, false), wanted_(o.wanted()) {
    const std::string_view path =
        o.json_key;  // the names that lead to the field, with dots between
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

  void begin(chunk& c, bool first_of_file) override { number_lines(c, first_of_file); }
  void count(chunk& c) const override { split_to_count(c); }

  void split(chunk& c) const override {
    line_format::split(c);
    char* next = c.make_room(c.text.size() + c.number * slack);
    c.key_list.resize(c.number);
    std::size_t kept = 0;
    std::string key;
    for (const std::string_view record : c.records) {
      const auto [found, reason] = find_key(record, key);
      if (found == part::bad) {
        take_bad(c, record.data(), reason);
      } else if (found == part::nothing) {
        take_keyless(c, kept, record, fmt::format("no {}", wanted_));
      } else {
        c.record_list[kept] = record;
        c.key_list[kept++] = {next, key.size()};
        next += key.copy(next, key.size());
      }
    }
    c.records = c.records.first(kept);
    c.keys = {c.key_list.data(), kept};
    c.number = kept;
  }

 private:
  // A number's key is its form in nlohmann's output, which can be longer: 1e2 becomes 100.0.
  static constexpr std::size_t slack = 8;

  enum class part : std::uint8_t { key, nothing, bad };
  struct finding {
    part found = part::key;
    const char* reason = "";
  };

  [[nodiscard]] finding find_key(std::string_view record, std::string& key) const {
    const nlohmann::json whole = nlohmann::json::parse(record, nullptr, false);
    if (whole.is_discarded()) return {part::bad, "not JSON"};
    const nlohmann::json* at = &whole;
    for (const std::string& name : names_) {
      if (!at->is_object()) return {part::nothing};
      const auto found = at->find(name);
      if (found == at->end()) return {part::nothing};
      at = &*found;
    }
    if (at->is_null()) return {part::nothing};
    if (at->is_structured()) return {part::bad, "the field is an object or an array, not a key"};
    key = at->is_string() ? at->get<std::string>() : at->dump();
    if (key.size() > record.size() + slack) {
      return {part::bad, "the number is too long to be a key; write it as a string"};
    }
    return {};
  }

  std::string wanted_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<record_format> make_json_format(const record_options& o) {
  return std::make_unique<json_format>(o);
}

}  // namespace bloomery::cli
