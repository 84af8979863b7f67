// bloomery pack: a filter, compressed for sending.
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

void run_pack(const wire_options& o) {
  wire_output out(o, {});
  const any_filter f = open_verified(as_file(o.first), o.threads);
  atomic_file file(out.path());
  std::uint64_t bytes = 0;
  pack(f.header(), f.words(), [&](std::span<const std::byte> piece) {
    file.append(piece);
    bytes += piece.size();
  });
  file.commit();
  out.finish(o.quiet);
  say(o, out, "packed to " + beside_bits(bytes, f.words().size_bytes()));
  if (o.json) {
    print_json({{"kind", kind_name(f.shape().kind)},
                {"keys", f.keys()},
                {"bytes", bytes},
                {"bytes_unpacked", f.words().size_bytes()}});
  }
}

}  // namespace

void add_pack(command& app, int& /*status*/) {
  auto o = std::make_shared<wire_options>();
  command* verb = add_wire_verb(app, "pack", "Compress a filter for sending, close to its entropy",
                                "The packed file to write; - is standard output", o);
  verb->add_option("A", o->first, "The filter file; - is standard input")
      ->required()
      ->type_name("");
  add_threads(*verb, o->threads);
  add_no_wait(*verb, o->no_wait);
  verb->footer(
      "info, check, verify, merge and diff read packed files as they are.\n\n"
      "Example:\n  bloomery pack -o words.packed words.bloom");
  verb->callback([o] { run_pack(*o); });
}

}  // namespace bloomery::cli
