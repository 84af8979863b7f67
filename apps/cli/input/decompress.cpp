#include "cli/input/decompress.hpp"

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>

#include "bloomery/core/error.hpp"

namespace bloomery::cli {

namespace {

[[noreturn]] void throw_corrupt(std::string_view format, std::string_view reason) {
  throw error(errc::corrupt, fmt::format("the {} data is damaged: {}", format, reason));
}

class gzip_unpacker final : public unpacker {
 public:
  gzip_unpacker() {
    constexpr int gzip_header = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_unpacker() override { inflateEnd(&stream_); }

  step unpack(std::string_view in, char* to, std::size_t room) override {
    if (complete_) {
      if (in.front() == '\0') return {.taken = 1};  // padding after a member, as in gzip itself
      inflateReset(&stream_);
      complete_ = false;
    }
    const auto least = [](std::size_t size) {
      return static_cast<unsigned>(std::min<std::size_t>(size, UINT_MAX));
    };
    // zlib does not write to its input, though only newer versions declare it const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = least(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = least(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      complete_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw_corrupt("gzip", stream_.msg == nullptr ? "inflate failed" : stream_.msg);
    }
    return {.taken = least(in.size()) - stream_.avail_in, .made = least(room) - stream_.avail_out};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  z_stream stream_{};
  bool complete_ = false;
};

class bzip2_unpacker final : public unpacker {
 public:
  bzip2_unpacker() { start(); }
  ~bzip2_unpacker() override { BZ2_bzDecompressEnd(&stream_); }

  step unpack(std::string_view in, char* to, std::size_t room) override {
    if (complete_ && !in.empty()) {  // another piece follows
      BZ2_bzDecompressEnd(&stream_);
      start();
    }
    const auto least = [](std::size_t size) {
      return static_cast<unsigned>(std::min<std::size_t>(size, UINT_MAX));
    };
    // bzip2 does not write to its input, though it does not declare it const.
    stream_.next_in = const_cast<char*>(in.data());
    stream_.avail_in = least(in.size());
    stream_.next_out = to;
    stream_.avail_out = least(room);
    const int status = BZ2_bzDecompress(&stream_);
    if (status == BZ_STREAM_END) {
      complete_ = true;
    } else if (status == BZ_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != BZ_OK) {
      throw_corrupt("bzip2",
                    status == BZ_DATA_ERROR_MAGIC ? "something else follows it" : "it was changed");
    }
    return {.taken = least(in.size()) - stream_.avail_in, .made = least(room) - stream_.avail_out};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  void start() {
    stream_ = {};
    complete_ = false;
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_{};
  bool complete_ = false;
};

class zstd_unpacker final : public unpacker {
 public:
  zstd_unpacker() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~zstd_unpacker() override { ZSTD_freeDStream(stream_); }

  step unpack(std::string_view in, char* to, std::size_t room) override {
    ZSTD_inBuffer from = {.src = in.data(), .size = in.size(), .pos = 0};
    ZSTD_outBuffer into = {.dst = to, .size = room, .pos = 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &into, &from);
    if (ZSTD_isError(status) != 0) throw_corrupt("zstd", ZSTD_getErrorName(status));
    complete_ = status == 0;
    return {.taken = from.pos, .made = into.pos};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  ZSTD_DStream* stream_;
  bool complete_ = false;
};

class xz_unpacker final : public unpacker {
 public:
  xz_unpacker() {
    // Files of xz -9 need 65 MiB; a hostile header could ask for 4 GiB.
    constexpr std::uint64_t most_memory = std::uint64_t{512} << 20U;
    if (lzma_stream_decoder(&stream_, most_memory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~xz_unpacker() override { lzma_end(&stream_); }

  step unpack(std::string_view in, char* to, std::size_t room) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = room;
    // Streams may follow each other, so only the end of the input, which is empty, ends the data.
    const lzma_ret status = lzma_code(&stream_, in.empty() ? LZMA_FINISH : LZMA_RUN);
    if (status == LZMA_STREAM_END) {
      complete_ = true;
    } else if (status == LZMA_MEMLIMIT_ERROR) {
      throw_corrupt("xz", "it needs more than 512 MiB of memory to unpack");
    } else if (status != LZMA_OK && status != LZMA_BUF_ERROR) {
      throw_corrupt("xz", status == LZMA_FORMAT_ERROR    ? "something else follows it"
                          : status == LZMA_OPTIONS_ERROR ? "it is of a kind that is not known"
                                                         : "it was changed");
    }
    return {.taken = in.size() - stream_.avail_in, .made = room - stream_.avail_out};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool complete_ = false;
};

struct packed_format {
  std::string_view magic;
  std::unique_ptr<unpacker> (*make)();
};

template <class Unpacker>
std::unique_ptr<unpacker> make() {
  return std::make_unique<Unpacker>();
}

// The first letters of bzip2 could begin a line of text, so the start of its first block belongs to
// the magic number; the other one is that of an empty file. A # stands for a digit.
constexpr std::array<packed_format, 5> formats = {{
    {"\x1f\x8b", make<gzip_unpacker>},
    {"\x28\xb5\x2f\xfd", make<zstd_unpacker>},
    {{"\xfd\x37zXZ\0", 6}, make<xz_unpacker>},
    {"BZh#1AY&SY", make<bzip2_unpacker>},
    {"BZh#\x17\x72\x45\x38\x50\x90", make<bzip2_unpacker>},
}};

struct mistaken_format {
  std::string_view magic;
  std::string_view what;
};

// With the version, so that a list of words may begin with BLOOMERY.
constexpr std::array<mistaken_format, 6> mistakes = {{
    {{"BLOOMERY\x01\0", 10},
     "this is a filter, not a list of keys; 'bloomery merge' joins filters, and verbs that take a "
     "filter and a list take the filter first"},
    {"PK\x03\x04", "this is a ZIP archive, not a list of keys; unpack it with 'unzip -p'"},
    {"\x04\x22\x4d\x18", "this is packed with lz4, not a list of keys; unpack it with 'lz4 -dc'"},
    {"\x1f\x9d", "this is packed with compress, not a list of keys; unpack it with 'gzip -dc'"},
    {"Rar!\x1a\x07", "this is a RAR archive, not a list of keys; unpack it with 'unrar p'"},
    {"7z\xbc\xaf\x27\x1c", "this is a 7z archive, not a list of keys; unpack it with '7z x -so'"},
}};

bool begins_alike(std::string_view start, std::string_view magic) {  // as far as both go
  const std::size_t size = std::min(start.size(), magic.size());
  return std::equal(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(size), magic.begin(),
                    [](char c, char m) { return m == '#' ? c >= '0' && c <= '9' : c == m; });
}

}  // namespace

bool may_become_magic(std::string_view start) {
  const auto may = [&](const auto& f) {
    return start.size() < f.magic.size() && begins_alike(start, f.magic);
  };
  return std::ranges::any_of(formats, may) || std::ranges::any_of(mistakes, may);
}

std::unique_ptr<unpacker> unpacker_for(std::string_view start) {
  for (const packed_format& f : formats) {
    if (start.size() >= f.magic.size() && begins_alike(start, f.magic)) return f.make();
  }
  return nullptr;
}

std::string_view no_list(std::string_view start) {
  for (const mistaken_format& f : mistakes) {
    if (start.starts_with(f.magic)) return f.what;
  }
  return {};
}

}  // namespace bloomery::cli
