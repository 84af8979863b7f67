/* The C interface in several threads: each has an error text of its own, those that only ask run
 * together, and bloomery_add_concurrent() loses nothing. The thread sanitizer watches it. */
#include <bloomery/bloomery.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == BLOOMERY_OK)

enum { threads = 4, some = 3000, all = threads * some, most_kinds = 64 };

static uint64_t numbers[all];
static uint32_t tested;

static void check(int holds, const char* condition, int line) {
  if (holds) return;
  fprintf(stderr, "concurrency_test.c:%d: %s\nkind %s, last error: %s\n", line, condition,
          bloomery_kind_name(tested) != NULL ? bloomery_kind_name(tested) : "none",
          bloomery_error_message());
  exit(1);
}

typedef struct worker {
  pthread_t thread;
  int number;
  bloomery_filter* filter;
  const bloomery_filter* same; /* another with the same content */
} worker;

static void in_threads(void* (*work)(void*), bloomery_filter* filter, const bloomery_filter* same) {
  worker workers[threads];
  int i = 0;
  for (i = 0; i < threads; ++i) {
    workers[i].number = i;
    workers[i].filter = filter;
    workers[i].same = same;
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  for (i = 0; i < threads; ++i) CHECK(pthread_join(workers[i].thread, NULL) == 0);
}

static bloomery_keys slice_of(int from, int count) {
  const bloomery_keys keys = {numbers + from, NULL, (size_t)count, BLOOMERY_INTEGERS};
  return keys;
}

static bloomery_options options_for(uint32_t kind) {
  bloomery_options o;
  bloomery_options_init(&o);
  o.kind = kind;
  o.keys = all;
  o.form = BLOOMERY_FORM_INTEGERS;
  if (kind == BLOOMERY_TOP_K) o.k = 20;
  return o;
}

/* ---- the text of an error -------------------------------------------------------------------- */

/* Each fails in its own way, again and again, and always finds its own text. */
static void* fail_and_read(void* argument) {
  const worker* const w = argument;
  char path[64];
  int i = 0;
  snprintf(path, sizeof path, "/nowhere/of thread %d", w->number);
  CHECK(strcmp(bloomery_error_message(), "") == 0);
  for (i = 0; i < 300; ++i) {
    bloomery_filter* f = NULL;
    CHECK(bloomery_open(path, 0, &f) == BLOOMERY_IO && f == NULL);
    CHECK(strstr(bloomery_error_message(), path) != NULL);
  }
  return NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask_keys(const bloomery_filter* f, int from) {
  static const int slice = 100;
  uint8_t answers[100];
  uint64_t counts[100];
  const bloomery_keys keys = slice_of(from, slice);
  const uint32_t can = bloomery_abilities(bloomery_kind_of(f));
  int i = 0;
  OK(bloomery_contains_batch(f, &keys, answers));
  for (i = 0; i < slice; ++i) {
    CHECK(answers[i] == 1 || bloomery_kind_of(f) == BLOOMERY_TOP_K);
    CHECK(bloomery_contains_integer(f, numbers[from + i]) == answers[i]);
  }
  if (can & BLOOMERY_CAN_COUNT) OK(bloomery_count(f, &keys, counts));
  if (can & BLOOMERY_CAN_VALUE) {
    OK(bloomery_value(f, &keys, counts, answers));
    for (i = 0; i < slice; ++i) CHECK(answers[i] == 1 && counts[i] == numbers[from + i] % 100);
  }
}

static void ask_all(const bloomery_filter* f, const bloomery_filter* same) {
  bloomery_filter_info info;
  bloomery_buffer bytes;
  bloomery_estimate estimate;
  bloomery_filter* copy = NULL;
  const bloomery_keys one = slice_of(0, 1);
  info.struct_bytes = sizeof info;
  OK(bloomery_info(f, &info));
  CHECK(info.keys == all && bloomery_keys_added(f) == all);
  OK(bloomery_info_json(f, &bytes));
  bloomery_buffer_free(&bytes);
  OK(bloomery_explain_json(f, &one, &bytes));
  bloomery_buffer_free(&bytes);
  if (bloomery_estimate_keys(f, &estimate) == BLOOMERY_OK) CHECK(estimate.value > 0);
  if (bloomery_abilities(bloomery_kind_of(f)) & BLOOMERY_CAN_LIST) return;
  OK(bloomery_to_bytes(f, &bytes));
  OK(bloomery_from_bytes(bytes.data, bytes.bytes, &copy));
  CHECK(bloomery_equal(copy, f) == 1 && bloomery_equal(f, same) == 1);
  bloomery_free(copy);
  bloomery_buffer_free(&bytes);
  OK(bloomery_clone(f, &copy));
  CHECK(bloomery_equal(f, copy) == 1);
  bloomery_free(copy);
  OK(bloomery_pack(f, &bytes));
  bloomery_buffer_free(&bytes);
  OK(bloomery_diff(f, same, &bytes));
  bloomery_buffer_free(&bytes);
  if (bloomery_covers(f, same) >= 0) CHECK(bloomery_covers(f, same) == 1);
  if (bloomery_fold(f, 1, &copy) == BLOOMERY_OK) bloomery_free(copy);
}

static void* ask(void* argument) {
  const worker* const w = argument;
  int from = 0;
  for (from = 0; from < all; from += 100) ask_keys(w->filter, (from + w->number * some) % all);
  ask_all(w->filter, w->same);
  return NULL;
}

static void test_readers(uint32_t kind) {
  const bloomery_options o = options_for(kind);
  const bloomery_keys keys = slice_of(0, all);
  uint64_t values[all];
  bloomery_filter* f = NULL;
  bloomery_filter* same = NULL;
  bloomery_filter* mapped = NULL;
  int i = 0;
  for (i = 0; i < all; ++i) values[i] = numbers[i] % 100;
  OK(bloomery_build(&o, &keys, kind == BLOOMERY_BLOOMIER ? values : NULL, 1, &f));
  OK(bloomery_clone(f, &same));
  in_threads(ask, f, same);
  OK(bloomery_save(f, "concurrency_test.bloom"));
  OK(bloomery_open("concurrency_test.bloom", 0, &mapped));
  in_threads(ask, mapped, same);
  bloomery_free(mapped);
  remove("concurrency_test.bloom");
  bloomery_free(same);
  bloomery_free(f);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void* add_slice(void* argument) {
  const worker* const w = argument;
  int from = w->number * some;
  for (; from < (w->number + 1) * some; from += 500) {
    const bloomery_keys keys = slice_of(from, 500);
    OK(bloomery_add_concurrent(w->filter, &keys));
  }
  return NULL;
}

static void test_adding(uint32_t kind) {
  const bloomery_options o = options_for(kind);
  const bloomery_keys keys = slice_of(0, all);
  uint8_t answers[all];
  bloomery_filter* f = NULL;
  bloomery_filter* alone = NULL;
  int i = 0;
  OK(bloomery_new(&o, &f));
  in_threads(add_slice, f, NULL);
  CHECK(bloomery_keys_added(f) == all);
  OK(bloomery_contains_batch(f, &keys, answers));
  for (i = 0; i < all; ++i) CHECK(answers[i] == 1);
  OK(bloomery_new(&o, &alone));
  OK(bloomery_add_batch(alone, &keys));
  /* An array of bits does not know an order. */
  if (kind == BLOOMERY_BLOCKED || kind == BLOOMERY_CLASSIC || kind == BLOOMERY_PARTITIONED) {
    CHECK(bloomery_equal(f, alone) == 1);
  }
  bloomery_free(alone);
  bloomery_free(f);
}

int main(void) {
  int i = 0;
  int adding = 0;
  for (i = 0; i < all; ++i) numbers[i] = (uint64_t)i * 7919;
  in_threads(fail_and_read, NULL, NULL);
  CHECK(strcmp(bloomery_error_message(), "") == 0); /* the others' errors are not this thread's */
  for (tested = 1; tested < most_kinds; ++tested) {
    if (bloomery_kind_name(tested) == NULL) continue;
    test_readers(tested);
    if ((bloomery_abilities(tested) & BLOOMERY_CAN_ADD_CONCURRENT) == 0) continue;
    test_adding(tested);
    ++adding;
  }
  CHECK(adding >= 3);
  puts("the C interface in threads: all tests passed");
  return 0;
}
