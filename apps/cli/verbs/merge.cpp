// bloomery merge: the union of filters.
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

// "merge -o A B" puts nothing of B into A: it makes A a copy of B. A script whose pattern matches
// one file may want that, so it is no error.
void warn_of_copy(const set_options& o) {
  const std::string& only = o.paths.front();
  std::error_code none;
  if (o.quiet || o.paths.size() > 1 || !fs::is_regular_file(o.output, none)) return;
  if (only == "-" || fs::equivalent(o.output, only, none)) return;
  std::string start(filter_magic.size(), '\0');
  std::ifstream(o.output, std::ios::binary).read(start.data(), std::ssize(start));
  if (start != filter_magic) return;
  tell(
      "bloomery: warning: {0} is a filter, and becomes a copy of {1} alone; 'merge -o {0} "
      "{0} {1}' has both\n",
      o.output, only);
}

void run_merge(const set_options& o) {
  warn_of_copy(o);
  set_output out(o);
  const std::vector<any_filter> filters = open_alike(o.paths, o.threads);
  if (is_of_bits(filters.front().shape().kind)) {
    return combine_words(o, filters, set_operation::merge, out);
  }
  // Filters of counters are merged in memory, because counters cannot be combined word by word.
  any_filter sum = any_filter::copy_of(filters.front().version());
  sum->limit_memory(opening_asked().memory);
  for (std::size_t i = 1; i < filters.size(); ++i) {
    within_limit([&] {
      name_both(o.paths.front(), filters.front(), o.paths[i], filters[i],
                [&] { sum.merge(filters[i]); });
    });
  }
  sum.save(out.path());
  out.finish(o.quiet);
  report_set(o, out);
}

}  // namespace

void add_merge(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb =
      add_set_verb(app, "merge", "The union of filters: contains what any of them does", o, -1);
  verb->footer("Example:\n  bloomery merge -o all.bloom monday.bloom tuesday.bloom");
  verb->callback([o] { run_merge(*o); });
}

}  // namespace bloomery::cli
