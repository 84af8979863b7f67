// Switches off what target/avx2.hpp or target/avx512.hpp switched on: the last line of a file.
// Clang asks for it.
#if defined(__clang__)
#pragma clang attribute pop
#endif
