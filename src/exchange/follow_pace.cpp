#include "bloomery/exchange/follow_pace.hpp"

#include <algorithm>

#include "bloomery/hash/hash.hpp"

namespace bloomery {

namespace {

using span = follow_pace::span;

constexpr span least_pause = std::chrono::seconds(1);
constexpr span most_pause = std::chrono::hours(1);
constexpr span most_wanted = std::chrono::hours(24);
constexpr int first_part = 64;
constexpr unsigned most_doublings = 40;

}  // namespace

follow_pace::follow_pace(span every, std::uint64_t seed)
    : every_(std::max(every, span(1))), state_(seed) {}

span follow_pace::jittered(span pause) {
  state_ = splitmix64(state_);
  const double share = 0.75 + 0.5 * static_cast<double>(state_ >> 11U) * 0x1p-53;
  return span(static_cast<span::rep>(static_cast<double>(pause.count()) * share));
}

span follow_pace::after_success() {
  failures_ = 0;
  return jittered(every_);
}

span follow_pace::after_failure(span wanted_by_source) {
  const span most = std::max(every_, most_pause);
  span pause = std::clamp(every_ / first_part, least_pause, most);
  for (unsigned i = 0; i < failures_ && pause < most; ++i) pause = std::min(2 * pause, most);
  failures_ = std::min(failures_ + 1, most_doublings);
  return std::max(jittered(pause), std::min(wanted_by_source, most_wanted));
}

}  // namespace bloomery
