// Traceback of single packets (Snoeren and others 2001): a router remembers, for some minutes, the
// packets that it has forwarded, in filters. Whoever has received a packet asks the routers whether
// they have seen it, and so finds out where it came from, whatever its source address says.
//
//     folder/1762345678.000000000_1762345678.999999000.bloom     one filter for each slice of time
//            1762345679.000000000_1762345679.999999000.bloom
//
// Slices are ordinary filter files, of the right size because they are made when all packets of
// the slice are known: until then a packet is a 64-bit hash in memory. The names are the index of
// time: the first and the last packet of a slice, in seconds and nanoseconds since 1970. So an
// index can not be damaged, nor say anything else than the folder has. The hash function is
// drawn by each recorder (hash/secret_hasher.hpp): nobody can make packets that collide, and what
// one router takes for another packet, its neighbour does not.
//
//     trace_recorder recorder("folder", {.keep_ns = 600'000'000'000});
//     recorder.add(parse_packet(p), p.time_ns);
//     recorder.finish();
//
//     trace_folder("folder").ask(*identity_of(parsed), {}).sightings;      // when it was here
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bloomery/core/shape.hpp"
#include "bloomery/hash/any_hasher.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/measure/packet_identity.hpp"

namespace bloomery {

struct trace_options {
  std::uint64_t slice_ns = 1'000'000'000;
  // Slices that end so long before the one just written are dropped, or so long after it: those
  // come from a clock that was wrong.
  std::uint64_t keep_ns = UINT64_MAX;
  std::uint64_t keep_bytes = UINT64_MAX;              // of all slices together
  std::size_t slice_packets = std::size_t{1} << 22U;  // a slice with more of them ends early
  filter_kind kind = filter_kind::blocked;
  // The rate of each slice, or else bits a packet, and perhaps the probes.
  double fpr = 0.01;
  std::optional<double> bits_per_packet = std::nullopt;
  std::optional<std::uint32_t> probes = std::nullopt;
  std::uint64_t seed = random_seed();
};

struct time_range {  // both included
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = UINT64_MAX;

  friend bool operator==(const time_range&, const time_range&) = default;
};

struct trace_slice {
  time_range time;
  std::uint32_t number = 0;  // of several with the same times
  std::uint64_t bytes = 0;

  [[nodiscard]] std::string name() const;
  // Nothing for a name that is not that of a slice.
  [[nodiscard]] static std::optional<trace_slice> from_name(std::string_view name,
                                                            std::uint64_t bytes);
  friend bool operator<(const trace_slice& a, const trace_slice& b) noexcept;
};

struct trace_counts {
  std::uint64_t packets = 0;       // recorded
  std::uint64_t left_out = 0;      // not IP, or too little of it captured
  std::uint64_t slices = 0;        // written
  std::uint64_t dropped = 0;       // old slices, by age or bytes
  std::uint64_t displaced = 0;     // old slices, because the disk was full
  std::uint64_t lost_slices = 0;   // new ones for which there was no room at all,
  std::uint64_t lost_packets = 0;  // and their packets
};

class trace_recorder {
 public:
  // Makes the folder; goes on where slices are. Throws errc::io, errc::bad_argument.
  explicit trace_recorder(std::filesystem::path folder, const trace_options& o = {});

  // Times may run backwards: within a slice that does not matter, further back begins a new slice.
  // Throws errc::io when a slice can not be written for another reason than a full disk; on a full
  // one the oldest slices make room.
  void add(const parsed_packet& p, std::uint64_t time_ns);
  // Time goes on though no packet comes: writes a slice whose time is over.
  void advance(std::uint64_t now_ns);
  // Writes what is in memory. A recorder that is destroyed without it loses its last slice.
  void finish();

  [[nodiscard]] const trace_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::set<trace_slice>& slices() const noexcept { return slices_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void begin(std::uint64_t time_ns);
  void write();
  bool save(trace_slice& s);
  [[nodiscard]] const trace_slice& farthest_from(const trace_slice& s) const;
  void drop_farthest(const trace_slice& from, std::uint64_t& counter);
  void keep_within_limits(const trace_slice& written);

  std::filesystem::path folder_;
  trace_options options_;
  secret_hasher hash_;
  std::shared_ptr<const any_hasher> erased_;
  std::vector<std::uint64_t> hashes_;  // of the slice that is open
  time_range open_{};                  // of the packets in it
  std::uint64_t begin_ns_ = 0;         // its bounds
  std::uint64_t end_ns_ = 0;
  std::set<trace_slice> slices_;
  std::optional<trace_slice> before_;  // the last one that was written
  std::uint64_t bytes_ = 0;
  trace_counts counts_;
};

struct sighting {
  time_range time;  // of the slice
  double fpr = 0;   // the chance that the slice says so of a packet that was not there

  friend bool operator==(const sighting&, const sighting&) = default;
};

struct trace_answer {
  std::vector<sighting> sightings;  // by time
  std::uint64_t asked = 0;          // slices of that time
  double false_expected = 0;        // the sum of their rates
  time_range covered{};             // the first and last slice of all; meaningless without slices
  std::uint64_t slices = 0;         // of all times
  std::vector<std::string> unreadable;  // slices of that time that could not be asked, and why

  // Whether the answer "not seen" can be relied on: every slice of that time was asked.
  [[nodiscard]] bool complete() const noexcept { return unreadable.empty(); }
};

// A folder that somebody recorded, or records right now. Any number of threads may ask.
class trace_folder {
 public:
  // Throws errc::io when there is no such folder.
  explicit trace_folder(std::filesystem::path folder);

  // Without `verify` the checksums of slices above 1 MiB are not compared (format/opening.hpp).
  [[nodiscard]] trace_answer ask(const packet_identity& packet, const time_range& when,
                                 bool verify = true) const;
  [[nodiscard]] const std::vector<trace_slice>& slices() const noexcept { return slices_; }

 private:
  std::filesystem::path folder_;
  std::vector<trace_slice> slices_;
};

// ---- between hosts: the payloads of exchange/proved_questions.hpp -----------------------------

struct trace_question {
  time_range when{};
  std::vector<packet_identity> packets;
};
inline constexpr std::size_t most_packets_asked = 256;
inline constexpr std::size_t most_sightings_sent = 4096;  // for each packet; the newest ones

[[nodiscard]] std::vector<std::byte> to_message(const trace_question& q);
[[nodiscard]] std::vector<std::byte> to_message(const std::vector<trace_answer>& answers);
// Bytes that somebody else sent: throw errc::corrupt unless they are a question, or an answer to
// one of this many packets.
[[nodiscard]] trace_question question_from(std::span<const std::byte> message);
[[nodiscard]] std::vector<trace_answer> answers_from(std::span<const std::byte> message,
                                                     std::size_t packets);

}  // namespace bloomery
