// An address book for friends: each letter carries a filter that is wrong for half of all
// addresses. A friend who has all of them knows the addresses; somebody who has read some letters
// learns little.
#include <bloomery/crypto/key_derivation.hpp>
#include <bloomery/exchange/noisy.hpp>
#include <cassert>
#include <cstdio>
#include <string>

int main() {
  constexpr std::uint32_t letters = 5;
  const bloomery::master_key secret = bloomery::random_master_key();
  const auto for_bert = bloomery::derive_hashers(secret, "bert", letters);
  bloomery::noisy_set book({.keys = 200}, for_bert);
  for (int i = 0; i < 200; ++i) book.add("friend" + std::to_string(i) + "@example.org");
  assert(book.contains("friend7@example.org"));
  std::printf("%u filters of %llu bytes, wrong together for %.1f %% of all addresses\n\n", letters,
              static_cast<unsigned long long>(book.filters()[0].filter().words().size_bytes()),
              100 * book.fpr());

  // 200 of a million addresses are in the book.
  std::printf(
      "letters read   a yes means   bits learned   of 1,000,000 addresses seem to be in it\n");
  const double prior = 200.0 / 1'000'000;
  for (std::uint32_t j = 0; j <= 25; j += j < letters ? 1U : 5U) {
    const bloomery::eavesdropper e{.filters = j, .fpr = 0.5, .prior = prior};
    std::printf("%12u %11.2f %% %14.6f %12.0f\n", j, 100 * e.posterior(), e.learned_bits(),
                200 + e.false_candidates(1'000'000, 200));
  }
  std::printf("\nA candidate who is as likely in it as not:\n");
  for (std::uint32_t j = 1; j <= letters; ++j) {
    const bloomery::eavesdropper e{.filters = j, .fpr = 0.5, .prior = 0.5};
    std::printf("%12u %11.2f %% %14.6f\n", j, 100 * e.posterior(), e.learned_bits());
  }

  // Two people who have agreed on a secret compare their books without showing them.
  const auto agreed = bloomery::derive_hashers(secret, "anna and bert", letters);
  bloomery::noisy_set mine({.keys = 200}, agreed);
  bloomery::noisy_set yours({.keys = 200}, agreed);
  for (int i = 0; i < 200; ++i) mine.add("friend" + std::to_string(i) + "@example.org");
  for (int i = 140; i < 340; ++i) yours.add("friend" + std::to_string(i) + "@example.org");
  const bloomery::comparison c = bloomery::compare_noisy(mine.filters(), yours.filters());
  std::printf("\n60 addresses in common: the filters say %.0f, give or take %.0f\n",
              c.keys_intersection.value, c.keys_intersection.standard_error);
}
