/*
 * What the parts of PostgreSQL's extension share. All of it is C: an ERROR leaves by longjmp, which
 * must never pass a frame of C++. The C interface throws nothing and calls nobody back, so no frame
 * of it is on the stack when ereport or palloc is called.
 *
 * What the interface allocates is malloc's. It hangs on a memory context by a callback, so that it
 * is freed however a query ends.
 */
#ifndef BLOOMERY_APPS_POSTGRESQL_MODULE_H
#define BLOOMERY_APPS_POSTGRESQL_MODULE_H

#include "postgres.h"
/* Behind it: it defines what all headers of the server need. */
#include "access/detoast.h"
#include "fmgr.h"
#include "sql/builder.h"
#include "sql/recent.h"
#include "utils/memutils.h"

/* ---- errors and results ---------------------------------------------------------------------- */

/* Reports the error of a call, if there is one. */
void report_failure(int status);
/* Refuses what a value cannot hold, with what to do. */
void refuse_large(double bytes);
/* The bytes as a value; they are given back. */
bytea* take_buffer(bloomery_buffer* buffer);
/* The image of a filter as a value of type bloom. */
bytea* value_of(const bloomery_filter* filter);
/* The same behind other bytes, for what workers send. */
bytea* value_behind(const void* head, size_t head_bytes, const bloomery_filter* filter);
/* A value of type bloom from bytes that come from outside, plain or packed, after every check. */
bytea* checked_value(const void* data, size_t bytes);

/* bloomery_from_bytes(), which compares checksums with threads where there is much to compare: no
 * signal may find one of them, since the server's handlers belong to its only thread. */
int open_image(const void* data, size_t bytes, bloomery_filter** out);

/* ---- filters --------------------------------------------------------------------------------- */

/* A filter that lives as long as a memory context. */
typedef struct held_filter {
  MemoryContextCallback callback;
  bloomery_filter* filter;
} held_filter;

/* An empty holder in the current context. */
held_filter* hold_filter(void);
/* A copy of the filter in a datum, that can be changed. */
held_filter* copy_filter(Datum value);

/* What a key is made of, by its type. */
typedef enum key_kind {
  KEY_UNKNOWN,
  KEY_INT2,
  KEY_INT4,
  KEY_INT8,
  KEY_TEXT,
  KEY_BYTEA,
  KEY_UUID,
  KEY_INET,
  KEY_DATE,
  KEY_TIMESTAMPTZ,
  KEY_NUMERIC
} key_kind;

/* The filter found last, by its place in the table's second one; NULL if it lay elsewhere. */
typedef struct last_place {
  const bloomery_filter* filter;
  struct varatt_external place;
} last_place;

/* What a call in a query keeps from row to row, in fn_extra. */
typedef struct call_state {
  last_place last;
  key_kind kind; /* of the argument that is a key */
  bloomsql_recent recent;
  MemoryContextCallback callback;
} call_state;

call_state* new_state(FunctionCallInfo fcinfo, int key_argument);
const bloomery_filter* filter_of_slow(call_state* state, Datum value);

/* The state of a call; `key_argument` is the number of the argument that is a key, or -1. */
static inline call_state* state_of(FunctionCallInfo fcinfo, int key_argument) {
  call_state* state = fcinfo->flinfo->fn_extra;
  return likely(state != NULL) ? state : new_state(fcinfo, key_argument);
}

/* The filter in a datum when it is the one before, as in most rows: compared by its place in the
 * table's second one, or by its header. NULL for any other. */
static inline const bloomery_filter* filter_again(const call_state* state, Datum datum) {
  const struct varlena* value = (const struct varlena*)DatumGetPointer(datum);
  const bloomery_filter* found = NULL;
  if (VARATT_IS_EXTERNAL_ONDISK(value)) {
    /* The value is not aligned, and memcmp of two words does not care. */
    if (memcmp(VARDATA_EXTERNAL(value), &state->last.place, sizeof state->last.place) == 0) {
      found = state->last.filter;
    }
  } else if (!VARATT_IS_EXTENDED(value)) {
    const size_t bytes = VARSIZE(value) - VARHDRSZ;
    if (bytes >= BLOOMSQL_HEADER_BYTES) {
      found = bloomsql_again(&state->recent, VARDATA(value), BLOOMSQL_HEADER_BYTES, bytes);
    }
  }
  return found;
}

/* The filter in a datum, opened and checked once while the query asks for it. */
static inline const bloomery_filter* filter_of(call_state* state, Datum datum) {
  const bloomery_filter* found = filter_again(state, datum);
  return likely(found != NULL) ? found : filter_of_slow(state, datum);
}

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct row_key {
  const char* data; /* NULL: an integer */
  size_t bytes;
  uint64_t integer;
} row_key;

/* By the type of an argument; an ERROR for a type that has no keys. */
key_kind kind_of_argument(FunctionCallInfo fcinfo, int argument);
/* What a filter says of such keys, so that it refuses others; a bloomery_form. */
uint32_t form_of_kind(key_kind kind);
void read_key_slow(key_kind kind, Datum value, row_key* out);
/* Integers here, since their lookups take no longer than a call. */
static inline void read_key(key_kind kind, Datum value, row_key* out) {
  out->data = NULL;
  if (likely(kind == KEY_INT8)) {
    out->integer = (uint64_t)DatumGetInt64(value);
  } else if (kind == KEY_INT4) {
    out->integer = (uint64_t)(int64)DatumGetInt32(value);
  } else {
    read_key_slow(kind, value, out);
  }
}
/* Likewise, but integers as decimal text. */
void read_key_text(key_kind kind, Datum value, row_key* out);

/* Lets a query be cancelled. */
void tick(void);

#endif
