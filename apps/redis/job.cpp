#include "job.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace bloomery_redis {

namespace {

constexpr std::chrono::microseconds slice{500};
constexpr long long look_again_ms = 1;   // whether a thread is done
constexpr long long pause_over_ms = 10;  // whether clients may write again

bool may_block(const call& c) {
  constexpr int never =
      api::in_lua | api::in_multi | api::is_replicated | api::is_loading | api::deny_blocking;
  return (api::GetContextFlags(c.ctx) & never) == 0;
}

struct running {  // what a blocked client waits for
  api::blocked_client* client = nullptr;
  std::exception_ptr failed;  // why, when it did

  running() = default;
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  virtual ~running() = default;
  virtual void reply(const call& c) = 0;
};

void reply(const call& c) {
  auto& r = *static_cast<running*>(api::GetBlockedClientPrivateData(c.ctx));
  if (r.failed) std::rethrow_exception(r.failed);
  r.reply(c);
}

constexpr api::command_function on_done = entry<reply, -1>;

void on_end(api::ctx*, void* data) { delete static_cast<running*>(data); }

template <class Running>
Running* block(const call& c, std::unique_ptr<Running> r) {
  r->client = api::BlockClient(c.ctx, on_done, nullptr, on_end, 0);
  return r.release();  // on_end deletes it
}

void unblock(running& r) { api::UnblockClient(r.client, &r); }  // calls on_done, then on_end

template <class Running>
void start_thread(void (*work)(Running*) noexcept, Running* r) {
  try {
    std::thread(work, r).detach();
  } catch (const std::system_error&) {  // no more threads
    work(r);
  }
}

// ---- what reads

struct job_run : running {
  std::unique_ptr<job> work;
  std::atomic<bool> done = false;  // by a thread
  explicit job_run(std::unique_ptr<job> todo) : work(std::move(todo)) {}
  void reply(const call& c) override { work->finish(c); }
};

bool advance(job_run& r) {  // for one slice; true when nothing is left to do
  try {
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

void on_slice(api::ctx* c, void* data) {
  auto& r = *static_cast<job_run*>(data);
  if (advance(r)) {
    unblock(r);
  } else {
    api::CreateTimer(c, 1, on_slice, data);
  }
}

void read_through(job_run* r) noexcept {
  try {
    while (!r->work->step()) {
    }
  } catch (...) {
    r->failed = std::current_exception();
  }
  r->done = true;
}

void on_look_at_reading(api::ctx* c, void* data) {
  auto& r = *static_cast<job_run*>(data);
  if (r.done) {
    unblock(r);
  } else {
    api::CreateTimer(c, look_again_ms, on_look_at_reading, data);
  }
}

// ---- what changes a key

// A key and the id of the value that it held when the work began, or 0 if it was missing.
struct watched {
  std::size_t argument;
  std::uint64_t id;
  std::uint64_t changes;
};

struct threaded final : running {
  std::unique_ptr<change> todo;
  const family* kin;
  int database;
  std::vector<api::string*> args;  // copies: the client may leave
  std::vector<watched> keys;
  std::optional<promised_memory> promised;  // until the server can see it
  std::atomic<bool> done = false;

  threaded(const call& c, const family& of, std::span<const std::size_t> which, std::uint64_t bytes,
           std::unique_ptr<change> what)
      : todo(std::move(what)), kin(&of), database(api::GetSelectedDb(c.ctx)), promised(bytes) {
    for (std::size_t i = 0; i < c.size(); ++i) {
      args.push_back(api::CreateString(nullptr, c.text(i).data(), c.text(i).size()));
    }
    for (const std::size_t i : which) {
      const value* const v = opened_key(c, i, api::read_only).find(of);
      keys.push_back({i, v == nullptr ? 0 : v->id, v == nullptr ? 0 : v->changes});
    }
  }
  ~threaded() override {
    for (api::string* const s : args) api::FreeString(nullptr, s);
  }
  void reply(const call& c) override { reply_ok(c); }

  [[nodiscard]] bool unchanged(const call& c) const {
    for (const watched& w : keys) {
      const opened_key key(c, w.argument, api::read_only);
      const value* const v = key.find(*kin);
      if (w.id == 0 ? !key.empty() : v == nullptr || v->id != w.id || v->changes != w.changes) {
        return false;
      }
    }
    return true;
  }
};

void work_through(threaded* r) noexcept {
  try {
    r->todo->work();
  } catch (...) {
    r->failed = std::current_exception();
  }
  r->done = true;
}

void commit(api::ctx* ctx, threaded& r) {
  try {
    api::SelectDb(ctx, r.database);
    const call c{.ctx = ctx, .args = r.args};
    if ((api::GetContextFlags(ctx) & api::is_master) == 0) {
      throw refusal("READONLY this server became a replica before the work was done");
    }
    r.todo->commit(c, r.unchanged(c));
  } catch (...) {
    r.failed = std::current_exception();
  }
}

void on_look(api::ctx* c, void* data) {
  auto& r = *static_cast<threaded*>(data);
  if (!r.done) {
    api::CreateTimer(c, look_again_ms, on_look, data);
    return;
  }
  r.promised.reset();
  // While clients are paused, as in a failover, the data must stay what it is.
  if (api::AvoidReplicaTraffic != nullptr && api::AvoidReplicaTraffic() != 0) {
    api::CreateTimer(c, pause_over_ms, on_look, data);
    return;
  }
  if (!r.failed) commit(c, r);
  unblock(r);
}

class remaking final : public change {
 public:
  explicit remaking(remake how) : how_(std::move(how)) {}

  void work() override {
    made_ = std::make_unique<value>(dumped{how_.from->clone(), how_.facts, how_.foreign}, how_.of);
    how_.edit(made_->filter());
  }
  void commit(const call& c, bool keys_unchanged) override {
    how_.from.reset();  // gives back what it was lent
    how_.edit = nullptr;
    if (!keys_unchanged) {
      made_.reset();
      how_.at_once(c);
      return;
    }
    opened_key target(c, 1, api::read_write);
    value& v = target.set(std::move(made_));
    replicate(c);
    changed(c, 1, v, how_.event);
  }

 private:
  remake how_;
  std::unique_ptr<value> made_;
};

}  // namespace

bool may_wait(const call& c) {
  return may_block(c) && (api::GetContextFlags(c.ctx) & api::is_master) != 0;
}

void run_job(const call& c, std::uint64_t bytes, std::unique_ptr<job> work, way how) {
  if (bytes < slow_bytes || !may_block(c)) {
    while (!work->step()) {
    }
    work->finish(c);
    return;
  }
  job_run* const r = block(c, std::make_unique<job_run>(std::move(work)));
  if (how == way::sliced) {
    api::CreateTimer(c.ctx, 0, on_slice, r);
  } else {
    start_thread(read_through, r);
    api::CreateTimer(c.ctx, look_again_ms, on_look_at_reading, r);
  }
}

void run_in_thread(const call& c, const family& of, std::span<const std::size_t> keys,
                   std::uint64_t bytes, std::unique_ptr<change> todo) {
  threaded* const r = block(c, std::make_unique<threaded>(c, of, keys, bytes, std::move(todo)));
  start_thread(work_through, r);
  api::CreateTimer(c.ctx, look_again_ms, on_look, r);
}

void run_in_thread(const call& c, std::span<const std::size_t> keys, remake how) {
  const family& of = how.of;
  const std::uint64_t bytes = how.bytes;
  run_in_thread(c, of, keys, bytes, std::make_unique<remaking>(std::move(how)));
}

}  // namespace bloomery_redis
