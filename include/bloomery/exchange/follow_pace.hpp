// When to look at a source again: regularly, but not with everybody else at the same moment; and
// less and less often while it fails.
#pragma once

#include <chrono>
#include <cstdint>

namespace bloomery {

class follow_pace {
 public:
  using span = std::chrono::milliseconds;

  // `seed` is for the jitter: a quarter of each pause, up or down.
  follow_pace(span every, std::uint64_t seed);

  // The pause from now on. A failure is tried again soon, a 64th of the usual time and at least a
  // second later, then after twice as long each time, up to an hour or the usual time if that is
  // more; and not before the source itself wants it, which may say a day at most.
  [[nodiscard]] span after_success();
  [[nodiscard]] span after_failure(span wanted_by_source = span::zero());

 private:
  [[nodiscard]] span jittered(span pause);

  span every_;
  std::uint64_t state_;
  unsigned failures_ = 0;
};

}  // namespace bloomery
