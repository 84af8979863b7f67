// bloomery intersect: the intersection of filters.
#include "cli/verbs/sets.hpp"

namespace bloomery::cli {

void add_intersect(command& app, int& /*status*/) {
  auto o = std::make_shared<set_options>();
  command* verb = add_set_verb(app, "intersect",
                               "The intersection of filters: contains what all of them do", o, -1);
  verb->footer("Example:\n  bloomery intersect -o both.bloom ours.bloom theirs.bloom");
  verb->callback([o] {
    set_output out(*o);
    combine_words(*o, open_alike(o->paths, o->threads), set_operation::intersect, out);
  });
}

}  // namespace bloomery::cli
