#include "builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* bloomsql_message(int status) {
  switch (status) {
    case BLOOMERY_NO_MEMORY: return "out of memory";
    case BLOOMSQL_TOO_MANY:
      return "more than 1 GB of keys wait for their number: say it, as bloom_agg(key, keys, fpr)";
    case BLOOMSQL_BAD_KIND: return "there is no kind of filter with this name; one is 'blocked'";
    case BLOOMSQL_BAD_KEYS: return "the number of keys must be at least 1";
    case BLOOMSQL_BAD_SHARE: return "epsilon and delta must lie between 0 and 1";
    case BLOOMSQL_BAD_RATE: return "the rate of false positives must lie between 0 and 1";
    default: return bloomery_error_message();
  }
}

int bloomsql_options(bloomery_options* out, int64_t keys, double fpr, const char* kind,
                     size_t kind_bytes) {
  char name[32] = "";
  bloomery_options_init(out);
  if (kind_bytes >= sizeof name) return BLOOMSQL_BAD_KIND;
  if (kind_bytes != 0) {
    memcpy(name, kind, kind_bytes);
    out->kind = bloomery_kind_from_name(name);
    if (out->kind == 0) return BLOOMSQL_BAD_KIND;
  }
  if (keys < 1) return BLOOMSQL_BAD_KEYS;
  if (!(fpr > 0 && fpr < 1)) return BLOOMSQL_BAD_RATE;
  out->keys = (uint64_t)keys;
  out->fpr = fpr;
  return BLOOMERY_OK;
}

double bloomsql_least_bytes(int64_t keys, double fpr) {
  if (keys <= 0 || !(fpr > 0 && fpr < 1)) return 0;
  return (double)keys * -log2(fpr) / 8;
}

/* ---- room ------------------------------------------------------------------------------------ */

static bool waits_for_number(const bloomsql_builder* b) { return b->filter == NULL; }

static int grow(void** array, size_t* room, size_t least, size_t item_bytes) {
  size_t wanted = *room < BLOOMSQL_BATCH ? BLOOMSQL_BATCH : *room * 2;
  void* grown = NULL;
  if (wanted < least) wanted = least;
  if (wanted > SIZE_MAX / item_bytes) return BLOOMERY_NO_MEMORY;
  grown = realloc(*array, wanted * item_bytes);
  if (grown == NULL) return BLOOMERY_NO_MEMORY;
  *array = grown;
  *room = wanted;
  return BLOOMERY_OK;
}

static size_t waiting_bytes(const bloomsql_builder* b) {
  return b->byte_count + (b->integer_count + b->string_count) * sizeof(uint64_t);
}

int bloomsql_start(bloomsql_builder* b, const bloomery_options* options) {
  return bloomery_new(options, &b->filter);
}

void bloomsql_start_growing(bloomsql_builder* b, uint32_t form) {
  b->fpr = 0.01;
  b->form = form;
}

void bloomsql_clear(bloomsql_builder* b) {
  bloomery_free(b->filter);
  free(b->integers);
  free(b->bytes);
  free(b->offsets);
  memset(b, 0, sizeof *b);
}

/* ---- adding ---------------------------------------------------------------------------------- */

int bloomsql_add_integer_slow(bloomsql_builder* b, uint64_t key) {
  int status = BLOOMERY_OK;
  if (!waits_for_number(b) && b->integer_room != 0) {
    status = bloomsql_flush(b, NULL);
  } else {
    if (waiting_bytes(b) >= BLOOMSQL_MOST_BYTES) return BLOOMSQL_TOO_MANY;
    status = grow((void**)&b->integers, &b->integer_room, 0, sizeof *b->integers);
  }
  if (status != BLOOMERY_OK) return status;
  b->integers[b->integer_count++] = key;
  return BLOOMERY_OK;
}

int bloomsql_add_string(bloomsql_builder* b, const void* key, size_t bytes) {
  int status = BLOOMERY_OK;
  if (waits_for_number(b)) {
    if (waiting_bytes(b) + bytes >= BLOOMSQL_MOST_BYTES) return BLOOMSQL_TOO_MANY;
  } else if (bytes > BLOOMSQL_BATCH_BYTES) {
    return bloomery_add(b->filter, key, bytes);
  } else if (b->string_count >= BLOOMSQL_BATCH || b->byte_count + bytes > BLOOMSQL_BATCH_BYTES) {
    status = bloomsql_flush(b, NULL);
    if (status != BLOOMERY_OK) return status;
  }
  if (b->string_count + 2 > b->offset_room) {
    status = grow((void**)&b->offsets, &b->offset_room, b->string_count + 2, sizeof *b->offsets);
    if (status != BLOOMERY_OK) return status;
  }
  if (b->byte_count + bytes > b->byte_room) {
    status = grow((void**)&b->bytes, &b->byte_room, b->byte_count + bytes, 1);
    if (status != BLOOMERY_OK) return status;
  }
  if (bytes != 0) memcpy(b->bytes + b->byte_count, key, bytes);
  b->offsets[0] = 0;
  b->byte_count += bytes;
  b->offsets[++b->string_count] = b->byte_count;
  return BLOOMERY_OK;
}

/* Adds what waits to a filter, in slices between which a query can be cancelled. */
static int add_all(const bloomsql_builder* b, bloomery_filter* filter, bloomsql_tick tick) {
  const size_t slice = 65536;
  size_t at = 0;
  int status = BLOOMERY_OK;
  for (at = 0; at < b->integer_count && status == BLOOMERY_OK; at += slice) {
    const size_t count = b->integer_count - at < slice ? b->integer_count - at : slice;
    const bloomery_keys keys = {b->integers + at, NULL, count, BLOOMERY_INTEGERS};
    status = bloomery_add_batch(filter, &keys);
    if (tick != NULL) tick();
  }
  for (at = 0; at < b->string_count && status == BLOOMERY_OK; at += slice) {
    const size_t count = b->string_count - at < slice ? b->string_count - at : slice;
    const bloomery_keys keys = {b->bytes != NULL ? b->bytes : "", b->offsets + at, count,
                                BLOOMERY_OFFSETS64};
    status = bloomery_add_batch(filter, &keys);
    if (tick != NULL) tick();
  }
  return status;
}

int bloomsql_flush(bloomsql_builder* b, bloomsql_tick tick) {
  int status = BLOOMERY_OK;
  if (waits_for_number(b)) return BLOOMERY_OK;
  status = add_all(b, b->filter, tick);
  b->integer_count = 0;
  b->string_count = 0;
  b->byte_count = 0;
  return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Replaces the builder's filter by an empty one for so many keys, and adds all that wait. */
static int build_for(bloomsql_builder* b, uint64_t keys, bloomsql_tick tick) {
  bloomery_options options;
  int status = BLOOMERY_OK;
  bloomery_options_init(&options);
  options.keys = keys;
  options.fpr = b->fpr;
  options.form = b->form;
  bloomery_free(b->filter);
  b->filter = NULL;
  status = bloomery_new(&options, &b->filter);
  return status == BLOOMERY_OK ? add_all(b, b->filter, tick) : status;
}

int bloomsql_finish(bloomsql_builder* b, bloomsql_tick tick) {
  const uint64_t calls = b->integer_count + b->string_count;
  bloomery_estimate different = {0, 0};
  int status = BLOOMERY_OK;
  if (!waits_for_number(b)) return bloomsql_flush(b, tick);
  status = build_for(b, calls != 0 ? calls : 1, tick);
  if (status != BLOOMERY_OK) return status;
  status = bloomery_estimate_keys(b->filter, &different);
  if (status != BLOOMERY_OK) return status;
  /* Keys that came again and again took room in this one; three errors on the safe side. */
  different.value = ceil(different.value + 3 * different.standard_error) + 1;
  if (different.value * 1.25 < (double)calls)
    status = build_for(b, (uint64_t)different.value, tick);
  b->integer_count = 0;
  b->string_count = 0;
  b->byte_count = 0;
  return status;
}

int bloomsql_merge(bloomsql_builder* into, bloomsql_builder* from, bloomsql_tick tick) {
  size_t i = 0;
  int status = BLOOMERY_OK;
  if (!waits_for_number(into)) {
    status = bloomsql_flush(into, tick);
    if (status == BLOOMERY_OK) status = bloomsql_flush(from, tick);
    return status == BLOOMERY_OK ? bloomery_merge(into->filter, from->filter) : status;
  }
  for (i = 0; i < from->integer_count && status == BLOOMERY_OK; ++i) {
    status = bloomsql_add_integer(into, from->integers[i]);
  }
  for (i = 0; i < from->string_count && status == BLOOMERY_OK; ++i) {
    status = bloomsql_add_string(into, from->bytes + from->offsets[i],
                                 (size_t)(from->offsets[i + 1] - from->offsets[i]));
  }
  return status;
}
