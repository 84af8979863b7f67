/*
 * Aggregates. The state is a builder, whose memory is malloc's; it lives as long as the context of
 * its group. Workers send their state as bytes: the image of a filter, or keys that wait.
 */
#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include <string.h>

PG_FUNCTION_INFO_V1(pgbloom_agg_sized);
PG_FUNCTION_INFO_V1(pgbloom_agg_growing);
PG_FUNCTION_INFO_V1(pgbloom_agg_count_min);
PG_FUNCTION_INFO_V1(pgbloom_agg_top_k);
PG_FUNCTION_INFO_V1(pgbloom_agg_union);
PG_FUNCTION_INFO_V1(pgbloom_agg_combine);
PG_FUNCTION_INFO_V1(pgbloom_agg_serialize);
PG_FUNCTION_INFO_V1(pgbloom_agg_deserialize);
PG_FUNCTION_INFO_V1(pgbloom_agg_final);

typedef struct group_state {
  MemoryContextCallback callback;
  bloomsql_builder builder;
  int64 keys; /* what the first row said */
  double first;
  double second;
} group_state;

/* ---- states ---------------------------------------------------------------------------------- */

static void free_group(void* group) { bloomsql_clear(&((group_state*)group)->builder); }

static group_state* new_group(MemoryContext context) {
  group_state* group = MemoryContextAllocZero(context, sizeof *group);
  group->builder.tick = tick;
  group->callback.func = free_group;
  group->callback.arg = group;
  MemoryContextRegisterResetCallback(context, &group->callback);
  return group;
}

static MemoryContext context_of(FunctionCallInfo fcinfo) {
  MemoryContext context = NULL;
  if (!AggCheckCallContext(fcinfo, &context)) {
    elog(ERROR, "bloomery: an aggregate's function was called outside of one");
  }
  return context;
}

static group_state* group_argument(FunctionCallInfo fcinfo, int argument) {
  return PG_ARGISNULL(argument) ? NULL : (group_state*)PG_GETARG_POINTER(argument);
}

/* What the keys of this call are; found once for all groups. */
static key_kind kind_of_key(FunctionCallInfo fcinfo) {
  key_kind* kind = fcinfo->flinfo->fn_extra;
  if (unlikely(kind == NULL)) {
    const key_kind found = kind_of_argument(fcinfo, 1);
    kind = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *kind);
    *kind = found;
    fcinfo->flinfo->fn_extra = kind;
  }
  return *kind;
}

static void add_key(FunctionCallInfo fcinfo, group_state* group) {
  row_key key;
  int status = BLOOMERY_OK;
  read_key(kind_of_key(fcinfo), PG_GETARG_DATUM(1), &key);
  status = key.data == NULL ? bloomsql_add_integer(&group->builder, key.integer)
                            : bloomsql_add_string(&group->builder, key.data, key.bytes);
  if (unlikely(status != BLOOMERY_OK)) report_failure(status);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A row without a key changes nothing; without any key the result is null. */
static Datum unchanged(FunctionCallInfo fcinfo) {
  fcinfo->isnull = PG_ARGISNULL(0);
  return fcinfo->args[0].value;
}

static void refuse_null(const char* names) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                  errmsg("bloomery: %s of an aggregate must not be null", names)));
}

static void refuse_change(bool same) {
  if (likely(same)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("bloomery: the size of an aggregate must be the same for all rows")));
}

/* Makes the filter of a group. What no value can hold is refused now, not after all rows. */
static void start_group(group_state* group, const bloomery_options* options) {
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  report_failure(bloomsql_start(&group->builder, options));
  report_failure(bloomery_info_header(group->builder.filter, &info));
  refuse_large((double)info.image_bytes);
}

/* bloom_agg(key, keys, fpr) */
Datum pgbloom_agg_sized(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  if (PG_ARGISNULL(1)) return unchanged(fcinfo);
  if (unlikely(PG_ARGISNULL(2) || PG_ARGISNULL(3))) refuse_null("keys and fpr");
  if (unlikely(group == NULL)) {
    bloomery_options options;
    group = new_group(context_of(fcinfo));
    group->keys = PG_GETARG_INT64(2);
    group->first = PG_GETARG_FLOAT8(3);
    report_failure(bloomsql_options(&options, group->keys, group->first, "", 0));
    refuse_large(bloomsql_least_bytes(group->keys, group->first));
    options.form = form_of_kind(kind_of_key(fcinfo));
    start_group(group, &options);
  }
  refuse_change(group->keys == PG_GETARG_INT64(2) && group->first == PG_GETARG_FLOAT8(3));
  add_key(fcinfo, group);
  PG_RETURN_POINTER(group);
}

/* bloom_agg(key) */
Datum pgbloom_agg_growing(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  if (PG_ARGISNULL(1)) return unchanged(fcinfo);
  if (unlikely(group == NULL)) {
    group = new_group(context_of(fcinfo));
    bloomsql_start_growing(&group->builder, form_of_kind(kind_of_key(fcinfo)));
  }
  add_key(fcinfo, group);
  PG_RETURN_POINTER(group);
}

/* count_min_agg(key, epsilon, delta) */
Datum pgbloom_agg_count_min(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  if (PG_ARGISNULL(1)) return unchanged(fcinfo);
  if (unlikely(PG_ARGISNULL(2) || PG_ARGISNULL(3))) refuse_null("epsilon and delta");
  if (unlikely(group == NULL)) {
    bloomery_options options;
    group = new_group(context_of(fcinfo));
    group->first = PG_GETARG_FLOAT8(2);
    group->second = PG_GETARG_FLOAT8(3);
    bloomery_options_init(&options);
    options.kind = BLOOMERY_COUNT_MIN;
    options.epsilon = group->first;
    options.delta = group->second;
    options.form = form_of_kind(kind_of_key(fcinfo));
    if (!(group->first > 0 && group->second > 0)) report_failure(BLOOMSQL_BAD_SHARE);
    start_group(group, &options);
  }
  refuse_change(group->first == PG_GETARG_FLOAT8(2) && group->second == PG_GETARG_FLOAT8(3));
  add_key(fcinfo, group);
  PG_RETURN_POINTER(group);
}

/* top_k_agg(key, k): keys of every type as their text, so that they can be listed. */
Datum pgbloom_agg_top_k(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  row_key key;
  if (PG_ARGISNULL(1)) return unchanged(fcinfo);
  if (unlikely(PG_ARGISNULL(2))) refuse_null("k");
  if (unlikely(group == NULL)) {
    bloomery_options options;
    const int32 k = PG_GETARG_INT32(2);
    if (k < 1) report_failure(BLOOMSQL_BAD_KEYS);
    group = new_group(context_of(fcinfo));
    group->keys = k;
    bloomery_options_init(&options);
    options.kind = BLOOMERY_TOP_K;
    options.form = BLOOMERY_FORM_TEXT;
    options.keys = options.k = (uint32_t)k;
    start_group(group, &options);
  }
  refuse_change(group->keys == PG_GETARG_INT32(2));
  read_key_text(kind_of_key(fcinfo), PG_GETARG_DATUM(1), &key);
  report_failure(bloomsql_add_string(&group->builder, key.data, key.bytes));
  PG_RETURN_POINTER(group);
}

/* bloom_union_agg(bloom) */
Datum pgbloom_agg_union(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  held_filter* other = NULL;
  if (PG_ARGISNULL(1)) return unchanged(fcinfo);
  other = copy_filter(PG_GETARG_DATUM(1));
  if (group == NULL) {
    group = new_group(context_of(fcinfo));
    group->builder.filter = other->filter;
    other->filter = NULL;
  } else {
    report_failure(bloomery_merge(group->builder.filter, other->filter));
    bloomery_free(other->filter);
    other->filter = NULL;
  }
  PG_RETURN_POINTER(group);
}

/* ---- workers --------------------------------------------------------------------------------- */

Datum pgbloom_agg_combine(PG_FUNCTION_ARGS) {
  MemoryContext context = context_of(fcinfo);
  group_state* into = group_argument(fcinfo, 0);
  group_state* from = group_argument(fcinfo, 1);
  if (from == NULL) return unchanged(fcinfo);
  if (into == NULL) { /* the other one is in a context that is shorter */
    into = new_group(context);
    into->builder = from->builder;
    into->keys = from->keys;
    into->first = from->first;
    into->second = from->second;
    memset(&from->builder, 0, sizeof from->builder);
  } else {
    report_failure(bloomsql_merge(&into->builder, &from->builder));
  }
  PG_RETURN_POINTER(into);
}

/* What workers send of a builder for an unknown number of keys. Any other is the image of its
 * filter, which begins with other bytes. */
enum sent {
  SENT_WAITING = 1, /* the head, the integers, the offsets, the strings */
  SENT_FOLDING = 2  /* the head, the image of the largest filter */
};
typedef struct sent_head {
  uint32_t what;
  uint32_t form;
  uint64_t integers;
  uint64_t strings;
  uint64_t bytes;
} sent_head;

static char* append(char* at, const void* data, size_t bytes) {
  if (bytes != 0) memcpy(at, data, bytes);
  return at + bytes;
}

static bytea* serialize_waiting(const bloomsql_builder* b) {
  const sent_head head = {SENT_WAITING, b->form, b->integer_count, b->string_count, b->byte_count};
  const size_t offsets = b->string_count == 0 ? 0 : (b->string_count + 1) * sizeof(uint64_t);
  const size_t bytes =
      sizeof head + b->integer_count * sizeof(uint64_t) + offsets + b->byte_count + VARHDRSZ;
  bytea* value = palloc(bytes);
  char* at = NULL;
  SET_VARSIZE(value, bytes);
  at = append(VARDATA(value), &head, sizeof head);
  at = append(at, b->integers, b->integer_count * sizeof(uint64_t));
  at = append(at, b->offsets, offsets);
  append(at, b->bytes, b->byte_count);
  return value;
}

Datum pgbloom_agg_serialize(PG_FUNCTION_ARGS) {
  bloomsql_builder* b = &((group_state*)PG_GETARG_POINTER(0))->builder;
  context_of(fcinfo);
  if (b->filter == NULL) PG_RETURN_BYTEA_P(serialize_waiting(b));
  report_failure(bloomsql_flush(b));
  if (b->folds) {
    const sent_head head = {SENT_FOLDING, b->form, 0, 0, 0};
    PG_RETURN_BYTEA_P(value_behind(&head, sizeof head, b->filter));
  }
  PG_RETURN_BYTEA_P(value_of(b->filter));
}

static void deserialize_waiting(bloomsql_builder* b, const char* at, const sent_head* head) {
  const char* offsets = at + head->integers * sizeof(uint64_t);
  const char* bytes = offsets + (head->strings == 0 ? 0 : head->strings + 1) * sizeof(uint64_t);
  bloomsql_start_growing(b, head->form);
  report_failure(bloomsql_add_integers(b, at, head->integers));
  report_failure(bloomsql_add_strings(b, bytes, offsets, head->strings));
}

Datum pgbloom_agg_deserialize(PG_FUNCTION_ARGS) {
  const bytea* value = PG_GETARG_BYTEA_PP(0);
  const char* data = VARDATA_ANY(value);
  const size_t bytes = VARSIZE_ANY_EXHDR(value);
  group_state* group = NULL;
  sent_head head = {0, 0, 0, 0, 0};
  context_of(fcinfo);
  group = new_group(CurrentMemoryContext);
  if (bytes >= sizeof head) memcpy(&head, data, sizeof head);
  if (head.what == SENT_WAITING) {
    deserialize_waiting(&group->builder, data + sizeof head, &head);
  } else if (head.what == SENT_FOLDING) {
    bloomery_filter* filter = NULL;
    report_failure(open_image(data + sizeof head, bytes - sizeof head, &filter));
    bloomsql_start_folding(&group->builder, head.form, filter);
  } else {
    report_failure(open_image(data, bytes, &group->builder.filter));
  }
  PG_RETURN_POINTER(group);
}

Datum pgbloom_agg_final(PG_FUNCTION_ARGS) {
  group_state* group = group_argument(fcinfo, 0);
  context_of(fcinfo);
  if (group == NULL) PG_RETURN_NULL();
  report_failure(bloomsql_finish(&group->builder));
  PG_RETURN_BYTEA_P(value_of(group->builder.filter));
}
