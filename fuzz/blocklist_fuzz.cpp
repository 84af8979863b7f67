// Arbitrary bytes as a line of a block list, as text to scan and as a URL: nothing crashes, what is
// accepted has one form, and what goes into a list is found again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/lists/blocklist.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::require;

void try_address(std::string_view text) {
  const auto a = ip_address::parse(text);
  if (a) require(ip_address::parse(a->text()) == a);
  const auto r = ip_range::parse(text);
  if (r) require(ip_range::parse(r->text()) == r);
}

void try_url(std::string_view text) {
  const auto u = url::parse(text);
  if (!u) return;
  const std::string normal = u->text();
  const auto again = url::parse(normal);
  require(again.has_value());
  require(again->text() == normal);
}

// An entry as something that it blocks.
void add_question(block_batch& batch, const block_entry& entry) {
  switch (entry.kind) {
    case block_kind::range: return batch.add_address(entry.range.first);
    case block_kind::host: return batch.add_domain(entry.name);
    case block_kind::domain: {
      // A name below it that is too long is no name.
      const bool fits = entry.name.size() + 2 <= longest_domain;
      return batch.add_domain(fits ? "x." + entry.name : entry.name);
    }
    case block_kind::url:
    case block_kind::wide_url: {
      // The '/' that names of entries end without; and no port is the default of this scheme.
      std::string name = entry.name;
      name.insert(std::min(name.find('?'), name.size()), "/");
      return batch.add_url("any://" + name);
    }
    case block_kind::page: return batch.add_url("any://" + entry.name);
  }
}

void try_line(std::string_view line) {
  const block_line parsed = parse_block_line(line);
  require(parsed.entries.empty() == (parsed.kind != line_kind::entries));
  if (parsed.entries.empty()) return;
  block_list_builder builder({.fpr = 0.01});
  require(builder.add_line(line) == line_kind::entries);
  const block_list list(builder.build());
  block_batch batch(list);
  for (const block_entry& entry : parsed.entries) add_question(batch, entry);
  batch.ask();
  for (std::size_t i = 0; i < batch.size(); ++i) require(batch.answer(i).has_value());
}

void try_text(std::string_view text) {
  static const block_list list = [] {
    block_list_builder b({.fpr = 0.01});
    for (const char* line : {"0.0.0.0/0", "::/0", ".example", "||a.example/b", "http://c.example/",
                             "|http://d.example/|", "0.0.0.0 e.example"}) {
      require(b.add_line(line) == line_kind::entries);
    }
    return block_list(b.build());
  }();
  std::vector<text_thing> things;
  scan_text(text, things);
  block_batch batch(list);
  const char* at = text.data();
  for (const text_thing& thing : things) {
    require(thing.text.data() >= at &&
            thing.text.data() + thing.text.size() <= text.data() + text.size());
    at = thing.text.data() + thing.text.size();
    batch.add(thing);
  }
  batch.ask();
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (things[i].kind == thing_kind::address) require(batch.answer(i).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_address(text);
  try_url(text);
  try_line(text);
  try_text(text);
  return 0;
}
