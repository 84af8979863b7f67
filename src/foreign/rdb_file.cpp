#include "bloomery/foreign/rdb_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "numbers.hpp"

namespace bloomery::foreign {

namespace {

// What stands before a key, and the types of keys that are more than some strings.
constexpr unsigned mark_end = 0xff;
constexpr unsigned type_module = 7;
constexpr std::uint64_t first_of_valkey = 80;  // versions of the format
constexpr std::uint64_t field_end = 0;
constexpr std::uint64_t field_signed = 1;
constexpr std::uint64_t field_unsigned = 2;
constexpr std::uint64_t field_float = 3;
constexpr std::uint64_t field_double = 4;
constexpr std::uint64_t field_string = 5;

[[noreturn]] void fail_damaged() {
  detail::fail(errc::corrupt, "the database file is cut off or damaged");
}

[[noreturn]] void fail_unknown(unsigned type) {
  detail::fail(errc::unsupported, "the database file has a key of type " +
                                      detail::to_text(std::uint64_t{type}) +
                                      ", which only newer servers have");
}

// LZF (Lehmann): runs of literal bytes, and copies of what came before.
void unpack_lzf(std::span<const std::byte> from, std::uint64_t bytes, std::vector<std::byte>& to) {
  constexpr std::uint64_t most_ratio = 264;  // bytes from one of the packed ones, at most
  if (bytes > from.size() * most_ratio) fail_damaged();
  to.clear();
  to.reserve(static_cast<std::size_t>(bytes));
  std::size_t at = 0;
  const auto next = [&] {
    if (at == from.size()) fail_damaged();
    return std::to_integer<std::size_t>(from[at++]);
  };
  while (at < from.size()) {
    const std::size_t control = next();
    if (control < 32) {
      const std::size_t run = control + 1;
      if (run > from.size() - at || run > bytes - to.size()) fail_damaged();
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                from.begin() + static_cast<std::ptrdiff_t>(at + run));
      at += run;
      continue;
    }
    std::size_t run = (control >> 5U) + 2;
    if (run == 9) run += next();
    const std::size_t back = ((control & 31U) << 8U) + next() + 1;
    if (back > to.size() || run > bytes - to.size()) fail_damaged();
    for (std::size_t i = 0; i < run; ++i) to.push_back(to[to.size() - back]);
  }
  if (to.size() != bytes) fail_damaged();
}

// CRC-64 by Jones's polynomial, reflected, as the server computes it.
std::uint64_t crc64(std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<std::uint64_t, 256> made{};
    for (std::uint64_t i = 0; i < made.size(); ++i) {
      std::uint64_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1U) ^ ((c & 1U) != 0 ? 0x95ac9329ac4bc9b5U : 0);
      made[i] = c;
    }
    return made;
  }();
  std::uint64_t crc = 0;
  for (const std::byte b : bytes) {
    crc = table[(crc ^ std::to_integer<std::uint64_t>(b)) & 0xffU] ^ (crc >> 8U);
  }
  return crc;
}

std::string name_of_type(std::uint64_t id) {
  constexpr std::string_view characters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string name;
  for (unsigned shift = 58; name.size() < 9; shift -= 6) name += characters[(id >> shift) & 63U];
  return name;
}

}  // namespace

rdb_file::rdb_file(std::span<const std::byte> bytes) : all_(bytes), rest_(bytes) {
  constexpr std::string_view magic = "REDIS";
  constexpr std::string_view other_magic = "VALKEY";
  constexpr std::size_t head = 9;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), head));
  const std::size_t at = text.starts_with(other_magic) ? other_magic.size() : magic.size();
  if (text.size() < head || !(text.starts_with(magic) || text.starts_with(other_magic))) {
    detail::fail(errc::not_bloomery, "it is no database file of Redis or Valkey");
  }
  for (std::size_t i = at; i < head; ++i) {
    if (text[i] < '0' || text[i] > '9') fail_damaged();
    format_ = format_ * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  rest_ = rest_.subspan(head);
}

// ---- pieces -----------------------------------------------------------------------------------

std::span<const std::byte> rdb_file::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) fail_damaged();
  const auto taken = rest_.first(static_cast<std::size_t>(bytes));
  rest_ = rest_.subspan(taken.size());
  return taken;
}

std::uint64_t rdb_file::take_number(std::size_t bytes) {
  return read_number(take(bytes), 0, bytes);
}

rdb_file::length rdb_file::take_length() {
  const std::uint64_t first = take_number(1);
  const auto big_endian = [&](std::size_t bytes) {
    std::uint64_t n = 0;
    for (const std::byte b : take(bytes)) n = (n << 8U) | std::to_integer<std::uint64_t>(b);
    return n;
  };
  if (first < 0x40) return {.number = first};
  if (first < 0x80) return {.number = ((first & 0x3fU) << 8U) | take_number(1)};
  if (first == 0x80) return {.number = big_endian(4)};
  if (first == 0x81) return {.number = big_endian(8)};
  if (first >= 0xc0) return {.number = first & 0x3fU, .encoded = true};
  fail_damaged();
}

std::uint64_t rdb_file::take_count() {
  const length l = take_length();
  if (l.encoded) fail_damaged();
  return l.number;
}

std::span<const std::byte> rdb_file::take_string(std::vector<std::byte>& room) {
  const length l = take_length();
  if (!l.encoded) return take(l.number);
  if (l.number < 3) {  // an integer of 1, 2 or 4 bytes, written in decimal by whoever reads it
    const auto bytes = static_cast<unsigned>(1U << l.number);
    const std::uint64_t raw = take_number(bytes);
    const unsigned shift = 64 - 8 * bytes;
    const std::string text = std::to_string(static_cast<std::int64_t>(raw << shift) >> shift);
    const auto view = std::as_bytes(std::span(text));
    room.assign(view.begin(), view.end());
    return room;
  }
  if (l.number != 3) fail_damaged();
  const std::uint64_t packed = take_count();
  const std::uint64_t bytes = take_count();
  unpack_lzf(take(packed), bytes, room);
  return room;
}

void rdb_file::skip_string() {
  const length l = take_length();
  if (!l.encoded) {
    static_cast<void>(take(l.number));
  } else if (l.number < 3) {
    static_cast<void>(take(std::uint64_t{1} << l.number));
  } else {
    const std::uint64_t packed = take_count();
    skip_counts(1);
    static_cast<void>(take(packed));
  }
}

void rdb_file::skip_strings(std::uint64_t count) {
  for (; count > 0; --count) skip_string();
}

void rdb_file::skip_counts(std::uint64_t count) {
  for (; count > 0; --count) static_cast<void>(take_count());
}

// ---- keys that are passed over ----------------------------------------------------------------

void rdb_file::skip_scores() {  // of old sorted sets: a length, or a mark, and digits
  for (std::uint64_t n = take_count(); n > 0; --n) {
    skip_string();
    const std::uint64_t bytes = take_number(1);
    if (bytes < 253) static_cast<void>(take(bytes));
  }
}

void rdb_file::skip_stream(unsigned type) {
  const bool second = type >= 19;
  const bool third = type >= 21;
  skip_strings(2 * take_count());
  skip_counts(second ? 8 : 3);
  for (std::uint64_t groups = take_count(); groups > 0; --groups) {
    skip_string();
    skip_counts(second ? 3 : 2);
    for (std::uint64_t pending = take_count(); pending > 0; --pending) {
      static_cast<void>(take(16 + 8));
      skip_counts(1);
    }
    for (std::uint64_t consumers = take_count(); consumers > 0; --consumers) {
      skip_string();
      static_cast<void>(take(third ? 16 : 8));
      for (std::uint64_t pending = take_count(); pending > 0; --pending) {
        static_cast<void>(take(16));
      }
    }
  }
}

void rdb_file::skip_fields() {
  fields_.open_ = true;
  fields_.skip_rest();
}

void rdb_file::skip_value(unsigned type) {
  switch (type) {
    case 0:  // a string, and what is packed in one:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:  // lists, sets and hashes of old,
    case 16:
    case 17:
    case 20: skip_string(); return;  // and of new servers
    case 1:
    case 2:
    case 14: skip_strings(take_count()); return;
    case 3: skip_scores(); return;
    case 4: {
      const std::uint64_t pairs = take_count();
      skip_strings(pairs);
      skip_strings(pairs);
      return;
    }
    case 5:
      for (std::uint64_t n = take_count(); n > 0; --n) {
        skip_string();
        static_cast<void>(take(8));
      }
      return;
    case 15:
    case 19:
    case 21: skip_stream(type); return;
    case 18:
      for (std::uint64_t n = take_count(); n > 0; --n) {
        skip_counts(1);
        skip_string();
      }
      return;
    case 22:  // hashes whose fields expire: Valkey's
      if (format_ < first_of_valkey) fail_unknown(type);
      for (std::uint64_t n = take_count(); n > 0; --n) {
        skip_strings(2);
        static_cast<void>(take(8));
      }
      return;
    case 24:  // and those of Redis
      static_cast<void>(take(8));
      for (std::uint64_t n = take_count(); n > 0; --n) {
        skip_counts(1);
        skip_strings(2);
      }
      return;
    case 25:
      static_cast<void>(take(8));
      skip_string();
      return;
    default: fail_unknown(type);
  }
}

bool rdb_file::skip_mark(unsigned mark) {
  switch (mark) {
    case 0xfe: database_ = take_count(); return true;
    case 0xfd: static_cast<void>(take(4)); return true;
    case 0xfc: static_cast<void>(take(8)); return true;
    case 0xfb: skip_counts(2); return true;
    case 0xfa: skip_strings(2); return true;
    case 0xf9: static_cast<void>(take(1)); return true;
    case 0xf8: skip_counts(1); return true;
    case 0xf7:  // what a module keeps beside its keys: an id, and when it is read
      skip_counts(3);
      skip_fields();
      return true;
    case 0xf5: skip_string(); return true;
    case 0xf4: skip_counts(3); return true;
    default: return false;
  }
}

// ---- keys of modules --------------------------------------------------------------------------

std::optional<rdb_file::module_key> rdb_file::next() {
  fields_.skip_rest();
  std::vector<std::byte> room;
  while (true) {
    const auto mark = static_cast<unsigned>(take_number(1));
    if (mark == mark_end) {
      check_end();
      return std::nullopt;
    }
    if (skip_mark(mark)) continue;
    const auto name = take_string(room);
    if (mark != type_module) {
      skip_value(mark);
      ++other_keys_;
      continue;
    }
    module_key key{.name = {reinterpret_cast<const char*>(name.data()), name.size()},
                   .database = database_,
                   .type = {}};
    const std::uint64_t id = take_count();
    key.type = name_of_type(id);
    key.version = static_cast<int>(id & 1023U);
    const auto known =
        std::ranges::find(data_types(), std::string_view(key.type), &data_type::name);
    if (known != data_types().end()) key.known = &*known;
    fields_.open_ = true;
    return key;
  }
}

void rdb_file::check_end() {
  constexpr std::uint64_t first_with_sum = 5;
  if (format_ < first_with_sum) return;
  const std::uint64_t sum = take_number(8);
  if (sum != 0 && sum != crc64(all_.first(all_.size() - rest_.size() - 8))) {
    detail::fail(errc::corrupt, "the checksum of the database file is wrong");
  }
}

std::uint64_t rdb_file::key_fields::expect(std::uint64_t kind, std::uint64_t other) {
  const std::uint64_t found = open_ ? file_.take_count() : field_end;
  if (found != kind && found != other) {
    detail::fail(errc::corrupt, "a field of the value is missing");
  }
  return found;
}

std::uint64_t rdb_file::key_fields::number() {
  static_cast<void>(expect(field_unsigned, field_signed));
  return file_.take_count();
}

double rdb_file::key_fields::real() {
  static_cast<void>(expect(field_double, field_double));
  return std::bit_cast<double>(file_.take_number(8));
}

std::span<const std::byte> rdb_file::key_fields::text() {
  static_cast<void>(expect(field_string, field_string));
  return file_.take_string(unpacked_);
}

void rdb_file::key_fields::skip_rest() {
  while (open_) {
    switch (file_.take_count()) {
      case field_end: open_ = false; break;
      case field_signed:
      case field_unsigned: file_.skip_counts(1); break;
      case field_float: static_cast<void>(file_.take(4)); break;
      case field_double: static_cast<void>(file_.take(8)); break;
      case field_string: file_.skip_string(); break;
      default: fail_damaged();
    }
  }
}

}  // namespace bloomery::foreign
