#include "container.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/detail/core/arithmetic.hpp"
#include "bloomery/hash/hash.hpp"
#include "core/integers.hpp"

namespace bloomery {

namespace {

constexpr std::size_t start_bytes = magic.size() + 2 * sizeof(std::uint16_t);

// Numbers that are mostly 0 stand above another one: a shard's above the kind, and the form of the
// keys above the hash.
constexpr unsigned above = 16;

// Arrays of bits were packed before there were other kinds: they have no fields for cells.
bool has_cells(std::uint64_t kind) { return !is_of_bits(static_cast<filter_kind>(kind)); }

const char* name_of(image_form form) {
  switch (form) {
    case image_form::packed: return "packed filter";
    case image_form::delta: return "delta of filters";
    case image_form::text_index: return "text index";
    case image_form::string_map: return "map of strings";
    case image_form::plain: break;
  }
  return "filter";
}

std::array<std::byte, start_bytes> start_of(image_form form) noexcept {
  std::array<std::byte, start_bytes> start{};
  std::memcpy(start.data(), magic.data(), magic.size());
  integers::write(start, magic.size(), format_version);
  integers::write(start, magic.size() + 2, static_cast<std::uint16_t>(form));
  return start;
}

}  // namespace

void put_header(std::vector<std::byte>& out, const image_header& h) {
  const header_fields f = fields_of(h);
  for (const std::uint64_t number :
       {f.kind | (f.shard << above), f.hash | (f.key_form << above), f.scheme, f.probes,
        f.block_bits, f.bits, f.seed, f.key_id, f.keys, f.planned_keys}) {
    bit_code::put_varint(out, number);
  }
  if (has_cells(f.kind)) {
    bit_code::put_varint(out, f.cell_bits);
    bit_code::put_varint(out, f.variant);
  }
  integers::append(out, f.target);
}

image_header take_header(bit_code::reader& in) {
  header_fields f;
  for (std::uint64_t* number : {&f.kind, &f.hash, &f.scheme, &f.probes, &f.block_bits, &f.bits,
                                &f.seed, &f.key_id, &f.keys, &f.planned_keys}) {
    *number = in.varint();
  }
  f.shard = f.kind >> above;
  f.kind &= (1U << above) - 1;
  f.key_form = f.hash >> above;
  f.hash &= (1U << above) - 1;
  if (has_cells(f.kind)) {
    f.cell_bits = in.varint();
    f.variant = in.varint();
  }
  f.target = in.fixed64();
  return checked_header(f);
}

bool starts_as(std::span<const std::byte> bytes, image_form form) noexcept {
  if (bytes.size() < start_bytes) return false;
  const auto start = start_of(form);
  return std::equal(start.begin(), start.end(), bytes.begin());
}

std::span<const std::byte> open_container(std::span<const std::byte> bytes, image_form form) {
  if (check_start(bytes) != form) {
    detail::fail(errc::unsupported, std::string("this is no ") + name_of(form));
  }
  if (bytes.size() < start_bytes + 8) detail::fail(errc::corrupt, "the file is cut off");
  const auto inside = bytes.first(bytes.size() - 8);
  if (bit_code::reader(bytes.last(8)).fixed64() != XXH3_64bits(inside.data(), inside.size())) {
    detail::fail(errc::corrupt, "the file is damaged: its checksum is wrong");
  }
  return inside.subspan(start_bytes);
}

struct container_writer::checksum_state {
  XXH3_state_t xxh3;
};

container_writer::container_writer(image_form form, const byte_sink& sink)
    : sink_(&sink), state_(std::make_unique<checksum_state>()) {
  const auto start = start_of(form);
  buffer_.assign(start.begin(), start.end());
  XXH3_64bits_reset(&state_->xxh3);
}

container_writer::~container_writer() = default;

void container_writer::flush() {
  XXH3_64bits_update(&state_->xxh3, buffer_.data(), buffer_.size());
  (*sink_)(buffer_);
  buffer_.clear();
}

void container_writer::finish() {
  flush();
  integers::append(buffer_, std::uint64_t{XXH3_64bits_digest(&state_->xxh3)});
  (*sink_)(buffer_);
  buffer_.clear();
}

}  // namespace bloomery
