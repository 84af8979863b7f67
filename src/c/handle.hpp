// What a bloomery_filter of the C interface is, and what every call of it shares: no exception
// leaves, and errors leave a text behind.
//
// A handle is an any_filter with two hash functions, one for strings and one for integers, since a
// caller in C has both. A blocked filter with the usual hash is also kept by its type: one key of
// it costs 5 ns instead of 12, which matters to whoever calls from a loop in another language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/bloomery.h"
#include "bloomery/core/error.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/hash/any_hasher.hpp"

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): it has no virtual functions
struct bloomery_filter {
  explicit bloomery_filter(bloomery::any_filter from) : filter(std::move(from)) {
    choose_hashes();
    refresh();
  }
  bloomery_filter(const bloomery_filter&) = delete;
  bloomery_filter& operator=(const bloomery_filter&) = delete;
  ~bloomery_filter() = default;

  // After a change of the words' place. Takes no memory, so that a call that has changed the filter
  // does not fail then.
  void refresh();

  // Throw errc::mismatch when the filter has no function for keys of this sort.
  [[nodiscard]] const bloomery::any_hasher& strings() const {
    if (string_hash == nullptr) refuse(false);
    return *string_hash;
  }
  [[nodiscard]] const bloomery::any_hasher& integers() const {
    if (integer_hash == nullptr) refuse(true);
    return *integer_hash;
  }

  bloomery::any_filter filter;
  std::shared_ptr<const bloomery::any_hasher> string_hash;
  std::shared_ptr<const bloomery::any_hasher> integer_hash;
  // The short way, where there is one.
  bloomery::xxh3_hasher mixer;
  std::optional<bloomery::blocked_view> fast_strings;
  std::optional<bloomery::blocked_view> fast_integers;
  bloomery::blocked_filter* owner = nullptr;  // null when it cannot be changed

 private:
  void choose_hashes();
  [[noreturn]] void refuse(bool integers) const;
};

namespace bloomery::c {

// Keeps the text for bloomery_error_message and returns the status.
int keep_error(int status, const char* text) noexcept;

// The status of the exception that is being handled.
int caught() noexcept;

// Runs a call. Its result is that of `work`, or the status of what it throws.
template <class Work>
int guarded(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    return caught();
  }
}

template <class Thing>
void check_pointer(const Thing* pointer, const char* name) {
  if (pointer == nullptr) detail::fail(errc::bad_argument, std::string(name) + " is NULL");
}

// A call that makes a filter: what `make` returns is the caller's then.
template <class Make>
int making(bloomery_filter** out, Make make) noexcept {
  if (out != nullptr) *out = nullptr;
  return guarded([&] {
    check_pointer(out, "out");
    *out = std::make_unique<bloomery_filter>(make()).release();
    return int{BLOOMERY_OK};
  });
}

// A call that makes bytes.
template <class Make>
int making_bytes(bloomery_buffer* out, Make make) noexcept {
  if (out != nullptr) *out = {nullptr, 0, nullptr};
  return guarded([&] {
    check_pointer(out, "out");
    auto bytes = std::make_unique<std::vector<std::byte>>(make());
    *out = {bytes->data(), bytes->size(), bytes.get()};
    static_cast<void>(bytes.release());
    return int{BLOOMERY_OK};
  });
}

// A filter as one version of it. Words that are in parts are joined in `room`.
[[nodiscard]] filter_version whole_version(const any_filter& f, std::vector<std::uint64_t>& room);

// The hash function that a filter with this header has for strings; null when it is not here.
[[nodiscard]] std::shared_ptr<const any_hasher> hasher_of(const image_header& header);
// A function by its number; form says what the keys are.
[[nodiscard]] std::shared_ptr<const any_hasher> make_hasher(hash_id id, std::uint64_t seed,
                                                            const key_form& form);

// What the options ask for; those of an older program are shorter.
[[nodiscard]] bloomery_options checked_options(const bloomery_options* options);
[[nodiscard]] plan plan_of(const bloomery_options& o);
[[nodiscard]] filter_kind kind_of(const bloomery_options& o);
[[nodiscard]] hash_id hash_of(const bloomery_options& o);
[[nodiscard]] key_form form_of(const bloomery_options& o);
[[nodiscard]] std::uint32_t flags_of(const abilities& can) noexcept;

}  // namespace bloomery::c
