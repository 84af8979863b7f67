// Transfer of filters in pieces: what SCANDUMP, LOADCHUNK, EXPORT and IMPORT of all families share.
//
// A filter that arrives is assembled outside the database. It becomes a key, here and on replicas,
// when it is complete and all checksums hold, so nobody ever sees part of a filter. An unfinished
// one is dropped when it has received nothing for a minute, soon after its client has left, when
// the key is made by other means, and when the database is flushed.
//
// A filter that is read in pieces is a snapshot of the moment when the client began. It is dropped
// when all was read, after a minute without a question, and when its client leaves.
//
// A first piece may also be what RedisBloom's SCANDUMP begins with; its others follow.
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
  // SCANDUMP replies null, not an empty piece, after the last one and for a filter without items.
  bool ends_with_null = false;
};

inline constexpr const char* foreign_refusal =
    "ERR a filter with layers of another module can be neither merged, compared nor exported";

void scan_dump(const call& c, const family& of, const dump_texts& say);
void load_chunk(const call& c, const family& of, const dump_texts& say);
// All pieces of SCANDUMP in one.
void load_whole(const call& c, const family& of, const dump_texts& say);

void export_image(const call& c, const family& of);
// `adopt` sets the facts of a filter that another program made, or refuses it.
void import_image(const call& c, const family& of, void (*adopt)(value&));

// Drops the snapshots of a value: whoever reads them has to begin again.
void forget_readings(const value& v);
// Lets the server tell who left and what was flushed. False when it refuses.
[[nodiscard]] bool watch_clients(api::ctx* c);

}  // namespace bloomery_redis
