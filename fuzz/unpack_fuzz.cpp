// Compressed input: any bytes are unpacked or refused, in bounded memory and time, and alike in
// whatever pieces they come. The first byte chooses the pieces, the second the start of a format,
// so that inputs need not guess it.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bloomery/core/error.hpp"
#include "cli/input/decompress.hpp"
#include "input.hpp"

namespace {

using bloomery_fuzz::require;
using namespace bloomery;
using namespace bloomery::cli;

constexpr std::size_t most_bytes = std::size_t{1} << 16U;

struct outcome {
  std::string text{};
  bool failed = false;
};

// What byte_source does with a file, up to `most_bytes` of output.
outcome unpacked(std::string_view packed, std::size_t piece, std::size_t room) {
  outcome out;
  const std::unique_ptr<cli::unpacker> from = unpacker_for(packed);
  require(from != nullptr);
  std::vector<char> to(room);
  try {
    while (out.text.size() < most_bytes) {
      if (packed.empty() && from->complete()) return out;
      // In memory of its own size, so that a sanitizer sees the first byte read beyond it.
      const std::string_view next = packed.substr(0, piece);
      const std::vector<char> in(next.begin(), next.end());
      const cli::unpacker::step done = from->unpack({in.data(), in.size()}, to.data(), room);
      require(done.taken <= in.size() && done.made <= room);
      packed.remove_prefix(done.taken);
      out.text.append(to.data(), done.made);
      if (done.made != 0 || !in.empty()) continue;
      out.failed = !from->complete();
      return out;
    }
  } catch (const error& e) {
    require(e.code() == errc::corrupt);
    out.failed = true;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::array<std::string_view, 3> starts = {
      {{"\x1f\x8b\x08", 3}, {"\x28\xb5\x2f\xfd", 4}, {"\xfd\x37zXZ\0", 6}}};
  std::string packed(starts[data[1] % starts.size()]);
  packed.append(reinterpret_cast<const char*>(data + 2), size - 2);
  const outcome at_once = unpacked(packed, packed.size(), most_bytes);
  const outcome in_pieces = unpacked(packed, 1 + data[0] % 64U, 1 + data[0]);
  // One that unpacks to more than we look at may fail later or not.
  if (at_once.text.size() >= most_bytes || in_pieces.text.size() >= most_bytes) return 0;
  require(at_once.failed == in_pieces.failed);
  require(at_once.failed || at_once.text == in_pieces.text);
  return 0;
}
