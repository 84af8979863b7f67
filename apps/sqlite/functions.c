/* Functions of one row. */
#include <math.h>
#include <string.h>

#include "module.h"

SQLITE_EXTENSION_INIT3

static connection_state* state_of(sqlite3_context* context) { return sqlite3_user_data(context); }

/* Whether one of the arguments is NULL; bloom_file()'s pointers are not. */
static int any_null(int count, sqlite3_value** values) {
  int i = 0;
  for (i = 0; i < count; ++i) {
    if (sqlite3_value_type(values[i]) == SQLITE_NULL &&
        sqlite3_value_pointer(values[i], FILTER_POINTER) == NULL) {
      return 1;
    }
  }
  return 0;
}

/* bloom(keys, fpr, kind, seed): an empty one. */
static void make(sqlite3_context* context, int count, sqlite3_value** values) {
  const double fpr = count > 1 ? sqlite3_value_double(values[1]) : 0.01;
  const char* kind = count > 2 ? (const char*)sqlite3_value_text(values[2]) : "";
  bloomery_options options;
  bloomery_filter* filter = NULL;
  int status = BLOOMERY_OK;
  if (any_null(count, values)) return;
  status = bloomsql_options(&options, sqlite3_value_int64(values[0]), fpr, kind,
                            kind != NULL ? strlen(kind) : 0);
  if (count > 3) options.seed = (uint64_t)sqlite3_value_int64(values[3]);
  /* SQLite's own limit of a blob is below this. */
  if (status == BLOOMERY_OK &&
      bloomsql_least_bytes(sqlite3_value_int64(values[0]), fpr) > (double)INT32_MAX) {
    sqlite3_result_error_toobig(context);
    return;
  }
  if (status == BLOOMERY_OK) status = bloomery_new(&options, &filter);
  if (status == BLOOMERY_OK) {
    result_filter(context, filter);
  } else {
    result_failure(context, status);
  }
}

/* The filter that every row asks. Where SQLite knows that the argument is the same for all rows of
 * a statement, it keeps what belongs to it; otherwise it throws that away at once, so now and then
 * is often enough to try. */
static const bloomery_filter* asked_filter(sqlite3_context* context, sqlite3_value* value) {
  const bloomery_filter* filter = sqlite3_value_pointer(value, FILTER_POINTER);
  const constant_filter* known = NULL;
  connection_state* state = NULL;
  if (filter != NULL) return filter;
  known = sqlite3_get_auxdata(context, 0);
  if (known != NULL && known->kept == known->recent->kept) return known->filter;
  state = state_of(context);
  filter = filter_of(context, state, value);
  if (filter != NULL && state->misses++ % 64 == 0) {
    constant_filter* kept = sqlite3_malloc(sizeof *kept);
    if (kept != NULL) {
      kept->filter = filter;
      kept->recent = &state->recent;
      kept->kept = state->recent.kept;
      sqlite3_set_auxdata(context, 0, kept, sqlite3_free);
    }
  }
  return filter;
}

static void contains(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* filter = asked_filter(context, values[0]);
  bloomery_keys key;
  uint64_t integer = 0;
  bloomery_string string = {NULL, 0};
  int answer = 0;
  (void)count;
  if (filter == NULL) return;
  if (sqlite3_value_type(values[1]) == SQLITE_INTEGER) { /* the short way for most of them */
    answer = bloomery_contains_integer(filter, (uint64_t)sqlite3_value_int64(values[1]));
  } else {
    if (!key_of(context, values[1], &key, &integer, &string)) return;
    answer = bloomery_contains(filter, string.data, string.bytes);
  }
  if (answer < 0) {
    result_failure(context, answer);
  } else {
    sqlite3_result_int(context, answer);
  }
}

/* Adding NULL changes nothing; what comes out is a blob even so, and not the pointer of
 * bloom_open(), which somebody else frees. */
static void add(sqlite3_context* context, int count, sqlite3_value** values) {
  const int nothing = sqlite3_value_type(values[1]) == SQLITE_NULL;
  bloomery_filter* copy = NULL;
  bloomery_keys key;
  uint64_t integer = 0;
  bloomery_string string = {NULL, 0};
  int status = BLOOMERY_OK;
  (void)count;
  if (!nothing && !key_of(context, values[1], &key, &integer, &string)) return;
  copy = copy_of(context, state_of(context), values[0]);
  if (copy == NULL) return;
  if (!nothing) status = bloomery_add_batch(copy, &key);
  if (status == BLOOMERY_OK) {
    result_filter(context, copy);
  } else {
    bloomery_free(copy);
    result_failure(context, status);
  }
}

static void count_keys(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* filter = filter_of(context, state_of(context), values[0]);
  bloomery_estimate estimate = {0, 0};
  bloomery_keys key;
  uint64_t integer = 0;
  uint64_t times = 0;
  bloomery_string string = {NULL, 0};
  int status = BLOOMERY_OK;
  if (filter == NULL) return;
  if (count == 1) {
    status = bloomery_estimate_keys(filter, &estimate);
    if (status == BLOOMERY_OK) sqlite3_result_double(context, estimate.value);
  } else {
    if (!key_of(context, values[1], &key, &integer, &string)) return;
    status = bloomery_count(filter, &key, &times);
    if (status == BLOOMERY_OK) sqlite3_result_int64(context, (sqlite3_int64)times);
  }
  if (status != BLOOMERY_OK) result_failure(context, status);
}

static void unite(sqlite3_context* context, int count, sqlite3_value** values) {
  bloomery_filter* copy = NULL;
  const bloomery_filter* other = NULL;
  int status = BLOOMERY_OK;
  if (any_null(count, values)) return;
  copy = copy_of(context, state_of(context), values[0]);
  if (copy == NULL) return;
  other = filter_of(context, state_of(context), values[1]);
  if (other == NULL) {
    bloomery_free(copy);
    return;
  }
  status = bloomery_merge(copy, other);
  if (status == BLOOMERY_OK) {
    result_filter(context, copy);
  } else {
    bloomery_free(copy);
    result_failure(context, status);
  }
}

static void intersect(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* a = NULL;
  const bloomery_filter* b = NULL;
  bloomery_filter* both = NULL;
  int status = BLOOMERY_OK;
  if (any_null(count, values)) return;
  a = filter_of(context, state_of(context), values[0]);
  b = a != NULL ? filter_of(context, state_of(context), values[1]) : NULL;
  if (b == NULL) return;
  status = bloomery_intersect(a, b, &both);
  if (status == BLOOMERY_OK) {
    result_filter(context, both);
  } else {
    result_failure(context, status);
  }
}

/* bloom_fold(filter, divisor): to a half unless said. */
static void fold(sqlite3_context* context, int count, sqlite3_value** values) {
  const sqlite3_int64 divisor = count > 1 ? sqlite3_value_int64(values[1]) : 2;
  const bloomery_filter* filter = NULL;
  bloomery_filter* folded = NULL;
  int status = BLOOMERY_OK;
  if (any_null(count, values)) return;
  filter = filter_of(context, state_of(context), values[0]);
  if (filter == NULL) return;
  if (divisor < 0) {
    char* message = sqlite3_mprintf(BLOOMSQL_BAD_DIVISOR, (long long)divisor);
    sqlite3_result_error(context, message != NULL ? message : "out of memory", -1);
    sqlite3_free(message);
    return;
  }
  status = bloomery_fold(filter, (uint64_t)divisor, &folded);
  if (status == BLOOMERY_OK) {
    result_filter(context, folded);
  } else {
    result_failure(context, status);
  }
}

static void info(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* filter = filter_of(context, state_of(context), values[0]);
  bloomery_buffer json = {NULL, 0, NULL};
  int status = BLOOMERY_OK;
  (void)count;
  if (filter == NULL) return;
  status = bloomery_info_json(filter, &json);
  if (status == BLOOMERY_OK) {
    result_bytes(context, &json, 1);
  } else {
    result_failure(context, status);
  }
}

/* JSON has no infinity, which an estimate of a full filter is. Freed by %z. */
static char* number(double value) {
  return isfinite(value) ? sqlite3_mprintf("%.17g", value) : sqlite3_mprintf("null");
}

static void compare(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* a = NULL;
  const bloomery_filter* b = NULL;
  bloomery_comparison c;
  char* json = NULL;
  int status = BLOOMERY_OK;
  if (any_null(count, values)) return;
  a = filter_of(context, state_of(context), values[0]);
  b = a != NULL ? filter_of(context, state_of(context), values[1]) : NULL;
  if (b == NULL) return;
  status = bloomery_compare(a, b, &c);
  if (status != BLOOMERY_OK) {
    result_failure(context, status);
    return;
  }
  json = sqlite3_mprintf(
      "{\"keys_a\":%z,\"keys_b\":%z,\"keys_union\":%z,\"keys_intersection\":%z,\"jaccard\":%z,"
      "\"shared_bits\":%llu}",
      number(c.keys_a.value), number(c.keys_b.value), number(c.keys_union.value),
      number(c.keys_intersection.value), number(c.jaccard.value),
      (unsigned long long)c.shared_bits);
  sqlite3_result_text(context, json, -1, sqlite3_free);
}

static void pack(sqlite3_context* context, int count, sqlite3_value** values) {
  const bloomery_filter* filter = filter_of(context, state_of(context), values[0]);
  bloomery_buffer bytes = {NULL, 0, NULL};
  int status = BLOOMERY_OK;
  (void)count;
  if (filter == NULL) return;
  status = bloomery_pack(filter, &bytes);
  if (status == BLOOMERY_OK) {
    result_bytes(context, &bytes, 0);
  } else {
    result_failure(context, status);
  }
}

/* The plain bytes, also of a packed filter and of a mapped one. */
static void unpack(sqlite3_context* context, int count, sqlite3_value** values) {
  bloomery_filter* copy = copy_of(context, state_of(context), values[0]);
  (void)count;
  if (copy != NULL) result_filter(context, copy);
}

static void free_opened(void* filter) { bloomery_free(filter); }

/* bloom_open(filter): for (SELECT bloom_open(b) FROM t), whose value SQLite would copy for every
 * row if it were a blob. */
static void open_once(sqlite3_context* context, int count, sqlite3_value** values) {
  bloomery_filter* copy = copy_of(context, state_of(context), values[0]);
  (void)count;
  if (copy != NULL) sqlite3_result_pointer(context, copy, FILTER_POINTER, free_opened);
}

/* bloom_file(path): mapped when it is first named, and kept for the connection. */
static void file(sqlite3_context* context, int count, sqlite3_value** values) {
  connection_state* state = state_of(context);
  const char* path = (const char*)sqlite3_value_text(values[0]);
  const size_t bytes = (size_t)sqlite3_value_bytes(values[0]);
  mapped_file* known = NULL;
  int status = BLOOMERY_OK;
  (void)count;
  if (path == NULL) return;
  for (known = state->files; known != NULL; known = known->next) {
    if (strcmp(known->path, path) == 0) break;
  }
  if (known == NULL) {
    known = sqlite3_malloc64(sizeof *known + bytes + 1);
    if (known == NULL) {
      sqlite3_result_error_nomem(context);
      return;
    }
    memcpy(known->path, path, bytes + 1);
    status = bloomery_open(path, 1, &known->filter);
    if (status != BLOOMERY_OK) {
      sqlite3_free(known);
      result_failure(context, status);
      return;
    }
    known->next = state->files;
    state->files = known;
  }
  sqlite3_result_pointer(context, known->filter, FILTER_POINTER, NULL);
}

int register_functions(sqlite3* db, connection_state* state) {
  enum { pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };
  /* A view or trigger in somebody's database shall not read files. The same path is the same
   * mapping as long as the connection lives, so it is looked up once in a query. */
  enum { reads_files = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY };
  static const struct {
    const char* name;
    int arguments;
    int flags;
    void (*call)(sqlite3_context*, int, sqlite3_value**);
  } functions[] = {
      {"bloom", 1, pure, make},
      {"bloom", 2, pure, make},
      {"bloom", 3, pure, make},
      {"bloom", 4, pure, make},
      {"bloom_contains", 2, pure, contains},
      {"bloom_add", 2, pure, add},
      {"bloom_count", 1, pure, count_keys},
      {"bloom_count", 2, pure, count_keys},
      {"bloom_union", 2, pure, unite},
      {"bloom_intersection", 2, pure, intersect},
      {"bloom_fold", 1, pure, fold},
      {"bloom_fold", 2, pure, fold},
      {"bloom_info", 1, pure, info},
      {"bloom_compare", 2, pure, compare},
      {"bloom_pack", 1, pure, pack},
      {"bloom_unpack", 1, pure, unpack},
      {"bloom_open", 1, pure, open_once},
      {"bloom_file", 1, reads_files, file},
  };
  size_t i = 0;
  int status = SQLITE_OK;
  for (i = 0; i < sizeof functions / sizeof *functions && status == SQLITE_OK; ++i) {
    ++state->references; /* given back also when registering fails */
    status = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                        functions[i].flags, state, functions[i].call, NULL, NULL,
                                        release_state);
  }
  return status;
}
