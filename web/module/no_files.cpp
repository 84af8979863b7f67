// What any_filter wants of files, in a module that has none: the calls that would open one are not
// offered, but a filter can be a mapped file as far as its destructor knows.
#include "bloomery/format/file.hpp"

namespace bloomery {

mapped_file::~mapped_file() = default;

}  // namespace bloomery
