#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "text.hpp"

namespace bloomery_redis {

namespace {

settings current;

struct number {
  const char* name;
  const char* without_prefix;  // the name of Redis 8, or null
  std::uint64_t settings::*field;
  long long least;
  long long most;
  long long most_taken = most;  // in the other module, by this name
};
constexpr long long most_items = 1LL << 30U;
constexpr long long most_expansion = 32768;
constexpr long long most_cuckoo_layers = 32;
constexpr std::array<number, 11> numbers = {{
    {"initial-size", "bf-initial-size", &settings::initial_size, 1, most_items},
    {"bloom-capacity", nullptr, &settings::initial_size, 1, most_items, INT64_MAX},
    {"expansion-factor", "bf-expansion-factor", &settings::expansion, 0, most_expansion},
    {"bloom-expansion", nullptr, &settings::expansion, 0, most_expansion, UINT32_MAX},
    {"max-filter-bytes", nullptr, &settings::max_filter_bytes, 0, INT64_MAX},
    {"bloom-memory-usage-limit", nullptr, &settings::max_filter_bytes, 0, INT64_MAX},
    {"cf-initial-size", "cf-initial-size", &settings::cuckoo_size, 4, most_items},
    {"cf-bucket-size", "cf-bucket-size", &settings::cuckoo_bucket, 1, 255},
    {"cf-max-iterations", "cf-max-iterations", &settings::cuckoo_iterations, 1, 65535},
    {"cf-expansion-factor", "cf-expansion-factor", &settings::cuckoo_expansion, 0, most_expansion},
    {"cf-max-expansions", "cf-max-expansions", &settings::cuckoo_layers, 1, most_cuckoo_layers,
     65536},
}};

// Rates between 0 and 1. Layers of ours share their rate by another rule than a constant ratio, so
// that one is kept for whoever asks and means nothing.
struct rate {
  const char* name;
  const char* without_prefix;
  double* value;
};
double tightening_ratio = 0.5;
const std::array<rate, 3> rates = {{{"error-rate", "bf-error-rate", &current.error_rate},
                                    {"bloom-fp-rate", nullptr, &current.error_rate},
                                    {"bloom-tightening-ratio", nullptr, &tightening_ratio}}};

bool random_seeds = false;  // means nothing: all filters have one hash
struct choice {
  const char* name;
  bool* value;
};
const std::array<choice, 2> choices = {
    {{"bloom-use-random-seed", &random_seeds}, {"bloom-defrag-enabled", &current.defragments}}};

// One setting has several names, and at the start the server sets each of them: to its default if
// the configuration does not have it. That must not undo what it has under another name.
settings at_start;
bool starting = false;

bool set_rate(const rate& which, const api::string* text) {
  double given = 0;
  if (api::StringToDouble(text, &given) != api::ok || !(given > 0 && given < 1)) return false;
  const bool the_default = !(given < at_start.error_rate) && !(given > at_start.error_rate);
  if (starting && which.value == &current.error_rate && the_default) return true;
  *which.value = given;
  return true;
}

bool set_number(const number& which, const api::string* text) {
  long long given = 0;
  if (api::StringToLongLong(text, &given) != api::ok) return false;
  if (given < which.least || given > which.most_taken) return false;
  current.*which.field = static_cast<std::uint64_t>(std::min(given, which.most));
  return true;
}

bool set_choice(const choice& which, std::string_view text) {
  if (!is_word(text, "yes") && !is_word(text, "no")) return false;
  *which.value = is_word(text, "yes");
  return true;
}

// Names are equal whatever their case, and with _ for -: other modules write ERROR_RATE.
bool same_name(std::string_view given, const char* name) {
  if (name == nullptr) return false;
  const std::string_view known = name;
  const auto folded = [](char c) { return c == '_' ? '-' : lower(c); };
  return std::equal(given.begin(), given.end(), known.begin(), known.end(),
                    [&](char a, char b) { return folded(a) == b; });
}

bool set_argument(std::string_view name, const api::string* text) {
  const auto is_meant = [&](const auto& which) {
    return same_name(name, which.name) || same_name(name, which.without_prefix);
  };
  if (const auto r = std::ranges::find_if(rates, is_meant); r != rates.end()) {
    return set_rate(*r, text);
  }
  if (const auto n = std::ranges::find_if(numbers, is_meant); n != numbers.end()) {
    return set_number(*n, text);
  }
  const auto c = std::ranges::find_if(
      choices, [&](const choice& which) { return same_name(name, which.name); });
  return c != choices.end() && set_choice(*c, text_of(text));
}

std::string all_names() {
  std::string names;
  const auto append = [&](const auto& list) {
    for (const auto& one : list) names.append(names.empty() ? "" : ", ").append(one.name);
  };
  append(rates);
  append(numbers);
  append(choices);
  return names;
}

long long get_number(const char*, void* which) {
  return static_cast<long long>(current.*static_cast<const number*>(which)->field);
}

int put_number(const char*, long long given, void* which, api::string**) {
  const auto& n = *static_cast<const number*>(which);
  const auto now = static_cast<std::uint64_t>(std::min(given, n.most));
  if (!starting || now != at_start.*n.field) current.*n.field = now;
  return api::ok;
}

api::string* get_rate(const char*, void* which) {  // the server does not own the string
  static api::string* shown = nullptr;
  const std::string text = bloomery::detail::to_text(*static_cast<const rate*>(which)->value);
  if (shown != nullptr) api::FreeString(nullptr, shown);
  shown = api::CreateString(nullptr, text.data(), text.size());
  return shown;
}

int put_rate(const char*, api::string* given, void* which, api::string** why) {
  if (set_rate(*static_cast<const rate*>(which), given)) return api::ok;
  constexpr std::string_view text = "a rate is above 0 and below 1";
  *why = api::CreateString(nullptr, text.data(), text.size());
  return api::err;
}

int get_choice(const char*, void* which) {
  return static_cast<int>(*static_cast<const choice*>(which)->value);
}

int put_choice(const char*, int given, void* which, api::string**) {
  *static_cast<const choice*>(which)->value = given != 0;
  return api::ok;
}

template <class Setting>
void* data_of(const Setting& which) {
  return const_cast<Setting*>(&which);
}

bool register_rate(api::ctx* c, const char* name, unsigned flags, const rate& r) {
  const std::string text = bloomery::detail::to_text(*r.value);
  return api::RegisterStringConfig(c, name, text.c_str(), flags, get_rate, put_rate, nullptr,
                                   data_of(r)) == api::ok;
}

bool register_number(api::ctx* c, const char* name, unsigned flags, const number& n) {
  return api::RegisterNumericConfig(c, name, static_cast<long long>(current.*n.field), flags,
                                    n.least, n.most_taken, get_number, put_number, nullptr,
                                    data_of(n)) == api::ok;
}

bool register_choice(api::ctx* c, const choice& which) {
  return api::RegisterBoolConfig(c, which.name, static_cast<int>(*which.value), 0, get_choice,
                                 put_choice, nullptr, data_of(which)) == api::ok;
}

// Names without a prefix are Redis 8's. Valkey counts its versions alike, says who it is, and would
// write a warning into its log for each of them.
bool is_redis_8(api::ctx* c) {
  constexpr int redis_8 = 8 << 16;
  if (api::GetServerVersion == nullptr || api::GetServerVersion() < redis_8) return false;
  api::server_info* const info = api::GetServerInfo(c, "server");
  const bool has_other_name = api::ServerInfoGetFieldC(info, "server_name") != nullptr;
  api::FreeServerInfo(c, info);
  return !has_other_name;
}

bool register_settings(api::ctx* c) {
  if (api::RegisterNumericConfig == nullptr) return true;
  constexpr unsigned without_prefix = 1U << 9U;
  bool fine = true;
  for (const rate& r : rates) fine = fine && register_rate(c, r.name, 0, r);
  for (const number& n : numbers) fine = fine && register_number(c, n.name, 0, n);
  for (const choice& which : choices) fine = fine && register_choice(c, which);
  if (is_redis_8(c)) {  // a fork of it that has no such names refuses them, which does no harm
    for (const rate& r : rates) {
      if (r.without_prefix == nullptr) continue;
      static_cast<void>(register_rate(c, r.without_prefix, without_prefix, r));
    }
    for (const number& n : numbers) {
      if (n.without_prefix == nullptr) continue;
      static_cast<void>(register_number(c, n.without_prefix, without_prefix, n));
    }
  }
  at_start = current;
  starting = true;
  fine = fine && api::LoadConfigs(c) == api::ok;
  starting = false;
  return fine;
}

struct server_memory {
  std::uint64_t used = 0;
  std::uint64_t most = 0;  // 0 for no limit
  bool evicts = false;
};

server_memory memory_of_server(api::ctx* c) {
  server_memory m;
  api::server_info* const info = api::GetServerInfo(c, "memory");
  int failed = 0;
  m.used = api::ServerInfoGetFieldUnsigned(info, "used_memory", &failed);
  m.most = api::ServerInfoGetFieldUnsigned(info, "maxmemory", &failed);
  const char* const policy = api::ServerInfoGetFieldC(info, "maxmemory_policy");
  m.evicts = policy != nullptr && std::string_view(policy) != "noeviction";
  api::FreeServerInfo(c, info);
  return m;
}

std::uint64_t memory_of_machine() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

[[noreturn]] void throw_no_memory() {
  throw bloomery::error(bloomery::errc::no_memory, "more memory than this server allows");
}

}  // namespace

const settings& current_settings() noexcept { return current; }

bool load_settings(api::ctx* c, std::span<api::string* const> arguments) {
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string_view name = text_of(arguments[i]);
    if (i + 1 < arguments.size() && set_argument(name, arguments[i + 1])) continue;
    api::Log(c, "warning", "bloomery: bad module argument %.*s; there are %s, each with a value",
             static_cast<int>(std::min<std::size_t>(name.size(), 64)), name.data(),
             all_names().c_str());
    return false;
  }
  return register_settings(c);
}

std::uint64_t most_filter_bytes() noexcept {
  if (current.max_filter_bytes != 0) return current.max_filter_bytes;
  return memory_of_machine() / 2;
}

void check_memory(api::ctx* c, std::uint64_t bytes, std::uint64_t more_bytes) {
  if ((api::GetContextFlags(c) & (api::is_replicated | api::is_loading)) != 0) return;
  if (bytes > most_filter_bytes()) throw_no_memory();
  // The server checks before writes, enough for small filters; asking for its memory takes 50 us.
  constexpr std::uint64_t small = std::uint64_t{1} << 20U;
  if (more_bytes < small) return;
  server_memory m = memory_of_server(c);
  if (m.most ==
      0) {  // the system would promise more than there is, and end the server when it is used
    m.most = memory_of_machine();
    m.evicts = false;
  }
  const std::uint64_t left = m.evicts ? m.most / 2 : m.most - std::min(m.most, m.used);
  if (more_bytes > left || promised_memory::all() > left - more_bytes) throw_no_memory();
}

}  // namespace bloomery_redis
