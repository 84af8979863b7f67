// bloomery diff: the change from one version of a filter to the next.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_diff(const wire_options& o) {
  output_file out(o.output, {o.first, o.second}, o.json);
  const any_filter from = open_verified(as_file(o.first), o.threads);
  const any_filter to = open_verified(as_file(o.second), o.threads);
  const std::vector<std::byte> delta = diff(from.version(), to.version());
  atomic_file file(out.path());
  file.append(delta);
  file.commit();
  out.finish(o.quiet);
  say(o, out, beside_bits(delta.size(), to.words().size_bytes()));
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
                                "The delta to write; - is standard output", o);
  verb->add_option("OLD", o->first, "The version that the receiver has; - is standard input")
      ->required()
      ->type_name("");
  verb->add_option("NEW", o->second, "The version that he wants")->required()->type_name("");
  add_threads(*verb, o->threads);
  verb->footer("Example:\n  bloomery diff -o today.delta monday.bloom tuesday.bloom");
  verb->callback([o] { run_diff(*o); });
}

}  // namespace bloomery::cli
