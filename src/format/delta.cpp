#include "bloomery/format/delta.hpp"

#include <algorithm>
#include <bit>

#include "bit_code.hpp"
#include "bloomery/core/error.hpp"
#include "container.hpp"
#include "core/integers.hpp"
#include "header_fields.hpp"

namespace bloomery {

namespace {

// Larger than the chunks of an image: a string costs some 40 bytes however little has changed, and
// at one key in 10,000 a megabyte has only 430 bytes of change.
constexpr std::size_t change_words = 16 * image_chunk_bytes / sizeof(std::uint64_t);

enum class body : std::uint8_t { changes = 0, whole = 1 };

[[noreturn]] void throw_bad_delta(const char* what) {
  detail::fail(errc::corrupt, std::string("the delta is damaged: ") + what);
}

std::uint64_t ones(std::uint64_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

// Where `domain` and `marked`, functions of a word's index, both have a 1, as gaps in the domain.
template <class Domain, class Marked>
void encode_marks(std::size_t words, Domain domain, Marked marked, std::vector<std::byte>& out) {
  std::vector<std::uint32_t> gaps;
  std::uint64_t rank = 0;  // ones of the domain before this word
  std::uint64_t next = 0;  // the first rank that no gap has covered yet
  for (std::size_t w = 0; w < words; ++w) {
    const std::uint64_t in = domain(w);
    for (std::uint64_t m = marked(w); m != 0; m &= m - 1) {
      const std::uint64_t below = (m & (0 - m)) - 1;
      const std::uint64_t at = rank + ones(in & below);
      gaps.push_back(static_cast<std::uint32_t>(at - next));
      next = at + 1;
    }
    rank += ones(in);
  }
  bit_code::encode_gaps(gaps, rank, out);
}

// The inverse: calls flip(word index, mask) for every marked position.
template <class Domain, class Flip>
void decode_marks(bit_code::reader& in, std::size_t words, Domain domain, Flip flip) {
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < words; ++w) total += ones(domain(w));
  std::size_t w = 0;
  std::uint64_t left = words == 0 ? 0 : domain(0);  // what the current word still has
  for (std::uint64_t gap : bit_code::decode_gaps(in, total)) {
    while (gap >= ones(left)) {
      gap -= ones(left);
      left = domain(++w);
    }
    for (; gap != 0; --gap) left &= left - 1;
    flip(w, left & (0 - left));
    left &= left - 1;
    while (left == 0 && w + 1 < words) left = domain(++w);
  }
}

// Both strings of a chunk: old zeros that became ones, old ones that became zeros.
void encode_chunk(std::span<const std::uint64_t> from, std::span<const std::uint64_t> to,
                  std::vector<std::byte>& out) {
  const auto old = [&](std::size_t w) { return detail::little_endian(from[w]); };
  const auto now = [&](std::size_t w) { return detail::little_endian(to[w]); };
  encode_marks(
      from.size(), [&](std::size_t w) { return ~old(w); },
      [&](std::size_t w) { return now(w) & ~old(w); }, out);
  encode_marks(
      from.size(), old, [&](std::size_t w) { return old(w) & ~now(w); }, out);
}

void decode_chunk(bit_code::reader& in, std::span<const std::uint64_t> from,
                  std::span<std::uint64_t> to) {
  std::ranges::copy(from, to.begin());
  const auto old = [&](std::size_t w) { return detail::little_endian(from[w]); };
  const auto flip = [&](std::size_t w, std::uint64_t mask) {
    to[w] ^= detail::little_endian(mask);
  };
  decode_marks(
      in, from.size(), [&](std::size_t w) { return ~old(w); }, flip);
  decode_marks(in, from.size(), old, flip);
}

std::vector<std::byte> encode_changes(const filter_version& from, const filter_version& to) {
  std::vector<std::byte> out;
  put_header(out, to.header);
  for (std::size_t at = 0; at < from.words.size(); at += change_words) {
    const std::size_t count = std::min(change_words, from.words.size() - at);
    encode_chunk(from.words.subspan(at, count), to.words.subspan(at, count), out);
  }
  return out;
}

unpacked_filter decode_changes(const filter_version& from, bit_code::reader& in) {
  const image_header header = take_header(in);
  if (header.planned.shape != from.header.planned.shape) throw_bad_delta("it changes the shape");
  unpacked_filter out{.header = header,
                      .words = bit_array(header.planned.shape.bits, detail::unset_words{})};
  for (std::size_t at = 0; at < from.words.size(); at += change_words) {
    const std::size_t count = std::min(change_words, from.words.size() - at);
    decode_chunk(in, from.words.subspan(at, count), out.words.words().subspan(at, count));
  }
  if (!in.rest().empty()) throw_bad_delta("something follows its end");
  check_padding(detail::little_endian(out.words.words().back()), header.planned.shape);
  return out;
}

}  // namespace

std::vector<std::byte> diff(const filter_version& from, const filter_version& to) {
  std::vector<std::byte> inside = pack(to.header, to.words);
  body kind = body::whole;
  if (from.header.planned.shape == to.header.planned.shape) {
    std::vector<std::byte> changes = encode_changes(from, to);
    if (changes.size() < inside.size()) {
      inside = std::move(changes);
      kind = body::changes;
    }
  }
  std::vector<std::byte> out;
  const auto take = [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  const byte_sink sink(take);
  container_writer writer(image_form::delta, sink);
  integers::append(writer.buffer(), image_name(from.header, from.words));
  integers::append(writer.buffer(), image_name(to.header, to.words));
  writer.buffer().push_back(static_cast<std::byte>(kind));
  writer.buffer().insert(writer.buffer().end(), inside.begin(), inside.end());
  writer.finish();
  return out;
}

bool is_delta(std::span<const std::byte> bytes) noexcept {
  return starts_as(bytes, image_form::delta);
}

namespace {

struct opened_delta {  // a delta whose checksum is right
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  body kind = body::changes;
  bit_code::reader content;
};

opened_delta open_delta(std::span<const std::byte> delta) {
  bit_code::reader in(open_container(delta, image_form::delta));
  const std::uint64_t from = in.fixed64();
  const std::uint64_t to = in.fixed64();
  const auto kind = static_cast<body>(in.take(1)[0]);
  if (kind != body::changes && kind != body::whole) throw_bad_delta("an unknown kind of content");
  return {.from = from, .to = to, .kind = kind, .content = in};
}

}  // namespace

delta_description describe_delta(std::span<const std::byte> delta) {
  opened_delta d = open_delta(delta);
  const bool whole = d.kind == body::whole;
  return {.from = d.from,
          .to = d.to,
          .header = whole ? unpacker(d.content.rest(), {.memory = UINT64_MAX}).header()
                          : take_header(d.content),
          .whole = whole};
}

unpacked_filter patch(const filter_version& from, std::span<const std::byte> delta,
                      const opening& how) {
  opened_delta d = open_delta(delta);
  if (d.from != image_name(from.header, from.words)) {
    detail::fail(errc::mismatch, "the delta starts from another version of the filter");
  }
  unpacked_filter out =
      d.kind == body::whole ? unpack(d.content.rest(), how) : decode_changes(from, d.content);
  if (image_name(out.header, out.words.words()) != d.to) {
    throw_bad_delta("it does not lead to the version that it names");
  }
  return out;
}

}  // namespace bloomery
