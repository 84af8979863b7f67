#include "cli/serve/made_forms.hpp"

#include <utility>

namespace bloomery::cli {

made_bytes made_forms::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto at = by_name_.find(name);
  if (at == by_name_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, at->second);
  return at->second->what;
}

made_bytes made_forms::get(const std::string& name,
                           const std::function<std::vector<std::byte>()>& make) {
  if (made_bytes there = find(name)) return there;
  std::promise<made_bytes> promise;
  std::shared_future<made_bytes> other;
  {
    const std::lock_guard lock(mutex_);
    const auto [at, first] = under_way_.try_emplace(name, promise.get_future().share());
    if (!first) other = at->second;
  }
  if (other.valid()) return other.get();
  const auto done = [&] {
    const std::lock_guard lock(mutex_);
    under_way_.erase(name);
  };
  try {
    made_bytes what = std::make_shared<const std::vector<std::byte>>(make());
    keep(name, what);
    promise.set_value(what);
    done();
    return what;
  } catch (...) {
    promise.set_exception(std::current_exception());
    done();
    throw;
  }
}

void made_forms::keep(const std::string& name, const made_bytes& what) {
  const std::lock_guard lock(mutex_);
  if (what->size() > most_bytes_ || by_name_.contains(name)) return;
  bytes_ += what->size();
  recent_.push_front({name, what});
  by_name_[name] = recent_.begin();
  while (bytes_ > most_bytes_) {
    bytes_ -= recent_.back().what->size();
    by_name_.erase(recent_.back().name);
    recent_.pop_back();
  }
}

std::uint64_t made_forms::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace bloomery::cli
