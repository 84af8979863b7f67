// Documents for index and search: the files below folders, and the terms in a file. Both verbs read
// through this, so what --verify looks for is what was indexed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bloomery/search/text_index.hpp"

namespace bloomery::cli {

// What could not be read. Told at the end and in the order of the files, so that it does not depend
// on the threads.
struct complaint {
  std::size_t place;
  std::string text;
};
void tell_complaints(std::vector<complaint>& all);

// The regular files that are named or below a folder that is named, sorted inside each folder,
// under the paths that grep -r would print; links below a folder are not followed. "-" is standard
// input. Without the file `except`. Throws when something that is named does not exist; what is
// unreadable below is a complaint.
std::vector<std::string> find_files(const std::vector<std::string>& named,
                                    const std::string& except, std::vector<complaint>& complaints);

class document_sink {
 public:
  document_sink() = default;
  document_sink(const document_sink&) = delete;
  document_sink& operator=(const document_sink&) = delete;
  virtual ~document_sink() = default;

  virtual void term(std::string_view term) = 0;
  // The end of a document, with the line where it began: 0 for a whole file.
  virtual void end(std::uint32_t line) = 0;
  // Whether nothing more of the file is of interest.
  [[nodiscard]] virtual bool enough() const { return false; }
};

struct reading {
  std::uint64_t bytes = 0;  // after unpacking
  bool binary = false;      // left out as such
};
// Reads one file, a piece at a time; what is compressed is unpacked. With skip_binary a file that
// has a NUL in its first piece is no document. Throws with the name of the file.
reading read_documents(const std::string& path, const text_index_options& o, bool skip_binary,
                       document_sink& to);

// The terms of a word, or of a sequence, on the command line.
std::vector<std::string> terms_of(const std::string& argument, const text_index_options& o);

}  // namespace bloomery::cli
