/* Every allocation of a call fails once: the call says so, nothing is lost, and the process lives.
 * The allocator is replaced in this program, which the library then uses, too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bloomery/bloomery.h"

extern void* __libc_malloc(size_t size);

static long until_failure = -1; /* -1: never */

void* malloc(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}

#define REQUIRE(condition)                                                                        \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      until_failure = -1;                                                                         \
      fprintf(stderr, "%s:%d: %s, kind %s, allocation %ld: %s\n", __FILE__, __LINE__, #condition, \
              bloomery_kind_name(kind), at, bloomery_error_message());                            \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

enum { keys_added = 10 };
static const uint64_t numbers[keys_added] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const bloomery_keys number_keys = {numbers, NULL, keys_added, BLOOMERY_INTEGERS};
static const bloomery_string words[1] = {{"x", 1}};
static const bloomery_keys one_number = {numbers, NULL, 1, BLOOMERY_INTEGERS};
static const bloomery_keys word_keys = {words, NULL, 1, BLOOMERY_STRINGS};

static int is_static(unsigned kind) {
  return kind == BLOOMERY_FUSE || kind == BLOOMERY_RIBBON || kind == BLOOMERY_BLOOMIER;
}

static bloomery_filter* make(unsigned kind) {
  const long at = -1;
  bloomery_options options;
  bloomery_filter* filter = NULL;
  bloomery_options_init(&options);
  options.kind = kind;
  options.keys = 100;
  if (is_static(kind)) {
    REQUIRE(bloomery_build(&options, &number_keys, kind == BLOOMERY_BLOOMIER ? numbers : NULL, 1,
                           &filter) == BLOOMERY_OK);
  } else {
    REQUIRE(bloomery_new(&options, &filter) == BLOOMERY_OK);
    REQUIRE(bloomery_add_batch(filter, &word_keys) == BLOOMERY_OK);
    if (kind != BLOOMERY_TOP_K) {
      REQUIRE(bloomery_add_batch(filter, &number_keys) == BLOOMERY_OK);
    }
  }
  return filter;
}

/* Both of its hash functions are there, and so are its keys. */
static void require_keys(unsigned kind, const bloomery_filter* filter, long at) {
  REQUIRE(bloomery_contains(filter, "x", 1) == 1);
  if (kind != BLOOMERY_TOP_K) REQUIRE(bloomery_contains_integer(filter, 7) == 1);
}

static void explain(unsigned kind) {
  bloomery_filter* const filter = make(kind);
  const bloomery_keys* const asked = is_static(kind) ? &one_number : &word_keys;
  bloomery_buffer text;
  int status = BLOOMERY_NO_MEMORY;
  long at = 0;
  for (; status != BLOOMERY_OK; ++at) {
    until_failure = at;
    status = bloomery_explain_json(filter, asked, &text);
    until_failure = -1;
    REQUIRE(status == BLOOMERY_OK || status == BLOOMERY_NO_MEMORY);
  }
  bloomery_buffer_free(&text);
  bloomery_free(filter);
}

static void merge_and_clear(unsigned kind) {
  long at = 0;
  int failed = 1;
  for (; failed; ++at) {
    bloomery_filter* const filter = make(kind);
    bloomery_filter* const other = make(kind);
    until_failure = at;
    const int merged = bloomery_merge(filter, other);
    failed = until_failure < 0;
    until_failure = -1;
    require_keys(kind, filter, at);
    REQUIRE(merged == BLOOMERY_OK || merged == BLOOMERY_NO_MEMORY ||
            merged == BLOOMERY_UNSUPPORTED);
    until_failure = at;
    const int cleared = bloomery_clear(filter);
    failed |= until_failure < 0;
    until_failure = -1;
    REQUIRE(cleared == BLOOMERY_OK || cleared == BLOOMERY_NO_MEMORY);
    REQUIRE(bloomery_add(filter, "x", 1) >= 0);
    if (kind != BLOOMERY_TOP_K) REQUIRE(bloomery_add_integer(filter, 7) >= 0);
    require_keys(kind, filter, at);
    bloomery_free(filter);
    bloomery_free(other);
  }
}

int main(void) {
  for (unsigned kind = 1; bloomery_kind_name(kind) != NULL; ++kind) {
    explain(kind);
    if (!is_static(kind)) merge_and_clear(kind);
  }
  return 0;
}
