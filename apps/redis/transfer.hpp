// Transfer of filters to and from clients in pieces: what the commands SCANDUMP, LOADCHUNK, EXPORT
// and IMPORT of all families share.
//
// A filter that arrives is assembled outside the database. It becomes a key, here and on the
// replicas, when its last piece is there and all checksums hold, so nobody ever sees part of a
// filter. An unfinished one is dropped when another transfer begins and it has received nothing for
// a minute.
//
// Iterators of SCANDUMP are opaque to clients: 1 comes with the first piece, 1 + n with the piece
// that ends n bytes after it. Those of EXPORT and IMPORT are offsets in the file that `bloomery
// build` writes.
#pragma once

#include "command.hpp"

namespace bloomery_redis {

// The error replies of a family.
struct dump_texts {
  const char* bad_iterator;       // no number
  const char* bad_load_iterator;  // likewise
  const char* bad_start;          // the first piece is none
  const char* no_start;           // a piece of something that was not begun, or not the next one
  const char* too_long;           // more than the filter has
  bool ends_with_null = false;    // what SCANDUMP gives after the last piece; else an empty one
};

void scan_dump(const call& c, const family& of, const dump_texts& say);
void load_chunk(const call& c, const family& of, const dump_texts& say);

void export_image(const call& c, const family& of);
// `adopt` sets the facts of a filter that another program made, or refuses it.
void import_image(const call& c, const family& of, void (*adopt)(value&));

}  // namespace bloomery_redis
