// bloomery fold: the same keys in a smaller filter.
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

void run_fold(const set_options& o) {
  const any_filter f = any_filter::open(as_file(o.paths.front()));
  f.verify(o.threads);
  const unpacked_filter folded = fold(f.version(), o.divisor);
  output_file out(o.output, {}, o.json);
  atomic_file file(out.path());
  write_image(file, folded.header, folded.words.words());
  file.commit();
  report_set(o, out);
  out.finish();
}

}  // namespace

void add_fold(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb =
      add_set_verb(app, "fold", "The same keys in a smaller filter with a higher fpr", o, 1);
  verb->add_option("--by", o->divisor, "Fold to 1/D of the size (default 2)")->type_name("D");
  verb->footer("Example:\n  bloomery fold --by 4 -o small.bloom large.bloom");
  verb->callback([o] { run_fold(*o); });
}

}  // namespace bloomery::cli
