/*
 * What the extensions of databases share: a filter that an aggregate makes.
 *
 * Rows come one by one, and filters like many keys at once, so keys wait here until they are a
 * batch. Where nobody said how many keys there are, they all wait: the filter is made at the end,
 * for as many different ones as there were. When too many wait, all go into a filter of the largest
 * size that a value can have, and at the end that one is folded to the size that its keys need.
 * Folding is an OR of neighbours, and the number of all rows decides which way they go, so the
 * bytes do not depend on the order of the keys, nor on how they were spread over several builders
 * that are merged then.
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
/* Bytes of keys that may wait for their number: 2^26 integers. */
#define BLOOMSQL_MOST_WAITING ((size_t)1 << 29)
/* The filter that takes more of them. PostgreSQL's values are below 2^30 bytes, SQLite's at most
 * 10^9, and 8192 * 1890 blocks have a divisor close to any number. */
#define BLOOMSQL_LARGEST_FILTER ((uint64_t)8192 * 1890 * 64)

/* Beside enum bloomery_status. */
enum bloomsql_status {
  BLOOMSQL_TOO_MANY = -100, /* more different keys than the largest filter takes */
  BLOOMSQL_BAD_KIND = -101,
  BLOOMSQL_BAD_KEYS = -102,
  BLOOMSQL_BAD_RATE = -103,
  BLOOMSQL_BAD_SHARE = -104 /* of a count-min sketch */
};

/* Called now and then in long work; it may leave by longjmp. */
typedef void (*bloomsql_tick)(void);

typedef struct bloomsql_builder {
  bloomery_filter* filter; /* NULL while keys wait for their number */
  bloomsql_tick tick;      /* NULL, unless the owner has set it */
  double fpr;              /* of the filter that will be made, */
  uint32_t form;           /* and of its keys */
  bool folds;              /* the filter is the largest one, which is folded at the end */
  size_t most_waiting;     /* BLOOMSQL_MOST_WAITING, and */
  uint64_t largest_filter; /* BLOOMSQL_LARGEST_FILTER; tests have less */
  uint64_t next_look;      /* when so many keys are in it: whether they are too many */
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

/* All return 0 or a negative status, whose text is bloomsql_message(). */
const char* bloomsql_message(int status);

/* With the number, as a long long. */
#define BLOOMSQL_BAD_DIVISOR "the number to fold by is %lld, but it must be at least 1"

/* The options of a filter. An empty `kind` is the usual one. */
int bloomsql_options(bloomery_options* out, int64_t keys, double fpr, const char* kind,
                     size_t kind_bytes);
/* The fewest bytes that any filter of so many keys takes. */
double bloomsql_least_bytes(int64_t keys, double fpr);

/* The builder is all zeros before, but for its tick. */
int bloomsql_start(bloomsql_builder* builder, const bloomery_options* options);
/* Likewise, when the number of keys is unknown; at 1 % false positives. */
void bloomsql_start_growing(bloomsql_builder* builder, uint32_t form);
/* Likewise, with the largest filter that another one had. Takes it. */
void bloomsql_start_folding(bloomsql_builder* builder, uint32_t form, bloomery_filter* filter);
void bloomsql_clear(bloomsql_builder* builder);

int bloomsql_add_integer_slow(bloomsql_builder* builder, uint64_t key);
int bloomsql_add_string(bloomsql_builder* builder, const void* key, size_t bytes);
/* Many keys; the arrays may lie anywhere. String i goes from offsets[i] to offsets[i + 1]. */
int bloomsql_add_integers(bloomsql_builder* builder, const void* integers, size_t count);
int bloomsql_add_strings(bloomsql_builder* builder, const char* bytes, const void* offsets,
                         size_t count);
/* Puts what waits into the filter, if there is one. */
int bloomsql_flush(bloomsql_builder* builder);
/* Makes the filter, if it is not there yet. builder->filter has all keys then. */
int bloomsql_finish(bloomsql_builder* builder);
/* Adds what another one has, which may have anything then. */
int bloomsql_merge(bloomsql_builder* into, bloomsql_builder* from);

static inline int bloomsql_add_integer(bloomsql_builder* builder, uint64_t key) {
  if (builder->integer_count < builder->integer_room) {
    builder->integers[builder->integer_count++] = key;
    return BLOOMERY_OK;
  }
  return bloomsql_add_integer_slow(builder, key);
}

#endif
