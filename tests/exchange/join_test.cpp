// The join: against a loop over all pairs, its bytes against the plan, its estimates against the
// truth, and peers that do not keep to the protocol.
#include "bloomery/exchange/join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <thread>

#include "bloomery/exchange/sent_filter.hpp"
#include "bloomery/filter/classic.hpp"
#include "filter/samples.hpp"

namespace bloomery {
namespace {

using bloomery_test::sample_hash;
using bloomery_test::sample_hashes;
using bloomery_test::throws;

struct row {
  std::string key;
  std::string rest;
};
using table = std::vector<row>;

row_scan scan_of(const table& t) {
  return [&t](const row_visit& visit) {
    for (const row& r : t) visit(r.key, r.rest);
  };
}

struct joined {
  std::vector<std::string> rows;
  join_report at_a;
  join_report at_b;
};

joined run(const table& a, const table& b) {
  const join_side side_a(scan_of(a));
  auto [end_a, end_b] = pipe_pair();
  joined result;
  std::jthread sender([&result, &side_a, end = std::move(end_a)]() mutable {
    message_channel peer(std::move(end));
    result.at_a = send_join(peer, side_a, "about A");
  });
  message_channel peer(std::move(end_b));
  result.at_b = receive_join(
      peer, scan_of(b), [](std::string_view about) { EXPECT_EQ(about, "about A"); },
      [&](std::string_view key, std::string_view rest_a, std::string_view rest_b) {
        result.rows.push_back(std::string(key) + "|" + std::string(rest_a) + "|" +
                              std::string(rest_b));
      });
  sender.join();
  return result;
}

std::vector<std::string> by_all_pairs(const table& a, const table& b) {
  std::vector<std::string> rows;
  for (const row& x : a) {
    for (const row& y : b) {
      if (x.key == y.key) rows.push_back(x.key + "|" + x.rest + "|" + y.rest);
    }
  }
  return rows;
}

// Keys number from `first` on, each `copies` times.
table numbered(std::uint64_t first, std::uint64_t keys, std::size_t width, int copies = 1) {
  table t;
  for (int c = 0; c < copies; ++c) {
    for (std::uint64_t i = first; i < first + keys; ++i) {
      t.push_back({.key = "key " + std::to_string(i), .rest = std::string(width, 'r')});
    }
  }
  return t;
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

// ---- filters in messages ----------------------------------------------------------------------

TEST(sent_filter, has_its_keys_its_rate_and_the_size_of_the_model) {
  for (const std::size_t keys : {1U, 30U, 1000U, 5000U}) {
    for (const std::uint32_t bits : {1U, 4U, 9U}) {
      const auto hashes = sample_hashes(keys, 1);
      const sent_filter sent(hashes, bits);
      const sent_filter f(sent.message());
      for (const std::uint64_t hash : hashes) EXPECT_TRUE(f.contains(hash));
      constexpr int strangers = 20'000;
      int passed = 0;
      for (std::uint64_t i = 0; i < strangers; ++i) passed += f.contains(sample_hash(i, 2)) ? 1 : 0;
      const double rate = std::ldexp(1.0, -static_cast<int>(bits));
      EXPECT_NEAR(passed, strangers * rate, 5 * std::sqrt(strangers * rate * (1 - rate)));
      const double model = sent_filter_bytes(static_cast<double>(keys), bits);
      EXPECT_NEAR(static_cast<double>(f.message().size()), model, 0.02 * model + 6);
    }
  }
  const sent_filter empty(std::vector<std::uint64_t>{}, 5);
  EXPECT_FALSE(empty.contains(1));
  EXPECT_TRUE(throws(errc::bad_argument, "1 to 29", [] { sent_filter({}, 30); }));
}

TEST(sent_filter, from_any_bytes_is_an_error_or_answers) {
  std::mt19937_64 random(1);
  const sent_filter good(sample_hashes(3000, 1), 3);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> message(good.message().begin(), good.message().end());
    const std::size_t where = i < 1000 ? random() % 4 : random() % message.size();
    message[where] = static_cast<std::byte>(random());
    if (i % 3 == 0) message.resize(random() % message.size());
    try {
      const sent_filter f(message);
      for (std::uint64_t hash = 0; hash < 10; ++hash) static_cast<void>(f.contains(random()));
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::corrupt);
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(sent_filter, is_of_the_size_that_costs_least) {
  for (const double keys : {10.0, 1000.0, 1e6}) {
    for (const double strangers : {1.0, 500.0, 1e5, 1e9}) {
      for (const double each : {1.0, 20.0, 3000.0}) {
        const sent_choice chosen = choose_sent_filter(keys, strangers, each);
        double least = strangers * each;
        for (std::uint32_t bits = 1; bits <= most_fpr_bits; ++bits) {
          least = std::min(least, sent_filter_bytes(keys, bits) +
                                      strangers * each * std::pow(0.5, static_cast<int>(bits)));
        }
        EXPECT_NEAR(chosen.bytes(), least, 1e-9 * least);
        // Below the bytes of a one-bit filter nothing is to be saved.
        if (strangers * each < keys / 8) {
          EXPECT_EQ(chosen.fpr_bits, 0U);
        }
      }
    }
  }
  EXPECT_TRUE(throws(errc::bad_argument, "finite", [] { (void)choose_sent_filter(1, -1, 1); }));
}

// ---- plans and estimates ----------------------------------------------------------------------

TEST(join_plan, is_the_best_of_all_pairs_of_sizes) {
  const auto rate = [](std::uint32_t bits) { return std::pow(0.5, static_cast<int>(bits)); };
  for (const std::uint64_t keys_a : {100U, 10'000U, 1'000'000U}) {
    for (const std::uint64_t keys_b : {50U, 10'000U, 3'000'000U}) {
      for (const double share : {0.0, 0.5, 1.0}) {
        const table_counts a{.rows = 2 * keys_a, .keys = keys_a, .bytes = 100 * keys_a};
        const double both = share * static_cast<double>(std::min(keys_a, keys_b));
        const double n_a = static_cast<double>(keys_a);
        const double n_b = static_cast<double>(keys_b);
        const double matching = 100 * both;
        double least = 100 * n_a;
        for (std::uint32_t first = 0; first <= most_fpr_bits; ++first) {
          const double passing = both + (n_b - both) * rate(first);
          for (std::uint32_t second = 1; second <= most_fpr_bits; ++second) {
            least =
                std::min(least, sent_filter_bytes(n_a, first) + sent_filter_bytes(passing, second) +
                                    matching + (100 * n_a - matching) * rate(second));
          }
        }
        const join_plan p = plan_join(a, keys_b, both);
        EXPECT_NEAR(p.bytes(), least, 1e-9 * least) << keys_a << " " << keys_b << " " << share;
      }
    }
  }
  EXPECT_EQ(plan_join({}, 100).asked_bits, 0U);
  EXPECT_EQ(plan_join({.rows = 10, .keys = 10, .bytes = 100}, 0).offered_bits, 0U);
}

// 300 joins with other keys: the mean error is within 5 of its standard errors of 0, and the spread
// within 5 of its own, 4.1 % each, of what the estimates say.
template <class Estimate>
void check_spread(Estimate estimate_of) {
  constexpr int trials = 300;
  double sum = 0;
  double squares = 0;
  double predicted = 0;
  for (int t = 0; t < trials; ++t) {
    const auto [found, truth] = estimate_of(static_cast<std::uint64_t>(t));
    sum += found.value - truth;
    squares += (found.value - truth) * (found.value - truth);
    predicted += found.standard_error;
  }
  const double mean = sum / trials;
  const double deviation = std::sqrt(squares / trials - mean * mean);
  EXPECT_LT(std::abs(mean), 5 * deviation / std::sqrt(trials));
  EXPECT_NEAR(deviation / (predicted / trials), 1.0, 5 / std::sqrt(2.0 * trials));
}

struct occurring {
  std::vector<std::uint64_t> keys;  // as hashes
  std::vector<double> rows;         // of each
  table_counts counts;

  void add(std::uint64_t key, std::uint64_t times) {
    keys.push_back(key);
    rows.push_back(static_cast<double>(times));
    ++counts.keys;
    counts.rows += times;
    counts.squares += static_cast<double>(times * times);
  }
};

// 800 keys in either, 200 of them in both, with 1 to 4 rows each, or 1 alone in B.
void tables(std::uint64_t trial, std::uint64_t most_b, occurring& a, occurring& b, double& truth) {
  std::mt19937_64 random(trial + 1);
  truth = 0;
  for (std::uint64_t i = 0; i < 800; ++i) {
    const std::uint64_t in_a = 1 + random() % 4;
    const std::uint64_t in_b = 1 + random() % most_b;
    a.add(sample_hash(i, 3 * trial + 1), in_a);
    b.add(sample_hash(i, i < 200 ? 3 * trial + 1 : 3 * trial + 2), in_b);
    if (i < 200) truth += static_cast<double>(in_a * in_b);
  }
}

estimate estimated_by_filter(const occurring& a, const occurring& b, std::uint32_t bits) {
  const sent_filter f(b.keys, bits);
  passed_class passed{.counts = b.counts, .fpr = std::pow(0.5, static_cast<int>(bits))};
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    if (!f.contains(a.keys[i])) continue;
    passed.rows += a.rows[i];
    passed.squares += a.rows[i] * a.rows[i];
  }
  return estimate_join(std::span(&passed, 1), a.counts);
}

TEST(join_estimate, with_unique_keys_has_the_error_of_the_filter) {
  check_spread([](std::uint64_t trial) {
    occurring a, b;
    double truth = 0;
    tables(trial, 1, a, b, truth);
    return std::pair(estimated_by_filter(a, b, 3), truth);
  });
}
TEST(join_estimate, with_repeated_keys_has_that_of_the_counts_too) {
  check_spread([](std::uint64_t trial) {
    occurring a, b;
    double truth = 0;
    tables(trial, 4, a, b, truth);
    return std::pair(estimated_by_filter(a, b, 6), truth);
  });
}
TEST(join_estimate, from_two_filters_of_bits) {
  const plan p{.shape = {.kind = filter_kind::classic, .probes = 3, .bits = 8000}};
  check_spread([&p](std::uint64_t trial) {
    occurring a, b;
    double truth = 0;
    tables(trial, 4, a, b, truth);
    classic_filter left(p), right(p);
    left.add_batch(a.keys);
    right.add_batch(b.keys);
    return std::pair(estimate_join(compare(left, right).keys_intersection, a.counts, b.counts),
                     truth);
  });
}

join_size estimate_over(const table& of_a, const table& of_b) {
  const join_side a(scan_of(of_a));
  auto [end_a, end_b] = pipe_pair();
  std::jthread sender([&a, end = std::move(end_a)]() mutable {
    message_channel peer(std::move(end));
    send_join(peer, a, "");
  });
  message_channel peer(std::move(end_b));
  return receive_estimate(peer, scan_of(of_b));
}

TEST(join_estimate, over_a_connection) {
  for (const bool swapped : {false, true}) {
    const table large = numbered(0, 5000, 10, 2);
    const table small = numbered(4500, 1000, 10, 3);
    const join_size size = estimate_over(swapped ? small : large, swapped ? large : small);
    EXPECT_NEAR(size.rows.value, 500 * 2 * 3, 5 * size.rows.standard_error);
    EXPECT_GT(size.rows.standard_error, 1);
    EXPECT_LT(size.rows.standard_error, 30);
    EXPECT_LT(size.report.bytes(), 2200U);  // 14 bits for each of 1,000 keys
    EXPECT_EQ(size.report.rows_sent, 0U);
  }
}

// The worst for estimates by means: what is frequent in one table is in the other, too.
TEST(join_estimate, knows_how_often_keys_occur) {
  table a;
  table b;
  double truth = 0;
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    const std::uint64_t in_a = 2000 / i;
    const std::uint64_t in_b = 1 + 500 / i;
    for (std::uint64_t n = 0; n < in_a; ++n) a.push_back({"key " + std::to_string(i), ""});
    const std::string key = i % 3 == 0 ? "other " : "key ";
    for (std::uint64_t n = 0; n < in_b; ++n) b.push_back({key + std::to_string(i), ""});
    if (i % 3 != 0) truth += static_cast<double>(in_a * in_b);
  }
  const join_size size = estimate_over(a, b);
  EXPECT_NEAR(size.rows.value, truth, 5 * size.rows.standard_error);
  EXPECT_LT(size.rows.standard_error, 0.05 * truth);
}

// ---- the join ---------------------------------------------------------------------------------

TEST(join, is_that_of_all_pairs_in_the_order_of_both_tables) {
  std::mt19937_64 random(7);
  for (int t = 0; t < 60; ++t) {
    const std::uint64_t keys = 1 + random() % 60;
    const auto any = [&](std::size_t rows) {
      table all;
      for (std::size_t i = 0; i < rows; ++i) {
        // Keys with zero bytes, and the empty one.
        std::string key = std::to_string(random() % keys);
        if (key == "1") key.clear();
        if (key == "2") key = std::string("a\0b", 3);
        if (key == "3") key = std::string("a\0c", 3);
        all.push_back({.key = key, .rest = std::to_string(i) + std::string(random() % 300, 'x')});
      }
      return all;
    };
    const table a = any(random() % 200);
    const table b = any(random() % 200);
    const joined found = run(a, b);
    EXPECT_EQ(found.rows, by_all_pairs(a, b));
    EXPECT_EQ(found.at_b.pairs, found.rows.size());
    // Both sides count the same.
    EXPECT_EQ(found.at_a.bytes(), found.at_b.bytes());
    EXPECT_EQ(found.at_a.filter_bytes, found.at_b.filter_bytes);
    EXPECT_EQ(found.at_a.row_bytes, found.at_b.row_bytes);
    EXPECT_EQ(found.at_a.rows_sent, found.at_b.rows_sent);
  }
}

// 40,000 rows of which 500 match: rows that travel are the matches and fpr of the others, within 5
// standard deviations; in all three ways.
TEST(join, sends_the_matches_and_fpr_of_the_others) {
  const table large = numbered(0, 40'000, 100);
  const joined by_b = run(large, numbered(39'500, 2000, 5));
  EXPECT_EQ(by_b.at_b.plan.offered_bits, 0U);
  const double rate = std::pow(0.5, static_cast<int>(by_b.at_b.plan.asked_bits));
  const double others = 39'500;
  EXPECT_EQ(by_b.at_b.rows_matched, 500U);
  EXPECT_NEAR(static_cast<double>(by_b.at_b.rows_sent), 500 + rate * others,
              5 * std::sqrt(rate * others) + 1);
  EXPECT_LT(by_b.at_b.bytes(), by_b.at_b.plain_bytes / 50);
  // A has fewer keys, but wide rows: its filter comes first.
  const joined by_a = run(numbered(39'500, 2000, 100), large);
  EXPECT_GT(by_a.at_b.plan.offered_bits, 0U);
  EXPECT_EQ(by_a.at_b.rows_matched, 500U);
  EXPECT_EQ(by_a.rows.size(), 500U);
  EXPECT_LT(by_a.at_b.bytes(), by_a.at_b.plain_bytes / 2);
  // Two rows against many keys: no filter at all.
  const joined plain = run(numbered(39'999, 2, 1), large);
  EXPECT_EQ(plain.at_b.plan.asked_bits, 0U);
  EXPECT_EQ(plain.at_b.rows_sent, 2U);
  EXPECT_EQ(plain.rows.size(), 1U);
}

TEST(join, of_empty_tables_is_empty) {
  const table none;
  EXPECT_TRUE(run(none, none).rows.empty());
  EXPECT_TRUE(run(numbered(0, 10, 1), none).rows.empty());
  EXPECT_TRUE(run(none, numbered(0, 10, 1)).rows.empty());
}

TEST(join, does_not_believe_its_peer) {
  const table t = numbered(0, 10, 3);
  const auto nothing = [](auto...) { FAIL() << "a row of a broken join"; };
  std::mt19937_64 random(3);
  int refused = 0;
  // A conversation with one byte changed in one message; the checksums are made for it.
  for (int i = 0; i < 300; ++i) {
    auto [end_a, end_b] = pipe_pair();
    message_channel peer(std::move(end_b));
    {
      message_channel forger(std::move(end_a));
      std::vector<std::byte> offer = bytes({0, 0, 10, 10, 99, 0});
      std::vector<std::byte> rows = bytes({1, 'k', 0});
      std::vector<std::byte> end = bytes({1});
      auto& bent = i % 3 == 0 ? offer : i % 3 == 1 ? rows : end;
      bent[random() % bent.size()] ^= static_cast<std::byte>(1 + random() % 255);
      if (i % 7 == 0) bent.pop_back();
      forger.send(7, bytes({42}));
      forger.send(2, offer);
      forger.send(4, rows);
      forger.send(i % 11 == 0 ? 6 : 5, end);
      forger.flush();
    }
    try {
      receive_join(
          peer, scan_of(t), [](std::string_view) {}, nothing);
    } catch (const error& e) {
      // Or it was not bent enough to be seen, and then the forger has gone before the end.
      EXPECT_TRUE(e.code() == errc::corrupt || e.code() == errc::io) << e.what();
      if (e.code() == errc::corrupt) ++refused;
      // Whatever is wrong with the last message is seen: it has nothing but the number of rows.
      if (i % 3 == 2) {
        EXPECT_EQ(e.code(), errc::corrupt);
      }
    }
  }
  EXPECT_GT(refused, 150);
}

TEST(join, breaks_off_without_rows_when_the_peer_goes) {
  const table t = numbered(0, 10, 3);
  int rows = 0;
  auto [end_a, end_b] = pipe_pair();
  {
    message_channel forger(std::move(end_a));
    forger.send(7, bytes({42}));
    forger.send(2, bytes({0, 0, 10, 10, 99, 0}));
    forger.send(4,
                std::vector<std::byte>{std::byte{5}, std::byte{'k'}, std::byte{'e'}, std::byte{'y'},
                                       std::byte{' '}, std::byte{'1'}, std::byte{0}});
    forger.flush();
  }
  message_channel peer(std::move(end_b));
  EXPECT_TRUE(throws(errc::io, "", [&] {
    receive_join(
        peer, scan_of(t), [](std::string_view) {}, [&](auto...) { ++rows; });
  }));
  EXPECT_EQ(rows, 0);
}

TEST(join, holds_no_more_than_it_may) {
  const table t = numbered(0, 100, 1000);
  const join_side side(scan_of(t));
  auto [end_a, end_b] = pipe_pair();
  std::jthread sender([&side, end = std::move(end_a)]() mutable {
    message_channel peer(std::move(end));
    EXPECT_TRUE(throws(errc::io, "", [&] { send_join(peer, side, ""); }));
  });
  {
    message_channel peer(std::move(end_b));
    EXPECT_TRUE(throws(errc::no_memory, "limit of 100000 bytes", [&] {
      receive_join(
          peer, scan_of(t), [](std::string_view) {}, [](auto...) {}, {.memory_bytes = 100'000});
    }));
  }
  sender.join();
}

// What A says to a B with one row, whose key is "k", after the seed.
template <class Speech>
errc error_of_b(std::uint64_t memory, Speech speech) {
  const table t = {{.key = "k", .rest = ""}};
  auto [end_a, end_b] = pipe_pair();
  std::jthread speaker([&speech, end = std::move(end_a)]() mutable {
    try {
      message_channel liar(std::move(end));
      liar.send(7, bytes({42}));
      speech(liar);
      liar.flush();
      static_cast<void>(liar.receive(1000));
    } catch (const error&) {
      // B has gone.
    }
  });
  message_channel peer(std::move(end_b));
  try {
    receive_join(
        peer, scan_of(t), [](std::string_view) {}, [](auto...) {}, {.memory_bytes = memory});
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

// A row of three bytes is 24 more in memory, and an empty part of a filter is one byte and 32.
TEST(join, counts_what_small_things_really_take) {
  const auto offer_of_rows = bytes({0, 0, 0xff, 0xff, 0xff, 0x7f, 1, 99, 0});
  std::vector<std::byte> rows;
  for (int i = 0; i < 20'000; ++i) {
    for (const int b : {1, int{'k'}, 0}) rows.push_back(static_cast<std::byte>(b));
  }
  EXPECT_EQ(error_of_b(400'000,
                       [&](message_channel& to) {
                         to.send(2, offer_of_rows);
                         to.send(4, rows);
                       }),
            errc::no_memory);
  std::vector<std::byte> filter = bytes({1, 1, 100, 100, 99, 0, 0xd0, 0x86, 0x03});  // 50,000 parts
  filter.resize(filter.size() + 50'000);
  EXPECT_EQ(error_of_b(1'000'000, [&](message_channel& to) { to.send(2, filter); }),
            errc::no_memory);
  // Nor does it hash a part of any length, or keep a long text about the table.
  std::vector<std::byte> part = bytes({1, 1, 100, 100, 99, 0, 1, 0xa0, 0x8d, 0x06});  // 100,000
  part.resize(part.size() + 100'000);
  EXPECT_EQ(error_of_b(1'000'000, [&](message_channel& to) { to.send(2, part); }), errc::corrupt);
  std::vector<std::byte> talk = bytes({0, 0, 1, 1, 99, 0x81, 0x80, 0x40});  // 1,048,577
  talk.resize(talk.size() + (std::size_t{1} << 20U) + 1);
  EXPECT_EQ(error_of_b(100'000'000, [&](message_channel& to) { to.send(2, talk); }), errc::corrupt);
}

// Keys with the same XXH3 under the seed that everybody knows (the secret's first eight bytes make
// a product zero) are like others under A's.
TEST(join, draws_the_seed_of_its_hashes) {
  table crafted;
  const std::array<int, 8> zero = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
  for (int i = 0; i < 1000; ++i) {
    std::string key(32, 'x');
    for (std::size_t j = 0; j < zero.size(); ++j) key[j] = static_cast<char>(zero[j]);
    key.replace(8, 8, std::to_string(10'000'000 + i));
    crafted.push_back({.key = key, .rest = ""});
  }
  EXPECT_EQ(join_side(scan_of(crafted), 0).counts().keys, 1U);
  EXPECT_EQ(join_side(scan_of(crafted)).counts().keys, 1000U);
  EXPECT_NE(join_side(scan_of(crafted)).seed(), join_side(scan_of(crafted)).seed());
  EXPECT_EQ(run(crafted, crafted).rows.size(), 1000U);
}

TEST(sent_filter, does_not_work_for_keys_that_were_made_to_meet) {
  std::vector<std::uint64_t> hashes(20'000);
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = i;  // all in the first part
  EXPECT_TRUE(throws(errc::corrupt, "not spread", [&] { sent_filter(hashes, 3); }));
}

TEST(fields, are_what_was_appended) {
  std::string list;
  const std::vector<std::string> fields = {"", std::string("a\0b", 3), std::string(300, 'x'), ","};
  for (const std::string& field : fields) append_field(list, field);
  std::vector<std::string_view> back;
  split_fields(list, back, 4);
  EXPECT_TRUE(throws(errc::corrupt, "damaged", [&] { split_fields(list, back, 3); }));
  split_fields(list, back, 4);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), fields.begin(), fields.end()));
  list.pop_back();
  EXPECT_TRUE(throws(errc::corrupt, "damaged", [&] { split_fields(list, back, 4); }));
}

}  // namespace
}  // namespace bloomery
