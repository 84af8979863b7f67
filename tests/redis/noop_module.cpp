// A module that does nothing: what the server itself takes for a command of a module, with the
// arguments and the form of reply of ours. The floor of bench/redis/bench.py.
#include "redis/api.hpp"

namespace {

namespace api = bloomery_redis::api;

int one(api::ctx* c, api::string**, int) { return api::ReplyWithBool(c, 0); }

int many(api::ctx* c, api::string**, int count) {
  api::ReplyWithArray(c, count - 2);
  for (int i = 2; i < count; ++i) api::ReplyWithBool(c, 0);
  return api::ok;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(api::ctx* c, api::string**,
                                                                         int) {
  if (!api::resolve(c)) return api::err;
  api::SetModuleAttribs(c, "noop", 1, api::version);
  const bool made = api::CreateCommand(c, "noop.one", one, "readonly fast", 1, 1, 1) == api::ok &&
                    api::CreateCommand(c, "noop.many", many, "readonly fast", 1, 1, 1) == api::ok &&
                    api::CreateCommand(c, "noop.add", one, "write deny-oom", 1, 1, 1) == api::ok &&
                    api::CreateCommand(c, "noop.madd", many, "write deny-oom", 1, 1, 1) == api::ok;
  return made ? api::ok : api::err;
}
