#include "cli/verbs/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/input/source.hpp"
#include "cli/output/header_row.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

class answers {  // of all filters about one chunk
 public:
  void ask(const chunk& c, std::size_t filters, const ask_filter& ask) {
    const std::size_t words = (c.keys.size() + 63) / 64;
    bitmaps_.resize(filters);
    for (std::size_t f = 0; f < filters; ++f) {
      bitmaps_[f].assign(words, 0);
      ask(c, f, bitmaps_[f]);
    }
  }

  [[nodiscard]] std::size_t filters() const { return bitmaps_.size(); }
  [[nodiscard]] bool contained(std::size_t filter, std::size_t key) const {
    return ((bitmaps_[filter][key / 64] >> (key % 64)) & 1U) != 0;
  }
  [[nodiscard]] bool contained(std::size_t key) const {  // in any of them
    for (std::size_t f = 0; f < filters(); ++f) {
      if (contained(f, key)) return true;
    }
    return false;
  }

 private:
  std::vector<std::vector<std::uint64_t>> bitmaps_;
};

struct totals {
  std::uint64_t asked = 0;
  std::uint64_t selected = 0;
  std::vector<std::uint64_t> by_filter;

  void add(const totals& other) {
    asked += other.asked;
    selected += other.selected;
    for (std::size_t f = 0; f < by_filter.size(); ++f) by_filter[f] += other.by_filter[f];
  }
};

struct input_totals {  // of one input that had records
  std::string_view name;
  totals sums;
};

class line_writer {  // of the selected records of a chunk
 public:
  line_writer(const selection_options& o, const std::vector<std::string>& filters, const chunk& c,
              std::string_view terminator, std::string& out)
      : o_(o), filters_(filters), c_(c), terminator_(terminator), out_(out) {
    line_ = c.first_line;
    counted_ = c.text.data();
  }

  // Writes a record, which the filters that has(f) names have.
  template <class Has>
  void write(std::string_view record, std::string_view shown, Has has) {
    if (o_.annotate) {
      for (std::size_t f = 0; f < filters_.size(); ++f) out_.push_back(has(f) ? '+' : '-');
      out_.push_back('\t');
    } else if (filters_.size() > 1 && !o_.invert) {
      const char* between = "";
      for (std::size_t f = 0; f < filters_.size(); ++f) {
        if (has(f)) out_.append(std::exchange(between, ",")).append(filters_[f]);
      }
      out_.push_back('\t');
    }
    if (o_.file_name) out_.append(c_.file).push_back(':');
    if (o_.number) out_.append(fmt::format("{}:", line_of_record(record)));
    out_.append(shown).append(terminator_);
  }

 private:
  std::uint64_t line_of_record(std::string_view record) {  // records come in order
    line_ += static_cast<std::uint64_t>(std::count(counted_, record.data(), terminator_.front()));
    counted_ = record.data();
    return line_;
  }

  const selection_options& o_;
  const std::vector<std::string>& filters_;
  const chunk& c_;
  std::string_view terminator_;
  std::string& out_;
  std::uint64_t line_;
  const char* counted_;
};

// Writes the selected records of a chunk, at most so many, to `out`.
totals select(const chunk& c, const answers& found, const selection_options& o, std::uint64_t most,
              bool print, bool readable, line_writer out) {
  // If keys are numbers or were spelled in hexadecimal, the record is printed instead.
  const bool keys_only = o.only_keys && readable;
  const auto shown = keys_only ? c.keys : c.records;
  totals sums{.by_filter = std::vector<std::uint64_t>(found.filters())};
  const auto take = [&](bool contained, std::string_view record, std::string_view text, auto has) {
    if (sums.selected >= most) return;
    for (std::size_t f = 0; found.filters() > 1 && f < found.filters(); ++f) {
      sums.by_filter[f] += has(f) != o.invert ? 1U : 0U;
    }
    if (contained != o.invert) ++sums.selected;
    if (print && (contained != o.invert || o.annotate)) out.write(record, text, has);
  };
  auto keyless = c.keyless.begin();  // a record without a key is surely in no filter
  const auto take_keyless = [&](std::size_t before) {
    for (; keyless != c.keyless.end() && keyless->before <= before; ++keyless) {
      if (keys_only) continue;
      take(false, keyless->text, keyless->text, [](std::size_t) { return false; });
    }
  };
  std::size_t i = 0;
  for (; i < c.keys.size() && sums.selected < most; ++i) {
    take_keyless(i);
    take(found.contained(i), c.records[i], shown[i],
         [&](std::size_t f) { return found.contained(f, i); });
  }
  sums.asked = i;
  take_keyless(i);
  return sums;
}

// Chunks come in order; each input has a name of its own, which is told apart by its place.
void add_to_input(std::vector<input_totals>& all, std::string_view name, const totals& here) {
  if (all.empty() || all.back().name.data() != name.data()) {
    all.push_back({name, {.by_filter = std::vector<std::uint64_t>(here.by_filter.size())}});
  }
  all.back().sums.add(here);
}

void write_lines(std::string_view text, char end) {  // each with a call of its own
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(end), text.size() - 1) + 1;
    write_output(text.substr(0, size));
    text.remove_prefix(size);
  }
}

void print_counts(const std::vector<std::string>& filters, const totals& sums,
                  const std::string& input) {
  if (filters.size() == 1) return write_output(fmt::format("{}{}\n", input, sums.selected));
  for (std::size_t f = 0; f < filters.size(); ++f) {
    write_output(fmt::format("{}:{}{}\n", filters[f], input, sums.by_filter[f]));
  }
}

// A count for each input, in their order; empty ones have no records, but a count. Those that could
// not be read have none.
void print_counts_by_input(const std::vector<std::string>& paths,
                           const std::vector<std::string>& filters,
                           const std::vector<input_totals>& found,
                           const std::vector<std::string>& unreadable) {
  const totals none{.by_filter = std::vector<std::uint64_t>(filters.size())};
  auto next = found.begin();
  for (const std::string& path : paths.empty() ? std::vector<std::string>{"-"} : paths) {
    const std::string name = name_of_input(path);
    const bool here = next != found.end() && next->name == name;
    if (here || std::ranges::find(unreadable, name) == unreadable.end()) {
      print_counts(filters, here ? next->sums : none, name + ":");
    }
    if (here) ++next;
  }
}

void print_totals(const selection_options& o, const std::vector<std::string>& filters,
                  const totals& sums, const record_report& records, nlohmann::json more) {
  if (o.json) {
    more.update({{"keys", sums.asked},
                 {"matched", sums.selected},
                 {"keyless", records.keyless()},
                 {"bad", records.bad()}});
    for (std::size_t f = 0; filters.size() > 1 && f < filters.size(); ++f) {
      more["filters"].push_back({{"file", filters[f]}, {"matched", sums.by_filter[f]}});
    }
    print_json(more);
  } else if (o.count) {
    print_counts(filters, sums, "");
  }
}

}  // namespace

void add_selection_options(command& verb, selection_options& o) {
  verb.add_flag("-v,--invert", o.invert, "Print the lines that are surely not in it instead");
  verb.add_flag("-c,--count", o.count, "Print only how many");
  verb.add_flag("-n,--line-number", o.number, "The number of the line before each");
  verb.add_flag(
      "-H,--with-filename", o.file_name,
      "The name of the input before each line or count; without it none, as with grep -h");
  verb.add_option("-m,--max-count", o.most, "Stop after so many selected lines of an input")
      ->type_name("NUM");
  verb.add_flag("--line-buffered", o.line_buffered,
                "Write each line by itself; without it, all when the input pauses");
  add_no_header(verb, o.no_header);
}

int select_records(const input_options& input, const selection_options& o,
                   const std::vector<std::string>& filters, const ask_filter& ask,
                   nlohmann::json more) {
  const bool silent = input.silent(o.json);
  const bool print = o.prints() && !silent;
  progress meter("checking", input.show().unless(o.prints()));
  record_options records = input.records;
  records.numbered = o.number;
  records.go_on = true;
  key_source source(input.paths, records, meter);
  const bool readable = !records.hex && !records.integers;
  const std::uint64_t most = silent ? 1 : o.most.value_or(UINT64_MAX);
  const bool ends_early = most != UINT64_MAX;
  // As with grep, each input has as many. Threads that wait for a pipe would hold up the end, and
  // those that read ahead would read of an input what is not wanted.
  const bool each = ends_early && !silent && input.paths.size() > 1;
  const unsigned threads = each || (ends_early && !source.rereadable()) ? 1 : input.threads;
  std::uint64_t left = most;
  const char* file = nullptr;  // inputs are told apart by the place of their names
  header_row header(print && !o.no_header && !(o.only_keys && readable), meter);
  const bool marked = o.annotate || (filters.size() > 1 && !o.invert);
  totals sums{.by_filter = std::vector<std::uint64_t>(filters.size())};
  std::vector<input_totals> by_input;
  try {
    if (most == 0) throw enough_read();
    for_each_chunk_in_order(source, threads, [&](const chunk& c, auto in_turn) {
      thread_local answers found;
      thread_local std::string text;
      found.ask(c, filters.size(), ask);
      totals here;
      const auto choose = [&](std::uint64_t wanted) {
        text.clear();
        here = select(c, found, o, wanted, print, readable,
                      {o, filters, c, source.terminator(), text});
      };
      if (!ends_early) choose(UINT64_MAX);
      in_turn([&] {
        if (each && std::exchange(file, c.file.data()) != c.file.data()) left = most;
        if (ends_early) choose(left);
        left -= here.selected;
        sums.add(here);
        if (o.file_name && o.count) add_to_input(by_input, c.file, here);
        if (const std::string names = header.before(c); !names.empty()) {
          write_output((marked ? "\t" : "") + names);  // the marks have no name
        }
        if (o.line_buffered && !source.terminator().empty()) {
          write_lines(text, source.terminator().front());
        } else {
          write_output(text);
        }
        if (left != 0) return;
        if (!each) throw enough_read();
        source.skip_rest();
      });
    });
  } catch (const enough_read&) {
  }
  meter.clear();
  const std::size_t inputs = std::max<std::size_t>(1, input.paths.size());
  if (silent || source.unreadable().size() == inputs) {
    // There is nothing to tell.
  } else if (o.count && o.file_name && !o.json) {
    print_counts_by_input(input.paths, filters, by_input, source.unreadable());
  } else {
    print_totals(o, filters, sums, source.report(), std::move(more));
  }
  // As with grep: with --quiet a selected line counts for more than an input that is missing.
  if (!source.unreadable().empty() && !(silent && sums.selected > 0)) return exit_error;
  return sums.selected > 0 ? exit_success : exit_no_match;
}

}  // namespace bloomery::cli
