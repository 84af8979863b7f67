// Memory for the pieces of a loop over many keys. It is an array that is not zeroed, because the
// loop writes every element before it reads it.
#pragma once

#include <array>
#include <cstddef>

namespace bloomery::detail {

template <class T, std::size_t Size>
struct scratch : std::array<T, Size> {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  scratch() noexcept {}
};

}  // namespace bloomery::detail
