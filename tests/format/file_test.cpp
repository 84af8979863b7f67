// Filters in files: saving, opening, and what the operating system can do to them in between.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "format/files.hpp"

#ifdef BLOOMERY_HAS_CRYPTO
#include "bloomery/crypto/digest.hpp"
#include "bloomery/crypto/siphash.hpp"
#endif

namespace {

using namespace bloomery;
using namespace bloomery_test;
namespace fs = std::filesystem;
using names = std::vector<std::string>;

byte_vector bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_text(const fs::path& path, std::string_view text) {
  atomic_file file(path);
  file.append(bytes_of(text));
  file.commit();
}

// Runs work() in a process of its own; true when it returned.
template <class Work>
pid_t start_process(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    work();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}
bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode;
}

// ---- round trips ------------------------------------------------------------------------------

template <class Filter>
class every_file : public testing::Test {};
using filters = testing::Types<blocked_filter, classic_filter, partitioned_filter>;
TYPED_TEST_SUITE(every_file, filters, );

template <class Filter>
keyed<Filter> sample_filter(std::uint64_t keys = 1000, std::uint64_t seed = 7) {
  keyed<Filter> f({.keys = keys, .fpr = 0.01, .seed = seed});
  f.add_batch(numbers(keys));
  return f;
}

template <class Keyed>
void expect_same(const Keyed& actual, const auto& expected) {
  EXPECT_EQ(words_of(actual.filter()), words_of(expected.filter()));
  EXPECT_EQ(actual.filter().shape(), expected.filter().shape());
  EXPECT_EQ(actual.filter().planned().keys, expected.filter().planned().keys);
  EXPECT_EQ(actual.filter().planned().fpr_target, expected.filter().planned().fpr_target);
  EXPECT_EQ(actual.keys(), expected.keys());
  EXPECT_EQ(actual.hash_function().spec(), expected.hash_function().spec());
}

TYPED_TEST(every_file, comes_back_as_it_was_saved) {
  const temporary_directory folder;
  // The last is larger than one chunk.
  for (const std::uint64_t keys : {1U, 1000U, 1'000'000U}) {
    const auto f = sample_filter<TypeParam>(keys);
    save(f, folder / "f");
    expect_same(load<keyed<TypeParam>>(folder / "f"), f);
    const auto mapped = map<keyed<TypeParam>>(folder / "f");
    expect_same(*mapped, f);
    EXPECT_EQ(mapped->contains_count(numbers(keys)), keys);
    EXPECT_NO_THROW(mapped.file().verify());
    EXPECT_EQ(folder.names(), names{"f"});
  }
}

TYPED_TEST(every_file, can_be_added_to_after_loading) {
  const temporary_directory folder;
  save(sample_filter<TypeParam>(), folder / "f");
  auto f = load<keyed<TypeParam>>(folder / "f");
  f.add("one more");
  save(f, folder / "f");
  EXPECT_EQ(map<keyed<TypeParam>>(folder / "f")->keys(), 1001U);
  EXPECT_TRUE(map<keyed<TypeParam>>(folder / "f")->contains("one more"));
}

TYPED_TEST(every_file, is_the_same_to_the_byte_when_saved_again) {
  const temporary_directory folder;
  save(sample_filter<TypeParam>(), folder / "a");
  save(load<keyed<TypeParam>>(folder / "a"), folder / "b");
  save(*map<keyed<TypeParam>>(folder / "a"), folder / "c");
  EXPECT_EQ(read_bytes(folder / "b"), read_bytes(folder / "a"));
  EXPECT_EQ(read_bytes(folder / "c"), read_bytes(folder / "a"));
}

TEST(mapped_filter, can_be_moved) {
  const temporary_directory folder;
  save(sample_filter<blocked_filter>(), folder / "f");
  auto first = map<filter>(folder / "f");
  const auto second = std::move(first);
  EXPECT_EQ(second->contains_count(numbers(1000)), 1000U);
}

TEST(mapped_filter, keeps_the_old_content_when_the_file_is_replaced) {
  const temporary_directory folder;
  save(sample_filter<blocked_filter>(1000), folder / "f");
  const auto mapped = map<filter>(folder / "f");
  filter other({.keys = 1000, .seed = 8});
  other.add("new");
  save(other, folder / "f");
  EXPECT_EQ(mapped->keys(), 1000U);
  EXPECT_EQ(mapped->contains_count(numbers(1000)), 1000U);
  EXPECT_NO_THROW(mapped.file().verify());
  EXPECT_EQ(map<filter>(folder / "f")->keys(), 1U);
  fs::remove(folder / "f");
  EXPECT_EQ(mapped->contains_count(numbers(1000)), 1000U);
}

TEST(mapped_filter, opens_at_once_and_reaches_beyond_32_bits) {
  const temporary_directory folder;
  // 2 GiB of filter in a file with a hole: only what is asked for is ever read.
  const std::uint64_t bits = std::uint64_t{1} << 34U;
  byte_vector header = small_image<blocked_filter>();
  header.resize(256);
  const std::uint64_t end = 256 + bits / 8 + 8 * (bits / 8 / image_chunk_bytes);
  put(header, 24, 8, bits);
  put(header, 88, 8, bits / 8);
  put(header, 96, 8, 256 + bits / 8);
  put(header, 104, 8, end);
  seal_header(header);
  write_bytes(folder / "f", header);
  std::error_code error_code;
  fs::resize_file(folder / "f", end, error_code);
  if (error_code) GTEST_SKIP() << "no sparse files here: " << error_code.message();

  const hash_spec spec = spec_for<blocked_filter>();
  const auto hash = xxh3_hasher(spec.seed).integer(42);
  const int fd = ::open((folder / "f").c_str(), O_WRONLY | O_CLOEXEC);
  const blocked_probes probes(
      shape{.kind = filter_kind::blocked, .probes = 4, .block_bits = 512, .bits = bits});
  std::vector<std::uint64_t> line(8);
  const std::uint64_t base = probes.block_of(hash) * 512;
  probes.all_of(hash,
                [&](std::uint64_t p) { return detail::set_bit(line.data(), p - base), true; });
  EXPECT_GT(base, std::uint64_t{1} << 32U);
  EXPECT_EQ(::pwrite(fd, line.data(), 64, static_cast<off_t>(256 + base / 8)), 64);
  ::close(fd);

  const auto mapped = map<filter>(folder / "f");
  EXPECT_TRUE(mapped->contains(42));
  EXPECT_FALSE(mapped->contains(43));
}

// ---- what does not belong together ------------------------------------------------------------

TEST(opening, refuses_another_kind) {
  const temporary_directory folder;
  save(sample_filter<blocked_filter>(), folder / "f");
  EXPECT_TRUE(throws(errc::mismatch, "of kind blocked, not classic",
                     [&] { (void)map<keyed<classic_filter>>(folder / "f"); }));
  EXPECT_TRUE(throws(errc::mismatch,
                     (folder / "f").string() + ": the file holds a filter of kind blocked, not",
                     [&] { (void)load<keyed<partitioned_filter>>(folder / "f"); }));
}

TEST(opening, refuses_another_seed) {
  const temporary_directory folder;
  save(sample_filter<blocked_filter>(10, 7), folder / "f");
  EXPECT_TRUE(throws(errc::mismatch, "seed 7, not 8",
                     [&] { (void)map<filter>(folder / "f", xxh3_hasher(8)); }));
  EXPECT_NO_THROW((void)map<filter>(folder / "f", xxh3_hasher(7)));
}

TEST(opening, refuses_another_hash) {
  const temporary_directory folder;
  const auto hashes = sample_filter<blocked_filter>().filter();
  save(hashes, folder / "none");
  EXPECT_TRUE(throws(errc::mismatch, "the hash none, not xxh3",
                     [&] { (void)map<filter>(folder / "none"); }));
  save(hashes, folder / "secret", {.id = hash_id::siphash, .key_id = 5});
  EXPECT_TRUE(throws(errc::mismatch, "the hash siphash, not xxh3",
                     [&] { (void)load<filter>(folder / "secret"); }));
}

#ifdef BLOOMERY_HAS_CRYPTO

TEST(opening, refuses_another_secret_key) {
  const temporary_directory folder;
  using secret_filter = keyed<blocked_filter, siphash_hasher>;
  siphash_hasher::key_type key{};
  const siphash_hasher other(key);
  key[3] = std::byte{9};
  const siphash_hasher own(key);
  secret_filter f(blocked_filter(options{.keys = 100}), own);
  f.add("apples");
  save(f, folder / "f");
  EXPECT_TRUE(map<secret_filter>(folder / "f", own)->contains("apples"));
  EXPECT_TRUE(load<secret_filter>(folder / "f", own).contains("apples"));
  EXPECT_TRUE(throws(errc::mismatch, "another secret key",
                     [&] { (void)map<secret_filter>(folder / "f", other); }));
  EXPECT_TRUE(throws(errc::mismatch, "the hash siphash, not xxh3",
                     [&] { (void)map<filter>(folder / "f"); }));
}

TEST(opening, takes_foreign_digests_with_their_hash) {
  const temporary_directory folder;
  using sha1_filter = keyed<digest_filter, salted_sha1_hasher>;
  sha1_filter f(digest_filter(options{.keys = 100, .fpr = 0.01}), salted_sha1_hasher(7));
  f.add("apples");
  save(f, folder / "f");
  EXPECT_TRUE(map<sha1_filter>(folder / "f", salted_sha1_hasher(7))->contains("apples"));
  EXPECT_TRUE(load<sha1_filter>(folder / "f", salted_sha1_hasher(9)).contains("apples"));
  EXPECT_TRUE(throws(errc::mismatch, "6 words, but the filter has 7 probes",
                     [&] { (void)map<sha1_filter>(folder / "f", salted_sha1_hasher(6)); }));
  EXPECT_TRUE(throws(errc::mismatch, "of kind classic", [&] { (void)map<filter>(folder / "f"); }));
}

#endif

// ---- what is no filter ------------------------------------------------------------------------

TEST(opening, names_the_file_and_the_reason) {
  const temporary_directory folder;
  const auto refused = [&](const fs::path& path, errc code, const std::string& text) {
    return throws(code, path.string() + ": " + text, [&] { (void)map<filter>(path); });
  };
  EXPECT_TRUE(refused(folder / "none", errc::io, "opening failed: No such file"));
  EXPECT_TRUE(refused(folder.path(), errc::io, "not a regular file"));
  EXPECT_TRUE(refused("/dev/null", errc::io, "not a regular file"));
  write_bytes(folder / "empty", {});
  EXPECT_TRUE(refused(folder / "empty", errc::not_bloomery, "not a Bloomery filter"));
  write_bytes(folder / "text", bytes_of("hello"));
  EXPECT_TRUE(refused(folder / "text", errc::not_bloomery, "not a Bloomery filter"));
  byte_vector image = small_image<blocked_filter>();
  image.pop_back();
  write_bytes(folder / "short", image);
  EXPECT_TRUE(refused(folder / "short", errc::corrupt, "the filter is damaged: it has"));
}

TEST(opening, finds_damage_in_a_large_file_when_it_reads_all) {
  const temporary_directory folder;
  save(sample_filter<blocked_filter>(2'000'000), folder / "f");
  byte_vector image = read_bytes(folder / "f");
  ASSERT_GT(image.size(), 2U << 20U);
  image[(1U << 20U) + 5000] ^= std::byte{1};
  write_bytes(folder / "f", image);
  const auto mapped = map<filter>(folder / "f");
  const std::string text =
      (folder / "f").string() + ": the filter is damaged: the checksum of chunk 2";
  EXPECT_TRUE(throws(errc::corrupt, text, [&] { mapped.file().verify(); }));
  EXPECT_TRUE(throws(errc::corrupt, text, [&] { (void)load<filter>(folder / "f"); }));
}

// ---- atomic_file ------------------------------------------------------------------------------

TEST(atomic_file, appears_when_committed) {
  const temporary_directory folder;
  atomic_file file(folder / "f");
  file.append(bytes_of("hello, "));
  file.append(bytes_of("world"));
  file.write_at(0, bytes_of("H"));
  EXPECT_FALSE(fs::exists(folder / "f"));
  file.commit();
  EXPECT_EQ(read_bytes(folder / "f"), bytes_of("Hello, world"));
  EXPECT_EQ(folder.names(), names{"f"});
}

TEST(atomic_file, leaves_nothing_behind_without_commit) {
  const temporary_directory folder;
  {
    atomic_file file(folder / "f");
    file.append(bytes_of("hello"));
  }
  EXPECT_EQ(folder.names(), names{});
}

TEST(atomic_file, leaves_nothing_behind_when_it_cannot_appear) {
  const temporary_directory folder;
  {
    atomic_file file(folder / "f");
    fs::create_directory(folder / "f");
    EXPECT_TRUE(throws(errc::io, "Is a directory", [&] { file.commit(); }));
  }
  EXPECT_EQ(folder.names(), names{"f"});
}

TEST(atomic_file, leaves_the_old_file_alone_until_committed) {
  const temporary_directory folder;
  write_text(folder / "f", "old");
  {
    atomic_file file(folder / "f");
    file.append(bytes_of("abandoned"));
  }
  EXPECT_EQ(read_bytes(folder / "f"), bytes_of("old"));
  atomic_file file(folder / "f");
  file.append(bytes_of("new"));
  EXPECT_EQ(read_bytes(folder / "f"), bytes_of("old"));
  file.commit();
  EXPECT_EQ(read_bytes(folder / "f"), bytes_of("new"));
  EXPECT_EQ(folder.names(), names{"f"});
}

TEST(atomic_file, works_without_a_folder_in_the_path) {
  const temporary_directory folder;
  EXPECT_TRUE(ended_well(start_process([&] {
    fs::current_path(folder.path());
    write_text("f", "hello");
  })));
  EXPECT_EQ(read_bytes(folder / "f"), bytes_of("hello"));
}

TEST(atomic_file, has_the_mode_of_a_new_file_or_of_the_old_one) {
  const temporary_directory folder;
  const mode_t before = ::umask(027);
  write_text(folder / "f", "hello");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "f") & 0777U, 0640U);
  ASSERT_EQ(::chmod((folder / "f").c_str(), 0604), 0);
  write_text(folder / "f", "hello");
  EXPECT_EQ(mode_of(folder / "f") & 0777U, 0604U);
}

TEST(atomic_file, replaces_what_a_link_points_to) {
  const temporary_directory folder;
  fs::create_directory(folder / "there");
  write_text(folder / "there" / "real", "old");
  fs::create_symlink("there/real", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_bytes(folder / "there" / "real"), bytes_of("new"));
  EXPECT_EQ(folder.names(), (names{"link", "there"}));
}

TEST(atomic_file, creates_what_a_dangling_link_points_to) {
  const temporary_directory folder;
  fs::create_symlink("real", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(folder.names(), (names{"link", "real"}));
}

TEST(atomic_file, takes_the_longest_names) {
  const temporary_directory folder;
  const std::string name(255, 'a');
  EXPECT_NO_THROW(write_text(folder / name, "hello"));
  EXPECT_EQ(folder.names(), names{name});
}

TEST(mapped_file, does_not_wait_for_a_pipe) {
  const temporary_directory folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(throws(errc::io, "not a regular file", [&] { mapped_file{folder / "pipe"}; }));
}

TEST(write_image, refuses_another_number_of_words_than_the_shape_has) {
  const temporary_directory folder;
  const plan p{.shape = {.kind = filter_kind::classic, .probes = 3, .bits = 200}};
  const std::vector<std::uint64_t> words(3);
  atomic_file file(folder / "f");
  EXPECT_TRUE(throws(errc::bad_argument, "words is 3, but it must be 4",
                     [&] { write_image(file, {.planned = p}, words); }));
}

TEST(atomic_file, says_why_it_cannot_write) {
  const temporary_directory folder;
  const auto refused = [](const fs::path& path, const std::string& reason) {
    return throws(errc::io, path.string(), [&] { write_text(path, "hello"); }) &&
           throws(errc::io, reason, [&] { write_text(path, "hello"); });
  };
  fs::create_directory(folder / "directory");
  write_bytes(folder / "file", {});
  fs::create_symlink("loop", folder / "loop");
  EXPECT_TRUE(refused(folder / "directory", "Is a directory"));
  EXPECT_TRUE(refused(folder / "missing" / "f", "No such file or directory"));
  EXPECT_TRUE(refused(folder / "file" / "f", "Not a directory"));
  EXPECT_TRUE(refused(folder / "loop", "symbolic links"));
  EXPECT_TRUE(refused("/dev/full", "No space left on device"));
}

TEST(atomic_file, cannot_write_to_a_folder_that_others_own) {
  const temporary_directory folder;
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
  EXPECT_TRUE(ended_well(start_process([&] {
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                       fs::perms::others_read | fs::perms::others_exec);
    // Nothing is forbidden to root.
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    if (!throws(errc::io, "Permission denied", [&] { write_text(folder / "f", "x"); })) ::_exit(3);
  })));
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(folder.names(), names{});
}

TEST(atomic_file, writes_to_a_nameless_file_directly) {
  const temporary_directory folder;
  const int fd = ::open((folder / "f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  fs::remove(folder / "f");
  const fs::path path = "/proc/self/fd/" + std::to_string(fd);
  write_text(path, "something longer");
  write_text(path, "hello");
  EXPECT_EQ(read_bytes(path), bytes_of("hello"));
  EXPECT_EQ(folder.names(), names{});
  ::close(fd);
}

// Who is not the owner cannot keep the owner, but the group if it is one of his; if it is not, its
// rights go to no other group.
TEST(atomic_file, gives_no_rights_to_another_group) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const temporary_directory folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  for (const char* name : {"ours", "theirs"}) {
    write_text(folder / name, "old");
    ASSERT_EQ(::chmod((folder / name).c_str(), 0664), 0);
  }
  ASSERT_EQ(::chown((folder / "ours").c_str(), 1, 65534), 0);
  ASSERT_EQ(::chown((folder / "theirs").c_str(), 1, 1), 0);
  EXPECT_TRUE(ended_well(start_process([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    write_text(folder / "ours", "new");
    write_text(folder / "theirs", "new");
  })));
  EXPECT_EQ(mode_of(folder / "ours") & 0777U, 0664U);
  EXPECT_EQ(mode_of(folder / "theirs") & 0777U, 0644U);
  struct stat now {};
  ASSERT_EQ(::stat((folder / "ours").c_str(), &now), 0);
  EXPECT_EQ(now.st_gid, 65534U);
}

TEST(atomic_file, writes_to_devices_directly) {
  save(sample_filter<blocked_filter>(), "/dev/null");
  EXPECT_TRUE(S_ISCHR(mode_of("/dev/null")));
}

TEST(atomic_file, writes_to_pipes_directly) {
  const temporary_directory folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto f = sample_filter<blocked_filter>(100'000);
  byte_vector received;
  std::jthread reader([&] {
    std::ifstream in(folder / "pipe", std::ios::binary);
    for (char c = 0; in.get(c);) received.push_back(static_cast<std::byte>(c));
  });
  save(f, folder / "pipe");
  reader.join();
  EXPECT_EQ(received, image_of(f.filter(), f.hash_function().spec()));
  EXPECT_TRUE(S_ISFIFO(mode_of(folder / "pipe")));
}

// What a writer left that was killed just before renaming. A live writer holds a lock.
TEST(atomic_file, removes_what_killed_writers_left_and_nothing_else) {
  const temporary_directory directory;
  const auto left = [&](std::uint64_t number) {
    const std::string start = ".bloomery-" + std::to_string(XXH3_64bits("f", 1)) + "-";
    return directory / (start + std::to_string(number) + ".tmp");
  };
  const auto other = directory / ".bloomery-1-0.tmp";  // of another target
  for (const fs::path& path : {left(0), left(1), left(3), other})
    write_bytes(path, bytes_of("half"));
  const int alive = ::open(left(1).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(alive, LOCK_EX), 0);
  write_text(directory / "f", "whole");
  EXPECT_EQ(directory.names(), (names{other.filename(), left(1).filename(), "f"}));
  EXPECT_EQ(read_bytes(left(1)), bytes_of("half"));
  ::close(alive);
  write_text(directory / "f", "again");
  EXPECT_EQ(directory.names(), (names{other.filename(), "f"}));
  EXPECT_EQ(read_bytes(directory / "f"), bytes_of("again"));
}

TEST(atomic_file, lets_several_write_to_one_target) {
  const temporary_directory directory;
  {
    std::vector<std::unique_ptr<atomic_file>> files;
    for (int i = 0; i < 80; ++i) {
      files.push_back(std::make_unique<atomic_file>(directory / "f"));
      files.back()->append(bytes_of(std::to_string(i)));
    }
    for (const auto& file : files) file->commit();
  }
  EXPECT_EQ(directory.names(), names{"f"});
  EXPECT_EQ(read_bytes(directory / "f"), bytes_of("79"));
}

// Killed at any moment, the file is the old one or the new one. The child saves filters of 1, 2, 3,
// ... keys; the moments are spread over many saves.
TEST(atomic_file, survives_being_killed) {
  const temporary_directory folder;
  const auto version = [](std::uint64_t keys) {
    classic_filter f(options{.keys = 100'000, .fpr = 0.01});
    f.add_batch(sample_hashes(keys));
    return f;
  };
  save(version(1), folder / "f");
  std::uint64_t last = 1;
  // On a slow disk it takes longer until some saves went through.
  for (std::uint64_t round = 0; round < 30 || last < 20; ++round) {
    const pid_t child = start_process([&] {
      for (std::uint64_t keys = last + 1;; ++keys) save(version(keys), folder / "f");
    });
    const std::chrono::microseconds delay(sample_hash(round) % (20'000 * (1 + round / 30)));
    std::this_thread::sleep_for(delay);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it was killed, it did not fail";

    const image_file file(folder / "f");
    ASSERT_NO_THROW(file.verify());
    const std::uint64_t keys = file.image().header().keys;
    ASSERT_GE(keys, last);
    const auto words = file.image().words();
    ASSERT_EQ(std::vector(words.begin(), words.end()), words_of(version(keys)));
    last = keys;
  }
}

// ---- file_lock --------------------------------------------------------------------------------

TEST(file_lock, keeps_updates_of_several_processes) {
  const temporary_directory folder;
  save(filter({.keys = 1000, .fpr = 1e-6}), folder / "f");
  constexpr int processes = 3;
  constexpr int updates = 12;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    children.push_back(start_process([&] {
      for (int i = 0; i < updates; ++i) {
        const file_lock lock(folder / "f");
        auto f = load<filter>(folder / "f");
        f.add(p * updates + i);
        save(f, folder / "f");
      }
    }));
  }
  for (const pid_t child : children) EXPECT_TRUE(ended_well(child));
  const auto f = map<filter>(folder / "f");
  EXPECT_EQ(f->keys(), static_cast<std::uint64_t>(processes * updates));
  EXPECT_EQ(f->contains_count(numbers(processes * updates)), f->keys());
  EXPECT_EQ(folder.names(), names{"f"});
}

// Whoever holds the lock changes the file that it locked, and opens nothing else.
TEST(file_lock, shows_the_file_that_it_locked) {
  const temporary_directory folder;
  save(filter({.keys = 1000}), folder / "f");
  const file_lock lock(folder / "f");
  save(filter({.keys = 10}), folder / "f");
  EXPECT_EQ(image_file(mapped_file(lock)).image().header().planned.keys, 1000U);
  EXPECT_EQ(image_file(folder / "f").image().header().planned.keys, 10U);
}

TEST(file_lock, says_that_it_waits) {
  const temporary_directory folder;
  save(filter({.keys = 1000}), folder / "f");
  auto first = std::make_unique<file_lock>(folder / "f");
  struct impatient {};
  EXPECT_THROW(file_lock(folder / "f", [](std::uint64_t) { throw impatient(); }), impatient);
  // Giving up did not take the lock away, and asking again takes as long as the other has it.
  int calls = 0;
  std::uint64_t last = 0;
  const file_lock second(folder / "f", [&](std::uint64_t so_far) {
    EXPECT_GE(so_far, last);
    last = so_far;
    if (++calls == 3) first.reset();
  });
  EXPECT_EQ(calls, 3);
}

TEST(file_lock, needs_a_file) {
  const temporary_directory folder;
  EXPECT_TRUE(throws(errc::io, "No such file", [&] { file_lock{folder / "none"}; }));
}

// ---- scratch_file -----------------------------------------------------------------------------

TEST(scratch_file, gives_back_what_it_got_and_has_no_name) {
  const temporary_directory folder;
  scratch_file first(folder.path());
  first.append(bytes_of("hello, "));
  scratch_file scratch(std::move(first));
  scratch.append(bytes_of("world"));
  EXPECT_EQ(scratch.size(), 12U);
  EXPECT_EQ(folder.names(), names{});
  byte_vector bytes(5);
  scratch.read_at(4, bytes);
  EXPECT_EQ(bytes, bytes_of("o, wo"));
  EXPECT_TRUE(throws(errc::io, "ended early", [&] { scratch.read_at(8, bytes); }));
}

TEST(scratch_file, needs_a_folder) {
  const temporary_directory folder;
  EXPECT_TRUE(throws(errc::io, "No such file", [&] { scratch_file{folder / "none"}; }));
}

}  // namespace
