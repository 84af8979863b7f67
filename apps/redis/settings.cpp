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
};
constexpr std::array<number, 9> numbers = {{
    {"initial-size", "bf-initial-size", &settings::initial_size, 1, 1LL << 30U},
    {"bloom-capacity", nullptr, &settings::initial_size, 1, 1LL << 30U},
    {"expansion-factor", "bf-expansion-factor", &settings::expansion, 0, 32768},
    {"bloom-expansion", nullptr, &settings::expansion, 0, 32768},
    {"max-filter-bytes", nullptr, &settings::max_filter_bytes, 0, INT64_MAX},
    {"cf-initial-size", "cf-initial-size", &settings::cuckoo_size, 4, 1LL << 30U},
    {"cf-bucket-size", "cf-bucket-size", &settings::cuckoo_bucket, 1, 255},
    {"cf-max-iterations", "cf-max-iterations", &settings::cuckoo_iterations, 1, 65535},
    {"cf-expansion-factor", "cf-expansion-factor", &settings::cuckoo_expansion, 0, 32768},
}};
constexpr std::array<const char*, 2> rate_names = {"error-rate", "bloom-fp-rate"};
constexpr const char* rate_without_prefix = "bf-error-rate";

// One setting has several names, and at the start the server sets each of them: to its default if
// the configuration does not have it. That must not undo what it has under another name.
settings at_start;
bool starting = false;

bool set_rate(const api::string* text) {
  double rate = 0;
  if (api::StringToDouble(text, &rate) != api::ok || !(rate > 0 && rate < 1)) return false;
  if (starting && !(rate < at_start.error_rate) && !(rate > at_start.error_rate)) return true;
  current.error_rate = rate;
  return true;
}

// Names are equal whatever their case, and with _ for -: other modules write ERROR_RATE.
bool same_name(std::string_view given, std::string_view name) {
  const auto folded = [](char c) { return c == '_' ? '-' : lower(c); };
  return std::equal(given.begin(), given.end(), name.begin(), name.end(),
                    [&](char a, char b) { return folded(a) == b; });
}

bool set_argument(std::string_view name, const api::string* text) {
  for (const char* const rate : rate_names) {
    if (same_name(name, rate)) return set_rate(text);
  }
  for (const number& n : numbers) {
    long long given = 0;
    if (!same_name(name, n.name)) continue;
    if (api::StringToLongLong(text, &given) != api::ok) return false;
    if (given < n.least || given > n.most) return false;
    current.*n.field = static_cast<std::uint64_t>(given);
    return true;
  }
  return false;
}

long long get_number(const char*, void* which) {
  return static_cast<long long>(current.*static_cast<const number*>(which)->field);
}

int put_number(const char*, long long given, void* which, api::string**) {
  const auto field = static_cast<const number*>(which)->field;
  const auto now = static_cast<std::uint64_t>(given);
  if (!starting || now != at_start.*field) current.*field = now;
  return api::ok;
}

api::string* get_rate(const char*, void*) {  // the server does not own the string
  static api::string* shown = nullptr;
  const std::string text = bloomery::detail::to_text(current.error_rate);
  if (shown != nullptr) api::FreeString(nullptr, shown);
  shown = api::CreateString(nullptr, text.data(), text.size());
  return shown;
}

int put_rate(const char*, api::string* given, void*, api::string** why) {
  if (set_rate(given)) return api::ok;
  constexpr std::string_view text = "a rate is above 0 and below 1";
  *why = api::CreateString(nullptr, text.data(), text.size());
  return api::err;
}

bool register_rate(api::ctx* c, const char* name, unsigned flags) {
  const std::string rate = bloomery::detail::to_text(current.error_rate);
  return api::RegisterStringConfig(c, name, rate.c_str(), flags, get_rate, put_rate, nullptr,
                                   nullptr) == api::ok;
}

bool register_number(api::ctx* c, const char* name, unsigned flags, const number& n) {
  return api::RegisterNumericConfig(c, name, static_cast<long long>(current.*n.field), flags,
                                    n.least, n.most, get_number, put_number, nullptr,
                                    const_cast<number*>(&n)) == api::ok;
}

bool register_settings(api::ctx* c) {
  if (api::RegisterNumericConfig == nullptr) return true;
  constexpr int redis_8 = 8 << 16;
  constexpr unsigned without_prefix = 1U << 9U;
  bool fine = true;
  for (const char* const name : rate_names) fine = fine && register_rate(c, name, 0);
  for (const number& n : numbers) fine = fine && register_number(c, n.name, 0, n);
  if (api::GetServerVersion != nullptr && api::GetServerVersion() >= redis_8) {
    // Servers without such names refuse them, which does no harm.
    static_cast<void>(register_rate(c, rate_without_prefix, without_prefix));
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
    api::Log(c, "warning",
             "bloomery: bad module argument %.*s; there are error-rate, initial-size, "
             "expansion-factor and max-filter-bytes, each with a value",
             static_cast<int>(std::min<std::size_t>(name.size(), 64)), name.data());
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
  if (m.evicts ? more_bytes > m.most / 2 : more_bytes > m.most - std::min(m.most, m.used)) {
    throw_no_memory();
  }
}

}  // namespace bloomery_redis
