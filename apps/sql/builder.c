#include "builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* bloomsql_message(int status) {
  switch (status) {
    case BLOOMERY_NO_MEMORY: return "out of memory";
    case BLOOMSQL_TOO_MANY:
      return "more different keys than a value can hold at 1 % false positives, some 790 million: "
             "make several filters, or say a higher rate, as bloom_agg(key, keys, fpr)";
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

static void tick(const bloomsql_builder* b) {
  if (b->tick != NULL) b->tick();
}

/* Room for more items, `least` of them and at most `most`. */
static int grow(void** array, size_t* room, size_t least, size_t most, size_t item_bytes) {
  size_t wanted = *room < BLOOMSQL_BATCH ? BLOOMSQL_BATCH : *room * 2;
  void* grown = NULL;
  if (wanted > most) wanted = most;
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

static bool may_wait(const bloomsql_builder* b, size_t bytes) {
  const size_t waiting = waiting_bytes(b);
  return waiting <= b->most_waiting && bytes <= b->most_waiting - waiting;
}

static void forget_waiting(bloomsql_builder* b) {
  b->integer_count = 0;
  b->string_count = 0;
  b->byte_count = 0;
}

/* And gives their room back. */
static void free_waiting(bloomsql_builder* b) {
  forget_waiting(b);
  free(b->integers);
  free(b->bytes);
  free(b->offsets);
  b->integers = NULL;
  b->bytes = NULL;
  b->offsets = NULL;
  b->integer_room = 0;
  b->byte_room = 0;
  b->offset_room = 0;
}

int bloomsql_start(bloomsql_builder* b, const bloomery_options* options) {
  return bloomery_new(options, &b->filter);
}

void bloomsql_start_growing(bloomsql_builder* b, uint32_t form) {
  b->fpr = 0.01;
  b->form = form;
  b->most_waiting = BLOOMSQL_MOST_WAITING;
  b->largest_filter = BLOOMSQL_LARGEST_FILTER;
}

void bloomsql_start_folding(bloomsql_builder* b, uint32_t form, bloomery_filter* filter) {
  bloomsql_start_growing(b, form);
  b->filter = filter;
  b->folds = true;
}

void bloomsql_clear(bloomsql_builder* b) {
  bloomery_free(b->filter);
  free_waiting(b);
  memset(b, 0, sizeof *b);
}

/* ---- the largest filter ---------------------------------------------------------------------- */

/* Adds what waits to a filter, in slices between which a query can be cancelled. */
static int add_all(const bloomsql_builder* b, bloomery_filter* filter) {
  const size_t slice = 65536;
  size_t at = 0;
  int status = BLOOMERY_OK;
  for (at = 0; at < b->integer_count && status == BLOOMERY_OK; at += slice) {
    const size_t count = b->integer_count - at < slice ? b->integer_count - at : slice;
    const bloomery_keys keys = {b->integers + at, NULL, count, BLOOMERY_INTEGERS};
    status = bloomery_add_batch(filter, &keys);
    tick(b);
  }
  for (at = 0; at < b->string_count && status == BLOOMERY_OK; at += slice) {
    const size_t count = b->string_count - at < slice ? b->string_count - at : slice;
    const bloomery_keys keys = {b->bytes != NULL ? b->bytes : "", b->offsets + at, count,
                                BLOOMERY_OFFSETS64};
    status = bloomery_add_batch(filter, &keys);
    tick(b);
  }
  return status;
}

/* The blocked filter that these options ask for. */
static int plan_blocked(const bloomery_options* options, bloomery_plan_row* out) {
  bloomery_plan_row rows[32];
  size_t count = 0;
  size_t i = 0;
  const int status = bloomery_plan(options, rows, sizeof rows / sizeof *rows, &count);
  if (status != BLOOMERY_OK) return status;
  while (i < count && rows[i].kind != BLOOMERY_BLOCKED) ++i;
  if (i == count) return BLOOMSQL_TOO_MANY;
  *out = rows[i];
  return BLOOMERY_OK;
}

static int plan_keys(const bloomsql_builder* b, double keys, bloomery_plan_row* out) {
  bloomery_options options;
  bloomery_options_init(&options);
  options.keys = (uint64_t)keys;
  options.fpr = b->fpr;
  return plan_blocked(&options, out);
}

/* A filter of so many bytes. */
static bloomery_options sized(const bloomsql_builder* b, double keys, uint64_t bytes,
                              uint32_t probes) {
  bloomery_options options;
  bloomery_options_init(&options);
  options.keys = (uint64_t)keys;
  options.bytes = bytes;
  options.probes = probes;
  options.form = b->form;
  return options;
}

/* All that wait go into the largest filter. */
static int stop_waiting(bloomsql_builder* b) {
  const double bits = (double)b->largest_filter * 8;
  bloomery_options options;
  bloomery_plan_row row;
  int status = plan_keys(b, bits / 10, &row); /* nearly as many as it takes */
  if (status != BLOOMERY_OK) return status;
  options = sized(b, bits / row.bits_per_key, b->largest_filter, row.probes);
  status = bloomery_new(&options, &b->filter);
  if (status != BLOOMERY_OK) return status;
  b->folds = true;
  b->next_look = options.keys;
  status = add_all(b, b->filter);
  free_waiting(b);
  return status;
}

/* How many different keys are in it; three errors on the safe side. */
static int count_different(const bloomery_filter* filter, double* out) {
  bloomery_estimate different = {0, 0};
  const int status = bloomery_estimate_keys(filter, &different);
  *out = ceil(different.value + 3 * different.standard_error) + 1;
  return status;
}

/* Likewise, and refuses more than it takes. */
static int count_fitting(const bloomsql_builder* b, double* out) {
  bloomery_plan_row row;
  int status = count_different(b->filter, out);
  if (status != BLOOMERY_OK) return status;
  if (!(*out < (double)b->largest_filter)) return BLOOMSQL_TOO_MANY; /* or infinite */
  status = plan_keys(b, *out, &row);
  return status == BLOOMERY_OK && row.bytes > b->largest_filter ? BLOOMSQL_TOO_MANY : status;
}

/* So that too many keys are not told of only after all rows. Seldom enough to cost nothing. */
static int look_at_keys(bloomsql_builder* b) {
  double different = 0;
  const uint64_t added = b->folds ? bloomery_keys_added(b->filter) : 0;
  if (added == 0 || added < b->next_look) return BLOOMERY_OK;
  b->next_look = added * 2;
  return count_fitting(b, &different);
}

/* Whether a filter made for so many bytes has them all, so that a folded one can be added to it. */
static bool is_a_size(const bloomery_options* options) {
  bloomery_plan_row row;
  return plan_blocked(options, &row) == BLOOMERY_OK && row.bytes == options->bytes;
}

/* The smallest one that keeps the rate; NULL when it is the largest itself. */
static int fold_to(bloomsql_builder* b, double different, bloomery_options* options,
                   bloomery_filter** out) {
  const uint64_t blocks = b->largest_filter / 64;
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  bloomery_plan_row row;
  uint64_t divisor = 0;
  int status = plan_keys(b, different, &row);
  if (status != BLOOMERY_OK) return status;
  for (divisor = b->largest_filter / row.bytes; divisor > 1; --divisor) {
    if (blocks % divisor != 0) continue;
    *options = sized(b, different, b->largest_filter / divisor, 0);
    status = bloomery_info_header(b->filter, &info);
    options->probes = info.probes;
    if (!is_a_size(options)) continue;
    if (status == BLOOMERY_OK) status = bloomery_fold(b->filter, divisor, out);
    if (status == BLOOMERY_OK) status = bloomery_info(*out, &info);
    if (status != BLOOMERY_OK || info.fpr_now <= b->fpr) return status;
    bloomery_free(*out);
    *out = NULL;
    tick(b);
  }
  return BLOOMERY_OK;
}
static int fold_to_fit(bloomsql_builder* b) {
  bloomery_filter* folded = NULL;
  bloomery_options options;
  double different = 0;
  int status = count_fitting(b, &different);
  if (status == BLOOMERY_OK) status = fold_to(b, different, &options, &folded);
  b->folds = false;
  if (status != BLOOMERY_OK || folded == NULL) return status;
  /* One that says how many keys it was made for. */
  bloomery_free(b->filter);
  b->filter = NULL;
  status = bloomery_new(&options, &b->filter);
  if (status == BLOOMERY_OK) status = bloomery_merge(b->filter, folded);
  bloomery_free(folded);
  return status;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Makes room for another integer. */
static int integer_room(bloomsql_builder* b) {
  size_t most = BLOOMSQL_BATCH;
  int status = BLOOMERY_OK;
  if (b->integer_count < b->integer_room) return BLOOMERY_OK;
  if (waits_for_number(b) && !may_wait(b, sizeof *b->integers)) status = stop_waiting(b);
  if (status != BLOOMERY_OK) return status;
  if (!waits_for_number(b) && b->integer_room != 0) return bloomsql_flush(b);
  if (waits_for_number(b)) {
    most = b->integer_count + (b->most_waiting - waiting_bytes(b)) / sizeof *b->integers;
  }
  return grow((void**)&b->integers, &b->integer_room, 0, most, sizeof *b->integers);
}

int bloomsql_add_integer_slow(bloomsql_builder* b, uint64_t key) {
  const int status = integer_room(b);
  if (status != BLOOMERY_OK) return status;
  b->integers[b->integer_count++] = key;
  return BLOOMERY_OK;
}

int bloomsql_add_integers(bloomsql_builder* b, const void* integers, size_t count) {
  const size_t slice = 65536;
  const char* at = integers;
  while (count != 0) {
    size_t some = 0;
    const int status = integer_room(b);
    if (status != BLOOMERY_OK) return status;
    some = b->integer_room - b->integer_count;
    if (some > count) some = count;
    if (some > slice) some = slice;
    memcpy(b->integers + b->integer_count, at, some * sizeof *b->integers);
    b->integer_count += some;
    at += some * sizeof *b->integers;
    count -= some;
    tick(b);
  }
  return BLOOMERY_OK;
}

int bloomsql_add_string(bloomsql_builder* b, const void* key, size_t bytes) {
  int status = BLOOMERY_OK;
  if (waits_for_number(b) && !may_wait(b, bytes + sizeof *b->offsets)) status = stop_waiting(b);
  if (status == BLOOMERY_OK && !waits_for_number(b)) {
    if (bytes > BLOOMSQL_BATCH_BYTES) return bloomery_add(b->filter, key, bytes);
    if (b->string_count >= BLOOMSQL_BATCH || b->byte_count + bytes > BLOOMSQL_BATCH_BYTES) {
      status = bloomsql_flush(b);
    }
  }
  if (status != BLOOMERY_OK) return status;
  if (b->string_count + 2 > b->offset_room) {
    status = grow((void**)&b->offsets, &b->offset_room, b->string_count + 2, SIZE_MAX,
                  sizeof *b->offsets);
    if (status != BLOOMERY_OK) return status;
  }
  if (b->byte_count + bytes > b->byte_room) {
    status = grow((void**)&b->bytes, &b->byte_room, b->byte_count + bytes, SIZE_MAX, 1);
    if (status != BLOOMERY_OK) return status;
  }
  if (bytes != 0) memcpy(b->bytes + b->byte_count, key, bytes);
  b->offsets[0] = 0;
  b->byte_count += bytes;
  b->offsets[++b->string_count] = b->byte_count;
  return BLOOMERY_OK;
}

int bloomsql_add_strings(bloomsql_builder* b, const char* bytes, const void* offsets,
                         size_t count) {
  const size_t slice = 4096;
  const char* at = offsets;
  size_t i = 0;
  for (i = 0; i < count; ++i) {
    uint64_t ends[2];
    int status = BLOOMERY_OK;
    memcpy(ends, at + i * sizeof *ends, sizeof ends);
    status = bloomsql_add_string(b, bytes + ends[0], (size_t)(ends[1] - ends[0]));
    if (status != BLOOMERY_OK) return status;
    if (i % slice == slice - 1) tick(b);
  }
  return BLOOMERY_OK;
}

int bloomsql_flush(bloomsql_builder* b) {
  int status = BLOOMERY_OK;
  if (waits_for_number(b)) return BLOOMERY_OK;
  status = add_all(b, b->filter);
  forget_waiting(b);
  return status == BLOOMERY_OK ? look_at_keys(b) : status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Replaces the builder's filter by an empty one for so many keys, and adds all that wait. */
static int build_for(bloomsql_builder* b, uint64_t keys) {
  bloomery_options options;
  int status = BLOOMERY_OK;
  bloomery_options_init(&options);
  options.keys = keys;
  options.fpr = b->fpr;
  options.form = b->form;
  bloomery_free(b->filter);
  b->filter = NULL;
  status = bloomery_new(&options, &b->filter);
  return status == BLOOMERY_OK ? add_all(b, b->filter) : status;
}

int bloomsql_finish(bloomsql_builder* b) {
  const uint64_t calls = b->integer_count + b->string_count;
  double different = 0;
  int status = BLOOMERY_OK;
  if (!waits_for_number(b)) {
    status = bloomsql_flush(b);
    return status == BLOOMERY_OK && b->folds ? fold_to_fit(b) : status;
  }
  status = build_for(b, calls != 0 ? calls : 1);
  if (status == BLOOMERY_OK) status = count_different(b->filter, &different);
  /* Keys that came again and again took room in this one. */
  if (status == BLOOMERY_OK && different * 1.25 < (double)calls) {
    status = build_for(b, (uint64_t)different);
  }
  if (status == BLOOMERY_OK) forget_waiting(b);
  return status;
}

/* The one of two whose keys do not wait takes those of the other. */
static void put_first(bloomsql_builder* into, bloomsql_builder* from) {
  const bloomsql_builder other = *into;
  if (!waits_for_number(into) || waits_for_number(from)) return;
  *into = *from;
  *from = other;
}

int bloomsql_merge(bloomsql_builder* into, bloomsql_builder* from) {
  int status = BLOOMERY_OK;
  put_first(into, from);
  if (waits_for_number(from)) {
    status = bloomsql_add_integers(into, from->integers, from->integer_count);
    if (status != BLOOMERY_OK) return status;
    return bloomsql_add_strings(into, from->bytes, from->offsets, from->string_count);
  }
  status = bloomsql_flush(into);
  if (status == BLOOMERY_OK) status = bloomsql_flush(from);
  if (status == BLOOMERY_OK) status = bloomery_merge(into->filter, from->filter);
  return status == BLOOMERY_OK ? look_at_keys(into) : status;
}
