#include "bloomery/measure/traceback.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/detail/measure/identity_bytes.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/folder.hpp"

namespace bloomery {

namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::string_view slice_suffix = ".bloom";
constexpr std::uint64_t read_up_to = std::uint64_t{1} << 17U;       // bytes of a slice
constexpr std::uint64_t verified_anyway = std::uint64_t{1} << 20U;  // bytes of a file; see mapped

std::string time_text(std::uint64_t ns) {
  const std::string fraction = detail::to_text(ns % ns_per_second);
  return detail::to_text(ns / ns_per_second) + "." + std::string(9 - fraction.size(), '0') +
         fraction;
}

// Takes "SECONDS.NANOSECONDS" from the front of the text.
std::optional<std::uint64_t> take_time(std::string_view& text) {
  const auto number = [&](std::uint64_t& value) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto digits = static_cast<std::size_t>(end - text.data());
    text.remove_prefix(digits);
    return failure == std::errc() ? digits : 0;
  };
  std::uint64_t seconds = 0;
  std::uint64_t ns = 0;
  if (number(seconds) == 0 || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  if (number(ns) != 9 || seconds > UINT64_MAX / ns_per_second - 1) return std::nullopt;
  return seconds * ns_per_second + ns;
}

const trace_options& checked_options(const trace_options& o) {
  if (o.slice_ns == 0) detail::throw_bad_argument("the slice", o.slice_ns, "above 0");
  if (o.slice_packets == 0) {
    detail::throw_bad_argument("the packets of a slice", std::uint64_t{0}, "at least 1");
  }
  const abilities can = abilities_of(o.kind);
  if (can.value || can.lists_top || can.forget) {
    detail::fail(errc::bad_argument, std::string(kind_name(o.kind)) +
                                         " is no kind for slices of packets; blocked, classic, "
                                         "fuse or ribbon are");
  }
  return o;
}

plan plan_of_slice(const trace_options& o, std::uint64_t packets) {
  sizing::request r{.kind = o.kind, .keys = std::max<std::uint64_t>(1, packets)};
  if (o.bits_per_packet) {
    r.bits_per_key = o.bits_per_packet;
  } else {
    r.fpr = o.fpr;
  }
  r.probes = o.probes;
  return sizing::make_plan(r);
}

any_filter filter_of_slice(const trace_options& o, const std::shared_ptr<const any_hasher>& hash,
                           std::vector<std::uint64_t>& hashes) {
  if (abilities_of(o.kind).add) {
    any_filter f(plan_of_slice(o, hashes.size()), hash);
    f->add_hashes(hashes);
    return f;
  }
  std::ranges::sort(hashes);  // what is built at once wants each key once
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return any_filter::build(plan_of_slice(o, hashes.size()), hash, hashes);
}

// How far the ends of two slices lie apart.
std::uint64_t apart(const trace_slice& a, const trace_slice& b) {
  return std::max(a.time.to_ns, b.time.to_ns) - std::min(a.time.to_ns, b.time.to_ns);
}

std::set<trace_slice> slices_in(const std::filesystem::path& folder) {
  std::set<trace_slice> all;
  for (const folder_file& file : files_in(folder)) {
    if (const auto slice = trace_slice::from_name(file.name, file.bytes)) all.insert(*slice);
  }
  return all;
}

// Small slices are read, and their checksums compared as they are parsed.
any_filter opened(const std::filesystem::path& path, std::uint64_t bytes,
                  std::vector<std::uint64_t>& room, bool verify) {
  if (bytes <= read_up_to) {
    const std::span<const std::byte> read = read_small_file(path, room);
    try {
      const image_view image = image_view::parse(read);
      return any_filter::copy_of({.header = image.header(), .words = image.words()});
    } catch (const error&) {
      // It is packed, or what is wrong is said below with the name of the file.
    }
  }
  return any_filter::open(path, nullptr, {.verify = verify && bytes > verified_anyway});
}

// A small filter is planned with a margin, so its rate comes from its bits; a large one has the
// rate that it was planned for, and counting its bits would take longer than the rest. Where it was
// planned by its size that is the model's rate, which is kept for the next slice of the same plan.
class slice_rates {
 public:
  double of(const any_filter& packets) {
    constexpr std::uint64_t small_bits = std::uint64_t{1} << 16U;
    if (packets.shape().bits <= small_bits) return packets.fpr();
    const double target = packets.planned().fpr_target;
    if (target > 0) return target;
    const std::uint64_t keys = std::max<std::uint64_t>(1, packets.keys());
    if (keys != keys_ || packets.shape() != shape_) {
      shape_ = packets.shape();
      keys_ = keys;
      rate_ = sizing::fpr(shape_, keys);
    }
    return rate_;
  }

 private:
  shape shape_;
  std::uint64_t keys_ = 0;
  double rate_ = 0;
};

}  // namespace

// ---- slices -----------------------------------------------------------------------------------

std::string trace_slice::name() const {
  std::string text = time_text(time.from_ns) + "_" + time_text(time.to_ns);
  if (number != 0) text += "_" + detail::to_text(std::uint64_t{number});
  return text.append(slice_suffix);
}

std::optional<trace_slice> trace_slice::from_name(std::string_view name, std::uint64_t bytes) {
  const std::string_view whole = name;
  if (!name.ends_with(slice_suffix)) return std::nullopt;
  name.remove_suffix(slice_suffix.size());
  trace_slice s;
  s.bytes = bytes;
  const auto from = take_time(name);
  if (!from || !name.starts_with('_')) return std::nullopt;
  name.remove_prefix(1);
  const auto to = take_time(name);
  if (!to || *to < *from) return std::nullopt;
  s.time = {*from, *to};
  if (name.starts_with('_')) {
    const auto [end, failure] =
        std::from_chars(name.data() + 1, name.data() + name.size(), s.number);
    if (failure != std::errc() || end != name.data() + name.size()) return std::nullopt;
  }
  return s.name() == whole ? std::optional(s) : std::nullopt;  // one name for one slice
}

bool operator<(const trace_slice& a, const trace_slice& b) noexcept {
  const auto order = [](const trace_slice& s) {
    return std::tuple(s.time.from_ns, s.time.to_ns, s.number);
  };
  return order(a) < order(b);
}

// ---- the recorder -----------------------------------------------------------------------------

trace_recorder::trace_recorder(std::filesystem::path folder, const trace_options& o)
    : folder_(std::move(folder)),
      options_(checked_options(o)),
      hash_(o.seed),
      erased_(erase(hash_)) {
  static_cast<void>(plan_of_slice(options_, 1000));  // what is wrong with it is known at once
  make_folder(folder_);
  slices_ = slices_in(folder_);
  for (const trace_slice& s : slices_) bytes_ += s.bytes;
}

void trace_recorder::begin(std::uint64_t time_ns) {
  begin_ns_ = time_ns - time_ns % options_.slice_ns;
  end_ns_ = begin_ns_ > UINT64_MAX - options_.slice_ns ? UINT64_MAX : begin_ns_ + options_.slice_ns;
  open_ = {time_ns, time_ns};
}

void trace_recorder::add(const parsed_packet& p, std::uint64_t time_ns) {
  std::array<std::byte, packet_identity::v6_bytes> identity;  // NOLINT: written below
  const std::size_t size = detail::write_identity(p, identity.data());
  if (size == 0) {
    ++counts_.left_out;
    return;
  }
  const bool before = time_ns < begin_ns_ && begin_ns_ - time_ns > options_.slice_ns;
  if (hashes_.empty()) {
    begin(time_ns);
  } else if (time_ns >= end_ns_ || before || hashes_.size() >= options_.slice_packets) {
    write();
    begin(time_ns);
  }
  open_.from_ns = std::min(open_.from_ns, time_ns);
  open_.to_ns = std::max(open_.to_ns, time_ns);
  // The usual size as a constant, so that the compiler needs no other case.
  constexpr std::size_t usual = packet_identity::v4_bytes;
  hashes_.push_back(size == usual ? hash_.bytes(identity.data(), usual)
                                  : hash_.bytes(identity.data(), size));
  ++counts_.packets;
}

void trace_recorder::advance(std::uint64_t now_ns) {
  if (!hashes_.empty() && now_ns >= end_ns_) write();
}

void trace_recorder::finish() {
  if (!hashes_.empty()) write();
}

// False when there is no room on the disk.
bool trace_recorder::save(trace_slice& s) {
  const any_filter packets = filter_of_slice(options_, erased_, hashes_);
  for (;;) {
    try {
      while (slices_.contains(s)) ++s.number;
      atomic_file file(folder_ / s.name());
      packets.save(file);
      file.commit_unsynced();
      s.bytes = file_bytes(folder_ / s.name());
      return true;
    } catch (const disk_full&) {
      if (slices_.empty()) return false;
    }
    drop_farthest(s, counts_.displaced);
  }
}

void trace_recorder::write() {
  trace_slice s;
  s.time = open_;
  const std::uint64_t packets = hashes_.size();
  if (save(s)) {
    ++counts_.slices;
    bytes_ += s.bytes;
    slices_.insert(s);
    keep_within_limits(s);
  } else {
    ++counts_.lost_slices;
    counts_.lost_packets += packets;
    counts_.packets -= packets;
  }
  hashes_.clear();
}

// Usually the oldest; one that lies further ahead was written while a clock was wrong.
const trace_slice& trace_recorder::farthest_from(const trace_slice& s) const {
  const trace_slice& oldest = *slices_.begin();
  const trace_slice& newest = *slices_.rbegin();
  const bool itself = !(oldest < s) && !(s < oldest);
  return itself || apart(newest, s) > apart(oldest, s) ? newest : oldest;
}

void trace_recorder::drop_farthest(const trace_slice& from, std::uint64_t& counter) {
  const trace_slice farthest = farthest_from(from);
  slices_.erase(farthest);
  remove_file(folder_ / farthest.name());
  bytes_ -= farthest.bytes;
  ++counter;
}

// The slice that was just written stays, whatever it takes. When it is far from the one before, one
// of both may have a wrong time, and the next will show which: until then age drops what is far
// from both.
void trace_recorder::keep_within_limits(const trace_slice& written) {
  const auto far = [&](const trace_slice& a, const trace_slice& b) {
    return apart(a, b) > options_.keep_ns;
  };
  const trace_slice before = std::exchange(before_, written).value_or(written);
  const bool jumped = far(before, written);
  const auto too_old = [&](const trace_slice& s) {
    return far(s, written) && !(jumped && !far(s, before));
  };
  while (slices_.size() > 1 && (bytes_ > options_.keep_bytes || too_old(farthest_from(written)))) {
    drop_farthest(written, counts_.dropped);
  }
}

// ---- the folder -------------------------------------------------------------------------------

trace_folder::trace_folder(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::set<trace_slice> all = slices_in(folder_);
  slices_.assign(all.begin(), all.end());
}

trace_answer trace_folder::ask(const packet_identity& packet, const time_range& when,
                               bool verify) const {
  trace_answer answer;
  answer.slices = slices_.size();
  if (!slices_.empty()) {
    answer.covered.from_ns = slices_.front().time.from_ns;
    answer.covered.to_ns = 0;
  }
  std::vector<std::uint64_t> room(read_up_to / 8 + 1);
  slice_rates rates;
  const std::string_view key(reinterpret_cast<const char*>(packet.room.data()), packet.size);
  for (const trace_slice& s : slices_) {
    answer.covered.to_ns = std::max(answer.covered.to_ns, s.time.to_ns);
    if (s.time.to_ns < when.from_ns || s.time.from_ns > when.to_ns) continue;
    const std::filesystem::path path = folder_ / s.name();
    try {
      const any_filter packets = opened(path, s.bytes, room, verify);
      ++answer.asked;
      const double fpr = rates.of(packets);
      answer.false_expected += fpr;
      if (packets.contains(key)) answer.sightings.push_back({.time = s.time, .fpr = fpr});
    } catch (const error& e) {
      answer.unreadable.emplace_back(e.what());
    }
  }
  return answer;
}

}  // namespace bloomery
