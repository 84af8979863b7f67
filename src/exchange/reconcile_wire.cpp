#include "reconcile_wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "core/integers.hpp"
#include "format/bit_code.hpp"

namespace bloomery::reconcile_wire {

namespace {

using bit_code::put_varint;

constexpr std::array<char, 8> magic = {'B', 'L', 'M', 'R', 'E', 'C', 'O', 'N'};
constexpr std::uint8_t version = 1;
constexpr std::size_t most_shared = 255;

[[noreturn]] void refuse(const std::string& what) {
  throw error(errc::corrupt, "the peer sent " + what);
}

void put_8(bytes& out, std::uint64_t value) { out.push_back(static_cast<std::byte>(value)); }

// Numbers that are small and may be negative.
std::uint64_t fold(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}
std::int64_t unfold(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
}

// The errors of read() speak of packed filters, for which its code was made.
template <class Read>
auto parsed(const char* what, byte_view from, Read read) {
  bit_code::reader in(from);
  try {
    auto made = read(in);
    if (!in.rest().empty()) refuse(std::string(what) + " that is too long");
    return made;
  } catch (const error& e) {
    if (std::strncmp(e.what(), "the peer", 8) == 0) throw;
    refuse(std::string(what) + " that makes no sense");
  }
}

std::uint64_t byte_of(bit_code::reader& in) {
  return std::to_integer<std::uint64_t>(in.take(1)[0]);
}

// How many items of a set are in symbol i, on average.
std::int64_t expected_count(std::uint64_t items, std::uint64_t i) {
  return static_cast<std::int64_t>(2 * items / (i + 2));
}

}  // namespace

bytes write(const hello& h) {
  bytes out;
  for (const char c : magic) put_8(out, static_cast<unsigned char>(c));
  put_8(out, version);
  put_8(out, static_cast<std::uint8_t>(h.wish));
  integers::append(out, h.nonce);
  put_varint(out, h.size.keys);
  put_varint(out, h.size.key_bytes);
  return out;
}

hello read_hello(byte_view from) {
  return parsed("a greeting", from, [](bit_code::reader& in) {
    hello h;
    if (std::memcmp(in.take(magic.size()).data(), magic.data(), magic.size()) != 0) {
      refuse("a greeting of another protocol");
    }
    if (const std::uint64_t theirs = byte_of(in); theirs != version) {
      throw error(errc::unsupported, "the peer speaks version " + std::to_string(theirs) +
                                         " of the protocol, and we speak version 1");
    }
    const std::uint64_t wish = byte_of(in);
    if (wish > static_cast<std::uint64_t>(reconcile_method::full)) refuse("an unknown method");
    h.wish = static_cast<reconcile_method>(wish);
    h.nonce = in.fixed64();
    h.size.keys = in.varint();
    h.size.key_bytes = in.varint();
    return h;
  });
}

bytes write(const tug_sums& sums) {
  bytes out;
  for (const std::int64_t sum : sums) put_varint(out, fold(sum));
  return out;
}

tug_sums read_sums(byte_view from) {
  return parsed("an estimator", from, [](bit_code::reader& in) {
    tug_sums sums{};
    for (std::int64_t& sum : sums) sum = unfold(in.varint());
    return sums;
  });
}

bytes write(const reconcile_plan& p) {
  bytes out;
  put_8(out, static_cast<std::uint8_t>(p.method));
  put_8(out, p.encoder_bits);
  put_8(out, p.decoder_bits);
  put_8(out, p.encoder_sends_all ? 1 : 0);
  put_varint(out, p.difference);
  return out;
}

reconcile_plan read_plan(byte_view from) {
  return parsed("a plan", from, [](bit_code::reader& in) {
    reconcile_plan p;
    const std::uint64_t method = byte_of(in);
    p.encoder_bits = static_cast<std::uint32_t>(byte_of(in));
    p.decoder_bits = static_cast<std::uint32_t>(byte_of(in));
    const std::uint64_t all = byte_of(in);
    p.difference = in.varint();
    const bool lawful = method >= 1 && method <= 3 && p.encoder_bits <= most_filter_bits &&
                        p.decoder_bits <= most_filter_bits && all <= 1;
    if (!lawful) refuse("a plan that makes no sense");
    p.method = static_cast<reconcile_method>(method);
    p.encoder_sends_all = all == 1;
    return p;
  });
}

bytes write(const symbol_run& run) {
  bytes out;
  put_8(out, run.last ? 1 : 0);
  put_varint(out, run.items);
  put_varint(out, run.first);
  put_varint(out, run.symbols.size());
  for (std::size_t i = 0; i < run.symbols.size(); ++i) {
    const riblt_symbol& s = run.symbols[i];
    integers::append(out, s.sum);
    integers::append(out, s.check);
    put_varint(out, fold(s.count - expected_count(run.items, run.first + i)));
  }
  return out;
}

symbol_list read_symbols(byte_view from) {
  return parsed("symbols", from, [](bit_code::reader& in) {
    symbol_list list;
    const std::uint64_t last = byte_of(in);
    list.last = last == 1;
    list.items = in.varint();
    list.first = in.varint();
    const std::uint64_t count = in.varint();
    if (last > 1 || list.items >> 32U != 0 || list.first > riblt_most_symbols ||
        count > run_symbols) {
      refuse("symbols that make no sense");
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      riblt_symbol s;
      s.sum = in.fixed64();
      s.check = integers::read<std::uint32_t>(in.take(4), 0);
      const std::int64_t off = unfold(in.varint());
      s.count = expected_count(list.items, list.first + i);
      // No symbol holds more items than there are.
      if (off < -s.count || off > static_cast<std::int64_t>(list.items)) {
        refuse("symbols that make no sense");
      }
      s.count += off;
      list.symbols.push_back(s);
    }
    return list;
  });
}

bytes write_number(std::uint64_t value) {
  bytes out;
  put_varint(out, value);
  return out;
}

std::uint64_t read_number(byte_view from) {
  return parsed("a number", from, [](bit_code::reader& in) { return in.varint(); });
}

// A gap costs a byte, and another for each 128 places that it skips.
std::size_t places_limit(std::uint64_t total) { return static_cast<std::size_t>(16 + 2 * total); }

bytes write_places(std::span<const std::uint64_t> places) {
  bytes out;
  put_varint(out, places.size());
  std::uint64_t next = 0;
  for (const std::uint64_t place : places) {
    put_varint(out, place - next);
    next = place + 1;
  }
  return out;
}

std::vector<std::uint64_t> read_places(byte_view from, std::uint64_t total) {
  return parsed("a list of wanted keys", from, [&](bit_code::reader& in) {
    std::vector<std::uint64_t> places;
    std::uint64_t left = total;
    for (std::uint64_t count = in.varint(); count > 0; --count) {
      const std::uint64_t gap = in.varint();
      if (gap >= left) refuse("a list of keys that are not there");
      places.push_back(total - left + gap);
      left -= gap + 1;
    }
    return places;
  });
}

bytes write(const set_check& c) {
  bytes out;
  put_varint(out, c.keys);
  for (const std::uint64_t half : c.sum) integers::append(out, half);
  return out;
}

set_check read_check(byte_view from) {
  return parsed("a checksum", from, [](bit_code::reader& in) {
    set_check c;
    c.keys = in.varint();
    for (std::uint64_t& half : c.sum) half = in.fixed64();
    return c;
  });
}

void key_writer::add(std::string_view key) {
  const std::size_t most = std::min({key.size(), last_.size(), most_shared});
  std::size_t shared = 0;
  while (shared < most && key[shared] == last_[shared]) ++shared;
  put_8(bytes_, shared);
  put_varint(bytes_, key.size() - shared);
  for (const char c : key.substr(shared)) put_8(bytes_, static_cast<unsigned char>(c));
  last_.assign(key);
}

bytes key_writer::take() { return std::exchange(bytes_, {}); }

std::string key_reader::next(byte_view& from) {
  std::string key;
  bit_code::reader in(from);
  try {
    const std::uint64_t shared = byte_of(in);
    if (shared > last_.size()) refuse("a list of keys that makes no sense");
    const byte_view own = in.take(in.varint());
    if (shared + own.size() > reconcile_longest_key) refuse("a key that is too long");
    key.reserve(static_cast<std::size_t>(shared) + own.size());  // and not twice as much
    key.assign(last_, 0, static_cast<std::size_t>(shared));
    key.append(reinterpret_cast<const char*>(own.data()), own.size());
  } catch (const error& e) {
    if (std::strncmp(e.what(), "the peer", 8) == 0) throw;
    refuse("a list of keys that makes no sense");
  }
  if (any_ && key <= last_) refuse("a list of keys that is not in order");
  any_ = true;
  last_ = key;
  from = in.rest();
  return key;
}

bytes write_refusal(std::string_view why) {
  bytes out;
  for (const char c : why.substr(0, refusal_limit)) put_8(out, static_cast<unsigned char>(c));
  return out;
}

std::string read_refusal(byte_view from) {
  std::string text;
  for (const std::byte b : from) {
    const char c = static_cast<char>(b);
    text.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  return text;
}

}  // namespace bloomery::reconcile_wire
