#include "syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "text.hpp"

namespace bloomery_redis {

namespace {

// The types and flags of the server's interface.
enum type : int {
  text = 0,
  integer = 1,
  real = 2,
  a_key = 3,
  word = 6,
  one_of_these = 7,
  group = 8
};
constexpr int optional = 1;
constexpr int several = 2;

constexpr const char* by_items = "O(n) for n items";
constexpr const char* by_size = "O(n) for a filter of n bytes";
constexpr const char* by_compression = "O(n c) for n answers and compression c";
constexpr const char* by_piece =
    "O(n) for a piece of n bytes; O(n) for n bytes of a filter at first";

constexpr std::array<command_text, 73> texts = {{
    {"bf.reserve",
     "key error:d capacity:i [EXPANSION expansion:i] [NONSCALING] [COUNTING] "
     "[WINDOW seconds:d [GENERATIONS generations:i]] [SHARD (shard:i shards:i)]",
     "O(1)", "1.0.0"},
    {"bf.add", "key item", "O(k) for k probes", "1.0.0"},
    {"bf.madd", "key item...", by_items, "1.0.0"},
    {"bf.insert",
     "key [CAPACITY capacity:i] [ERROR error:d] [EXPANSION expansion:i] [NOCREATE] [NONSCALING] "
     "[VALIDATESCALETO capacity:i] [TIGHTENING ratio:d] [SEED seed] [ITEMS item...]",
     by_items, "1.0.0"},
    {"bf.exists", "key item", "O(k) for k probes", "1.0.0"},
    {"bf.mexists", "key item...", by_items, "1.0.0"},
    {"bf.card", "key", "O(1)", "2.4.4"},
    {"bf.info",
     "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION | ERROR | TIGHTENING | MAXSCALEDCAPACITY]",
     "O(1)", "1.0.0"},
    {"bf.rem", "key item", "O(k) for k probes", "0.1.0"},
    {"bf.mrem", "key item...", by_items, "0.1.0"},
    {"bf.rotate", "key milliseconds:i", "O(n) for n bytes that are forgotten", "0.1.0"},
    {"bf.merge", "destination:k source:k...", by_size, "0.1.0"},
    {"bf.compare", "key other:k", by_size, "0.1.0"},
    {"bf.stats", "key", by_size, "0.1.0"},
    {"bf.shard", "key", "O(1)", "0.1.0"},
    {"bf.scandump", "key iterator:i", by_piece, "1.0.0"},
    {"bf.loadchunk", "key iterator:i data", by_piece, "1.0.0"},
    {"bf.export", "key iterator:i", by_piece, "0.1.0"},
    {"bf.import", "key offset:i data", by_piece, "0.1.0"},
    {"bf.load", "key data", by_size, "0.1.0"},
    {"bf.debug", "key", "O(n) for n layers", "1.0.0"},
    {"cf.reserve",
     "key capacity:i [BUCKETSIZE bucketsize:i] [MAXITERATIONS maxiterations:i] "
     "[EXPANSION expansion:i]",
     "O(1)", "1.0.0"},
    {"cf.add", "key item", "O(l + i) for l layers and i moves", "1.0.0"},
    {"cf.addnx", "key item", "O(l + i) for l layers and i moves", "1.0.0"},
    {"cf.insert", "key [CAPACITY capacity:i] [NOCREATE] ITEMS item...", by_items, "1.0.0"},
    {"cf.insertnx", "key [CAPACITY capacity:i] [NOCREATE] ITEMS item...", by_items, "1.0.0"},
    {"cf.exists", "key item", "O(l) for l layers", "1.0.0"},
    {"cf.mexists", "key item...", by_items, "1.0.0"},
    {"cf.count", "key item", "O(l) for l layers", "1.0.0"},
    {"cf.info", "key", "O(1)", "1.0.0"},
    {"cf.del", "key item", "O(l) for l layers", "1.0.0"},
    {"cf.compact", "key", by_size, "1.0.0"},
    {"cf.scandump", "key iterator:i", by_piece, "1.0.0"},
    {"cf.loadchunk", "key iterator:i data", by_piece, "1.0.0"},
    {"cf.export", "key iterator:i", by_piece, "0.1.0"},
    {"cf.import", "key offset:i data", by_piece, "0.1.0"},
    {"cf.debug", "key", "O(n) for n layers", "1.0.0"},
    {"cms.initbydim", "key width:i depth:i", "O(1)", "2.0.0"},
    {"cms.initbyprob", "key error:d probability:d", "O(1)", "2.0.0"},
    {"cms.incrby", "key (item increment:i)...", by_items, "2.0.0"},
    {"cms.query", "key item...", by_items, "2.0.0"},
    {"cms.merge", "destination:k numkeys:i source:k... [WEIGHTS weight:i...]", by_size, "2.0.0"},
    {"cms.info", "key", "O(1)", "2.0.0"},
    {"cms.scandump", "key iterator:i", by_piece, "0.1.0"},
    {"cms.loadchunk", "key iterator:i data", by_piece, "0.1.0"},
    {"cms.export", "key iterator:i", by_piece, "0.1.0"},
    {"cms.import", "key offset:i data", by_piece, "0.1.0"},
    {"topk.reserve", "key topk:i [width:i depth:i decay:d]", "O(1)", "2.0.0"},
    {"topk.add", "key item...", by_items, "2.0.0"},
    {"topk.incrby", "key (item increment:i)...", by_items, "2.0.0"},
    {"topk.query", "key item...", by_items, "2.0.0"},
    {"topk.count", "key item...", by_items, "2.0.0"},
    {"topk.list", "key [WITHCOUNT]", "O(k log k) for k items", "2.0.0"},
    {"topk.info", "key", "O(1)", "2.0.0"},
    {"topk.scandump", "key iterator:i", by_piece, "0.1.0"},
    {"topk.loadchunk", "key iterator:i data", by_piece, "0.1.0"},
    {"topk.export", "key iterator:i", by_piece, "0.1.0"},
    {"topk.import", "key offset:i data", by_piece, "0.1.0"},
    {"tdigest.create", "key [COMPRESSION compression:i]", "O(1)", "2.4.0"},
    {"tdigest.reset", "key", "O(1)", "2.4.0"},
    {"tdigest.add", "key value:d...", "O(n) for n numbers", "2.4.0"},
    {"tdigest.merge", "destination:k numkeys:i source:k... [COMPRESSION compression:i] [OVERRIDE]",
     "O(n c) for n digests of compression c", "2.4.0"},
    {"tdigest.min", "key", "O(1)", "2.4.0"},
    {"tdigest.max", "key", "O(1)", "2.4.0"},
    {"tdigest.quantile", "key quantile:d...", by_compression, "2.4.0"},
    {"tdigest.cdf", "key value:d...", by_compression, "2.4.0"},
    {"tdigest.trimmed_mean", "key low_cut_quantile:d high_cut_quantile:d", by_compression, "2.4.0"},
    {"tdigest.rank", "key value:d...", by_compression, "2.4.0"},
    {"tdigest.revrank", "key value:d...", by_compression, "2.4.0"},
    {"tdigest.byrank", "key rank:d...", by_compression, "2.4.0"},
    {"tdigest.byrevrank", "key reverse_rank:d...", by_compression, "2.4.0"},
    {"tdigest.info", "key", "O(1)", "2.4.0"},
    {"tdigest.load", "key data", by_compression, "0.1.0"},
}};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool ends_word(char c) {
  return c == ' ' || c == '[' || c == ']' || c == '(' || c == ')' || c == '.';
}

}  // namespace

const command_text& text_of_command(std::string_view name) {
  static constexpr command_text none = {"", "key", "O(1)", "0.1.0"};
  const auto* const found = std::find_if(texts.begin(), texts.end(),
                                         [&](const command_text& t) { return t.name == name; });
  return found == texts.end() ? none : *found;
}

argument_list::argument_list(std::string_view syntax) : rest_(syntax), first_(nullptr) {
  bool one_of = false;
  first_ = read_list('\0', one_of);
}

const char* argument_list::keep(std::string text) {
  return words_.emplace_back(std::move(text)).c_str();
}

std::string_view argument_list::next_word() {
  std::size_t size = 0;
  while (size < rest_.size() && !ends_word(rest_[size])) ++size;
  const std::string_view found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

bool argument_list::at_end(char end) {
  while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  if (rest_.empty()) return true;
  if (rest_.front() != end) return false;
  rest_.remove_prefix(1);
  return true;
}

bool argument_list::skip_dots() {
  if (!rest_.starts_with("...")) return false;
  rest_.remove_prefix(3);
  return true;
}

api::argument argument_list::read_word(std::string_view written, const char* token) {
  constexpr std::array<std::pair<std::string_view, int>, 3> types = {
      {{":i", integer}, {":d", real}, {":k", a_key}}};
  api::argument a{};
  a.type = written == "key" ? a_key : text;
  for (const auto& [ending, type] : types) {
    if (!written.ends_with(ending)) continue;
    a.type = type;
    written.remove_suffix(ending.size());
  }
  a.name = keep(std::string(written));
  a.key_spec = a.type == a_key ? 0 : -1;
  a.token = token;
  if (skip_dots()) a.flags |= several;
  return a;
}

api::argument argument_list::read_group(char open, const char* token) {
  bool one_of = false;
  rest_.remove_prefix(1);
  const api::argument* const inside = read_list(open == '[' ? ']' : ')', one_of);
  api::argument a{};
  if (inside[1].name == nullptr) {
    a = inside[0];
  } else {
    a.name = one_of ? "field" : inside[0].name;
    a.type = one_of ? one_of_these : group;
    a.key_spec = -1;
    a.parts = inside;
  }
  if (token != nullptr) a.token = token;
  if (open == '[') a.flags |= optional;
  if (skip_dots()) a.flags |= several;
  return a;
}

const api::argument* argument_list::read_list(char end, bool& one_of) {
  std::vector<api::argument> list;
  const char* token = nullptr;
  const auto add_token = [&] {  // a word in capitals by itself
    if (token == nullptr) return;
    std::string name(token);
    std::transform(name.begin(), name.end(), name.begin(), lower);
    api::argument a{};
    a.name = keep(std::move(name));
    a.type = word;
    a.key_spec = -1;
    a.token = token;
    list.push_back(a);
    token = nullptr;
  };
  while (!at_end(end)) {
    const char c = rest_.front();
    if (c == '|') {
      one_of = true;
      rest_.remove_prefix(1);
      add_token();
    } else if (is_upper(c)) {
      add_token();
      token = keep(std::string(next_word()));
    } else if (c == '[' || c == '(') {
      if (c == '[') add_token();
      list.push_back(read_group(c, std::exchange(token, nullptr)));
    } else {
      list.push_back(read_word(next_word(), std::exchange(token, nullptr)));
    }
  }
  add_token();
  list.push_back({});
  return lists_.emplace_back(std::move(list)).data();
}

}  // namespace bloomery_redis
