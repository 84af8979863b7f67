/* The keys that an aggregate collects: long work stops where a query is cancelled, and what is left
 * can be given back. The databases call the rest. */
#include "sql/builder.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

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
  CHECK(ticks == 0);
  OK(bloomsql_finish(&b, count_tick));
  CHECK(ticks == slices);
  bloomsql_clear(&b);
  /* The filter for all of them is too large for the different ones, so a second one is made. */
  ticks = 0;
  fill(&b, few, as_text);
  OK(bloomsql_finish(&b, count_tick));
  CHECK(ticks == 2 * slices);
  bloomsql_clear(&b);
}

/* In the first filter and in the second one. */
static void test_cancelled_work_is_given_back(void) {
  static bloomsql_builder b;
  for (most_ticks = 1; most_ticks <= 2 * slices; ++most_ticks) {
    ticks = 0;
    fill(&b, few, 0);
    if (setjmp(cancelled) == 0) {
      bloomsql_finish(&b, cancel_tick);
      CHECK(!"cancelled");
    }
    CHECK(ticks == most_ticks);
    bloomsql_clear(&b);
    CHECK(b.filter == NULL && b.integers == NULL && b.integer_count == 0);
  }
}

int main(void) {
  test_long_work_ticks(0);
  test_long_work_ticks(1);
  test_cancelled_work_is_given_back();
  puts("the builder of aggregates: all tests passed");
  return 0;
}
