/* Every allocation of a call fails once: the call says so, nothing is lost, and the process lives.
 * The allocator is replaced in this program, which the library then uses, too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bloomery/bloomery.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static long until_failure = -1; /* -1: never */

static int fails_now(void) {
  if (until_failure < 0 || until_failure-- != 0) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) { return fails_now() ? NULL : __libc_malloc(size); }

/* What arrays of bits are from. */
void* aligned_alloc(size_t alignment, size_t size) {
  return fails_now() ? NULL : __libc_memalign(alignment, size);
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
  if (!is_static(kind)) REQUIRE(bloomery_contains(filter, "x", 1) == 1);
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

/* ---- calls that make another filter, bytes or a file ----------------------------------------- */

static const char path[] = "memory_test.bloom";

/* What a call may need. `packed` and `delta` are bytes of the filter, `made` is what comes out. */
typedef struct scene {
  bloomery_filter* filter;
  bloomery_filter* other;
  bloomery_buffer plain;
  bloomery_buffer packed;
  bloomery_buffer delta;
  bloomery_filter* made;
  bloomery_buffer bytes;
} scene;

typedef int (*scene_call)(scene*);
static int call_save(scene* s) { return bloomery_save(s->filter, path); }
static int call_open(scene* s) { return bloomery_open(path, 1, &s->made); }
static int call_load(scene* s) { return bloomery_load(path, &s->made); }
static int call_to_bytes(scene* s) { return bloomery_to_bytes(s->filter, &s->bytes); }
static int call_from_plain(scene* s) {
  return bloomery_from_bytes(s->plain.data, s->plain.bytes, &s->made);
}
static int call_from_packed(scene* s) {
  return bloomery_from_bytes(s->packed.data, s->packed.bytes, &s->made);
}
static int call_pack(scene* s) { return bloomery_pack(s->filter, &s->bytes); }
static int call_unpack(scene* s) {
  return bloomery_unpack(s->packed.data, s->packed.bytes, &s->bytes);
}
static int call_diff(scene* s) { return bloomery_diff(s->filter, s->other, &s->bytes); }
static int call_patch(scene* s) {
  return bloomery_patch(s->filter, s->delta.data, s->delta.bytes, &s->made);
}
static int call_clone(scene* s) { return bloomery_clone(s->filter, &s->made); }
static int call_fold(scene* s) { return bloomery_fold(s->filter, 1, &s->made); }
static int call_intersect(scene* s) { return bloomery_intersect(s->filter, s->other, &s->made); }
static int call_info(scene* s) { return bloomery_info_json(s->filter, &s->bytes); }

static const struct {
  const char* name;
  scene_call call;
} calls[] = {{"save", call_save},
             {"open", call_open},
             {"load", call_load},
             {"to_bytes", call_to_bytes},
             {"from_bytes", call_from_plain},
             {"from_bytes of packed", call_from_packed},
             {"pack", call_pack},
             {"unpack", call_unpack},
             {"diff", call_diff},
             {"patch", call_patch},
             {"clone", call_clone},
             {"fold", call_fold},
             {"intersect", call_intersect},
             {"info_json", call_info}};

/* After a failure nothing is made, and all is as it was; what is made in the end has the keys. */
static void fail_in_turn(unsigned kind, scene* s, size_t which) {
  long at = 0;
  int status = BLOOMERY_NO_MEMORY;
  int failed = 1;
  for (; failed; ++at) {
    s->made = NULL;
    s->bytes.data = NULL;
    s->bytes.owner = NULL;
    until_failure = at;
    status = calls[which].call(s);
    failed = until_failure < 0;
    until_failure = -1;
    if (status != BLOOMERY_OK && status != BLOOMERY_NO_MEMORY && status != BLOOMERY_UNSUPPORTED) {
      fprintf(stderr, "%s: ", calls[which].name);
      REQUIRE(!"the status");
    }
    if (status != BLOOMERY_OK) REQUIRE(s->made == NULL && s->bytes.data == NULL);
    if (s->made != NULL) require_keys(kind, s->made, at);
    require_keys(kind, s->filter, at);
    bloomery_free(s->made);
    bloomery_buffer_free(&s->bytes);
  }
  REQUIRE(status != BLOOMERY_NO_MEMORY);
}

static void make_and_write(unsigned kind) {
  const long at = -1;
  size_t which = 0;
  scene s;
  s.filter = make(kind);
  s.other = make(kind);
  REQUIRE(bloomery_to_bytes(s.filter, &s.plain) == BLOOMERY_OK);
  REQUIRE(bloomery_pack(s.filter, &s.packed) == BLOOMERY_OK);
  REQUIRE(bloomery_diff(s.filter, s.other, &s.delta) == BLOOMERY_OK);
  for (which = 0; which < sizeof calls / sizeof *calls; ++which) fail_in_turn(kind, &s, which);
  bloomery_buffer_free(&s.plain);
  bloomery_buffer_free(&s.packed);
  bloomery_buffer_free(&s.delta);
  bloomery_free(s.filter);
  bloomery_free(s.other);
  remove(path);
}

int main(void) {
  for (unsigned kind = 1; bloomery_kind_name(kind) != NULL; ++kind) {
    explain(kind);
    make_and_write(kind);
    if (!is_static(kind)) merge_and_clear(kind);
  }
  return 0;
}
