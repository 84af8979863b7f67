/* SQLite's extension: what values are, and the entry points. docs/sql.md has the functions. */
#include "module.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

/* ---- results --------------------------------------------------------------------------------- */

void result_failure(sqlite3_context* context, int status) {
  if (status == BLOOMERY_NO_MEMORY) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_error(context, bloomsql_message(status), -1);
  }
}

void result_bytes(sqlite3_context* context, bloomery_buffer* bytes, int as_text) {
  if (as_text) {
    sqlite3_result_text64(context, bytes->data, bytes->bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_blob64(context, bytes->data, bytes->bytes, SQLITE_TRANSIENT);
  }
  bloomery_buffer_free(bytes);
}

void result_filter(sqlite3_context* context, bloomery_filter* filter) {
  bloomery_buffer bytes = {NULL, 0, NULL};
  const int status = bloomery_to_bytes(filter, &bytes);
  bloomery_free(filter);
  if (status != BLOOMERY_OK) {
    result_failure(context, status);
  } else {
    result_bytes(context, &bytes, 0);
  }
}

/* ---- filters --------------------------------------------------------------------------------- */

const bloomery_filter* filter_of(sqlite3_context* context, connection_state* state,
                                 sqlite3_value* value) {
  const void* data = NULL;
  bloomsql_name name = {NULL, BLOOMSQL_HEADER_BYTES, 0};
  const bloomery_filter* found = NULL;
  bloomery_filter* opened = NULL;
  int status = BLOOMERY_OK;
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return sqlite3_value_pointer(value, FILTER_POINTER);
  if (type != SQLITE_BLOB) {
    sqlite3_result_error(context, "a filter is a BLOB, or bloom_file(path)", -1);
    return NULL;
  }
  data = sqlite3_value_blob(value);
  name.image_bytes = (size_t)sqlite3_value_bytes(value);
  if (name.image_bytes < name.bytes) name.bytes = name.image_bytes;
  name.data = data != NULL ? data : "";
  found = bloomsql_find(&state->recent, &name);
  if (found != NULL) return found;
  status = bloomery_from_bytes(name.data, name.image_bytes, &opened);
  if (status == BLOOMERY_OK) return bloomsql_keep(&state->recent, &name, opened);
  result_failure(context, status);
  return NULL;
}

bloomery_filter* copy_of(sqlite3_context* context, connection_state* state, sqlite3_value* value) {
  const bloomery_filter* filter = filter_of(context, state, value);
  bloomery_filter* copy = NULL;
  int status = BLOOMERY_OK;
  if (filter == NULL) return NULL;
  status = bloomery_clone(filter, &copy);
  if (status != BLOOMERY_OK) result_failure(context, status);
  return copy;
}

int key_of(sqlite3_context* context, sqlite3_value* value, bloomery_keys* out, uint64_t* integer,
           bloomery_string* string) {
  const int type = sqlite3_value_type(value);
  memset(out, 0, sizeof *out);
  out->count = 1;
  if (type == SQLITE_INTEGER) {
    *integer = (uint64_t)sqlite3_value_int64(value);
    out->data = integer;
    out->layout = BLOOMERY_INTEGERS;
    return 1;
  }
  if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
    string->data =
        type == SQLITE_TEXT ? (const void*)sqlite3_value_text(value) : sqlite3_value_blob(value);
    string->bytes = (size_t)sqlite3_value_bytes(value);
    if (string->data == NULL && string->bytes != 0) {
      sqlite3_result_error_nomem(context);
      return 0;
    }
    out->data = string;
    out->layout = BLOOMERY_STRINGS;
    return 1;
  }
  if (type == SQLITE_FLOAT) {
    sqlite3_result_error(context, "a REAL is no key: cast it to INTEGER or TEXT", -1);
  }
  return 0;
}

/* ---- entry points ---------------------------------------------------------------------------- */

void release_state(void* pointer) {
  connection_state* state = pointer;
  if (--state->references > 0) return;
  while (state->files != NULL) {
    mapped_file* file = state->files;
    state->files = file->next;
    bloomery_free(file->filter);
    sqlite3_free(file);
  }
  bloomsql_forget(&state->recent);
  sqlite3_free(state);
}

static int load(sqlite3* db) {
  connection_state* state = sqlite3_malloc(sizeof *state);
  int status = SQLITE_OK;
  if (state == NULL) return SQLITE_NOMEM;
  memset(state, 0, sizeof *state);
  state->references = 1; /* ours, until all is registered */
  status = register_functions(db, state);
  if (status == SQLITE_OK) status = register_aggregates(db, state);
  if (status == SQLITE_OK) status = register_top_table(db, state);
  release_state(state);
  return status;
}

/* SQLite looks for the first name, then for one made from the name of the file. */
int sqlite3_extension_init(sqlite3* db, char** message, const sqlite3_api_routines* api);
int sqlite3_bloomerysqlite_init(sqlite3* db, char** message, const sqlite3_api_routines* api);
int sqlite3_bloomery_init(sqlite3* db, char** message, const sqlite3_api_routines* api);

int sqlite3_bloomery_init(sqlite3* db, char** message, const sqlite3_api_routines* api) {
  (void)message;
  SQLITE_EXTENSION_INIT2(api);
  return load(db);
}
int sqlite3_bloomerysqlite_init(sqlite3* db, char** message, const sqlite3_api_routines* api) {
  return sqlite3_bloomery_init(db, message, api);
}
int sqlite3_extension_init(sqlite3* db, char** message, const sqlite3_api_routines* api) {
  return sqlite3_bloomery_init(db, message, api);
}
