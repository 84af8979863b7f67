// bloomery patch: the next version of a filter from its change.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_patch(const wire_options& o) {
  wire_output out(o, {o.second});
  const any_filter from = open_verified(as_file(o.first), o.threads);
  const mapped_file delta(as_file(o.second));
  const unpacked_filter to = naming(o.second, [&] {
    return within_limit([&] { return patch(from.version(), delta.bytes(), opening_asked()); });
  });
  atomic_file file(out.path());
  write_image(file, to.header, to.words.words());
  file.commit();
  out.finish(o.quiet);
  report_written(o, out);
}

}  // namespace

void add_patch(command& app, int& /*status*/) {
  auto o = std::make_shared<wire_options>();
  command* verb = add_wire_verb(app, "patch", "Apply a delta to the version that it starts from",
                                "The filter file to write; - is standard output", o);
  verb->add_option("OLD", o->first, "The old version")->required()->type_name("");
  verb->add_option("D", o->second, "The delta; - is standard input")->required()->type_name("");
  add_threads(*verb, o->threads);
  add_no_wait(*verb, o->no_wait);
  verb->footer("Example:\n  bloomery patch -o tuesday.bloom monday.bloom today.delta");
  verb->callback([o] { run_patch(*o); });
}

}  // namespace bloomery::cli
