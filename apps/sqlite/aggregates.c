/* Aggregates: filters and sketches of the keys of many rows. */
#include <string.h>

#include "module.h"

SQLITE_EXTENSION_INIT3

/* What SQLite keeps for a group, zeros at first. */
typedef struct group {
  bloomsql_builder builder;
  int started;
  int failed; /* the error is told once */
} group;

static void fail_group(sqlite3_context* context, group* g, int status) {
  g->failed = 1;
  result_failure(context, status);
}

/* The first key says what the others must be: a column that mixes types would have keys that nobody
 * finds, since 42 and '42' are different ones. */
static uint32_t form_of(sqlite3_value* key) {
  switch (sqlite3_value_type(key)) {
    case SQLITE_INTEGER: return BLOOMERY_FORM_INTEGERS;
    case SQLITE_BLOB: return BLOOMERY_FORM_BINARY;
    default: return BLOOMERY_FORM_TEXT;
  }
}

/* Makes the filter of a group. What no value can hold is refused now, not after all rows. */
static void start(sqlite3_context* context, group* g, const bloomery_options* options) {
  const int most = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  int status = bloomsql_start(&g->builder, options);
  g->started = 1;
  if (status == BLOOMERY_OK) status = bloomery_info_header(g->builder.filter, &info);
  if (status != BLOOMERY_OK) {
    fail_group(context, g, status);
  } else if (info.image_bytes > (uint64_t)most) {
    g->failed = 1;
    bloomsql_clear(&g->builder);
    sqlite3_result_error_toobig(context);
  }
}

static void add_row(sqlite3_context* context, group* g, sqlite3_value* value) {
  bloomery_keys key;
  uint64_t integer = 0;
  bloomery_string string = {NULL, 0};
  int status = BLOOMERY_OK;
  if (g->failed || !key_of(context, value, &key, &integer, &string)) return;
  status = key.layout == BLOOMERY_INTEGERS
               ? bloomsql_add_integer(&g->builder, integer)
               : bloomsql_add_string(&g->builder, string.data, string.bytes);
  if (status != BLOOMERY_OK) fail_group(context, g, status);
}

static group* group_of(sqlite3_context* context) {
  group* g = sqlite3_aggregate_context(context, sizeof *g);
  if (g == NULL) sqlite3_result_error_nomem(context);
  return g;
}

/* The group of a row with a key; NULL for a row without one, and after an error. */
static group* group_of_row(sqlite3_context* context, sqlite3_value* key) {
  group* g = NULL;
  if (sqlite3_value_type(key) == SQLITE_NULL) return NULL;
  g = group_of(context);
  return g == NULL || g->failed ? NULL : g;
}

/* bloom_agg(key) */
static void growing_step(sqlite3_context* context, int count, sqlite3_value** values) {
  group* g = group_of_row(context, values[0]);
  (void)count;
  if (g == NULL) return;
  if (!g->started) bloomsql_start_growing(&g->builder, form_of(values[0]));
  g->started = 1;
  add_row(context, g, values[0]);
}

/* bloom_agg(key, keys, fpr) */
static void sized_step(sqlite3_context* context, int count, sqlite3_value** values) {
  group* g = group_of_row(context, values[0]);
  (void)count;
  if (g == NULL) return;
  if (!g->started) {
    const sqlite3_int64 keys = sqlite3_value_int64(values[1]);
    const double fpr = sqlite3_value_double(values[2]);
    bloomery_options options;
    const int status = bloomsql_options(&options, keys, fpr, "", 0);
    if (status != BLOOMERY_OK) {
      fail_group(context, g, status);
      return;
    }
    if (bloomsql_least_bytes(keys, fpr) > (double)INT32_MAX) {
      g->failed = 1;
      sqlite3_result_error_toobig(context);
      return;
    }
    options.form = form_of(values[0]);
    start(context, g, &options);
  }
  add_row(context, g, values[0]);
}

/* count_min_agg(key, epsilon, delta) */
static void count_min_step(sqlite3_context* context, int count, sqlite3_value** values) {
  group* g = group_of_row(context, values[0]);
  bloomery_options options;
  (void)count;
  if (g == NULL) return;
  if (!g->started) {
    bloomery_options_init(&options);
    options.kind = BLOOMERY_COUNT_MIN;
    options.epsilon = sqlite3_value_double(values[1]);
    options.delta = sqlite3_value_double(values[2]);
    if (!(options.epsilon > 0 && options.delta > 0)) {
      fail_group(context, g, BLOOMSQL_BAD_SHARE);
      return;
    }
    options.form = form_of(values[0]);
    start(context, g, &options);
  }
  add_row(context, g, values[0]);
}

/* top_k_agg(key, k): keys of every type as their text, so that they can be listed. */
static void top_k_step(sqlite3_context* context, int count, sqlite3_value** values) {
  const void* text = sqlite3_value_text(values[0]);
  group* g = group_of_row(context, values[0]);
  bloomery_options options;
  int status = text != NULL ? BLOOMERY_OK : BLOOMERY_NO_MEMORY;
  (void)count;
  if (g == NULL) return;
  if (!g->started) {
    const sqlite3_int64 k = sqlite3_value_int64(values[1]);
    bloomery_options_init(&options);
    options.kind = BLOOMERY_TOP_K;
    options.form = BLOOMERY_FORM_TEXT;
    options.k = k > 0 && k < UINT32_MAX ? (uint32_t)k : UINT32_MAX; /* which the library refuses */
    options.keys = options.k;
    if (k < 1) {
      fail_group(context, g, BLOOMSQL_BAD_KEYS);
    } else {
      start(context, g, &options);
    }
  }
  if (g->failed) return;
  if (status == BLOOMERY_OK) {
    status = bloomsql_add_string(&g->builder, text, (size_t)sqlite3_value_bytes(values[0]));
  }
  if (status != BLOOMERY_OK) fail_group(context, g, status);
}

static void union_step(sqlite3_context* context, int count, sqlite3_value** values) {
  group* g = group_of(context);
  connection_state* state = sqlite3_user_data(context);
  const bloomery_filter* other = NULL;
  int status = BLOOMERY_OK;
  (void)count;
  if (g == NULL || g->failed) return;
  if (!g->started) {
    g->builder.filter = copy_of(context, state, values[0]);
    g->started = g->builder.filter != NULL;
    return;
  }
  other = filter_of(context, state, values[0]);
  if (other == NULL) return;
  status = bloomery_merge(g->builder.filter, other);
  if (status != BLOOMERY_OK) fail_group(context, g, status);
}

/* Without any key the result is NULL. */
static void finish(sqlite3_context* context) {
  group* g = sqlite3_aggregate_context(context, 0);
  if (g == NULL) return;
  if (g->started && !g->failed) {
    const int status = bloomsql_finish(&g->builder);
    if (status == BLOOMERY_OK) {
      result_filter(context, g->builder.filter);
      g->builder.filter = NULL;
    } else {
      result_failure(context, status);
    }
  }
  bloomsql_clear(&g->builder);
}

int register_aggregates(sqlite3* db, connection_state* state) {
  static const struct {
    const char* name;
    int arguments;
    void (*step)(sqlite3_context*, int, sqlite3_value**);
  } aggregates[] = {
      {"bloom_agg", 1, growing_step},     {"bloom_agg", 3, sized_step},
      {"bloom_union_agg", 1, union_step}, {"count_min_agg", 3, count_min_step},
      {"top_k_agg", 2, top_k_step},
  };
  size_t i = 0;
  int status = SQLITE_OK;
  for (i = 0; i < sizeof aggregates / sizeof *aggregates && status == SQLITE_OK; ++i) {
    ++state->references;
    status = sqlite3_create_function_v2(db, aggregates[i].name, aggregates[i].arguments,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                        state, NULL, aggregates[i].step, finish, release_state);
  }
  return status;
}
