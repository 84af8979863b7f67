// bloomery digest: Squid's cache digests, which tell other caches what one has.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "bloomery/core/error.hpp"
#include "bloomery/exchange/cache_contents.hpp"
#include "bloomery/exchange/cache_digest.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "cli/args/options.hpp"
#include "cli/input/cached_urls.hpp"
#include "cli/input/filters.hpp"
#include "cli/input/keys.hpp"
#include "cli/input/source.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/verbs/wire.hpp"

namespace bloomery::cli {

namespace {

struct digest_options {
  input_options input;
  std::string output;
  std::string capacity;
  std::string base;
  std::string from;
  std::string path;
  std::vector<std::string> logs;
  std::vector<std::string> nginx;
  std::vector<std::string> squid;
  std::vector<std::string> mirrors;
  std::uint32_t bits_per_entry = usual_bits_per_entry;
  bool json = false;

  [[nodiscard]] bool from_urls() const {
    return !input.paths.empty() ||
           (logs.empty() && nginx.empty() && squid.empty() && mirrors.empty() && from.empty());
  }
};

struct ask_options {
  input_options input;
  std::vector<std::string> digests;
  std::vector<std::string> urls;
  bool invert = false;
  bool count = false;
  bool json = false;
};

// ---- what there is ----------------------------------------------------------------------------

// The keys of such a filter are a byte for the method and the URL, which no line of a text is.
constexpr hash_spec digest_hash{.id = hash_id::md5, .form = key_type::binary};

cache_digest digest_of_filter(const any_filter& f) {
  const hash_spec& hash = f.hash();
  if (hash.id != hash_id::md5) {
    throw error(errc::mismatch, fmt::format("a cache digest is a classic filter of the hash md5, "
                                            "and its hash is {}",
                                            hash_name(hash.id)));
  }
  if (!agree(hash.form, digest_hash.form)) {
    throw error(errc::mismatch,
                fmt::format("its keys are {}; those of a cache digest are one byte for the method "
                            "and the URL",
                            form_name(hash.form)));
  }
  return cache_digest(digest_view(f.planned(), f.words(), f.keys()));
}

// A digest, or the filter of one. Errors name the file.
cache_digest open_digest(const std::string& given) {
  const std::string path = as_file(given, content::anything);
  mapped_file file(path);
  const std::string name = name_of_input(given);
  if (!begins_like_ours(file.bytes())) {
    return naming(name, [&] { return cache_digest::parse(file.bytes()); });
  }
  const any_filter f = within_limit([&] {
    return any_filter::open(
        std::move(file), [](const image_header&) { return nullptr; }, opening_asked());
  });
  return naming(name, [&] { return digest_of_filter(f); });
}

nlohmann::json digest_json(const cache_digest& d) {
  return {{"version", d.version()},        {"required_version", d.required_version()},
          {"capacity", d.capacity()},      {"entries", d.entries()},
          {"deleted", d.deleted()},        {"bits_per_entry", d.bits_per_entry()},
          {"mask_bytes", d.mask_bytes()},  {"bytes", cache_digest_header_bytes + d.mask_bytes()},
          {"probes", cache_digest_probes}, {"fill", d.filter().fill()},
          {"fpr_now", d.filter().fpr()},   {"usable", d.usable()}};
}

void warn_unusable(const cache_digest& d, const std::string& name) {
  if (d.usable()) return;
  tell(
      "bloomery: warning: {:.1f} % of the bits of {} are ones; Squid uses no digest with more "
      "than 65 %\n",
      100 * d.filter().fill(), name);
}

// ---- make and export --------------------------------------------------------------------------

cache_digest digest_of_keys(const digest_options& o, const std::vector<request_key>& keys) {
  const std::uint64_t capacity =
      o.capacity.empty() ? std::max<std::uint64_t>(keys.size(), 1) : parse_count(o.capacity);
  if (capacity < keys.size()) {
    throw error(errc::bad_argument, fmt::format("there are {} URLs, and room for {}; raise "
                                                "--capacity",
                                                with_commas(keys.size()), with_commas(capacity)));
  }
  cache_digest d(capacity, o.bits_per_entry);
  for (const request_key& key : keys) d.add(md5_words(key.data()));
  return d;
}

void tell_left_out(const left_out_urls& l) {
  std::string text;
  const auto part = [&](std::uint64_t number, const std::string& what) {
    if (number != 0) text += (text.empty() ? "left out: " : ", ") + what;
  };
  part(l.other, counted(l.other, "request") + " with another method or status than GET and 200");
  part(l.cut, counted(l.cut, "URL") + " whose query the log does not have");
  part(l.files, counted(l.files, "file") + " without a URL");
  if (!text.empty()) tell("{}\n", text);
  if (l.bad == 0) return;
  tell("bloomery: warning: {} without a URL; the first is {}\n", counted(l.bad, "line"),
       l.first_bad);
}

struct collected {
  std::vector<request_key> keys;
  left_out_urls left_out;
};

collected collect(const digest_options& o) {
  cached_urls urls(o.base, o.input.show());
  if (o.from_urls()) {
    urls.add_lists(o.input.paths.empty() ? std::vector<std::string>{"-"} : o.input.paths);
  }
  urls.add_logs(o.logs);
  for (const std::string& folder : o.nginx) urls.add_nginx(folder);
  for (const std::string& folder : o.squid) urls.add_squid(folder);
  for (const std::string& folder : o.mirrors) urls.add_mirror(folder);
  collected all{.keys = urls.take(), .left_out = urls.left_out()};
  if (all.keys.empty() && all.left_out.bad > 0) {
    throw error(errc::corrupt,
                all.left_out.first_bad +
                    (all.left_out.of_log
                         ? " is no line of an access log, nor is any other; without --log, INPUT "
                           "has URLs, one a line"
                         : " is no URL, and no other line has one either"));
  }
  return all;
}

void write_bytes(const output_file& out, std::span<const std::byte> bytes) {
  atomic_file file(out.path());
  file.append(bytes);
  file.commit();
}

void run_make(const digest_options& o) {
  std::vector<std::string> inputs = o.input.paths;
  inputs.insert(inputs.end(), o.logs.begin(), o.logs.end());
  if (!o.from.empty()) inputs.push_back(o.from);
  output_file out(o.output, inputs, o.json);
  collected all;
  if (o.from.empty()) all = collect(o);
  const cache_digest d = o.from.empty() ? digest_of_keys(o, all.keys) : open_digest(o.from);
  write_bytes(out, d.bytes());
  out.finish(o.input.quiet);
  if (!o.input.quiet) {
    tell("{}: cache digest of {}, room for {}, {}, {} bits an entry, fpr {}\n", out.name(),
         counted(d.entries(), "URL"), with_commas(d.capacity()),
         counted(cache_digest_header_bytes + d.mask_bytes(), "byte"), d.bits_per_entry(),
         as_rate(d.filter().fpr()));
    tell_left_out(all.left_out);
    warn_unusable(d, out.name());
    if (d.entries() == 0) warn_without_keys({}, out.name());
  }
  if (o.json) {
    nlohmann::json object = digest_json(d);
    object["left_out"] = {{"requests", all.left_out.other},
                          {"queries", all.left_out.cut},
                          {"files", all.left_out.files},
                          {"lines", all.left_out.bad}};
    print_json(object);
  }
}

void run_export(const digest_options& o) {
  output_file out(o.output, {o.path}, o.json);
  const cache_digest d = open_digest(o.path);
  save(d.filter(), out.path(), digest_hash);
  out.finish(o.input.quiet);
  const any_filter f = any_filter::copy_of(
      {.header = {.planned = d.filter().planned(), .hash = digest_hash, .keys = d.entries()},
       .words = d.filter().words()});
  if (!o.input.quiet) print_summary(out.name(), f);
  if (o.json) print_json(info_json(f, out.bytes()));
}

// ---- info -------------------------------------------------------------------------------------

void run_info(const digest_options& o) {
  const cache_digest d = open_digest(o.path);
  if (o.json) return print_json(digest_json(d));
  std::string text = fmt::format("{}: cache digest\n", name_of_input(o.path));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<9} {}\n", name, value);
  };
  row("entries",
      fmt::format("{}, room for {}{}", with_commas(d.entries()), with_commas(d.capacity()),
                  d.deleted() == 0
                      ? ""
                      : fmt::format("; {} of them deleted again", with_commas(d.deleted()))));
  row("size", fmt::format("{}: 128 and a mask of {}, {} bits an entry",
                          counted(cache_digest_header_bytes + d.mask_bytes(), "byte"),
                          with_commas(d.mask_bytes()), d.bits_per_entry()));
  row("probes", fmt::format("{}", cache_digest_probes));
  row("fill", fmt::format("{:.2f} %{}", 100 * d.filter().fill(),
                          d.usable() ? "" : ": Squid uses no digest with more than 65 %"));
  row("fpr", as_rate(d.filter().fpr()) + " now");
  row("format", fmt::format("version {}, for readers of version {} and newer", d.version(),
                            d.required_version()));
  write_output(text);
}

// ---- ask --------------------------------------------------------------------------------------

class digest_asker {
 public:
  explicit digest_asker(const ask_options& o) : options_(&o), silent_(o.input.silent(o.json)) {
    for (const std::string& path : o.digests) digests_.push_back(open_digest(path));
    found_in_.resize(digests_.size());
  }

  // Returns whether more URLs are wanted.
  bool ask(std::string_view line) {
    const auto url = cache_url(line);
    if (!url) {
      ++bad_;
      return true;
    }
    ++asked_;
    const digest words = md5_words(key_of_request(*url).data());
    bool found = false;
    for (std::size_t i = 0; i < digests_.size(); ++i) {
      if (!digests_[i].contains(words)) continue;
      found = true;
      ++found_in_[i];
      if (prints() && !options_->invert) {
        text_.append(line).append("\t").append(name_of_input(options_->digests[i])).append("\n");
      }
    }
    if (prints() && options_->invert && !found) text_.append(line).append("\n");
    if (found != options_->invert) ++selected_;
    return !silent_ || selected_ == 0;
  }
  void flush() {
    write_output(text_);
    text_.clear();
  }

  int finish() {
    flush();
    if (options_->count && !options_->json && !silent_) {
      write_output(fmt::format("{}\n", selected_));
    }
    if (options_->json) print_numbers();
    if (bad_ != 0 && !options_->input.quiet) {
      tell("bloomery: warning: {} without a URL\n", counted(bad_, "line"));
    }
    return selected_ > 0 ? exit_success : exit_no_match;
  }

 private:
  [[nodiscard]] bool prints() const { return !options_->count && !options_->json && !silent_; }
  void print_numbers() const {
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < digests_.size(); ++i) {
      rows.push_back({{"digest", name_of_input(options_->digests[i])},
                      {"found", found_in_[i]},
                      {"fpr_now", digests_[i].filter().fpr()}});
    }
    print_json({{"urls", asked_}, {"selected", selected_}, {"bad_lines", bad_}, {"rows", rows}});
  }

  const ask_options* options_;
  bool silent_;
  std::vector<cache_digest> digests_;
  std::vector<std::uint64_t> found_in_;
  std::uint64_t asked_ = 0;
  std::uint64_t selected_ = 0;
  std::uint64_t bad_ = 0;
  std::string text_;
};

int run_ask(const ask_options& o) {
  digest_asker asker(o);
  if (!o.urls.empty() || !o.input.paths.empty()) {
    for (const std::string& url : o.urls) {
      if (!cache_url(url)) {
        throw error(errc::bad_argument, fmt::format("'{}' is no URL with a host", escaped(url)));
      }
      if (!asker.ask(url)) return asker.finish();
    }
    if (o.input.paths.empty()) return asker.finish();
  } else {
    check_standard_input_has_keys();
  }
  progress meter("asking", o.input.show().unless(true));
  record_options records;
  records.any_line_end = true;
  key_source source(o.input.paths, records, meter);
  bool wanted = true;
  for (chunk c; wanted && source.next(c);) {
    for (const std::string_view line : c.keys) {
      const std::string_view url = without_blanks(line);
      if (url.empty()) continue;
      wanted = asker.ask(url);
      if (!wanted) break;
    }
    asker.flush();
  }
  return asker.finish();
}

// ---- options ----------------------------------------------------------------------------------

void add_digest_make(command& digest) {
  auto o = std::make_shared<digest_options>();
  command* verb = digest.add_subcommand("make", "Make the digest of what a cache or a mirror has");
  verb->add_option("-o,--output", o->output, "The digest to write; - is standard output")
      ->required()
      ->type_name("D");
  option* bits = verb->add_option("--bits-per-entry", o->bits_per_entry,
                                  "Bits for each URL: 5, Squid's own choice, by default")
                     ->between(1, most_bits_per_entry)
                     ->type_name("B");
  option* capacity =
      verb->add_option("--capacity", o->capacity, "Room for N URLs (default: as many as there are)")
          ->type_name("N");
  option* logs = verb->add_option("--log", o->logs,
                                  "What was fetched according to this access log, of Squid or in "
                                  "the common format; may be given several times, as the next")
                     ->one_a_time()
                     ->type_name("LOG");
  option* nginx = verb->add_option("--nginx", o->nginx, "What is in this cache directory of nginx")
                      ->one_a_time()
                      ->type_name("DIR");
  option* squid = verb->add_option("--squid", o->squid, "What is in this cache directory of Squid")
                      ->one_a_time()
                      ->type_name("DIR");
  option* mirror =
      verb->add_option("--mirror", o->mirrors, "The files below this directory, at --base")
          ->one_a_time()
          ->type_name("DIR");
  option* base = verb->add_option("--base", o->base,
                                  "The URL of the mirror's directory; the site of a log that has "
                                  "paths only, or of an nginx cache")
                     ->type_name("URL");
  option* from = verb->add_option("--from", o->from, "The filter of a digest, by 'digest export'")
                     ->type_name("F");
  for (option* other : {bits, capacity, logs, nginx, squid, mirror, base}) from->excludes(other);
  verb->add_flag("--json", o->json, "Print what was made as JSON");
  add_limit(*verb);
  add_input_files(*verb, o->input);
  verb->footer(
      "INPUT has URLs, one a line; standard input is read when nothing else is named.\n\n"
      "Example:\n  bloomery digest make -o mirror.digest --mirror /srv/debian --base "
      "http://mirror.example/debian/\n"
      "  bloomery digest make -o cache.digest --log /var/log/squid/access.log");
  verb->callback([o] {
    if (!o->from.empty() && !o->input.paths.empty()) {
      throw error(errc::bad_argument, "--from takes all of its URLs from the filter");
    }
    run_make(*o);
  });
}

void add_digest_info(command& digest) {
  auto o = std::make_shared<digest_options>();
  command* verb = digest.add_subcommand("info", "Show what a digest says of itself");
  verb->add_option("D", o->path, "The digest; - is standard input")->required()->type_name("");
  verb->add_flag("--json", o->json, "Print it as JSON");
  add_limit(*verb);
  add_quiet(*verb, o->input.quiet);
  verb->footer(
      "Example:\n  curl -s http://cache:3128/squid-internal-periodic/store_digest > cache.digest\n"
      "  bloomery digest info cache.digest");
  verb->callback([o] { run_info(*o); });
}

void add_digest_ask(command& digest, int& status) {
  auto o = std::make_shared<ask_options>();
  o->input.answers = true;
  command* verb = digest.add_subcommand("ask", "Print which digests have which URLs");
  verb->add_option("D", o->digests, "The digests, or filters of them")->required()->type_name("");
  verb->add_option("--url", o->urls, "Ask for this URL; may be given several times")
      ->one_a_time()
      ->type_name("URL");
  verb->add_option("--list", o->input.paths,
                   "Ask for the URLs in this file, one a line (default: standard input)")
      ->one_a_time()
      ->type_name("FILE");
  verb->add_flag("-v,--invert", o->invert, "Print the URLs that surely none of them has");
  verb->add_flag("-c,--count", o->count, "Print only how many URLs");
  verb->add_flag("--json", o->json, "Print the numbers as JSON");
  add_opening_options(*verb);
  add_quiet(*verb, o->input.quiet, true);
  verb->footer(
      "Prints the URL, a tab and the digest, for each digest that has it.\n"
      "Exit status: 0 when a URL was selected, 1 when none was, 2 after an error.\n\n"
      "Example:\n  bloomery digest ask --url http://mirror.example/debian/ls-lR.gz *.digest\n"
      "  bloomery digest ask -c cache.digest < urls.txt");
  verb->callback([o, &status] { status = run_ask(*o); });
}

void add_digest_export(command& digest) {
  auto o = std::make_shared<digest_options>();
  command* verb = digest.add_subcommand("export", "Write a digest as an ordinary filter file");
  verb->add_option("-o,--output", o->output, "The filter file to write; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("D", o->path, "The digest; - is standard input")->required()->type_name("");
  verb->add_flag("--json", o->json, "Print what was written as JSON");
  add_limit(*verb);
  add_quiet(*verb, o->input.quiet);
  verb->footer(
      "The filter has the same bits: merge, compare, diff and pack work on it, and 'digest make "
      "--from' makes it a digest again.\n\n"
      "Example:\n  bloomery digest export -o cache.bloom cache.digest\n"
      "  bloomery compare cache.bloom other.bloom");
  verb->callback([o] { run_export(*o); });
}

}  // namespace

void add_digest(command& app, int& status) {
  command* digest = app.add_subcommand("digest", "Cache digests: what web caches have, for Squid");
  digest->require_subcommand(1);
  add_digest_make(*digest);
  add_digest_info(*digest);
  add_digest_ask(*digest, status);
  add_digest_export(*digest);
  digest->footer(
      "Example:\n  bloomery digest make -o mirror.digest --mirror /srv/debian --base "
      "http://mirror.example/debian/\n"
      "  bloomery digest ask --url http://mirror.example/debian/ls-lR.gz mirror.digest");
}

}  // namespace bloomery::cli
