#include "cli/verbs/selection.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

// Writes the selected records of a chunk to `out` and returns their number.
std::uint64_t select(const chunk& c, std::span<const std::uint64_t> bitmap,
                     const selection_options& o, bool readable, std::string_view terminator,
                     std::string& out) {
  const bool print = !o.count && !o.json;
  // If keys are numbers or were spelled in hexadecimal, the record is printed instead.
  const auto shown = o.only_keys && readable ? c.keys : c.records;
  std::uint64_t selected = 0;
  out.clear();
  const auto take = [&](bool contained, std::string_view text) {
    if (contained != o.invert) ++selected;
    if (!print || (contained == o.invert && !o.annotate)) return;
    if (o.annotate) out.append(contained ? "+\t" : "-\t");
    out.append(text).append(terminator);
  };
  auto keyless = c.keyless.begin();  // a record without a key is surely in no filter
  const auto take_keyless = [&](std::size_t before) {
    for (; keyless != c.keyless.end() && keyless->before <= before; ++keyless) {
      if (o.only_keys && readable) continue;
      take(false, keyless->text);
    }
  };
  for (std::size_t i = 0; i < c.keys.size(); ++i) {
    take_keyless(i);
    take(((bitmap[i / 64] >> (i % 64)) & 1U) != 0, shown[i]);
  }
  take_keyless(c.keys.size());
  return selected;
}

// The row of column names, for the first file that has one.
void print_header(const chunk& c, const selection_options& o) {
  if (o.annotate) write_output("\t");  // the marks have no name
  write_output(c.header);
  if (!c.header.ends_with('\n')) write_output("\n");
}

}  // namespace

void add_selection_options(command& verb, selection_options& o) {
  verb.add_flag("-v,--invert", o.invert, "Print the lines that are surely not in it instead");
  verb.add_flag("-c,--count", o.count, "Print only how many");
  add_no_header(verb, o.no_header);
}

int select_records(const input_options& input, const selection_options& o,
                   const std::function<void(const chunk&, std::span<std::uint64_t> bitmap)>& ask,
                   nlohmann::json more) {
  progress meter("checking", input.show().unless(!o.count && !o.json));
  key_source source(input.paths, input.records, meter);
  const bool readable = !input.records.hex && !input.records.integers;
  std::uint64_t asked = 0;
  std::uint64_t selected = 0;
  bool header = !o.no_header && !o.count && !o.json && !(o.only_keys && readable);
  for_each_chunk_in_order(source, input.threads, [&](const chunk& c, auto in_turn) {
    thread_local std::vector<std::uint64_t> bitmap;
    thread_local std::string text;
    bitmap.assign((c.keys.size() + 63) / 64, 0);
    ask(c, bitmap);
    const std::uint64_t here = select(c, bitmap, o, readable, source.terminator(), text);
    in_turn([&] {
      asked += c.keys.size();
      selected += here;
      if (!c.header.empty() && std::exchange(header, false)) print_header(c, o);
      write_output(text);
    });
  });
  meter.clear();
  if (o.json) {
    more.update({{"keys", asked},
                 {"matched", selected},
                 {"keyless", source.report().keyless()},
                 {"bad", source.report().bad()}});
    print_json(more);
  } else if (o.count) {
    write_output(fmt::format("{}\n", selected));
  }
  return selected > 0 ? exit_success : exit_no_match;
}

}  // namespace bloomery::cli
