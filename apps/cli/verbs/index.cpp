// bloomery index: a filter of the words of each document, for bloomery search.
#include <fmt/format.h>

#include <mutex>

#include "bloomery/core/error.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/search/text_index_builder.hpp"
#include "cli/args/options.hpp"
#include "cli/input/documents.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/keyword_nodes.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct index_options {
  std::string path;
  std::vector<std::string> inputs;
  std::string serve;
  std::string memory;
  std::vector<std::string> at;
  std::string fpr = "0.1%";
  std::uint32_t probes = 0;
  std::uint32_t kmer = 0;
  unsigned threads = 0;
  bool paragraphs = false;
  bool add = false;
  bool no_wait = false;
  bool skip_binary = false;
  bool quiet = false;
  bool json = false;
};

struct index_totals {
  std::uint64_t bytes = 0;
  std::uint64_t binary = 0;
};

class indexer final : public document_sink {
 public:
  indexer(text_index_builder& to, std::uint32_t file) : to_(&to), file_(file) {}

  void begin(std::uint32_t file) {
    file_ = file;
    hashes_.clear();
  }
  void term(std::string_view term) override { hashes_.add(term_hash(to_->options().seed, term)); }
  void end(std::uint32_t line) override {
    stored_ = false;
    to_->add(file_, line, hashes_.all());
    stored_ = true;
    hashes_.clear();
  }
  // False when the index itself could not be written, which is no fault of the file being read.
  [[nodiscard]] bool stored() const { return stored_; }

 private:
  text_index_builder* to_;
  std::uint32_t file_;
  distinct_hashes hashes_;
  bool stored_ = true;
};

text_index_options options_of(const index_options& o) {
  return {.fpr = parse_rate(o.fpr),
          .probes = o.probes,
          .terms = o.kmer != 0 ? term_kind::kmers : term_kind::words,
          .kmer = o.kmer,
          .unit = o.paragraphs ? document_unit::paragraph : document_unit::file};
}

// Reads the files in several threads. A file not readable to its end is left out and reported.
index_totals read_files(const index_options& o, const std::vector<std::string>& paths,
                        text_index_builder& builder, std::vector<complaint>& complaints) {
  for (const std::string& path : paths) builder.add_file(path);
  index_totals totals;
  std::mutex mutex;
  detail::in_parallel(
      parallel{o.threads}, paths.size(), [&] { return std::make_unique<indexer>(builder, 0U); },
      [&](const std::unique_ptr<indexer>& sink, std::uint64_t i) {
        const auto file = static_cast<std::uint32_t>(i);
        sink->begin(file);
        try {
          const reading done = read_documents(paths[i], builder.options(), o.skip_binary, *sink);
          const std::lock_guard lock(mutex);
          totals.bytes += done.bytes;
          totals.binary += done.binary ? 1 : 0;
        } catch (const error& e) {
          if (!sink->stored() || e.code() == errc::no_memory) throw;
          builder.drop(file);
          const std::lock_guard lock(mutex);
          complaints.push_back({.place = i, .text = e.what()});
        }
      });
  return totals;
}

void print_built(const index_options& o, const output_file& out, const index_totals& totals,
                 std::uint64_t unreadable) {
  const text_index made(out.path(), {.verify = false});
  nlohmann::json object = info_json(*made);
  if (!o.quiet) {
    const auto replaced = object["replaced"].get<std::uint64_t>();
    tell("{}: {}{}, {}, each counted once a document, {}{}\n", out.name(),
         counted(object["documents"].get<std::uint64_t>(), "document"),
         replaced == 0 ? "" : fmt::format(" ({} more replaced)", with_commas(replaced)),
         counted(made->words(), "word"), as_bytes(static_cast<double>(made->file_bytes())),
         o.add || totals.bytes == 0
             ? ""
             : fmt::format(", {:.1f} % of the text", 100 * static_cast<double>(made->file_bytes()) /
                                                         static_cast<double>(totals.bytes)));
    if (totals.binary != 0) tell("left out: {}\n", counted(totals.binary, "binary file"));
  }
  if (!o.json) return;
  object["text_bytes"] = totals.bytes;
  object["binary"] = totals.binary;
  object["unreadable"] = unreadable;
  print_json(object);
}

// An index may be among the named files, which happens with a pattern: it is left out, and may be
// replaced. Other files are read, and must stay.
output_file output_of(const index_options& o) {
  std::error_code none;
  const bool replaced = std::filesystem::is_regular_file(o.path, none) && is_text_index(o.path);
  return {o.path, replaced ? std::vector<std::string>{} : o.inputs, o.json};
}

int make_index(const index_options& o) {
  output_file out = output_of(o);
  std::optional<file_lock> lock;
  std::optional<text_index> old;
  if (o.add) {
    lock_file(lock, o.path, {.quiet = o.quiet, .wait = !o.no_wait});
    old.emplace(o.path);
  }
  std::vector<complaint> complaints;
  const std::vector<std::string> paths = find_files(o.inputs, o.path, complaints);
  const std::filesystem::path folder = out.folder();
  auto builder = old ? std::make_unique<text_index_builder>(**old, folder)
                     : std::make_unique<text_index_builder>(options_of(o), folder);
  const index_totals totals = read_files(o, paths, *builder, complaints);
  tell_complaints(complaints);
  builder->save(out.path());
  out.finish(o.quiet);
  print_built(o, out, totals, complaints.size());
  return complaints.empty() ? exit_success : exit_error;
}

// What the words are indexed for: a file, the nodes of a keyword search, or this node of them.
int run_index(const index_options& o) {
  const keyword_options nodes{.serve = o.serve,
                              .memory = o.memory,
                              .at = o.at,
                              .inputs = o.inputs,
                              .skip_binary = o.skip_binary,
                              .quiet = o.quiet,
                              .json = o.json};
  if (!o.serve.empty()) {
    if (!o.inputs.empty()) {
      throw error(errc::bad_argument,
                  "--serve takes no documents; publish them from another shell, with --at");
    }
    run_keyword_node(nodes);
    return exit_success;
  }
  if (o.inputs.empty()) throw error(errc::bad_argument, "name the folders or files to index");
  if (!o.at.empty()) return publish_documents(nodes);
  if (o.path.empty()) {
    throw error(errc::bad_argument, "say where the index goes: -o FILE, or --at NODES");
  }
  return make_index(o);
}

}  // namespace

void add_index(command& app, int& status) {
  auto o = std::make_shared<index_options>();
  command* verb = app.add_subcommand("index", "Index the words of texts, for search");
  option* output =
      verb->add_option("-o,--output", o->path, "The index file to write; - is standard output")
          ->type_name("I");
  verb->add_option("DIR", o->inputs,
                   "Folders, with all files below them, and files; - is standard input. gzip, "
                   "bzip2, zstd and xz are unpacked")
      ->type_name("");
  option* fpr = verb->add_option("--fpr", o->fpr,
                                 "Documents wrongly found for a word, at most (default 0.1%)")
                    ->type_name("P");
  option* probes = verb->add_option("--probes", o->probes, "Rows of a word (default: by the fpr)")
                       ->between(1, max_probes)
                       ->type_name("K");
  option* kmer =
      verb->add_option("--kmer", o->kmer, "Index the canonical k-mers of FASTA or FASTQ files")
          ->between(1U, 1024U)
          ->type_name("K");
  option* paragraphs = verb->add_flag("--paragraphs", o->paragraphs,
                                      "Each paragraph of a file is a document, called FILE:LINE")
                           ->excludes(kmer);
  option* added = verb->add_flag("--add", o->add,
                                 "Add to the index; documents that it has already are replaced")
                      ->excludes(fpr)
                      ->excludes(probes)
                      ->excludes(kmer)
                      ->excludes(paragraphs);
  option* at = verb->add_option("--at", o->at,
                                "Publish the documents to these nodes of a keyword search, "
                                "HOST:PORT,HOST:PORT...; search --at asks them")
                   ->one_a_time()
                   ->type_name("NODES");
  option* serve = verb->add_option("--serve", o->serve,
                                   "Be such a node, at this address, which is one of those that "
                                   "--at names; its words are in memory")
                      ->needs(at)
                      ->type_name("A");
  verb->add_option("--memory", o->memory,
                   "With --serve: refuse documents beyond this memory (default 1Gi)")
      ->needs(serve)
      ->type_name("M");
  for (option* of_nodes : {at, serve}) {
    for (option* of_files : {output, fpr, probes, kmer, paragraphs, added}) {
      of_nodes->excludes(of_files);
    }
  }
  verb->add_flag("--no-wait", o->no_wait,
                 "With --add: fail when another program is changing the index");
  verb->add_flag("-I,--skip-binary", o->skip_binary, "Leave out files with NUL bytes, as grep -I");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_quiet(*verb, o->quiet);
  add_threads(*verb, o->threads);
  verb->footer(
      "Files below a folder that cannot be read are named and left out; the exit status is 2 then."
      "\n\nExample:\n  bloomery index -o notes.bloom notes/\n"
      "  bloomery index -o notes.bloom --add notes/new/\n"
      "  bloomery search notes.bloom bloom filter\n"
      "  bloomery index --serve one.example:4711 --at one.example:4711,two.example:4711\n"
      "  bloomery index --at one.example:4711,two.example:4711 notes/");
  verb->callback([o, &status] { status = run_index(*o); });
}

}  // namespace bloomery::cli
