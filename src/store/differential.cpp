#include "bloomery/store/differential.hpp"

#include <charconv>
#include <map>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/filter/scalable.hpp"
#include "bloomery/format/file.hpp"
#include "change_log.hpp"
#include "record_table.hpp"

namespace bloomery {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t first_changes = 50'000;  // the filter's first layer, 110 kB at 1 %

// N of a file name such as "base.N", or nothing.
std::optional<std::uint64_t> number_in(const fs::path& path, std::string_view stem) {
  const std::string name = path.filename().string();
  if (!name.starts_with(stem)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, failure] = std::from_chars(name.data() + stem.size(), last, number);
  if (failure != std::errc() || end != last) return std::nullopt;
  return number;
}

constexpr std::string_view base_stem = "base.";
constexpr std::string_view log_stem = "changes.";

fs::path numbered(const fs::path& directory, std::string_view stem, std::uint64_t number) {
  return directory / (std::string(stem) + std::to_string(number));
}

fs::path lock_in(const fs::path& directory) {
  fs::create_directories(directory);
  fs::path path = directory / "lock";
  const log_file makes_it(path);
  return path;
}

}  // namespace

struct differential_store::state {
  state(fs::path where, double rate)
      : directory(std::move(where)), fpr(rate), lock(lock_in(directory)) {
    if (!(fpr > 0.0 && fpr <= 1.0)) {
      detail::throw_bad_argument("the rate", fpr, "above 0 and at most 1");
    }
    open(newest());
  }

  // The number of the newest base; 0 when there is none, and so at most the first log.
  [[nodiscard]] std::uint64_t newest() const {
    std::uint64_t base_number = 0;
    std::uint64_t log_number = 0;
    for (const fs::directory_entry& e : fs::directory_iterator(directory)) {
      if (const auto n = number_in(e.path(), base_stem)) base_number = std::max(base_number, *n);
      if (const auto n = number_in(e.path(), log_stem)) log_number = std::max(log_number, *n);
    }
    if (log_number > base_number) {
      throw error(errc::corrupt, numbered(directory, base_stem, log_number).string() +
                                     ": the base of the log of changes is missing");
    }
    return base_number;
  }

  void open(std::uint64_t n) {
    number = n;
    base.reset();
    log.reset();
    filter.reset();
    if (n != 0) base.emplace(numbered(directory, base_stem, n));
    if (fpr < 1.0) {
      sizing::request r;
      r.kind = filter_kind::scalable;
      r.keys = first_changes;
      r.fpr = fpr;
      filter.emplace(sizing::make_plan(r));
    }
    log.emplace(numbered(directory, log_stem, n), [&](std::uint64_t hash) {
      if (filter) filter->add(hash);
    });
    remove_others();
  }

  // Removes files of other numbers, which a merge leaves behind when it ends or is interrupted.
  void remove_others() const {
    for (const fs::directory_entry& e : fs::directory_iterator(directory)) {
      const auto in_base = number_in(e.path(), base_stem);
      const auto in_log = number_in(e.path(), log_stem);
      if (in_base.value_or(number) != number || in_log.value_or(number) != number) {
        fs::remove(e.path());
      }
    }
  }

  void change(std::string_view key, std::optional<std::string_view> value) {
    const std::uint64_t hash = log->hash_of(key);
    log->append(hash, key, value);
    if (filter) filter->add(hash);
  }

  fs::path directory;
  double fpr;
  file_lock lock;
  std::uint64_t number = 0;
  std::optional<record_table> base;
  std::optional<change_log> log;
  std::optional<scalable_filter> filter;
  differential_counts counts;
};

differential_store::differential_store(const fs::path& directory, double fpr)
    : state_(std::make_unique<state>(directory, fpr)) {}
differential_store::~differential_store() = default;

void differential_store::load(const record_source& next) {
  if (state_->number != 0 || state_->log->records() != 0) {
    throw error(errc::bad_argument, state_->directory.string() + ": the store is not empty");
  }
  record_table_writer writer(numbered(state_->directory, base_stem, 1));
  std::string_view key;
  std::string_view value;
  while (next(key, value)) writer.add(key, value);
  writer.commit();
  state_->open(1);
}

std::optional<std::string> differential_store::find(std::string_view key) {
  state& s = *state_;
  const std::uint64_t hash = s.log->hash_of(key);
  ++s.counts.asked;
  if (!s.filter || s.filter->contains(hash)) {
    ++s.counts.log_searches;
    if (auto changed = s.log->find(hash, key)) {
      if (changed->erased) return std::nullopt;
      return std::move(changed->value);
    }
    ++s.counts.wasted_searches;
  }
  ++s.counts.base_reads;
  if (!s.base) return std::nullopt;
  const std::optional<std::string_view> value = s.base->find(key);
  if (!value) return std::nullopt;
  return std::string(*value);
}

void differential_store::put(std::string_view key, std::string_view value) {
  state_->change(key, value);
}
void differential_store::erase(std::string_view key) { state_->change(key, std::nullopt); }
void differential_store::sync() { state_->log->sync(); }

void differential_store::for_each(const record_visitor& visit) const {
  std::map<std::string, change_log::change, std::less<>> changed;
  state_->log->for_each([&](std::string_view key, const change_log::change& c) {
    changed.insert_or_assign(std::string(key), c);
  });
  auto next = changed.begin();
  const auto visit_changes = [&](auto before) {
    for (; next != changed.end() && before(next->first); ++next) {
      if (!next->second.erased) visit(next->first, next->second.value);
    }
  };
  if (state_->base) {
    state_->base->for_each([&](std::string_view key, std::string_view value) {
      visit_changes([&](const std::string& k) { return k < key; });
      const bool replaced = next != changed.end() && next->first == key;
      if (!replaced) visit(key, value);
    });
  }
  visit_changes([](const std::string&) { return true; });
}

void differential_store::merge() {
  state& s = *state_;
  record_table_writer writer(numbered(s.directory, base_stem, s.number + 1));
  for_each([&](std::string_view key, std::string_view value) { writer.add(key, value); });
  writer.commit();
  s.open(s.number + 1);
}

std::uint64_t differential_store::base_records() const noexcept {
  return state_->base ? state_->base->records() : 0;
}
std::uint64_t differential_store::changes() const noexcept { return state_->log->records(); }
double differential_store::fpr() const noexcept {
  return state_->filter ? state_->filter->fpr() : 1.0;
}
std::uint64_t differential_store::filter_bytes() const noexcept {
  if (!state_->filter) return 0;
  std::uint64_t words = 0;
  for (const auto part : state_->filter->parts()) words += part.size();
  return words * 8;
}
const differential_counts& differential_store::counts() const noexcept { return state_->counts; }

}  // namespace bloomery
