// Block lists of addresses, domains and URLs in one filter: a few bits for each entry; the list
// itself is needed only to confirm what the filter reports (Broder and Mitzenmacher 2004).
//
// An entry is one string, whose first byte is its kind:
//
//     'R' family length prefix    a range: the bytes of its prefix, the bits after it zero
//     'H' host                    'D' domain
//     'U' host path ?query        'W' the same on all hosts of a domain        'P' a URL alone
//     'M' number                  something occurs in the list: see `census` in the source
//
// A lookup of an address asks for one string for each prefix length: logically a filter for each
// length (Dharmapurikar et al. 2003, for routing tables). A domain is looked up with its parents, a
// URL with those of its host and the beginnings of its path. The marks tell which prefix lengths,
// numbers of labels and depths of paths occur and are asked for; merging unites them.
//
// The false-positive rate holds for a whole address, domain or URL: the filter is sized for the
// largest number of strings that one lookup can ask for, given what occurs in the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bloomery/detail/lists/derived_keys.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/lists/address.hpp"
#include "bloomery/lists/block_entry.hpp"
#include "bloomery/lists/block_scan.hpp"

namespace bloomery {

struct block_list_options {
  double fpr = 1e-3;  // of an address, a domain or a URL
  // If not 0, the filter has room for this many entries of any kinds and lengths. Filters that are
  // built with the same room, rate and seed can be merged.
  std::uint64_t room = 0;
  std::uint64_t seed = 0;
  std::filesystem::path directory = ".";  // where a long list may be spooled
};

class block_list_builder {
 public:
  explicit block_list_builder(const block_list_options& o);
  block_list_builder(const block_list_builder&) = delete;
  block_list_builder& operator=(const block_list_builder&) = delete;
  ~block_list_builder();

  void add(const block_entry& entry);
  void add_address(const ip_address& address) { add(range_entry({address, address.bits()})); }
  void add_range(const ip_range& range) { add(range_entry(range)); }
  // A domain with all names below it, a host alone, a page with all pages below it. These throw
  // errc::bad_argument for a text that is no domain or no URL.
  void add_domain(std::string_view domain);
  void add_host(std::string_view host);
  void add_url(std::string_view text);
  // Adds a line in any of the forms of block_entry.hpp, and returns what it was.
  line_kind add_line(std::string_view line);

  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  // The largest number of strings that one lookup asks for. The filter is sized for it.
  [[nodiscard]] std::size_t questions() const noexcept;
  [[nodiscard]] any_filter build();

 private:
  struct marks;

  block_list_options options_;
  derived_keys keys_;
  std::unique_ptr<marks> marks_;
  std::uint64_t entries_ = 0;
  std::string derived_;
};

// Several threads may ask at once.
class block_list {
 public:
  // A filter that block_list_builder made. Throws errc::mismatch for any other.
  explicit block_list(any_filter f);
  [[nodiscard]] static block_list open(const std::filesystem::path& path, const opening& how = {});
  block_list(block_list&&) noexcept;
  block_list& operator=(block_list&&) noexcept;
  ~block_list();

  [[nodiscard]] const any_filter& filter() const noexcept { return filter_; }
  [[nodiscard]] std::size_t questions() const noexcept;

  // The most specific entry that blocks the argument; nothing when none does, or for a text that is
  // no domain or no URL. block_batch is faster for many lookups.
  [[nodiscard]] std::optional<block_entry> check_address(const ip_address& address) const;
  [[nodiscard]] std::optional<block_entry> check_domain(std::string_view domain) const;
  [[nodiscard]] std::optional<block_entry> check_url(std::string_view text) const;

 private:
  friend class block_batch;
  struct plan_of_questions;

  any_filter filter_;
  std::unique_ptr<plan_of_questions> plan_;
};

// Looks up in the list itself, read once, the entries that the filter reported; keeps no others.
class block_confirmation {
 public:
  void want(std::string_view derived);
  void see(const block_entry& entry);
  [[nodiscard]] bool confirmed(std::string_view derived) const;
  [[nodiscard]] std::size_t wanted() const noexcept { return wanted_.size(); }

 private:
  std::unordered_map<std::string, bool, secret_text_hash, std::equal_to<>> wanted_;
  std::string derived_;
};

// Many lookups at once. The list must outlive it.
class block_batch {
 public:
  explicit block_batch(const block_list& list) : list_(&list) {}

  void clear() noexcept;
  // Each call adds a lookup; they are numbered in this order.
  void add_address(const ip_address& address);
  void add_domain(std::string_view domain);
  void add_url(std::string_view text);
  void add(const text_thing& thing);
  [[nodiscard]] std::size_t size() const noexcept { return thing_ends_.size(); }

  void ask();
  // Passes on every entry that the filter reported.
  void report_to(block_confirmation& list) const;
  // The entry that blocks number `thing`; if `list` is given, only entries that it confirms count.
  [[nodiscard]] std::optional<block_entry> answer(std::size_t thing,
                                                  const block_confirmation* list = nullptr) const;
  // Whether the filter reported anything for number `thing`.
  [[nodiscard]] bool reported(std::size_t thing) const noexcept;

 private:
  void end_string() { ends_.push_back(text_.size()); }
  void end_thing() { thing_ends_.push_back(ends_.size()); }
  void ask_address(const ip_address& address);
  void ask_domain(std::string_view domain);
  void ask_pages(const url& u);
  void ask_page(char tag, std::string_view host, std::string_view path, std::string_view query);
  void ask_beginnings(char tag, std::string_view host, const url& u);
  [[nodiscard]] std::string_view string_at(std::size_t i) const noexcept;
  [[nodiscard]] std::size_t first_string(std::size_t thing) const noexcept {
    return thing == 0 ? 0 : thing_ends_[thing - 1];
  }
  [[nodiscard]] bool yes(std::size_t i) const noexcept {
    return ((bitmap_[i / 64] >> (i % 64)) & 1U) != 0;
  }

  const block_list* list_;
  std::string text_;                     // all strings, one after the other
  std::vector<std::size_t> ends_;        // of each string
  std::vector<std::size_t> thing_ends_;  // of the strings of each thing
  std::vector<std::string_view> strings_;
  std::vector<std::uint64_t> bitmap_;
};

}  // namespace bloomery
