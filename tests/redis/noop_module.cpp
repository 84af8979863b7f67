// A module that does nothing: what the server itself takes for a command of a module, with the
// arguments and the form of reply of ours. The floor of bench/redis/bench.py.
//
// Some of its commands call what any command for a value in a key has to call, and do nothing with
// it: noop.asked looks at its key, noop.added says that it changed it, and noop.counted reads a
// number, too, and answers with a list.
#include "redis/api.hpp"

namespace {

namespace api = bloomery_redis::api;

int one(api::ctx* c, api::string**, int) { return api::ReplyWithBool(c, 0); }

int many(api::ctx* c, api::string**, int count) {
  api::ReplyWithArray(c, count - 2);
  for (int i = 2; i < count; ++i) api::ReplyWithBool(c, 0);
  return api::ok;
}

void look(api::ctx* c, api::string* name, int mode, const api::string* item) {
  std::size_t size = 0;
  api::StringPtrLen(item, &size);
  api::key* const key = api::OpenKey(c, name, mode);
  if (key == nullptr) return;
  if (api::ModuleTypeGetType(key) != nullptr) api::ModuleTypeGetValue(key);
  api::CloseKey(key);
}

void say_changed(api::ctx* c, api::string* key) {
  api::ReplicateVerbatim(c);
  api::SignalModifiedKey(c, key);
  api::NotifyKeyspaceEvent(c, api::notify_module, "noop", key);
}

int asked(api::ctx* c, api::string** args, int) {
  look(c, args[1], api::read_only, args[2]);
  return api::ReplyWithBool(c, 0);
}

int added(api::ctx* c, api::string** args, int) {
  look(c, args[1], api::read_write, args[2]);
  say_changed(c, args[1]);
  return api::ReplyWithBool(c, 1);
}

int counted(api::ctx* c, api::string** args, int) {
  long long number = 0;
  api::StringToLongLong(args[3], &number);
  look(c, args[1], api::read_write, args[2]);
  say_changed(c, args[1]);
  api::ReplyWithArray(c, 1);
  return api::ReplyWithLongLong(c, 50 + number);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(api::ctx* c, api::string**,
                                                                         int) {
  if (!api::resolve(c)) return api::err;
  api::SetModuleAttribs(c, "noop", 1, api::version);
  api::SetModuleOptions(c, api::says_what_changed);
  const auto create = [c](const char* name, api::command_function run, const char* flags) {
    return api::CreateCommand(c, name, run, flags, 1, 1, 1) == api::ok;
  };
  constexpr const char* reads = "readonly fast";
  constexpr const char* writes = "write deny-oom";
  const bool made = create("noop.one", one, reads) && create("noop.many", many, reads) &&
                    create("noop.add", one, writes) && create("noop.madd", many, writes) &&
                    create("noop.asked", asked, reads) && create("noop.added", added, writes) &&
                    create("noop.counted", counted, writes);
  return made ? api::ok : api::err;
}
