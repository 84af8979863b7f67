// What a stranger's first program looks like.
#include <bloomery/bloomery.hpp>

int main() {
  bloomery::filter f({.keys = 1000, .fpr = 0.01});
  f.add("apples");
  return f.contains("apples") ? 0 : 1;
}
