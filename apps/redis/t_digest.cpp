// The family TDIGEST: quantiles of numbers. The data type and what a database file holds are those
// of RedisBloom, centroids and nothing else, so keys go from one module to the other and back.
#include "bloomery/sketch/t_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "command.hpp"
#include "families.hpp"

namespace bloomery_redis {

namespace {

using bloomery::centroid;
using bloomery::t_digest;

api::type* digest_type = nullptr;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// ---- keys

class digest_key {
 public:
  digest_key(const call& c, std::size_t argument, int mode)
      : key_(api::OpenKey(c.ctx, c.args[argument], mode)) {}
  digest_key(const digest_key&) = delete;
  digest_key& operator=(const digest_key&) = delete;
  ~digest_key() {
    if (key_ != nullptr) api::CloseKey(key_);
  }

  [[nodiscard]] t_digest* find() const {  // null for a missing key; refuses another type
    if (key_ == nullptr || api::KeyType(key_) == api::key_empty) return nullptr;
    if (api::ModuleTypeGetType(key_) != digest_type) throw refusal(wrong_type);
    return static_cast<t_digest*>(api::ModuleTypeGetValue(key_));
  }
  [[nodiscard]] t_digest& get() const {
    t_digest* const d = find();
    if (d == nullptr) throw refusal("ERR T-Digest: key does not exist");
    return *d;
  }
  void set(std::unique_ptr<t_digest> d) { api::ModuleTypeSetValue(key_, digest_type, d.release()); }

 private:
  api::key* key_;
};

void tell_change(const call& c, const char* event) {
  api::SignalModifiedKey(c.ctx, c.args[1]);
  api::NotifyKeyspaceEvent(c.ctx, api::notify_module, event, c.args[1]);
}

// ---- database files

// The fields are RedisBloom's, which writes a digest after a pass over all of it. A digest of ours
// goes on from where it is, or a replica would make its passes at other moments than its master. So
// the nodes are written as they are, in order, which RedisBloom reads as well. Whether a pass is
// due is the sign of a zero, the weight of what is not merged; to RedisBloom it is zero anyway.
void save(api::io* to, void* v) {
  const t_digest& d = *static_cast<t_digest*>(v);
  const auto all = d.nodes();
  const bool empty = all.empty();
  api::SaveDouble(to, d.compression());
  // RedisBloom's empty ones begin with the largest number there is, and with the least.
  api::SaveDouble(to, empty ? std::numeric_limits<double>::max() : d.least());
  api::SaveDouble(to, empty ? -std::numeric_limits<double>::max() : d.largest());
  api::SaveSigned(to, static_cast<std::int64_t>(d.capacity()));
  api::SaveSigned(to, static_cast<std::int64_t>(all.size()));
  api::SaveSigned(to, 0);  // how many are not merged
  api::SaveSigned(to, static_cast<std::int64_t>(d.compressions()));
  api::SaveDouble(to, d.total());
  api::SaveDouble(to, d.buffered() > 0 ? -0.0 : 0.0);
  for (const centroid& c : all) api::SaveDouble(to, c.mean);
  for (const centroid& c : all) api::SaveDouble(to, c.weight);
}

std::unique_ptr<t_digest> read(api::io* from) {
  const auto checked = [&](auto field) {
    if (api::IsIOError(from) != 0) {
      throw bloomery::error(bloomery::errc::corrupt, "the file ends, or has another field");
    }
    return field;
  };
  const double compression = checked(api::LoadDouble(from));
  const double least = checked(api::LoadDouble(from));
  const double largest = checked(api::LoadDouble(from));
  static_cast<void>(checked(api::LoadSigned(from)));  // its capacity
  const std::int64_t count = checked(api::LoadSigned(from));
  static_cast<void>(checked(api::LoadSigned(from)));  // how many are not merged
  const std::int64_t passes = checked(api::LoadSigned(from));
  static_cast<void>(checked(api::LoadDouble(from)));  // the weight of what is merged
  const bool due = std::signbit(checked(api::LoadDouble(from)));
  std::vector<centroid> all;  // grows with what is there, not with what is announced
  for (std::int64_t i = 0; i < count; ++i) all.push_back({.mean = checked(api::LoadDouble(from))});
  for (centroid& c : all) c.weight = checked(api::LoadDouble(from));
  return std::make_unique<t_digest>(
      compression, all, least, largest,
      t_digest::pass_state{.made = static_cast<std::uint64_t>(passes), .due = due});
}

void* load(api::io* from, int encoding) {
  try {
    if (encoding != 0) {
      throw bloomery::error(bloomery::errc::unsupported, "it was written by a newer version");
    }
    return read(from).release();
  } catch (const std::exception& e) {
    api::LogIOError(from, "warning", "bloomery: cannot load a key: %s", e.what());
    return nullptr;
  }
}

// For the append-only file: numbers of eight bytes, and XXH3 at the end. The passes that were made,
// doubled, and one more if another is due, come before the nodes.
std::string to_bytes(const t_digest& d) {
  std::string bytes;
  const auto put = [&](std::uint64_t word) {
    const std::uint64_t stored = bloomery::detail::little_endian(word);
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  };
  for (const double x : {d.compression(), d.least(), d.largest()}) {
    put(std::bit_cast<std::uint64_t>(x));
  }
  put(d.compressions() << 1U | (d.buffered() > 0 ? 1U : 0U));
  for (const centroid& c : d.nodes()) {
    put(std::bit_cast<std::uint64_t>(c.mean));
    put(std::bit_cast<std::uint64_t>(c.weight));
  }
  put(XXH3_64bits(bytes.data(), bytes.size()));
  return bytes;
}

std::unique_ptr<t_digest> from_bytes(std::string_view bytes) {
  constexpr std::size_t word_bytes = 8;
  constexpr std::size_t first_node = 4;
  constexpr std::size_t least_words = first_node + 1;
  const std::size_t words = bytes.size() / word_bytes;
  const auto word = [&](std::size_t i) {
    std::uint64_t stored = 0;
    std::memcpy(&stored, bytes.data() + i * word_bytes, word_bytes);
    return bloomery::detail::little_endian(stored);
  };
  if (bytes.size() % word_bytes != 0 || words < least_words || words % 2 == 0 ||
      word(words - 1) != XXH3_64bits(bytes.data(), bytes.size() - word_bytes)) {
    throw refusal("ERR received bad data");
  }
  const auto real = [&](std::size_t i) { return std::bit_cast<double>(word(i)); };
  std::vector<centroid> all;
  for (std::size_t i = first_node; i + 2 < words; i += 2) all.push_back({real(i), real(i + 1)});
  return std::make_unique<t_digest>(
      real(0), all, real(1), real(2),
      t_digest::pass_state{.made = word(3) >> 1U, .due = (word(3) & 1U) != 0});
}

api::type_methods methods() {
  api::type_methods m;
  m.rdb_load = load;
  m.rdb_save = save;
  m.aof_rewrite = [](api::io* to, api::string* key, void* v) {
    const std::string bytes = to_bytes(*static_cast<t_digest*>(v));
    api::EmitAOF(to, "TDIGEST.LOAD", "sb", key, bytes.data(), bytes.size());
  };
  m.digest = [](api::digest* into, void* v) {
    const std::string bytes = to_bytes(*static_cast<t_digest*>(v));
    api::DigestAddStringBuffer(into, bytes.data(), bytes.size());
    api::DigestEndSequence(into);
  };
  m.mem_usage = [](const void* v) {
    return sizeof(t_digest) + static_cast<const t_digest*>(v)->memory_bytes();
  };
  m.free = [](void* v) { delete static_cast<t_digest*>(v); };
  m.copy = [](api::string*, api::string*, const void* v) -> void* {
    try {
      return new t_digest(*static_cast<const t_digest*>(v));
    } catch (const std::exception&) {
      return nullptr;
    }
  };
  return m;
}

// ---- made and changed

double read_compression(const call& c, std::size_t i) {
  const auto n = c.integer(i);
  if (!n) throw refusal("ERR T-Digest: error parsing compression parameter");
  if (*n <= 0) throw refusal("ERR T-Digest: compression parameter needs to be a positive integer");
  if (static_cast<double>(*n) > t_digest::most_compression) {
    if (c.is_replayed()) return t_digest::most_compression;  // other modules have more
    throw refusal("ERR T-Digest: allocation failed");
  }
  return static_cast<double>(*n);
}

void create(const call& c) {
  if (c.size() != 2 && c.size() != 4) {
    api::WrongArity(c.ctx);
    return;
  }
  digest_key key(c, 1, api::read_write);
  if (key.find() != nullptr) throw refusal("ERR T-Digest: key already exists");
  if (c.size() == 4 && !c.is(2, "COMPRESSION")) throw refusal("ERR T-Digest: wrong keyword");
  const double compression = c.size() == 4 ? read_compression(c, 3) : t_digest::usual_compression;
  key.set(std::make_unique<t_digest>(compression));
  api::ReplicateVerbatim(c.ctx);
  tell_change(c, "tdigest.create");
  reply_ok(c);
}

void reset(const call& c) {
  const digest_key key(c, 1, api::read_write);
  key.get().clear();
  api::ReplicateVerbatim(c.ctx);
  tell_change(c, "tdigest.reset");
  reply_ok(c);
}

void add(const call& c) {
  static std::vector<double> numbers;
  const digest_key key(c, 1, api::read_write);
  t_digest& d = key.get();
  numbers.clear();
  for (std::size_t i = 2; i < c.size(); ++i) {
    const auto x = c.real(i);
    if (!x || std::isnan(*x)) throw refusal("ERR T-Digest: error parsing val parameter");
    if (std::isinf(*x)) throw refusal("ERR T-Digest: val parameter needs to be a finite number");
    numbers.push_back(*x);
  }
  d.add_batch(numbers);
  api::ReplicateVerbatim(c.ctx);
  tell_change(c, "tdigest.add");
  reply_ok(c);
}

struct merging {
  std::size_t sources = 0;
  double compression = 0;  // 0 for none given
  bool override = false;
};

merging read_merge(const call& c) {
  merging m;
  const auto n = c.integer(2);
  if (!n) throw refusal("ERR T-Digest: error parsing numkeys");
  if (*n <= 0) throw refusal("ERR T-Digest: numkeys needs to be a positive integer");
  if (static_cast<std::uint64_t>(*n) > c.size() - 3) {
    throw refusal("ERR wrong number of arguments for 'tdigest.merge' command");
  }
  m.sources = static_cast<std::size_t>(*n);
  for (std::size_t i = 3 + m.sources; i < c.size(); ++i) {
    if (c.is(i, "OVERRIDE")) {
      m.override = true;
    } else if (c.is(i, "COMPRESSION")) {
      if (i + 1 >= c.size()) {
        throw refusal("ERR wrong number of arguments for 'tdigest.merge' command");
      }
      m.compression = read_compression(c, ++i);
    } else {
      throw refusal("ERR T-Digest: wrong keyword");
    }
  }
  return m;
}

void merge(const call& c) {
  const merging m = read_merge(c);
  std::vector<t_digest> parts;
  {
    const digest_key key(c, 1, api::read_only);
    const t_digest* const old = key.find();
    if (old != nullptr && !m.override) parts.push_back(*old);
  }
  const bool kept = !parts.empty();
  for (std::size_t i = 0; i < m.sources; ++i) {
    parts.push_back(digest_key(c, 3 + i, api::read_only).get());
  }
  double compression = m.compression;
  if (compression == 0 && kept) compression = parts.front().compression();
  for (const t_digest& part : parts) {
    if (m.compression == 0 && !kept) compression = std::max(compression, part.compression());
  }
  auto sum = std::make_unique<t_digest>(compression);
  for (const t_digest& part : parts) sum->merge(part);
  digest_key(c, 1, api::read_write).set(std::move(sum));
  api::ReplicateVerbatim(c.ctx);
  tell_change(c, "tdigest.merge");
  reply_ok(c);
}

void load_bytes(const call& c) {
  digest_key key(c, 1, api::read_write);
  if (key.find() != nullptr) throw refusal("ERR T-Digest: key already exists");
  key.set(from_bytes(c.text(2)));
  api::ReplicateVerbatim(c.ctx);
  tell_change(c, "tdigest.load");
  reply_ok(c);
}

// ---- asked

// An array with an answer for each argument from the third on. All are read before any is replied.
template <class Read, class Answer>
void answer_each(const call& c, Read read_one, Answer answer) {
  const digest_key key(c, 1, api::read_only);
  const t_digest& d = key.get();
  std::vector<double> asked;
  for (std::size_t i = 2; i < c.size(); ++i) asked.push_back(read_one(c, i));
  api::ReplyWithArray(c.ctx, static_cast<long>(asked.size()));
  for (const double x : asked) answer(d, x);
}

double read_real(const call& c, std::size_t i, const char* otherwise) {
  const auto x = c.real(i);
  if (!x || std::isnan(*x)) throw refusal(otherwise);
  return *x;
}

void quantile(const call& c) {
  answer_each(
      c,
      [](const call& from, std::size_t i) {
        const double q = read_real(from, i, "ERR T-Digest: error parsing quantile");
        if (q < 0 || q > 1) throw refusal("ERR T-Digest: quantile should be in [0,1]");
        return q;
      },
      [&](const t_digest& d, double q) { api::ReplyWithDouble(c.ctx, d.quantile(q)); });
}

void cdf(const call& c) {
  answer_each(
      c,
      [](const call& from, std::size_t i) {
        return read_real(from, i, "ERR T-Digest: error parsing cdf");
      },
      [&](const t_digest& d, double x) { api::ReplyWithDouble(c.ctx, d.cdf(x)); });
}

// A half is rounded down: the rank of a number that is there is that of its first half.
template <bool Reverse>
void rank(const call& c) {
  answer_each(
      c,
      [](const call& from, std::size_t i) {
        return read_real(from, i, "ERR T-Digest: error parsing value");
      },
      [&](const t_digest& d, double x) {
        double answer = -2;
        if (d.total() != 0) {
          const bool beyond = Reverse ? x > d.largest() : x < d.least();
          const double at = Reverse ? d.total() - d.rank(x) : d.rank(x);
          answer = beyond ? -1 : std::ceil(at - 0.5);
        }
        api::ReplyWithLongLong(c.ctx, static_cast<long long>(answer));
      });
}

template <bool Reverse>
void by_rank(const call& c) {
  answer_each(
      c,
      [](const call& from, std::size_t i) {
        const double r = read_real(from, i, "ERR T-Digest: error parsing rank");
        if (r < 0) throw refusal("ERR T-Digest: rank needs to be non negative");
        return r;
      },
      [&](const t_digest& d, double r) {
        const double n = d.total();
        double answer = not_a_number;
        if (n != 0 && r >= n) {
          answer = Reverse ? -infinity : infinity;
        } else if (n != 0 && r == 0) {
          answer = Reverse ? d.largest() : d.least();
        } else if (n != 0) {
          answer = d.quantile(((Reverse ? n - r - 1 : r) + 0.5) / n);
        }
        api::ReplyWithDouble(c.ctx, answer);
      });
}

void trimmed_mean(const call& c) {
  const digest_key key(c, 1, api::read_only);
  const t_digest& d = key.get();
  const double low = read_real(c, 2, "ERR T-Digest: error parsing low_cut_percentile");
  const double high = read_real(c, 3, "ERR T-Digest: error parsing high_cut_percentile");
  if (low < 0 || low > 1 || high < 0 || high > 1) {
    throw refusal("ERR T-Digest: low_cut_percentile and high_cut_percentile should be in [0,1]");
  }
  if (low >= high) {
    throw refusal("ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile");
  }
  api::ReplyWithDouble(c.ctx, d.trimmed_mean(low, high));
}

void least(const call& c) {
  api::ReplyWithDouble(c.ctx, digest_key(c, 1, api::read_only).get().least());
}
void largest(const call& c) {
  api::ReplyWithDouble(c.ctx, digest_key(c, 1, api::read_only).get().largest());
}

void info(const call& c) {
  const digest_key key(c, 1, api::read_only);
  const t_digest& d = key.get();
  const auto whole = [](double x) { return static_cast<std::uint64_t>(x); };
  const std::array<named_number, 9> all = {{
      {"Compression", whole(d.compression())},
      {"Capacity", d.capacity()},
      {"Merged nodes", d.merged()},
      {"Unmerged nodes", d.buffered()},
      {"Merged weight", whole(d.merged_weight())},
      {"Unmerged weight", whole(d.total() - d.merged_weight())},
      {"Observations", whole(d.total())},
      {"Total compressions", d.compressions()},
      {"Memory usage", sizeof(t_digest) + d.memory_bytes()},
  }};
  reply_numbers(c, all);
}

}  // namespace

bool create_t_digest_commands(api::ctx* c) {
  command merges = make_command<merge, -4>("tdigest.merge", writes, "Joins digests into one");
  merges.counted_keys_at = 2;
  const std::array commands = {
      make_command<create, -2>("tdigest.create", writes_fast, "Makes a digest of numbers"),
      make_command<reset, 2>("tdigest.reset", writes_fast, "Forgets all numbers"),
      make_command<add, -3>("tdigest.add", writes, "Adds numbers"),
      merges,
      make_command<least, 2>("tdigest.min", reads, "The least number"),
      make_command<largest, 2>("tdigest.max", reads, "The largest number"),
      make_command<quantile, -3>("tdigest.quantile", reads, "Numbers that these shares are below"),
      make_command<cdf, -3>("tdigest.cdf", reads, "The shares that are below these numbers"),
      make_command<trimmed_mean, 4>("tdigest.trimmed_mean", reads, "The mean between quantiles"),
      make_command<rank<false>, -3>("tdigest.rank", reads, "How many are below these numbers"),
      make_command<rank<true>, -3>("tdigest.revrank", reads, "How many are above these numbers"),
      make_command<by_rank<false>, -3>("tdigest.byrank", reads, "The numbers of these ranks"),
      make_command<by_rank<true>, -3>("tdigest.byrevrank", reads,
                                      "The numbers of these ranks from the largest on"),
      make_command<info, 2>("tdigest.info", reads, "What a digest is"),
      make_command<load_bytes, 3>("tdigest.load", writes, "Takes a digest from another server"),
  };
  api::type_methods m = methods();
  digest_type = api::CreateDataType(c, "TDIS-TYPE", 0, &m);
  return digest_type != nullptr && create_commands(c, commands);
}

}  // namespace bloomery_redis
