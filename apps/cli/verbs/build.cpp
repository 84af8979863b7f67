// bloomery build: a filter from keys, in four ways that give the same bytes where a kind has them:
//   --keys           read and added
//   without          hashes are spooled while the different ones are counted, then added; files
//                    are read again if there is no room for their hashes
//   a huge filter    hashes are spooled, then the file is made slice by slice
//   a static filter  all hashes are collected, then the filter is made from them
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/sliced_build.hpp"
#include "bloomery/sketch/count_min.hpp"
#include "cli/args/options.hpp"
#include "cli/gpu/gpu_filter.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

constexpr std::size_t spool_memory = std::size_t{8} << 20U;  // what is more goes to a file

struct build_options {
  input_options input;
  std::string output;
  std::string kind = "blocked";
  std::string fpr;
  std::string keys;
  std::optional<double> bits_per_key;
  std::string bytes;
  std::optional<std::uint32_t> probes;
  std::optional<std::uint32_t> cell_bits;
  std::optional<std::uint32_t> bucket;
  std::optional<std::uint32_t> generations;
  std::optional<std::uint32_t> growth;
  std::string epsilon;
  std::string delta;
  std::optional<std::uint32_t> shards;
  std::string window;
  std::string layout;
  std::string update;
  hash_options hash = {.name = "xxh3"};  // a key file without --hash is refused
  std::string memory;
  bool gpu = false;
  bool force = false;
  bool json = false;

  // What the output must not destroy.
  [[nodiscard]] std::vector<std::string> read_files() const {
    std::vector<std::string> all = input.paths;
    if (!hash.key_file.empty()) all.push_back(hash.key_file);
    return all;
  }
};

std::uint64_t memory_limit(const build_options& o) {  // a larger filter is built in slices
  if (!o.memory.empty()) return parse_bytes(o.memory);
  const std::uint64_t available = available_memory();
  return available == 0 ? UINT64_MAX : available / 4 * 3;
}

std::vector<std::string_view> kinds_with_chosen_cells() {
  std::vector<std::string_view> names;
  for (const filter_kind kind : all_kinds()) {
    const bool built_here = !abilities_of(kind).value;
    if (built_here && has_chosen_cells(kind)) names.push_back(kind_name(kind));
  }
  return names;
}

void check_build_options(const build_options& o) {  // refuses what has no meaning for the kind
  const auto only = [&](bool given, std::string_view option,
                        const std::vector<std::string_view>& kinds) {
    if (!given || std::find(kinds.begin(), kinds.end(), o.kind) != kinds.end()) return;
    throw error(errc::bad_argument, fmt::format("{} is for filters of kind {}, not {}", option,
                                                fmt::join(kinds, ", "), o.kind));
  };
  only(o.cell_bits.has_value(), "--cell-bits", kinds_with_chosen_cells());
  only(o.bucket.has_value(), "--bucket", {"cuckoo"});
  only(o.generations.has_value(), "--generations", {"windowed"});
  only(!o.window.empty(), "--window", {"windowed"});
  only(o.growth.has_value(), "--growth", {"layered"});
  only(!o.layout.empty(), "--layout", {"counting", "count-min"});
  only(!o.update.empty(), "--update", {"count-min", "spectral"});
  only(o.shards.has_value(), "--shards", {"blocked"});
  only(o.gpu, "--gpu", {"blocked"});
  only(!o.epsilon.empty(), "--epsilon", {"count-min"});
  only(makes_digests(o.hash.name), fmt::format("--hash {}", o.hash.name), {"classic"});
  only(o.hash.name == pairwise_name, "--hash pairwise", {"count-min"});
  if (o.hash.name == pairwise_name && o.layout == "line") {
    throw error(
        errc::bad_argument,
        "with --layout line rows cannot be pairwise independent: leave out --hash pairwise");
  }
  if (!o.window.empty() && o.keys.empty() && o.bytes.empty()) {
    throw error(errc::bad_argument,
                "with --window, say with --keys how many keys may come in that time");
  }
  if (abilities_of(*kind_from_name(o.kind)).value) {
    throw error(errc::bad_argument,
                fmt::format("a {} filter has values: use 'bloomery map build'", o.kind));
  }
}

std::uint32_t update_variant(const build_options& o) {
  const std::vector<std::string_view> names =
      o.kind == "count-min" ? std::vector<std::string_view>{"plain", "conservative"}
                            : std::vector<std::string_view>{"selection", "increase", "recurring"};
  const auto found = std::find(names.begin(), names.end(), o.update);
  if (found == names.end()) {
    throw error(errc::bad_argument, fmt::format("--update is {}, but for {} it must be one of {}",
                                                o.update, o.kind, fmt::join(names, ", ")));
  }
  return static_cast<std::uint32_t>(found - names.begin());
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
  r.cell_bits = o.cell_bits;
  const bool sketch = r.kind == filter_kind::count_min;
  if (o.layout == "line" && !sketch) r.block_bits = bits_per_block;
  if (o.layout == "classic") r.block_bits = 0;
  r.bucket_cells = o.bucket;
  if (o.generations) r.variant = o.generations;
  if (o.growth) r.variant = o.growth;
  if (!o.update.empty()) r.variant = update_variant(o);
  if (o.hash.name == pairwise_name) r.variant = r.variant.value_or(0) | 2U;
  if (o.layout == "line" && sketch) {
    r.variant = r.variant.value_or(0) | sizing::count_min_one_line;
  }
  if (o.hash.name == "md5" && !r.probes) r.probes = 4;
  return r;
}

plan plan_of_guarantee(const build_options& o) {
  const std::uint32_t variant = make_request(o, 1).variant.value_or(0);
  return {.shape = sizing::count_min_shape(
              {.epsilon = parse_rate(o.epsilon),
               .delta = o.delta.empty() ? 0.01 : parse_rate(o.delta),
               .cell_bits = o.cell_bits.value_or(count_min_guarantee{}.cell_bits),
               .conservative = (variant & 1U) != 0,
               .pairwise = (variant & 2U) != 0,
               .one_line = (variant & sizing::count_min_one_line) != 0})};
}

class builder {
 public:
  explicit builder(const build_options& o)
      : o_(o),
        out_(o.output, o.read_files(), o.json),
        meter_("reading", o.input.show()),
        source_(o.input.paths, o.input.records, meter_),
        limit_(memory_limit(o)) {}

  void run();

 private:
  std::uint64_t count_keys();
  void count_different();
  void fill_spool(std::uint32_t partitions);
  void spool(std::span<const std::uint64_t> hashes);
  void plan_for(std::uint64_t keys);
  void plan_by_input();
  void build_in_memory();
  void build_on_gpu(any_filter& f);
  void build_in_slices();
  void build_static();
  void report(const any_filter& f);

  const build_options& o_;
  output_file out_;
  progress meter_;
  key_source source_;
  std::uint64_t limit_;
  plan plan_;
  std::shared_ptr<const any_hasher> hasher_;
  std::optional<hash_spool> spool_;
  key_census census_;
};

void builder::run() {
  // Before the input is read, which may take long. An empty one makes a filter for one key.
  if (o_.bytes.empty() && o_.epsilon.empty()) {
    static_cast<void>(sizing::make_plan(make_request(o_, 1)));
  }
  const abilities can = abilities_of(*kind_from_name(o_.kind));
  if (!can.add) return build_static();
  if (!o_.keys.empty()) {
    const std::uint64_t keys = parse_count(o_.keys);
    if (keys == 0 && !o_.input.quiet) {
      tell("bloomery: warning: --keys is 0, and the filter has room for 1 key\n");
    }
    plan_for(keys);
  } else if (!o_.epsilon.empty()) {
    plan_for(0);  // the guarantee is a share of the total, whatever that becomes
  } else {
    plan_by_input();
  }
  const bool sliced = !o_.gpu && plan_.shape.bits / 8 > limit_ && !makes_digests(o_.hash.name) &&
                      is_of_bits(plan_.shape.kind);
  if (!sliced && !o_.force) {
    need_memory(plan_.shape.bits / 8,
                fmt::format("a {} filter for {}", o_.kind, counted(plan_.keys, "key")),
                "--force tries it all the same");
  }
  return sliced ? build_in_slices() : build_in_memory();
}

void builder::plan_by_input() {  // a kind that grows can take uncounted keys from a pipe
  constexpr std::uint64_t first_layer = 50'000;  // 110 kB
  const filter_kind kind = *kind_from_name(o_.kind);
  if (source_.rereadable() && keeps_repetitions(kind)) {
    plan_for(count_keys());
  } else if (source_.rereadable()) {
    count_different();
    plan_for(census_.to_plan_for());
  } else if (abilities_of(kind).grow) {
    plan_for(first_layer);
  } else if (const bool listed = abilities_of(kind).lists_top;
             listed || makes_digests(o_.hash.name)) {
    throw error(errc::bad_argument,
                fmt::format("with --{} {} and keys from a pipe, say how many there are with --keys",
                            listed ? "kind" : "hash", listed ? o_.kind : o_.hash.name));
  } else {
    make_request(o_, 1);
    count_different();
    plan_for(keeps_repetitions(kind) ? census_.keys() : census_.to_plan_for());
  }
}

// Counts keys by their hashes, which do not depend on the shape, and spools the hashes: a file of
// 8 bytes a key beside the output, faster to read than the input. Digests and sketches that need
// the keys themselves read files again.
void builder::count_different() {
  const bool again = source_.rereadable();
  const bool digests = makes_digests(o_.hash.name);
  const auto hasher =
      make_hasher(digests ? hash_options{.name = "xxh3"} : o_.hash, 1, o_.input.records.form());
  if (!digests) hasher_ = hasher;
  meter_.relabel(again ? "building" : "hashing");
  const std::uint64_t room = limit_ / 4 / sizeof(std::uint64_t);
  if (!digests && !abilities_of(*kind_from_name(o_.kind)).lists_top) {
    spool_.emplace(out_.folder(), 1, spool_memory);
  }
  hash_in_order(*hasher, source_, o_.input.threads, [&](const chunk&, auto hashes) {
    census_.add(hashes);
    if (again && spool_ && spool_->keys() > room) spool_.reset();
    if (!spool_) return;
    try {
      spool(hashes);
    } catch (const error&) {
      if (!again) throw;
      spool_.reset();  // no space for them, but perhaps for the filter
    }
  });
  if (again && !spool_) source_.rewind();
}

void builder::plan_for(std::uint64_t keys) {
  plan_ = o_.epsilon.empty() ? sizing::make_plan(make_request(o_, keys)) : plan_of_guarantee(o_);
  if (makes_digests(o_.hash.name)) plan_.shape.scheme = probe_scheme::modulo;
  if (o_.shards) {  // a whole number of blocks in each
    const std::uint64_t unit = std::uint64_t{*o_.shards} * bits_per_block;
    plan_.shape.bits = (plan_.shape.bits + unit - 1) / unit * unit;
  }
  check_shape(plan_.shape);
  if (!o_.force) out_.need(plan_.shape.bits / 8);
  if (hasher_ == nullptr) {
    hasher_ = make_hasher(o_.hash, plan_.shape.probes, o_.input.records.form());
  }
}

std::uint64_t builder::count_keys() {
  meter_.relabel("counting");
  std::atomic<std::uint64_t> keys{0};
  const unsigned threads = o_.input.records.counted_by_ends() ? 1 : o_.input.threads;
  for_each_chunk(
      source_, threads, [&](const chunk& c) { keys += c.number; }, [] {}, want::number);
  source_.rewind();
  return keys;
}

// Spools hashes in the order of the input, because the bits of some kinds depend on it.
void builder::fill_spool(std::uint32_t partitions) {
  meter_.relabel("hashing");
  // In the folder of the output, where there is space for a filter; /tmp is often in memory.
  spool_.emplace(out_.folder(), partitions, spool_memory);
  hash_in_order(*hasher_, source_, o_.input.threads,
                [&](const chunk&, auto hashes) { spool(hashes); });
}

void builder::spool(std::span<const std::uint64_t> hashes) {
  try {
    spool_->append(hashes);
  } catch (const error& e) {
    const bool needed = plan_.shape.bits != 0 || !abilities_of(*kind_from_name(o_.kind)).add;
    throw error(e.code(), fmt::format("{}; it takes 8 bytes for each key{}", e.what(),
                                      needed ? "" : ", and none with --keys"));
  }
}

void builder::build_in_memory() {
  any_filter f(plan_, hasher_);
  if (o_.hash.name == pairwise_name) {
    f.get_if<count_min>()->choose_rows(o_.hash.seed.value_or(0));
  }
  if (!o_.window.empty()) f->set_window(parse_span(o_.window));
  f->advance(clock_now());
  if (o_.gpu) {
    build_on_gpu(f);
  } else if (spool_) {
    spool_->for_each(
        0, [&](std::span<const std::uint64_t> hashes) { add_hashes(f, hashes, o_.input.threads); });
  } else {
    meter_.relabel("building");
    add_keys(f, source_, o_.input.threads);
  }
  meter_.clear();
  f.save(out_.path());
  report(f);
}

void builder::build_on_gpu(any_filter& f) {
  gpu_filter device(plan_);
  if (spool_) {
    spool_->for_each(0, [&](std::span<const std::uint64_t> hashes) { device.add(hashes); });
  } else {
    meter_.relabel("building");
    hash_in_order(*hasher_, source_, o_.input.threads,
                  [&](const chunk&, auto hashes) { device.add(hashes); });
  }
  device.move_into(f);
  meter_.clear();
  if (!o_.input.quiet) tell("bloomery: {}\n", device.report());
}

void builder::build_in_slices() {
  if (!spool_) fill_spool(spool_partitions(plan_.shape, limit_));
  meter_.clear();
  const image_header header{.planned = plan_, .hash = hasher_->spec(), .keys = spool_->keys()};
  atomic_file file(out_.path());
  build_sliced(file, header, *spool_, limit_);
  file.commit();
  report(any_filter::open(out_.path(), nullptr, {.verify = false}));
}

void builder::build_static() {
  constexpr std::uint64_t bytes_per_key = 28;  // the hashes, and 20 bytes to solve for them
  constexpr std::uint32_t partitions = 256;
  hasher_ = make_hasher(o_.hash, 1, o_.input.records.form());
  // --keys is not needed here, because the keys are counted.
  const std::uint64_t counted = source_.rereadable() ? count_keys() : UINT64_MAX;
  std::vector<std::uint64_t> hashes;
  if (counted <= limit_ / bytes_per_key) {
    hashes.reserve(static_cast<std::size_t>(counted));  // growing takes up to twice the memory
    meter_.relabel("hashing");
    hash_in_order(*hasher_, source_, o_.input.threads, [&](const chunk&, auto piece) {
      hashes.insert(hashes.end(), piece.begin(), piece.end());
    });
  } else {
    fill_spool(partitions);
    if (spool_->keys() <= limit_ / bytes_per_key) {
      hashes.reserve(static_cast<std::size_t>(spool_->keys()));
      for (std::uint32_t p = 0; p < partitions; ++p) {
        spool_->for_each(p, [&](std::span<const std::uint64_t> piece) {
          hashes.insert(hashes.end(), piece.begin(), piece.end());
        });
      }
    }
  }
  meter_.clear();
  plan_for(spool_ ? spool_->keys() : hashes.size());
  if (spool_ && hashes.size() != spool_->keys()) {
    atomic_file file(out_.path());
    const auto threads =
        std::clamp<std::uint64_t>(limit_ / shard_memory, 1, parallel{o_.input.threads}.count());
    build_sharded(file, {.planned = plan_, .hash = hasher_->spec()}, *spool_,
                  static_cast<unsigned>(threads));
    file.commit();
    return report(any_filter::open(out_.path(), nullptr, {.verify = false}));
  }
  const any_filter f = any_filter::build(plan_, hasher_, hashes, {}, o_.input.threads);
  f.save(out_.path());
  report(f);
}

void builder::report(const any_filter& f) {
  out_.finish(o_.input.quiet);
  if (!o_.input.quiet) {
    print_summary(out_.name(), f, census_.text());
    if (f.keys() == 0) warn_without_keys(o_.input.records, out_.name());
  }
  if (o_.json) print_json(info_json(f, out_.bytes()));
}

void add_kind_options(command& verb, build_options& o, std::initializer_list<option*> sizes) {
  verb.group_options("Options of some kinds");
  verb.add_option("--cell-bits", o.cell_bits,
                  "Bits of a counter (counting, count-min, spectral) or of a fingerprint (cuckoo, "
                  "fuse, ribbon)")
      ->type_name("W");
  verb.add_option("--bucket", o.bucket, "Fingerprints in a bucket of a cuckoo filter (default 4)")
      ->type_name("N");
  verb.add_option(
          "--layout", o.layout,
          "Counters of a key: in one line (default down to 0.1% for counting), or anywhere as "
          "classic has it (default for count-min)")
      ->one_of({"line", "classic"})
      ->type_name("L");
  option* epsilon =
      verb.add_option("--epsilon", o.epsilon,
                      "Size a count-min sketch so that counts are at most this share of all too "
                      "high, but for --delta")
          ->type_name("E");
  for (option* size : sizes) epsilon->excludes(size);
  verb.add_option("--delta", o.delta, "How many counts may be further off (default 1%)")
      ->needs(epsilon)
      ->type_name("D");
  verb.add_option("--growth", o.growth,
                  "A layered filter becomes so many times larger with a layer (default 2)")
      ->type_name("X");
  verb.add_option(
          "--window", o.window,
          "A windowed filter remembers keys for so long: 90s, 15m, 1h, 7d (default: as many "
          "keys as it is planned for)")
      ->type_name("T");
  verb.add_option("--generations", o.generations,
                  "Steps in which a windowed filter forgets (default 4)")
      ->between(1U, 63U)
      ->type_name("G");
  verb.add_option("--shards", o.shards,
                  "A blocked filter of a size that can be spread over so many keys: see 'push'")
      ->between(1, max_shards)
      ->type_name("N");
  verb.add_option("--update", o.update,
                  "How counts are kept, the first two by count-min, the others by spectral")
      ->one_of({"plain", "conservative", "selection", "increase", "recurring"})
      ->type_name("U");
  verb.group_options("Options");
}

}  // namespace

void add_build(command& app, int& /*status*/) {
  auto o = std::make_shared<build_options>();
  command* verb = app.add_subcommand("build", "Build a filter from keys, one a line");
  verb->add_option("-o,--output", o->output, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  std::vector<std::string> kinds;
  for (const filter_kind kind : all_kinds()) kinds.emplace_back(kind_name(kind));
  verb->add_option("--kind", o->kind,
                   "The kind of filter (default blocked); 'bloomery plan' compares them")
      ->one_of(kinds)
      ->type_name("K");
  option* fpr = verb->add_option("--fpr", o->fpr,
                                 "Highest false-positive rate: 0.01, 1% or 1e-2 (default 1%)")
                    ->type_name("P");
  verb->add_option("--keys", o->keys, "Plan for this many keys instead of counting them")
      ->type_name("N");
  option* bits =
      verb->add_option("--bits-per-key", o->bits_per_key, "Size by bits a key instead of by fpr")
          ->type_name("B");
  option* bytes =
      verb->add_option("--bytes", o->bytes, "Size by memory instead of by fpr: 4096, 64k, 10M, 2Gi")
          ->type_name("M");
  bits->excludes(bytes)->excludes(fpr);
  bytes->excludes(fpr);
  option* probes = verb->add_option("--probes", o->probes, "Bits for each key (default: the best)")
                       ->type_name("K");
  add_kind_options(*verb, *o, {fpr, bits, bytes, probes});
  add_seed(*verb, o->hash);
  verb->add_option(
          "--hash", o->hash.name,
          "The hash function (default xxh3, for which anybody can make keys with one hash); "
          "xxh3-secret has a secret that its seed chooses, siphash one of a file; sha1, "
          "sha1-folded "
          "and md5 are those of other programs, pairwise has rows by a pairwise independent family "
          "(count-min)")
      ->one_of({"xxh3", "xxh3-secret", "siphash", "sha1", "sha1-folded", "md5",
                std::string(pairwise_name)})
      ->type_name("H");
  add_key_file(*verb, o->hash.key_file);
  verb->add_option(
          "--memory", o->memory,
          "Build in slices on disk when the filter is larger (default: 3/4 of what is free)")
      ->type_name("M");
  verb->add_flag("--gpu", o->gpu,
                 "Add on a GPU, and say what the way there took: reading and hashing take longer "
                 "(blocked; a tool built with CUDA)");
  verb->add_flag("--force", o->force, "Build it even if there seems to be no room for it");
  verb->add_flag("--json", o->json, "Print what was built as JSON");
  add_input_options(*verb, o->input);
  verb->footer(
      "Example:\n  bloomery build -o words.bloom /usr/share/dict/words\n"
      "  zcat urls.gz | bloomery build -o urls.bloom --fpr 0.1%\n"
      "  bloomery build --kind ribbon -o archive.bloom urls.txt\n"
      "  bloomery build --kind windowed --window 1h --keys 1M -o seen.bloom first.txt");
  verb->callback([o] {
    check_build_options(*o);
    builder(*o).run();
  });
}

}  // namespace bloomery::cli
