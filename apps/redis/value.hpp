// What a key of the module holds, and its data types: one for each family, with the same methods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "api.hpp"
#include "bloomery/format/any_filter.hpp"
#include "dump.hpp"

namespace bloomery_redis {

struct family;

struct value {
  fact_list facts{};
  const family* kin = nullptr;
  std::uint64_t id = 0;       // no two values of a server have the same
  std::uint64_t changes = 0;  // whoever changes the filter counts it here

  value(dumped from, const family& of);
  value(bloomery::any_filter f, const fact_list& what, const family& of)
      : value(dumped{.filter = std::move(f), .facts = what}, of) {}
  value(const value&) = delete;
  value& operator=(const value&) = delete;
  ~value();

  [[nodiscard]] bloomery::any_filter& filter() noexcept { return *filter_; }
  [[nodiscard]] const bloomery::any_filter& filter() const noexcept { return *filter_; }
  [[nodiscard]] std::size_t bytes() const;  // all memory of the key

  // The filter for a thread to read. It does not change while somebody holds this pointer: a
  // command that changes or deletes the value meanwhile leaves the lent filter alone.
  [[nodiscard]] std::shared_ptr<const bloomery::any_filter> lend() const { return filter_; }
  // Called before every change: copies a lent filter. opened_key calls it if it opens for writing.
  void own();

 private:
  std::shared_ptr<bloomery::any_filter> filter_;
};

// The filter of a family with one type. Counts as a change: pieces are then read from the start.
template <class Filter>
[[nodiscard]] Filter& filter_as(value& v) {
  ++v.changes;
  return *v.filter().get_if<Filter>();
}
template <class Filter>
[[nodiscard]] const Filter& filter_as(const value& v) {
  return *v.filter().get_if<Filter>();
}

// A family of commands and its data type.
struct family {
  const char* type_name;     // nine characters, in every database file for ever
  const char* load_command;  // takes a piece of a dump: `COMMAND key iterator bytes`
  std::span<const bloomery::filter_kind> kinds;
  api::type* type = nullptr;
  // Sets what only the facts know. Throws bloomery::error(corrupt) if facts and filter disagree.
  void (*settle)(value& v) = nullptr;

  [[nodiscard]] bool has(bloomery::filter_kind kind) const;
};

struct value_totals {  // of all families: values that exist now, and all ever created
  std::uint64_t values = 0;
  std::uint64_t created = 0;
};
[[nodiscard]] value_totals totals() noexcept;

// The hash function of all filters that the module creates.
[[nodiscard]] std::shared_ptr<const bloomery::any_hasher> default_hash();

// Throws errc::corrupt unless a filter of this kind belongs to the family.
void check_kind(const family& of, const bloomery::any_filter& f);

namespace detail {
void* load_value(api::io* from, int encoding, const family& of);
[[nodiscard]] api::type_methods shared_methods();
}  // namespace detail

// Creates the data type. Family is a parameter because the server's callbacks cannot name it.
template <family& Family>
[[nodiscard]] bool create_type(api::ctx* c) {
  api::type_methods methods = detail::shared_methods();
  methods.rdb_load = [](api::io* from, int encoding) {
    return detail::load_value(from, encoding, Family);
  };
  Family.type = api::CreateDataType(c, Family.type_name, 1, &methods);
  return Family.type != nullptr;
}

}  // namespace bloomery_redis
