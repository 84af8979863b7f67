// A parameter that is any function with these types. It refers to the function and does not own it,
// which is enough for the time of a call; std::function would add a twentieth to the time that the
// umbrella header takes to compile.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace bloomery::detail {

template <class Signature>
class function_ref;

template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
 public:
  template <class Function>
    requires(!std::same_as<Function, function_ref> &&
             std::is_invocable_r_v<Result, const Function&, Arguments...>)
  function_ref(const Function& f) noexcept  // NOLINT(google-explicit-constructor)
      : function_(&f), call_([](const void* g, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(g))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* function_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace bloomery::detail
