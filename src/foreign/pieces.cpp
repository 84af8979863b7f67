// Values as commands of other modules hand them out.
#include <algorithm>
#include <bit>

#include "bloomery/core/error.hpp"
#include "bloomery/foreign/values.hpp"
#include "numbers.hpp"

namespace bloomery::foreign {

namespace {

class byte_cursor {  // numbers one after the other
 public:
  explicit byte_cursor(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number(std::size_t bytes) { return read_number(take(bytes), 0, bytes); }
  double real() { return std::bit_cast<double>(number(8)); }
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (bytes > rest_.size()) detail::fail(errc::corrupt, "the foreign value is cut off");
    const auto taken = rest_.first(static_cast<std::size_t>(bytes));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

// Both headers are structures of RedisBloom's without gaps. `use_array` gets the length of each
// layer's array and returns its bytes, or none while only lengths are wanted.
template <class UseArray>
void read_bloom_header(std::span<const std::byte> header, field_sink& fields, UseArray use_array) {
  byte_cursor from(header);
  fields.number(from.number(8));
  const std::uint64_t layers = from.number(4);
  fields.number(layers);
  fields.number(from.number(4));
  fields.number(from.number(4));
  for (std::uint64_t i = 0; i < layers; ++i) {
    const std::uint64_t bytes = from.number(8);
    const std::uint64_t bits = from.number(8);
    const std::uint64_t items = from.number(8);
    const double error = from.real();
    const double bits_per_item = from.real();
    const std::uint64_t probes = from.number(4);
    fields.number(from.number(8));
    fields.real(error);
    fields.number(probes);
    fields.real(bits_per_item);
    fields.number(bits);
    fields.number(from.number(1));
    fields.text(use_array(bytes));
    fields.number(items);
  }
  if (layers == 0 || !from.done()) detail::fail(errc::corrupt, "no header of a foreign filter");
}

template <class UseArray>
void read_cuckoo_header(std::span<const std::byte> header, field_sink& fields, UseArray use_array) {
  byte_cursor from(header);
  const std::uint64_t items = from.number(8);
  const std::uint64_t buckets = from.number(8);
  const std::uint64_t deletes = from.number(8);
  const std::uint64_t layers = from.number(8);
  const std::uint64_t cells = from.number(2);
  const std::uint64_t iterations = from.number(2);
  const std::uint64_t expansion = from.number(2);
  constexpr std::uint64_t most_layers = 1024;
  constexpr std::uint64_t most_buckets = std::uint64_t{1} << 40U;
  if (!from.done() || layers == 0 || layers > most_layers || cells == 0 || cells > 255) {
    detail::fail(errc::corrupt, "no header of a foreign filter");
  }
  for (const std::uint64_t n : {layers, buckets, items, deletes, cells, iterations, expansion}) {
    fields.number(n);
  }
  std::uint64_t in_layer = buckets;
  for (std::uint64_t i = 0; i < layers; ++i, in_layer *= expansion) {
    if (in_layer == 0 || in_layer > most_buckets) {
      detail::fail(errc::corrupt, "a layer of the foreign filter is too large");
    }
    fields.number(in_layer);
    fields.text(use_array(in_layer * cells));
  }
}

template <class UseArray>
void read_header(origin from, std::span<const std::byte> header, field_sink& fields,
                 UseArray use_array) {
  if (from == origin::redisbloom_bloom) {
    read_bloom_header(header, fields, use_array);
  } else if (from == origin::redisbloom_cuckoo) {
    read_cuckoo_header(header, fields, use_array);
  } else {
    detail::fail(errc::unsupported, "these foreign values do not come in pieces");
  }
}

int version_of(origin from) {
  return std::ranges::find(data_types(), from, &data_type::from)->version;
}

}  // namespace

pieces::pieces(origin from, std::span<const std::byte> header, std::uint64_t most_bytes)
    : header_(header.begin(), header.end()), from_(from) {
  field_stream nothing;
  read_header(from, header_, nothing, [&](std::uint64_t bytes) -> std::span<const std::byte> {
    if (bytes > most_bytes - expected_) {
      detail::fail(errc::no_memory, "the filter is larger than this server allows");
    }
    expected_ += bytes;
    return {};
  });
}

void pieces::append(std::span<const std::byte> piece) {
  if (piece.size() > expected_ - received()) {
    detail::fail(errc::corrupt, "there are more bytes than the filter has");
  }
  arrays_.insert(arrays_.end(), piece.begin(), piece.end());
}

std::unique_ptr<value> pieces::finish() const {
  if (!complete()) detail::fail(errc::corrupt, "the filter is cut off");
  field_stream fields;
  fields.reserve(arrays_.size() + 16 * header_.size());
  byte_cursor arrays(arrays_);
  read_header(from_, header_, fields, [&](std::uint64_t bytes) { return arrays.take(bytes); });
  stream_reader reader(fields.bytes());
  return read(from_, version_of(from_), reader);
}

// A version, and the object in the usual binary form of Rust's serde: numbers of fixed length, and
// arrays after their lengths of 8 bytes.
std::unique_ptr<value> decode_valkey(std::span<const std::byte> bytes) {
  byte_cursor from(bytes);
  if (from.number(1) != 1) {
    detail::fail(errc::unsupported, "a filter of a newer version of valkey-bloom");
  }
  field_stream fields;
  const std::uint64_t expansion = from.number(4);
  const double error = from.real();
  const double tightening = from.real();
  const std::uint64_t random_seed = from.number(1);
  const std::uint64_t layers = from.number(8);
  fields.number(layers);
  fields.number(expansion);
  fields.real(error);
  fields.real(tightening);
  fields.number(random_seed);
  for (std::uint64_t i = 0; i < layers; ++i) {
    fields.text(from.take(from.number(8)));
    const std::uint64_t items = from.number(8);
    fields.number(from.number(8));
    if (i + 1 == layers) fields.number(items);
  }
  if (!from.done()) detail::fail(errc::corrupt, "there are more bytes than the filter has");
  stream_reader reader(fields.bytes());
  return read(origin::valkey_bloom, version_of(origin::valkey_bloom), reader);
}

}  // namespace bloomery::foreign
