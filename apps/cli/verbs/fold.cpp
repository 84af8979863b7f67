// bloomery fold: the same keys in a smaller filter.
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

namespace {

void run_fold(const set_options& o) {
  set_output out(o);
  const any_filter f = open_verified(as_file(o.paths.front()), o.threads);
  const unpacked_filter folded = fold(f.version(), o.divisor);
  atomic_file file(out.path());
  write_image(file, folded.header, folded.words.words());
  file.commit();
  out.finish(o.quiet);
  report_set(o, out);
}

}  // namespace

void add_fold(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb =
      add_set_verb(app, "fold", "The same keys in a smaller filter with a higher fpr", o, 1);
  verb->add_option("--by", o->divisor, "Fold to 1/D of the size (default 2)")->type_name("D");
  verb->footer(
      "D must divide the number of blocks (of bits, in a classic filter). Most filters have an "
      "even "
      "number; 'build --shards 4' makes a blocked filter that surely folds by 4.\n\n"
      "Example:\n  bloomery fold -o half.bloom large.bloom\n"
      "  bloomery build --shards 4 -o large.bloom keys.txt\n"
      "  bloomery fold --by 4 -o small.bloom large.bloom");
  verb->callback([o] { run_fold(*o); });
}

}  // namespace bloomery::cli
