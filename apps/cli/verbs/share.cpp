// bloomery share: a set for friends, in filters that are wrong on purpose (exchange/noisy.hpp). A
// folder has what one recipient gets: filters 1.bloom, 2.bloom, ..., and the file `keys` for them.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_set>

#include "bloomery/core/error.hpp"
#include "bloomery/crypto/key_derivation.hpp"
#include "bloomery/exchange/noisy.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "cli/args/options.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

using noisy_filter = keyed<classic_filter, siphash_hasher>;

struct share_options {
  input_options input;
  std::string folder;
  std::string other;
  std::string key_file;
  std::string recipient;
  std::string fpr = "50%";
  std::string keys;
  std::uint32_t filters = 5;
  std::uint32_t number = 1;
  bool count = false;
  bool invert = false;
  bool json = false;
};

constexpr std::uint32_t most_filters = 1000;

// ---- make -------------------------------------------------------------------------------------

fs::path filter_path(const share_options& o, std::uint32_t number) {
  return fs::path(o.folder) / fmt::format("{}.bloom", number);
}

// A line that came twice must not count twice: a filter for more keys than there are is sharper.
using key_set = std::unordered_set<std::string, secret_text_hash>;

key_set read_set(const share_options& o) {
  progress meter("reading", o.input.show());
  key_source source(o.input.paths, o.input.records, meter);
  key_set all;
  for (chunk c; source.next(c);) {
    for (const std::string_view key : c.keys) all.emplace(key);
  }
  meter.clear();
  if (all.empty()) throw error(errc::bad_argument, "there is no key to share");
  return all;
}

// Writes the keys of the filters behind those that are there; only the owner may read the file.
// Others who do the same meanwhile wait.
void write_keys(const fs::path& path, const std::vector<siphash_hasher::key_type>& keys,
                bool quiet) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);  // replacing keeps it
  if (fd >= 0) ::close(fd);  // otherwise locking says why
  std::optional<file_lock> lock;
  wait_for_lock(lock, path.string(), {.quiet = quiet});
  std::vector<siphash_hasher::key_type> all;
  if (fs::file_size(path) != 0) all = read_keys(path);
  for (const auto& key : keys) {
    if (std::ranges::find(all, key) == all.end()) all.push_back(key);
  }
  atomic_file file(path);
  const std::string text = keys_as_text(all);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

void warn_sharing(const share_options& o, double fpr, std::uint32_t together) {
  constexpr std::uint64_t dictionary = 1'000'000;
  const auto passing = [&](std::uint32_t filters) {
    const eavesdropper e{.filters = filters, .fpr = fpr};
    return with_commas(static_cast<std::uint64_t>(std::llround(e.false_candidates(dictionary, 0))));
  };
  tell(
      "bloomery: warning: this is no encryption. Whoever has filters and their keys can try every "
      "key there is: all members pass, and of a million others {} pass one filter, {} pass {}.\n"
      "bloomery: warning: a no is always true, and the filters of one recipient add up: count all "
      "that were ever sent, and send {} by another way than the filters.\n",
      passing(1), passing(together), together, (fs::path(o.folder) / "keys").string());
}

void check_unsent(const share_options& o) {
  if (o.number + o.filters - 1 > most_filters) {
    throw error(errc::bad_argument,
                fmt::format("filters have numbers from 1 to {}", with_commas(most_filters)));
  }
  for (std::uint32_t i = 0; i < o.filters; ++i) {
    const fs::path path = filter_path(o, o.number + i);
    if (!fs::exists(path)) continue;
    throw error(errc::bad_argument,
                fmt::format("{}: there is this filter already, and two versions with one key give "
                            "away what has changed; take the next numbers with --number",
                            path.string()));
  }
}

void run_make(const share_options& o) {
  check_unsent(o);
  const master_key master = read_master_key(o.key_file);
  const key_set set = read_set(o);
  const std::uint64_t keys = o.keys.empty() ? set.size() : parse_count(o.keys);
  noisy_set noisy({.keys = keys, .fpr = parse_rate(o.fpr)},
                  derive_hashers(master, o.recipient, o.filters, o.number - 1));
  for (const std::string& key : set) noisy.add(key);
  fs::create_directories(o.folder);
  // The keys come first: one too many does no harm, but a filter without its key cannot be asked.
  std::vector<siphash_hasher::key_type> secrets;
  for (std::uint32_t i = 0; i < o.filters; ++i) {
    secrets.push_back(derive_key(master, o.recipient, o.number - 1 + i));
  }
  write_keys(fs::path(o.folder) / "keys", secrets, o.input.quiet);
  for (std::uint32_t i = 0; i < o.filters; ++i) {
    save(noisy.filters()[i], filter_path(o, o.number + i));
  }
  // They differ a little: the mean, so that what is said of one and of all goes together.
  const double each = std::pow(noisy.fpr(), 1.0 / o.filters);
  const std::uint32_t last = o.number + o.filters - 1;
  if (!o.input.quiet) {
    tell(
        "{}: filters {} to {}, keys: {}, {} each; one is wrong for {} of all other keys, "
        "these together for {}\n",
        o.folder, o.number, last, with_commas(set.size()),
        counted(fs::file_size(filter_path(o, last)), "byte"), as_rate(each), as_rate(noisy.fpr()));
    warn_sharing(o, each, last);
  }
  if (o.json) {
    print_json({{"keys", set.size()},
                {"filters", o.filters},
                {"first", o.number},
                {"bits", noisy.filters()[0].filter().shape().bits},
                {"fpr_each", each},
                {"fpr_together", noisy.fpr()}});
  }
}

// ---- what a folder has ------------------------------------------------------------------------

std::vector<fs::path> filters_in(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& e : fs::directory_iterator(folder, failed)) {
    if (e.path().extension() == ".bloom") paths.push_back(e.path());
  }
  if (failed) throw error(errc::io, fmt::format("{}: {}", folder, failed.message()));
  if (paths.empty()) throw error(errc::io, fmt::format("{}: there is no filter in it", folder));
  std::ranges::sort(paths);
  return paths;
}

struct opened_filters {  // as views, in the order of the mapped files
  std::vector<mapped<noisy_filter>> files;
  std::vector<mapped<noisy_filter>::view_type> views;
};

opened_filters open_filters(const std::string& folder) {
  std::map<std::uint64_t, siphash_hasher> hashers;
  for (const auto& key : read_keys(fs::path(folder) / "keys")) {
    const siphash_hasher hasher(key);
    hashers.emplace(hasher.spec().key_id, hasher);
  }
  opened_filters all;
  for (const fs::path& path : filters_in(folder)) {
    const std::uint64_t id = image_file(path).image().header().hash.key_id;
    const auto hasher = hashers.find(id);
    if (hasher == hashers.end()) {
      throw error(errc::mismatch,
                  fmt::format("{}: {}/keys has no key for it", path.string(), folder));
    }
    all.files.emplace_back(path, hasher->second).file().verify();
    all.views.push_back(*all.files.back());
  }
  return all;
}

// ---- ask --------------------------------------------------------------------------------------

int run_ask(const share_options& o) {
  const opened_filters filters = open_filters(o.folder);
  double fpr = 1;
  for (const auto& f : filters.views) fpr *= f.fpr();
  progress meter("asking", o.input.show().unless(true));
  key_source source(o.input.paths, o.input.records, meter);
  std::uint64_t keys = 0;
  std::uint64_t matched = 0;
  std::string text;
  const bool silent = o.input.silent(o.json);
  const bool print = !o.count && !o.json && !silent;
  for (chunk c; (!silent || matched == 0) && source.next(c);) {
    for (const std::string_view key : c.keys) {
      ++keys;
      if (in_all_of(std::span(filters.views), key) == o.invert) continue;
      ++matched;
      if (print) text.append(key).append("\n");
    }
    write_output(text);
    text.clear();
  }
  if (o.json) {
    print_json({{"keys", keys},
                {"matched", matched},
                {"filters", filters.views.size()},
                {"fpr_together", fpr}});
  } else if (o.count && !silent) {
    write_output(fmt::format("{}\n", matched));
  }
  if (!o.input.quiet) {
    tell("{}: filters: {}; what is not in the set passes them with {}\n", o.folder,
         filters.views.size(), as_rate(fpr));
  }
  return matched > 0 ? exit_success : exit_no_match;
}

// ---- overlap ----------------------------------------------------------------------------------

std::map<std::uint64_t, image_file> by_key(const std::string& folder) {
  std::map<std::uint64_t, image_file> all;
  for (const fs::path& path : filters_in(folder)) {
    image_file file(path);
    file.verify();
    const image_header& h = file.image().header();
    if (h.planned.shape.kind != filter_kind::classic || h.hash.id != hash_id::siphash) {
      throw error(errc::mismatch,
                  fmt::format("{}: not made by 'bloomery share make'", path.string()));
    }
    all.emplace(h.hash.key_id, std::move(file));
  }
  return all;
}

classic_view view_of(const image_file& file) {
  const image_header& h = file.image().header();
  return {h.planned, file.image().words(), h.keys};
}

comparison compare_folders(const share_options& o, std::size_t& pairs) {
  const auto a = by_key(o.folder);
  const auto b = by_key(o.other);
  std::vector<classic_view> ours;
  std::vector<classic_view> theirs;
  for (const auto& [key, file] : a) {
    const auto same = b.find(key);
    if (same == b.end()) continue;
    ours.push_back(view_of(file));
    theirs.push_back(view_of(same->second));
  }
  if (ours.empty()) {
    throw error(errc::mismatch,
                fmt::format("{} and {} have no key in common; make both with the same --key-file, "
                            "--for and --keys",
                            o.folder, o.other));
  }
  pairs = ours.size();
  try {
    return compare_noisy(std::span<const classic_view>(ours),
                         std::span<const classic_view>(theirs));
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{} and {}: {}; make both with the same --keys", o.folder,
                                      o.other, e.what()));
  }
}

void run_overlap(const share_options& o) {
  std::size_t pairs = 0;
  const comparison c = compare_folders(o, pairs);
  const std::pair<const char*, estimate> rows[] = {{"keys_a", c.keys_a},
                                                   {"keys_b", c.keys_b},
                                                   {"keys_union", c.keys_union},
                                                   {"keys_intersection", c.keys_intersection}};
  if (o.json) {
    nlohmann::json object = {{"filters", pairs}, {"jaccard", c.jaccard.value}};
    for (const auto& [name, e] : rows) {
      object[name] = e.value;
      object[std::string(name) + "_error"] = e.standard_error;
    }
    return print_json(object);
  }
  const auto said = [](const estimate& e) {
    return fmt::format("{} +- {}", as_whole(e.value), as_whole(e.standard_error));
  };
  write_output(fmt::format("in common  {}\n{:<10} {}\n{:<10} {}\nin all     {}\n",
                           said(c.keys_intersection), o.folder, said(c.keys_a), o.other,
                           said(c.keys_b), said(c.keys_union)));
}

// ---- options ----------------------------------------------------------------------------------

void add_share_make(command& share) {
  auto o = std::make_shared<share_options>();
  command* verb = share.add_subcommand("make", "Make the filters for one recipient");
  verb->add_option("-o,--output", o->folder, "The folder for the filters and their keys")
      ->required()
      ->type_name("DIR");
  verb->add_option("--key-file", o->key_file,
                   "Your secret, of which the keys are made: 64 hexadecimal digits, by 'openssl "
                   "rand -hex 32'")
      ->required()
      ->type_name("FILE");
  verb->add_option("--for", o->recipient, "The name of the recipient: each has keys of his own")
      ->required()
      ->type_name("NAME");
  verb->add_option("--filters", o->filters, "How many to make (default 5)")
      ->between(1, most_filters)
      ->type_name("N");
  verb->add_option("--number", o->number,
                   "The number of the first (default 1); a set that has changed takes new ones")
      ->between(1, most_filters)
      ->type_name("N");
  verb->add_option("--fpr", o->fpr, "How often one of them is wrong (default 50%)")->type_name("P");
  verb->add_option("--keys", o->keys,
                   "The number of keys to make room for (default: as many as there are); two sets "
                   "that will be compared need the same")
      ->type_name("N");
  verb->add_flag("--json", o->json, "Print what was made as JSON");
  add_input_files(*verb, o->input);
  verb->footer(
      "Example:\n  openssl rand -hex 32 > mine.key\n"
      "  bloomery share make --key-file mine.key --for bert -o bert addresses.txt");
  verb->callback([o] { run_make(*o); });
}

void add_share_ask(command& share, int& status) {
  auto o = std::make_shared<share_options>();
  o->input.answers = true;
  command* verb = share.add_subcommand("ask", "Print the lines that all filters contain");
  verb->add_option("DIR", o->folder, "The folder with the filters that came, and their keys")
      ->required()
      ->type_name("");
  verb->add_flag("-c,--count", o->count, "Print only how many");
  verb->add_flag("-v,--invert-match", o->invert, "Print the lines that are surely not in the set");
  verb->add_flag("--json", o->json, "Print the numbers as JSON");
  add_input_files(*verb, o->input);
  verb->footer(
      "Exit status: 0 when a line was printed or counted, 1 when none was, 2 after an error.\n\n"
      "Example:\n  echo clara@example.org | bloomery share ask bert");
  verb->callback([o, &status] { status = run_ask(*o); });
}

void add_share_overlap(command& share) {
  auto o = std::make_shared<share_options>();
  command* verb = share.add_subcommand("overlap", "Estimate what two sets have in common");
  verb->add_option("A", o->folder, "The folder of one set")->required()->type_name("");
  verb->add_option("B", o->other, "That of the other, made with the same secret, name and --keys")
      ->required()
      ->type_name("");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_quiet(*verb, o->input.quiet);
  verb->footer("Example:\n  bloomery share overlap mine yours");
  verb->callback([o] { run_overlap(*o); });
}

}  // namespace

void add_share(command& app, int& status) {
  command* share = app.add_subcommand("share", "Tell friends who is in a set, and others little");
  share->require_subcommand(1);
  add_share_make(*share);
  add_share_ask(*share, status);
  add_share_overlap(*share);
  share->footer(
      "Each filter is wrong for half of all keys; who has five sees the set with 3 % wrong, and "
      "who "
      "intercepts one learns little. It is no encryption: whoever has filters and keys can try "
      "every key there is.\n\n"
      "Example:\n  openssl rand -hex 32 > mine.key\n"
      "  bloomery share make --key-file mine.key --for bert -o bert addresses.txt\n"
      "  echo clara@example.org | bloomery share ask bert");
}

}  // namespace bloomery::cli
