#include "bloomery/lists/blocklist.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery {

namespace {

// The marks: numbers for what occurs in a list. They are frozen, since files contain them.
//
//     from 0    lengths of IPv4 prefixes       from 162  numbers of labels of domains
//     from 33   lengths of IPv6 prefixes       from 290  those of the hosts of wide URLs
//     from 418  numbers of slashes in a path   from 482  a host, a URL, a page, a query
constexpr std::size_t v4_length = 0;
constexpr std::size_t v6_length = v4_length + 33;
constexpr std::size_t domain_labels = v6_length + 129;
constexpr std::size_t wide_labels = domain_labels + 128;
constexpr std::size_t path_depth = wide_labels + 128;
constexpr std::size_t any_host = path_depth + deepest_blocked_url + 1;
constexpr std::size_t any_url = any_host + 1;
constexpr std::size_t any_page = any_url + 1;
constexpr std::size_t any_query = any_page + 1;
constexpr std::size_t numbers = any_query + 1;
static_assert(numbers == 486);

using census = std::bitset<numbers>;

// The builder of a list that will be merged does not know what occurs in the others, so it sizes
// the filter for this many strings in a lookup. That is enough for all prefix lengths, and for URLs
// of a dozen depths on hosts of a dozen numbers of labels; the largest possible lookup has 8,500.
constexpr std::size_t questions_with_room = 256;

std::size_t count_between(const census& seen, std::size_t begin, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) count += seen[i] ? 1U : 0U;
  return count;
}

// The largest number of strings that the lookup of an address, a domain or a URL asks for.
std::size_t most_questions(const census& seen) {
  const std::size_t address = std::max(count_between(seen, v4_length, v6_length),
                                       count_between(seen, v6_length, domain_labels));
  const std::size_t domain =
      count_between(seen, domain_labels, wide_labels) + (seen[any_host] ? 1U : 0U);
  const std::size_t hosts =
      count_between(seen, wide_labels, path_depth) + (seen[any_url] ? 1U : 0U);
  const std::size_t pages = count_between(seen, path_depth, any_host) + (seen[any_query] ? 1U : 0U);
  return std::max(address, domain) + hosts * pages + (seen[any_page] ? 1U : 0U);
}

constexpr char tag_of(block_kind kind) noexcept {
  constexpr std::string_view tags = "RHDUWP";
  return tags[static_cast<std::size_t>(kind)];
}
constexpr char mark_tag = 'M';

void append_range(std::string& out, const ip_address& address, unsigned length) {
  out.push_back(tag_of(block_kind::range));
  out.push_back(address.family == ip_family::v4 ? '4' : '6');
  out.push_back(static_cast<char>(length));
  const std::size_t whole = length / 8;
  out.append(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole));
  if (length % 8 != 0) {
    out.push_back(static_cast<char>(address.bytes[whole] & (0xff00U >> (length % 8))));
  }
}

void derive(std::string& out, const block_entry& entry) {
  out.clear();
  if (entry.kind == block_kind::range) {
    return append_range(out, entry.range.first, entry.range.length);
  }
  out.push_back(tag_of(entry.kind));
  out.append(entry.name);
}

block_entry entry_of(std::string_view derived) {
  block_entry entry;
  while (tag_of(entry.kind) != derived.front()) {
    entry.kind = static_cast<block_kind>(static_cast<unsigned>(entry.kind) + 1);
  }
  if (entry.kind != block_kind::range) {
    entry.name = derived.substr(1);
    return entry;
  }
  entry.range.first.family = derived[1] == '4' ? ip_family::v4 : ip_family::v6;
  entry.range.length = static_cast<unsigned char>(derived[2]);
  std::copy(derived.begin() + 3, derived.end(), entry.range.first.bytes.begin());
  return entry;
}

void derive_mark(std::string& out, std::size_t number) {
  out.assign({mark_tag, static_cast<char>(number & 0xffU), static_cast<char>(number >> 8U)});
}

template <class Take>
void for_each_mark(const block_entry& entry, Take take) {
  if (entry.kind == block_kind::range) {
    const bool v4 = entry.range.first.family == ip_family::v4;
    return take((v4 ? v4_length : v6_length) + entry.range.length);
  }
  if (entry.kind == block_kind::host) return take(any_host);
  if (entry.kind == block_kind::domain) return take(domain_labels + count_labels(entry.name));
  if (entry.kind == block_kind::page) return take(any_page);
  const std::string_view name = entry.name;
  const std::size_t end = name.find_first_of("/?");
  const std::string_view path = name.substr(std::min(end, name.size()));
  const bool wide = entry.kind == block_kind::wide_url;
  take(wide ? wide_labels + count_labels(name.substr(0, end)) : any_url);
  if (path.find('?') != std::string_view::npos) return take(any_query);
  take(path_depth + static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')));
}

// Reads the marks of a filter. A rare false positive only makes lookups ask a few strings more.
census read_census(const any_filter& f) {
  census seen;
  std::string derived;
  for (std::size_t i = 0; i < numbers; ++i) {
    derive_mark(derived, i);
    seen[i] = f.contains(derived);
  }
  return seen;
}

[[noreturn]] void throw_no_such(std::string_view what, std::string_view text) {
  throw error(errc::bad_argument, "'" + std::string(text) + "' is no " + std::string(what));
}

}  // namespace

struct block_list_builder::marks {
  census seen;
};

block_list_builder::block_list_builder(const block_list_options& o)
    : options_(o),
      keys_(key_rule::block_list, o.directory, o.seed),
      marks_(std::make_unique<marks>()) {
  if (!(o.fpr > 0.0 && o.fpr < 1.0))
    detail::throw_bad_argument("fpr", o.fpr, "above 0 and below 1");
}

block_list_builder::~block_list_builder() = default;

void block_list_builder::add(const block_entry& entry) {
  ++entries_;
  derive(derived_, entry);
  keys_.add(derived_);
  for_each_mark(entry, [&](std::size_t number) {
    if (marks_->seen[number]) return;
    marks_->seen[number] = true;
    derive_mark(derived_, number);
    keys_.add(derived_);
  });
}

void block_list_builder::add_domain(std::string_view domain) {
  const auto entry = domain_entry(domain, block_kind::domain);
  if (!entry) throw_no_such("domain", domain);
  add(*entry);
}

void block_list_builder::add_host(std::string_view host) {
  const auto entry = domain_entry(host, block_kind::host);
  if (!entry) throw_no_such("host", host);
  add(*entry);
}

void block_list_builder::add_url(std::string_view text) {
  const auto entry = url_entry(text, block_kind::url);
  if (!entry) throw_no_such("URL of at most 2048 bytes", text);
  add(*entry);
}

line_kind block_list_builder::add_line(std::string_view line) {
  const block_line parsed = parse_block_line(line);
  for (const block_entry& entry : parsed.entries) add(entry);
  return parsed.kind;
}

std::size_t block_list_builder::questions() const noexcept {
  return std::max<std::size_t>(1, most_questions(marks_->seen));
}

any_filter block_list_builder::build() {
  if (options_.room == 0) return keys_.build(options_.fpr, questions());
  if (entries_ > options_.room) {
    throw error(errc::full, "there are " + std::to_string(entries_) + " entries, and room for " +
                                std::to_string(options_.room));
  }
  if (questions() > questions_with_room) {
    throw error(errc::unreachable,
                "a URL takes up to " + std::to_string(questions()) +
                    " questions here; lists that are to be merged must do with " +
                    std::to_string(questions_with_room));
  }
  return keys_.build(options_.fpr, questions_with_room, options_.room + numbers);
}

struct block_list::plan_of_questions {
  explicit plan_of_questions(const census& marks) : seen(marks) {
    for (unsigned length = 0; length <= 128; ++length) {
      if (length <= 32 && seen[v4_length + length]) v4.insert(v4.begin(), length);
      if (seen[v6_length + length]) v6.insert(v6.begin(), length);
    }
    wide = count_between(seen, wide_labels, path_depth) > 0;
    pages = wide || seen[any_url] || seen[any_page];
  }

  census seen;
  std::vector<unsigned> v4;  // lengths, the longest first
  std::vector<unsigned> v6;
  bool wide = false;
  bool pages = false;
};

block_list::block_list(any_filter f) : filter_(std::move(f)) {
  const auto hasher = derived_hasher(filter_.header(), key_rule::block_list);
  if (filter_.hasher() == nullptr) filter_.use(hasher);
  plan_ = std::make_unique<plan_of_questions>(read_census(filter_));
}

block_list::block_list(block_list&&) noexcept = default;
block_list& block_list::operator=(block_list&&) noexcept = default;
block_list::~block_list() = default;

block_list block_list::open(const std::filesystem::path& path, const opening& how) {
  try {
    return block_list(any_filter::open(path, nullptr, how));
  } catch (const error& e) {
    if (e.code() != errc::mismatch) throw;
    throw error(e.code(), path.string() + ": " + e.what());
  }
}

std::size_t block_list::questions() const noexcept {
  return std::max<std::size_t>(1, most_questions(plan_->seen));
}

std::optional<block_entry> block_list::check_address(const ip_address& address) const {
  block_batch batch(*this);
  batch.add_address(address);
  batch.ask();
  return batch.answer(0);
}

std::optional<block_entry> block_list::check_domain(std::string_view domain) const {
  block_batch batch(*this);
  batch.add_domain(domain);
  batch.ask();
  return batch.answer(0);
}

std::optional<block_entry> block_list::check_url(std::string_view text) const {
  block_batch batch(*this);
  batch.add_url(text);
  batch.ask();
  return batch.answer(0);
}

void block_confirmation::want(std::string_view derived) {
  wanted_.try_emplace(std::string(derived));
}

void block_confirmation::see(const block_entry& entry) {
  derive(derived_, entry);
  const auto found = wanted_.find(std::string_view(derived_));
  if (found != wanted_.end()) found->second = true;
}

bool block_confirmation::confirmed(std::string_view derived) const {
  const auto found = wanted_.find(derived);
  return found != wanted_.end() && found->second;
}

void block_batch::clear() noexcept {
  text_.clear();
  ends_.clear();
  thing_ends_.clear();
}

void block_batch::add_address(const ip_address& address) {
  ask_address(address);
  end_thing();
}

void block_batch::add_domain(std::string_view domain) {
  if (const auto name = normal_domain(domain)) {
    ask_domain(*name);
  } else if (const auto address = ip_address::parse(domain)) {
    ask_address(*address);
  }
  end_thing();
}

void block_batch::add_url(std::string_view text) {
  if (!list_->plan_->pages) {  // only the host matters
    const std::size_t host = text.find("://");
    if (host != std::string_view::npos) {
      text = text.substr(0, host + 3 + host_end(text.substr(host + 3)));
    }
  }
  if (const auto u = url::parse(text)) {
    ask_pages(*u);
    const auto address = ip_address::parse(u->host);
    address ? ask_address(*address) : ask_domain(u->host);
  }
  end_thing();
}

void block_batch::add(const text_thing& thing) {
  switch (thing.kind) {
    case thing_kind::address: return add_address(thing.address);
    case thing_kind::domain: return add_domain(thing.text);
    case thing_kind::url: return add_url(thing.text);
  }
}

void block_batch::ask_address(const ip_address& address) {
  const ip_address a = address.unmapped();
  for (const unsigned length : a.family == ip_family::v4 ? list_->plan_->v4 : list_->plan_->v6) {
    append_range(text_, a, length);
    end_string();
  }
}

void block_batch::ask_domain(std::string_view domain) {
  const auto& seen = list_->plan_->seen;
  if (seen[any_host]) {
    text_.append(1, tag_of(block_kind::host)).append(domain);
    end_string();
  }
  for (std::size_t labels = count_labels(domain); labels > 0; --labels) {
    if (seen[domain_labels + labels]) {
      text_.append(1, tag_of(block_kind::domain)).append(domain);
      end_string();
    }
    domain.remove_prefix(std::min(domain.find('.'), domain.size() - 1) + 1);
  }
}

void block_batch::ask_page(char tag, std::string_view host, std::string_view path,
                           std::string_view query) {
  if (host.size() + path.size() + query.size() + 1 > longest_blocked_url + 1) return;
  text_.append(1, tag).append(host).append(path);
  if (!query.empty()) text_.append("?").append(query);
  end_string();
}

// The most specific comes first: with the query, without it, and then up to each '/'.
void block_batch::ask_beginnings(char tag, std::string_view host, const url& u) {
  const auto& seen = list_->plan_->seen;
  std::string_view path = page_path(u);
  if (seen[any_query] && !u.query.empty()) ask_page(tag, host, path, u.query);
  auto depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
  for (;; --depth) {
    if (depth <= deepest_blocked_url && seen[path_depth + depth]) ask_page(tag, host, path, "");
    if (depth == 0) return;
    path = path.substr(0, path.rfind('/'));
  }
}

void block_batch::ask_pages(const url& u) {
  const auto& seen = list_->plan_->seen;
  if (!list_->plan_->pages) return;
  const std::string authority = u.authority();
  if (seen[any_page]) ask_page(tag_of(block_kind::page), authority, u.path, u.query);
  if (seen[any_url]) ask_beginnings(tag_of(block_kind::url), authority, u);
  if (!list_->plan_->wide || ip_address::parse(u.host)) return;
  std::string_view host = authority;
  for (std::size_t labels = count_labels(host); labels > 0; --labels) {
    if (seen[wide_labels + labels]) ask_beginnings(tag_of(block_kind::wide_url), host, u);
    host.remove_prefix(std::min(host.find('.'), host.size() - 1) + 1);
  }
}

std::string_view block_batch::string_at(std::size_t i) const noexcept {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

void block_batch::ask() {
  strings_.clear();
  for (std::size_t i = 0; i < ends_.size(); ++i) strings_.push_back(string_at(i));
  bitmap_.assign((strings_.size() + 63) / 64, 0);
  list_->filter_.contains_bits(strings_, bitmap_);
}

void block_batch::report_to(block_confirmation& list) const {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (yes(i)) list.want(string_at(i));
  }
}

bool block_batch::reported(std::size_t thing) const noexcept {
  for (std::size_t i = first_string(thing); i < thing_ends_[thing]; ++i) {
    if (yes(i)) return true;
  }
  return false;
}

std::optional<block_entry> block_batch::answer(std::size_t thing,
                                               const block_confirmation* list) const {
  for (std::size_t i = first_string(thing); i < thing_ends_[thing]; ++i) {
    if (!yes(i)) continue;
    const std::string_view derived = string_at(i);
    if (list == nullptr || list->confirmed(derived)) return entry_of(derived);
  }
  return std::nullopt;
}

}  // namespace bloomery
