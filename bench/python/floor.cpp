// The calls of C++ that the Python package is measured against: bench.py loads this into its own
// process and calls it with the addresses of its arrays.
#include <bloomery/bloomery.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

extern "C" {

__attribute__((visibility("default"))) void* floor_new(std::uint64_t keys) {
  return new bloomery::filter({.keys = keys, .fpr = 0.01});
}
__attribute__((visibility("default"))) void floor_add(void* filter, const std::uint64_t* keys,
                                                      std::size_t count) {
  static_cast<bloomery::filter*>(filter)->add_batch(std::span(keys, count));
}
__attribute__((visibility("default"))) void floor_contains(const void* filter,
                                                           const std::uint64_t* keys,
                                                           std::size_t count, std::uint8_t* out) {
  static_cast<const bloomery::filter*>(filter)->contains_bytes(std::span(keys, count),
                                                               std::span(out, count));
}
__attribute__((visibility("default"))) void floor_free(void* filter) {
  delete static_cast<bloomery::filter*>(filter);
}

}  // extern "C"
