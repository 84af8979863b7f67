#include "value.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <span>
#include <utility>

#include "bloomery/core/error.hpp"
#include "settings.hpp"

namespace bloomery_redis {

namespace {

// These are atomic because the server frees large values in another thread.
std::atomic<std::uint64_t> values_now = 0;
std::atomic<std::uint64_t> next_id = 1;

constexpr std::size_t file_piece_bytes = std::size_t{1} << 20U;

constexpr std::size_t object_bytes = 512;          // the objects around the array, as measured
constexpr std::size_t foreign_bytes_around = 200;  // likewise

}  // namespace

// Small values that were used last. The server frees values in another thread, too.
class waking_room {
 public:
  void enter(const value& v) {
    if (v.bed_ != 0) return;
    const std::scoped_lock lock(guard_);
    for (std::size_t tried = 0; tried < beds_.size(); ++tried) {
      next_ = (next_ + 1) % beds_.size();
      const value*& bed = beds_[next_];
      if (bed != nullptr && bed->users_ != 0) continue;
      if (bed != nullptr) {
        bed->rest();
        bed->bed_ = 0;
      }
      bed = &v;
      v.bed_ = static_cast<std::uint16_t>(next_ + 1);
      return;
    }
    v.rest();
  }
  void leave(const value& v) {
    const std::scoped_lock lock(guard_);
    if (v.bed_ != 0) beds_[v.bed_ - 1] = nullptr;
  }
  void lock_all() {
    guard_.lock();
    packed_filter::lock_all();
  }
  void unlock_all() {
    packed_filter::unlock_all();
    guard_.unlock();
  }

 private:
  std::mutex guard_;
  std::array<const value*, 64> beds_{};
  std::size_t next_ = 0;
};

namespace {

waking_room& room() {
  static waking_room& all = *new waking_room;  // stays: values may be freed while the server ends
  return all;
}

std::span<const char> chars_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const value& value_of(const void* v) { return *static_cast<const value*>(v); }

template <class Work>
void for_each_piece(const image_source& source, std::size_t piece_bytes, Work work) {
  std::uint64_t offset = 0;
  for (std::size_t most = dump_start_bytes; offset < source.bytes(); most = piece_bytes) {
    const auto piece = source.read(offset, most);
    offset += piece.size();
    work(offset, chars_of(piece));
  }
}

void save_value(api::io* to, void* v) {
  const use_of used(value_of(v));
  const image_source source = used->image();
  const std::uint64_t pieces =
      1 + (source.bytes() - dump_start_bytes + file_piece_bytes - 1) / file_piece_bytes;
  api::SaveUnsigned(to, pieces);
  for_each_piece(source, file_piece_bytes, [&](std::uint64_t, std::span<const char> piece) {
    api::SaveStringBuffer(to, piece.data(), piece.size());
  });
}

void rewrite_value(api::io* to, api::string* key, void* v) {  // with BF.SCANDUMP's iterators
  const use_of used(value_of(v));
  const image_source source = used->image();
  for_each_piece(source, dump_piece_bytes, [&](std::uint64_t end, std::span<const char> piece) {
    const auto iterator = static_cast<long long>(1 + end - dump_start_bytes);
    api::EmitAOF(to, value_of(v).kin->load_command, "slb", key, iterator, piece.data(),
                 piece.size());
  });
}

void digest_value(api::digest* into, void* v) {
  const use_of used(value_of(v));
  const image_source source = used->image();
  for_each_piece(source, dump_piece_bytes, [&](std::uint64_t, std::span<const char> piece) {
    api::DigestAddStringBuffer(into, piece.data(), piece.size());
  });
  api::DigestEndSequence(into);
}

void* copy_value(const void* v) {
  try {
    const use_of from(value_of(v));
    auto copy = std::make_unique<value>(
        dumped{from->filter().clone(), from->facts(), from->share_foreign()}, *from->kin);
    return value::at_rest(std::move(copy)).release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// ---- values of other modules

class file_fields final : public bloomery::foreign::field_reader {
 public:
  explicit file_fields(api::io* from) : from_(from) {}
  file_fields(const file_fields&) = delete;
  file_fields& operator=(const file_fields&) = delete;
  ~file_fields() override { give_back(); }

  std::uint64_t number() override { return checked(api::LoadUnsigned(from_)); }
  double real() override { return checked(api::LoadDouble(from_)); }
  std::span<const std::byte> text() override {
    give_back();
    std::size_t size = 0;
    held_ = checked(api::LoadStringBuffer(from_, &size));
    return std::as_bytes(std::span<const char>(held_, size));
  }

 private:
  template <class Field>
  Field checked(Field f) {
    if (api::IsIOError(from_) != 0) {
      throw bloomery::error(bloomery::errc::corrupt, "the file ends, or has another field");
    }
    return f;
  }
  void give_back() {
    if (held_ != nullptr) api::Free(std::exchange(held_, nullptr));
  }

  api::io* from_;
  char* held_ = nullptr;
};

class file_sink final : public bloomery::foreign::field_sink {
 public:
  explicit file_sink(api::io* to) : to_(to) {}

  void number(std::uint64_t n) override { api::SaveUnsigned(to_, n); }
  void real(double x) override { api::SaveDouble(to_, x); }
  void text(std::span<const std::byte> bytes) override {
    api::SaveStringBuffer(to_, chars_of(bytes).data(), bytes.size());
  }

 private:
  api::io* to_;
};

void save_foreign(api::io* to, void* v) {
  file_sink sink(to);
  value_of(v).share_foreign()->write_to(sink);
}

void* refuse_to_load(api::io* from, std::string_view why) {
  constexpr std::string_view mark = "ERR ";  // of replies
  if (why.starts_with(mark)) why.remove_prefix(mark.size());
  api::LogIOError(from, "warning", "bloomery: cannot load a key: %.*s",
                  static_cast<int>(why.size()), why.data());
  return nullptr;
}

// By RESTORE, and not from a file or a master, who have admitted it before.
bool comes_from_client() {
  const int flags = api::GetContextFlags(nullptr);
  return (flags & api::is_loading) == 0 && (flags & api::is_master) != 0;
}

}  // namespace

static_assert(sizeof(value) == 48, "there may be millions of values");

namespace detail {

void* load_foreign(api::io* from, int encoding, const family& of, bloomery::foreign::origin what) {
  try {
    file_fields fields(from);
    dumped made = of.adopt(bloomery::foreign::read(what, encoding, fields));
    return value::at_rest(std::make_unique<value>(std::move(made), of)).release();
  } catch (const std::exception& e) {
    return refuse_to_load(from, e.what());
  }
}

api::type* create_foreign_type(api::ctx* c, bloomery::foreign::origin what,
                               api::type_methods methods) {
  methods.rdb_save = save_foreign;
  const auto all = bloomery::foreign::data_types();
  const auto type = std::ranges::find(all, what, &bloomery::foreign::data_type::from);
  return api::CreateDataType(c, type->name.data(), type->version, &methods);
}

void* load_value(api::io* from, int encoding, const family& of) {
  const auto refuse = [&](const char* why) { return refuse_to_load(from, why); };
  if (encoding != 1) return refuse("it was written by a newer version of the module");
  char* held = nullptr;
  const auto next = [&]() -> std::optional<std::span<const std::byte>> {
    if (held != nullptr) api::Free(held);
    std::size_t size = 0;
    held = api::LoadStringBuffer(from, &size);
    if (held == nullptr || api::IsIOError(from) != 0) return std::nullopt;
    return std::as_bytes(std::span<const char>(held, size));
  };
  void* result = nullptr;
  try {
    const std::uint64_t pieces = api::LoadUnsigned(from);
    if (api::IsIOError(from) != 0) return refuse("the file ends");
    dumped read = read_pieces(pieces, next, UINT64_MAX);
    check_kind(of, read);
    auto made = std::make_unique<value>(std::move(read), of);
    if (of.admit != nullptr && comes_from_client()) of.admit(*made);
    result = value::at_rest(std::move(made)).release();
  } catch (const std::exception& e) {
    refuse(e.what());
  }
  if (held != nullptr) api::Free(held);
  return result;
}

api::type_methods shared_methods() {
  api::type_methods m;
  m.rdb_save = save_value;
  m.aof_rewrite = rewrite_value;
  m.digest = digest_value;
  m.free = [](void* v) { delete static_cast<value*>(v); };
  m.mem_usage = [](const void* v) { return value_of(v).bytes(); };
  // The cost of freeing a value, in allocations. Above 64 the server does it in another thread.
  m.free_effort = [](api::string*, const void* v) { return value_of(v).effort(); };
  m.defrag = [](api::defrag_ctx* how, api::string*, void** v) {
    auto* moved = static_cast<value*>(*v);
    value::move(how, moved);
    *v = moved;
    return 0;
  };
  m.copy = [](api::string*, api::string*, const void* v) { return copy_value(v); };
  return m;
}

}  // namespace detail

value::value(dumped from, const family& of)
    : kin(&of),
      id(next_id++),
      awake_(std::make_unique<awake>(
          awake{from.facts, std::make_shared<bloomery::any_filter>(std::move(from.filter))})) {
  set_foreign(std::move(from.foreign));
  settle();
  ++values_now;
}

value::value(const family& of) : kin(&of), id(next_id++) { ++values_now; }

image_source value::image(image_source::when checksums) const {
  return {filter(), facts(), kin->absorbs ? nullptr : share_foreign(), checksums};
}

std::unique_ptr<value> value::move_out() {
  std::unique_ptr<value> to(new value(*kin));
  room().leave(*this);
  bed_ = 0;
  to->id = id;  // so that whoever reads it in pieces goes on
  to->changes = changes;
  to->awake_ = std::move(awake_);
  to->at_rest_ = std::move(at_rest_);
  if (!kin->absorbs) to->foreign_ = std::move(foreign_);
  return to;
}

value::~value() {
  room().leave(*this);
  --values_now;
}

std::unique_ptr<value> value::at_rest(std::unique_ptr<value> v) {
  v->rest();
  return v;
}

void value::rest() const {
  if (awake_ == nullptr || !packed_filter::fits(filter())) return;
  try {
    if (at_rest_ == nullptr) at_rest_ = packed_filter::pack(filter(), facts());
    if (at_rest_ != nullptr) awake_.reset();
  } catch (const std::exception&) {  // no memory: it stays awake
  }
}

void value::settle() const {
  if (kin->settle != nullptr) kin->settle(awake_->facts, *awake_->filter);
}

std::shared_ptr<const bloomery::any_filter> value::lend() const {
  auto& lent = awake_->lent;
  if (lent == nullptr) {
    lent = std::make_shared<const std::shared_ptr<bloomery::any_filter>>(awake_->filter);
  }
  return {lent, awake_->filter.get()};
}

void value::own() {
  if (!is_lent()) return;
  awake_->filter = std::make_shared<bloomery::any_filter>(awake_->filter->clone());
  awake_->lent.reset();
  settle();
}

bloomery::foreign::value& value::own_foreign() {
  if (foreign_->use_count() > 1) *foreign_ = (*foreign_)->clone();
  return **foreign_;
}

void value::set_foreign(std::shared_ptr<bloomery::foreign::value> f) {
  foreign_.reset();
  if (f != nullptr) {
    foreign_ = std::make_unique<std::shared_ptr<bloomery::foreign::value>>(std::move(f));
  }
}

std::size_t value::bytes() const {
  const std::size_t rest =
      sizeof(value) +
      (foreign_ == nullptr ? 0 : foreign_bytes_around + (*foreign_)->stream().size());
  if (awake_ == nullptr) return rest + at_rest_->bytes();
  if (const auto packed = packed_filter::pack(filter(), facts())) return rest + packed->bytes();
  return rest + object_bytes + static_cast<std::size_t>(filter().shape().bits / 8);
}

std::size_t value::effort() const {
  const std::size_t rest = foreign_ == nullptr ? 0 : (*foreign_)->stream().size() >> 16U;
  return rest + (awake_ == nullptr ? 0 : static_cast<std::size_t>(filter().shape().bits >> 19U));
}

void value::move(api::defrag_ctx* how, value*& v) {
  if (api::DefragAlloc == nullptr || !current_settings().defragments) return;
  if (v->users_ != 0 || v->bed_ != 0) return;
  if (auto* const moved = static_cast<value*>(api::DefragAlloc(how, v))) v = moved;
  if (v->at_rest_ == nullptr) return;  // the one array of a large filter fragments nothing
  auto* const packed = static_cast<packed_filter*>(api::DefragAlloc(how, v->at_rest_.get()));
  if (packed == nullptr) return;
  static_cast<void>(v->at_rest_.release());  // its memory is gone
  v->at_rest_.reset(packed);
}

void value::wake() const {
  dumped read = at_rest_->unpack();
  awake_ = std::make_unique<awake>(
      awake{read.facts, std::make_shared<bloomery::any_filter>(std::move(read.filter))});
  settle();
}

void value::rest_soon() const {
  if (packed_filter::fits(filter())) room().enter(*this);
}

void prepare_for_forks() {
  const auto unlock = [] { room().unlock_all(); };
  pthread_atfork([] { room().lock_all(); }, unlock, unlock);
}

std::shared_ptr<const bloomery::any_hasher> default_hash() {
  static const auto hash = bloomery::erase(bloomery::xxh3_hasher());
  return hash;
}

bool family::has(bloomery::filter_kind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool family::has(const api::type* t) const {
  if (t == nullptr) return false;
  return t == type || std::ranges::find(foreign_types, t) != foreign_types.end();
}

void check_kind(const family& of, const dumped& v) {
  const bool stranger =
      v.foreign != nullptr && std::ranges::find(of.origins, v.foreign->from()) == of.origins.end();
  if (!of.has(v.filter.shape().kind) || stranger) {
    throw bloomery::error(bloomery::errc::corrupt,
                          "a filter of another kind than these commands have");
  }
}

value_totals totals() noexcept { return {.values = values_now, .created = next_id - 1}; }

}  // namespace bloomery_redis
