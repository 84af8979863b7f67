// bloomery merge: the union of filters.
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

void run_merge(const set_options& o) {
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
