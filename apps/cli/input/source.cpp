#include "cli/input/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bloomery/core/error.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

key_source::key_source(std::vector<std::string> paths, const record_options& records,
                       progress& meter)
    : bytes_(std::move(paths), meter,
             {.text = !records.null && records.record_bytes == 0, .keys = records.asks_keys}),
      format_(make_format(records)),
      meter_(&meter),
      report_(records, meter),
      look_(records, meter),
      numbered_(records.numbered),
      go_on_(records.go_on) {
  if (numbered_ && terminator().empty()) {
    throw error(errc::bad_argument, "only lines have numbers");
  }
}

void key_source::rewind() {
  bytes_.rewind();
  report_.mute();
  carry_.clear();
  sequence_ = 0;
}

void key_source::skip_rest() {
  const std::lock_guard lock(mutex_);
  carry_.clear();
  bytes_.close();
}

bool key_source::next(chunk& out, want wanted) {
  {
    const std::lock_guard lock(mutex_);
    do {
      if (!fill(out)) return false;
    } while (!begin(out));
    out.sequence = sequence_++;
  }
  if (out.unread.size() != 0) read_left(out);
  out.keyless.clear();
  out.bad.clear();
  out.empty = 0;
  wanted == want::keys ? format_->split(out) : format_->count(out);
  report_.take(out);
  meter_->count_keys(out.number);
  return true;
}

// False if a file is not what was asked for, as its beginning shows: then it is left out whole.
bool key_source::begin(chunk& c) {
  c.file = bytes_.name();
  const bool first = std::exchange(first_of_file_, false);
  try {
    if (first && !report_.muted()) look_.take(c.text, c.file);
    if (numbered_) {
      if (first) records_before_ = 0;
      c.first_line = records_before_ + 1;
      records_before_ += count_records(c.text, terminator().front()).all;
    }
    format_->begin(c, first);
  } catch (const error& e) {
    if (!first) throw;
    leave(e);
    carry_.clear();
    return false;
  }
  return true;
}

void key_source::throw_too_long() const {
  std::string where = bytes_.name();
  if (const auto lines = format_->lines_before()) {
    where += fmt::format(":{}", first_of_file_ ? 1 : *lines + 1);
  }
  throw error(
      errc::corrupt,
      fmt::format("{}: a record is longer than 1 GiB; is this the right form of input?", where));
}

void key_source::grow(chunk& c, std::size_t used, std::size_t capacity) {
  if (c.capacity >= capacity) return;
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  std::copy_n(c.buffer.get(), used, larger.get());
  c.buffer = std::move(larger);
  c.capacity = capacity;
}

void key_source::tell_unreadable(const error& reason, std::string_view file) {
  const bool unreadable = reason.code() == errc::io || reason.code() == errc::corrupt ||
                          reason.code() == errc::bad_argument;  // another form of file
  if (!go_on_ || !unreadable) throw error(reason);
  meter_->clear();
  tell("bloomery: {}\n", reason.what());
  unreadable_.emplace_back(file);
}

// Tells of an input that cannot be read, and goes on with the next one.
void key_source::leave(const error& reason) {
  tell_unreadable(reason, bytes_.name());
  bytes_.close();
}

bool key_source::open_next() {
  for (;;) {
    try {
      return bytes_.open_next();
    } catch (const error& e) {
      leave(e);
    }
  }
}

std::size_t key_source::read(char* to, std::size_t room) {
  try {
    return bytes_.read(to, room);
  } catch (const error& e) {
    leave(e);
    return 0;  // what came before is used
  }
}

// Finds where the chunk lies, and leaves the reading for later.
bool key_source::leave_unread(chunk& c) {
  if (first_of_file_ || numbered_ || !bytes_.is_open() || !format_->ends_alone()) return false;
  auto place = bytes_.leave_unread(carry_.size(), chunk_bytes, terminator().front());
  if (!place) return false;
  carry_.clear();
  c.unread = std::move(*place);
  return true;
}

void key_source::read_left(chunk& c) {
  const unread_bytes place = std::exchange(c.unread, {});
  grow(c, 0, chunk_bytes);
  std::size_t got = 0;
  try {
    got = place.read(c.buffer.get(), std::string(c.file));
  } catch (const error& e) {
    const std::lock_guard lock(mutex_);
    tell_unreadable(e, c.file);
  }
  c.text = {c.buffer.get(), got};
}

// Reads until the chunk has enough whole records, and keeps the rest for the next chunk.
bool key_source::fill(chunk& c) {
  c.unread = {};
  if (leave_unread(c)) return true;
  std::size_t size = carry_.size();
  grow(c, 0, std::max(chunk_bytes, 2 * size));
  std::ranges::copy(std::exchange(carry_, {}), c.buffer.get());
  std::size_t searched = 0;  // no record ends before this
  for (;;) {
    if (!bytes_.is_open()) {
      if (!open_next()) return false;
      first_of_file_ = true;
    }
    if (size == c.capacity) grow(c, size, 2 * c.capacity);
    const std::size_t got = read(c.buffer.get() + size, c.capacity - size);
    size += got;
    if (got == 0) {
      if (size == 0) continue;
      c.text = {c.buffer.get(), size};  // the last record of a file may lack its end
      return true;
    }
    // Searching again after every small read of a huge record would take quadratic time.
    if (size < c.capacity && !bytes_.paused()) continue;
    const std::string_view text(c.buffer.get(), size);
    const std::size_t whole = format_->whole(text, searched);
    if (whole != 0) {
      carry_ = text.substr(whole);
      c.text = text.substr(0, whole);
      return true;
    }
    if (size >= longest_record) {
      throw_too_long();
    }
    searched = size;
  }
}

}  // namespace bloomery::cli
