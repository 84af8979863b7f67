#include "bloomery/exchange/publication.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "bloomery/core/error.hpp"
#include "bloomery/core/kinds.hpp"
#include "bloomery/detail/core/utf8.hpp"
#include "bloomery/format/version_name.hpp"
#include "format/json_text.hpp"
#include "json_reader.hpp"

namespace bloomery {

namespace {

using detail::json_object;
using detail::json_quoted;
using detail::json_reader;

constexpr std::size_t most_name_bytes = 200;  // file systems have 255, and endings come to it
constexpr std::size_t most_file_bytes = 255;
constexpr std::uint64_t most_file_size = std::uint64_t{1} << 50U;  // sums of these do not overflow

// One part of a path, and nothing that has a meaning of its own there.
bool is_plain_file_name(std::string_view name) {
  if (name.empty() || name.size() > most_file_bytes || name.front() == '.') return false;
  for (std::size_t at = 0; at < name.size();) {
    const auto byte = static_cast<unsigned char>(name[at]);
    const std::size_t bytes = detail::code_point_bytes(name, at);
    if (byte < 0x20U || byte == 0x7fU || name[at] == '/' || (byte >= 0x80U && bytes == 1)) {
      return false;
    }
    at += bytes;
  }
  return true;
}

// The members of an object that have to be there, each once.
class members {
 public:
  members(json_reader& in, std::initializer_list<std::string_view> names) : in_(&in) {
    for (const std::string_view name : names) left_.push_back(name);
  }
  void met(std::string_view name) {
    const auto at = std::ranges::find(left_, name);
    if (at == left_.end()) in_->fail("it says something twice");
    left_.erase(at);
  }
  void finish() const {
    if (!left_.empty()) in_->fail("it has no " + std::string(left_.front()));
  }

 private:
  json_reader* in_;
  std::vector<std::string_view> left_;
};

std::uint64_t read_version(json_reader& in) {
  const auto version = parse_version_name(in.string());
  if (!version) in.fail("a version is not 16 hexadecimal digits");
  return *version;
}

std::uint64_t read_size(json_reader& in) {
  const std::uint64_t bytes = in.number();
  if (bytes == 0 || bytes > most_file_size) in.fail("a file has no such number of bytes");
  return bytes;
}

std::string read_file_name(json_reader& in) {
  std::string name = in.string();
  if (!is_plain_file_name(name)) in.fail("a file has no such name");
  return name;
}

published_delta read_delta(json_reader& in) {
  published_delta d;
  members all(in, {"from", "to", "file", "bytes"});
  in.object([&](std::string_view name) {
    if (name == "from") {
      d.from = read_version(in);
    } else if (name == "to") {
      d.to = read_version(in);
    } else if (name == "file") {
      d.file = read_file_name(in);
    } else if (name == "bytes") {
      d.bytes = read_size(in);
    } else {
      return in.skip();  // later versions may say more
    }
    all.met(name);
  });
  all.finish();
  return d;
}

void read_packed(json_reader& in, publication& p) {
  members all(in, {"file", "bytes"});
  in.object([&](std::string_view name) {
    if (name == "file") {
      p.packed_file = read_file_name(in);
    } else if (name == "bytes") {
      p.packed_bytes = read_size(in);
    } else {
      return in.skip();
    }
    all.met(name);
  });
  all.finish();
}

void read_deltas(json_reader& in, publication& p) {
  in.array([&] {
    if (p.deltas.size() == most_published_deltas) in.fail("it has too many deltas");
    published_delta d = read_delta(in);
    if (d.from == d.to || (!p.deltas.empty() && p.deltas.back().to != d.from)) {
      in.fail("its deltas are no chain");
    }
    p.deltas.push_back(std::move(d));
  });
}

}  // namespace

publication parse_manifest(std::string_view text) {
  json_reader in(text, "the manifest");
  if (text.size() > most_manifest_bytes) in.fail("it is too long");
  publication p;
  members all(in, {"name", "version", "bytes", "packed", "deltas"});
  in.object([&](std::string_view name) {
    if (name == "name") {
      p.name = read_file_name(in);
    } else if (name == "version") {
      p.version = read_version(in);
    } else if (name == "bytes") {
      p.bytes = read_size(in);
    } else if (name == "packed") {
      read_packed(in, p);
    } else if (name == "deltas") {
      read_deltas(in, p);
    } else {
      return in.skip();
    }
    all.met(name);
  });
  in.finish();
  all.finish();
  if (!p.deltas.empty() && p.deltas.back().to != p.version) {
    in.fail("its deltas do not lead to its version");
  }
  return p;
}

std::string manifest_text(const publication& p) {
  std::string deltas;
  for (const published_delta& d : p.deltas) {
    deltas += deltas.empty() ? "" : ",\n";
    deltas += json_object()
                  .add("from", std::string_view(version_name(d.from)))
                  .add("to", std::string_view(version_name(d.to)))
                  .add_text("file", json_quoted(d.file))
                  .add("bytes", d.bytes)
                  .text();
  }
  return json_object()
             .add_text("name", json_quoted(p.name))
             .add("version", std::string_view(version_name(p.version)))
             .add("bytes", p.bytes)
             .add_text("packed", json_object()
                                     .add_text("file", json_quoted(p.packed_file))
                                     .add("bytes", p.packed_bytes)
                                     .text())
             .add_text("deltas", "[" + deltas + "]")
             .text() +
         "\n";
}

bool is_published_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> endings = {".json", ".packed", ".delta"};
  // The manifest of "index" would be the listing.
  return is_plain_file_name(name) && name.size() <= most_name_bytes && name != "index" &&
         std::ranges::none_of(endings, [&](std::string_view e) { return name.ends_with(e); });
}

std::string packed_file_name(std::string_view name, std::uint64_t version) {
  return std::string(name) + "." + version_name(version) + ".packed";
}

std::string delta_file_name(std::string_view name, std::uint64_t from, std::uint64_t to) {
  return std::string(name) + "." + version_name(from) + "-" + version_name(to) + ".delta";
}

std::string manifest_file_name(std::string_view name) { return std::string(name) + ".json"; }

update_plan plan_update(const publication& p, std::optional<std::uint64_t> have) {
  using way = update_plan::way;
  if (have == p.version) return {.by = way::nothing};
  update_plan whole{.by = way::whole, .bytes = p.packed_bytes};
  if (!have) return whole;
  // A list may come back to an earlier version. Then the last step from there is the shortest way.
  std::unordered_map<std::uint64_t, std::size_t> last;
  for (std::size_t i = 0; i < p.deltas.size(); ++i) last[p.deltas[i].from] = i;
  update_plan plan{.by = way::deltas};
  for (std::uint64_t at = *have; at != p.version;) {
    const auto step = last.find(at);
    if (step == last.end()) return whole;
    const published_delta& d = p.deltas[step->second];
    plan.bytes += d.bytes;
    if (plan.bytes > p.packed_bytes) return whole;
    plan.steps.push_back(d);
    at = d.to;
  }
  return plan;
}

std::string listing_text(std::span<const listed_filter> filters) {
  std::string rows;
  for (const listed_filter& f : filters) {
    json_object row;
    row.add_text("name", json_quoted(f.name))
        .add("kind", kind_name(f.header.planned.shape.kind))
        .add("keys", f.header.keys)
        .add("bytes", f.bytes);
    if (f.header.planned.fpr_target > 0) {
      row.add("fpr_target", f.header.planned.fpr_target);
    } else {
      row.add("fpr_target", nullptr);
    }
    row.add("version", std::string_view(version_name(f.version)));
    if (f.packed_bytes) row.add("packed_bytes", *f.packed_bytes);
    (rows += rows.empty() ? "" : ",\n") += row.text();
  }
  return "[" + rows + "]\n";
}

}  // namespace bloomery
