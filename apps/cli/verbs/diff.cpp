// bloomery diff: the change from one version of a filter to the next.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_diff(const wire_options& o) {
  const any_filter from = open_verified(o.first, o.threads);
  const any_filter to = open_verified(o.second, o.threads);
  const std::vector<std::byte> delta = diff(from.version(), to.version());
  atomic_file file(o.output);
  file.append(delta);
  file.commit();
  say(o, fmt::format("{} bytes, {:.2f} % of the {} bytes of the bits", with_commas(delta.size()),
                     percent(delta.size(), to.words().size_bytes()),
                     with_commas(to.words().size_bytes())));
  if (o.json) {
    print_json({{"kind", kind_name(to.shape().kind)},
                {"keys_old", from.keys()},
                {"keys_new", to.keys()},
                {"bytes", delta.size()},
                {"bytes_unpacked", to.words().size_bytes()}});
  }
}

}  // namespace

void add_diff(command& app, int& /*status*/) {
  auto o = std::make_shared<wire_options>();
  command* verb = add_wire_verb(app, "diff", "The change from one version of a filter to the next",
                                "The delta to write", o);
  verb->add_option("OLD", o->first, "The version that the receiver has")->required()->type_name("");
  verb->add_option("NEW", o->second, "The version that he wants")->required()->type_name("");
  add_threads(*verb, o->threads);
  verb->footer("Example:\n  bloomery diff -o today.delta monday.bloom tuesday.bloom");
  verb->callback([o] { run_diff(*o); });
}

}  // namespace bloomery::cli
