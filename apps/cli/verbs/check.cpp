// bloomery check: which lines the filter may contain.
#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <unordered_map>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "cli/gpu/gpu_filter.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/selection.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct check_options {
  input_options input;
  selection_options selection;
  std::string path;
  std::vector<std::string> confirm;
  std::string key_file;
  bool gpu = false;
};

// The filters are what stands before "--", if anything does. Otherwise the first argument is the
// filter, and the others are inputs.
std::vector<std::string> take_filters(check_options& o) {
  std::vector<std::string> all = {o.path};
  all.insert(all.end(), o.input.paths.begin(), o.input.paths.end());
  const std::size_t inputs = arguments_after_dashes().value_or(o.input.paths.size());
  const std::size_t filters = inputs < all.size() ? all.size() - inputs : 1;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(filters);
  o.input.paths.assign(end, all.end());
  return {all.begin(), end};
}

// Keys that the filters report, and which of them are in the lists: all others are false positives.
class confirmation {
 public:
  void report(const chunk& c, std::span<const std::uint64_t> bitmap) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      if (((bitmap[i / 64] >> (i % 64)) & 1U) != 0) in_list_.try_emplace(std::string(c.keys[i]));
    }
  }
  void see(std::string_view key) {
    if (const auto at = in_list_.find(key); at != in_list_.end()) at->second = true;
  }
  void strike_out(const chunk& c, std::span<std::uint64_t> bitmap) const {
    for (std::size_t i = 0; i < c.keys.size(); ++i) {
      if (((bitmap[i / 64] >> (i % 64)) & 1U) == 0) continue;
      const auto at = in_list_.find(c.keys[i]);
      if (at == in_list_.end() || !at->second) bitmap[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, bool, secret_text_hash, std::equal_to<>> in_list_;
};

// Asks about the whole input, then reads the lists once.
void confirm(const check_options& o, const std::vector<any_filter>& filters, confirmation& found) {
  progress meter("confirming", o.input.show().unless(o.selection.prints()));
  key_source source(o.input.paths, o.input.records, meter);
  if (!source.rereadable()) {
    throw error(errc::bad_argument,
                "--confirm reads the input twice; give it as a file instead of a pipe");
  }
  for_each_chunk(source, o.input.threads, [&](const chunk& c) {
    std::vector<std::uint64_t> bitmap((c.keys.size() + 63) / 64);
    for (const any_filter& f : filters) {
      f.contains_bits(c.keys, bitmap);
      found.report(c, bitmap);
    }
  });
  record_options form = o.input.records;
  form.asks_keys = false;  // a list is a file
  key_source lists(o.confirm, form, meter);
  for (chunk c; lists.next(c);) {
    for (const std::string_view key : c.keys) found.see(key);
  }
}

// Asks on the GPU: hashes are made here.
void ask_gpu(gpu_filter& device, const any_filter& f, const chunk& c,
             std::span<std::uint64_t> bitmap) {
  thread_local std::vector<std::uint64_t> hashes;
  hashes.resize(c.keys.size());
  f.hasher()->hash(c.keys, hashes);
  device.contains_bits(hashes, bitmap);
}

int run_check(check_options& o) {
  const std::vector<std::string> names = take_filters(o);
  o.input.records.take_empty_lines();
  std::vector<any_filter> filters;
  for (const std::string& name : names) {
    filters.push_back(open_filter(as_file(name), o.key_file, o.input.records.form()));
    filters.back()->advance(clock_now());
  }
  confirmation found;
  if (!o.confirm.empty()) confirm(o, filters, found);
  std::vector<gpu_filter> devices;
  for (std::size_t i = 0; o.gpu && i < filters.size(); ++i) {
    devices.emplace_back(filters[i], names[i]);
  }
  const int status =
      select_records(o.input, o.selection, names,
                     [&](const chunk& c, std::size_t which, std::span<std::uint64_t> bitmap) {
                       if (o.gpu) {
                         ask_gpu(devices[which], filters[which], c, bitmap);
                       } else {
                         filters[which].contains_bits(c.keys, bitmap);
                       }
                       if (!o.confirm.empty()) found.strike_out(c, bitmap);
                     });
  for (const gpu_filter& device : devices) {
    if (!o.input.quiet) tell("bloomery: {}\n", device.report());
  }
  return status;
}

}  // namespace

void add_check(command& app, int& status) {
  auto o = std::make_shared<check_options>();
  o->input.answers = true;
  command* verb = app.add_subcommand("check", "Print the lines that a filter probably contains");
  verb->add_option("F", o->path,
                   "The filter file to ask; - is standard input. Several, if -- stands after them")
      ->required()
      ->type_name("");
  add_selection_options(*verb, o->selection);
  verb->add_flag("--only-keys", o->selection.only_keys, "Print the keys instead of whole records");
  verb->add_flag("--annotate", o->selection.annotate,
                 "Print every record, with + (probably in it) or - (surely not) and a tab before");
  verb->add_option("--confirm", o->confirm,
                   "Look what the filter reports up in this list, of the form of the input; may "
                   "be given several times")
      ->one_a_time()
      ->type_name("LIST");
  verb->add_flag("--gpu", o->gpu,
                 "Ask on a GPU, and say what the way there took: reading and hashing take longer "
                 "(blocked; a tool built with CUDA)");
  add_key_file(*verb, o->key_file);
  add_opening_options(*verb);
  verb->add_flag("--json", o->selection.json, "Print how many keys and matches as JSON");
  add_reading_options(*verb, o->input);
  verb->footer(
      "With -q the first selected line ends it. Of several "
      "filters, the names of those that have the line stand before it, and a tab.\n\n"
      "Exit status: 0 when a line was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  tr -cs A-Za-z '\\n' < letter.txt | bloomery check -v words.bloom\n"
      "  tail -f access.log | bloomery check blocked-lines.bloom\n"
      "  bloomery check monday.bloom tuesday.bloom -- visitors.txt");
  verb->callback([o, &status] { status = run_check(*o); });
}

}  // namespace bloomery::cli
