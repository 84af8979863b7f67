// What there is, what a filter would take, and what one tells of itself.
#include "bloomery/format/describe.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "bloomery/core/kinds.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/version.hpp"
#include "bloomery/format/image.hpp"
#include "handle.hpp"
#include "keys.hpp"

namespace bloomery::c {

std::uint32_t flags_of(const abilities& can) noexcept {
  const auto flag = [](bool given, bloomery_ability ability) {
    return given ? static_cast<std::uint32_t>(ability) : 0U;
  };
  return flag(can.add, BLOOMERY_CAN_ADD) | flag(can.add_concurrently, BLOOMERY_CAN_ADD_CONCURRENT) |
         flag(can.remove, BLOOMERY_CAN_REMOVE) | flag(can.count, BLOOMERY_CAN_COUNT) |
         flag(can.value, BLOOMERY_CAN_VALUE) | flag(can.merge, BLOOMERY_CAN_MERGE) |
         flag(can.grow, BLOOMERY_CAN_GROW) | flag(can.forget, BLOOMERY_CAN_FORGET) |
         flag(can.lists_top, BLOOMERY_CAN_LIST);
}

namespace {

std::uint64_t image_bytes_of(const any_filter& f) {
  const std::uint64_t payload = (f.shape().bits + 63) / 64 * sizeof(std::uint64_t);
  const std::uint64_t chunks = (payload + image_chunk_bytes - 1) / image_chunk_bytes;
  return image_header_bytes + payload + chunks * sizeof(std::uint64_t);
}

// All that takes no look at the bits.
bloomery_filter_info header_info(const any_filter& f) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  bloomery_filter_info info{};
  info.keys = f.keys();
  info.keys_planned = f.planned().keys;
  info.keys_estimated = unknown;
  info.bits = f.shape().bits;
  info.image_bytes = image_bytes_of(f);
  info.fpr_target = f.planned().fpr_target;
  info.fpr_now = unknown;
  info.fill = unknown;
  info.seed = f.hash().seed;
  info.most_count = f->most_count();
  info.kind = static_cast<std::uint32_t>(f.shape().kind);
  info.probes = f.shape().probes;
  info.form = static_cast<std::uint32_t>(f.hash().form.type);
  info.hash = static_cast<std::uint32_t>(f.hash().id);
  info.can = flags_of(f.can());
  info.format_version = format_version;
  info.mapped = f->owned() == nullptr ? 1 : 0;
  return info;
}

bloomery_filter_info whole_info(const any_filter& f) {
  bloomery_filter_info info = header_info(f);
  info.keys_estimated = f->keys_estimated().value_or(info.keys_estimated);
  info.fpr_now = f.fpr();
  info.fill = f->fill();
  return info;
}

// Fills in as much as the caller's structure has room for.
template <class Make>
int tell(const bloomery_filter* filter, bloomery_filter_info* out, Make make) noexcept {
  return guarded([&] {
    check_pointer(filter, "filter");
    check_pointer(out, "out");
    const std::size_t bytes = out->struct_bytes;
    if (bytes < sizeof bytes || bytes > sizeof *out) {
      detail::throw_bad_argument("struct_bytes", std::uint64_t{bytes},
                                 "sizeof(bloomery_filter_info)");
    }
    bloomery_filter_info info = make(filter->filter);
    info.struct_bytes = bytes;
    std::memcpy(out, &info, bytes);
    return int{BLOOMERY_OK};
  });
}

bloomery_plan_row row_of_kind(const bloomery_options& o) {
  const plan p = plan_of(o);
  const double bits = static_cast<double>(p.shape.bits);
  return {.kind = static_cast<std::uint32_t>(p.shape.kind),
          .probes = p.shape.probes,
          .bytes = (p.shape.bits + 63) / 64 * 8,
          .bits_per_key = p.bits_per_key(),
          .fpr = p.fpr,
          .times_lower_bound = bits / sizing::lower_bound_bits(p.keys, p.fpr),
          .lines = sizing::lines_of_lookup(p.shape),
          .can = flags_of(abilities_of(p.shape.kind))};
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

}  // namespace bloomery::c

using namespace bloomery;     // NOLINT(google-build-using-namespace): a source of C functions
using namespace bloomery::c;  // NOLINT(google-build-using-namespace)

const char* bloomery_version(void) {
  static const std::string version = std::to_string(BLOOMERY_VERSION_MAJOR) + "." +
                                     std::to_string(BLOOMERY_VERSION_MINOR) + "." +
                                     std::to_string(BLOOMERY_VERSION_PATCH);
  return version.c_str();
}

uint32_t bloomery_kind_from_name(const char* name) {
  if (name == nullptr) return 0;
  const auto kind = kind_from_name(name);
  return kind ? static_cast<std::uint32_t>(*kind) : 0;
}

const char* bloomery_kind_name(uint32_t kind) {
  const auto known = kind_from_number(kind);
  return known ? kind_name(*known).data() : nullptr;  // a literal, which ends with a zero
}

uint32_t bloomery_abilities(uint32_t kind) {
  const auto known = kind_from_number(kind);
  return known ? flags_of(abilities_of(*known)) : 0;
}

int bloomery_plan(const bloomery_options* options, bloomery_plan_row* rows, size_t room,
                  size_t* count) {
  return guarded([&] {
    check_pointer(count, "count");
    if (room != 0) check_pointer(rows, "rows");
    bloomery_options o = checked_options(options);
    std::size_t next = 0;
    std::optional<error> reason;
    for (const filter_kind kind : all_kinds()) {
      // Top-k holds the most frequent keys alone, so it has no size for all of them.
      if (abilities_of(kind).lists_top) continue;
      o.kind = static_cast<std::uint32_t>(kind);
      try {
        const bloomery_plan_row row = row_of_kind(o);
        if (next < room) rows[next] = row;
        ++next;
      } catch (const error& e) {
        if (!reason) reason = e;
      }
    }
    if (next == 0) throw error(*reason);
    *count = next;
    return int{BLOOMERY_OK};
  });
}

int bloomery_info(const bloomery_filter* filter, bloomery_filter_info* out) {
  return tell(filter, out, whole_info);
}

int bloomery_info_header(const bloomery_filter* filter, bloomery_filter_info* out) {
  return tell(filter, out, header_info);
}

int bloomery_info_json(const bloomery_filter* filter, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(filter, "filter");
    const any_filter& f = filter->filter;
    return bytes_of(info_as_json(f, image_bytes_of(f)));
  });
}

uint32_t bloomery_kind_of(const bloomery_filter* filter) {
  return filter != nullptr ? static_cast<std::uint32_t>(filter->filter.shape().kind) : 0;
}

uint64_t bloomery_keys_added(const bloomery_filter* filter) {
  return filter != nullptr ? filter->filter.keys() : 0;
}

int bloomery_explain_json(const bloomery_filter* filter, const bloomery_keys* keys,
                          bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(filter, "filter");
    key_views one(keys);
    if (one.count() != 1) {
      detail::throw_bad_argument("count", std::uint64_t{one.count()}, "1: explain takes one key");
    }
    return bytes_of(explain_as_json(filter->filter, one.get(0, 1).front(), one.hasher(*filter)));
  });
}
