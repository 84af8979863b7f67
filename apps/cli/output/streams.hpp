// Filters from and to pipes, and output that must not destroy what it is made from.
//
// Filters are mapped and written piece by piece, which needs files. So what comes from a pipe is
// copied into a file without a name first, and what goes to one is made in such a file: the reader
// gets a whole filter or nothing. Verbs see these files by their paths in /proc/self/fd.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/format/file.hpp"

namespace bloomery::cli {

inline constexpr std::string_view filter_magic = "BLOOMERY";  // a filter file begins with it

enum class content : std::uint8_t { filter, anything };

// The file to open instead of `path`: that itself, or a copy of what "-", standard input, or a pipe
// has. Throws errc::not_bloomery at the first bytes of a pipe that are no filter's, since the rest
// may be endless, and errc::bad_argument when standard input is wanted twice.
std::string as_file(const std::string& path, content wanted = content::filter);
std::vector<std::string> as_files(std::vector<std::string> paths);

// Throws errc::bad_argument when standard input has a filter, so that no keys can come from it.
void check_standard_input_has_keys();

std::string name_of_input(const std::string& path);  // "standard input" for "-"
// The text with names that users know instead of the paths of copies.
std::string with_names(std::string text);

struct change_manners {
  bool quiet = false;
  bool wait = true;  // for another program that changes the file
};
// Takes the lock of a file that is read to be replaced; after a second says what it waits for.
void wait_for_lock(std::optional<file_lock>& lock, const std::string& path,
                   const change_manners& m);

// A file that a new one takes the place of. That needs no right to write to the old one, only to
// its folder, so what a user protected from being written is looked after here.
class replaced_file {
 public:
  // Throws errc::io when there is a file that is not to be written.
  explicit replaced_file(std::string path);
  // To be called when the new file is there: only root may give files away, so that for others one
  // that belonged to somebody else is theirs now.
  void tell_owner(bool quiet);

 private:
  std::string path_;
  std::optional<uid_t> owner_;
};

class output_file {
 public:
  // Refuses a path that is one of the inputs by any name, a file that is not to be written, and a
  // terminal. With `json`, which says that a report goes to standard output, refuses that too.
  output_file(const std::string& path, const std::vector<std::string>& inputs, bool json);
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file();

  // Where the file to be replaced is one of those that it is made from, by any name, keeps others
  // from changing it meanwhile: to be called before these are opened.
  void hold(const std::vector<std::string>& sources, const change_manners& m);

  [[nodiscard]] const std::string& path() const { return path_; }  // to write to and to read again
  [[nodiscard]] std::string name() const;                          // for messages
  [[nodiscard]] std::string folder() const;  // with the room for it, and for temporary files
  [[nodiscard]] std::uint64_t bytes() const;

  // Throws errc::io with the numbers when there is no room for so many bytes.
  void need(std::uint64_t bytes) const;
  // Sends what was made where that is no file; where it is one, says if its owner changed.
  void finish(bool quiet);

 private:
  std::string target_;  // of a copy that is to be sent; "-" is standard output
  std::string path_;
  int fd_ = -1;
  std::optional<file_lock> lock_;
  std::optional<replaced_file> replaced_;
};

// The bytes of memory that a program may use without swapping; 0 if the system does not say.
std::uint64_t available_memory();
// Throws errc::no_memory with the numbers, and advice, when `what` needs more than that.
void need_memory(std::uint64_t bytes, std::string_view what, std::string_view advice);

}  // namespace bloomery::cli
