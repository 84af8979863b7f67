#include "cli/input/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "bloomery/core/error.hpp"
#include "bloomery/hash/secret_hasher.hpp"
#include "bloomery/text/word_scanner.hpp"
#include "cli/input/bytes.hpp"
#include "cli/input/first_look.hpp"
#include "cli/input/source.hpp"
#include "cli/output/text.hpp"

namespace bloomery::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = std::size_t{256} << 10U;

std::string below(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

class walker {
 public:
  walker(std::string except, std::vector<std::string>& out, std::vector<complaint>& complaints)
      : except_(std::move(except)), out_(&out), complaints_(&complaints) {}

  void add(const std::string& path) {
    std::error_code none;
    if (!except_.empty() && fs::equivalent(path, except_, none)) return;
    out_->push_back(path);
  }

  void walk(const std::string& folder) {
    std::error_code reason;
    std::vector<std::pair<std::string, fs::file_type>> entries;
    fs::directory_iterator next(folder, reason);
    for (; !reason && next != fs::directory_iterator(); next.increment(reason)) {
      std::error_code unknown;  // a file that went away, which opening will say
      entries.emplace_back(next->path().filename().string(), next->symlink_status(unknown).type());
    }
    if (reason) {
      complaints_->push_back(
          {.place = out_->size(),
           .text = fmt::format("{}: reading failed: {}", folder, reason.message())});
    }
    std::ranges::sort(entries);
    for (const auto& [name, type] : entries) {
      if (type == fs::file_type::directory) walk(below(folder, name));
      if (type == fs::file_type::regular) add(below(folder, name));
    }
  }

 private:
  std::string except_;
  std::vector<std::string>* out_;
  std::vector<complaint>* complaints_;
};

class paragraphs {  // splits a text at its blank lines
 public:
  paragraphs(word_scanner& words, document_sink& to)
      : words_(&words), to_(&to), each_([&to](std::string_view word) { to.term(word); }) {}

  void feed(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      if (end == text.size()) return;
      end_line();
      text.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (begun_) end_paragraph();
  }

 private:
  void line(std::string_view part) {
    if (part.find_first_not_of(" \t\r") == std::string_view::npos) {
      if (!part.empty()) words_->feed(" ", each_);
      return;
    }
    blank_ = false;
    if (!begun_) first_ = number_;
    begun_ = true;
    words_->feed(part, each_);
  }
  void end_line() {
    if (blank_ && begun_) end_paragraph();
    words_->feed("\n", each_);
    blank_ = true;
    if (number_ == UINT32_MAX) throw error(errc::unsupported, "more than 4,294,967,294 lines");
    ++number_;
  }
  void end_paragraph() {
    words_->finish(each_);
    to_->end(first_);
    begun_ = false;
  }

  word_scanner* words_;
  document_sink* to_;
  word_scanner::receiver each_;
  std::uint32_t number_ = 1;
  std::uint32_t first_ = 1;
  bool begun_ = false;  // a paragraph
  bool blank_ = true;   // the line so far
};

// Reads a whole piece or the rest: the source first returns only what it recognised the file by.
std::size_t fill(byte_source& bytes, char* to) {
  std::size_t size = 0;
  while (bytes.is_open() && size < piece_bytes) size += bytes.read(to + size, piece_bytes - size);
  return size;
}

reading read_texts(const std::string& path, document_unit unit, bool skip_binary,
                   document_sink& to) {
  progress silent("reading", {.quiet = true});
  byte_source bytes({path}, silent, {.lists = false});
  word_scanner words;
  paragraphs cut(words, to);
  const word_scanner::receiver each = [&](std::string_view word) { to.term(word); };
  const auto buffer = std::make_unique_for_overwrite<char[]>(piece_bytes);
  reading done;
  bytes.open_next();
  while (const std::size_t got = fill(bytes, buffer.get())) {
    const std::string_view piece(buffer.get(), got);
    if (skip_binary && done.bytes == 0 && piece.find('\0') != std::string_view::npos) {
      done.binary = true;
      return done;
    }
    if (done.bytes == 0) refuse_wide_text(piece, path);
    done.bytes += got;
    unit == document_unit::paragraph ? cut.feed(piece) : words.feed(piece, each);
    if (to.enough()) break;
  }
  if (unit == document_unit::paragraph) {
    cut.finish();
  } else {
    words.finish(each);
    to.end(0);
  }
  return done;
}

reading read_sequences(const std::string& path, std::uint32_t k, document_sink& to) {
  progress silent("reading", {.quiet = true});
  record_options form;
  form.kmer = k;
  key_source source({path}, form, silent);
  reading done;
  for (chunk c; !to.enough() && source.next(c);) {
    done.bytes += c.text.size();
    for (const std::string_view kmer : c.keys) to.term(kmer);
  }
  to.end(0);
  return done;
}

}  // namespace

void tell_complaints(std::vector<complaint>& all) {
  std::ranges::stable_sort(all, {}, &complaint::place);
  for (const complaint& c : all) tell("bloomery: {}\n", c.text);
}

std::vector<std::string> find_files(const std::vector<std::string>& named,
                                    const std::string& except, std::vector<complaint>& complaints) {
  std::vector<std::string> all;
  walker folders(except, all, complaints);
  for (const std::string& path : named) {
    std::error_code reason;
    const fs::file_status status = fs::status(path, reason);
    if (path != "-" && !fs::exists(status)) {
      throw error(errc::io, fmt::format("{}: opening failed: {}", path, reason.message()));
    }
    fs::is_directory(status) ? folders.walk(path) : folders.add(path);
  }
  if (named.size() > 1) {
    std::unordered_set<std::string, secret_text_hash> seen;
    std::erase_if(all, [&](const std::string& path) { return !seen.insert(path).second; });
  }
  return all;
}

reading read_documents(const std::string& path, const text_index_options& o, bool skip_binary,
                       document_sink& to) {
  try {
    return o.terms == term_kind::kmers ? read_sequences(path, o.kmer, to)
                                       : read_texts(path, o.unit, skip_binary, to);
  } catch (const error& e) {
    if (e.code() != errc::full && e.code() != errc::unsupported) throw;
    throw error(e.code(), fmt::format("{}: {}", path, e.what()));
  }
}

std::vector<std::string> terms_of(const std::string& argument, const text_index_options& o) {
  std::vector<std::string> terms;
  if (o.terms == term_kind::words) {
    const word_scanner::receiver each = [&](std::string_view word) { terms.emplace_back(word); };
    word_scanner words;
    words.feed(argument, each);
    words.finish(each);
  } else {
    const auto format = make_kmer_format(o.kmer);
    const std::string text = ">\n" + argument;
    chunk c;
    c.text = text;
    format->begin(c, true);
    format->split(c);
    terms.assign(c.keys.begin(), c.keys.end());
  }
  if (terms.empty()) {
    const std::string wanted = o.terms == term_kind::words
                                   ? "a word has letters or digits"
                                   : fmt::format("a sequence has {} bases at least", o.kmer);
    throw error(errc::bad_argument,
                fmt::format("nothing to search for in '{}'; {}", argument.substr(0, 40), wanted));
  }
  return terms;
}

}  // namespace bloomery::cli
