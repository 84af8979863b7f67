/* A mapped filter whose file somebody overwrites where it lies: its answers may be wrong then, but
 * nothing may crash, hang or take memory without a bound. The address sanitizer watches it. */
#include <bloomery/bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == BLOOMERY_OK)

enum { many = 3000, most_kinds = 64 };

static const char path[] = "mapped_test.bloom";
static const char other_path[] = "mapped_test_copy.bloom";
static uint64_t numbers[many];
static uint32_t tested;
static uint64_t chance_state = 1;

static void check(int holds, const char* condition, int line) {
  if (holds) return;
  fprintf(stderr, "mapped_test.c:%d: %s\nkind %s, last error: %s\n", line, condition,
          bloomery_kind_name(tested) != NULL ? bloomery_kind_name(tested) : "none",
          bloomery_error_message());
  exit(1);
}

static uint64_t chance(void) {
  chance_state = chance_state * 6364136223846793005U + 1442695040888963407U;
  return chance_state >> 11;
}

/* A filter of integers, or of strings. */
static bloomery_filter* filled(uint32_t kind, int of_strings) {
  static char text[many * 8];
  static bloomery_string strings[many];
  const bloomery_keys integers = {numbers, NULL, many, BLOOMERY_INTEGERS};
  const bloomery_keys words = {strings, NULL, many, BLOOMERY_STRINGS};
  bloomery_filter* f = NULL;
  bloomery_options o;
  int i = 0;
  bloomery_options_init(&o);
  o.kind = kind;
  o.keys = many;
  o.form = of_strings ? BLOOMERY_FORM_TEXT : BLOOMERY_FORM_INTEGERS;
  if (kind == BLOOMERY_TOP_K) o.k = 50;
  if (kind == BLOOMERY_SCALABLE || kind == BLOOMERY_LAYERED) o.keys = 100; /* grows several times */
  for (i = 0; i < many; ++i) {
    char* const at = text + i * 8;
    strings[i].data = at;
    strings[i].bytes = (size_t)snprintf(at, 8, "k%d", i);
  }
  OK(bloomery_build(&o, of_strings ? &words : &integers, kind == BLOOMERY_BLOOMIER ? numbers : NULL,
                    1, &f));
  return f;
}

/* A pointer to what was made: C may read an argument before the call beside it makes anything. */
static void done(int status, bloomery_filter** made) {
  CHECK(status <= 1);
  if (made == NULL) return;
  bloomery_free(*made);
  *made = NULL;
}
static void done_bytes(int status, bloomery_buffer* made) {
  CHECK(status <= 0);
  if (status == BLOOMERY_OK) {
    size_t i = 0;
    unsigned sum = 0;
    for (i = 0; i < made->bytes; ++i) sum += ((const unsigned char*)made->data)[i];
    CHECK(sum + 1 != 0);
  }
  bloomery_buffer_free(made);
}

static void ask_keys(const bloomery_filter* f, int of_strings) {
  uint8_t answers[many];
  uint64_t counts[many];
  const bloomery_keys integers = {numbers, NULL, many, BLOOMERY_INTEGERS};
  const bloomery_string word = {"k77", 3};
  const bloomery_keys words = {&word, NULL, 1, BLOOMERY_STRINGS};
  const bloomery_keys* const keys = of_strings ? &words : &integers;
  bloomery_buffer bytes = {NULL, 0, NULL};
  CHECK(bloomery_contains(f, "k77", 3) <= 1);
  CHECK(bloomery_contains_integer(f, 77) <= 1);
  CHECK(bloomery_contains_batch(f, keys, answers) <= 0);
  CHECK(bloomery_count(f, keys, counts) <= 0);
  CHECK(bloomery_value(f, keys, counts, answers) <= 0);
  done_bytes(bloomery_explain_json(f, keys, &bytes), &bytes);
}

static void ask_top(const bloomery_filter* f) {
  bloomery_counted_key rows[200];
  size_t count = 0;
  size_t i = 0;
  unsigned sum = 0;
  if (bloomery_top(f, rows, 200, &count) != BLOOMERY_OK) return;
  for (i = 0; i < count && i < 200; ++i) {
    size_t at = 0;
    for (at = 0; at < rows[i].bytes; ++at) sum += ((const unsigned char*)rows[i].data)[at];
  }
  CHECK(sum + 1 != 0);
}

/* Every call that takes a const filter; `whole` is an undamaged one with the same shape. */
static void ask_everything(const bloomery_filter* f, const bloomery_filter* whole, int of_strings) {
  bloomery_filter_info info;
  bloomery_buffer bytes = {NULL, 0, NULL};
  bloomery_comparison comparison;
  bloomery_estimate estimate;
  bloomery_filter* made = NULL;
  ask_keys(f, of_strings);
  ask_top(f);
  info.struct_bytes = sizeof info;
  CHECK(bloomery_info(f, &info) <= 0);
  CHECK(bloomery_info_header(f, &info) <= 0);
  done_bytes(bloomery_info_json(f, &bytes), &bytes);
  done_bytes(bloomery_to_bytes(f, &bytes), &bytes);
  done_bytes(bloomery_pack(f, &bytes), &bytes);
  done_bytes(bloomery_diff(whole, f, &bytes), &bytes);
  done_bytes(bloomery_diff(f, whole, &bytes), &bytes);
  done(bloomery_intersect(f, whole, &made), &made);
  done(bloomery_fold(f, 2, &made), &made);
  done(bloomery_compare(f, whole, &comparison), NULL);
  done(bloomery_estimate_keys(f, &estimate), NULL);
  done(bloomery_covers(f, whole), NULL);
  done(bloomery_equal(f, whole), NULL);
  done(bloomery_verify(f), NULL);
  made = NULL;
  if (bloomery_clone(f, &made) == BLOOMERY_OK) ask_keys(made, of_strings);
  bloomery_free(made);
  made = NULL;
  OK(bloomery_clone(whole, &made));
  CHECK(bloomery_merge(made, f) <= 0);
  ask_keys(made, of_strings);
  bloomery_free(made);
}

/* Overwrites `count` bytes from `at` on, as `with` says: 0 or 255 for all, else at random. */
static void overwrite(long at, long count, int with) {
  FILE* const file = fopen(path, "r+b");
  long i = 0;
  CHECK(file != NULL && fseek(file, at, SEEK_SET) == 0);
  for (i = 0; i < count; ++i) fputc(with == 0 || with == 255 ? with : (int)(chance() & 255), file);
  CHECK(fclose(file) == 0);
}

/* Without bloomery_save(), which waits for the disk. Returns how many bytes the file has. */
static long write_file(const bloomery_filter* f) {
  bloomery_buffer bytes;
  FILE* const file = fopen(path, "wb");
  long count = 0;
  OK(bloomery_to_bytes(f, &bytes));
  count = (long)bytes.bytes;
  CHECK(file != NULL && fwrite(bytes.data, 1, bytes.bytes, file) == bytes.bytes);
  CHECK(fclose(file) == 0);
  bloomery_buffer_free(&bytes);
  return count;
}

static void test_kind(uint32_t kind, int of_strings) {
  bloomery_filter* const whole = filled(kind, of_strings);
  int round = 0;
  for (round = 0; round < 12; ++round) {
    static const int with[] = {0, 255, 1};
    bloomery_filter* mapped = NULL;
    const long bytes = write_file(whole);
    OK(bloomery_open(path, 0, &mapped));
    ask_everything(mapped, whole, of_strings);
    if (round < 3) {
      overwrite(0, bytes, with[round]); /* all of it */
    } else if (round < 6) {
      overwrite(256, bytes - 256, with[round - 3]); /* all but the header */
    } else {
      int i = 0; /* words here and there, small numbers among them */
      for (i = 0; i < 40; ++i) {
        const long at = 256 + (long)(chance() % (uint64_t)(bytes - 264)) / 8 * 8;
        overwrite(at, 1 + (long)(chance() % 8), with[chance() % 3]);
      }
    }
    ask_everything(mapped, whole, of_strings);
    if (round == 5) done(bloomery_save(mapped, other_path), NULL);
    bloomery_free(mapped);
  }
  bloomery_free(whole);
}

int main(void) {
  int i = 0;
  for (i = 0; i < many; ++i) numbers[i] = (uint64_t)i * 3;
  for (tested = 1; tested < most_kinds; ++tested) {
    if (bloomery_kind_name(tested) == NULL) continue;
    test_kind(tested, 0);
    test_kind(tested, 1);
  }
  remove(path);
  remove(other_path);
  puts("mapped files that are overwritten: all tests passed");
  return 0;
}
