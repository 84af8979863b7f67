// The table of docs/when-to-use.md: the same job with a hash table, a sorted list of hashes and
// every kind of filter. Keys are strings of 20 bytes, half of those asked for are in the set.
// Memory of a table is what it asks the allocator for. Usage: bloomery_alternatives_bench [KEYS]
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bloomery/core/sizing.hpp"
#include "bloomery/format/any_filter.hpp"

namespace {

using namespace bloomery;

constexpr std::size_t repetitions = 5;
constexpr std::size_t batch = 4096;

std::uint64_t allocated = 0;

template <class T>
struct counting_allocator {
  using value_type = T;
  counting_allocator() = default;
  template <class U>
  counting_allocator(const counting_allocator<U>& /*other*/) {}
  T* allocate(std::size_t n) {
    allocated += n * sizeof(T);
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept {
    allocated -= n * sizeof(T);
    ::operator delete(at);
  }
  friend bool operator==(const counting_allocator&, const counting_allocator&) { return true; }
};

using text = std::basic_string<char, std::char_traits<char>, counting_allocator<char>>;
// A transparent hash, so that a lookup with a view copies no key.
struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view t) const { return std::hash<std::string_view>()(t); }
  std::size_t operator()(const text& t) const { return (*this)(std::string_view(t)); }
};
using text_set = std::unordered_set<text, text_hash, std::equal_to<>, counting_allocator<text>>;

std::string key_of(std::uint64_t i) {
  std::string key = std::to_string(splitmix64(i));
  key.resize(20, '.');
  return key;
}

// Of the processor: other programs may run beside this one.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

using answers = std::function<std::size_t(std::span<const std::string_view>)>;

void report(const char* name, double bits_a_key, double fpr,
            const std::vector<std::string_view>& asked, const answers& ask) {
  std::vector<double> times;
  std::size_t found = 0;
  for (std::size_t r = 0; r < repetitions; ++r) {
    const double start = thread_seconds();
    found = 0;
    for (std::size_t at = 0; at < asked.size(); at += batch) {
      found += ask(std::span(asked).subspan(at, std::min(batch, asked.size() - at)));
    }
    times.push_back(thread_seconds() - start);
  }
  std::sort(times.begin(), times.end());
  if (found < asked.size() / 2) std::abort();
  std::printf("%s\t%.1f\t%.1f\t%.3g\n", name, bits_a_key,
              times[repetitions / 2] / static_cast<double>(asked.size()) * 1e9, fpr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  constexpr std::size_t questions = 1 << 20U;
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < keys; ++i) all.push_back(key_of(i));
  std::vector<std::string> text_asked;
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < questions; ++i) {
    text_asked.push_back(key_of(i % 2 == 0 ? random() % keys : keys + random() % keys));
  }
  const std::vector<std::string_view> asked(text_asked.begin(), text_asked.end());
  const auto per_key = [&](double bits) { return bits / static_cast<double>(keys); };

  std::printf("structure\tbits a key\tns a lookup\tfpr\n");
  {
    text_set set;
    for (const std::string& k : all) set.emplace(k.data(), k.size());
    report("std::unordered_set of strings", per_key(8 * static_cast<double>(allocated)), 0, asked,
           [&](std::span<const std::string_view> piece) {
             std::size_t found = 0;
             for (const std::string_view k : piece) found += set.find(k) != set.end() ? 1U : 0U;
             return found;
           });
  }
  const xxh3_hasher hasher;
  std::vector<std::uint64_t> hashes;
  for (const std::string& k : all) hashes.push_back(hash_key(hasher, std::string_view(k)));
  {
    std::vector<std::uint64_t> sorted = hashes;
    std::sort(sorted.begin(), sorted.end());
    report("sorted list of 64-bit hashes", 64, 0, asked,
           [&](std::span<const std::string_view> piece) {
             std::size_t found = 0;
             for (const std::string_view k : piece) {
               found +=
                   std::binary_search(sorted.begin(), sorted.end(), hash_key(hasher, k)) ? 1U : 0U;
             }
             return found;
           });
  }
  for (const filter_kind kind : all_kinds()) {
    const abilities can = abilities_of(kind);
    if (can.value || can.lists_top) continue;  // they are no sets
    sizing::request r;
    r.kind = kind;
    r.keys = keys;
    r.fpr = 0.01;
    const plan p = sizing::make_plan(r);
    any_filter f =
        can.add ? any_filter(p, erase(hasher)) : any_filter::build(p, erase(hasher), hashes);
    if (can.add) f->add_hashes(hashes);
    std::uint64_t words = 0;
    for (const auto part : f->parts()) words += part.size();
    std::vector<std::uint64_t> bitmap(batch / 64);
    report(std::string(kind_name(kind)).c_str(), per_key(64 * static_cast<double>(words)), f.fpr(),
           asked, [&](std::span<const std::string_view> piece) {
             f.contains_bits(piece, std::span(bitmap).first((piece.size() + 63) / 64));
             std::size_t found = 0;
             for (std::size_t i = 0; i < (piece.size() + 63) / 64; ++i) {
               found += static_cast<std::size_t>(__builtin_popcountll(bitmap[i]));
             }
             return found;
           });
  }
}
