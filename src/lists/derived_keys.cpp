#include "bloomery/detail/lists/derived_keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"

namespace bloomery {

namespace {

constexpr std::size_t spool_memory = std::size_t{32} << 20U;
constexpr std::size_t piece = 4096;

std::shared_ptr<const any_hasher> make_hasher(key_rule rule, std::uint64_t seed) {
  return erase(xxh3_hasher(seed), {}, rule);
}

}  // namespace

derived_keys::derived_keys(key_rule rule, const std::filesystem::path& directory,
                           std::uint64_t seed)
    : rule_(rule), hasher_(seed), spool_(directory, 1, spool_memory) {}

void derived_keys::add(std::string_view derived) {
  waiting_.push_back(hash_key(hasher_, derived));
  if (waiting_.size() == piece) pass_on();
}

void derived_keys::pass_on() {
  spool_.append(waiting_);
  different_.add_batch(waiting_);
  waiting_.clear();
}

any_filter derived_keys::build(double fpr, std::size_t strings, std::uint64_t keys) {
  pass_on();
  sizing::request r;
  r.kind = filter_kind::blocked;
  r.keys = std::max({std::uint64_t{1}, std::min(spool_.keys(), different_.keys_at_most()), keys});
  r.fpr = -std::expm1(std::log1p(-fpr) / static_cast<double>(strings));
  plan p = sizing::make_plan(r);
  p.fpr_target = fpr;
  any_filter f(p, make_hasher(rule_, hasher_.spec().seed));
  spool_.for_each(0, [&](std::span<const std::uint64_t> hashes) { f->add_hashes(hashes); });
  return f;
}

std::shared_ptr<const any_hasher> derived_hasher(const image_header& header, key_rule rule) {
  if (header.hash.rule != rule) {
    throw error(errc::mismatch, "it is a filter of " + std::string(rule_name(header.hash.rule)) +
                                    ", not of " + std::string(rule_name(rule)));
  }
  if (header.hash.id != hash_id::xxh3) {
    throw error(errc::unsupported,
                "its hash is " + std::string(hash_name(header.hash.id)) + ", not xxh3");
  }
  return make_hasher(rule, header.hash.seed);
}

void derived_question::clear() noexcept {
  text_.clear();
  ends_.clear();
}

void derived_question::add(std::string_view derived) {
  text_.append(derived);
  ends_.push_back(text_.size());
}

std::size_t derived_question::first_in(const any_filter& f) {
  keys_.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    keys_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  bitmap_.assign((keys_.size() + 63) / 64, 0);
  f.contains_bits(keys_, bitmap_);
  for (std::size_t i = 0; i < bitmap_.size(); ++i) {
    if (bitmap_[i] == 0) continue;
    return 64 * i + static_cast<std::size_t>(std::countr_zero(bitmap_[i]));
  }
  return size();
}

}  // namespace bloomery
