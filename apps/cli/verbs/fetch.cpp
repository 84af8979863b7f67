// bloomery fetch: a filter from a web site or a server of ours, later only what has changed.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>

#include "bloomery/exchange/follow_pace.hpp"
#include "bloomery/exchange/publication.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/describe.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/version_name.hpp"
#include "bloomery/hash/random_seed.hpp"
#include "cli/args/options.hpp"
#include "cli/args/peer.hpp"
#include "cli/args/stopping.hpp"
#include "cli/http/client.hpp"
#include "cli/input/filters.hpp"
#include "cli/output/report.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#include "cli/verbs/verbs.hpp"

namespace bloomery::cli {

namespace {

struct fetch_options {
  std::string url;
  std::string output;
  std::string follow;
  std::string ca_file;
  std::string token_file;
  std::optional<double> timeout;
  bool no_wait = false;
  bool quiet = false;
  bool progress = false;
  bool json = false;
};

constexpr std::string_view our_types = "application/vnd.bloomery.";
constexpr int most_attempts = 4;  // at a file or a site that changes meanwhile

// What is there already.
struct local_copy {
  bool there = false;
  std::optional<std::uint64_t> version = std::nullopt;  // nothing when it is damaged
  std::uint64_t bytes = 0;
};

struct fetch_result {
  std::optional<std::uint64_t> before = std::nullopt;
  std::uint64_t version = 0;
  std::size_t deltas = 0;  // 0 when the whole came
  std::uint64_t file_bytes = 0;

  [[nodiscard]] bool changed() const { return before != version; }
};

struct changed_meanwhile {};  // the file or the site; start again

template <class Work>
auto naming_url(const http_url& url, Work work) {
  try {
    return work();
  } catch (const error& e) {
    throw error(e.code(), fmt::format("{}: {}", url.shown(), e.what()));
  }
}

// The version of a quoted ETag of a server of ours, of the plain or of the packed form.
std::optional<std::uint64_t> version_of_etag(std::string_view etag) {
  constexpr std::string_view packed = "-packed";
  if (etag.size() < 2 || !etag.starts_with('"') || !etag.ends_with('"')) return std::nullopt;
  etag = etag.substr(1, etag.size() - 2);
  if (etag.ends_with(packed)) etag.remove_suffix(packed.size());
  return parse_version_name(etag);
}

bool is_absent(long status) {  // as web servers without such a file say it
  return status == 400 || status == 403 || status == 404 || status == 405 || status == 410 ||
         status == 501;
}

class fetcher {
 public:
  fetcher(const fetch_options& o, http_options http)
      : options_(&o), url_(o.url), out_(o.output, {}, o.json), client_(std::move(http)) {
    const atomic_file probe(out_.path());  // so that it is known early if it cannot be written
  }

  [[nodiscard]] bool is_stream() const { return out_.path() != options_->output; }
  [[nodiscard]] std::string name() const { return out_.name(); }
  [[nodiscard]] const http_url& url() const { return url_; }
  [[nodiscard]] std::uint64_t received() const { return client_.received(); }

  // Looks once. The file is the present version afterwards, or as it was.
  fetch_result run() {
    progress meter("fetching", {.quiet = options_->quiet, .forced = options_->progress});
    meter_ = &meter;
    for (int attempt = 1; attempt <= most_attempts; ++attempt) {
      local_copy local = is_stream() ? local_copy{} : look();
      try {
        fetch_result r = within_limit([&] { return update(local); });
        r.before = local.version;
        out_.finish(options_->quiet);
        r.file_bytes = out_.bytes();
        return r;
      } catch (const changed_meanwhile&) {
        continue;
      }
    }
    throw error(errc::io, fmt::format("{}: it does not stop changing; try later", url_.shown()));
  }

 private:
  [[nodiscard]] opening how(const local_copy& local) const {
    opening o = opening_asked();
    if (o.memory == 0) o.memory = memory_limit(local.bytes);
    return o;
  }

  local_copy look() {
    const std::string& path = out_.path();
    local_copy found;
    if (!std::filesystem::exists(path)) return found;
    found.there = true;
    found.bytes = std::filesystem::file_size(path);
    if (found.bytes == 0) return found;
    try {
      found.version = content_name(any_filter::open(path, nullptr, opening_asked()));
    } catch (const error& e) {
      if (e.code() != errc::corrupt) throw;
      if (!options_->quiet && !std::exchange(told_damage_, true)) {
        tell("bloomery: warning: {}; all of it is fetched anew\n", e.what());
      }
    }
    return found;
  }

  http_answer get(const http_url& url, std::string accept, std::uint64_t most_bytes,
                  std::string unless = {}) {
    return client_.get({.url = url,
                        .accept = std::move(accept),
                        .most_bytes = most_bytes,
                        .unless = std::move(unless)},
                       *meter_);
  }

  fetch_result update(const local_copy& local) {
    if (is_site_ || !local.version) return from_site(local);
    const http_url url =
        url_.with_ending("/delta").with_query("from", version_name(*local.version));
    const http_answer reply =
        get(url, fmt::format("{}, {}", delta_media_type, packed_media_type), how(local).memory);
    if (reply.status == 204) return unchanged(local);
    if (reply.status == 200) {
      return unless_broken([&] { return take(url, reply, local); },
                           [&] { return from_site(local); });
    }
    if (is_absent(reply.status)) return from_site(local);
    throw http_refusal(url, reply);
  }

  // A delta is the short way. Where it is broken or gone the long one is left, and costs more bytes
  // only; a server that fails or does not answer would not do better there.
  template <class Short, class Long>
  fetch_result unless_broken(Short by_delta, Long otherwise) {
    try {
      return by_delta();
    } catch (const error& e) {
      const auto* const refused = dynamic_cast<const http_refusal*>(&e);
      if (refused != nullptr ? !is_absent(refused->status()) : e.code() == errc::io) throw;
      if (!options_->quiet) {
        tell("bloomery: warning: {}; the filter is fetched without it\n", e.what());
      }
    }
    return otherwise();
  }

  fetch_result unchanged(const local_copy& local) const { return {.version = *local.version}; }

  // All of it, from a server of ours or from a plain file somewhere.
  fetch_result take_whole(const local_copy& local) {
    std::string unless;
    if (local.version) {
      unless = fmt::format(R"("{0}-packed", "{0}")", version_name(*local.version));
    }
    const http_answer reply =
        get(url_, fmt::format("{}, */*;q=0.1", packed_media_type), how(local).memory, unless);
    if (reply.status == 304 && local.version) return unchanged(local);
    if (reply.status != 200) throw http_refusal(url_, reply);
    return take(url_, reply, local);
  }

  // What a reply holds, in whichever form.
  fetch_result take(const http_url& url, const http_answer& reply, const local_copy& local) {
    std::optional<std::uint64_t> announced;
    if (reply.content_type.starts_with(our_types)) announced = version_of_etag(reply.etag);
    if (!reply.version.empty()) {
      announced = parse_version_name(reply.version);
      if (!announced) {
        throw error(errc::corrupt, fmt::format("{}: it announces no version", url.shown()));
      }
    }
    if (is_delta(reply.body)) {
      const delta_description d = naming_url(url, [&] { return describe_delta(reply.body); });
      apply(url, {reply.body}, local, announced.value_or(d.to));
      return {.version = d.to, .deltas = 1};
    }
    return {.version = replace(url, reply.body, local, announced)};
  }

  fetch_result from_site(const local_copy& local) {
    const http_url url = url_.with_ending(".json");
    const http_answer reply = client_.get({.url = url,
                                           .accept = "application/json",
                                           .most_bytes = most_manifest_bytes,
                                           .most_is = "a manifest may have,",
                                           .unless = is_site_ ? manifest_etag_ : std::string(),
                                           .compressed = true},
                                          *meter_);
    if (reply.status == 304 && is_site_) return follow(local);
    if (is_absent(reply.status) && !is_site_) return take_whole(local);
    if (reply.status != 200) throw http_refusal(url, reply);
    manifest_ = naming_url(url, [&] {
      return parse_manifest({reinterpret_cast<const char*>(reply.body.data()), reply.body.size()});
    });
    manifest_etag_ = reply.etag;
    is_site_ = true;
    return follow(local);
  }

  fetch_result follow(const local_copy& local) {
    check_memory(manifest_.bytes, how(local).memory, local.bytes);
    const update_plan plan = plan_update(manifest_, local.version);
    if (plan.by == update_plan::way::nothing) return unchanged(local);
    if (plan.by == update_plan::way::whole) return take_packed(local);
    return unless_broken([&] { return take_deltas(plan, local); },
                         [&] { return take_packed(local); });
  }

  fetch_result take_packed(const local_copy& local) {
    const http_url url = url_.beside(manifest_.packed_file);
    const std::vector<std::byte> packed = named_file(url, manifest_.packed_bytes);
    if (!is_packed(packed)) {
      throw error(errc::corrupt, fmt::format("{}: it is no packed filter", url.shown()));
    }
    return {.version = replace(url, packed, local, manifest_.version)};
  }

  fetch_result take_deltas(const update_plan& plan, const local_copy& local) {
    std::vector<std::vector<std::byte>> deltas;
    std::uint64_t at = *local.version;
    for (const published_delta& step : plan.steps) {
      const http_url url = url_.beside(step.file);
      deltas.push_back(named_file(url, step.bytes));
      const delta_description d = naming_url(url, [&] { return describe_delta(deltas.back()); });
      if (d.from != at || d.to != step.to) {
        throw error(errc::mismatch,
                    fmt::format("{}: it is another step than the manifest announces", url.shown()));
      }
      at = d.to;
    }
    apply(url_, deltas, local, manifest_.version);
    return {.version = manifest_.version, .deltas = deltas.size()};
  }

  // A file that the manifest names. When it is gone, the manifest has another successor by now.
  std::vector<std::byte> named_file(const http_url& url, std::uint64_t bytes) {
    http_answer reply = client_.get(
        {.url = url, .accept = "*/*", .most_bytes = bytes, .most_is = "the manifest announces,"},
        *meter_);
    if (is_absent(reply.status) && !std::exchange(named_file_gone_, true)) {
      manifest_etag_.clear();
      throw changed_meanwhile{};
    }
    if (reply.status != 200) throw http_refusal(url, reply);
    if (reply.body.size() != bytes) {
      throw error(errc::corrupt,
                  fmt::format("{}: it has {}, but the manifest announces {}", url.shown(),
                              counted(reply.body.size(), "byte"), with_commas(bytes)));
    }
    named_file_gone_ = false;
    return std::move(reply.body);
  }

  // Keeps others from changing the file; throws when somebody has changed it already.
  void hold(std::optional<file_lock>& lock, const local_copy& local) {
    if (is_stream()) return;
    const std::string& path = out_.path();
    if (std::filesystem::exists(path)) {
      // Who follows comes back anyway, and a signal that ends him must not wait for a lock.
      lock_file(lock, path,
                {.quiet = options_->quiet, .wait = !options_->no_wait && options_->follow.empty()});
    }
    const local_copy now = look();
    if (now.there != local.there || now.version != local.version) throw changed_meanwhile{};
  }

  void save(std::optional<file_lock>& lock, const image_header& header,
            std::span<const std::uint64_t> words) {
    atomic_file file(out_.path());
    write_image(file, header, words);
    if (lock) {
      file.commit(*lock);
    } else {
      file.commit();
    }
  }

  void apply(const http_url& url, const std::vector<std::vector<std::byte>>& deltas,
             const local_copy& local, std::uint64_t announced) {
    std::optional<file_lock> lock;
    hold(lock, local);
    if (!lock) throw changed_meanwhile{};
    const auto no_hash = [](const image_header&) { return std::shared_ptr<const any_hasher>(); };
    const any_filter from = any_filter::open(mapped_file(*lock), no_hash, how(local));
    unpacked_filter to;
    naming_url(url, [&] {
      filter_version at = from.version();
      for (const std::vector<std::byte>& delta : deltas) {
        unpacked_filter next = patch(at, delta, how(local));
        to = std::move(next);
        at = {.header = to.header, .words = to.words.words()};
      }
      if (image_name(at.header, at.words) != announced) {
        throw error(errc::mismatch, "it is not the version that the server announces");
      }
    });
    save(lock, to.header, to.words.words());
  }

  // Takes a whole filter, packed or plain, and returns its version.
  std::uint64_t replace(const http_url& url, const std::vector<std::byte>& body,
                        const local_copy& local, std::optional<std::uint64_t> announced) {
    unpacked_filter unpacked;
    filter_version f;
    const std::uint64_t version = naming_url(url, [&] {
      if (is_packed(body)) {
        unpacked = unpack(body, how(local));
        f = {.header = unpacked.header, .words = unpacked.words.words()};
      } else {
        const image_view image = image_view::parse(body);
        image.verify();
        f = {.header = image.header(), .words = image.words()};
      }
      // What it says of itself beyond its checksums, as for every file that is opened.
      any_filter::copy_of(f).verify();
      const std::uint64_t found = image_name(f.header, f.words);
      if (announced && found != *announced) {
        throw error(errc::mismatch, "it is not the version that the server announces");
      }
      return found;
    });
    if (version == local.version) return version;
    std::optional<file_lock> lock;
    hold(lock, local);
    save(lock, f.header, f.words);
    return version;
  }

  const fetch_options* options_;
  http_url url_;
  output_file out_;
  http_client client_;
  progress* meter_ = nullptr;
  // What is known of the source while this lives: that it is a plain web site, and its manifest.
  bool is_site_ = false;
  publication manifest_;
  std::string manifest_etag_;
  bool named_file_gone_ = false;
  bool told_damage_ = false;
};

std::string in_words(const fetch_result& r, std::uint64_t received) {
  if (!r.changed()) return fmt::format("unchanged, version {}", version_name(r.version));
  const std::string from = r.before ? fmt::format(" after {}", version_name(*r.before)) : "";
  const std::string by = r.deltas == 0 ? "all of it" : counted(r.deltas, "delta");
  return fmt::format("version {}{}, {}, {} fetched", version_name(r.version), from, by,
                     counted(received, "byte"));
}

nlohmann::json fetch_json(const fetcher& f, const fetch_result& r, std::uint64_t received) {
  nlohmann::json object = {{"url", f.url().shown()},
                           {"file", f.name()},
                           {"changed", r.changed()},
                           {"version", version_name(r.version)},
                           {"before", nullptr},
                           {"deltas", r.deltas},
                           {"whole", r.changed() && r.deltas == 0},
                           {"bytes", r.file_bytes},
                           {"bytes_fetched", received}};
  if (r.before) object["before"] = version_name(*r.before);
  return object;
}

// Looks once and says what came of it. Who follows hears of changes only, after the first time.
void fetch_once(const fetch_options& o, fetcher& f, bool only_changes) {
  const std::uint64_t before = f.received();
  const fetch_result r = f.run();
  const std::uint64_t received = f.received() - before;
  if (only_changes && !r.changed()) return;
  if (!o.quiet) tell("{}: {}\n", f.name(), in_words(r, received));
  if (!o.json) return;
  const nlohmann::json object = fetch_json(f, r, received);
  if (o.follow.empty()) return print_json(object);
  write_output(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void wait_for(std::chrono::milliseconds pause) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds step(200);  // a signal may come just before poll
  const clock::time_point end = clock::now() + pause;
  while (!stopped_by_signal()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    if (left.count() <= 0) return;
    ::poll(nullptr, 0, static_cast<int>(std::min(left, step).count()));
  }
}

void follow_until_stopped(const fetch_options& o, fetcher& f, std::uint64_t seconds) {
  stop_by_signals();
  follow_pace pace(std::chrono::seconds(seconds), random_seed());
  bool fetched = false;
  while (!stopped_by_signal()) {
    std::chrono::milliseconds pause{0};
    const auto failed = [&](const error& e, std::chrono::seconds wanted) {
      pause = pace.after_failure(wanted);
      tell("bloomery: {}; trying again in {}\n", e.what(),
           as_span(static_cast<std::uint64_t>(std::max<std::int64_t>(1, pause.count() / 1000))));
    };
    try {
      fetch_once(o, f, fetched);
      fetched = true;
      pause = pace.after_success();
    } catch (const http_stopped&) {
      return;
    } catch (const http_refusal& e) {
      failed(e, e.retry_after());
    } catch (const error& e) {
      failed(e, std::chrono::seconds(0));
    }
    wait_for(pause);
  }
}

void run_fetch(const fetch_options& o) {
  constexpr double most_seconds = 1e6;
  constexpr std::uint64_t longest = std::uint64_t{366} * 24 * 3600;
  const double seconds = o.timeout.value_or(30);
  if (!(seconds > 0 && seconds <= most_seconds)) {
    throw error(errc::bad_argument, "--timeout is a number of seconds above 0, at most a million");
  }
  const std::chrono::milliseconds idle(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1000)));
  const std::uint64_t every = o.follow.empty() ? 0 : parse_span(o.follow);
  if (!o.follow.empty() && (every == 0 || every > longest)) {
    throw error(errc::bad_argument, "--follow is a time from 1s to 366d");
  }
  fetcher f(o, {.ca_file = o.ca_file,
                .token = o.token_file.empty() ? "" : read_token(o.token_file),
                .idle = idle,
                .total = 120 * idle,
                .stop = &stopped_by_signal()});
  if (o.follow.empty()) return fetch_once(o, f, false);
  if (f.is_stream()) throw error(errc::bad_argument, "--follow needs a file; -o names it");
  follow_until_stopped(o, f, every);
}

}  // namespace

void add_fetch(command& app, int& /*status*/) {
  auto o = std::make_shared<fetch_options>();
  command* verb = app.add_subcommand(
      "fetch", "Get a filter from a web site or a server, later only its changes");
  verb->add_option("URL", o->url, "http://HOST/.../filters/NAME, or https")
      ->required()
      ->type_name("");
  verb->add_option("-o,--output", o->output,
                   "The filter file to write, or to bring up to date; - is standard output")
      ->required()
      ->type_name("F");
  verb->add_option("--follow", o->follow,
                   "Stay, and look again each such time, 10m or 1h, a quarter more or less")
      ->type_name("TIME");
  verb->add_option("--cacert", o->ca_file,
                   "Trust these certificates, in PEM, instead of those of the system")
      ->type_name("FILE");
  verb->add_option("--token-file", o->token_file, "Send the server the token of this file")
      ->type_name("FILE");
  verb->add_option("--timeout", o->timeout, "Give up after so many seconds of silence (default 30)")
      ->type_name("S");
  verb->add_flag("--json", o->json, "Print what was done as JSON; with --follow a line a change");
  add_limit(*verb);
  add_no_wait(*verb, o->no_wait);
  add_quiet(*verb, o->quiet);
  verb->add_flag("--progress", o->progress,
                 "Show progress also when standard error is no terminal");
  verb->footer(
      "Follows 'bloomery serve', what 'bloomery publish' wrote on any web server, and\n"
      "plain files. F is replaced at once, after every checksum was compared, or stays\n"
      "as it was; where a delta is broken, all of it is fetched. Exit status: 0 when F\n"
      "is the present version, whether or not it was before; 2 after an error.\n\n"
      "Example:\n"
      "  bloomery fetch https://example.org/filters/block.bloom -o block.bloom\n"
      "  bloomery fetch --follow 1h https://example.org/filters/ip.bloom -o ip.bloom");
  verb->callback([o] { run_fetch(*o); });
}

}  // namespace bloomery::cli
