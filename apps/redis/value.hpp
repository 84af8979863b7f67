// What a key of the module holds, and its data types: one for each family, with the same methods.
//
// A family also has the data types of other modules, so that their database files and DUMPs load.
// A value of such a type has a filter of ours, empty, and what it came with (foreign/values.hpp).
// Nobody changes it: before a write the key becomes one of our own type, with the same content. So
// a key that was only read is saved as the other module wrote it, and can go back there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "api.hpp"
#include "bloomery/foreign/values.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/hash/hash.hpp"
#include "dump.hpp"
#include "packed.hpp"

namespace bloomery_redis {

struct family;

struct value {
  const family* kin = nullptr;
  std::uint64_t id = 0;       // no two values of a server have the same
  std::uint32_t changes = 0;  // whoever changes the filter counts it here

 private:  // here, where no padding comes between: there may be millions of values
  mutable std::uint16_t users_ = 0;
  mutable std::uint16_t bed_ = 0;  // in the waking room, from 1 on; 0 for none

 public:
  value(dumped from, const family& of);
  value(bloomery::any_filter f, const fact_list& what, const family& of)
      : value(dumped{.filter = std::move(f), .facts = what}, of) {}
  value(const value&) = delete;
  value& operator=(const value&) = delete;
  ~value();

  // These are for values in use; see below.
  [[nodiscard]] bloomery::any_filter& filter() noexcept {
    at_rest_.reset();
    return *awake_->filter;
  }
  [[nodiscard]] const bloomery::any_filter& filter() const noexcept { return *awake_->filter; }
  [[nodiscard]] fact_list& facts() noexcept {
    at_rest_.reset();
    return awake_->facts;
  }
  [[nodiscard]] const fact_list& facts() const noexcept { return awake_->facts; }
  // As bytes, which are valid as long as the filter does not change.
  [[nodiscard]] image_source image(image_source::when checksums = image_source::when::now) const;
  [[nodiscard]] std::size_t bytes() const;  // all memory of the key; of values at rest, too

  // What it takes to free it, in allocations of 64 KiB.
  [[nodiscard]] std::size_t effort() const;

  // The filter for a thread to read. It does not change while somebody holds this pointer: a
  // command that changes or deletes the value meanwhile leaves the lent filter alone.
  [[nodiscard]] std::shared_ptr<const bloomery::any_filter> lend() const;
  [[nodiscard]] bool is_lent() const noexcept { return awake_->lent.use_count() > 1; }
  // The filter for the server's thread to look at now and then. It stays, too, but may change.
  [[nodiscard]] std::shared_ptr<const bloomery::any_filter> watch() const { return awake_->filter; }
  // Called before every change: copies a lent filter. opened_key calls it if it opens for writing.
  void own();

  // What is left of another module, or null. Value is the class that the family's origins have.
  template <class Value>
  [[nodiscard]] const Value* foreign() const noexcept {
    return foreign_ == nullptr ? nullptr : static_cast<const Value*>(foreign_->get());
  }
  [[nodiscard]] bool is_foreign() const noexcept { return foreign_ != nullptr; }
  // For readers that outlast the command; it does not change while they hold it.
  [[nodiscard]] std::shared_ptr<bloomery::foreign::value> share_foreign() const noexcept {
    return foreign_ == nullptr ? nullptr : *foreign_;
  }
  // To change it.
  [[nodiscard]] bloomery::foreign::value& own_foreign();
  void set_foreign(std::shared_ptr<bloomery::foreign::value> f);  // null for none
  // A value with the content of this one, which is then empty and good for nothing but its end.
  [[nodiscard]] std::unique_ptr<value> move_out();

  // For a value that nobody will use soon, such as one of many from a file.
  static std::unique_ptr<value> at_rest(std::unique_ptr<value> v);

  // Moves the memory of a value at rest to where it fragments less.
  static void move(api::defrag_ctx* how, value*& v);

 private:
  friend class use_of;
  struct awake {
    fact_list facts;
    std::shared_ptr<bloomery::any_filter> filter;
    // Whoever was lent the filter shares this one; null until somebody is.
    std::shared_ptr<const std::shared_ptr<bloomery::any_filter>> lent = nullptr;
  };
  friend class waking_room;
  void settle() const;
  void wake() const;
  void rest() const;       // if it is small, and nobody uses it
  void rest_soon() const;  // likewise, when others have been used since

  explicit value(const family& of);

  // One of these is there, or both while a value is only read.
  mutable std::unique_ptr<awake> awake_;
  mutable packed_filter::pointer at_rest_;
  // Few values have it: a pointer to a pointer keeps all others in 48 bytes.
  std::unique_ptr<std::shared_ptr<bloomery::foreign::value>> foreign_;
};

// A value in use. A small one (packed.hpp) is at rest otherwise, and has no filter; those that were
// used last stay awake, because the next command is often for the same key. Commands get their
// values by opened_key, which is one of these.
class use_of {
 public:
  explicit use_of(const value& v) : value_(v) {
    if (v.awake_ == nullptr) v.wake();
    ++v.users_;
  }
  use_of(const use_of&) = delete;
  use_of& operator=(const use_of&) = delete;
  ~use_of() {
    if (--value_.users_ == 0 && value_.bed_ == 0) value_.rest_soon();
  }

  [[nodiscard]] const value& operator*() const noexcept { return value_; }
  [[nodiscard]] const value* operator->() const noexcept { return &value_; }

 private:
  const value& value_;
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

// The hash function of filters that were made here: called, not looked for.
[[nodiscard]] inline bool has_usual_hash(const value& v) noexcept {
  const bloomery::hash_spec& hash = v.filter().hash();
  return hash.id == bloomery::hash_id::xxh3 && hash.seed == 0 && !hash.form.known();
}
[[nodiscard]] inline std::uint64_t usual_hash(std::string_view item) noexcept {
  return bloomery::xxh3_hasher().bytes(item.data(), item.size());
}

// A family of commands and its data type.
struct family {
  const char* type_name;     // nine characters, in every database file for ever
  const char* load_command;  // takes a piece of a dump: `COMMAND key iterator bytes`
  std::span<const bloomery::filter_kind> kinds;
  api::type* type = nullptr;
  // Sets what only the facts know. Throws bloomery::error(corrupt) if facts and filter disagree.
  void (*settle)(fact_list& facts, bloomery::any_filter& f) = nullptr;
  // Refuses what a client may not bring, if there is such a thing.
  void (*admit)(const value& v) = nullptr;
  // Other modules whose values belong here, and the data types of these. `adopt` makes the filter
  // and the facts beside such a value, or throws bloomery::error.
  std::span<const bloomery::foreign::origin> origins = {};
  dumped (*adopt)(std::unique_ptr<bloomery::foreign::value> from) = nullptr;
  bool absorbs = false;  // our filter then has all that the other value knows
  std::array<api::type*, 2> foreign_types = {};

  [[nodiscard]] bool has(bloomery::filter_kind kind) const;
  [[nodiscard]] bool has(const api::type* t) const;  // null has no type
};

// Lets the server fork while another thread frees values. Called once.
void prepare_for_forks();

struct value_totals {  // of all families: values that exist now, and all ever created
  std::uint64_t values = 0;
  std::uint64_t created = 0;
};
[[nodiscard]] value_totals totals() noexcept;

// The hash function of all filters that the module creates.
[[nodiscard]] std::shared_ptr<const bloomery::any_hasher> default_hash();

// Throws errc::corrupt unless a value of this kind belongs to the family.
void check_kind(const family& of, const dumped& v);

namespace detail {
void* load_value(api::io* from, int encoding, const family& of);
void* load_foreign(api::io* from, int encoding, const family& of, bloomery::foreign::origin what);
[[nodiscard]] api::type_methods shared_methods();
[[nodiscard]] api::type* create_foreign_type(api::ctx* c, bloomery::foreign::origin what,
                                             api::type_methods methods);
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

// Creates the data type of another module. False when that is loaded itself.
template <family& Family, std::size_t Number, bloomery::foreign::origin What>
[[nodiscard]] bool create_foreign_type(api::ctx* c) {
  api::type_methods methods = detail::shared_methods();
  methods.rdb_load = [](api::io* from, int encoding) {
    return detail::load_foreign(from, encoding, Family, What);
  };
  Family.foreign_types[Number] = detail::create_foreign_type(c, What, methods);
  return Family.foreign_types[Number] != nullptr;
}

}  // namespace bloomery_redis
