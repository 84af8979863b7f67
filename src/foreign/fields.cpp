#include "bloomery/foreign/fields.hpp"

#include <bit>
#include <cstring>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/arithmetic.hpp"

namespace bloomery::foreign {

namespace {

constexpr std::byte field_number{1};
constexpr std::byte field_real{2};
constexpr std::byte field_text{3};
constexpr std::size_t field_bytes = 9;

void append_field(std::vector<std::byte>& to, std::byte kind, std::uint64_t word) {
  to.push_back(kind);
  const std::uint64_t stored = detail::little_endian(word);
  const auto bytes = std::as_bytes(std::span(&stored, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

void field_stream::number(std::uint64_t n) { append_field(bytes_, field_number, n); }

void field_stream::real(double x) {
  append_field(bytes_, field_real, std::bit_cast<std::uint64_t>(x));
}

void field_stream::text(std::span<const std::byte> bytes) {
  append_field(bytes_, field_text, bytes.size());
  last_text_ = bytes_.size();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void field_stream::set_number(std::size_t at, std::uint64_t n) noexcept {
  const std::uint64_t stored = detail::little_endian(n);
  std::memcpy(bytes_.data() + at + 1, &stored, sizeof stored);
}

std::uint64_t stream_reader::word(std::byte kind) {
  if (rest_.size() < field_bytes || rest_[0] != kind) {
    detail::fail(errc::corrupt, "a field of the value is missing");
  }
  std::uint64_t stored = 0;
  std::memcpy(&stored, rest_.data() + 1, sizeof stored);
  rest_ = rest_.subspan(field_bytes);
  return detail::little_endian(stored);
}

std::uint64_t stream_reader::number() { return word(field_number); }

double stream_reader::real() { return std::bit_cast<double>(word(field_real)); }

std::span<const std::byte> stream_reader::text() {
  const std::uint64_t size = word(field_text);
  if (size > rest_.size()) detail::fail(errc::corrupt, "a field of the value is cut off");
  const auto bytes = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(bytes.size());
  return bytes;
}

void stream_reader::copy_to(field_sink& sink) {
  while (!done()) {
    if (rest_[0] == field_number) {
      sink.number(number());
    } else if (rest_[0] == field_real) {
      sink.real(real());
    } else {
      sink.text(text());
    }
  }
}

}  // namespace bloomery::foreign
