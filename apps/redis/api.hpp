// The server's side: the functions of the Redis module interface that we call, by the server's own
// names.
//
// A server hands its functions out by name when it loads a module: the first word of the context of
// RedisModule_OnLoad is the function that finds them. No header of the server is needed for it,
// only these declarations, written from its public documentation. What an older server lacks stays
// null; who calls one that Redis 7.0 does not have looks first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomery_redis::api {

// Opaque: the server's.
struct ctx;
struct string;
struct key;
struct io;
struct digest;
struct type;
struct command;
struct info_ctx;
struct server_info;
struct key_opt_ctx;
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
inline constexpr long postponed_length = -1;

// Bits of GetContextFlags.
inline constexpr int in_lua = 1 << 0;
inline constexpr int in_multi = 1 << 1;
inline constexpr int is_master = 1 << 2;
inline constexpr int is_replicated = 1 << 12;
inline constexpr int is_loading = 1 << 13;
inline constexpr int deny_blocking = 1 << 21;
inline constexpr int is_resp3 = 1 << 22;

// Bits of SetModuleOptions.
inline constexpr int handles_io_errors = 1 << 0;
inline constexpr int says_what_changed = 1 << 1;  // calls SignalModifiedKey itself

// Version 4 of the methods of a data type.
struct type_methods {
  std::uint64_t version = 4;
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
  std::size_t (*mem_usage2)(key_opt_ctx*, const void*, std::size_t) = nullptr;
  std::size_t (*free_effort2)(key_opt_ctx*, const void*) = nullptr;
  void (*unlink2)(key_opt_ctx*, const void*) = nullptr;
  void* (*copy2)(key_opt_ctx*, const void*) = nullptr;
};

// What SetCommandInfo takes. The first member says how large the others are for whoever compiled
// this.
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
struct command_info {
  const command_info_version* version;
  const char* summary;
  const char* complexity;
  const char* since;
  const void* history;
  const char* tips;
  int arity;
  const key_spec* key_specs;
  const void* arguments;
};

// ---- loading
inline int (*SetModuleAttribs)(ctx*, const char* name, int version, int api_version);
inline int (*IsModuleNameBusy)(const char* name);
inline void (*SetModuleOptions)(ctx*, int options);
inline int (*CreateCommand)(ctx*, const char* name, command_function, const char* flags, int first,
                            int last, int step);
inline command* (*GetCommand)(ctx*, const char* name);
inline int (*SetCommandInfo)(command*, const command_info*);
inline type* (*CreateDataType)(ctx*, const char* name, int encoding, type_methods*);
inline int (*RegisterInfoFunc)(ctx*, void (*)(info_ctx*, int));
inline int (*RegisterNumericConfig)(ctx*, const char* name, long long initial, unsigned flags,
                                    long long least, long long most,
                                    long long (*get)(const char*, void*),
                                    int (*set)(const char*, long long, void*, string**),
                                    int (*apply)(ctx*, void*, string**), void* data);
inline int (*RegisterStringConfig)(ctx*, const char* name, const char* initial, unsigned flags,
                                   string* (*get)(const char*, void*),
                                   int (*set)(const char*, string*, void*, string**),
                                   int (*apply)(ctx*, void*, string**), void* data);
inline int (*LoadConfigs)(ctx*);

// ---- arguments and replies
inline const char* (*StringPtrLen)(const string*, std::size_t*);
inline int (*StringToLongLong)(const string*, long long*);
inline int (*StringToDouble)(const string*, double*);
inline string* (*CreateString)(ctx*, const char*, std::size_t);
inline void (*FreeString)(ctx*, string*);
inline void (*RetainString)(ctx*, string*);
inline int (*WrongArity)(ctx*);
inline int (*GetContextFlags)(ctx*);
inline int (*GetSelectedDb)(ctx*);
inline int (*SelectDb)(ctx*, int);
inline int (*ReplyWithLongLong)(ctx*, long long);
inline int (*ReplyWithError)(ctx*, const char*);
inline int (*ReplyWithSimpleString)(ctx*, const char*);
inline int (*ReplyWithStringBuffer)(ctx*, const char*, std::size_t);
inline int (*ReplyWithArray)(ctx*, long);
inline int (*ReplyWithMap)(ctx*, long);
inline int (*ReplyWithBool)(ctx*, int);
inline int (*ReplyWithDouble)(ctx*, double);
inline int (*ReplyWithNull)(ctx*);
inline void (*ReplySetArrayLength)(ctx*, long);

// ---- keys
inline key* (*OpenKey)(ctx*, string*, int mode);
inline void (*CloseKey)(key*);
inline int (*KeyType)(key*);
inline int (*DeleteKey)(key*);
inline type* (*ModuleTypeGetType)(key*);
inline void* (*ModuleTypeGetValue)(key*);
inline int (*ModuleTypeSetValue)(key*, type*, void*);
inline int (*ModuleTypeReplaceValue)(key*, type*, void* now, void** before);
inline int (*NotifyKeyspaceEvent)(ctx*, int kind, const char* event, string* key);
inline int (*SignalModifiedKey)(ctx*, string* key);

// ---- replicas and the append-only file
inline int (*ReplicateVerbatim)(ctx*);
inline int (*Replicate)(ctx*, const char* command, const char* format, ...);
inline void (*EmitAOF)(io*, const char* command, const char* format, ...);

// ---- database files
inline void (*SaveUnsigned)(io*, std::uint64_t);
inline std::uint64_t (*LoadUnsigned)(io*);
inline void (*SaveStringBuffer)(io*, const char*, std::size_t);
inline char* (*LoadStringBuffer)(io*, std::size_t*);
inline int (*IsIOError)(io*);
inline void (*LogIOError)(io*, const char* level, const char* format, ...);
inline void (*DigestAddStringBuffer)(digest*, const char*, std::size_t);
inline void (*DigestAddLongLong)(digest*, long long);
inline void (*DigestEndSequence)(digest*);

// ---- memory, time, the rest
inline void* (*Calloc)(std::size_t, std::size_t);
inline void* (*TryCalloc)(std::size_t, std::size_t);
inline void* (*TryAlloc)(std::size_t);
inline void (*Free)(void*);
inline std::size_t (*MallocSize)(void*);
inline long long (*Milliseconds)();
inline void (*Log)(ctx*, const char* level, const char* format, ...);
inline server_info* (*GetServerInfo)(ctx*, const char* section);
inline void (*FreeServerInfo)(ctx*, server_info*);
inline const char* (*ServerInfoGetFieldC)(server_info*, const char* field);
inline unsigned long long (*ServerInfoGetFieldUnsigned)(server_info*, const char* field, int*);
inline int (*InfoAddSection)(info_ctx*, const char* name);
inline int (*InfoAddFieldULongLong)(info_ctx*, const char* field, unsigned long long);
inline std::uint64_t (*CreateTimer)(ctx*, long long milliseconds, void (*)(ctx*, void*), void*);
inline blocked_client* (*BlockClient)(ctx*, command_function reply, command_function timeout,
                                      void (*free_data)(ctx*, void*), long long timeout_ms);
inline int (*UnblockClient)(blocked_client*, void* data);
inline void* (*GetBlockedClientPrivateData)(ctx*);
inline ctx* (*GetThreadSafeContext)(blocked_client*);
inline void (*FreeThreadSafeContext)(ctx*);

// Finds all of them. False when the server lacks one that we cannot do without.
[[nodiscard]] bool resolve(ctx* c);

}  // namespace bloomery_redis::api
