/* The keys that an aggregate collects: long work stops where a query is cancelled, and what is left
 * can be given back. The databases call the rest. */
#include "sql/builder.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == BLOOMERY_OK)

enum { keys = 200000, slices = 4, few = 1000 };

static int ticks;
static int most_ticks;
static jmp_buf cancelled;

static void check(int holds, const char* condition, int line) {
  if (holds) return;
  fprintf(stderr, "builder_test.c:%d: %s\n%d ticks, last error: %s\n", line, condition, ticks,
          bloomery_error_message());
  exit(1);
}

static void count_tick(void) { ++ticks; }

/* As CHECK_FOR_INTERRUPTS does in PostgreSQL. */
static void cancel_tick(void) {
  if (++ticks == most_ticks) longjmp(cancelled, 1);
}

/* Keys of which so many are different wait for their number. */
static void fill(bloomsql_builder* b, int different, int as_text) {
  int i = 0;
  bloomsql_start_growing(b, as_text ? BLOOMERY_FORM_TEXT : BLOOMERY_FORM_INTEGERS);
  for (i = 0; i < keys; ++i) {
    char text[16];
    const int bytes = snprintf(text, sizeof text, "%d", i % different);
    OK(as_text ? bloomsql_add_string(b, text, (size_t)bytes)
               : bloomsql_add_integer(b, (uint64_t)(i % different)));
  }
}

static void test_long_work_ticks(int as_text) {
  bloomsql_builder b = {0};
  ticks = 0;
  fill(&b, keys, as_text);
  b.tick = count_tick;
  OK(bloomsql_finish(&b));
  CHECK(ticks == slices);
  bloomsql_clear(&b);
  /* The filter for all of them is too large for the different ones, so a second one is made. */
  ticks = 0;
  fill(&b, few, as_text);
  b.tick = count_tick;
  OK(bloomsql_finish(&b));
  CHECK(ticks == 2 * slices);
  bloomsql_clear(&b);
}

/* What waits in one builder and is added to what waits in another. */
static void test_merging_ticks(int as_text) {
  bloomsql_builder a = {0};
  bloomsql_builder b = {0};
  ticks = 0;
  fill(&a, keys, as_text);
  fill(&b, keys, as_text);
  a.tick = count_tick;
  OK(bloomsql_merge(&a, &b));
  CHECK(ticks >= slices);
  CHECK(a.integer_count + a.string_count == 2 * keys);
  bloomsql_clear(&a);
  bloomsql_clear(&b);
}

static void test_cancelled_merging(int as_text) {
  static bloomsql_builder a;
  static bloomsql_builder b;
  ticks = 0;
  most_ticks = 2;
  fill(&a, few, as_text);
  fill(&b, few, as_text);
  a.tick = cancel_tick;
  if (setjmp(cancelled) == 0) {
    bloomsql_merge(&a, &b);
    CHECK(!"cancelled");
  }
  CHECK(ticks == most_ticks);
  bloomsql_clear(&a);
  bloomsql_clear(&b);
}

/* In the first filter and in the second one. */
static void test_cancelled_work_is_given_back(void) {
  static bloomsql_builder b;
  for (most_ticks = 1; most_ticks <= 2 * slices; ++most_ticks) {
    ticks = 0;
    fill(&b, few, 0);
    b.tick = cancel_tick;
    if (setjmp(cancelled) == 0) {
      bloomsql_finish(&b);
      CHECK(!"cancelled");
    }
    CHECK(ticks == most_ticks);
    bloomsql_clear(&b);
    CHECK(b.filter == NULL && b.integers == NULL && b.integer_count == 0);
  }
}

/* ---- more keys than may wait ----------------------------------------------------------------- */

/* A largest filter of 121 kB, which takes some 97,000 keys, and 512 integers that may wait. */
enum { small_waiting = 4096, small_filter = 64 * 1890 };

static void start_small(bloomsql_builder* b, int as_text) {
  memset(b, 0, sizeof *b);
  bloomsql_start_growing(b, as_text ? BLOOMERY_FORM_TEXT : BLOOMERY_FORM_INTEGERS);
  b->most_waiting = small_waiting;
  b->largest_filter = small_filter;
}

static int add_key(bloomsql_builder* b, int key, int as_text) {
  char text[16];
  if (!as_text) return bloomsql_add_integer(b, (uint64_t)key);
  return bloomsql_add_string(b, text, (size_t)snprintf(text, sizeof text, "%d", key));
}

static void add_keys(bloomsql_builder* b, int from, int to, int as_text) {
  int key = 0;
  for (key = from; key < to; ++key) OK(add_key(b, key, as_text));
}

/* All keys are in it, at the rate that was promised, and in at most about twice what they need: the
 * small filter has few divisors. */
static void check_filter(const bloomsql_builder* b, int different, int as_text) {
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  int key = 0;
  int wrong = 0;
  const double bytes_needed = 1.25 * different;
  OK(bloomery_info(b->filter, &info));
  CHECK(info.fpr_now <= 0.01);
  CHECK(info.kind == BLOOMERY_BLOCKED && info.keys_planned >= (uint64_t)different);
  CHECK((double)info.bits / 8 <= small_filter);
  CHECK((double)info.bits / 8 < 2.1 * bytes_needed + 128);
  for (key = 0; key < 2 * different; ++key) {
    char text[16];
    const int bytes = snprintf(text, sizeof text, "%d", key);
    const int found = as_text ? bloomery_contains(b->filter, text, (size_t)bytes)
                              : bloomery_contains_integer(b->filter, (uint64_t)key);
    if (key < different) CHECK(found == 1);
    wrong += key >= different && found == 1;
  }
  /* Four standard errors around the rate. */
  CHECK(wrong <= 0.01 * different + 4 * 0.1 * different / 300 + 4);
}

static void check_same(const bloomsql_builder* a, const bloomsql_builder* b) {
  bloomery_buffer bytes_a;
  bloomery_buffer bytes_b;
  OK(bloomery_to_bytes(a->filter, &bytes_a));
  OK(bloomery_to_bytes(b->filter, &bytes_b));
  CHECK(bytes_a.bytes == bytes_b.bytes);
  CHECK(memcmp(bytes_a.data, bytes_b.data, bytes_a.bytes) == 0);
  bloomery_buffer_free(&bytes_a);
  bloomery_buffer_free(&bytes_b);
}

/* One builder, and three that are merged in any order: as workers have them, some with keys that
 * wait and some with the largest filter. */
static void test_bytes_do_not_depend_on_builders(int different, int times, int as_text) {
  static const int orders[3][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
  const int cuts[4] = {0, different / 100, different / 3, different};
  bloomsql_builder alone;
  int i = 0;
  int part = 0;
  start_small(&alone, as_text);
  for (i = 0; i < times; ++i) add_keys(&alone, 0, different, as_text);
  OK(bloomsql_finish(&alone));
  check_filter(&alone, different, as_text);
  for (i = 0; i < 3; ++i) {
    bloomsql_builder parts[3];
    for (part = 0; part < 3; ++part) {
      const int number = orders[i][part];
      int again = 0;
      start_small(&parts[part], as_text);
      for (again = 0; again < times; ++again) {
        add_keys(&parts[part], cuts[number], cuts[number + 1], as_text);
      }
    }
    OK(bloomsql_merge(&parts[1], &parts[2]));
    OK(bloomsql_merge(&parts[0], &parts[1]));
    OK(bloomsql_finish(&parts[0]));
    check_same(&alone, &parts[0]);
    for (part = 0; part < 3; ++part) bloomsql_clear(&parts[part]);
  }
  bloomsql_clear(&alone);
}

/* The keys that may wait, and one more: the limit is the sum of all. */
static void test_the_limit_of_waiting(void) {
  bloomsql_builder b;
  bloomsql_builder other;
  const int most = small_waiting / (int)sizeof(uint64_t);
  start_small(&b, 0);
  add_keys(&b, 0, most, 0);
  CHECK(b.filter == NULL);
  start_small(&other, 0);
  OK(bloomsql_merge(&b, &other));
  CHECK(b.filter == NULL);
  OK(add_key(&b, most, 0));
  CHECK(b.filter != NULL && b.folds);
  /* Its own filter, larger than all that it waited for, is kept by the one that it is added to. */
  start_small(&other, 0);
  OK(bloomsql_merge(&other, &b));
  CHECK(other.folds);
  OK(bloomsql_finish(&other));
  check_filter(&other, most + 1, 0);
  bloomsql_clear(&b);
  bloomsql_clear(&other);
  /* A string that may not wait alone. */
  start_small(&b, 1);
  {
    char text[small_waiting];
    memset(text, 'x', sizeof text);
    OK(bloomsql_add_string(&b, text, sizeof text));
    CHECK(b.filter != NULL);
    OK(bloomsql_finish(&b));
    CHECK(bloomery_contains(b.filter, text, sizeof text) == 1);
  }
  bloomsql_clear(&b);
}

/* Told before all rows have come. */
static void test_too_many_keys(int as_text) {
  bloomsql_builder b;
  int key = 0;
  int status = BLOOMERY_OK;
  start_small(&b, as_text);
  while (status == BLOOMERY_OK && key < 1000000) status = add_key(&b, key++, as_text);
  CHECK(status == BLOOMSQL_TOO_MANY);
  CHECK(key > 90000 && key < 250000);
  CHECK(strstr(bloomsql_message(status), "bloom_agg(key, keys, fpr)") != NULL);
  bloomsql_clear(&b);
  /* And at the end, since nobody looks between twice as many rows and four times as many. */
  start_small(&b, as_text);
  for (key = 0; key < 5; ++key) add_keys(&b, 0, 20000, as_text);
  add_keys(&b, 20000, 105000, as_text);
  CHECK(bloomsql_finish(&b) == BLOOMSQL_TOO_MANY);
  bloomsql_clear(&b);
}

/* The filter of the real size: a value can hold it, it can be planned, and what it is folded to is
 * at most a third larger than what is needed, below a quarter of it. */
static void test_the_largest_filter(void) {
  bloomery_options options;
  bloomery_plan_row rows[32];
  size_t count = 0;
  size_t i = 0;
  uint64_t divisor = 0;
  uint64_t last = 0;
  const uint64_t blocks = BLOOMSQL_LARGEST_FILTER / 64;
  bloomery_options_init(&options);
  options.keys = 790000000;
  options.bytes = BLOOMSQL_LARGEST_FILTER;
  options.probes = 6;
  OK(bloomery_plan(&options, rows, 32, &count));
  while (i < count && rows[i].kind != BLOOMERY_BLOCKED) ++i;
  CHECK(i < count && rows[i].bytes == BLOOMSQL_LARGEST_FILTER);
  CHECK(rows[i].fpr < 0.01);
  CHECK(BLOOMSQL_LARGEST_FILTER + (BLOOMSQL_LARGEST_FILTER >> 17) + 512 < 1000000000);
  for (divisor = 4; divisor < blocks / 1000; ++divisor) {
    if (blocks % divisor != 0) continue;
    CHECK(last == 0 || divisor * 3 <= last * 4);
    last = divisor;
  }
}

int main(void) {
  int as_text = 0;
  test_long_work_ticks(0);
  test_long_work_ticks(1);
  test_merging_ticks(0);
  test_merging_ticks(1);
  test_cancelled_merging(0);
  test_cancelled_merging(1);
  test_cancelled_work_is_given_back();
  test_the_limit_of_waiting();
  for (as_text = 0; as_text < 2; ++as_text) {
    test_bytes_do_not_depend_on_builders(3, 500, as_text);
    test_bytes_do_not_depend_on_builders(2000, 3, as_text);
    test_bytes_do_not_depend_on_builders(30000, 1, as_text);
    test_bytes_do_not_depend_on_builders(90000, 1, as_text);
    test_too_many_keys(as_text);
  }
  test_the_largest_filter();
  puts("the builder of aggregates: all tests passed");
  return 0;
}
