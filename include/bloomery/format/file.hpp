// Filters in files.
//
//     bloomery::save(f, "words.bloom");                           // the old file or the new one
//     auto f = bloomery::load<bloomery::filter>("words.bloom");   // a copy in memory, to add to
//     auto m = bloomery::map<bloomery::filter>("words.bloom");    // mapped: opens at once
//     m.file().verify();                                          // every checksum, if you like
//     m->contains("apples");
//
// Saving writes beside the target, syncs and renames: a crash leaves the old file or the new one.
// The classes at the top are the only ones in the library that call the file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bloomery/core/error.hpp"
#include "bloomery/detail/core/function_ref.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/format/codec.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/format/opening.hpp"

namespace bloomery {

class file_lock;

// A file, mapped for reading. Others must not shorten it meanwhile; Bloomery replaces by renaming.
// Where a program cannot rule that out: reading behind the new end raises SIGBUS, which ends the
// process unless it has a handler (the tool has one), and no checksum helps. Load such files.
class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& path);
  // The file that is locked, which is not opened again.
  explicit mapped_file(const file_lock& locked);
  mapped_file(mapped_file&& other) noexcept
      : path_(std::move(other.path_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  mapped_file& operator=(mapped_file&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void map(int fd);

  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A new file that appears under its name, complete, with commit() and not without. Until then it
// has no name, or, for a moment before the end and on file systems where all files have one, that
// of a hidden file, .bloomery-*.tmp, beside the target. Its writer holds a lock on that: one that
// nobody holds is left over from a writer that was killed, and the next one with the same target
// removes it. It has the mode
// of the file that it replaces, and its owner and group as far as the system allows. Something that
// is no regular file (a pipe, a terminal, /dev/null), or one that has no name any more and is
// reached through /proc/self/fd, is written to directly.
class atomic_file {
 public:
  explicit atomic_file(const std::filesystem::path& path);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  void append(std::span<const std::byte> bytes);
  // For the header of a file that was written piece by piece; throws on what cannot be rewound.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void commit();
  // The same without waiting for the disk, for files of which many are written and one may be
  // missing: if the machine stops, it may be, or have another length or checksums that do not fit.
  void commit_unsynced();
  // Replaces the file of a lock. The new one is locked before it has the name, so that nobody comes
  // in between.
  void commit(file_lock& held);

 private:
  void rename_into_place(bool sync);
  template <class Create>
  void name_temporary(Create create);
  void keep_owner_and_mode() const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty while the file has no name
  int fd_ = -1;
  bool direct_ = false;
};

// Space on disk without a name, gone with the object or the process. For data larger than memory.
class scratch_file {
 public:
  explicit scratch_file(const std::filesystem::path& directory);
  scratch_file(scratch_file&& other) noexcept
      : directory_(std::move(other.directory_)),
        fd_(std::exchange(other.fd_, -1)),
        size_(std::exchange(other.size_, 0)) {}
  scratch_file& operator=(scratch_file&&) = delete;
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file();

  void append(std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  std::filesystem::path directory_;  // for messages
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

// Keeps others who take the same lock from changing the file between our reading and our replacing
// it. The file may be replaced while we wait; then the lock moves on to its successor.
class file_lock {
 public:
  explicit file_lock(const std::filesystem::path& path);
  // While another has the lock, calls meanwhile(milliseconds so far) about ten times a second, the
  // first time at once. It may throw, and then there is no lock.
  using waiting = detail::function_ref<void(std::uint64_t)>;
  file_lock(const std::filesystem::path& path, const waiting& meanwhile);
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

 private:
  friend class mapped_file;
  friend class atomic_file;

  template <class Lock>
  void take(Lock lock);

  std::filesystem::path path_;
  int fd_ = -1;
};

// A mapped file that was parsed. Errors name the file.
class image_file {
 public:
  explicit image_file(const std::filesystem::path& path) : image_file(mapped_file(path)) {}
  explicit image_file(mapped_file file);

  [[nodiscard]] const image_view& image() const noexcept { return image_; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_.bytes().size(); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return file_.path(); }
  // Every checksum; see image_view::verify.
  void verify(unsigned threads = 0) const;

 private:
  mapped_file file_;
  image_view image_;
};

// The filter of a packed file; nothing when the file is not packed. Errors name the file. Throws
// errc::no_memory when it would take more memory than allowed (format/opening.hpp).
[[nodiscard]] std::optional<unpacked_filter> open_packed(const mapped_file& file,
                                                         const opening& how = {});

// ---- saving and opening -----------------------------------------------------------------------

// Writes one image: header, words, checksums. The words may be in several parts.
void write_image(atomic_file& file, const image_header& header,
                 std::span<const std::uint64_t> words);
void write_image(atomic_file& file, const image_header& header,
                 std::span<const std::span<const std::uint64_t>> parts);

// Writes an image whose words come piece by piece. The header, which depends on all of them, is put
// in front at the end; a filter that is made while it is written brings it then.
class image_stream {
 public:
  image_stream(atomic_file& file, const image_header& header);
  void append(std::span<const std::uint64_t> words);
  void finish();
  void finish(const image_header& header);

 private:
  atomic_file* file_;
  image_writer writer_;
};

namespace detail {

template <storable Filter>
image_header header_of(const Filter& f, const hash_spec& hash) {
  return {.planned = f.planned(), .hash = hash, .keys = f.keys()};
}

template <storable Filter>
auto parts_of(const Filter& f) {
  if constexpr (requires { f.parts(); }) {
    return f.parts();
  } else {
    return std::vector<std::span<const std::uint64_t>>{f.words()};
  }
}

}  // namespace detail

// A filter of hashes, with the hash function that they come from; by default one of the caller's
// own.
template <storable Filter>
void save(const Filter& hashes, const std::filesystem::path& path, const hash_spec& hash = {}) {
  atomic_file file(path);
  write_image(file, detail::header_of(hashes, hash), detail::parts_of(hashes));
  file.commit();
}

template <storable Filter, class Hasher>
void save(const keyed<Filter, Hasher>& f, const std::filesystem::path& path) {
  save(f.filter(), path, f.hash());
}

namespace detail {

// Throws errc::mismatch unless the image holds this kind of filter, made with this hash. The error
// begins with the name of what was read, if it has one.
void check_match(const image_header& header, filter_kind kind, probe_scheme scheme,
                 const hash_spec& hash, const std::string& name = {});

template <class Keyed>
using view_of = keyed<typename Keyed::filter_type::view, typename Keyed::hasher_type>;

// The filter in an image, as a view of its words.
template <class Keyed>
[[nodiscard]] view_of<Keyed> view_in(const image_view& image, const std::string& name,
                                     const typename Keyed::hasher_type& hasher) {
  using filter_type = typename Keyed::filter_type;
  const image_header& h = image.header();
  check_match(h, filter_type::kind, filter_type::scheme, hasher.spec(), name);
  return view_of<Keyed>(typename filter_type::view(h.planned, image.words(), h.keys), hasher,
                        h.hash.form);
}
template <class Keyed>
  requires seeded_hasher<typename Keyed::hasher_type>
[[nodiscard]] view_of<Keyed> view_in(const image_view& image, const std::string& name) {
  return view_in<Keyed>(image, name, typename Keyed::hasher_type(image.header().hash.seed));
}

}  // namespace detail

// A mapped filter: a view together with the mapping that it needs. It is opened without reading
// all of it: a filter of up to 1 MiB is verified, a larger one only where it says what it is. Call
// file().verify() to have every checksum compared; without it a damaged file can lose keys.
template <class Keyed>
class mapped {
 public:
  using view_type = detail::view_of<Keyed>;

  // The seed in the file makes the hash function; one with a secret key comes from the caller.
  template <class... Hasher>
  explicit mapped(const std::filesystem::path& path, const Hasher&... hasher)
      : file_(path), view_(detail::view_in<Keyed>(file_.image(), path.string(), hasher...)) {}

  const view_type& operator*() const noexcept { return view_; }
  const view_type* operator->() const noexcept { return &view_; }
  [[nodiscard]] const image_file& file() const noexcept { return file_; }

 private:
  image_file file_;
  view_type view_;
};

template <class Keyed, class... Hasher>
[[nodiscard]] mapped<Keyed> map(const std::filesystem::path& path, const Hasher&... hasher) {
  return mapped<Keyed>(path, hasher...);
}

// Copies everything into memory, and since it reads all of it, verifies every checksum.
template <class Keyed, class... Hasher>
[[nodiscard]] Keyed load(const std::filesystem::path& path, const Hasher&... hasher) {
  const mapped<Keyed> m(path, hasher...);
  m.file().verify();
  return Keyed(typename Keyed::filter_type(m->filter()), m->hash_function(), m->form());
}

}  // namespace bloomery
