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
  std::uint64_t settings::*field;
  long long least;
  long long most;
};
constexpr std::array<number, 3> numbers = {{
    {"initial-size", &settings::initial_size, 1, 1LL << 30U},
    {"expansion-factor", &settings::expansion, 0, 32768},
    {"max-filter-bytes", &settings::max_filter_bytes, 0, INT64_MAX},
}};
constexpr const char* rate_name = "error-rate";

bool set_rate(const api::string* text) {
  double rate = 0;
  if (api::StringToDouble(text, &rate) != api::ok || !(rate > 0 && rate < 1)) return false;
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
  if (same_name(name, rate_name)) return set_rate(text);
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
  current.*static_cast<const number*>(which)->field = static_cast<std::uint64_t>(given);
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

bool register_settings(api::ctx* c) {
  if (api::RegisterNumericConfig == nullptr) return true;
  const std::string rate = bloomery::detail::to_text(current.error_rate);
  bool fine = api::RegisterStringConfig(c, rate_name, rate.c_str(), 0, get_rate, put_rate, nullptr,
                                        nullptr) == api::ok;
  for (const number& n : numbers) {
    fine = fine && api::RegisterNumericConfig(c, n.name, static_cast<long long>(current.*n.field),
                                              0, n.least, n.most, get_number, put_number, nullptr,
                                              const_cast<number*>(&n)) == api::ok;
  }
  return fine && api::LoadConfigs(c) == api::ok;
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
