// The table of filter types: how to make each of them behind its face.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "bloomery/format/delta.hpp"
#include "bloomery/format/filter_face.hpp"

namespace bloomery::detail {

using face_ptr = std::unique_ptr<filter_face>;

struct filter_row {
  // Which shapes are of this type.
  filter_kind kind;
  probe_scheme scheme;
  bool shard;
  face_ptr (*make)(const plan&);
  // From all keys at once; null for the kinds that take keys one by one, as `make` is for others.
  face_ptr (*build)(const plan&, std::span<const std::uint64_t> hashes,
                    std::span<const std::uint64_t> values, unsigned threads);
  // To look at given words, and to copy them.
  face_ptr (*borrow)(const filter_version&);
  face_ptr (*copy)(const filter_version&);
};

[[nodiscard]] std::span<const filter_row> filter_table() noexcept;

}  // namespace bloomery::detail
