#include "cli/input/line_format.hpp"

namespace bloomery::cli {

std::size_t line_format::whole(std::string_view text, std::size_t searched) const {
  const std::size_t last = text.substr(searched).rfind(end_);
  return last == std::string_view::npos ? 0 : searched + last + 1;
}

void line_format::split(chunk& c) const {
  const std::size_t ends = c.ends.find(c.text, end_);
  if (c.record_list.size() <= ends) c.record_list.resize(ends + ends / 4 + 1);
  std::size_t from = 0;
  std::size_t found = 0;
  const auto take = [&](std::size_t end) {
    c.record_list[found] = {c.text.data() + from, end - from};
    found += end > from || keep_empty_ ? 1U : 0U;
    from = end + 1;
  };
  for (std::size_t i = 0; i < ends; ++i) take(c.ends.end(i));
  if (from < c.text.size()) take(c.text.size());
  c.empty = ends + (!c.text.empty() && c.text.back() != end_ ? 1U : 0U) - found;
  c.records = {c.record_list.data(), found};
  c.keys = c.records;
  c.number = found;
  if (crlf_) cut_returns(c);
}

void line_format::cut_returns(chunk& c) const {  // removes CRs at line ends, then empty lines
  c.key_list.clear();
  std::size_t kept = 0;
  for (const std::string_view record : c.records) {
    const std::string_view key =
        record.ends_with('\r') ? record.substr(0, record.size() - 1) : record;
    if (key.empty() && !keep_empty_) {
      ++c.empty;
      continue;
    }
    c.record_list[kept++] = record;
    c.key_list.push_back(key);
  }
  c.records = c.records.first(kept);
  c.keys = c.key_list;
  c.number = kept;
}

void line_format::count(chunk& c) const {
  if (crlf_) return split_to_count(c);
  const record_count ends = count_records(c.text, end_);
  const bool open_end = !c.text.empty() && c.text.back() != end_;
  c.empty = keep_empty_ ? 0 : ends.all - ends.not_empty;
  c.number = ends.all - c.empty + (open_end ? 1U : 0U);
  c.keys = {};
  c.records = {};
}

}  // namespace bloomery::cli
