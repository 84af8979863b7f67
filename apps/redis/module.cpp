// The module as the server sees it: bloomery.so, loaded under the name bf.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#include "api.hpp"
#include "bloom.hpp"
#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/version.hpp"
#include "command.hpp"
#include "families.hpp"
#include "memory.hpp"
#include "settings.hpp"
#include "transfer.hpp"
#include "value.hpp"

namespace bloomery_redis {

namespace {

constexpr const char* module_name = "bf";
constexpr int module_version =
    BLOOMERY_VERSION_MAJOR * 10000 + BLOOMERY_VERSION_MINOR * 100 + BLOOMERY_VERSION_PATCH;

void tell(api::info_ctx* to, int) {
  api::InfoAddSection(to, "filters");
  const value_totals values = totals();
  api::InfoAddFieldULongLong(to, "filters", values.values);
  api::InfoAddFieldULongLong(to, "filters_created", values.created);
  api::InfoAddFieldULongLong(to, "memory_bytes", array_bytes());
  api::InfoAddFieldULongLong(to, "commands", commands_run());
}

bool load(api::ctx* c, std::span<api::string* const> arguments) {
  if (!api::resolve(c)) return false;  // no way to say so: there may be no Log
  if (api::IsModuleNameBusy(module_name) != 0) {
    // The server ends now. CONFIG REWRITE brings it here where only an included file has the line.
    api::Log(c, "warning",
             "bloomery: this module, or another one named %s, is loaded already: leave one of the "
             "loadmodule lines, the one in the main configuration file",
             module_name);
    return false;
  }
  api::SetModuleAttribs(c, module_name, module_version, api::version);
  api::SetModuleOptions(c, api::handles_io_errors | api::says_what_changed);
  take_memory_from_server();
  prepare_for_forks();
  return load_settings(c, arguments) && create_bloom_commands(c) && create_cuckoo_commands(c) &&
         create_count_min_commands(c) && create_top_k_commands(c) && create_t_digest_commands(c) &&
         watch_clients(c) && api::RegisterInfoFunc(c, tell) == api::ok;
}

}  // namespace

}  // namespace bloomery_redis

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(
    bloomery_redis::api::ctx* c, bloomery_redis::api::string** arguments, int count) {
  namespace api = bloomery_redis::api;
  try {
    return bloomery_redis::load(c, {arguments, static_cast<std::size_t>(count)}) ? api::ok
                                                                                 : api::err;
  } catch (const std::exception&) {
    return api::err;
  }
}
