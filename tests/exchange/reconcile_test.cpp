// Two parties and their sets: exact differences by every way, few bytes, and peers that lie.
#include "bloomery/exchange/reconcile.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/hash/hash.hpp"

namespace {

using bloomery::errc;
using bloomery::message_channel;
using bloomery::reconcile_method;
using bloomery::reconcile_options;
using bloomery::reconciliation;
using strings = std::vector<std::string>;

constexpr bloomery::patience hasty = {.idle = std::chrono::milliseconds(20'000),
                                      .total = std::chrono::milliseconds(60'000)};

std::vector<std::string_view> views(const strings& of) { return {of.begin(), of.end()}; }

// Of those who lie to each other: some words leave both waiting.
constexpr bloomery::patience curt = {.idle = std::chrono::milliseconds(150),
                                     .total = std::chrono::milliseconds(60'000)};

struct both_sides {
  reconciliation a;
  reconciliation b;
};

both_sides run(const strings& a, const strings& b, reconcile_options o = {}) {
  auto [here, there] = bloomery::pipe_pair(hasty);
  reconcile_options other = o;
  o.nonce = 1001;
  other.nonce = 2002;
  auto later = std::async(std::launch::async, [&, end = std::move(there)]() mutable {
    message_channel peer(std::move(end));
    reconciliation r = bloomery::reconcile(peer, views(b), other);
    peer.finish();
    return r;
  });
  message_channel peer(std::move(here));
  both_sides done;
  done.a = bloomery::reconcile(peer, views(a), o);
  peer.finish();
  done.b = later.get();
  return done;
}

strings only(const strings& a, const strings& b) {
  const std::set<std::string> other(b.begin(), b.end());
  std::set<std::string> left;
  for (const std::string& key : a) {
    if (other.count(key) == 0) left.insert(key);
  }
  return {left.begin(), left.end()};
}

strings chosen(const strings& from, const std::vector<std::size_t>& places) {
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  strings made;
  for (const std::size_t place : places) made.push_back(from.at(place));
  std::sort(made.begin(), made.end());
  return made;
}

// Both sides, against sets.
both_sides expect_exact(const strings& a, const strings& b, const reconcile_options& o = {}) {
  both_sides done = run(a, b, o);
  EXPECT_EQ(done.a.only_there, only(b, a));
  EXPECT_EQ(done.b.only_there, only(a, b));
  EXPECT_EQ(chosen(a, done.a.only_here), only(a, b));
  EXPECT_EQ(chosen(b, done.b.only_here), only(b, a));
  EXPECT_EQ(done.a.report.all().sent, done.b.report.all().received);
  EXPECT_EQ(done.b.report.all().sent, done.a.report.all().received);
  EXPECT_EQ(done.a.report.method, done.b.report.method);
  EXPECT_EQ(done.a.report.symbols, done.b.report.symbols);
  return done;
}

strings numbered(const std::string& name, std::size_t from, std::size_t count) {
  strings made;
  for (std::size_t i = from; i < from + count; ++i) made.push_back(name + std::to_string(i));
  return made;
}

strings joined(strings a, const strings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<reconcile_method> all_methods = {
    reconcile_method::automatic, reconcile_method::sketch, reconcile_method::filter,
    reconcile_method::full};

TEST(Reconcile, IsExactByEveryMethodForEveryKindOfPair) {
  const strings shared = numbered("shared/", 0, 3000);
  const std::vector<std::pair<strings, strings>> pairs = {
      {{}, {}},
      {{"one"}, {}},
      {{}, numbered("k", 0, 500)},
      {shared, shared},
      {joined(shared, {"a"}), shared},
      {joined(shared, numbered("a", 0, 40)), joined(numbered("b", 0, 25), shared)},
      {joined(shared, numbered("a", 0, 900)), joined(shared, numbered("b", 0, 1))},
      {numbered("a", 0, 700), numbered("b", 0, 1300)},
      {{"", std::string("\0\xff\n", 3), "x", "x", ""}, {"x", std::string("\0", 1), "x"}},
      {{std::string(300'000, 'l'), std::string(300'000, 'l') + "m", std::string(600, 'l')},
       {std::string(600, 'l') + "k"}},
  };
  for (const auto& [a, b] : pairs) {
    for (const reconcile_method method : all_methods) {
      SCOPED_TRACE(std::to_string(a.size()) + " " + std::to_string(b.size()) + " " +
                   std::string(method_name(method)));
      expect_exact(a, b, {.method = method});
      expect_exact(b, a, {.method = method});
    }
  }
}

TEST(Reconcile, OfEqualKeysTheFirstIsNamed) {
  const both_sides done = run({"x", "y", "x", "y"}, {"x"});
  EXPECT_EQ(done.a.only_here, (std::vector<std::size_t>{1}));
  EXPECT_EQ(done.a.report.keys_here, 2U);
}

TEST(Reconcile, AFewDifferencesCostAFewBytes) {
  const strings shared = numbered("/usr/share/doc/package-", 0, 50'000);
  const both_sides done =
      expect_exact(joined(shared, numbered("new-", 0, 5)), joined(shared, numbered("old-", 0, 5)));
  EXPECT_EQ(done.a.report.method, reconcile_method::sketch);
  // Two greetings of 300 bytes, and 19 bytes and the key for each of ten.
  EXPECT_LT(done.a.report.all().both(), 1700U);
  EXPECT_GT(done.a.report.everything_bytes(), 2'500'000U);
  EXPECT_EQ(done.a.report.rounds, 1U);
}

TEST(Reconcile, EqualSetsCostTheirGreetings) {
  const strings shared = numbered("k", 0, 20'000);
  const both_sides done = expect_exact(shared, shared);
  EXPECT_LT(done.a.report.all().both(), 800U);
  EXPECT_EQ(done.a.report.symbols, 1U);
}

// 3,500 of many: symbols take at most 1.5 each, as the estimate is within half of the truth, 4
// deviations off.
TEST(Reconcile, ThousandsOfDifferencesByTheSketch) {
  const strings shared = numbered("key-", 0, 40'000);
  const both_sides done =
      expect_exact(joined(shared, numbered("a-", 0, 1750)), joined(shared, numbered("b-", 0, 1750)),
                   {.method = reconcile_method::sketch});
  const auto& r = done.a.report;
  EXPECT_NEAR(r.estimated_difference, 3500, 0.5 * 3500);
  EXPECT_LT(static_cast<double>(r.symbols), 1.7 * 3500);
  EXPECT_LT(r.all().both(), 120'000U);
}

// Large differences: filters find nearly all, and cost less than symbols would.
// All of these keys have one XXH3 under seed 0. By that their signs are alike, and 300 of them
// would be estimated as 300^2.
TEST(Reconcile, TheEstimateIsByAHashThatNobodyKnew) {
  strings crafted;
  for (int i = 0; i < 300; ++i) {
    crafted.push_back("\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe" + std::to_string(10'000'000 + i) +
                      "0123456789abcdef");
  }
  const strings shared = numbered("key-", 0, 2000);
  const both_sides done = expect_exact(joined(shared, crafted), shared);
  EXPECT_NEAR(done.a.report.estimated_difference, 300, 0.5 * 300);
  EXPECT_EQ(done.b.report.estimated_difference, done.a.report.estimated_difference);
}

TEST(Reconcile, ManyDifferencesByFilters) {
  const std::string long_name(80, 'n');
  const strings shared = numbered(long_name, 0, 10'000);
  const strings a = joined(shared, numbered("a-" + long_name, 0, 2500));
  const strings b = joined(shared, numbered("b-" + long_name, 0, 2500));
  const both_sides by_choice = expect_exact(a, b);
  EXPECT_EQ(by_choice.a.report.method, reconcile_method::filter);
  EXPECT_GT(by_choice.a.report.found_by_filter, 4000U);
  EXPECT_EQ(by_choice.a.report.found_by_filter, by_choice.b.report.found_by_filter);
  const both_sides by_sketch = expect_exact(a, b, {.method = reconcile_method::sketch});
  EXPECT_LT(by_choice.a.report.all().both(), by_sketch.a.report.all().both());
}

TEST(Reconcile, SmallSetsWithLittleInCommonAreSent) {
  const both_sides done = expect_exact(numbered("a", 0, 200), numbered("b", 0, 300));
  EXPECT_EQ(done.a.report.method, reconcile_method::full);
}

// A superset needs a filter in one direction only, or symbols: never the whole of both.
TEST(Reconcile, ASupersetGivesWhatItHasMore) {
  const strings shared = numbered("some-longer-name-of-a-key-", 0, 20'000);
  const both_sides done = expect_exact(shared, joined(shared, numbered("more-", 0, 8000)));
  EXPECT_LT(done.a.report.all().both(), 300'000U);
}

// Broder and Mitzenmacher's table: with 8 bits a key and six probes 2.16 % of absent keys seem
// present, so "about 98 %" of the difference is found. Five standard deviations of a binomial of
// 20,000.
TEST(Reconcile, EightBitsAKeyFindNinetyEightPercentOfTheDifference) {
  constexpr std::uint64_t keys = 20'000;
  bloomery::classic_filter theirs(bloomery::sizing::make_plan(
      {.kind = bloomery::filter_kind::classic, .keys = keys, .bits_per_key = 8.0}));
  const bloomery::xxh3_hasher hash(7);
  for (std::uint64_t i = 0; i < keys; ++i) theirs.add(hash_key(hash, i));
  std::uint64_t found = 0;
  for (std::uint64_t i = keys; i < 2 * keys; ++i)
    found += theirs.contains(hash_key(hash, i)) ? 0U : 1U;
  const double share = static_cast<double>(found) / keys;
  EXPECT_NEAR(share, 1 - 0.0216, 5 * 0.00103);
}

// With items of 12 bits thousands of keys meet; the checksum sees it, and rounds with other seeds
// make it right.
TEST(Reconcile, HashesThatMeetAreMendedByAnotherRound) {
  const strings shared = numbered("s", 0, 2000);
  const strings a = joined(shared, numbered("a", 0, 300));
  const strings b = joined(shared, numbered("b", 0, 300));
  for (const reconcile_method method : {reconcile_method::sketch, reconcile_method::filter}) {
    const both_sides done = expect_exact(a, b, {.method = method, .first_round_bits = 12});
    EXPECT_EQ(done.a.report.rounds, 2U);
  }
}

TEST(Reconcile, MethodsThatContradictAreRefusedOnBothSides) {
  auto [here, there] = bloomery::pipe_pair(hasty);
  const auto side = [](bloomery::channel end, reconcile_method method) {
    message_channel peer(std::move(end));
    try {
      static_cast<void>(bloomery::reconcile(peer, {}, {.method = method}));
    } catch (const bloomery::error& e) {
      EXPECT_EQ(e.code(), errc::mismatch) << e.what();
      EXPECT_NE(std::string(e.what()).find("asks for the method"), std::string::npos) << e.what();
      peer.finish();
      return true;
    }
    return false;
  };
  auto later = std::async(std::launch::async, side, std::move(there), reconcile_method::full);
  EXPECT_TRUE(side(std::move(here), reconcile_method::sketch));
  EXPECT_TRUE(later.get());
}

TEST(Reconcile, KeysThatAreTooLongAreRefused) {
  auto [here, there] = bloomery::pipe_pair(hasty);
  message_channel peer(std::move(here));
  const std::string key(bloomery::reconcile_longest_key + 1, 'x');
  const std::vector<std::string_view> keys = {key};
  EXPECT_THROW(static_cast<void>(bloomery::reconcile(peer, keys)), bloomery::error);
}

// ---- peers that lie ---------------------------------------------------------------------------

using change = std::function<void(bloomery::message&)>;

// One direction of a connection, with somebody in the middle who may change the messages.
void forward(int from, int to, const change& alter) {
  try {
    message_channel in(bloomery::channel(::dup(from), curt));
    message_channel out(bloomery::channel(::dup(to), curt));
    for (;;) {
      bloomery::message m = in.receive(std::size_t{1} << 25U);
      if (alter) alter(m);
      out.send(m.type, m.payload);
      out.flush();
    }
  } catch (const bloomery::error&) {
    ::shutdown(to, SHUT_WR);
  }
}

struct socket_pair {
  std::array<int, 2> ends{};
  socket_pair() {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
      throw std::runtime_error("socketpair");
  }
  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;
  ~socket_pair() {
    for (const int end : ends) ::close(end);
  }
};

// A side whose peer's words are changed on the way: it finds an error, or the truth.
void expect_error_or_truth(const strings& a, const strings& b, reconcile_options o,
                           const change& alter) {
  socket_pair here;
  socket_pair there;
  const auto side = [](int end, const strings& of, const reconcile_options& with,
                       const std::function<void(const reconciliation&)>& check) {
    try {
      message_channel peer(bloomery::channel(::dup(end), curt));
      const reconciliation r = bloomery::reconcile(peer, views(of), with);
      if (check) check(r);
    } catch (const bloomery::error& e) {
      EXPECT_TRUE(e.code() == errc::corrupt || e.code() == errc::io || e.code() == errc::mismatch ||
                  e.code() == errc::unsupported)
          << e.what();
    }
    ::shutdown(end, SHUT_RDWR);
  };
  reconcile_options other = o;
  o.nonce = 1001;
  other.nonce = 2002;
  const auto truth = [&](const reconciliation& r) {
    EXPECT_EQ(r.only_there, only(b, a));
    EXPECT_EQ(chosen(a, r.only_here), only(a, b));
  };
  auto there_side = std::async(std::launch::async, side, there.ends[0], b, other, nullptr);
  auto answers = std::async(std::launch::async, forward, there.ends[1], here.ends[1], alter);
  auto questions = std::async(std::launch::async, forward, here.ends[1], there.ends[1], nullptr);
  side(here.ends[0], a, o, truth);
}

TEST(HostilePeer, ChangedWordsGiveAnErrorOrTheTruth) {
  const strings shared = numbered("s", 0, 300);
  const strings a = joined(shared, numbered("a", 0, 20));
  const strings b = joined(shared, numbered("b", 0, 30));
  std::uint64_t draw = 1;
  for (const reconcile_method method :
       {reconcile_method::sketch, reconcile_method::filter, reconcile_method::full}) {
    for (int trial = 0; trial < 60; ++trial) {
      draw = bloomery::splitmix64(draw);
      const std::uint64_t chance = draw;
      std::uint64_t number = 0;
      const change flip = [&](bloomery::message& m) {
        if (number++ != chance % 6 || m.payload.empty()) return;
        const std::size_t at = static_cast<std::size_t>((chance >> 8U) % m.payload.size());
        if ((chance >> 62U) == 0) {
          m.payload.resize(at);
        } else if ((chance >> 62U) == 1) {
          m.type = static_cast<std::uint8_t>((chance >> 40U) % 12);
        } else {
          m.payload[at] ^= static_cast<std::byte>(1U << ((chance >> 3U) % 8));
        }
      };
      const bool swapped = (chance & 1U) != 0;  // the encoder lies, or the decoder
      expect_error_or_truth(swapped ? b : a, swapped ? a : b, {.method = method}, flip);
    }
  }
}

// What somebody says who never listens.
errc error_after(const std::function<void(message_channel&)>& speech, const std::string& text,
                 const reconcile_options& o = {}) {
  auto [here, there] = bloomery::pipe_pair(hasty);
  {
    message_channel liar(std::move(there));
    speech(liar);
    liar.flush();
  }
  message_channel peer(std::move(here));
  const strings own = numbered("k", 0, 50);
  try {
    static_cast<void>(bloomery::reconcile(peer, views(own), o));
  } catch (const bloomery::error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    return e.code();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> made;
  for (const char c : text) made.push_back(static_cast<std::byte>(c));
  return made;
}

// A greeting of version 1 from somebody with so many keys, each of one byte.
std::vector<std::byte> greeting(std::string_view keys, char version = 1) {
  std::string text = "BLMRECON";
  text += version;
  text += '\0';
  text += std::string("nonce\0\0\0", 8);
  text += keys;
  text += keys;
  return bytes_of(text);
}

// From somebody with more keys than we, who sends the estimator, too.
void greet_with_many(message_channel& to, std::string_view keys) {
  to.send(1, greeting(keys));
  to.send(11, bytes_of(std::string(128, '\0')));
}

// The last key of a message goes beyond its usual length, whatever limit of memory there is.
TEST(Reconcile, KeysThatFillMessagesPassWithoutALimitOfMemory) {
  const auto long_keys = [](std::size_t from) {
    strings made = numbered("", from, 600);
    for (std::string& key : made) key += std::string(1000, 'x');
    return made;
  };
  for (const std::uint64_t memory : {std::uint64_t{UINT64_MAX}, std::uint64_t{1} << 30U}) {
    expect_exact(long_keys(1000), long_keys(1300),
                 {.method = reconcile_method::full, .memory_bytes = memory});
  }
}

TEST(HostilePeer, IsToldFromAFriend) {
  const auto says = [](std::uint8_t type, std::vector<std::byte> payload) {
    return [type, payload](message_channel& to) { to.send(type, payload); };
  };
  EXPECT_EQ(error_after(says(1, bytes_of("GET / HTTP/1.1 and so on")), "another protocol"),
            errc::corrupt);
  EXPECT_EQ(error_after(says(1, bytes_of("BLM")), "no sense"), errc::corrupt);
  EXPECT_EQ(error_after(says(1, greeting("\x05", 9)), "version 9"), errc::unsupported);
  EXPECT_EQ(error_after(says(4, greeting("\x05")), "type 4"), errc::corrupt);
  EXPECT_EQ(error_after(says(1, greeting("\xff\xff\xff\xff\x7f")), "claims"), errc::corrupt);
  EXPECT_EQ(error_after(says(1, bytes_of(std::string(5000, 'x'))), "at most"), errc::corrupt);
  EXPECT_EQ(error_after(says(10, bytes_of("I am\nfull \x1b[31m")), "gave up: I am?full ?[31m"),
            errc::mismatch);
  EXPECT_EQ(error_after([](message_channel&) {}, "closed"), errc::io);
}

TEST(HostilePeer, CannotFillTheMemory) {
  // It has more keys than we, so we are the encoder; it wants no keys and offers many.
  const auto flood = [](message_channel& to) {
    greet_with_many(to, "\xac\x02");
    to.send(8, bytes_of(std::string(1, '\0')));
    std::string keys(1, '\0');
    keys += std::string("\xff\x01", 2) + std::string(255, 'a');
    for (int i = 1; i < 200; ++i) keys += std::string("\xff\x01", 2) + static_cast<char>(i);
    to.send(5, bytes_of(keys));
  };
  EXPECT_EQ(error_after(flood, "limit of 60000 bytes",
                        {.method = reconcile_method::sketch, .nonce = 5, .memory_bytes = 60'000}),
            errc::no_memory);
  // Symbols count too: 300 keys make us prepare some hundred of them.
  EXPECT_EQ(error_after(flood, "limit of 10000 bytes",
                        {.method = reconcile_method::sketch, .nonce = 5, .memory_bytes = 10'000}),
            errc::no_memory);
  const auto greedy = [](message_channel& to) {
    greet_with_many(to, "\xa0\x9c\x01");
    to.send(7, bytes_of("\xff\xff\x7f"));
  };
  EXPECT_EQ(error_after(greedy, "too many symbols", {.method = reconcile_method::sketch}),
            errc::corrupt);
}

// Each step of symbols takes time for all of our keys, so a peer may not ask for one at a time, and
// may not send one at a time.
TEST(HostilePeer, CannotMakeUsWorkForNothing) {
  const auto step_by_step = [](message_channel& to) {
    greet_with_many(to, "\xac\x02");
    to.send(7, bytes_of("\x01"));
  };
  EXPECT_EQ(error_after(step_by_step, "too few symbols", {.method = reconcile_method::sketch}),
            errc::corrupt);
  const auto drop_by_drop = [](message_channel& to) {
    std::vector<std::byte> hello = greeting("\x05");
    hello[9] = std::byte{1};  // sketch
    to.send(1, hello);
    to.send(2, bytes_of(std::string("\x01\0\0\0\0", 5)));
    for (char first = 0; first < 2; ++first) {  // the last of its kind, 5 items, one symbol
      to.send(6, bytes_of(std::string("\x01\x05", 2) + first + std::string("\x01", 1) +
                          std::string(13, '\0')));
    }
  };
  EXPECT_EQ(error_after(drop_by_drop, "fewer symbols", {.method = reconcile_method::sketch}),
            errc::corrupt);
}

}  // namespace
