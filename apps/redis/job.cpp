#include "job.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace bloomery_redis {

namespace {

constexpr std::chrono::microseconds slice{500};

// A key and what it held when the work began.
struct watched {
  api::string* name;
  std::uint64_t id;
  std::uint64_t changes;
};

struct running {
  std::unique_ptr<job> work;
  const family* kin;
  int database;
  std::vector<watched> keys;
  api::blocked_client* client = nullptr;
  std::string failed;  // why, when it did

  running() = default;
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    for (const watched& w : keys) api::FreeString(nullptr, w.name);
  }

  [[nodiscard]] bool unchanged(api::ctx* c) const {
    for (const watched& w : keys) {
      api::string* name = w.name;
      const opened_key key({.ctx = c, .args = {&name, 1}}, 0, api::read_only);
      const value* const v = key.find(*kin);
      if (v == nullptr || v->id != w.id || v->changes != w.changes) return false;
    }
    return true;
  }
};

constexpr const char* changed = "ERR a filter changed meanwhile; try again, or copy it first";

// One slice; true when there is nothing more to do.
bool advance(api::ctx* c, running& r) {
  try {
    api::SelectDb(c, r.database);
    if (!r.unchanged(c)) {
      r.failed = changed;
      return true;
    }
    const auto end = std::chrono::steady_clock::now() + slice;
    while (std::chrono::steady_clock::now() < end) {
      if (r.work->step()) return true;
    }
    return false;
  } catch (const std::exception& e) {
    r.failed = std::string("ERR ") + e.what();
    return true;
  }
}

void on_timer(api::ctx* c, void* data) {
  auto& r = *static_cast<running*>(data);
  if (advance(c, r)) {
    api::UnblockClient(r.client, data);  // which gives it to on_done, then to on_end
  } else {
    api::CreateTimer(c, 1, on_timer, data);
  }
}

void reply(const call& c) {
  auto& r = *static_cast<running*>(api::GetBlockedClientPrivateData(c.ctx));
  if (!r.failed.empty()) throw refusal(r.failed);
  if (!r.unchanged(c.ctx)) throw refusal(changed);  // a key may have expired since the last slice
  r.work->finish(c);
}

int on_done(api::ctx* c, api::string** args, int count) {
  return detail::guarded(reply, -1, c, args, count);
}

void on_end(api::ctx*, void* data) { delete static_cast<running*>(data); }

}  // namespace

bool may_wait(const call& c) {
  constexpr int never =
      api::in_lua | api::in_multi | api::is_replicated | api::is_loading | api::deny_blocking;
  return (api::GetContextFlags(c.ctx) & never) == 0;
}

void run_job(const call& c, const family& of, std::span<const std::size_t> keys,
             std::uint64_t bytes, std::unique_ptr<job> work) {
  if (bytes < slow_bytes || !may_wait(c)) {
    while (!work->step()) {
    }
    work->finish(c);
    return;
  }
  auto r = std::make_unique<running>();
  r->work = std::move(work);
  r->kin = &of;
  r->database = api::GetSelectedDb(c.ctx);
  for (const std::size_t i : keys) {
    const value& v = opened_key(c, i, api::read_only).get(of);
    const std::string_view name = c.text(i);
    r->keys.push_back({api::CreateString(nullptr, name.data(), name.size()), v.id, v.changes});
  }
  r->client = api::BlockClient(c.ctx, on_done, nullptr, on_end, 0);
  api::CreateTimer(c.ctx, 0, on_timer, r.release());
}

}  // namespace bloomery_redis
