/* bloom_top(sketch): the most frequent keys as a table (key, count), the largest count first. */
#include <string.h>

#include "module.h"

SQLITE_EXTENSION_INIT3

enum { column_key, column_count, column_sketch };

typedef struct top_cursor {
  sqlite3_vtab_cursor base;
  bloomery_filter* sketch;
  bloomery_counted_key* rows;
  size_t count;
  size_t at;
} top_cursor;

static int connect_table(sqlite3* db, void* aux, int count, const char* const* arguments,
                         sqlite3_vtab** out, char** message) {
  const int status =
      sqlite3_declare_vtab(db, "CREATE TABLE t(key, count INTEGER, sketch BLOB HIDDEN)");
  (void)aux;
  (void)count;
  (void)arguments;
  (void)message;
  if (status != SQLITE_OK) return status;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  *out = sqlite3_malloc(sizeof **out);
  if (*out == NULL) return SQLITE_NOMEM;
  memset(*out, 0, sizeof **out);
  return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab* table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

/* The sketch must be given: it is the argument. */
static int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  int i = 0;
  (void)table;
  for (i = 0; i < info->nConstraint; ++i) {
    if (info->aConstraint[i].iColumn != column_sketch ||
        info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) {
      continue;
    }
    if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1;
    info->idxNum = 1;
    info->estimatedCost = 100;
    info->estimatedRows = 100;
    return SQLITE_OK;
  }
  info->estimatedCost = 1e9;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  top_cursor* cursor = sqlite3_malloc(sizeof *cursor);
  (void)table;
  if (cursor == NULL) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof *cursor);
  *out = &cursor->base;
  return SQLITE_OK;
}

static void empty_cursor(top_cursor* cursor) {
  bloomery_free(cursor->sketch);
  sqlite3_free(cursor->rows);
  cursor->sketch = NULL;
  cursor->rows = NULL;
  cursor->count = cursor->at = 0;
}

static int close_cursor(sqlite3_vtab_cursor* base) {
  empty_cursor((top_cursor*)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int fail_cursor(top_cursor* cursor, int status) {
  if (status == BLOOMERY_NO_MEMORY) return SQLITE_NOMEM;
  sqlite3_free(cursor->base.pVtab->zErrMsg);
  cursor->base.pVtab->zErrMsg = sqlite3_mprintf("%s", bloomsql_message(status));
  return SQLITE_ERROR;
}

/* The sketch of the argument, which the rows point into. What is behind a pointer of bloom_file()
 * or bloom_open() is copied, since somebody else frees it; but no other filter, which may be a
 * large file. */
static int take_sketch(top_cursor* cursor, sqlite3_value* value) {
  const bloomery_filter* pointed = sqlite3_value_pointer(value, FILTER_POINTER);
  const void* data = NULL;
  if (pointed != NULL) {
    const int status = bloomery_top(pointed, NULL, 0, &cursor->count);
    return status == BLOOMERY_OK ? bloomery_clone(pointed, &cursor->sketch) : status;
  }
  if (sqlite3_value_type(value) == SQLITE_NULL) return BLOOMERY_OK;
  data = sqlite3_value_blob(value);
  return bloomery_from_bytes(data != NULL ? data : "", (size_t)sqlite3_value_bytes(value),
                             &cursor->sketch);
}

static int filter_cursor(sqlite3_vtab_cursor* base, int number, const char* text, int count,
                         sqlite3_value** values) {
  top_cursor* cursor = (top_cursor*)base;
  int status = BLOOMERY_OK;
  (void)text;
  empty_cursor(cursor);
  if (number == 0 || count < 1) return SQLITE_OK;
  status = take_sketch(cursor, values[0]);
  if (status == BLOOMERY_OK && cursor->sketch == NULL) return SQLITE_OK; /* of NULL */
  if (status == BLOOMERY_OK) status = bloomery_top(cursor->sketch, NULL, 0, &cursor->count);
  if (status == BLOOMERY_OK && cursor->count != 0) {
    cursor->rows = sqlite3_malloc64(cursor->count * sizeof *cursor->rows);
    if (cursor->rows == NULL) return SQLITE_NOMEM;
    status = bloomery_top(cursor->sketch, cursor->rows, cursor->count, &cursor->count);
  }
  return status == BLOOMERY_OK ? SQLITE_OK : fail_cursor(cursor, status);
}

static int next_row(sqlite3_vtab_cursor* base) {
  ++((top_cursor*)base)->at;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor* base) {
  const top_cursor* cursor = (top_cursor*)base;
  return cursor->rows == NULL || cursor->at >= cursor->count;
}

static int read_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const top_cursor* cursor = (top_cursor*)base;
  const bloomery_counted_key* row = &cursor->rows[cursor->at];
  if (column == column_key) {
    sqlite3_result_text64(context, row->bytes != 0 ? row->data : "", row->bytes, SQLITE_TRANSIENT,
                          SQLITE_UTF8);
  } else if (column == column_count) {
    sqlite3_result_int64(context, (sqlite3_int64)row->count);
  }
  return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = (sqlite3_int64)((top_cursor*)base)->at;
  return SQLITE_OK;
}

int register_top_table(sqlite3* db, connection_state* state) {
  static const sqlite3_module table = {
      .xConnect = connect_table, /* no xCreate: it is a function, not a table to create */
      .xBestIndex = best_index,
      .xDisconnect = disconnect_table,
      .xOpen = open_cursor,
      .xClose = close_cursor,
      .xFilter = filter_cursor,
      .xNext = next_row,
      .xEof = at_end,
      .xColumn = read_column,
      .xRowid = row_id,
  };
  ++state->references;
  return sqlite3_create_module_v2(db, "bloom_top", &table, state, release_state);
}
