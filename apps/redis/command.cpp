#include "command.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "bloomery/core/error.hpp"

namespace bloomery_redis {

namespace {

std::uint64_t run_so_far = 0;

void reply_error(api::ctx* c, const bloomery::error& e) {
  if (e.code() == bloomery::errc::no_memory) {
    api::ReplyWithError(c, "ERR Insufficient memory to create filter");
  } else {
    api::ReplyWithError(c, (std::string("ERR ") + e.what()).c_str());
  }
}

constexpr api::command_info_version info_version = {.version = 1,
                                                    .history_bytes = 2 * sizeof(void*),
                                                    .key_spec_bytes = sizeof(api::key_spec),
                                                    .argument_bytes = 8 * sizeof(void*)};

// One key specification, or two if the command counts further keys, and a zeroed one at the end.
std::array<api::key_spec, 3> specs_of(const command& which) {
  std::array<api::key_spec, 3> specs{};
  const bool reading = std::string_view(which.flags).substr(0, 4) == "read";
  specs[0].flags = reading ? api::key_is_read : api::key_is_changed;
  specs[0].begin_search = api::begin_at_index;
  specs[0].begin.index.position = which.first_key;
  specs[0].find_keys = api::keys_in_range;
  specs[0].find.range = {
      .last = which.last_key < 0 ? which.last_key : which.last_key - which.first_key,
      .step = 1,
      .limit = 0};
  if (which.counted_keys_at != 0) {
    specs[1].flags = api::key_is_read;
    specs[1].begin_search = api::begin_at_index;
    specs[1].begin.index.position = which.counted_keys_at;
    specs[1].find_keys = api::keys_counted;
    specs[1].find.counted = {.number_at = 0, .first = 1, .step = 1};
  }
  return specs;
}

bool describe(api::ctx* c, const command& which) {
  if (api::SetCommandInfo == nullptr || api::GetCommand == nullptr) return true;
  const auto specs = specs_of(which);
  const api::command_info info = {.version = &info_version,
                                  .summary = which.summary,
                                  .complexity = nullptr,
                                  .since = "1.0.0",
                                  .history = nullptr,
                                  .tips = nullptr,
                                  .arity = which.arity,
                                  .key_specs = specs.data(),
                                  .arguments = nullptr};
  api::command* const made = api::GetCommand(c, which.name);
  return made != nullptr && api::SetCommandInfo(made, &info) == api::ok;
}

}  // namespace

std::optional<long long> call::integer(std::size_t i) const noexcept {
  long long number = 0;
  if (api::StringToLongLong(args[i], &number) != api::ok) return std::nullopt;
  return number;
}

std::optional<double> call::real(std::size_t i) const noexcept {
  double number = 0;
  if (api::StringToDouble(args[i], &number) != api::ok) return std::nullopt;
  return number;
}

std::span<const std::string_view> call::items(std::size_t first) const {
  static std::vector<std::string_view> views;  // kept, so that most calls allocate nothing
  views.clear();
  for (std::size_t i = first; i < args.size(); ++i) views.push_back(text(i));
  return views;
}

opened_key::opened_key(const call& c, std::size_t argument, int mode)
    : key_(api::OpenKey(c.ctx, c.args[argument], mode)), to_be_written_(mode == api::read_write) {}

opened_key::~opened_key() {
  if (key_ != nullptr) api::CloseKey(key_);
}

bool opened_key::empty() const noexcept {
  return key_ == nullptr || api::KeyType(key_) == api::key_empty;
}

value* opened_key::find(const family& of) const {
  if (key_ == nullptr || api::ModuleTypeGetType(key_) != of.type) return nullptr;
  auto* const v = static_cast<value*>(api::ModuleTypeGetValue(key_));
  if (to_be_written_) v->own();
  return v;
}

value* opened_key::find_or_refuse(const family& of) const {
  value* const v = find(of);
  if (v == nullptr && !empty()) throw refusal(wrong_type);
  return v;
}

value& opened_key::get(const family& of, const char* missing) const {
  value* const v = find_or_refuse(of);
  if (v == nullptr) throw refusal(missing);
  return *v;
}

value& opened_key::set(std::unique_ptr<value> v) {
  value& kept = *v;
  api::ModuleTypeSetValue(key_, v->kin->type, v.get());
  static_cast<void>(v.release());
  return kept;
}

std::span<const std::uint64_t> hashes_of(const value& v, std::span<const std::string_view> items) {
  static std::vector<std::uint64_t> hashes;
  hashes.resize(items.size());
  v.filter().hasher()->hash(items, std::span<std::uint64_t>(hashes));
  return hashes;
}

void changed(const call& c, std::size_t argument, value& v, const char* event) {
  ++v.changes;
  api::SignalModifiedKey(c.ctx, c.args[argument]);
  api::NotifyKeyspaceEvent(c.ctx, api::notify_module, event, c.args[argument]);
}

bool create_commands(api::ctx* c, std::span<const command> all) {
  for (const command& one : all) {
    if (api::CreateCommand(c, one.name, one.run, one.flags, one.first_key, one.last_key, 1) !=
            api::ok ||
        !describe(c, one)) {
      api::Log(c, "warning", "bloomery: the server refuses the command %s", one.name);
      return false;
    }
  }
  return true;
}

std::uint64_t commands_run() noexcept { return run_so_far; }

int detail::guarded(body run, int arity, api::ctx* c, api::string** args, int count) noexcept {
  if (arity >= 0 ? count != arity : count < -arity) return api::WrongArity(c);
  ++run_so_far;
  try {
    run({.ctx = c, .args = {args, static_cast<std::size_t>(count)}});
  } catch (const refusal& e) {
    api::ReplyWithError(c, e.what());
  } catch (const bloomery::error& e) {
    reply_error(c, e);
  } catch (const std::bad_alloc&) {
    reply_error(c, bloomery::error(bloomery::errc::no_memory, ""));
  } catch (const std::exception& e) {
    api::ReplyWithError(c, (std::string("ERR ") + e.what()).c_str());
  }
  return api::ok;
}

void reply_bits(const call& c, std::span<const std::uint64_t> bitmap, std::size_t count) {
  api::ReplyWithArray(c.ctx, static_cast<long>(count));
  for (std::size_t i = 0; i < count; ++i) {
    api::ReplyWithBool(c.ctx, static_cast<int>((bitmap[i / 64] >> (i % 64)) & 1U));
  }
}

void reply_text(const call& c, std::string_view text) {
  api::ReplyWithStringBuffer(c.ctx, text.data(), text.size());
}

void reply_number(const call& c, std::uint64_t number) {
  constexpr std::uint64_t most = INT64_MAX;
  api::ReplyWithLongLong(c.ctx, static_cast<long long>(std::min(number, most)));
}

void reply_numbers(const call& c, std::span<const named_number> all) {
  api::ReplyWithMap(c.ctx, static_cast<long>(all.size()));
  for (const named_number& n : all) {
    api::ReplyWithSimpleString(c.ctx, n.name);
    reply_number(c, n.number);
  }
}

void reply_piece(const call& c, std::uint64_t iterator, std::span<const std::byte> bytes) {
  api::ReplyWithArray(c.ctx, 2);
  api::ReplyWithLongLong(c.ctx, static_cast<long long>(iterator));
  api::ReplyWithStringBuffer(c.ctx, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace bloomery_redis
