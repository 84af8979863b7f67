// Writes the web site of exchange/publication.hpp.
//
// Files that never change come first, then the filter, then the manifest that names them, each
// complete or not at all. So at any moment, and after a kill at any moment, the manifest names what
// is there. What a manifest named is taken away by the publisher after the one that replaced it: a
// client that has read the old one can still follow it.
//
// One publisher at a time: hold a file_lock of the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "bloomery/exchange/publication.hpp"
#include "bloomery/format/delta.hpp"
#include "bloomery/format/opening.hpp"

namespace bloomery {

struct publish_limits {
  std::uint64_t deltas = 20;  // steps that are kept; 0 for none
  // And their bytes. Never more than the packed filter has, since nobody would follow them.
  std::uint64_t delta_bytes = UINT64_MAX;
};

enum class publish_outcome : std::uint8_t {
  added,
  changed,
  unchanged,
  repaired,  // the version was there, but not all of its files, or not as they should be
};

struct publish_report {
  publication now;
  publish_outcome outcome = publish_outcome::added;
  std::uint64_t written = 0;  // bytes
  bool follows = false;       // there is a delta from the version before
};

class publisher {
 public:
  // The folder of all filters of the site.
  explicit publisher(std::filesystem::path folder, const publish_limits& limits = {},
                     const opening& how = {});

  // Throws errc::bad_argument for a name that cannot be published, errc::io, and errc::no_memory
  // when the version before is larger than `how` allows.
  publish_report publish(const std::string& name, const filter_version& f);
  // Takes a filter away: its manifest first.
  void withdraw(const std::string& name);
  // What the folder has a manifest of, in order.
  [[nodiscard]] std::vector<std::string> published() const;
  // Takes away what no manifest names any more, and writes the listing.
  void finish();

 private:
  void write_listing() const;

  std::filesystem::path folder_;
  publish_limits limits_;
  opening how_;
  std::set<std::string> published_;     // by this object
  std::set<std::string> named_before_;  // by manifests that were replaced
};

}  // namespace bloomery
