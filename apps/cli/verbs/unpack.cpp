// bloomery unpack: a packed filter, plain again.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_unpack(const wire_options& o) {
  const mapped_file packed(o.first);
  auto in = naming(
      o.first, [&] { return std::make_unique<bloomery::unpacker>(packed.bytes(), most_bits(o)); });
  atomic_file file(o.output);
  image_stream out(file, in->header());
  const auto next = [&] { return naming(o.first, [&] { return in->next(); }); };
  for (auto words = next(); !words.empty(); words = next()) out.append(words);
  naming(o.first, [&] { in->finish(); });
  out.finish();
  file.commit();
  report_written(o);
}

}  // namespace

void add_unpack(command& app, int& /*status*/) {
  auto o = std::make_shared<wire_options>();
  command* verb =
      add_wire_verb(app, "unpack", "Make a packed filter plain again, so that it can be mapped",
                    "The filter file to write", o);
  verb->add_option("A", o->first, "The packed file")->required()->type_name("");
  add_limit(*verb, o);
  verb->footer("Example:\n  bloomery unpack -o words.bloom words.packed");
  verb->callback([o] { run_unpack(*o); });
}

}  // namespace bloomery::cli
