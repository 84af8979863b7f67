// bloomery search: the documents of an index that contain all the words.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <unordered_map>

#include "bloomery/core/error.hpp"
#include "bloomery/core/parallel.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/search/text_index.hpp"
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

namespace fs = std::filesystem;

struct search_arguments {
  std::vector<std::string> at;
  std::string path;
  std::vector<std::string> words;
  std::string threshold = "100%";
  std::string below;
  unsigned threads = 0;
  bool verify = false;
  bool count = false;
  bool null = false;
  bool quiet = false;
  bool json = false;
};

// The terms themselves and not their hashes, so that verification is exact.
struct question {
  std::vector<std::string> terms;  // different ones
  double share = 1;
  std::uint64_t needed = 0;

  [[nodiscard]] std::vector<std::uint64_t> hashes(std::uint64_t seed) const {
    std::vector<std::uint64_t> all;
    for (const std::string& term : terms) all.push_back(term_hash(seed, term));
    return all;
  }
};

question ask(const search_arguments& o, const text_index_options& indexed) {
  question q;
  q.share = parse_rate(o.threshold);
  for (const std::string& word : o.words) {
    for (std::string& term : terms_of(word, indexed)) q.terms.push_back(std::move(term));
  }
  std::ranges::sort(q.terms);
  q.terms.erase(std::unique(q.terms.begin(), q.terms.end()), q.terms.end());
  q.needed = terms_needed(q.share, q.terms.size());
  return q;
}

class prover final : public document_sink {  // finds a file's documents that have the terms
 public:
  prover(const question& q, std::vector<std::uint32_t> lines)
      : question_(&q), lines_(std::move(lines)), seen_(q.terms.size()), proved_(lines_.size()) {
    for (std::size_t i = 0; i < q.terms.size(); ++i) places_.emplace(q.terms[i], i);
  }

  void term(std::string_view term) override {
    const auto at = places_.find(term);
    if (at == places_.end() || seen_[at->second]) return;
    seen_[at->second] = true;
    ++number_;
  }
  void end(std::uint32_t line) override {
    const auto at = std::ranges::lower_bound(lines_, line);
    if (at != lines_.end() && *at == line) {
      proved_[static_cast<std::size_t>(at - lines_.begin())] = number_ >= question_->needed;
    }
    std::fill(seen_.begin(), seen_.end(), false);
    number_ = 0;
  }
  [[nodiscard]] bool enough() const override {  // once a file has all of them
    return lines_.size() == 1 && lines_[0] == 0 && number_ >= question_->needed;
  }
  [[nodiscard]] const std::vector<bool>& proved() const { return proved_; }

 private:
  const question* question_;
  std::vector<std::uint32_t> lines_;  // where the documents begin, in order
  std::unordered_map<std::string_view, std::size_t, secret_text_hash> places_;
  std::vector<bool> seen_;
  std::vector<bool> proved_;
  std::size_t number_ = 0;  // of terms seen
};

struct candidate_file {  // the documents of one file, with consecutive numbers
  std::string path;
  std::vector<std::uint32_t> documents;
  std::vector<std::uint32_t> lines;
};

std::vector<candidate_file> by_file(const text_index_view& index,
                                    const std::vector<std::uint32_t>& found) {
  std::vector<candidate_file> files;
  std::uint32_t last = text_index_view::no_file;
  for (const std::uint32_t number : found) {
    const auto document = index.document(number);
    if (files.empty() || index.file_of(number) != last) {
      last = index.file_of(number);
      files.push_back({.path = std::string(document->path), .documents = {}, .lines = {}});
    }
    files.back().documents.push_back(number);
    files.back().lines.push_back(document->line);
  }
  return files;
}

// A file that an index names, opened to be read. An index may come from a stranger, so it is a
// regular file: /dev/zero has no end, and a pipe may wait for ever.
class named_document {
 public:
  explicit named_document(const std::string& name)
      : fd_(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    struct stat info {};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      throw error(errc::io, fmt::format("{}: opening failed: {}", name, std::strerror(errno)));
    }
    if (S_ISREG(info.st_mode)) return;
    ::close(fd_);
    throw error(errc::io, fmt::format("{}: not a regular file, so it is not read again", name));
  }
  named_document(const named_document&) = delete;
  named_document& operator=(const named_document&) = delete;
  ~named_document() { ::close(fd_); }

  // By this name it is the same file, even if another has its name now.
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }
  [[nodiscard]] bool is_below(const std::string& folder) const {
    const fs::path inside = fs::read_symlink(path()).lexically_relative(fs::canonical(folder));
    return !inside.empty() && *inside.begin() != "..";
  }

 private:
  int fd_;
};

void read_named(const std::string& name, const search_arguments& o,
                const text_index_options& indexed, document_sink& sink) {
  const named_document file(name);
  if (!o.below.empty() && !file.is_below(o.below)) {
    throw error(errc::io, fmt::format("{}: not below {}, so it is not read", name, o.below));
  }
  const std::string path = file.path();
  try {
    read_documents(path, indexed, false, sink);
  } catch (const error& e) {
    std::string what = e.what();
    if (const auto at = what.find(path); at != std::string::npos)
      what.replace(at, path.size(), name);
    throw error(e.code(), what);
  }
}

// Reads the documents and keeps those that have the terms.
std::vector<std::uint32_t> proved(const search_arguments& o, const text_index_view& index,
                                  const question& q, const std::vector<std::uint32_t>& found,
                                  std::vector<complaint>& complaints) {
  const std::vector<candidate_file> files = by_file(index, found);
  std::vector<std::vector<std::uint32_t>> kept(files.size());
  std::mutex mutex;
  detail::in_parallel(parallel{o.threads}, files.size(), [&](std::uint64_t i) {
    const candidate_file& file = files[i];
    try {
      if (file.path == "-") {
        throw error(errc::unsupported, "-: standard input cannot be read again");
      }
      prover sink(q, file.lines);
      read_named(file.path, o, index.options(), sink);
      for (std::size_t d = 0; d < file.documents.size(); ++d) {
        if (sink.proved()[d]) kept[i].push_back(file.documents[d]);
      }
    } catch (const error& e) {
      const std::lock_guard lock(mutex);
      complaints.push_back({.place = i, .text = e.what()});
    }
  });
  std::vector<std::uint32_t> all;
  for (const auto& some : kept) all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::string name_of(const text_index_view& index, std::uint32_t number) {
  const auto document = index.document(number);
  std::string name(document->path);
  if (index.options().unit == document_unit::paragraph) name += fmt::format(":{}", document->line);
  return name;
}

void print_found(const search_arguments& o, const text_index_view& index, const question& q,
                 const std::vector<std::uint32_t>& found) {
  std::string text;
  nlohmann::json names = nlohmann::json::array();
  if (!o.count) {
    for (const std::uint32_t number : found) {
      if (o.json) {
        names.push_back(name_of(index, number));
      } else {
        text.append(name_of(index, number)).push_back(o.null ? '\0' : '\n');
      }
    }
  } else {
    text = fmt::format("{}\n", found.size());
  }
  if (!o.json) return write_output(text);
  nlohmann::json object = {{"terms", q.terms.size()},
                           {"found", found.size()},
                           {"verified", o.verify},
                           {"expected_false", o.verify ? 0.0 : index.expected_false(q.needed)}};
  if (!o.count) object["documents"] = std::move(names);
  print_json(object);
}

int search_file(const search_arguments& o) {
  const text_index index(as_file(o.path), opening_asked());
  const question q = ask(o, index->options());
  std::vector<complaint> complaints;
  std::vector<std::uint32_t> found = index->find(q.hashes(index->options().seed), q.share);
  if (o.verify) found = proved(o, *index, q, found, complaints);
  if (!o.quiet || o.json) print_found(o, *index, q, found);
  tell_complaints(complaints);
  if (!complaints.empty()) return exit_error;
  return found.empty() ? exit_no_match : exit_success;
}

int run_search(const search_arguments& o) {
  if (o.at.empty()) {
    if (o.words.empty()) throw error(errc::bad_argument, "there is no word to search for");
    return search_file(o);
  }
  keyword_options nodes{.serve = "",
                        .memory = "",
                        .at = o.at,
                        .inputs = {o.path},  // it has the place of the first word
                        .count = o.count,
                        .null = o.null,
                        .quiet = o.quiet,
                        .json = o.json};
  nodes.inputs.insert(nodes.inputs.end(), o.words.begin(), o.words.end());
  return search_nodes(nodes);
}

}  // namespace

void add_search(command& app, int& status) {
  auto o = std::make_shared<search_arguments>();
  command* verb = app.add_subcommand("search", "Print the documents that contain all the words");
  verb->add_option("I", o->path, "The index file; - is standard input. With --at the first word")
      ->required()
      ->type_name("");
  verb->add_option("WORD", o->words, "Words, in any case; sequences for an index of k-mers")
      ->type_name("");
  option* verified =
      verb->add_flag("--verify", o->verify,
                     "Read the documents that are found, and print only those that have the words");
  option* below =
      verb->add_option("--below", o->below,
                       "With --verify: read only files below this folder, whatever the index names")
          ->type_name("DIR");
  option* threshold =
      verb->add_option("--threshold", o->threshold,
                       "The share of the words or k-mers that must be there (default 100%)")
          ->type_name("P");
  verb->add_option("--at", o->at,
                   "Ask the nodes that 'bloomery index --at' published to: one of them, or several "
                   "to be tried in turn, HOST:PORT,HOST:PORT...")
      ->one_a_time()
      ->excludes(verified)
      ->excludes(below)
      ->excludes(threshold)
      ->type_name("NODES");
  verb->add_flag("-c,--count", o->count, "Print only how many");
  verb->add_flag("-0,--null", o->null, "Paths end with a NUL instead of a line end");
  verb->add_flag("--json", o->json, "Print the documents and numbers as JSON");
  add_opening_options(*verb);
  add_quiet(*verb, o->quiet, true);
  add_threads(*verb, o->threads);
  verb->footer(
      "Without --verify a document without the words is printed now and then; none that has\n"
      "them is left out. With --at the answer is exact, and the bytes that passed between the\n"
      "nodes are told.\n"
      "Exit status: 0 when a document was found, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery index -o notes.bloom notes/\n"
      "  bloomery search --verify notes.bloom bloom filter\n"
      "  bloomery search --at one.example:4711 bloom filter");
  verb->callback([o, &status] { status = run_search(*o); });
}

}  // namespace bloomery::cli
