#include "cli/input/filters.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/format/file.hpp"
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

std::shared_ptr<const any_hasher> make_hasher(std::string_view name, std::uint64_t seed,
                                              const std::string& key_file, std::uint32_t probes,
                                              const key_form& form) {
  // That is a choice of positions from the hash, which is the usual one.
  if (name == pairwise_name) return make_hasher(hash_name(hash_id::xxh3), seed, key_file, 1, form);
  if (name != hash_name(hash_id::xxh3) && seed != 0) {
    throw error(errc::bad_argument, fmt::format("the hash {} takes no --seed", name));
  }
  if (name != hash_name(hash_id::siphash) && !key_file.empty()) {
    throw error(errc::bad_argument,
                fmt::format("the hash {} takes no --key-file; did you mean --hash siphash?", name));
  }
  if (name == hash_name(hash_id::xxh3)) return erase(xxh3_hasher(seed), form);
#ifdef BLOOMERY_HAS_CRYPTO
  if (name == hash_name(hash_id::siphash)) return keyed_hasher(key_file, form);
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
  return make_hasher(hash_name(header.hash.id), header.hash.seed, key_file,
                     header.planned.shape.probes, form);
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

any_filter open_filter(const std::string& path, const std::string& key_file, const key_form& form) {
  return any_filter::open(mapped_file(path), maker_of(key_file, form));
}

any_filter load_filter(const std::string& path, const std::string& key_file, const key_form& form) {
  return any_filter::load(mapped_file(as_file(path)), maker_of(key_file, form));
}

void require(bool ability, const any_filter& f, const std::string& path, std::string_view what) {
  if (ability) return;
  throw error(errc::unsupported,
              fmt::format("{}: a {} filter {}", path, kind_name(f.shape().kind), what));
}

namespace {

// Replacing a file needs no right to write to it, so that is looked at here. Root has every right,
// and still a file that nobody may write is not meant to be changed.
void check_writable(const std::string& path, const struct stat& info) {
  if ((info.st_mode & 0222U) != 0 && ::access(path.c_str(), W_OK) == 0) return;
  throw error(errc::io, fmt::format("{}: it is read-only (mode {:04o}{}); 'chmod u+w' changes that",
                                    path, info.st_mode & 07777U,
                                    info.st_uid == ::geteuid() ? "" : ", and not yours"));
}

}  // namespace

void lock_file(std::optional<file_lock>& lock, const std::string& path, const change_manners& m) {
  constexpr std::uint64_t patience_ms = 1000;
  if (path == "-") {
    throw error(errc::bad_argument,
                "a file is changed where it is, so standard input cannot be; give its name");
  }
  bool said = m.quiet;
  lock.emplace(path, [&](std::uint64_t so_far) {
    if (!m.wait) {
      throw error(errc::io, fmt::format("{}: another program is changing it", path));
    }
    if (so_far < patience_ms || std::exchange(said, true)) return;
    tell("bloomery: waiting for another program that is changing {}\n", path);
  });
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) check_writable(path, info);
}

any_filter change_file(const std::string& path, const std::string& key_file, const key_form& form,
                       const change_manners& manners,
                       const std::function<bool(any_filter&)>& change) {
  // Two at once would each write what it read plus its own changes, and the later one would win.
  std::optional<file_lock> lock;
  lock_file(lock, path, manners);
  mapped_file file(*lock);
  if (is_packed(file.bytes())) {
    throw error(errc::unsupported, fmt::format("{}: it is packed; unpack it first", path));
  }
  any_filter f = any_filter::load(std::move(file), maker_of(key_file, form));
  f->advance(clock_now());
  bool changed = false;
  try {
    changed = change(f);
  } catch (const error& e) {
    if (e.code() != errc::unsupported || std::string_view(e.what()).starts_with(path)) throw;
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
  if (!changed) return f;
  struct stat before {};
  struct stat after {};
  const bool known = ::stat(path.c_str(), &before) == 0;
  f.save(path);
  if (known && !manners.quiet && ::stat(path.c_str(), &after) == 0 &&
      before.st_uid != after.st_uid) {
    tell("bloomery: warning: {} belonged to another user and is yours now\n", path);
  }
  return f;
}

}  // namespace bloomery::cli
