#include "cli/output/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <variant>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/format/describe.hpp"
#include "bloomery/format/image.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

// Names what is wrong when a filter answers yes more often than was asked for.
void warn_above_target(const std::string& path, const any_filter& f, const contents& now) {
  const plan& p = f.planned();
  const abilities can = abilities_of(p.shape.kind);
  const bool overfull = p.keys != 0 && now.keys > p.keys + p.keys / 100;
  // Where only a size was asked for, the rate of a filter that is not overfull is what it gives.
  const bool sized = !(p.fpr_target > 0);
  if (can.grow || can.forget || (sized && !overfull)) return;
  const double asked = sized ? sizing::fpr(p.shape, p.keys) : p.fpr_target;
  if (now.fpr <= asked || as_rate(now.fpr) == as_rate(asked)) return;
  std::string why;
  if (overfull) {
    why = fmt::format("; it holds {}{} and was planned for {}", now.repeated ? "about " : "",
                      counted(now.keys, "key"), with_commas(p.keys));
  }
  tell("bloomery: warning: the fpr of {} is {} now, above the {} {}{}\n", path, as_rate(now.fpr),
       as_rate(asked), sized ? "of its plan" : "asked for", why);
}

}  // namespace

contents contents_of(const any_filter& f) {
  contents now{.fpr = f.fpr(), .keys = f.keys()};
  const std::optional<double> estimated = f->keys_estimated();
  if (!estimated || abilities_of(f.shape().kind).forget) return now;
  // The standard error of the estimate is below the root of the keys in a filter that is not all
  // but full (set/estimate.hpp); one of a few keys is uncertain by rounding, too.
  const auto added = static_cast<double>(now.keys);
  const double doubt = 0.01 * added + 4 * std::sqrt(added);
  now.repeated = *estimated < added - doubt;
  now.shared = std::isfinite(*estimated) && *estimated > added + doubt;
  if (now.repeated) now.keys = static_cast<std::uint64_t>(std::llround(*estimated));
  return now;
}

namespace {

void warn_of_window(const std::string& path, const any_filter& f) {
  if (!abilities_of(f.shape().kind).forget) return;
  std::uint64_t window = 0;
  std::uint64_t covered = 0;
  for (const fact& told : f->facts()) {
    if (told.name == "window") window = covered = std::get<std::uint64_t>(told.value);
    if (told.name == "window_covered") covered = std::get<std::uint64_t>(told.value);
  }
  if (covered >= window) return;
  tell(
      "bloomery: warning: {}: keys came faster than planned; of its window of {} it covers only "
      "{}\n",
      path, as_span(window), as_last(covered));
}

}  // namespace

void print_summary(const std::string& path, const any_filter& f, std::string different) {
  const shape& s = f.shape();
  const contents now = contents_of(f);
  const double bytes = std::ceil(static_cast<double>(s.bits) / 64) * 8;
  if (different.empty() && now.repeated) {
    different = fmt::format("about {} different", with_commas(now.keys));
  }
  std::string text =
      fmt::format("{}: {} filter of {}{}, {}", path, kind_name(s.kind), counted(f.keys(), "key"),
                  different.empty() ? "" : fmt::format(" ({})", different), as_bytes(bytes));
  if (now.keys != 0) {
    text +=
        fmt::format(", {:.2f} bits a key, fpr {}",
                    static_cast<double>(s.bits) / static_cast<double>(now.keys), as_rate(now.fpr));
  }
  tell("{}\n", text);
  warn_above_target(path, f, now);
  warn_of_window(path, f);
}

nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes) {
  return nlohmann::json::parse(info_as_json(f, file_bytes));
}

nlohmann::json info_json(const string_map_view& map, std::uint64_t file_bytes) {
  const image_view& image = map.image();
  nlohmann::json object =
      info_json(any_filter::copy_of({image.header(), image.words()}), file_bytes);
  object.erase("name");  // there are no deltas of maps
  object["strings"] = map.strings();
  object["string_bytes"] = map.string_bytes();
  return object;
}

nlohmann::json info_json(const text_index_view& index) {
  const text_index_options& o = index.options();
  const text_index_view::contents now = index.in_use();
  nlohmann::json object = {
      {"kind", "text-index"},
      {"documents", now.documents},
      {"files", now.files},
      {"replaced", index.documents() - now.documents},
      {"groups", index.groups().size()},
      {"keys", index.words()},
      {"bits", index.bits()},
      {"bytes", index.file_bytes()},
      {"probes", o.probes},
      {"fpr_target", o.fpr},
      {"fpr_now", index.fpr()},
      {"hash", hash_name(hash_id::xxh3)},
      {"seed", o.seed},
      {"terms", o.terms == term_kind::words ? "words" : "k-mers"},
      {"unit", o.unit == document_unit::file ? "files" : "paragraphs"},
      {"format_version", format_version},
  };
  if (o.kmer != 0) object["kmer"] = o.kmer;
  return object;
}

void print_json(const nlohmann::json& object) {
  // Keys may be any bytes; JSON may not.
  write_output(object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void write_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw error(errc::io,
                  fmt::format("standard output: writing failed: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bloomery::cli
