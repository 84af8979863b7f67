#include "api.hpp"

#include <cstring>
#include <string>

namespace bloomery_redis::api {

bool resolve(ctx* c) {
  int (*get)(const char* name, void* target) = nullptr;
  std::memcpy(&get, c, sizeof get);
  bool all = true;
  for (const wanted_function& f : wanted_functions) {
    const bool found = get((std::string("RedisModule_") + f.name).c_str(), f.target) == ok;
    all &= found || !f.needed;
  }
  return all;
}

}  // namespace bloomery_redis::api
