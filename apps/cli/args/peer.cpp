#include "cli/args/peer.hpp"

#include <fstream>
#include <iterator>
#include <limits>

namespace bloomery::cli {

namespace {

constexpr const char* default_memory = "1Gi";

}  // namespace

void add_peer_options(command& verb, peer_options& o, const char* listen, const char* connect) {
  option* door = verb.add_option("--listen", o.listen, listen)->type_name("HOST:PORT");
  verb.add_option("--connect", o.connect, connect)->excludes(door)->type_name("HOST:PORT");
  verb.add_option("--timeout", o.timeout, "Give up after so many seconds of silence (default 60)")
      ->type_name("S");
  verb.add_option("--memory", o.memory,
                  "Refuse a peer that makes this side hold more, e.g. 4G (default 1Gi)")
      ->type_name("M");
}

std::string read_token(const std::string& path) {
  std::ifstream in(path);
  std::string token{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw error(errc::io, path + ": it cannot be read");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  constexpr std::size_t least = 16;
  if (token.size() < least) {
    throw error(errc::bad_argument,
                fmt::format("{}: a token has at least {} bytes; 'openssl rand -hex 32' makes one",
                            path, least));
  }
  return token;
}

patience patience_of(const peer_options& o) {
  constexpr double most_seconds = 1e6;
  const double seconds = o.timeout.value_or(60);
  if (!(seconds > 0 && seconds <= most_seconds)) {
    throw error(errc::bad_argument, "--timeout is a number of seconds above 0, at most a million");
  }
  const auto idle = std::chrono::milliseconds(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1000)));
  return {.idle = idle, .total = 60 * idle};
}

std::uint64_t memory_of(const peer_options& o) {
  if (!o.memory.empty()) return parse_bytes(o.memory);
  return o.remote() ? parse_bytes(default_memory) : std::numeric_limits<std::uint64_t>::max();
}

error about_peer(const peer_options& o, const error& e) {
  const char* hint = e.code() == errc::no_memory ? "; --memory raises it" : "";
  return {e.code(),
          fmt::format("{}: {}{}", o.connect.empty() ? o.listen : o.connect, e.what(), hint)};
}

}  // namespace bloomery::cli
