// A program without exceptions, compiled with core's headers and core's sources: all of them in
// ./test --long, and those that report and allocate otherwise. An error comes to the handler, and
// then std::terminate ends the program.
#include <cstdlib>
#include <exception>
#include <string_view>

#include "bloomery/bloomery.hpp"

namespace {

bool handled = false;

void remember(const bloomery::error& e) {
  handled = e.code() == bloomery::errc::no_memory &&
            std::string_view(e.what()).find("cannot allocate") == 0;
}

#ifdef BLOOMERY_ALL_OF_CORE
void use_filters() {
  bloomery::filter f({.keys = 100'000});
  for (int i = 0; i < 100'000; ++i) f.add(i);
  bool sound = f.contains(99'999) && f.fpr() < 0.01;
  sound = sound && bloomery::load<bloomery::filter>(bloomery::to_image(f)) == f;
  const bloomery::keyed<bloomery::ribbon_filter> archive{1, 2, 3};
  if (!sound || !archive.contains(3)) std::_Exit(2);
}
#else
void use_filters() {}
#endif

}  // namespace

int main() {
  use_filters();
  bloomery::use_error_handler(remember);
  std::set_terminate([] { std::_Exit(handled ? 0 : 3); });
  const bloomery::bit_array impossible(~std::uint64_t{0});
  return static_cast<int>(impossible.words().size());
}
