// An error that becomes another one on its way up, such as one that names the file.
#pragma once

#include "bloomery/core/error.hpp"

namespace bloomery::detail {

// The result of work(). An error that it throws is given to change(error), which returns the one to
// throw instead. Where there are no exceptions, the error ends the program as it is.
template <class Work, class Change>
auto changing_errors(Work work, [[maybe_unused]] Change change) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const error& e) {
    throw change(e);
  }
#else
  return work();
#endif
}

}  // namespace bloomery::detail
