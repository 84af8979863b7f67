#include "api.hpp"

#include <array>
#include <cstring>
#include <string>

namespace bloomery_redis::api {

namespace {

using finder = int (*)(const char*, void*);

template <class Function>
bool find(finder get, const char* name, Function& target) {
  return get((std::string("RedisModule_") + name).c_str(), &target) == ok;
}

}  // namespace

bool resolve(ctx* c) {
  finder get = nullptr;
  std::memcpy(&get, c, sizeof get);
  // Newer than 6.2, or something that there is another way for.
  find(get, "GetCommand", GetCommand);
  find(get, "SetCommandInfo", SetCommandInfo);
  find(get, "RegisterNumericConfig", RegisterNumericConfig);
  find(get, "RegisterStringConfig", RegisterStringConfig);
  find(get, "LoadConfigs", LoadConfigs);
  find(get, "TryAlloc", TryAlloc);
  find(get, "TryCalloc", TryCalloc);
  find(get, "MallocSize", MallocSize);
  bool all = true;
  all &= find(get, "SetModuleAttribs", SetModuleAttribs);
  all &= find(get, "IsModuleNameBusy", IsModuleNameBusy);
  all &= find(get, "SetModuleOptions", SetModuleOptions);
  all &= find(get, "CreateCommand", CreateCommand);
  all &= find(get, "CreateDataType", CreateDataType);
  all &= find(get, "RegisterInfoFunc", RegisterInfoFunc);
  all &= find(get, "StringPtrLen", StringPtrLen);
  all &= find(get, "StringToLongLong", StringToLongLong);
  all &= find(get, "StringToDouble", StringToDouble);
  all &= find(get, "CreateString", CreateString);
  all &= find(get, "FreeString", FreeString);
  all &= find(get, "RetainString", RetainString);
  all &= find(get, "WrongArity", WrongArity);
  all &= find(get, "GetContextFlags", GetContextFlags);
  all &= find(get, "GetSelectedDb", GetSelectedDb);
  all &= find(get, "SelectDb", SelectDb);
  all &= find(get, "ReplyWithLongLong", ReplyWithLongLong);
  all &= find(get, "ReplyWithError", ReplyWithError);
  all &= find(get, "ReplyWithSimpleString", ReplyWithSimpleString);
  all &= find(get, "ReplyWithStringBuffer", ReplyWithStringBuffer);
  all &= find(get, "ReplyWithArray", ReplyWithArray);
  all &= find(get, "ReplyWithMap", ReplyWithMap);
  all &= find(get, "ReplyWithBool", ReplyWithBool);
  all &= find(get, "ReplyWithDouble", ReplyWithDouble);
  all &= find(get, "ReplyWithNull", ReplyWithNull);
  all &= find(get, "ReplySetArrayLength", ReplySetArrayLength);
  all &= find(get, "OpenKey", OpenKey);
  all &= find(get, "CloseKey", CloseKey);
  all &= find(get, "KeyType", KeyType);
  all &= find(get, "DeleteKey", DeleteKey);
  all &= find(get, "ModuleTypeGetType", ModuleTypeGetType);
  all &= find(get, "ModuleTypeGetValue", ModuleTypeGetValue);
  all &= find(get, "ModuleTypeSetValue", ModuleTypeSetValue);
  all &= find(get, "ModuleTypeReplaceValue", ModuleTypeReplaceValue);
  all &= find(get, "NotifyKeyspaceEvent", NotifyKeyspaceEvent);
  all &= find(get, "SignalModifiedKey", SignalModifiedKey);
  all &= find(get, "ReplicateVerbatim", ReplicateVerbatim);
  all &= find(get, "Replicate", Replicate);
  all &= find(get, "EmitAOF", EmitAOF);
  all &= find(get, "SaveUnsigned", SaveUnsigned);
  all &= find(get, "LoadUnsigned", LoadUnsigned);
  all &= find(get, "SaveStringBuffer", SaveStringBuffer);
  all &= find(get, "LoadStringBuffer", LoadStringBuffer);
  all &= find(get, "IsIOError", IsIOError);
  all &= find(get, "LogIOError", LogIOError);
  all &= find(get, "DigestAddStringBuffer", DigestAddStringBuffer);
  all &= find(get, "DigestAddLongLong", DigestAddLongLong);
  all &= find(get, "DigestEndSequence", DigestEndSequence);
  all &= find(get, "Calloc", Calloc);
  all &= find(get, "Free", Free);
  all &= find(get, "Milliseconds", Milliseconds);
  all &= find(get, "Log", Log);
  all &= find(get, "GetServerInfo", GetServerInfo);
  all &= find(get, "FreeServerInfo", FreeServerInfo);
  all &= find(get, "ServerInfoGetFieldC", ServerInfoGetFieldC);
  all &= find(get, "ServerInfoGetFieldUnsigned", ServerInfoGetFieldUnsigned);
  all &= find(get, "InfoAddSection", InfoAddSection);
  all &= find(get, "InfoAddFieldULongLong", InfoAddFieldULongLong);
  all &= find(get, "CreateTimer", CreateTimer);
  all &= find(get, "BlockClient", BlockClient);
  all &= find(get, "UnblockClient", UnblockClient);
  all &= find(get, "GetBlockedClientPrivateData", GetBlockedClientPrivateData);
  all &= find(get, "GetThreadSafeContext", GetThreadSafeContext);
  all &= find(get, "FreeThreadSafeContext", FreeThreadSafeContext);
  return all;
}

}  // namespace bloomery_redis::api
