// Arbitrary words as the payload of every kind that has more in it than bits: refused with an error
// of ours, or accepted and then asked, changed and written again without harm.
//
//     byte 0       which kind
//     byte 1       keys of the valid filter that is patched
//     byte 2       patches
//     then each    2 bytes word (from the front when even, from the back when odd), 1 byte what:
//                  0 and 1 another value from 8 bytes, 2 a small one, 3 one bit flipped
//     then 2 bytes the length in words is cut by so much, or not when 0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/bloomery.hpp"
#include "input.hpp"

namespace {

using namespace bloomery;
using bloomery_fuzz::input;
using bloomery_fuzz::require;

constexpr std::array kinds = {filter_kind::counting, filter_kind::scalable,  filter_kind::windowed,
                              filter_kind::cuckoo,   filter_kind::fuse,      filter_kind::ribbon,
                              filter_kind::bloomier, filter_kind::count_min, filter_kind::spectral,
                              filter_kind::top_k,    filter_kind::layered};

std::vector<std::string> words(std::size_t count) {
  std::vector<std::string> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back("key " + std::to_string(i));
  return all;
}

any_filter valid_filter(filter_kind kind, std::size_t keys) {
  const auto all = words(keys);
  const std::vector<std::string_view> views(all.begin(), all.end());
  const auto hash = erase(xxh3_hasher(1));
  std::vector<std::uint64_t> hashes(keys);
  hash->hash(views, hashes);
  // A few layers and generations: planned for less than it gets.
  const std::uint64_t planned = std::max<std::uint64_t>(1, keys / 4);
  // A scalable filter has cells of another width at each rate.
  constexpr std::array rates = {0.1, 0.01, 0.001, 0.0001};
  const double fpr = rates[keys % rates.size()];
  sizing::request wanted = {.kind = kind, .keys = planned, .fpr = fpr};
  if (kind == filter_kind::count_min && keys % 2 == 1) wanted.variant = sizing::count_min_one_line;
  const plan p = sizing::make_plan(wanted);
  if (!abilities_of(kind).add) {
    std::vector<std::uint64_t> values;
    if (kind == filter_kind::bloomier) values.assign(keys, 3);
    return any_filter::build(p, hash, hashes, values);
  }
  any_filter f(p, hash);
  f->add_hashes(hashes, views);
  return f;
}

std::vector<std::uint64_t> joined(const any_filter& f) {
  std::vector<std::uint64_t> all;
  for (const auto part : f->parts()) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void patch_words(std::vector<std::uint64_t>& payload, input& in) {
  for (std::uint64_t patches = in.take(1) % 16; patches > 0 && !in.empty(); --patches) {
    const std::uint64_t where = in.take(2);
    const std::size_t from_end = static_cast<std::size_t>(where / 2 % payload.size());
    std::uint64_t& word = payload[where % 2 == 0 ? from_end : payload.size() - 1 - from_end];
    const std::uint64_t what = in.take(1) % 4;
    if (what < 2) word = in.take(8);
    if (what == 2) word = in.take(1);
    if (what == 3) word ^= std::uint64_t{1} << (in.take(1) % 64);
  }
  const std::uint64_t cut = in.take(2);
  if (cut != 0) payload.resize(payload.size() - static_cast<std::size_t>(cut % payload.size()));
}

void use(const image_header& header, const std::vector<std::uint64_t>& payload) {
  any_filter f = any_filter::copy_of({.header = header, .words = payload});
  // What was accepted is written as it was read, but for generations that time has wiped.
  if (header.planned.shape.kind != filter_kind::windowed) require(joined(f) == payload);
  const auto all = words(200);
  const std::vector<std::string_view> keys(all.begin(), all.end());
  std::vector<std::uint64_t> bitmap(4);
  f.contains_bits(keys, bitmap);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    require(f.contains(keys[i]) == (((bitmap[i / 64] >> (i % 64)) & 1U) != 0));
  }
  require(f.fpr() >= 0 && f.fpr() <= 1.0000001);
  require(f->fill() >= 0);
  std::vector<std::uint64_t> numbers(keys.size());
  if (f.can().count) f.count(keys, numbers);
  if (f.can().value) f.value(keys, numbers, bitmap);
  f->advance(1'000'000);
  if (f.can().add) f.add(keys);
  if (f.can().remove) f.remove(keys);
  static_cast<void>(joined(f));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input in(data, size);
  const filter_kind kind = kinds[static_cast<std::size_t>(in.take(1) % kinds.size())];
  const any_filter f = valid_filter(kind, static_cast<std::size_t>(in.take(1)));
  std::vector<std::uint64_t> payload = joined(f);
  patch_words(payload, in);
  image_header header = f.header();
  header.planned.shape.bits = payload.size() * 64;
  try {
    use(header, payload);
  } catch (const error& e) {
    const errc code = e.code();
    require(code == errc::corrupt || code == errc::bad_argument || code == errc::full ||
            code == errc::no_memory);
  }
  return 0;
}
