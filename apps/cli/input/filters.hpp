// Filters from files, with their hash functions. Every file that a verb was given is opened here,
// or with opening_asked(), so that damage and bombs have one answer everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bloomery/core/error.hpp"
#include "bloomery/format/any_filter.hpp"
#include "cli/args/options.hpp"
#include "cli/output/streams.hpp"

namespace bloomery::cli {

// --limit, the memory that a file may ask for; and for verbs that only ask, --no-verify.
void add_limit(command& verb);
void add_opening_options(command& verb);
// What was given with these options, which hold for all files of a verb.
opening opening_asked();
// Runs `open`; an error about the limit then names the option that raises it.
template <class Open>
auto within_limit(Open open) {
  try {
    return open();
  } catch (const error& e) {
    const std::string_view what = e.what();
    if (e.code() != errc::no_memory || what.find("the limit of") == std::string_view::npos) throw;
    throw error(e.code(), std::string(what) + "; --limit raises it");
  }
}

// The function for a new filter. Without a seed, that of xxh3-secret is random and others have 0.
std::shared_ptr<const any_hasher> make_hasher(const hash_options& o, std::uint32_t probes,
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
// A filter of any hash, to look at or to combine: every checksum, and what it says of itself.
any_filter open_verified(const std::string& path, unsigned threads);

// "its keys are integers; give --integers", for one who comes with keys of the form `given`.
std::string wrong_form(const key_form& in_file, const key_form& given);

// Throws errc::unsupported, naming the file, unless its kind can do what is asked of it.
void require(bool ability, const any_filter& f, const std::string& path, std::string_view what);

// Locks a file that is to be changed. Throws errc::io, also for a file that the user may not write,
// which could be replaced if its folder allows it.
replaced_file lock_file(std::optional<file_lock>& lock, const std::string& path,
                        const change_manners& m);

// Changes a filter file: locks it, loads it, and saves it unless `change` throws or returns false.
any_filter change_file(const std::string& path, const std::string& key_file, const key_form& form,
                       const change_manners& manners,
                       const std::function<bool(any_filter&)>& change);

}  // namespace bloomery::cli
