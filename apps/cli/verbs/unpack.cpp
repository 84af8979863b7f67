// bloomery unpack: a packed filter, plain again.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_unpack(const wire_options& o) {
  output_file out(o.output, {}, o.json);
  const mapped_file packed(as_file(o.first));
  auto in = naming(
      o.first, [&] { return std::make_unique<bloomery::unpacker>(packed.bytes(), most_bits(o)); });
  atomic_file file(out.path());
  image_stream image(file, in->header());
  const auto next = [&] { return naming(o.first, [&] { return in->next(); }); };
  for (auto words = next(); !words.empty(); words = next()) image.append(words);
  naming(o.first, [&] { in->finish(); });
  image.finish();
  file.commit();
  report_written(o, out);
  out.finish();
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
  add_limit(*verb, o);
  verb->footer("Example:\n  bloomery unpack -o words.bloom words.packed");
  verb->callback([o] { run_unpack(*o); });
}

}  // namespace bloomery::cli
