#include "command.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "bloomery/core/error.hpp"
#include "settings.hpp"
#include "syntax.hpp"
#include "transfer.hpp"

namespace bloomery_redis {

namespace {

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
                                                    .argument_bytes = sizeof(api::argument)};

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

// Categories of access control, where a server lets modules have them: @read or @write, @fast or
// @slow, and one for each family, which newer servers have by themselves.
void put_in_categories(api::ctx* c, api::command* made, const command& which) {
  constexpr std::array<std::array<std::string_view, 2>, 5> families = {{{"bf.", "bloom"},
                                                                        {"cf.", "cuckoo"},
                                                                        {"cms.", "cms"},
                                                                        {"topk.", "topk"},
                                                                        {"tdigest.", "tdigest"}}};
  if (made == nullptr || api::SetCommandACLCategories == nullptr) return;
  const std::string_view flags = which.flags;
  std::string all = flags.substr(0, 4) == "read" ? "read" : "write";
  all += flags.find("fast") != std::string_view::npos ? " fast" : " slow";
  std::string with_family = all;
  for (const auto& [prefix, name] : families) {
    if (std::string_view(which.name).substr(0, prefix.size()) != prefix) continue;
    with_family.append(" ").append(name);
    if (api::AddACLCategory != nullptr) api::AddACLCategory(c, std::string(name).c_str());
  }
  if (api::SetCommandACLCategories(made, with_family.c_str()) == api::ok) return;
  api::SetCommandACLCategories(made, all.c_str());
}

bool describe(api::ctx* c, const command& which) {
  if (api::GetCommand == nullptr) return true;
  api::command* const made = api::GetCommand(c, which.name);
  put_in_categories(c, made, which);
  if (api::SetCommandInfo == nullptr) return true;
  const auto specs = specs_of(which);
  const command_text& text = text_of_command(which.name);
  const argument_list arguments(text.syntax);
  const api::command_info info = {.version = &info_version,
                                  .summary = which.summary,
                                  .complexity = text.complexity,
                                  .since = text.since,
                                  .history = nullptr,
                                  .tips = nullptr,
                                  .arity = which.arity,
                                  .key_specs = specs.data(),
                                  .arguments = arguments.get()};
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

bool opened_key::empty() const noexcept {
  return key_ == nullptr || api::KeyType(key_) == api::key_empty;
}

void opened_key::refuse_type() { throw refusal(wrong_type); }

// A filter that somebody reads is copied before it changes. Without memory for the copy readers of
// pieces lose theirs, and have to begin again; a thread that reads it goes on, and the write is
// refused.
void opened_key::make_writable(value& v) const {
  if (!v.is_lent()) return;
  try {
    check_memory(ctx_, v.bytes(), v.bytes());
  } catch (const bloomery::error&) {
    forget_readings(v);
    if (v.is_lent()) throw;
  }
  v.own();
}

value* opened_key::find_foreign(const family& of) const {
  auto* v = static_cast<value*>(api::ModuleTypeGetValue(key_));
  if (to_be_written_) {
    used_.reset();
    auto ours = v->move_out();
    v = ours.release();  // which the server owns from now on
    api::ModuleTypeSetValue(key_, of.type, v);
  }
  use(v);
  if (to_be_written_) make_writable(*v);
  return v;
}

value& opened_key::get(const family& of, const char* missing) const {
  value* const v = find_or_refuse(of);
  if (v == nullptr) throw refusal(missing);
  return *v;
}

value& opened_key::set(std::unique_ptr<value> v) {
  used_.reset();
  api::ModuleTypeSetValue(key_, v->kin->type, v.get());
  return *use(v.release());
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

void replicate(const call& c) {
  api::Replicate(c.ctx, std::string(c.text(0)).c_str(), "v", c.args.data() + 1, c.size() - 1);
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

void detail::reply_to_exception(api::ctx* c) noexcept {
  try {
    throw;
  } catch (const refusal& e) {
    api::ReplyWithError(c, e.what());
  } catch (const bloomery::error& e) {
    reply_error(c, e);
  } catch (const std::bad_alloc&) {
    reply_error(c, bloomery::error(bloomery::errc::no_memory, ""));
  } catch (const std::exception& e) {
    api::ReplyWithError(c, (std::string("ERR ") + e.what()).c_str());
  }
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

void reply_rate(const call& c, double rate) {
  if ((api::GetContextFlags(c.ctx) & api::is_resp3) != 0) {
    api::ReplyWithDouble(c.ctx, rate);
  } else {
    reply_text(c, bloomery::detail::to_text(rate));
  }
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
