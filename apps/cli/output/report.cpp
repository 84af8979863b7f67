#include "cli/output/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

void print_summary(const std::string& path, const image_header& header, std::optional<double> fpr) {
  const plan& p = header.planned;
  const double bytes = std::ceil(static_cast<double>(p.shape.bits) / 64) * 8;
  std::string text = fmt::format("{}: {} filter of {} keys, {}", path, kind_name(p.shape.kind),
                                 with_commas(header.keys), as_bytes(bytes));
  if (header.keys != 0) {
    text += fmt::format(", {:.2f} bits a key",
                        static_cast<double>(p.shape.bits) / static_cast<double>(header.keys));
    if (fpr) text += fmt::format(", fpr {}", as_rate(*fpr));
  }
  tell("{}\n", text);
  const bool grows = abilities_of(p.shape.kind).grow || abilities_of(p.shape.kind).forget;
  if (grows || !fpr || p.keys == 0 || header.keys <= p.keys) return;
  tell(
      "bloomery: warning: {} holds {} keys but was planned for {}; its fpr is about {} now, "
      "not {}\n",
      path, with_commas(header.keys), with_commas(p.keys), as_rate(*fpr),
      as_rate(p.fpr_target > 0 ? p.fpr_target : sizing::fpr(p.shape, p.keys)));
}

}  // namespace

void print_summary(const std::string& path, const image_header& header) {
  const shape& s = header.planned.shape;
  print_summary(path, header,
                is_of_bits(s.kind) ? std::optional(sizing::fpr(s, header.keys)) : std::nullopt);
}

void print_summary(const std::string& path, const any_filter& f) {
  if (is_of_bits(f.shape().kind)) return print_summary(path, f.header());
  print_summary(path, f.header(), f.fpr());
}

nlohmann::json info_json(const any_filter& f, std::uint64_t file_bytes) {
  const shape& s = f.shape();
  std::uint64_t words = 0;
  for (const auto part : f->parts()) words += part.size();
  const std::optional<double> estimated = f->keys_estimated();
  nlohmann::json object = {
      {"kind", kind_name(s.kind)},
      {"keys", f.keys()},
      {"keys_planned", f.planned().keys},
      {"keys_estimated", nullptr},
      {"bits", words * 64},
      {"bytes", file_bytes},
      {"probes", s.probes},
      {"fpr_target", nullptr},
      {"fpr_now", f.fpr()},
      {"fill", f->fill()},
      {"hash", hash_name(f.hash().id)},
      {"seed", f.hash().seed},
      {"format_version", format_version},
  };
  if (f.planned().fpr_target > 0) object["fpr_target"] = f.planned().fpr_target;
  // With every bit set any number of keys is possible: then there is no estimate.
  if (estimated && std::isfinite(*estimated))
    object["keys_estimated"] = static_cast<std::uint64_t>(std::llround(*estimated));
  for (const fact& told : f->facts()) {
    object[std::string(told.name)] = static_cast<std::uint64_t>(told.value);
  }
  if (!s.shard.whole()) {
    object["shard"] = s.shard.index;
    object["shards"] = s.shard.count;
  }
  if (f.hash().rule != key_rule::plain) object["keys_are"] = rule_name(f.hash().rule);
  if (f.hash().id == hash_id::siphash) object["key_id"] = fmt::format("{:016x}", f.hash().key_id);
  return object;
}

nlohmann::json info_json(const text_index_view& index) {
  const text_index_options& o = index.options();
  nlohmann::json object = {
      {"kind", "text-index"},
      {"documents", index.documents()},
      {"files", index.files()},
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
