/* Functions of one row. */
#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include <math.h>
#include <string.h>

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

PG_FUNCTION_INFO_V1(pgbloom_new);
PG_FUNCTION_INFO_V1(pgbloom_add);
PG_FUNCTION_INFO_V1(pgbloom_contains);
PG_FUNCTION_INFO_V1(pgbloom_union);
PG_FUNCTION_INFO_V1(pgbloom_intersection);
PG_FUNCTION_INFO_V1(pgbloom_fold);
PG_FUNCTION_INFO_V1(pgbloom_info);
PG_FUNCTION_INFO_V1(pgbloom_compare);
PG_FUNCTION_INFO_V1(pgbloom_pack);
PG_FUNCTION_INFO_V1(pgbloom_count_keys);
PG_FUNCTION_INFO_V1(pgbloom_count_key);
PG_FUNCTION_INFO_V1(pgbloom_top_rows);

static bloomery_keys one_key(const row_key* key, bloomery_string* room) {
  bloomery_keys keys = {&key->integer, NULL, 1, BLOOMERY_INTEGERS};
  if (key->data != NULL) {
    room->data = key->data;
    room->bytes = key->bytes;
    keys.data = room;
    keys.layout = BLOOMERY_STRINGS;
  }
  return keys;
}

Datum pgbloom_new(PG_FUNCTION_ARGS) {
  const int64 keys = PG_GETARG_INT64(0);
  const double fpr = PG_GETARG_FLOAT8(1);
  const text* kind = PG_GETARG_TEXT_PP(2);
  held_filter* held = hold_filter();
  bloomery_options options;
  report_failure(bloomsql_options(&options, keys, fpr, VARDATA_ANY(kind), VARSIZE_ANY_EXHDR(kind)));
  refuse_large(bloomsql_least_bytes(keys, fpr));
  options.seed = (uint64_t)PG_GETARG_INT64(3);
  report_failure(bloomery_new(&options, &held->filter));
  PG_RETURN_BYTEA_P(value_of(held->filter));
}

/* Not strict: a key that is null must not delete the filter that an UPDATE adds it to. */
Datum pgbloom_add(PG_FUNCTION_ARGS) {
  const key_kind kind = kind_of_argument(fcinfo, 1);
  held_filter* held = NULL;
  row_key key;
  bloomery_string room;
  bloomery_keys keys;
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  if (PG_ARGISNULL(1)) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  held = copy_filter(PG_GETARG_DATUM(0));
  read_key(kind, PG_GETARG_DATUM(1), &key);
  keys = one_key(&key, &room);
  report_failure(bloomery_add_batch(held->filter, &keys));
  PG_RETURN_BYTEA_P(value_of(held->filter));
}

/* Apart from the short way, which has no frame then. */
static pg_noinline Datum contains_any(PG_FUNCTION_ARGS) {
  call_state* state = state_of(fcinfo, 1);
  const bloomery_filter* filter = filter_of(state, PG_GETARG_DATUM(0));
  row_key key;
  int answer = 0;
  read_key(state->kind, PG_GETARG_DATUM(1), &key);
  answer = key.data == NULL ? bloomery_contains_integer(filter, key.integer)
                            : bloomery_contains(filter, key.data, key.bytes);
  if (unlikely(answer < 0)) report_failure(answer);
  PG_RETURN_BOOL(answer != 0);
}

Datum pgbloom_contains(PG_FUNCTION_ARGS) {
  const call_state* state = fcinfo->flinfo->fn_extra;
  if (likely(state != NULL && state->kind == KEY_INT8)) {
    const bloomery_filter* filter = filter_again(state, PG_GETARG_DATUM(0));
    if (likely(filter != NULL)) {
      const int answer = bloomery_contains_integer(filter, (uint64_t)PG_GETARG_INT64(1));
      if (likely(answer >= 0)) PG_RETURN_BOOL(answer != 0);
    }
  }
  return contains_any(fcinfo);
}

Datum pgbloom_union(PG_FUNCTION_ARGS) {
  held_filter* held = copy_filter(PG_GETARG_DATUM(0));
  const held_filter* other = copy_filter(PG_GETARG_DATUM(1));
  report_failure(bloomery_merge(held->filter, other->filter));
  PG_RETURN_BYTEA_P(value_of(held->filter));
}

Datum pgbloom_intersection(PG_FUNCTION_ARGS) {
  const held_filter* a = copy_filter(PG_GETARG_DATUM(0));
  const held_filter* b = copy_filter(PG_GETARG_DATUM(1));
  held_filter* both = hold_filter();
  report_failure(bloomery_intersect(a->filter, b->filter, &both->filter));
  PG_RETURN_BYTEA_P(value_of(both->filter));
}

Datum pgbloom_fold(PG_FUNCTION_ARGS) {
  const held_filter* held = copy_filter(PG_GETARG_DATUM(0));
  const int64 divisor = PG_GETARG_INT64(1);
  held_filter* folded = hold_filter();
  if (divisor < 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloomery: " BLOOMSQL_BAD_DIVISOR, (long long)divisor)));
  }
  report_failure(bloomery_fold(held->filter, (uint64_t)divisor, &folded->filter));
  PG_RETURN_BYTEA_P(value_of(folded->filter));
}

static Datum jsonb_of(char* text) { return DirectFunctionCall1(jsonb_in, CStringGetDatum(text)); }

Datum pgbloom_info(PG_FUNCTION_ARGS) {
  const bloomery_filter* filter = filter_of(state_of(fcinfo, -1), PG_GETARG_DATUM(0));
  bloomery_buffer json = {NULL, 0, NULL};
  report_failure(bloomery_info_json(filter, &json));
  PG_RETURN_DATUM(jsonb_of(text_to_cstring((text*)take_buffer(&json))));
}

/* JSON has no infinity, which an estimate of a full filter is. */
static const char* json_number(double number) {
  return isfinite(number) ? psprintf("%.17g", number) : "null";
}

Datum pgbloom_compare(PG_FUNCTION_ARGS) {
  call_state* state = state_of(fcinfo, -1);
  const bloomery_filter* a = filter_of(state, PG_GETARG_DATUM(0));
  const bloomery_filter* b = filter_of(state, PG_GETARG_DATUM(1));
  bloomery_comparison c;
  report_failure(bloomery_compare(a, b, &c));
  PG_RETURN_DATUM(jsonb_of(psprintf(
      "{\"keys_a\":%s,\"keys_b\":%s,\"keys_union\":%s,\"keys_intersection\":%s,"
      "\"jaccard\":%s,\"shared_bits\":" UINT64_FORMAT "}",
      json_number(c.keys_a.value), json_number(c.keys_b.value), json_number(c.keys_union.value),
      json_number(c.keys_intersection.value), json_number(c.jaccard.value), c.shared_bits)));
}

Datum pgbloom_pack(PG_FUNCTION_ARGS) {
  const bloomery_filter* filter = filter_of(state_of(fcinfo, -1), PG_GETARG_DATUM(0));
  bloomery_buffer bytes = {NULL, 0, NULL};
  report_failure(bloomery_pack(filter, &bytes));
  PG_RETURN_BYTEA_P(take_buffer(&bytes));
}

Datum pgbloom_count_keys(PG_FUNCTION_ARGS) {
  const bloomery_filter* filter = filter_of(state_of(fcinfo, -1), PG_GETARG_DATUM(0));
  bloomery_estimate estimate = {0, 0};
  report_failure(bloomery_estimate_keys(filter, &estimate));
  PG_RETURN_FLOAT8(estimate.value);
}

Datum pgbloom_count_key(PG_FUNCTION_ARGS) {
  call_state* state = state_of(fcinfo, 1);
  const bloomery_filter* filter = filter_of(state, PG_GETARG_DATUM(0));
  row_key key;
  bloomery_string room;
  bloomery_keys keys;
  uint64_t times = 0;
  read_key(state->kind, PG_GETARG_DATUM(1), &key);
  keys = one_key(&key, &room);
  report_failure(bloomery_count(filter, &keys, &times));
  PG_RETURN_INT64(times > (uint64_t)PG_INT64_MAX ? PG_INT64_MAX : (int64)times);
}

/* The most frequent keys of a top-k sketch, as rows. */
Datum pgbloom_top_rows(PG_FUNCTION_ARGS) {
  ReturnSetInfo* result = (ReturnSetInfo*)fcinfo->resultinfo;
  const held_filter* held = copy_filter(PG_GETARG_DATUM(0));
  bloomery_counted_key* rows = NULL;
  size_t count = 0;
  size_t i = 0;
  InitMaterializedSRF(fcinfo, 0);
  report_failure(bloomery_top(held->filter, NULL, 0, &count));
  rows = palloc_extended((count + 1) * sizeof *rows, MCXT_ALLOC_HUGE);
  report_failure(bloomery_top(held->filter, rows, count, &count));
  for (i = 0; i < count; ++i) {
    /* Checks the bytes: a sketch may come from anywhere. */
    const char* key =
        pg_any_to_server(rows[i].bytes != 0 ? rows[i].data : "", (int)rows[i].bytes, PG_UTF8);
    const int bytes = key == rows[i].data ? (int)rows[i].bytes : (int)strlen(key);
    const uint64_t times = rows[i].count;
    Datum values[2];
    bool nulls[2] = {false, false};
    values[0] = PointerGetDatum(cstring_to_text_with_len(key, bytes));
    values[1] = Int64GetDatum(times > (uint64_t)PG_INT64_MAX ? PG_INT64_MAX : (int64)times);
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    tick();
  }
  return (Datum)0;
}
