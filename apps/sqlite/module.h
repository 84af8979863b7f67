/* What the parts of SQLite's extension share. */
#ifndef BLOOMERY_APPS_SQLITE_MODULE_H
#define BLOOMERY_APPS_SQLITE_MODULE_H

#include <sqlite3ext.h>

#include "sql/builder.h"
#include "sql/recent.h"

/* A file that bloom_file() has mapped. */
typedef struct mapped_file {
  struct mapped_file* next;
  bloomery_filter* filter;
  char path[]; /* ends with a zero */
} mapped_file;

/* What a connection keeps. Every function of it holds a reference. */
typedef struct connection_state {
  int references;
  unsigned misses; /* of constant_filter() */
  bloomsql_recent recent;
  mapped_file* files;
} connection_state;

/* What SQLite keeps with a call whose filter is a constant of the statement, as a parameter is. */
typedef struct constant_filter {
  const bloomery_filter* filter;
  const bloomsql_recent* recent; /* where it is */
  uint64_t kept;                 /* of that, when it was found */
} constant_filter;

/* The type of the pointers that bloom_file() and bloom_open() return. */
#define FILTER_POINTER "bloom"

/* The error of a call, as the result of the function. */
void result_failure(sqlite3_context* context, int status);
/* The filter as a blob; it is freed then. */
void result_filter(sqlite3_context* context, bloomery_filter* filter);
/* The bytes as a blob or as text; they are given back then. */
void result_bytes(sqlite3_context* context, bloomery_buffer* bytes, int as_text);

/* The filter in a blob, or behind bloom_file(). NULL: the value is NULL, or the function has
 * failed, and its result is there. It stays until some other filters were asked for. */
const bloomery_filter* filter_of(sqlite3_context* context, connection_state* state,
                                 sqlite3_value* value);
/* A copy that can be changed; likewise. */
bloomery_filter* copy_of(sqlite3_context* context, connection_state* state, sqlite3_value* value);

/* A key: an INTEGER is an integer, TEXT and BLOB are their bytes. Keys of other types fail. */
int key_of(sqlite3_context* context, sqlite3_value* value, bloomery_keys* out, uint64_t* integer,
           bloomery_string* string);

int register_functions(sqlite3* db, connection_state* state);
int register_aggregates(sqlite3* db, connection_state* state);
int register_top_table(sqlite3* db, connection_state* state);

/* For the parts: registers a function that holds a reference to the state. */
void release_state(void* state);

#endif
