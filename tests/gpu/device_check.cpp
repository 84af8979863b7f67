// The GPU room against the host's filter, on a machine with a GPU: equal bits, equal answers in
// every form, errors. A program of its own, so that such a machine needs no GoogleTest.
//
//     device_check [--small]    the small run is for compute-sanitizer
//
// Exit status 77 where there is no GPU.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/gpu/blocked.hpp"
#include "bloomery/gpu/host_keys.hpp"
#include "gpu/device_memory.hpp"

namespace bloomery::gpu {
namespace {

int checks = 0;
int failures = 0;

void expect_true(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

template <class Call>
void expect_error(errc code, const std::string& what, Call call) {
  try {
    call();
    expect_true(false, what + " throws nothing");
  } catch (const error& e) {
    expect_true(e.code() == code && std::strlen(e.what()) > 10,
                what + " throws \"" + e.what() + "\"");
  }
}

plan plan_of(std::uint64_t blocks, std::uint32_t probes) {
  plan p;
  p.shape = {.kind = filter_kind::blocked,
             .probes = probes,
             .block_bits = bits_per_block,
             .bits = blocks * bits_per_block};
  p.keys = blocks * 50;
  return p;
}

// Keys in each of the three forms, on both sides.
struct some_keys {
  key_batch::form form;
  std::uint64_t seed;
  std::vector<std::uint64_t> hashes;  // by the host's functions
  std::vector<std::uint64_t> numbers;
  std::string text;
  std::vector<std::uint64_t> offsets;
  device_array<std::uint64_t> device_numbers;
  device_array<char> device_text;
  device_array<std::uint64_t> device_offsets;

  [[nodiscard]] std::size_t size() const { return hashes.size(); }
  [[nodiscard]] key_batch batch() const {
    if (form == key_batch::form::strings) {
      return key_batch::strings(device_text.data(), device_offsets.data(), size(), seed);
    }
    if (form == key_batch::form::hashes) return key_batch::hashes(device_numbers.data(), size());
    return key_batch::integers(device_numbers.data(), size(), seed);
  }
};

std::vector<std::uint64_t> numbers_of(std::size_t count, std::uint64_t start) {
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = splitmix64(start + i);
  return numbers;
}

some_keys make_keys(key_batch::form form, std::size_t count, std::uint64_t start,
                    std::uint64_t seed) {
  const xxh3_hasher hasher(seed);
  std::vector<std::uint64_t> numbers = numbers_of(count, start);
  std::vector<std::uint64_t> hashes;
  std::string text;
  std::vector<std::uint64_t> offsets = {0};
  for (std::size_t i = 0; i < count; ++i) {
    if (form == key_batch::form::strings) {
      // Every length from 0 to 1100 in turn, most of them short.
      const std::size_t size = i % 7 == 0 ? i / 7 % 1100 : i % 24;
      for (std::size_t j = 0; j < size; ++j) {
        text.push_back(static_cast<char>(splitmix64(numbers[i] + j)));
      }
      hashes.push_back(hasher.bytes(text.data() + offsets.back(), size));
      offsets.push_back(text.size());
    } else {
      hashes.push_back(form == key_batch::form::hashes ? numbers[i] : hasher.integer(numbers[i]));
    }
  }
  return {form,
          seed,
          std::move(hashes),
          numbers,
          text,
          offsets,
          device_array<std::uint64_t>(std::span<const std::uint64_t>(numbers)),
          device_array<char>(std::span<const char>(text)),
          device_array<std::uint64_t>(std::span<const std::uint64_t>(offsets))};
}

std::vector<std::uint64_t> words_of(const blocked_view& f) {
  std::vector<std::uint64_t> words(f.bytes() / 8);
  f.download(words, nullptr);
  must(cudaDeviceSynchronize(), "download");
  return words;
}

bool same_words(const blocked_view& f, const bloomery::blocked_view& host) {
  return std::ranges::equal(words_of(f), host.words());
}

std::uint64_t bits_of(const blocked_view& f) {
  device_array<std::uint64_t> bits(1);
  f.count_bits(bits.data(), nullptr);
  return bits.host()[0];
}

void check_answers(const blocked_view& f, const bloomery::blocked_view& host, const some_keys& keys,
                   expect e, const std::string& what) {
  const std::size_t n = keys.size();
  std::vector<std::uint64_t> bitmap((n + 63) / 64);
  host.contains_bits(keys.hashes, bitmap);
  device_array<std::uint64_t> bits(bitmap.size());
  bits.fill(0xa5);
  f.contains_bits(keys.batch(), bits.data(), nullptr, e);
  expect_true(bits.host() == bitmap, what + ": bitmap");

  std::vector<std::uint8_t> bytes(n);
  host.contains_bytes(keys.hashes, bytes);
  device_array<std::uint8_t> device_bytes(n);
  device_bytes.fill(0xa5);
  f.contains_bytes(keys.batch(), device_bytes.data(), nullptr, e);
  expect_true(device_bytes.host() == bytes, what + ": bytes");

  std::vector<std::uint32_t> indexes(n);
  indexes.resize(host.contains_indexes(keys.hashes, indexes));
  device_array<std::uint32_t> device_indexes(n);
  device_array<std::uint64_t> found(1);
  found.fill(0xa5);
  f.contains_indexes(keys.batch(), device_indexes.data(), found.data(), nullptr, e);
  std::vector<std::uint32_t> got = device_indexes.host();
  expect_true(found.host()[0] == indexes.size(), what + ": number of indexes");
  got.resize(std::min<std::size_t>(n, found.host()[0]));
  std::ranges::sort(got);
  expect_true(got == indexes, what + ": indexes");

  found.fill(0xa5);
  f.contains_count(keys.batch(), found.data(), nullptr, e);
  expect_true(found.host()[0] == indexes.size(), what + ": count");
}

void check_filter(std::uint64_t blocks, std::uint32_t probes, std::size_t n, key_batch::form form) {
  const std::string what = std::to_string(blocks) + " blocks, " + std::to_string(probes) +
                           " probes, " + std::to_string(n) + " keys, form " +
                           std::to_string(static_cast<int>(form));
  const std::uint64_t seed = n % 3 == 0 ? 0 : splitmix64(n);
  const some_keys keys = make_keys(form, n, 1, seed);
  const plan p = plan_of(blocks, probes);
  bloomery::blocked_filter host(p);
  host.add_batch(keys.hashes);

  blocked_filter f(p);
  f.add(keys.batch(), nullptr);
  expect_true(same_words(f, host), what + ": words after add");
  expect_true(bits_of(f) == bloomery::count_bits(host.words()), what + ": bits");
  check_answers(f, host, keys, expect::mostly_absent, what + ", present");
  check_answers(f, host, keys, expect::mostly_present, what + ", present, expected");
  const some_keys others = make_keys(form, n + 5, n + 1, seed);
  check_answers(f, host, others, expect::mostly_absent, what + ", absent");
  check_answers(f, host, others, expect::mostly_present, what + ", absent, four threads");

  // Adding what is there changes nothing; looking first adds the same.
  f.add(keys.batch(), nullptr, {}, expect::mostly_present);
  expect_true(same_words(f, host), what + ": words after adding again");
  f.clear(nullptr);
  expect_true(bits_of(f) == 0, what + ": clear");
  f.add(keys.batch(), nullptr, {}, expect::mostly_present);
  expect_true(same_words(f, host), what + ": words after looking first");

  blocked_filter second(p);
  second.add(others.batch(), nullptr);
  second.merge(f, nullptr);
  host.add_batch(others.hashes);
  expect_true(same_words(second, host), what + ": merge");

  blocked_filter copy(host);
  expect_true(same_words(copy, host), what + ": upload");
  expect_true(copy.download(n, nullptr) == host, what + ": download");
}

// Adding by ranges, against adding key by key on the host.
void check_ranges(std::uint64_t blocks, std::uint32_t probes, std::size_t n, key_batch::form form,
                  int skew) {
  const std::string what = "by ranges: " + std::to_string(blocks) + " blocks, " +
                           std::to_string(probes) + " probes, " + std::to_string(n) +
                           " keys, form " + std::to_string(static_cast<int>(form)) + ", skew " +
                           std::to_string(skew);
  some_keys keys = make_keys(form, n, 77, 5);
  if (skew != 0) {  // every skew-th key is the first
    std::vector<std::uint64_t> numbers = keys.numbers;
    for (std::size_t i = 0; i < n; i += static_cast<std::size_t>(skew)) numbers[i] = numbers[0];
    for (std::size_t i = 0; i < n; ++i) {
      keys.hashes[i] =
          form == key_batch::form::hashes ? numbers[i] : xxh3_hasher(5).integer(numbers[i]);
    }
    must(cudaMemcpy(keys.device_numbers.data(), numbers.data(), n * 8, cudaMemcpyHostToDevice),
         "cudaMemcpy");
  }
  const plan p = plan_of(blocks, probes);
  bloomery::blocked_filter host(p);
  // Some keys beforehand: what is there must stay.
  const some_keys before = make_keys(key_batch::form::hashes, 10000, 999999, 0);
  host.add_batch(before.hashes);
  blocked_filter f(host);
  host.add_batch(keys.hashes);
  const std::size_t bytes = f.add_scratch_bytes(n);
  expect_true(bytes > 0, what + ": wants scratch");
  for (const std::size_t given : {bytes, bytes * 2 / 3}) {
    device_array<std::uint8_t> memory(given);
    memory.fill(0xa5);
    f.add(keys.batch(), nullptr, {.memory = memory.data(), .bytes = given});
    expect_true(same_words(f, host), what + ": words");
    f.clear(nullptr);
    f.add(before.batch(), nullptr);
  }
}

// Three levels of bins: a filter that is too large for the host is compared with itself.
void check_large() {
  const std::uint64_t blocks = std::uint64_t{320} << 20U;
  const std::size_t n = blocks;  // fewer would be added key by key
  const some_keys keys = make_keys(key_batch::form::hashes, n, 5, 9);
  const plan p = plan_of(blocks, 6);
  blocked_filter plain(p);
  plain.add(keys.batch(), nullptr);
  blocked_filter f(p);
  device_array<std::uint8_t> memory(f.add_scratch_bytes(n));
  expect_true(memory.size() > 0, "20 GiB: wants scratch");
  f.add(keys.batch(), nullptr, {.memory = memory.data(), .bytes = memory.size()});
  const std::uint64_t bits = bits_of(plain);
  expect_true(bits_of(f) == bits, "20 GiB: bits");
  f.merge(plain, nullptr);
  expect_true(bits_of(f) == bits, "20 GiB: the same bits");
  device_array<std::uint64_t> found(1);
  f.contains_count(keys.batch(), found.data(), nullptr);
  expect_true(found.host()[0] == n, "20 GiB: all keys are there");
}

void check_files() {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "gpu_check.bloom";
  const std::filesystem::path back = std::filesystem::temp_directory_path() / "gpu_back.bloom";
  const some_keys keys = make_keys(key_batch::form::strings, 5000, 3, 11);
  keyed<bloomery::blocked_filter> host(options{.keys = 5000, .fpr = 0.001, .seed = 11});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    host.add(
        std::string_view(keys.text).substr(keys.offsets[i], keys.offsets[i + 1] - keys.offsets[i]));
  }
  save(host, path);
  const auto mapped = map<keyed<bloomery::blocked_filter>>(path);
  const blocked_filter f(mapped->filter());
  check_answers(f, host.filter(), keys, expect::mostly_present, "a mapped file");

  blocked_filter made(host.filter().planned());
  made.add(keys.batch(), nullptr);
  const keyed<bloomery::blocked_filter> again(made.download(keys.size(), nullptr), xxh3_hasher(11),
                                              host.hash().form);
  save(again, back);
  const auto size = std::filesystem::file_size(path);
  std::string first(size, 'a');
  std::string second(size, 'b');
  const auto read = [](const std::filesystem::path& from, std::string& to) {
    std::FILE* const file = std::fopen(from.c_str(), "rb");
    if (file == nullptr) return false;
    const bool whole = std::fread(to.data(), 1, to.size(), file) == to.size();
    return std::fclose(file) == 0 && whole;
  };
  expect_true(size == std::filesystem::file_size(back) && read(path, first) && read(back, second) &&
                  first == second,
              "a file made on the GPU is the host's, byte for byte");
  std::filesystem::remove(path);
  std::filesystem::remove(back);
}

void check_borrowed() {
  const some_keys keys = make_keys(key_batch::form::hashes, 3000, 3, 0);
  const plan p = plan_of(500, 7);
  bloomery::blocked_filter host(p);
  host.add_batch(keys.hashes);
  device_array<std::uint64_t> words(500 * 8);
  const blocked_span span(p, words.data());
  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
  span.clear(s);
  span.add(keys.batch(), s);
  must(cudaStreamSynchronize(s), "cudaStreamSynchronize");
  expect_true(same_words(span, host), "borrowed words, a stream of the caller's");
  must(cudaStreamDestroy(s), "cudaStreamDestroy");
  check_answers(blocked_view(p, words.data()), host, keys, expect::mostly_absent, "a view");

  blocked_filter one(p);
  one.add(keys.batch(), nullptr);
  blocked_filter two = std::move(one);
  expect_true(same_words(two, host), "moved");
  blocked_filter three(plan_of(9, 3));
  three = std::move(two);
  expect_true(same_words(three, host), "moved by assignment");
}

// Hashes from the host, in calls of any size and pieces that they do not fill.
void check_host_keys(std::size_t count, std::size_t piece) {
  const std::string what =
      std::to_string(count) + " hashes from the host in pieces of " + std::to_string(piece);
  const plan p = plan_of(1 + count / 50, 6);
  bloomery::blocked_filter host(p);
  blocked_filter device(p);
  const std::vector<std::uint64_t> hashes = numbers_of(count, 11);
  const std::span<const std::uint64_t> all = hashes;
  host_keys keys(device, piece);
  std::size_t first = 0;
  for (std::size_t call = 0; first < count; ++call) {
    const std::size_t size = std::min(count - first, call * call % 301);
    keys.add(all.subspan(first, size));
    first += size;
  }
  for (const std::uint64_t hash : hashes) host.add(hash);
  keys.finish();
  const std::span<const std::uint64_t> expected = host.words();
  expect_true(std::ranges::equal(words_of(device), expected), what + ": words");

  const std::vector<std::uint64_t> asked = numbers_of(count, 11 + count / 2);
  std::vector<std::uint64_t> answers((count + 63) / 64, ~std::uint64_t{0});
  keys.contains_bits(asked, answers);
  bool same = true;
  for (std::size_t i = 0; i < count; ++i) {
    same &= ((answers[i / 64] >> (i % 64)) & 1U) == (host.contains(asked[i]) ? 1U : 0U);
  }
  expect_true(same, what + ": answers");
  expect_true(keys.moved().hashes == 2 * count && keys.moved().copy_seconds >= 0, what + ": moved");
}

void check_errors() {
  plan p = plan_of(100, 6);
  device_array<std::uint64_t> words(1000);
  p.shape.kind = filter_kind::classic;
  p.shape.block_bits = 0;
  expect_error(errc::bad_argument, "another kind", [&] { blocked_filter f(p); });
  p = plan_of(100, 17);
  expect_error(errc::bad_argument, "17 probes", [&] { blocked_filter f(p); });
  p = plan_of(100, 6);
  p.shape.shard = {.index = 1, .count = 4};
  expect_error(errc::unsupported, "a shard", [&] { blocked_view f(p, words.data()); });
  p = plan_of(std::uint64_t{1} << 33U, 6);
  expect_error(errc::unsupported, "512 GiB", [&] { blocked_view f(p, words.data()); });
  p = plan_of((std::uint64_t{1} << 32U) - 1, 6);
  expect_error(errc::no_memory, "256 GiB", [&] { blocked_filter f(p); });
  p = plan_of(100, 6);
  expect_error(errc::bad_argument, "unaligned words", [&] { blocked_view f(p, words.data() + 1); });
  expect_error(errc::bad_argument, "no words", [&] {
    const std::uint64_t* none = nullptr;
    blocked_view f(p, none);
  });
  const blocked_filter f(p);
  const blocked_filter other(plan_of(101, 6));
  expect_error(errc::mismatch, "another shape", [&] { f.merge(other, nullptr); });
  std::vector<std::uint64_t> host(799);
  expect_error(errc::bad_argument, "too few words down", [&] { f.download(host, nullptr); });
  expect_error(errc::bad_argument, "too few words up", [&] { f.upload(host, nullptr); });
  expect_error(errc::bad_argument, "unaligned scratch", [&] {
    f.add(key_batch::hashes(words.data(), 10), nullptr, {.memory = words.data() + 1, .bytes = 100});
  });
  // An empty batch is no error.
  f.add(key_batch::hashes(nullptr, 0), nullptr);
  f.contains_bits(key_batch::hashes(nullptr, 0), nullptr, nullptr);
  must(cudaDeviceSynchronize(), "an empty batch");
}

int run(bool small) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("device_check: skipped, there is no GPU\n");
    return 77;
  }
  using form = key_batch::form;
  for (const form f : {form::integers, form::hashes, form::strings}) {
    for (const std::size_t n : {1U, 31U, 32U, 33U, 63U, 64U, 65U, 257U, 5000U}) {
      check_filter(77, 6, n, f);
    }
    check_filter(1, 16, 3, f);
    check_filter(2, 1, 1000, f);
    if (small) continue;
    for (std::uint32_t probes = 1; probes <= 16; ++probes) check_filter(1000, probes, 20000, f);
    for (const std::uint64_t blocks : {3ULL, 100003ULL, 1ULL << 20U, 1500007ULL}) {
      check_filter(blocks, 6, 200000, f);
    }
  }
  check_ranges(3, 6, 1U << 20U, form::integers, 0);
  check_ranges(1U << 14U, 6, 1100000, form::hashes, small ? 3 : 0);
  if (!small) {
    for (const std::uint64_t blocks : {1ULL, 300ULL, 65537ULL, 262144ULL, 1000003ULL}) {
      for (const form f : {form::integers, form::hashes}) {
        check_ranges(blocks, 6, 3000001, f, 0);
        check_ranges(blocks, 11, 2100000, f, 2);
        check_ranges(blocks, 6, 2100000, f, 1);
      }
    }
    check_ranges(50000, 8, 1200000, form::strings, 0);
    check_large();
  }
  check_files();
  check_borrowed();
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{64},
                                  std::size_t{5000}, std::size_t{small ? 20'000U : 3'000'000U}}) {
    check_host_keys(count, 1024);
    check_host_keys(count, std::size_t{1} << 18U);
  }
  check_errors();
  must(cudaDeviceSynchronize(), "the end");
  std::printf("device_check%s: %d checks, %d failed\n", small ? " --small" : "", checks, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace bloomery::gpu

int main(int argc, char** argv) {
  return bloomery::gpu::run(argc > 1 && std::strcmp(argv[1], "--small") == 0);
}
