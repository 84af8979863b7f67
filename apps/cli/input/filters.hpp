// Filters from files, with their hash functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bloomery/format/any_filter.hpp"

namespace bloomery::cli {

// The function by name, for a new filter.
std::shared_ptr<const any_hasher> make_hasher(std::string_view name, std::uint64_t seed,
                                              const std::string& key_file, std::uint32_t probes,
                                              const key_form& form);
inline constexpr std::string_view pairwise_name = "pairwise";  // --hash of count-min, see build
// The function of a filter with this header. Throws errc::mismatch unless it can be asked like
// this.
std::shared_ptr<const any_hasher> hasher_of(const image_header& header, const std::string& key_file,
                                            const key_form& form);
bool makes_digests(std::string_view hash_name);  // for probe_scheme::modulo
// Opens or loads a filter, ready to be asked: with its hash function, and its key if it needs one.
// Throws errc::mismatch, with the option to give, when its keys are known to be of another form.
any_filter open_filter(const std::string& path, const std::string& key_file, const key_form& form);
any_filter load_filter(const std::string& path, const std::string& key_file, const key_form& form);

// "its keys are integers; give --integers", for one who comes with keys of the form `given`.
std::string wrong_form(const key_form& in_file, const key_form& given);

// Throws errc::unsupported, naming the file, unless its kind can do what is asked of it.
void require(bool ability, const any_filter& f, const std::string& path, std::string_view what);

struct change_manners {
  bool quiet = false;
  bool wait = true;  // for another program that changes the file
};
// Locks a file that is to be changed; after a second says what it waits for. Throws errc::io, also
// for a file that the user may not write, which could be replaced if its folder allows it.
void lock_file(std::optional<file_lock>& lock, const std::string& path, const change_manners& m);

// Changes a filter file: locks it, loads it, and saves it unless `change` throws or returns false.
any_filter change_file(const std::string& path, const std::string& key_file, const key_form& form,
                       const change_manners& manners,
                       const std::function<bool(any_filter&)>& change);

}  // namespace bloomery::cli
