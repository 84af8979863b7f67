// A list of forbidden passwords that also refuses what is one edit away from them, saved and opened
// again.
#include <bloomery/lists/password.hpp>
#include <cassert>
#include <cstdio>

int main() {
  bloomery::password_builder list({.rule = bloomery::key_rule::near_password, .fpr = 1e-4});
  for (const char* word : {"letmein", "correct horse", "пароль"}) list.add(word);
  list.build().save("forbidden.bloom");

  auto forbidden = bloomery::password_filter::open("forbidden.bloom");
  for (const char* candidate : {"letmein", "l3tmein", "letmein!", "parol", "парол", "hV7;kk-2q"}) {
    std::printf("%-10s %s\n", candidate, forbidden.contains(candidate) ? "refused" : "accepted");
  }
  assert(forbidden.contains("l3tmein"));
  assert(forbidden.contains("парол"));  // characters are code points, not bytes
  assert(!forbidden.contains("parol"));
}
