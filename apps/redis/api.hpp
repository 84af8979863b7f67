// The server's side: the functions of the Redis module interface, under the server's own names.
//
// A server hands its functions out by name when it loads a module: the first word of the context of
// RedisModule_OnLoad is the function that finds them. No header of the server is needed for it,
// only these declarations, written from its public documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomery_redis::api {

// Types of the server, of which the module sees pointers only.
struct ctx;
struct string;
struct key;
struct io;
struct digest;
struct type;
struct command;
struct info_ctx;
struct server_info;
struct defrag_ctx;
struct blocked_client;

using command_function = int (*)(ctx*, string**, int);

inline constexpr int ok = 0;
inline constexpr int err = 1;
inline constexpr int version = 1;
inline constexpr int read_only = 1;
inline constexpr int read_write = 3;
inline constexpr int key_empty = 0;
inline constexpr int notify_module = 1 << 13;

inline constexpr int in_lua = 1 << 0;  // bits of GetContextFlags, from here
inline constexpr int in_multi = 1 << 1;
inline constexpr int is_master = 1 << 2;
inline constexpr int is_replicated = 1 << 12;
inline constexpr int is_loading = 1 << 13;
inline constexpr int deny_blocking = 1 << 21;
inline constexpr int is_resp3 = 1 << 22;

// Events of the server: what is subscribed to, and what comes with it.
struct event {
  std::uint64_t id;
  std::uint64_t data_version;
};
inline constexpr event on_flush = {.id = 2, .data_version = 1};
inline constexpr event on_client = {.id = 4, .data_version = 1};
inline constexpr std::uint64_t client_left = 1;
struct flush_info {
  std::uint64_t version;
  std::int32_t in_this_thread;
  std::int32_t database;  // -1 for all
};
struct client_info {  // the first members; others follow
  std::uint64_t version;
  std::uint64_t flags;
  std::uint64_t id;
};

inline constexpr int handles_io_errors = 1 << 0;  // bits of SetModuleOptions, from here
inline constexpr int says_what_changed = 1 << 1;  // calls SignalModifiedKey itself

// Version 3 of the methods of a data type. Some stay null.
struct type_methods {
  std::uint64_t version = 3;
  void* (*rdb_load)(io*, int) = nullptr;
  void (*rdb_save)(io*, void*) = nullptr;
  void (*aof_rewrite)(io*, string*, void*) = nullptr;
  std::size_t (*mem_usage)(const void*) = nullptr;
  void (*digest)(api::digest*, void*) = nullptr;
  void (*free)(void*) = nullptr;
  int (*aux_load)(io*, int, int) = nullptr;
  void (*aux_save)(io*, int) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(string*, const void*) = nullptr;
  void (*unlink)(string*, const void*) = nullptr;
  void* (*copy)(string*, string*, const void*) = nullptr;
  int (*defrag)(defrag_ctx*, string*, void**) = nullptr;
};

// What SetCommandInfo takes; its first member tells the sizes that the module was compiled with.
struct command_info_version {
  int version;
  std::size_t history_bytes;
  std::size_t key_spec_bytes;
  std::size_t argument_bytes;
};
struct key_spec {
  const char* notes;
  std::uint64_t flags;
  int begin_search;  // 0 ends a list of these
  union {
    struct {
      int position;
    } index;
    struct {
      const char* word;
      int start;
    } keyword;
  } begin;
  int find_keys;
  union {
    struct {
      int last;
      int step;
      int limit;
    } range;
    struct {
      int number_at;
      int first;
      int step;
    } counted;
  } find;
};
inline constexpr int begin_at_index = 2;
inline constexpr int keys_in_range = 2;
inline constexpr int keys_counted = 3;
inline constexpr std::uint64_t key_is_read = (1U << 0U) | (1U << 4U);  // RO, ACCESS
inline constexpr std::uint64_t key_is_changed =
    (1U << 1U) | (1U << 4U) | (1U << 6U);  // RW, ACCESS, INSERT
struct argument {                          // of a command, for COMMAND DOCS
  const char* name;                        // null ends a list of these
  int type;
  int key_spec;  // -1 for none
  const char* token;
  const char* summary;
  const char* since;
  int flags;
  const char* deprecated_since;
  const argument* parts;
};
struct command_info {
  const command_info_version* version;
  const char* summary;
  const char* complexity;
  const char* since;
  const void* history;
  const char* tips;
  int arity;
  const key_spec* key_specs;
  const argument* arguments;
};

struct wanted_function {
  const char* name;
  void* target;
  bool needed;
};
inline std::vector<wanted_function> wanted_functions;

// What an older server lacks, or what there is another way for: look whether it is null.
inline constexpr bool optional = false;

// A function of the server; null until resolve() has found it by its name.
template <class Signature>
class function {
 public:
  explicit function(const char* name, bool needed = true) {
    wanted_functions.push_back({name, &call_, needed});
  }
  // Implicit, so that it is called and compared like the pointer that it is.
  operator Signature*() const noexcept { return call_; }  // NOLINT(*-explicit-*)

 private:
  Signature* call_ = nullptr;
};

// ---- loading
inline function<int(ctx*, const char* name, int version, int api_version)> SetModuleAttribs{
    "SetModuleAttribs"};
inline function<int(const char* name)> IsModuleNameBusy{"IsModuleNameBusy"};
inline function<void(ctx*, int options)> SetModuleOptions{"SetModuleOptions"};
inline function<int(ctx*, const char* name, command_function, const char* flags, int first,
                    int last, int step)>
    CreateCommand{"CreateCommand"};
inline function<command*(ctx*, const char* name)> GetCommand{"GetCommand", optional};
inline function<int(command*, const command_info*)> SetCommandInfo{"SetCommandInfo", optional};
inline function<int(ctx*, const char* name)> AddACLCategory{"AddACLCategory", optional};
inline function<int(command*, const char* categories)> SetCommandACLCategories{
    "SetCommandACLCategories", optional};
inline function<int()> GetServerVersion{"GetServerVersion", optional};
inline function<type*(ctx*, const char* name, int encoding, type_methods*)> CreateDataType{
    "CreateDataType"};
inline function<int(ctx*, void (*)(info_ctx*, int))> RegisterInfoFunc{"RegisterInfoFunc"};
inline function<int(ctx*, const char* name, long long initial, unsigned flags, long long least,
                    long long most, long long (*get)(const char*, void*),
                    int (*set)(const char*, long long, void*, string**),
                    int (*apply)(ctx*, void*, string**), void* data)>
    RegisterNumericConfig{"RegisterNumericConfig", optional};
inline function<int(ctx*, const char* name, const char* initial, unsigned flags,
                    string* (*get)(const char*, void*),
                    int (*set)(const char*, string*, void*, string**),
                    int (*apply)(ctx*, void*, string**), void* data)>
    RegisterStringConfig{"RegisterStringConfig", optional};
inline function<int(ctx*, const char* name, int initial, unsigned flags,
                    int (*get)(const char*, void*), int (*set)(const char*, int, void*, string**),
                    int (*apply)(ctx*, void*, string**), void* data)>
    RegisterBoolConfig{"RegisterBoolConfig", optional};
inline function<int(ctx*)> LoadConfigs{"LoadConfigs", optional};

// ---- arguments and replies
inline function<const char*(const string*, std::size_t*)> StringPtrLen{"StringPtrLen"};
inline function<int(const string*, long long*)> StringToLongLong{"StringToLongLong"};
inline function<int(const string*, double*)> StringToDouble{"StringToDouble"};
inline function<string*(ctx*, const char*, std::size_t)> CreateString{"CreateString"};
inline function<void(ctx*, string*)> FreeString{"FreeString"};
inline function<int(ctx*)> WrongArity{"WrongArity"};
inline function<int(ctx*)> GetContextFlags{"GetContextFlags"};
inline function<unsigned long long(ctx*)> GetClientId{"GetClientId"};
inline function<int(ctx*)> GetSelectedDb{"GetSelectedDb"};
inline function<int(ctx*, int)> SelectDb{"SelectDb"};
inline function<int(ctx*, long long)> ReplyWithLongLong{"ReplyWithLongLong"};
inline function<int(ctx*, const char*)> ReplyWithError{"ReplyWithError"};
inline function<int(ctx*, const char*)> ReplyWithSimpleString{"ReplyWithSimpleString"};
inline function<int(ctx*, const char*, std::size_t)> ReplyWithStringBuffer{"ReplyWithStringBuffer"};
inline function<int(ctx*, long)> ReplyWithArray{"ReplyWithArray"};
inline function<int(ctx*, long)> ReplyWithMap{"ReplyWithMap"};
inline function<int(ctx*, int)> ReplyWithBool{"ReplyWithBool"};
inline function<int(ctx*, double)> ReplyWithDouble{"ReplyWithDouble"};
inline function<int(ctx*)> ReplyWithNull{"ReplyWithNull"};

// ---- keys
inline function<key*(ctx*, string*, int mode)> OpenKey{"OpenKey"};
inline function<void(key*)> CloseKey{"CloseKey"};
inline function<int(key*)> KeyType{"KeyType"};
inline function<type*(key*)> ModuleTypeGetType{"ModuleTypeGetType"};
inline function<void*(key*)> ModuleTypeGetValue{"ModuleTypeGetValue"};
inline function<int(key*, type*, void*)> ModuleTypeSetValue{"ModuleTypeSetValue"};
inline function<int(ctx*, int kind, const char* event, string* key)> NotifyKeyspaceEvent{
    "NotifyKeyspaceEvent"};
inline function<int(ctx*, string* key)> SignalModifiedKey{"SignalModifiedKey"};

// ---- replicas and the append-only file
inline function<int(ctx*)> ReplicateVerbatim{"ReplicateVerbatim"};
inline function<int(ctx*, const char* command, const char* format, ...)> Replicate{"Replicate"};
// Whether clients are paused, so that nothing may be told to replicas.
inline function<int()> AvoidReplicaTraffic{"AvoidReplicaTraffic", optional};
inline function<int(ctx*, event, void (*)(ctx*, event, std::uint64_t sub, void* data))>
    SubscribeToServerEvent{"SubscribeToServerEvent", optional};
inline function<void(io*, const char* command, const char* format, ...)> EmitAOF{"EmitAOF"};

// ---- database files
inline function<void(io*, std::uint64_t)> SaveUnsigned{"SaveUnsigned"};
inline function<std::uint64_t(io*)> LoadUnsigned{"LoadUnsigned"};
inline function<void(io*, std::int64_t)> SaveSigned{"SaveSigned"};
inline function<std::int64_t(io*)> LoadSigned{"LoadSigned"};
inline function<void(io*, double)> SaveDouble{"SaveDouble"};
inline function<double(io*)> LoadDouble{"LoadDouble"};
inline function<void(io*, const char*, std::size_t)> SaveStringBuffer{"SaveStringBuffer"};
inline function<char*(io*, std::size_t*)> LoadStringBuffer{"LoadStringBuffer"};
inline function<int(io*)> IsIOError{"IsIOError"};
inline function<void(io*, const char* level, const char* format, ...)> LogIOError{"LogIOError"};
inline function<void(digest*, const char*, std::size_t)> DigestAddStringBuffer{
    "DigestAddStringBuffer"};
inline function<void(digest*)> DigestEndSequence{"DigestEndSequence"};

// ---- memory, time, the rest
inline function<void*(defrag_ctx*, void*)> DefragAlloc{"DefragAlloc", optional};
inline function<void*(std::size_t)> Alloc{"Alloc"};
inline function<void*(std::size_t, std::size_t)> Calloc{"Calloc"};
inline function<void*(std::size_t, std::size_t)> TryCalloc{"TryCalloc", optional};
inline function<void*(std::size_t)> TryAlloc{"TryAlloc", optional};
inline function<void(void*)> Free{"Free"};
inline function<long long()> Milliseconds{"Milliseconds"};
inline function<void(ctx*, const char* level, const char* format, ...)> Log{"Log"};
inline function<server_info*(ctx*, const char* section)> GetServerInfo{"GetServerInfo"};
inline function<void(ctx*, server_info*)> FreeServerInfo{"FreeServerInfo"};
inline function<const char*(server_info*, const char* field)> ServerInfoGetFieldC{
    "ServerInfoGetFieldC"};
inline function<unsigned long long(server_info*, const char* field, int*)>
    ServerInfoGetFieldUnsigned{"ServerInfoGetFieldUnsigned"};
inline function<int(info_ctx*, const char* name)> InfoAddSection{"InfoAddSection"};
inline function<int(info_ctx*, const char* field, unsigned long long)> InfoAddFieldULongLong{
    "InfoAddFieldULongLong"};
inline function<std::uint64_t(ctx*, long long milliseconds, void (*)(ctx*, void*), void*)>
    CreateTimer{"CreateTimer"};
inline function<blocked_client*(ctx*, command_function reply, command_function timeout,
                                void (*free_data)(ctx*, void*), long long timeout_ms)>
    BlockClient{"BlockClient"};
inline function<int(blocked_client*, void* data)> UnblockClient{"UnblockClient"};
inline function<void*(ctx*)> GetBlockedClientPrivateData{"GetBlockedClientPrivateData"};

[[nodiscard]] bool resolve(ctx* c);  // false when the server lacks one that is not optional

}  // namespace bloomery_redis::api
