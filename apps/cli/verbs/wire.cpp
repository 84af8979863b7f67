// bloomery pack, unpack, diff and patch: filters and their changes in as few bytes as they need.
#include <fmt/format.h>

#include "bloomery/core/error.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/file.hpp"
#include "cli/args/common.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct wire_options {
  std::string output;
  std::string first;
  std::string second;
  std::string limit = "8G";
  unsigned threads = 1;
  bool quiet = false;
  bool json = false;
};

any_filter open_verified(const std::string& path, unsigned threads) {
  any_filter f = any_filter::open(path);
  f.verify(threads);
  return f;
}

void say(const wire_options& o, const std::string& text) {
  if (!o.quiet) tell("{}: {}\n", o.output, text);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t most_bits(const wire_options& o) {
  const std::uint64_t bytes = parse_bytes(o.limit);
  return bytes > max_bits / 8 ? max_bits : bytes * 8;
}

// Errors of the library about bytes get the name of the file that they came from.
template <class Work>
auto naming(const std::string& path, Work work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
}

void run_pack(const wire_options& o) {
  const any_filter f = open_verified(o.first, o.threads);
  atomic_file file(o.output);
  std::uint64_t bytes = 0;
  pack(f.header(), f.words(), [&](std::span<const std::byte> piece) {
    file.append(piece);
    bytes += piece.size();
  });
  file.commit();
  say(o, fmt::format("packed to {} bytes, {:.1f} % of the {} bytes of the bits", with_commas(bytes),
                     percent(bytes, f.words().size_bytes()), with_commas(f.words().size_bytes())));
  if (o.json) {
    print_json({{"kind", kind_name(f.shape().kind)},
                {"keys", f.keys()},
                {"bytes", bytes},
                {"bytes_unpacked", f.words().size_bytes()}});
  }
}

// What was written is a filter: says so as build does.
void report(const wire_options& o, const image_header& header) {
  if (!o.quiet) print_summary(o.output, header);
  if (o.json) {
    print_json(info_json(any_filter::open(o.output), std::filesystem::file_size(o.output)));
  }
}

void run_unpack(const wire_options& o) {
  const mapped_file packed(o.first);
  auto in =
      naming(o.first, [&] { return std::make_unique<unpacker>(packed.bytes(), most_bits(o)); });
  atomic_file file(o.output);
  image_stream out(file, in->header());
  const auto next = [&] { return naming(o.first, [&] { return in->next(); }); };
  for (auto words = next(); !words.empty(); words = next()) out.append(words);
  naming(o.first, [&] { in->finish(); });
  out.finish();
  file.commit();
  report(o, in->header());
}

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

void run_patch(const wire_options& o) {
  const any_filter from = open_verified(o.first, o.threads);
  const mapped_file delta(o.second);
  const unpacked_filter to =
      naming(o.second, [&] { return patch(from.version(), delta.bytes(), most_bits(o)); });
  atomic_file file(o.output);
  write_image(file, to.header, to.words.words());
  file.commit();
  report(o, to.header);
}

void add_limit(command& verb, const std::shared_ptr<wire_options>& o) {
  verb.add_option(
          "--limit", o->limit,
          "Refuse files that claim to hold more: a few bytes can claim terabytes (default 8G)")
      ->type_name("M");
}

command* add_verb(command& app, const char* name, const char* purpose, const char* written,
                  const std::shared_ptr<wire_options>& o) {
  command* verb = app.add_subcommand(name, purpose);
  verb->add_option("-o,--output", o->output, written)->required()->type_name("F");
  verb->add_flag("--json", o->json, "Print what was written as JSON");
  add_quiet(*verb, o->quiet);
  return verb;
}

}  // namespace

void add_wire(command& app, int& status) {
  auto p = std::make_shared<wire_options>();
  command* pack = add_verb(app, "pack", "Compress a filter for sending, close to its entropy",
                           "The packed file to write", p);
  pack->add_option("A", p->first, "The filter file")->required()->type_name("");
  add_threads(*pack, p->threads);
  pack->footer(
      "info, check, verify, merge and diff read packed files as they are.\n\n"
      "Example:\n  bloomery pack -o words.packed words.bloom");
  pack->callback([p, &status] {
    run_pack(*p);
    status = exit_success;
  });

  auto u = std::make_shared<wire_options>();
  command* unpack =
      add_verb(app, "unpack", "Make a packed filter plain again, so that it can be mapped",
               "The filter file to write", u);
  unpack->add_option("A", u->first, "The packed file")->required()->type_name("");
  add_limit(*unpack, u);
  unpack->footer("Example:\n  bloomery unpack -o words.bloom words.packed");
  unpack->callback([u, &status] {
    run_unpack(*u);
    status = exit_success;
  });

  auto d = std::make_shared<wire_options>();
  command* diff = add_verb(app, "diff", "The change from one version of a filter to the next",
                           "The delta to write", d);
  diff->add_option("OLD", d->first, "The version that the receiver has")->required()->type_name("");
  diff->add_option("NEW", d->second, "The version that he wants")->required()->type_name("");
  add_threads(*diff, d->threads);
  diff->footer("Example:\n  bloomery diff -o today.delta monday.bloom tuesday.bloom");
  diff->callback([d, &status] {
    run_diff(*d);
    status = exit_success;
  });

  auto t = std::make_shared<wire_options>();
  command* patch = add_verb(app, "patch", "Apply a delta to the version that it starts from",
                            "The filter file to write", t);
  patch->add_option("OLD", t->first, "The old version")->required()->type_name("");
  patch->add_option("D", t->second, "The delta")->required()->type_name("");
  add_limit(*patch, t);
  add_threads(*patch, t->threads);
  patch->footer("Example:\n  bloomery patch -o tuesday.bloom monday.bloom today.delta");
  patch->callback([t, &status] {
    run_patch(*t);
    status = exit_success;
  });
}

}  // namespace bloomery::cli
