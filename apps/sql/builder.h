/*
 * What the extensions of databases share: a filter that an aggregate makes.
 *
 * Rows come one by one, and filters like many keys at once, so keys wait here until they are a
 * batch. Where nobody said how many keys there are, they all wait: the filter is made at the end,
 * for as many different ones as there were. Its bytes do not depend on the order of the keys, nor
 * on how they were spread over several builders that are merged then.
 *
 * All memory is malloc's, none is a C++ object: an error of the database may leave any of this
 * without a word, as long as somebody calls bloomsql_clear() later.
 */
#ifndef BLOOMERY_APPS_SQL_BUILDER_H
#define BLOOMERY_APPS_SQL_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bloomery/bloomery.h"

enum {
  BLOOMSQL_BATCH = 256,            /* keys that wait for a filter that is there */
  BLOOMSQL_BATCH_BYTES = 64 * 1024 /* or bytes of strings */
};
/* Bytes of keys that may wait for their number. */
#define BLOOMSQL_MOST_BYTES ((size_t)1 << 30)

/* Beside enum bloomery_status. */
enum bloomsql_status {
  BLOOMSQL_TOO_MANY = -100, /* what waits for its number is beyond BLOOMSQL_MOST_BYTES */
  BLOOMSQL_BAD_KIND = -101,
  BLOOMSQL_BAD_KEYS = -102,
  BLOOMSQL_BAD_RATE = -103,
  BLOOMSQL_BAD_SHARE = -104 /* of a count-min sketch */
};

typedef struct bloomsql_builder {
  bloomery_filter* filter; /* NULL while the number of keys is unknown */
  double fpr;              /* of the filter that will be made then, */
  uint32_t form;           /* and of its keys */
  uint64_t* integers;
  size_t integer_count;
  size_t integer_room;
  char* bytes; /* of the strings, one behind the other */
  size_t byte_count;
  size_t byte_room;
  uint64_t* offsets; /* of string i: from offsets[i] to offsets[i + 1] */
  size_t string_count;
  size_t offset_room;
} bloomsql_builder;

/* Called now and then in long work; it may leave by longjmp. May be NULL. */
typedef void (*bloomsql_tick)(void);

/* All return 0 or a negative status, whose text is bloomsql_message(). */
const char* bloomsql_message(int status);

/* With the number, as a long long. */
#define BLOOMSQL_BAD_DIVISOR "the number to fold by is %lld, but it must be at least 1"

/* The options of a filter. An empty `kind` is the usual one. */
int bloomsql_options(bloomery_options* out, int64_t keys, double fpr, const char* kind,
                     size_t kind_bytes);
/* The fewest bytes that any filter of so many keys takes. */
double bloomsql_least_bytes(int64_t keys, double fpr);

/* The builder is all zeros before. */
int bloomsql_start(bloomsql_builder* builder, const bloomery_options* options);
/* Likewise, when the number of keys is unknown; at 1 % false positives. */
void bloomsql_start_growing(bloomsql_builder* builder, uint32_t form);
void bloomsql_clear(bloomsql_builder* builder);

int bloomsql_add_integer_slow(bloomsql_builder* builder, uint64_t key);
int bloomsql_add_string(bloomsql_builder* builder, const void* key, size_t bytes);
/* Puts what waits into the filter, if there is one. */
int bloomsql_flush(bloomsql_builder* builder, bloomsql_tick tick);
/* Makes the filter, if it is not there yet. builder->filter has all keys then. */
int bloomsql_finish(bloomsql_builder* builder, bloomsql_tick tick);
/* Adds what another one has, which is flushed and otherwise unchanged. */
int bloomsql_merge(bloomsql_builder* into, bloomsql_builder* from, bloomsql_tick tick);

static inline int bloomsql_add_integer(bloomsql_builder* builder, uint64_t key) {
  if (builder->integer_count < builder->integer_room) {
    builder->integers[builder->integer_count++] = key;
    return BLOOMERY_OK;
  }
  return bloomsql_add_integer_slow(builder, key);
}

#endif
