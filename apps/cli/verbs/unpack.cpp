// bloomery unpack: a packed filter, plain again.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_unpack(const wire_options& o) {
  wire_output out(o, {});
  const mapped_file packed(as_file(o.first));
  auto in = naming(o.first, [&] {
    return within_limit(
        [&] { return std::make_unique<bloomery::unpacker>(packed.bytes(), opening_asked()); });
  });
  atomic_file file(out.path());
  image_stream image(file, in->header());
  const auto next = [&] { return naming(o.first, [&] { return in->next(); }); };
  for (auto words = next(); !words.empty(); words = next()) image.append(words);
  naming(o.first, [&] { in->finish(); });
  image.finish();
  file.commit();
  out.finish(o.quiet);
  report_written(o, out);
}

}  // namespace

void add_unpack(command& app, int& /*status*/) {
  auto o = std::make_shared<wire_options>();
  command* verb =
      add_wire_verb(app, "unpack", "Make a packed filter plain again, so that it can be mapped",
                    "The filter file to write; - is standard output", o);
  verb->add_option("A", o->first, "The packed file; - is standard input")
      ->required()
      ->type_name("");
  add_no_wait(*verb, o->no_wait);
  verb->footer("Example:\n  bloomery unpack -o words.bloom words.packed");
  verb->callback([o] { run_unpack(*o); });
}

}  // namespace bloomery::cli
