// bloomery build: a filter from keys. Three ways, all with the same bytes as the result:
//   files            counted first, then read again and added
//   pipes            hashes are spooled while counting, then added
//   a huge filter    hashes are spooled, then the file is made slice by slice
#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/sliced_build.hpp"
#include "cli/common.hpp"
#include "cli/lines.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t spool_memory = std::size_t{32} << 20U;

struct build_options {
  input_options input;
  std::string output;
  std::string kind = "blocked";
  std::string fpr;
  std::string keys;
  std::optional<double> bits_per_key;
  std::string bytes;
  std::optional<std::uint32_t> probes;
  std::string hash = "xxh3";
  std::uint64_t seed = 0;
  std::string key_file;
  std::string memory;
  bool json = false;
};

// What the kernel says a program may take without swapping, in bytes; 0 if it does not say.
std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (in >> name >> kib && std::getline(in, unit)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

// The most that a filter may take in memory before it is built in slices.
std::uint64_t memory_limit(const build_options& o) {
  if (!o.memory.empty()) return parse_bytes(o.memory);
  const std::uint64_t available = available_memory();
  return available == 0 ? UINT64_MAX : available / 4 * 3;
}

sizing::request make_request(const build_options& o, std::uint64_t keys) {
  sizing::request r;
  r.kind = *kind_from_name(o.kind);
  r.keys = std::max<std::uint64_t>(1, keys);  // an empty list makes an empty filter
  r.bits_per_key = o.bits_per_key;
  if (!o.bytes.empty()) r.bytes = parse_bytes(o.bytes);
  if (!o.fpr.empty()) r.fpr = parse_rate(o.fpr);
  if (!r.fpr && !r.bits_per_key && !r.bytes) r.fpr = 0.01;
  r.probes = o.probes;
  if (o.hash == "md5" && !r.probes) r.probes = 4;
  return r;
}

class builder {
 public:
  explicit builder(const build_options& o)
      : o_(o),
        meter_("reading", o.input.quiet),
        source_(o.input.paths, o.input.keep_empty, meter_) {}

  image_header run();

 private:
  std::uint64_t count_keys();
  void fill_spool();
  void plan_for(std::uint64_t keys);
  image_header build_in_memory();
  image_header build_in_slices();
  [[nodiscard]] std::filesystem::path spool_directory() const;

  const build_options& o_;
  progress meter_;
  line_source source_;
  plan plan_;
  std::shared_ptr<const any_hasher> hasher_;
  std::optional<hash_spool> spool_;
  std::uint64_t limit_ = 0;
};

image_header builder::run() {
  limit_ = memory_limit(o_);
  const bool digests = makes_digests(o_.hash);
  if (!o_.keys.empty()) {
    plan_for(parse_count(o_.keys));
  } else if (source_.rereadable()) {
    plan_for(count_keys());
  } else if (digests) {
    throw error(errc::bad_argument,
                fmt::format("with --hash {} and keys from a pipe, say how many there "
                            "are with --keys",
                            o_.hash));
  } else {
    // The hash does not depend on the shape, so it can start before the number of keys is known.
    make_request(o_, 1);
    hasher_ = make_hasher(o_.hash, o_.seed, o_.key_file, 1);
    spool_.emplace(spool_directory(), 1, spool_memory);
    fill_spool();
    plan_for(spool_->keys());
  }
  const std::uint64_t bytes = plan_.shape.bits / 8;
  return bytes > limit_ && !digests ? build_in_slices() : build_in_memory();
}

void builder::plan_for(std::uint64_t keys) {
  plan_ = sizing::make_plan(make_request(o_, keys));
  if (makes_digests(o_.hash)) plan_.shape.scheme = probe_scheme::modulo;
  check_shape(plan_.shape);
  if (hasher_ == nullptr) {
    hasher_ = make_hasher(o_.hash, o_.seed, o_.key_file, plan_.shape.probes);
  }
}

std::uint64_t builder::count_keys() {
  meter_.relabel("counting");
  std::atomic<std::uint64_t> keys{0};
  for_each_chunk(source_, o_.input.threads, [&](const chunk& c) { keys += c.keys.size(); });
  source_.rewind();
  return keys;
}

void builder::fill_spool() {
  meter_.relabel("hashing");
  for_each_chunk(source_, o_.input.threads, [&](const chunk& c) {
    std::vector<std::uint64_t> hashes(c.keys.size());
    hasher_->hash(c.keys, hashes);
    spool_->append(hashes);
  });
}

std::filesystem::path builder::spool_directory() const {
  // Beside the output: there is room for a filter there, while /tmp is often in memory.
  const std::filesystem::path parent = std::filesystem::path(o_.output).parent_path();
  return parent.empty() ? "." : parent;
}

image_header builder::build_in_memory() {
  any_filter f(plan_, hasher_);
  if (spool_) {
    for (std::uint32_t p = 0; p < spool_->partitions(); ++p) {
      spool_->for_each(p, [&](std::span<const std::uint64_t> hashes) { f.add_hashes(hashes); });
    }
  } else {
    meter_.relabel("building");
    const bool alone = o_.input.threads == 1;
    for_each_chunk(source_, o_.input.threads,
                   [&](const chunk& c) { alone ? f.add(c.keys) : f.add_concurrent(c.keys); });
  }
  meter_.clear();
  f.save(o_.output);
  return f.header();
}

image_header builder::build_in_slices() {
  if (!spool_) {
    spool_.emplace(spool_directory(), spool_partitions(plan_.shape, limit_), spool_memory);
    fill_spool();
  }
  meter_.clear();
  const image_header header{.planned = plan_, .hash = hasher_->spec(), .keys = spool_->keys()};
  atomic_file file(o_.output);
  build_sliced(file, header, *spool_, limit_);
  file.commit();
  return header;
}

void run_build(const build_options& o) {
  const image_header header = builder(o).run();
  if (!o.input.quiet) {
    const std::string warning = overfull_warning(o.output, header);
    fmt::print(stderr, "{}\n", summary(o.output, header));
    if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
  }
  if (o.json) {
    const any_filter f = any_filter::open(o.output);
    print_json(info_json(f, std::filesystem::file_size(o.output)));
  }
}

}  // namespace

void add_build(CLI::App& app, int& status) {
  auto o = std::make_shared<build_options>();
  CLI::App* verb = app.add_subcommand("build", "Build a filter from keys, one a line");
  verb->add_option("-o,--output", o->output, "The filter file to write")
      ->required()
      ->type_name("F");
  std::vector<std::string> kinds;
  for (const filter_kind kind : all_kinds()) kinds.emplace_back(kind_name(kind));
  verb->add_option("--kind", o->kind, "blocked (default), classic or partitioned")
      ->check(CLI::IsMember(kinds))
      ->type_name("K");
  CLI::Option* fpr = verb->add_option("--fpr", o->fpr,
                                      "Highest false-positive rate: 0.01, 1% or 1e-2 (default 1%)")
                         ->type_name("P");
  verb->add_option("--keys", o->keys, "Plan for this many keys instead of counting them")
      ->type_name("N");
  CLI::Option* bits =
      verb->add_option("--bits-per-key", o->bits_per_key, "Size by bits a key instead of by fpr")
          ->type_name("B");
  CLI::Option* bytes =
      verb->add_option("--bytes", o->bytes, "Size by memory instead of by fpr: 4096, 64K, 10M, 2G")
          ->type_name("M");
  bits->excludes(bytes)->excludes(fpr);
  bytes->excludes(fpr);
  verb->add_option("--probes", o->probes, "Bits for each key (default: the best)")->type_name("K");
  verb->add_option("--seed", o->seed, "Chooses the hash function (default 0)")->type_name("S");
  verb->add_option("--hash", o->hash,
                   "xxh3 (default), siphash (keyed), sha1 or md5 (foreign formats)")
      ->check(CLI::IsMember({"xxh3", "siphash", "sha1", "md5"}))
      ->type_name("H");
  add_key_file(*verb, o->key_file);
  verb->add_option(
          "--memory", o->memory,
          "Build in slices on disk when the filter is larger (default: 3/4 of what is free)")
      ->type_name("M");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery build -o words.bloom /usr/share/dict/words\n"
      "  zcat urls.gz | bloomery build -o urls.bloom --fpr 0.1%");
  verb->callback([o, &status] {
    if (makes_digests(o->hash) && o->kind != "classic") {
      throw error(errc::bad_argument, fmt::format("--hash {} needs --kind classic", o->hash));
    }
    run_build(*o);
    status = exit_success;
  });
}

}  // namespace bloomery::cli
