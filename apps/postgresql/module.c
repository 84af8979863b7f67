/* Errors, results, and filters that are opened once. */

#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "miscadmin.h"

PG_MODULE_MAGIC;

void tick(void) { CHECK_FOR_INTERRUPTS(); }

/* ---- errors and results ---------------------------------------------------------------------- */

static int sqlstate_of(int status) {
  switch (status) {
    case BLOOMERY_BAD_ARGUMENT:
    case BLOOMERY_UNREACHABLE:
    case BLOOMSQL_BAD_KIND:
    case BLOOMSQL_BAD_KEYS:
    case BLOOMSQL_BAD_SHARE:
    case BLOOMSQL_BAD_RATE: return ERRCODE_INVALID_PARAMETER_VALUE;
    case BLOOMERY_NO_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    case BLOOMERY_IO: return ERRCODE_IO_ERROR;
    case BLOOMERY_NOT_BLOOMERY: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case BLOOMERY_CORRUPT: return ERRCODE_DATA_CORRUPTED;
    case BLOOMERY_UNSUPPORTED: return ERRCODE_FEATURE_NOT_SUPPORTED;
    case BLOOMERY_MISMATCH: return ERRCODE_DATA_EXCEPTION;
    case BLOOMERY_FULL:
    case BLOOMSQL_TOO_MANY: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    default: return ERRCODE_INTERNAL_ERROR;
  }
}

void report_failure(int status) {
  if (status >= 0) return;
  ereport(ERROR, (errcode(sqlstate_of(status)), errmsg("bloomery: %s", bloomsql_message(status))));
}

void refuse_large(double bytes) {
  if (bytes <= (double)(MaxAllocSize - VARHDRSZ)) return;
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("bloomery: a filter of %.0f MB is more than a value can hold, 1 GB", bytes / 1e6),
           errhint("Make several, such as one for each partition, or allow a higher rate of false "
                   "positives.")));
}

static bytea* take_behind(const void* head, size_t head_bytes, bloomery_buffer* buffer) {
  const size_t bytes = head_bytes + buffer->bytes;
  bytea* value = NULL;
  if (bytes > MaxAllocSize - VARHDRSZ) {
    bloomery_buffer_free(buffer);
    refuse_large((double)bytes);
  }
  value = palloc_extended(bytes + VARHDRSZ, MCXT_ALLOC_NO_OOM);
  if (value == NULL) {
    bloomery_buffer_free(buffer);
    report_failure(BLOOMERY_NO_MEMORY);
  }
  SET_VARSIZE(value, bytes + VARHDRSZ);
  if (head_bytes != 0) memcpy(VARDATA(value), head, head_bytes);
  memcpy(VARDATA(value) + head_bytes, buffer->data, buffer->bytes);
  bloomery_buffer_free(buffer);
  return value;
}

bytea* take_buffer(bloomery_buffer* buffer) { return take_behind(NULL, 0, buffer); }

static sigset_t block_signals(void) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

int open_image(const void* data, size_t bytes, bloomery_filter** out) {
  const sigset_t before = block_signals();
  const int status = bloomery_from_bytes(data, bytes, out);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* Likewise: threads make checksums, too. */
static int make_image(const bloomery_filter* filter, bloomery_buffer* out) {
  const sigset_t before = block_signals();
  const int status = bloomery_to_bytes(filter, out);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

bytea* value_behind(const void* head, size_t head_bytes, const bloomery_filter* filter) {
  bloomery_buffer buffer = {NULL, 0, NULL};
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  report_failure(bloomery_info_header(filter, &info));
  refuse_large((double)info.image_bytes);
  report_failure(make_image(filter, &buffer));
  return take_behind(head, head_bytes, &buffer);
}

bytea* value_of(const bloomery_filter* filter) { return value_behind(NULL, 0, filter); }

bytea* checked_value(const void* data, size_t bytes) {
  held_filter* held = hold_filter();
  bytea* value = NULL;
  report_failure(open_image(data, bytes, &held->filter));
  value = value_of(held->filter);
  bloomery_free(held->filter);
  held->filter = NULL;
  return value;
}

/* ---- filters --------------------------------------------------------------------------------- */

static void free_held(void* held) { bloomery_free(((held_filter*)held)->filter); }

held_filter* hold_filter(void) {
  held_filter* held = palloc0(sizeof *held);
  held->callback.func = free_held;
  held->callback.arg = held;
  MemoryContextRegisterResetCallback(CurrentMemoryContext, &held->callback);
  return held;
}

held_filter* copy_filter(Datum value) {
  held_filter* held = hold_filter();
  struct varlena* plain = PG_DETOAST_DATUM_PACKED(value);
  report_failure(open_image(VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain), &held->filter));
  if ((Pointer)plain != DatumGetPointer(value)) pfree(plain);
  return held;
}

static void free_state(void* state) { bloomsql_forget(&((call_state*)state)->recent); }

call_state* new_state(FunctionCallInfo fcinfo, int key_argument) {
  FmgrInfo* call = fcinfo->flinfo;
  call_state* state = MemoryContextAllocZero(call->fn_mcxt, sizeof *state);
  if (key_argument >= 0) state->kind = kind_of_argument(fcinfo, key_argument);
  state->callback.func = free_state;
  state->callback.arg = state;
  MemoryContextRegisterResetCallback(call->fn_mcxt, &state->callback);
  call->fn_extra = state;
  return state;
}

/* The filter in a value that lies in memory. */
static const bloomery_filter* filter_inline(bloomsql_recent* recent, struct varlena* value) {
  bloomsql_name name = {VARDATA_ANY(value), BLOOMSQL_HEADER_BYTES, VARSIZE_ANY_EXHDR(value)};
  const bloomery_filter* found = NULL;
  bloomery_filter* opened = NULL;
  if (name.image_bytes < name.bytes) name.bytes = name.image_bytes;
  found = bloomsql_find(recent, &name);
  if (likely(found != NULL)) return found;
  report_failure(open_image(name.data, name.image_bytes, &opened));
  return bloomsql_keep(recent, &name, opened);
}

/* The filter in a value that lies in the table's second one: its place there names it. */
static const bloomery_filter* filter_on_disk(call_state* state, struct varlena* value) {
  struct varatt_external place;
  bloomsql_name name = {&place, sizeof place, 0};
  const bloomery_filter* found = NULL;
  VARATT_EXTERNAL_GET_POINTER(place, value);
  found = bloomsql_find(&state->recent, &name);
  if (found == NULL) {
    bloomery_filter* opened = NULL;
    struct varlena* plain = detoast_attr(value);
    report_failure(open_image(VARDATA(plain), VARSIZE(plain) - VARHDRSZ, &opened));
    found = bloomsql_keep(&state->recent, &name, opened);
    pfree(plain);
  }
  state->last.place = place;
  state->last.filter = found;
  return found;
}

const bloomery_filter* filter_of_slow(call_state* state, Datum datum) {
  struct varlena* value = (struct varlena*)DatumGetPointer(datum);
  const bloomery_filter* found = NULL;
  struct varlena* plain = NULL;
  state->last.filter = NULL; /* what comes now may take its slot */
  if (VARATT_IS_EXTERNAL_ONDISK(value)) return filter_on_disk(state, value);
  if (likely(!VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value))) {
    return filter_inline(&state->recent, value);
  }
  plain = detoast_attr(value);
  found = filter_inline(&state->recent, plain);
  pfree(plain);
  return found;
}
