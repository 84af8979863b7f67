// What JavaScript calls beside the C interface: lines in pieces, filters of keys that are counted
// first, plans, curves and pictures. web/module/bloomery.js is the other side.
//
// Calls are like those of bloomery.h: 0 or a result, a negative status after an error, of which
// bloomery_error_message() has the text. Texts are JSON, in a bloomery_buffer.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/bits/counter_array.hpp"
#include "bloomery/bloomery.h"
#include "bloomery/core/kinds.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/cell_fill.hpp"
#include "bloomery/filter/explanation.hpp"
#include "bloomery/format/describe.hpp"
#include "bloomery/format/describe_plan.hpp"
#include "bloomery/sketch/hyperloglog.hpp"
#include "c/handle.hpp"
#include "c/keys.hpp"
#include "format/json_text.hpp"
#include "lines.hpp"

// bloomery.js writes and reads these by their places.
static_assert(sizeof(bloomery_options) == 120 && offsetof(bloomery_options, keys) == 8 &&
              offsetof(bloomery_options, kind) == 72 && offsetof(bloomery_options, k) == 116);
static_assert(sizeof(bloomery_keys) == 16 && sizeof(bloomery_buffer) == 12);
static_assert(sizeof(bloomery_comparison) == 120 && sizeof(bloomery_counted_key) == 16);

namespace bloomery::web {

namespace {

using c::check_pointer;
using c::guarded;
using c::making;
using c::making_bytes;
using detail::json_object;
using detail::json_text;

constexpr std::size_t piece_keys = detail::batch_hashes;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Somebody who takes lines, a piece after the other.
class line_job {
 public:
  explicit line_job(const line_rules& rules) : lines(rules) {}
  line_job(const line_job&) = delete;
  line_job& operator=(const line_job&) = delete;
  virtual ~line_job() = default;

  virtual void take(std::span<const std::string_view> keys) = 0;
  // For those who make a filter of them.
  virtual any_filter finish(std::uint64_t /*now*/) {
    detail::fail(errc::unsupported, "these lines make no filter");
  }

  line_splitter lines;
  std::vector<char> selected{};  // lines of the last piece that the caller wants
  std::uint64_t present = 0;
  std::uint64_t different = 0;  // keys, where they are counted
};

class line_adder final : public line_job {
 public:
  line_adder(const line_rules& rules, bloomery_filter& f) : line_job(rules), filter_(f) {
    static_cast<void>(f.strings());
  }
  void take(std::span<const std::string_view> keys) override {
    filter_.filter->add(keys, filter_.strings());
  }

 private:
  bloomery_filter& filter_;
};

enum class selection : std::uint32_t { none, present, absent };

class line_checker final : public line_job {
 public:
  line_checker(const line_rules& rules, const bloomery_filter& f, selection wanted)
      : line_job(rules), filter_(f), wanted_(wanted) {
    static_cast<void>(f.strings());
  }
  void take(std::span<const std::string_view> keys) override {
    bitmap_.assign((keys.size() + 63) / 64, 0);
    filter_.filter->contains_bits(keys, filter_.strings(), bitmap_);
    for (const std::uint64_t word : bitmap_) {
      present += static_cast<std::uint64_t>(std::popcount(word));
    }
    if (wanted_ != selection::none) select();
  }

 private:
  void select() {
    const auto records = lines.records();
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool found = ((bitmap_[i / 64] >> (i % 64)) & 1U) != 0;
      if (found != (wanted_ == selection::present)) continue;
      selected.insert(selected.end(), records[i].begin(), records[i].end());
      selected.push_back(lines.end());
    }
  }

  const bloomery_filter& filter_;
  selection wanted_;
  std::vector<std::uint64_t> bitmap_{};
};

// Hashes in blocks, so that they never move.
class hash_list {
 public:
  void append(std::span<const std::uint64_t> hashes) {
    while (!hashes.empty()) {
      if (blocks_.empty() || used_ == block) {
        blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(block));
        used_ = 0;
      }
      const std::size_t number = std::min(hashes.size(), block - used_);
      std::copy_n(hashes.begin(), number, blocks_.back().get() + used_);
      used_ += number;
      count_ += number;
      hashes = hashes.subspan(number);
    }
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  // Calls work(hashes) for each block and gives it back.
  template <class Work>
  void consume(Work work) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      work(
          std::span<const std::uint64_t>(blocks_[i].get(), i + 1 < blocks_.size() ? block : used_));
      blocks_[i].reset();
    }
    blocks_.clear();
    count_ = 0;
  }

 private:
  static constexpr std::size_t block = std::size_t{1} << 17U;
  std::vector<std::unique_ptr<std::uint64_t[]>> blocks_{};
  std::size_t used_ = 0;
  std::size_t count_ = 0;
};

any_filter taken(bloomery_filter* made) {
  const std::unique_ptr<bloomery_filter> filter(made);
  return std::move(filter->filter);
}

any_filter new_filter(const bloomery_options& o) {
  bloomery_filter* made = nullptr;
  const int status = bloomery_new(&o, &made);
  if (status != BLOOMERY_OK) {
    detail::fail(static_cast<errc>(-status), bloomery_error_message());
  }
  return taken(made);
}

// A filter as `bloomery build` makes it. What is not said of the number of keys is counted: their
// hashes are kept meanwhile.
class filter_builder final : public line_job {
 public:
  filter_builder(const line_rules& rules, const bloomery_options& o)
      : line_job(rules), options_(o), kind_(c::kind_of(o)) {
    const bool can_add = abilities_of(kind_).add;
    hasher_ = c::make_hasher(c::hash_of(o), o.seed, c::form_of(o));
    if (abilities_of(kind_).value) {
      detail::fail(errc::bad_argument, "a bloomier filter has values, and lines have none");
    }
    if (can_add && (o.keys != 0 || o.epsilon != 0 || o.delta != 0)) {
      filter_ = std::make_unique<any_filter>(new_filter(o));
    } else if (abilities_of(kind_).lists_top) {
      detail::fail(errc::bad_argument, "for a top-k sketch, say how many keys there are");
    } else {
      bloomery_options tried = o;  // so that what cannot be is told before a long file is read
      tried.keys = 1000;
      static_cast<void>(c::plan_of(tried));
    }
  }

  void take(std::span<const std::string_view> keys) override {
    if (filter_ != nullptr) {
      (*filter_)->add(keys, *hasher_);
      return;
    }
    std::array<std::uint64_t, piece_keys> hashes;
    for (std::size_t first = 0; first < keys.size(); first += piece_keys) {
      const std::size_t number = std::min(piece_keys, keys.size() - first);
      const std::span<std::uint64_t> made(hashes.data(), number);
      hasher_->hash(keys.subspan(first, number), made);
      hashes_.append(made);
      if (abilities_of(kind_).add) census_.add_batch(made);
    }
    different = std::min<std::uint64_t>(hashes_.count(), census_.keys_at_most());
  }

  any_filter finish(std::uint64_t now) override {
    if (filter_ != nullptr) {
      (*filter_)->advance(now);
      return std::move(*filter_);
    }
    bloomery_options o = options_;
    o.keys = hashes_.count();
    if (!abilities_of(kind_).add) return finish_static(o);
    if (!keeps_repetitions(kind_)) {
      o.keys = std::min<std::uint64_t>(hashes_.count(), census_.keys_at_most());
    }
    o.keys = std::max<std::uint64_t>(1, o.keys);
    any_filter f = new_filter(o);
    f->advance(now);
    hashes_.consume([&](std::span<const std::uint64_t> hashes) { f->add_hashes(hashes); });
    return f;
  }

 private:
  any_filter finish_static(bloomery_options o) {
    std::vector<std::uint64_t> all;
    all.reserve(hashes_.count());
    hashes_.consume([&](std::span<const std::uint64_t> hashes) {
      all.insert(all.end(), hashes.begin(), hashes.end());
    });
    o.keys = std::max<std::uint64_t>(1, all.size());
    return any_filter::build(c::plan_of(o), hasher_, all);
  }

  bloomery_options options_;
  filter_kind kind_;
  std::shared_ptr<const any_hasher> hasher_;
  std::unique_ptr<any_filter> filter_{};  // where it can be made before its keys are counted
  hash_list hashes_{};
  hyperloglog census_{};
};

// Bits of the rules' number, as JavaScript sends them.
line_rules rules_of(std::uint32_t flags) {
  return {.end = (flags & 1U) != 0 ? '\0' : '\n',
          .keep_empty = (flags & 2U) != 0,
          .crlf = (flags & 4U) != 0};
}

template <class Job, class... Arguments>
int start(line_job** out, Arguments&&... arguments) noexcept {
  *out = nullptr;
  return guarded([&] {
    *out = std::make_unique<Job>(arguments...).release();
    return int{BLOOMERY_OK};
  });
}

// ---- what is drawn ----------------------------------------------------------------------------

std::string numbers_text(const finding& f) {
  json_object object;
  for (const named_number& n : f.numbers) {
    std::visit([&](const auto& value) { object.add(n.name, value); }, n.value);
  }
  return object.text();
}

std::string finding_text(const finding& f) {
  return json_object().add("text", f.text).add_text("numbers", numbers_text(f)).text();
}

std::string explained(const bloomery_filter& filter, std::string_view key, const any_hasher& hash) {
  const any_filter& f = filter.filter;
  const explanation e = f->explain(key, hash);
  std::string findings;
  const auto add = [&](const finding& found) {
    if (found.text.empty()) return;
    findings += (findings.empty() ? "" : ",") + finding_text(found);
  };
  for (const finding& found : e.findings) add(found);
  add(e.why);
  return json_object()
      .add_text("explanation", explain_as_json(f, key, hash))
      .add_text("findings", "[" + findings + "]")
      .text();
}

std::uint64_t cells_in(const cell_array& a, std::span<const std::uint64_t> part) {
  return a.in_words ? std::uint64_t{part.size()} * (64 / a.cell_bits)
                    : std::uint64_t{part.size()} * 64 / a.cell_bits;
}

json_object& add_array(json_object& object, const cell_array& a) {
  return object.add("unit", a.unit).add("cellBits", std::uint64_t{a.cell_bits});
}

std::string fill_text(const any_filter& f, std::size_t most) {
  const cell_array array = f->cells();
  std::uint64_t cells = 0;
  std::uint64_t used = 0;
  std::string slices;
  for (const cell_slice& s : fill_slices(array, most)) {
    cells += s.cells;
    used += s.used;
    const double share = static_cast<double>(s.used) / std::max(1.0, static_cast<double>(s.cells));
    slices += (slices.empty() ? "" : ",") + json_text(share);
  }
  double expected = std::numeric_limits<double>::quiet_NaN();
  if (layout_of(f.shape()) != position_layout::none) {
    expected = sizing::expected_fill(f.shape(), f.keys());
  }
  json_object object;
  return add_array(object, array)
      .add("cells", cells)
      .add("used", used)
      .add("expected", expected)
      .add_text("slices", "[" + slices + "]")
      .text();
}

std::string cells_text(const any_filter& f, std::uint64_t first, std::uint64_t count) {
  const cell_array array = f->cells();
  std::uint64_t total = 0;
  std::string values;
  for (const auto part : array.parts) {
    const std::uint64_t here = cells_in(array, part);
    const std::uint64_t in_word = 64 / array.cell_bits;
    const std::uint64_t from = std::clamp(first, total, total + here);
    const std::uint64_t to = std::clamp(first + count, total, total + here);
    for (std::uint64_t i = from - total; i < to - total; ++i) {
      const std::uint64_t bit =
          array.in_words ? i / in_word * 64 + i % in_word * array.cell_bits : i * array.cell_bits;
      values += (values.empty() ? "" : ",") +
                detail::to_text(detail::get_bits(part.data(), bit, array.cell_bits));
    }
    total += here;
  }
  json_object object;
  return add_array(object, array)
      .add("total", total)
      .add("first", first)
      .add_text("values", "[" + values + "]")
      .text();
}

// ---- curves -----------------------------------------------------------------------------------

template <class Value>
double or_nan(Value value) {
  try {
    return value();
  } catch (const error&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

void rates_of(const shape& s, std::span<const double> keys, double* out) {
  for (const double number : keys) {
    *out++ = or_nan([&] {
      if (!(number >= 0 && number < 0x1p63)) {
        detail::throw_bad_argument("the number of keys", number, "from 0 to 2^63");
      }
      return sizing::fpr(s, static_cast<std::uint64_t>(number));
    });
  }
}

}  // namespace

}  // namespace bloomery::web

using namespace bloomery;       // NOLINT(google-build-using-namespace): a source of C functions
using namespace bloomery::web;  // NOLINT(google-build-using-namespace)

#define WEB_CALL(result, name) extern "C" __attribute__((export_name(#name))) result name

// 0 when there is no room.
WEB_CALL(void*, web_take)(std::size_t bytes) { return std::malloc(bytes != 0 ? bytes : 1); }
WEB_CALL(void, web_give)(void* room) { std::free(room); }

WEB_CALL(int, web_plan)
(const bloomery_options* options, std::uint32_t key_bytes, double universe, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    const bloomery_options o = c::checked_options(options);
    plan_questions q{.key_bytes = key_bytes};
    q.asked.keys = o.keys;
    if (o.fpr != 0) q.asked.fpr = o.fpr;
    if (o.bits_per_key != 0) q.asked.bits_per_key = o.bits_per_key;
    if (o.bytes != 0) q.asked.bytes = o.bytes;
    if (!q.asked.fpr && !q.asked.bits_per_key && !q.asked.bytes) q.asked.fpr = 0.01;
    if (o.probes != 0) q.asked.probes = o.probes;
    if (universe != 0) {
      if (!(universe > static_cast<double>(o.keys))) {
        detail::throw_bad_argument("the universe", universe, "more than the keys");
      }
      q.universe = universe;
    }
    return bytes_of(plan_as_json(q));
  });
}

WEB_CALL(int, web_rates)
(const bloomery_options* options, const double* keys, std::size_t count, double* out) {
  return guarded([&] {
    rates_of(c::plan_of(c::checked_options(options)).shape, {keys, count}, out);
    return int{BLOOMERY_OK};
  });
}

WEB_CALL(int, web_filter_rates)
(const bloomery_filter* filter, const double* keys, std::size_t count, double* out) {
  return guarded([&] {
    check_pointer(filter, "filter");
    rates_of(filter->filter.shape(), {keys, count}, out);
    return int{BLOOMERY_OK};
  });
}

WEB_CALL(int, web_sizes)
(const bloomery_options* options, const double* fprs, std::size_t count, double* out) {
  return guarded([&] {
    bloomery_options o = c::checked_options(options);
    static_cast<void>(c::kind_of(o));
    for (std::size_t i = 0; i < count; ++i) {
      o.fpr = fprs[i];
      out[i] = or_nan([&] { return c::plan_of(o).bits_per_key(); });
    }
    return int{BLOOMERY_OK};
  });
}

WEB_CALL(int, web_explain)
(const bloomery_filter* filter, const bloomery_keys* keys, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    check_pointer(filter, "filter");
    c::key_views one(keys);
    return bytes_of(explained(*filter, one.get(0, 1).front(), one.hasher(*filter)));
  });
}

WEB_CALL(int, web_fill)
(const bloomery_filter* filter, std::size_t slices, bloomery_buffer* out) {
  return making_bytes(out, [&] { return bytes_of(fill_text(filter->filter, slices)); });
}

WEB_CALL(int, web_cells)
(const bloomery_filter* filter, double first, std::uint32_t count, bloomery_buffer* out) {
  return making_bytes(out, [&] {
    return bytes_of(cells_text(filter->filter, static_cast<std::uint64_t>(first), count));
  });
}

// What a filter in memory can do; bloomery_abilities() is about its kind.
WEB_CALL(std::uint32_t, web_can)(const bloomery_filter* filter) {
  return c::flags_of(filter->filter.can());
}

// ---- lines: start one of three jobs, then for each piece room, write and push -------------------

WEB_CALL(int, web_add_lines)(bloomery_filter* filter, std::uint32_t rules, line_job** out) {
  return start<line_adder>(out, rules_of(rules), *filter);
}
WEB_CALL(int, web_check_lines)
(const bloomery_filter* filter, std::uint32_t rules, std::uint32_t wanted, line_job** out) {
  return start<line_checker>(out, rules_of(rules), *filter, static_cast<selection>(wanted));
}
WEB_CALL(int, web_build_lines)
(const bloomery_options* options, std::uint32_t rules, line_job** out) {
  return start<filter_builder>(out, rules_of(rules), *options);
}

WEB_CALL(int, web_lines_room)(line_job* job, std::size_t bytes, char** out) {
  return guarded([&] {
    *out = job->lines.room(bytes);
    return int{BLOOMERY_OK};
  });
}

WEB_CALL(int, web_lines_push)(line_job* job, std::size_t bytes) {
  return guarded([&] {
    job->selected.clear();
    job->lines.split(bytes);
    job->take(job->lines.keys());
    return int{BLOOMERY_OK};
  });
}

// Takes the last line, if it has no end.
WEB_CALL(int, web_lines_end)(line_job* job) {
  return guarded([&] {
    job->selected.clear();
    job->lines.split_rest();
    if (!job->lines.keys().empty()) job->take(job->lines.keys());
    return int{BLOOMERY_OK};
  });
}

// lines, empty, bytes, present, different; then where the selected lines are, and their bytes.
WEB_CALL(void, web_lines_told)(const line_job* job, double* out) {
  const auto& lines = job->lines;
  const std::array<std::uint64_t, 5> told = {lines.lines(), lines.empty(), lines.bytes(),
                                             job->present, job->different};
  for (const std::uint64_t number : told) *out++ = static_cast<double>(number);
  *out++ = static_cast<double>(reinterpret_cast<std::uintptr_t>(job->selected.data()));
  *out++ = static_cast<double>(job->selected.size());
}

WEB_CALL(int, web_lines_filter)(line_job* job, double now, bloomery_filter** out) {
  return making(out, [&] { return job->finish(static_cast<std::uint64_t>(now)); });
}

WEB_CALL(void, web_lines_free)(line_job* job) { std::unique_ptr<line_job>{job}.reset(); }
