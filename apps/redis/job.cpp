#include "job.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace bloomery_redis {

namespace {

constexpr std::chrono::microseconds slice{500};

// A key and the id of the value that it held when the work began, or 0 if it was missing.
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
  std::exception_ptr failed;  // why, when it did

  running(const call& c, const family& of, std::span<const std::size_t> which,
          std::unique_ptr<job> todo)
      : work(std::move(todo)), kin(&of), database(api::GetSelectedDb(c.ctx)) {
    for (const std::size_t i : which) {
      const value* const v = opened_key(c, i, api::read_only).find(of);
      const std::string_view name = c.text(i);
      keys.push_back({api::CreateString(nullptr, name.data(), name.size()),
                      v == nullptr ? 0 : v->id, v == nullptr ? 0 : v->changes});
    }
  }
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
      if (w.id == 0 ? !key.empty() : v == nullptr || v->id != w.id || v->changes != w.changes) {
        return false;
      }
    }
    return true;
  }
};

bool advance(api::ctx* c, running& r) {  // for one slice; true when nothing is left to do
  try {
    api::SelectDb(c, r.database);
    if (!r.unchanged(c)) return true;  // reply() will notice it, too
    const auto end = std::chrono::steady_clock::now() + slice;
    while (std::chrono::steady_clock::now() < end) {
      if (r.work->step()) return true;
    }
    return false;
  } catch (...) {
    r.failed = std::current_exception();
    return true;
  }
}

void run_all(running* r) noexcept {
  try {
    while (!r->work->step()) {
    }
  } catch (...) {
    r->failed = std::current_exception();
  }
  api::UnblockClient(r->client, r);
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
  if (r.failed) std::rethrow_exception(r.failed);
  r.unchanged(c.ctx) ? r.work->finish(c) : r.work->come_too_late(c);
}

int on_done(api::ctx* c, api::string** args, int count) {
  return detail::guarded(reply, -1, c, args, count);
}

void on_end(api::ctx*, void* data) { delete static_cast<running*>(data); }

class remaking final : public job {
 public:
  explicit remaking(remake how) : how_(std::move(how)) {}

  bool step() override {
    made_ = std::make_unique<value>(how_.from->clone(), how_.facts, how_.of);
    how_.change(made_->filter());
    return true;
  }
  void finish(const call& c) override {
    opened_key target(c, 1, api::read_write);
    value& v = target.set(std::move(made_));
    api::ReplicateVerbatim(c.ctx);
    changed(c, 1, v, how_.event);
    reply_ok(c);
  }
  void come_too_late(const call& c) override {
    made_.reset();
    how_.from.reset();  // gives back what it was lent
    how_.change = nullptr;
    how_.at_once(c);
  }

 private:
  remake how_;
  std::unique_ptr<value> made_;
};

}  // namespace

void job::come_too_late(const call&) {
  throw refusal("ERR a filter changed meanwhile; try again, or copy it first");
}

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
  auto r = std::make_unique<running>(c, of, keys, std::move(work));
  r->client = api::BlockClient(c.ctx, on_done, nullptr, on_end, 0);
  api::CreateTimer(c.ctx, 0, on_timer, r.release());
}

void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::unique_ptr<job> work) {
  auto owned = std::make_unique<running>(c, of, keys, std::move(work));
  owned->client = api::BlockClient(c.ctx, on_done, nullptr, on_end, 0);
  running* const r = owned.release();
  try {
    std::thread(run_all, r).detach();
  } catch (const std::system_error&) {  // no more threads
    run_all(r);
  }
}

void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how) {
  const family& of = how.of;
  run_in_thread(c, of, keys, std::make_unique<remaking>(std::move(how)));
}

}  // namespace bloomery_redis
