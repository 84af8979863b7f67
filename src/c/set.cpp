// Filters as sets.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "bloomery/format/combine.hpp"
#include "bloomery/set/algebra.hpp"
#include "bloomery/set/estimate.hpp"
#include "handle.hpp"

namespace bloomery::c {

namespace {

bloomery_estimate in_c(const estimate& e) { return {e.value, e.standard_error}; }

// Two filters of bits that have one shape, hash and seed.
void check_alike(const bloomery_filter* a, const bloomery_filter* b, const char* verb) {
  check_pointer(a, "the first filter");
  check_pointer(b, "the second filter");
  check_combinable(a->filter.header(), b->filter.header());
  detail::check_of_bits(a->filter.shape(), verb);
}

std::vector<std::uint64_t> words_of(const any_filter& f) {
  std::vector<std::uint64_t> words;
  for (const auto part : f->parts()) words.insert(words.end(), part.begin(), part.end());
  return words;
}

bool same_content(const any_filter& a, const any_filter& b) {
  if (a.shape() != b.shape()) return false;
  hash_spec of_a = a.hash();
  of_a.form = b.hash().form;  // what the keys were does not change an answer
  if (of_a != b.hash()) return false;
  const auto parts_a = a->parts();
  const auto parts_b = b->parts();
  if (parts_a.size() == 1 && parts_b.size() == 1) {
    return std::ranges::equal(parts_a.front(), parts_b.front());
  }
  return words_of(a) == words_of(b);
}

}  // namespace

}  // namespace bloomery::c

using namespace bloomery;     // NOLINT(google-build-using-namespace): a source of C functions
using namespace bloomery::c;  // NOLINT(google-build-using-namespace)

int bloomery_merge(bloomery_filter* into, const bloomery_filter* from) {
  return guarded([&] {
    check_pointer(into, "into");
    check_pointer(from, "from");
    into->filter.merge(from->filter);
    into->refresh();
    return int{BLOOMERY_OK};
  });
}

int bloomery_intersect(const bloomery_filter* a, const bloomery_filter* b, bloomery_filter** out) {
  return making(out, [&] {
    check_alike(a, b, "intersected");
    const std::array parts = {a->filter.version(), b->filter.version()};
    std::vector<std::uint64_t> words = words_of(a->filter);
    detail::and_words(words, parts[1].words);
    const image_header header = combined_header(parts, set_operation::intersect);
    return any_filter::copy_of({header, words}, hasher_of(header));
  });
}

int bloomery_fold(const bloomery_filter* filter, uint64_t divisor, bloomery_filter** out) {
  return making(out, [&] {
    check_pointer(filter, "filter");
    detail::check_of_bits(filter->filter.shape(), "folded");
    const unpacked_filter folded = fold(filter->filter.version(), divisor);
    return any_filter::copy_of({folded.header, folded.words.words()}, hasher_of(folded.header));
  });
}

int bloomery_compare(const bloomery_filter* a, const bloomery_filter* b, bloomery_comparison* out) {
  return guarded([&] {
    check_alike(a, b, "compared");
    check_pointer(out, "out");
    const auto words_a = a->filter.words();
    const auto words_b = b->filter.words();
    const comparison c = compare_bits(a->filter.shape(), count_bits(words_a), count_bits(words_b),
                                      detail::count_union(words_a, words_b));
    *out = {in_c(c.keys_a), in_c(c.keys_b), in_c(c.keys_union), in_c(c.keys_intersection),
            in_c(c.only_a), in_c(c.only_b), in_c(c.jaccard),    c.shared_bits};
    return int{BLOOMERY_OK};
  });
}

int bloomery_estimate_keys(const bloomery_filter* filter, bloomery_estimate* out) {
  return guarded([&] {
    check_pointer(filter, "filter");
    check_pointer(out, "out");
    const any_filter& f = filter->filter;
    detail::check_of_bits(f.shape(), "used to estimate its keys");
    *out = in_c(estimate_keys(f.shape(), count_bits(f.words())));
    return int{BLOOMERY_OK};
  });
}

int bloomery_covers(const bloomery_filter* all, const bloomery_filter* part) {
  return guarded([&] {
    check_alike(all, part, "compared");
    return detail::covers_words(all->filter.words(), part->filter.words()) ? 1 : 0;
  });
}

int bloomery_equal(const bloomery_filter* a, const bloomery_filter* b) {
  return guarded([&] {
    check_pointer(a, "the first filter");
    check_pointer(b, "the second filter");
    return same_content(a->filter, b->filter) ? 1 : 0;
  });
}

int bloomery_clear(bloomery_filter* filter) {
  return guarded([&] {
    check_pointer(filter, "filter");
    filter->filter->clear();
    filter->refresh();
    return int{BLOOMERY_OK};
  });
}

int bloomery_advance(bloomery_filter* filter, uint64_t now) {
  return guarded([&] {
    check_pointer(filter, "filter");
    filter->filter->advance(now);
    return int{BLOOMERY_OK};
  });
}
