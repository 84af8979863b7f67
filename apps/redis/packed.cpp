#include "packed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

namespace bloomery_redis {

namespace {

constexpr std::size_t most_words = 512;
constexpr std::size_t map_words = most_words / 64;  // a bit for each word

std::size_t words_of_map(std::size_t words) { return (words + 63) / 64; }

bool same(const bloomery::image_header& a, const bloomery::image_header& b) {
  return a.planned.shape == b.planned.shape && a.planned.keys == b.planned.keys &&
         std::bit_cast<std::uint64_t>(a.planned.fpr_target) ==
             std::bit_cast<std::uint64_t>(b.planned.fpr_target) &&
         std::bit_cast<std::uint64_t>(a.planned.fpr) ==
             std::bit_cast<std::uint64_t>(b.planned.fpr) &&
         a.hash == b.hash;
}

std::size_t name_of(const bloomery::image_header& h) {
  std::size_t name = h.planned.shape.bits;
  for (const std::uint64_t part :
       {h.planned.keys, std::bit_cast<std::uint64_t>(h.planned.fpr_target), h.hash.seed}) {
    name = (name ^ part) * 0x9e3779b97f4a7c15U;
    name ^= name >> 29U;
  }
  return name;
}

}  // namespace

struct packed_filter::common {
  bloomery::image_header header;
  std::shared_ptr<const bloomery::any_hasher> hash;
  fact_list facts;
  mutable std::uint64_t users = 0;
};

// All that values have in common. Values are freed in other threads, too.
class commons {
 public:
  using common = packed_filter::common;

  const common* take(const bloomery::any_filter& f, const bloomery::image_header& header,
                     const fact_list& facts) {
    const std::scoped_lock lock(guard_);
    const std::size_t name = name_of(header);
    const auto [first, last] = all_.equal_range(name);
    for (auto known = first; known != last; ++known) {
      if (!same(known->second->header, header)) continue;
      ++known->second->users;
      return known->second.get();
    }
    auto made = std::make_unique<common>(
        common{.header = header, .hash = f.hasher(), .facts = facts, .users = 1});
    return all_.emplace(name, std::move(made))->second.get();
  }
  void give(const common* c) noexcept {
    const std::scoped_lock lock(guard_);
    if (--c->users != 0) return;
    const auto [first, last] = all_.equal_range(name_of(c->header));
    const auto found =
        std::find_if(first, last, [&](const auto& known) { return known.second.get() == c; });
    if (found != last) all_.erase(found);
  }

  [[nodiscard]] std::mutex& guard() noexcept { return guard_; }

  static commons& get() {
    static commons& all = *new commons;  // stays: a thread may free values while the server ends
    return all;
  }

 private:
  std::mutex guard_;
  std::unordered_multimap<std::size_t, std::unique_ptr<common>> all_;
};

void packed_filter::deleter::operator()(packed_filter* p) const noexcept {
  commons::get().give(p->shared_);
  ::operator delete(p);
}

void packed_filter::lock_all() { commons::get().guard().lock(); }
void packed_filter::unlock_all() { commons::get().guard().unlock(); }

bool packed_filter::fits(const bloomery::any_filter& f) noexcept {
  return f.shape().bits <= most_words * 64 && f.hasher() != nullptr;
}

std::size_t packed_filter::bytes() const noexcept {
  const std::size_t map = sparse_ ? words_of_map(words_) : 0;
  return sizeof(packed_filter) + (map + kept_) * sizeof(std::uint64_t);
}

packed_filter::pointer packed_filter::pack(const bloomery::any_filter& f, const fact_list& facts) {
  bloomery::image_header header = f.header();
  if (!fits(f)) return nullptr;
  std::array<std::uint64_t, most_words> words{};
  std::size_t count = 0;
  for (const auto part : f->parts()) {
    if (part.size() > most_words - count) return nullptr;
    std::copy(part.begin(), part.end(), words.begin() + static_cast<std::ptrdiff_t>(count));
    count += part.size();
  }
  std::array<std::uint64_t, map_words> map{};
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i] == 0) continue;
    map[i / 64] |= std::uint64_t{1} << (i % 64);
    ++used;
  }
  packed_filter head;
  head.keys_ = std::exchange(header.keys, 0);
  head.shared_ = commons::get().take(f, header, facts);
  head.words_ = static_cast<std::uint16_t>(count);
  head.sparse_ = words_of_map(count) + used < count;
  head.kept_ = static_cast<std::uint16_t>(head.sparse_ ? used : count);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i] != head.shared_->facts[i]) head.own_facts_ |= std::uint16_t{1} << i;
  }
  void* place = nullptr;
  try {
    const auto own = static_cast<std::size_t>(std::popcount(head.own_facts_));
    place = ::operator new(head.bytes() + own * sizeof(std::uint64_t));
  } catch (...) {
    commons::get().give(head.shared_);
    throw;
  }
  pointer made(new (place) packed_filter(head));
  auto* to = reinterpret_cast<std::uint64_t*>(made.get() + 1);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (((head.own_facts_ >> i) & 1U) != 0) *to++ = facts[i];
  }
  if (!head.sparse_) {
    std::copy_n(words.begin(), count, to);
    return made;
  }
  to = std::copy_n(map.begin(), words_of_map(count), to);
  std::copy_if(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), to,
               [](std::uint64_t word) { return word != 0; });
  return made;
}

dumped packed_filter::unpack() const {
  fact_list facts = shared_->facts;
  const std::uint64_t* from = data();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (((own_facts_ >> i) & 1U) != 0) facts[i] = *from++;
  }
  bloomery::image_header header = shared_->header;
  header.keys = keys_;
  const auto filter_of = [&](std::span<const std::uint64_t> words) {
    return bloomery::any_filter::copy_of({.header = header, .words = words}, shared_->hash);
  };
  if (!sparse_) return {.filter = filter_of({from, words_}), .facts = facts};
  std::array<std::uint64_t, most_words> words{};
  const std::uint64_t* const map = from;
  from += words_of_map(words_);
  for (std::size_t w = 0; w < words_of_map(words_); ++w) {
    for (std::uint64_t rest = map[w]; rest != 0; rest &= rest - 1) {
      words[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))] = *from++;
    }
  }
  return {.filter = filter_of(std::span(words).first(words_)), .facts = facts};
}

}  // namespace bloomery_redis
