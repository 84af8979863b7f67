#include "bloomery/format/image.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/core/parallel.hpp"
#include "core/changing_errors.hpp"
#include "core/integers.hpp"
#include "header_fields.hpp"

namespace bloomery {

namespace {

namespace at {  // offsets of the header's fields; the table of docs/format.md
constexpr std::size_t version = 8;
constexpr std::size_t form = 10;
constexpr std::size_t kind = 12;
constexpr std::size_t hash = 14;
constexpr std::size_t scheme = 16;
constexpr std::size_t cell_bits = 18;
constexpr std::size_t probes = 20;
constexpr std::size_t bits = 24;
constexpr std::size_t block_bits = 32;
constexpr std::size_t chunk_bytes = 36;
constexpr std::size_t seed = 40;
constexpr std::size_t key_id = 48;
constexpr std::size_t keys = 56;
constexpr std::size_t planned_keys = 64;
constexpr std::size_t target = 72;
constexpr std::size_t payload_offset = 80;
constexpr std::size_t payload_bytes = 88;
constexpr std::size_t checksums_offset = 96;
constexpr std::size_t file_bytes = 104;
constexpr std::size_t checksum_of_checksums = 112;
constexpr std::size_t variant = 120;
constexpr std::size_t shard = 124;     // its number, and how many there are less one
constexpr std::size_t key_form = 128;  // what the keys were, and the bases of a k-mer
constexpr std::size_t reserved = 132;
constexpr std::size_t checksum = 248;
}  // namespace at

using integers::read;
using integers::write;

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t payload_bytes_of(const shape& s) {
  return bit_array::words_for(s.bits) * sizeof(std::uint64_t);
}

std::uint64_t chunks_of(std::uint64_t payload_bytes) {
  return (payload_bytes + image_chunk_bytes - 1) / image_chunk_bytes;
}

error corrupt(const std::string& what) { return {errc::corrupt, "the filter is damaged: " + what}; }

[[noreturn]] void throw_bad_image(const std::string& what) {
  detail::fail(errc::corrupt, corrupt(what).what());
}

// A rate, or 0 for none; there is only one zero in a file.
bool is_target(double rate) { return rate >= 0.0 && rate < 1.0 && !std::signbit(rate); }

// Throws unless hash and scheme belong together.
void check_hash(const hash_spec& hash, const shape& s) {
  const bool digests = makes_digests(hash.id);
  if (digests != (s.scheme == probe_scheme::modulo)) {
    throw_bad_image("its hash and its probe scheme do not belong together");
  }
  if (hash.id == hash_id::md5 && s.probes > 4) throw_bad_image("md5 has at most 4 probes");
  if (hash.id == hash_id::murmur && (hash.seed == 0 || hash.seed > std::uint64_t{1} << 32U)) {
    throw_bad_image("murmur has from 1 to 2^32 positions");
  }
  if (hash.seed != 0 && !takes_seed(hash.id) && hash.id != hash_id::none) {
    throw_bad_image("its hash takes no seed");
  }
  if (hash.key_id != 0 && hash.id != hash_id::siphash) throw_bad_image("its hash takes no key");
  if (hash.rule != key_rule::plain && (digests || hash.id == hash_id::none)) {
    throw_bad_image("its hash takes no rule");
  }
  const bool kmers = hash.form.type == key_type::kmers;
  if (kmers ? hash.form.length == 0 || hash.form.length > max_kmer_bases : hash.form.length != 0) {
    throw_bad_image("its k-mers have " + detail::to_text(std::uint64_t{hash.form.length}) +
                    " bases");
  }
  if (hash.form.known() && hash.rule != key_rule::plain) {
    throw_bad_image("its rule says what its keys are");
  }
}

shape checked_shape(const header_fields& f) {
  const std::optional<filter_kind> kind = kind_from_number(f.kind);
  if (!kind) {
    detail::fail(errc::unsupported, "the filter is of kind " + detail::to_text(f.kind) +
                                        ", which this program does not know");
  }
  if (f.scheme < 1 || f.scheme > 2) {
    detail::fail(errc::unsupported, "the filter uses probe scheme " + detail::to_text(f.scheme) +
                                        ", which this program does not know");
  }
  if (std::max({f.probes, f.block_bits, f.cell_bits, f.variant, f.shard}) > UINT32_MAX) {
    throw_bad_image("its shape is no shape");
  }
  const shape s{.kind = *kind,
                .scheme = static_cast<probe_scheme>(f.scheme),
                .probes = static_cast<std::uint32_t>(f.probes),
                .block_bits = static_cast<std::uint32_t>(f.block_bits),
                .cell_bits = static_cast<std::uint32_t>(f.cell_bits),
                .variant = static_cast<std::uint32_t>(f.variant),
                .bits = f.bits,
                .shard = {.index = static_cast<std::uint32_t>(f.shard & 0xffffU),
                          .count = static_cast<std::uint32_t>(f.shard >> 16U) + 1}};
  detail::changing_errors([&] { check_shape(s); },
                          [](const error& e) { return corrupt(e.what()); });
  return s;
}

// The fields that say where the parts are: each follows from the shape, so each must be that.
void check_extent(std::span<const std::byte> bytes, const shape& s) {
  const std::uint64_t payload = payload_bytes_of(s);
  const std::uint64_t checksums_at = image_header_bytes + payload;
  const std::uint64_t end = checksums_at + 8 * chunks_of(payload);
  const bool sound = read<std::uint16_t>(bytes, at::form) == image_header_bytes &&
                     read<std::uint32_t>(bytes, at::chunk_bytes) == image_chunk_bytes &&
                     read<std::uint64_t>(bytes, at::payload_offset) == image_header_bytes &&
                     read<std::uint64_t>(bytes, at::payload_bytes) == payload &&
                     read<std::uint64_t>(bytes, at::checksums_offset) == checksums_at &&
                     read<std::uint64_t>(bytes, at::file_bytes) == end &&
                     std::ranges::all_of(bytes.subspan(at::reserved, at::checksum - at::reserved),
                                         [](std::byte b) { return b == std::byte{0}; });
  if (!sound) throw_bad_image("its header contradicts itself");
  if (bytes.size() != end) {
    throw_bad_image("it has " + detail::to_text(std::uint64_t{bytes.size()}) +
                    " bytes, but its header says " + detail::to_text(end));
  }
}

header_fields read_fields(std::span<const std::byte> bytes) {
  return {.kind = read<std::uint16_t>(bytes, at::kind),
          .hash = read<std::uint16_t>(bytes, at::hash),
          .key_form = read<std::uint32_t>(bytes, at::key_form),
          .scheme = read<std::uint16_t>(bytes, at::scheme),
          .probes = read<std::uint32_t>(bytes, at::probes),
          .block_bits = read<std::uint32_t>(bytes, at::block_bits),
          .cell_bits = read<std::uint16_t>(bytes, at::cell_bits),
          .variant = read<std::uint32_t>(bytes, at::variant),
          .shard = read<std::uint32_t>(bytes, at::shard),
          .bits = read<std::uint64_t>(bytes, at::bits),
          .seed = read<std::uint64_t>(bytes, at::seed),
          .key_id = read<std::uint64_t>(bytes, at::key_id),
          .keys = read<std::uint64_t>(bytes, at::keys),
          .planned_keys = read<std::uint64_t>(bytes, at::planned_keys),
          .target = read<std::uint64_t>(bytes, at::target)};
}

}  // namespace

void check_padding(std::uint64_t last_word, const shape& s) {
  const std::uint64_t used = s.bits % 64;
  if (used != 0 && (last_word >> used) != 0)
    throw_bad_image("it has bits behind its last position");
}

bool begins_like_ours(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

image_form check_start(std::span<const std::byte> bytes) {
  if (!begins_like_ours(bytes)) {
    detail::fail(errc::not_bloomery, "not a Bloomery filter: it does not start with BLOOMERY");
  }
  if (bytes.size() < at::kind) throw_bad_image("it is cut off");
  const auto version = read<std::uint16_t>(bytes, at::version);
  if (version != format_version) {
    detail::fail(errc::unsupported, "the filter has format version " +
                                        detail::to_text(std::uint64_t{version}) +
                                        ", but this program reads version 1 only");
  }
  return static_cast<image_form>(read<std::uint16_t>(bytes, at::form));
}

image_header checked_header(const header_fields& f) {
  const std::uint64_t hash = f.hash & 0xffU;
  const std::uint64_t rule = f.hash >> 8U;
  if (hash > static_cast<std::uint64_t>(hash_id::murmur) ||
      rule > static_cast<std::uint64_t>(key_rule::block_list)) {
    detail::fail(errc::unsupported, "the filter uses hash " + detail::to_text(f.hash) +
                                        ", which this program does not know");
  }
  const std::uint64_t type = f.key_form & 0xffffU;
  if (type > static_cast<std::uint64_t>(key_type::kmers) || f.key_form > UINT32_MAX) {
    detail::fail(errc::unsupported, "the filter has keys of form " + detail::to_text(f.key_form) +
                                        ", which this program does not know");
  }
  image_header h;
  h.planned.shape = checked_shape(f);
  h.planned.keys = f.planned_keys;
  h.planned.fpr_target = std::bit_cast<double>(f.target);
  h.hash = {.id = static_cast<hash_id>(hash),
            .rule = static_cast<key_rule>(rule),
            .form = {static_cast<key_type>(type), static_cast<std::uint16_t>(f.key_form >> 16U)},
            .seed = f.seed,
            .key_id = f.key_id};
  h.keys = f.keys;
  if (!is_target(h.planned.fpr_target)) throw_bad_image("its target is no rate");
  check_hash(h.hash, h.planned.shape);
  return h;
}

header_fields fields_of(const image_header& h) {
  const shape& s = h.planned.shape;
  return {.kind = static_cast<std::uint64_t>(s.kind),
          .hash = static_cast<std::uint64_t>(h.hash.id) |
                  (static_cast<std::uint64_t>(h.hash.rule) << 8U),
          .key_form = static_cast<std::uint64_t>(h.hash.form.type) |
                      (std::uint64_t{h.hash.form.length} << 16U),
          .scheme = static_cast<std::uint64_t>(s.scheme),
          .probes = s.probes,
          .block_bits = s.block_bits,
          .cell_bits = s.cell_bits,
          .variant = s.variant,
          .shard = s.shard.index | (std::uint64_t{s.shard.count - 1} << 16U),
          .bits = s.bits,
          .seed = h.hash.seed,
          .key_id = h.hash.key_id,
          .keys = h.keys,
          .planned_keys = h.planned.keys,
          .target = std::bit_cast<std::uint64_t>(h.planned.fpr_target)};
}

namespace {

image_header read_header(std::span<const std::byte> bytes) {  // the header of a plain image
  const image_form form = check_start(bytes);
  if (form == image_form::packed) {
    detail::fail(errc::unsupported, "the filter is packed; unpack it first");
  }
  if (form == image_form::delta) {
    detail::fail(errc::unsupported, "this is a delta between two filters, not a filter");
  }
  if (form == image_form::text_index) {
    detail::fail(errc::unsupported, "this is a text index, not a filter; ask it with 'search'");
  }
  if (form == image_form::string_map) {
    detail::fail(errc::unsupported,
                 "this is a map of strings, not a filter; ask it with 'map get'");
  }
  if (bytes.size() < image_header_bytes) {
    throw_bad_image("its header is cut off after " + detail::to_text(std::uint64_t{bytes.size()}) +
                    " of 256 bytes");
  }
  if (read<std::uint64_t>(bytes, at::checksum) != checksum(bytes.first(at::checksum))) {
    throw_bad_image("the checksum of its header is wrong");
  }
  return checked_header(read_fields(bytes));
}

}  // namespace

std::uint64_t image_bytes(std::span<const std::byte> header) {
  const std::uint64_t payload = payload_bytes_of(read_header(header).planned.shape);
  return image_header_bytes + payload + 8 * chunks_of(payload);
}

image_view image_view::parse(std::span<const std::byte> bytes) {
  image_view image;
  image.header_ = read_header(bytes);
  const image_header& h = image.header_;
  check_extent(bytes, h.planned.shape);
  const auto payload_bytes = static_cast<std::size_t>(payload_bytes_of(h.planned.shape));
  image.payload_ = bytes.subspan(image_header_bytes, payload_bytes);
  image.checksums_ = bytes.subspan(image_header_bytes + payload_bytes);
  image.checksum_of_checksums_ = read<std::uint64_t>(bytes, at::checksum_of_checksums);
  check_padding(read<std::uint64_t>(image.payload_.last(8), 0), h.planned.shape);
  if (payload_bytes <= image_chunk_bytes) image.verify(1);
  return image;
}

std::span<const std::uint64_t> image_view::words() const {
  const auto address = reinterpret_cast<std::uintptr_t>(payload_.data());
  if (address % alignof(std::uint64_t) != 0) {
    detail::fail(errc::bad_argument, "the image is not aligned to 8 bytes; copy it first");
  }
  return {reinterpret_cast<const std::uint64_t*>(payload_.data()), payload_.size() / 8};
}

void image_view::verify(unsigned threads) const {
  if (checksum(checksums_) != checksum_of_checksums_) {
    throw_bad_image("the checksum of its checksums is wrong");
  }
  const std::uint64_t chunks = chunks_of(payload_.size());
  std::atomic<std::uint64_t> first_bad{chunks};
  detail::in_parallel({threads}, chunks, [&](std::uint64_t i) {
    if (i >= first_bad) return;
    const auto from = static_cast<std::size_t>(i * image_chunk_bytes);
    const auto chunk = payload_.subspan(from, std::min(image_chunk_bytes, payload_.size() - from));
    if (checksum(chunk) == read<std::uint64_t>(checksums_, static_cast<std::size_t>(8 * i))) return;
    std::uint64_t seen = first_bad;
    while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
    }
  });
  if (first_bad < chunks) {
    throw_bad_image("the checksum of chunk " + detail::to_text(first_bad.load() + 1) + " of " +
                    detail::to_text(chunks) + " is wrong");
  }
}

image_writer::image_writer(const image_header& header) {
  replace_header(header);
  checksums_.reserve(static_cast<std::size_t>(chunks_of(payload_bytes_of(header.planned.shape))));
}

void image_writer::replace_header(const image_header& header) {
  check_shape(header.planned.shape);
  detail::changing_errors([&] { check_hash(header.hash, header.planned.shape); },
                          [](const error& e) { return error(errc::bad_argument, e.what()); });
  if (!is_target(header.planned.fpr_target)) {
    detail::throw_bad_argument("the target", header.planned.fpr_target, "at least 0 and below 1");
  }
  header_ = header;
}

void image_writer::pass(std::span<const std::uint64_t> words) {
  auto rest = std::as_bytes(words);
  while (!rest.empty()) {
    if (open_bytes_ == 0) {
      XXH3_64bits_reset(&open_);
      checksums_.push_back(0);
    }
    const auto piece = rest.first(std::min(rest.size(), image_chunk_bytes - open_bytes_));
    XXH3_64bits_update(&open_, piece.data(), piece.size());
    checksums_.back() = detail::little_endian(XXH3_64bits_digest(&open_));
    open_bytes_ = (open_bytes_ + piece.size()) % image_chunk_bytes;
    rest = rest.subspan(piece.size());
  }
}

image_writer::header_bytes image_writer::header() const {
  const shape& s = header_.planned.shape;
  const std::uint64_t payload = payload_bytes_of(s);
  header_bytes out{};
  std::memcpy(out.data(), magic.data(), magic.size());
  write(out, at::version, format_version);
  write(out, at::form, static_cast<std::uint16_t>(image_header_bytes));
  const header_fields f = fields_of(header_);
  write(out, at::kind, static_cast<std::uint16_t>(f.kind));
  write(out, at::hash, static_cast<std::uint16_t>(f.hash));
  write(out, at::key_form, static_cast<std::uint32_t>(f.key_form));
  write(out, at::scheme, static_cast<std::uint16_t>(f.scheme));
  write(out, at::probes, static_cast<std::uint32_t>(f.probes));
  write(out, at::bits, f.bits);
  write(out, at::block_bits, static_cast<std::uint32_t>(f.block_bits));
  write(out, at::cell_bits, static_cast<std::uint16_t>(f.cell_bits));
  write(out, at::variant, static_cast<std::uint32_t>(f.variant));
  write(out, at::shard, static_cast<std::uint32_t>(f.shard));
  write(out, at::chunk_bytes, static_cast<std::uint32_t>(image_chunk_bytes));
  write(out, at::seed, f.seed);
  write(out, at::key_id, f.key_id);
  write(out, at::keys, f.keys);
  write(out, at::planned_keys, f.planned_keys);
  write(out, at::target, f.target);
  write(out, at::payload_offset, std::uint64_t{image_header_bytes});
  write(out, at::payload_bytes, payload);
  write(out, at::checksums_offset, image_header_bytes + payload);
  write(out, at::file_bytes, image_header_bytes + payload + checksums().size());
  write(out, at::checksum_of_checksums, checksum(checksums()));
  write(out, at::checksum, checksum(std::span<const std::byte>(out).first(at::checksum)));
  return out;
}

std::uint64_t image_writer::name() const { return read<std::uint64_t>(header(), at::checksum); }

}  // namespace bloomery
