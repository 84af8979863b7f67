// Reads documents for index and search: the files below folders, and the terms in a file. Both
// verbs use it, so --verify looks for exactly the terms that were indexed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/search/text_index.hpp"

namespace bloomery::cli {

// A file that could not be read. Complaints come at the end, in the order of the files.
struct complaint {
  std::size_t place;
  std::string text;
};
void tell_complaints(std::vector<complaint>& all);

// The named regular files and those below named folders, with the paths of grep -r, but without the
// file `except`. Files of a folder are sorted, and links in it are not followed. "-" is standard
// input. Throws when what is named does not exist; unreadable files below it become complaints.
std::vector<std::string> find_files(const std::vector<std::string>& named,
                                    const std::string& except, std::vector<complaint>& complaints);

class document_sink {
 public:
  document_sink() = default;
  document_sink(const document_sink&) = delete;
  document_sink& operator=(const document_sink&) = delete;
  virtual ~document_sink() = default;

  virtual void term(std::string_view term) = 0;
  virtual void end(std::uint32_t line) = 0;  // of a document that began there; 0: a whole file
  [[nodiscard]] virtual bool enough() const { return false; }  // the rest need not be read
};

struct reading {
  std::uint64_t bytes = 0;  // after unpacking
  bool binary = false;      // left out as such
};
// Reads one file, a piece at a time, and decompresses it where needed. With skip_binary a file that
// has a NUL in its first piece is not a document. Errors name the file.
reading read_documents(const std::string& path, const text_index_options& o, bool skip_binary,
                       document_sink& to);

// The terms of an argument of the command line: of words, or of a sequence.
std::vector<std::string> terms_of(const std::string& argument, const text_index_options& o);

}  // namespace bloomery::cli
