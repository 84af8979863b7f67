/*
 * The filters that a database has opened lately. A query asks the same few filters for every row,
 * and opening one copies it and compares its checksums.
 *
 * What is asked for is compared, never assumed: neither the place of a value in memory nor what a
 * planner says about an expression tells that it is the same filter as before. The checksum of
 * the header names the content of the whole image (docs/format.md), so the header is enough.
 */
#ifndef BLOOMERY_APPS_SQL_RECENT_H
#define BLOOMERY_APPS_SQL_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bloomery/bloomery.h"

enum { BLOOMSQL_HEADER_BYTES = 256, BLOOMSQL_SLOTS = 4 };

/* What names a filter: the header of its image, or what a database knows of where it lies. */
typedef struct bloomsql_name {
  const void* data;
  size_t bytes;       /* at most BLOOMSQL_HEADER_BYTES */
  size_t image_bytes; /* all of the image; 0 when the name is a place */
} bloomsql_name;

typedef struct bloomsql_slot {
  bloomery_filter* filter; /* NULL: empty */
  size_t name_bytes;
  size_t image_bytes;
  uint64_t used;
  unsigned char name[BLOOMSQL_HEADER_BYTES];
} bloomsql_slot;

/* All zeros is an empty one. */
typedef struct bloomsql_recent {
  uint64_t clock;
  uint64_t kept; /* how many were kept so far; while it is the same, no filter has left */
  size_t last;   /* the slot that was found last */
  bloomsql_slot slots[BLOOMSQL_SLOTS];
} bloomsql_recent;

static inline bool bloomsql_is(const bloomsql_slot* slot, const void* name, size_t name_bytes,
                               size_t image_bytes) {
  return slot->name_bytes == name_bytes && slot->image_bytes == image_bytes &&
         memcmp(slot->name, name, name_bytes) == 0;
}
/* Whether it is the one that was found last: the short way, for most rows of most queries. */
static inline const bloomery_filter* bloomsql_again(const bloomsql_recent* recent, const void* name,
                                                    size_t name_bytes, size_t image_bytes) {
  const bloomsql_slot* slot = &recent->slots[recent->last];
  return bloomsql_is(slot, name, name_bytes, image_bytes) ? slot->filter : NULL;
}
/* NULL when it is not there. What is found stays while fewer than BLOOMSQL_SLOTS others come. */
const bloomery_filter* bloomsql_find(bloomsql_recent* recent, const bloomsql_name* name);
/* Keeps the filter in place of the one that was longest not asked for. */
const bloomery_filter* bloomsql_keep(bloomsql_recent* recent, const bloomsql_name* name,
                                     bloomery_filter* filter);
void bloomsql_forget(bloomsql_recent* recent);

#endif
