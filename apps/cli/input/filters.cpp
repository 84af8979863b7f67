#include "cli/input/filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/hash/murmur.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "cli/input/keys.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/text.hpp"
#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace bloomery::cli {

namespace {

#ifdef BLOOMERY_HAS_CRYPTO
std::shared_ptr<const any_hasher> keyed_hasher(const std::string& key_file, const key_form& form) {
  if (key_file.empty()) {
    throw error(
        errc::bad_argument,
        "siphash needs a secret key; make one with 'openssl rand -hex 16 > KEY' and give it "
        "with --key-file KEY");
  }
  return erase(siphash_hasher(read_key_file(key_file)), form);
}
#endif

}  // namespace

bool makes_digests(std::string_view name) {
  return std::ranges::any_of(std::array{hash_id::salted_sha1, hash_id::md5, hash_id::folded_sha1},
                             [&](hash_id id) { return name == hash_name(id); });
}

std::shared_ptr<const any_hasher> make_hasher(const hash_options& o, std::uint32_t probes,
                                              const key_form& form) {
  // Pairwise rows are a choice of positions from the hash, which is the usual one.
  const std::string chosen = o.chosen();
  const std::string_view name = chosen == pairwise_name ? hash_name(hash_id::xxh3) : chosen;
  const bool plain = name == hash_name(hash_id::xxh3);
  const bool secret = name == hash_name(hash_id::xxh3_secret);
  if (!plain && !secret && o.seed.value_or(0) != 0) {
    throw error(errc::bad_argument, fmt::format("the hash {} takes no --seed", name));
  }
  if (name != hash_name(hash_id::siphash) && !o.key_file.empty()) {
    throw error(errc::bad_argument,
                fmt::format("the hash {} takes no --key-file; did you mean --hash siphash?", name));
  }
  if (plain) return erase(xxh3_hasher(o.seed.value_or(0)), form);
  if (secret) return erase(secret_hasher(o.seed ? *o.seed : random_seed()), form);
#ifdef BLOOMERY_HAS_CRYPTO
  if (name == hash_name(hash_id::siphash)) return keyed_hasher(o.key_file, form);
  if (name == hash_name(hash_id::salted_sha1)) return erase(salted_sha1_hasher(probes), form);
  if (name == hash_name(hash_id::folded_sha1)) return erase(folded_sha1_hasher(probes), form);
  if (name == hash_name(hash_id::md5)) return erase(md5_hasher(), form);
#endif
  static_cast<void>(probes);
  throw error(errc::unsupported, fmt::format("this program was built without the hash {}", name));
}

namespace {

std::string_view verb_of(key_rule rule) {
  switch (rule) {
    case key_rule::plain: return "check";
    case key_rule::password:
    case key_rule::near_password:
    case key_rule::password_digest: return "passwd check";
    case key_rule::word: return "spell --dictionary";
    case key_rule::block_list: return "block check";
  }
  return "";
}

// The options that say of keys that they have this form.
std::string options_of(const key_form& form, std::string_view joined_by) {
  switch (form.type) {
    case key_type::unknown:
    case key_type::text: break;
    case key_type::integers: return "--integers";
    case key_type::binary: return fmt::format("--hex {} --record-bytes", joined_by);
    case key_type::kmers: return fmt::format("--kmer {}", form.length);
  }
  return "";
}

}  // namespace

std::shared_ptr<const any_hasher> hasher_of(const image_header& header, const std::string& key_file,
                                            const key_form& form) {
  if (header.hash.rule != key_rule::plain) {
    throw error(errc::mismatch,
                fmt::format("it is a filter of {}; ask it with 'bloomery {}'",
                            rule_name(header.hash.rule), verb_of(header.hash.rule)));
  }
  if (header.hash.id == hash_id::none) {
    throw error(errc::unsupported,
                "its hashes come from a program that hashes by rules of its own; ask it there");
  }
  if (!agree(header.hash.form, form)) {
    throw error(errc::mismatch, wrong_form(header.hash.form, form));
  }
  if (header.hash.id == hash_id::siphash && key_file.empty()) {
    throw error(errc::mismatch, "it was made with a secret key; give the key with --key-file");
  }
  if (header.hash.id == hash_id::murmur) return erase(murmur_hasher(header.hash.seed), form);
  auto made = make_hasher({.name = std::string(hash_name(header.hash.id)),
                           .seed = header.hash.seed,
                           .key_file = key_file},
                          header.planned.shape.probes, form);
  if (made->spec().key_id != header.hash.key_id) {
    throw error(errc::mismatch, "it was made with another secret key");
  }
  return made;
}

namespace {

auto maker_of(const std::string& key_file, const key_form& form) {
  return
      [&key_file, form](const image_header& header) { return hasher_of(header, key_file, form); };
}

}  // namespace

std::string wrong_form(const key_form& in_file, const key_form& given) {
  const std::string keys = fmt::format("its keys are {}", form_name(in_file));
  return in_file.type == key_type::text
             ? fmt::format("{}; leave out {}", keys, options_of(given, "and"))
             : fmt::format("{}; give {}", keys, options_of(in_file, "or"));
}

namespace {

// The options of the verb that runs; there is one.
std::string limit_given;
bool without_verifying = false;

}  // namespace

void add_limit(command& verb) {
  verb.add_option("--limit", limit_given,
                  "Refuse a file that asks for more memory: a few bytes can ask for terabytes "
                  "(default: 256Mi, or 64 times the file, and at most what the machine has)")
      ->type_name("M");
}

void add_opening_options(command& verb) {
  add_limit(verb);
  verb.add_flag("--no-verify", without_verifying,
                "Ask at once, without reading the file first to compare its checksums: for files "
                "that are huge and known to be sound");
}

opening opening_asked() {
  return {.verify = !without_verifying,
          .memory = limit_given.empty() ? 0 : std::max<std::uint64_t>(1, parse_bytes(limit_given))};
}

any_filter open_filter(const std::string& path, const std::string& key_file, const key_form& form) {
  return within_limit([&] {
    return any_filter::open(mapped_file(path), maker_of(key_file, form), opening_asked());
  });
}

any_filter load_filter(const std::string& path, const std::string& key_file, const key_form& form) {
  return within_limit([&] {
    return any_filter::load(mapped_file(as_file(path)), maker_of(key_file, form), opening_asked());
  });
}

any_filter open_verified(const std::string& path, unsigned threads) {
  opening how = opening_asked();
  how.verify = false;  // verify() below does that and more
  any_filter f = within_limit([&] { return any_filter::open(path, nullptr, how); });
  f.verify(threads);
  return f;
}

void require(bool ability, const any_filter& f, const std::string& path, std::string_view what) {
  if (ability) return;
  throw error(errc::unsupported,
              fmt::format("{}: a {} filter {}", path, kind_name(f.shape().kind), what));
}

namespace {

// What the filter refuses, or is too large for, is said of the file.
template <class Work>
auto naming_file(const std::string& path, Work work) {
  try {
    return work();
  } catch (const error& e) {
    const bool about_it = e.code() == errc::unsupported || e.code() == errc::no_memory;
    if (!about_it || std::string_view(e.what()).starts_with(path)) throw;
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace

replaced_file lock_file(std::optional<file_lock>& lock, const std::string& path,
                        const change_manners& m) {
  if (path == "-") {
    throw error(errc::bad_argument,
                "a file is changed where it is, so standard input cannot be; give its name");
  }
  wait_for_lock(lock, path, m);
  return replaced_file(path);
}

any_filter change_file(const std::string& path, const std::string& key_file, const key_form& form,
                       const change_manners& manners,
                       const std::function<bool(any_filter&)>& change) {
  // Two at once would each write what it read plus its own changes, and the later one would win.
  std::optional<file_lock> lock;
  replaced_file replaced = lock_file(lock, path, manners);
  mapped_file file(*lock);
  if (is_packed(file.bytes())) {
    throw error(errc::unsupported, fmt::format("{}: it is packed; unpack it first", path));
  }
  return within_limit([&] {
    any_filter f = any_filter::load(std::move(file), maker_of(key_file, form), opening_asked());
    f->advance(clock_now());
    if (naming_file(path, [&] { return change(f); })) {
      f.save(path);
      replaced.tell_owner(manners.quiet);
    }
    return f;
  });
}

}  // namespace bloomery::cli
