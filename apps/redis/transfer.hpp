// Transfer of filters in pieces: what SCANDUMP, LOADCHUNK, EXPORT and IMPORT of all families share.
//
// A filter that arrives is assembled outside the database. It becomes a key, here and on replicas,
// when it is complete and all checksums hold, so nobody ever sees part of a filter. An unfinished
// one is dropped when another transfer begins and it has received nothing for a minute.
//
// Iterators of SCANDUMP are opaque to clients: 1 comes with the first piece, 1 + n with the piece
// that ends n bytes after it. Those of EXPORT and IMPORT are offsets in the tool's file.
#pragma once

#include "command.hpp"

namespace bloomery_redis {

// The error replies of a family.
struct dump_texts {
  const char* bad_iterator;       // the iterator is no number
  const char* bad_load_iterator;  // the same for LOADCHUNK
  const char* bad_start;          // the first piece is not the start of a filter
  const char* no_start;           // a piece without a first one, or not the next one
  const char* too_long;           // more bytes than the filter has
  bool ends_with_null = false;    // after the last piece SCANDUMP replies null, not an empty piece
};

void scan_dump(const call& c, const family& of, const dump_texts& say);
void load_chunk(const call& c, const family& of, const dump_texts& say);

void export_image(const call& c, const family& of);
// `adopt` sets the facts of a filter that another program made, or refuses it.
void import_image(const call& c, const family& of, void (*adopt)(value&));

}  // namespace bloomery_redis
