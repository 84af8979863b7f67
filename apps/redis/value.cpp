#include "value.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <span>

#include "bloomery/core/error.hpp"

namespace bloomery_redis {

namespace {

// These are atomic because the server frees large values in another thread.
std::atomic<std::uint64_t> values_now = 0;
std::atomic<std::uint64_t> next_id = 1;

constexpr std::size_t file_piece_bytes = std::size_t{1} << 20U;

constexpr std::size_t object_bytes = 512;  // the objects around the array, as measured

std::span<const char> chars_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const value& value_of(const void* v) { return *static_cast<const value*>(v); }

template <class Work>
void for_each_piece(const image_source& source, std::size_t piece_bytes, Work work) {
  std::uint64_t offset = 0;
  for (std::size_t most = dump_start_bytes; offset < source.bytes(); most = piece_bytes) {
    const auto piece = source.read(offset, most);
    offset += piece.size();
    work(offset, chars_of(piece));
  }
}

void save_value(api::io* to, void* v) {
  const image_source source(value_of(v).filter(), value_of(v).facts);
  const std::uint64_t pieces =
      1 + (source.bytes() - dump_start_bytes + file_piece_bytes - 1) / file_piece_bytes;
  api::SaveUnsigned(to, pieces);
  for_each_piece(source, file_piece_bytes, [&](std::uint64_t, std::span<const char> piece) {
    api::SaveStringBuffer(to, piece.data(), piece.size());
  });
}

void rewrite_value(api::io* to, api::string* key, void* v) {  // with BF.SCANDUMP's iterators
  const image_source source(value_of(v).filter(), value_of(v).facts);
  for_each_piece(source, dump_piece_bytes, [&](std::uint64_t end, std::span<const char> piece) {
    const auto iterator = static_cast<long long>(1 + end - dump_start_bytes);
    api::EmitAOF(to, value_of(v).kin->load_command, "slb", key, iterator, piece.data(),
                 piece.size());
  });
}

void digest_value(api::digest* into, void* v) {
  const image_source source(value_of(v).filter(), value_of(v).facts);
  for_each_piece(source, dump_piece_bytes, [&](std::uint64_t, std::span<const char> piece) {
    api::DigestAddStringBuffer(into, piece.data(), piece.size());
  });
  api::DigestEndSequence(into);
}

void* copy_value(const void* v) {
  try {
    const value& from = value_of(v);
    return new value(from.filter().clone(), from.facts, *from.kin);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

namespace detail {

void* load_value(api::io* from, int encoding, const family& of) {
  const auto refuse = [&](const char* why) -> void* {
    api::LogIOError(from, "warning", "bloomery: cannot load a key: %s", why);
    return nullptr;
  };
  if (encoding != 1) return refuse("it was written by a newer version of the module");
  char* held = nullptr;
  const auto next = [&]() -> std::optional<std::span<const std::byte>> {
    if (held != nullptr) api::Free(held);
    std::size_t size = 0;
    held = api::LoadStringBuffer(from, &size);
    if (held == nullptr || api::IsIOError(from) != 0) return std::nullopt;
    return std::as_bytes(std::span<const char>(held, size));
  };
  void* result = nullptr;
  try {
    const std::uint64_t pieces = api::LoadUnsigned(from);
    if (api::IsIOError(from) != 0) return refuse("the file ends");
    dumped read = read_pieces(pieces, next, UINT64_MAX);
    check_kind(of, read.filter);
    result = new value(std::move(read), of);
  } catch (const std::exception& e) {
    refuse(e.what());
  }
  if (held != nullptr) api::Free(held);
  return result;
}

api::type_methods shared_methods() {
  api::type_methods m;
  m.rdb_save = save_value;
  m.aof_rewrite = rewrite_value;
  m.digest = digest_value;
  m.free = [](void* v) { delete static_cast<value*>(v); };
  m.mem_usage = [](const void* v) { return value_of(v).bytes(); };
  // The cost of freeing a value, in allocations. Above 64 the server does it in another thread.
  m.free_effort = [](api::string*, const void* v) { return value_of(v).bytes() >> 16U; };
  m.copy = [](api::string*, api::string*, const void* v) { return copy_value(v); };
  return m;
}

}  // namespace detail

value::value(dumped from, const family& of)
    : facts(from.facts),
      kin(&of),
      id(next_id++),
      filter_(std::make_shared<bloomery::any_filter>(std::move(from.filter))) {
  if (of.settle != nullptr) of.settle(*this);
  ++values_now;
}

value::~value() { --values_now; }

void value::own() {
  if (filter_.use_count() == 1) return;
  filter_ = std::make_shared<bloomery::any_filter>(filter_->clone());
  if (kin->settle != nullptr) kin->settle(*this);
}

std::size_t value::bytes() const {
  return sizeof(value) + object_bytes + static_cast<std::size_t>(filter().shape().bits / 8);
}

std::shared_ptr<const bloomery::any_hasher> default_hash() {
  static const auto hash = bloomery::erase(bloomery::xxh3_hasher());
  return hash;
}

bool family::has(bloomery::filter_kind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void check_kind(const family& of, const bloomery::any_filter& f) {
  if (!of.has(f.shape().kind)) {
    throw bloomery::error(bloomery::errc::corrupt,
                          "a filter of another kind than these commands have");
  }
}

value_totals totals() noexcept { return {.values = values_now, .created = next_id - 1}; }

}  // namespace bloomery_redis
