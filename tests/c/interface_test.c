/* The C interface from C99: every verb, every kind, and every wrong argument that C can pass. A
 * test is a function; the first check that fails says where and ends the program. */
#include <bloomery/bloomery.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == BLOOMERY_OK)

enum { many = 5000, most_kinds = 64 };

static void check(int holds, const char* condition, int line) {
  if (holds) return;
  fprintf(stderr, "interface_test.c:%d: %s\nlast error: %s\n", line, condition,
          bloomery_error_message());
  exit(1);
}

static bloomery_options options_for(uint32_t kind) {
  bloomery_options o;
  bloomery_options_init(&o);
  o.kind = kind;
  o.keys = many;
  if (kind == BLOOMERY_TOP_K) o.k = 10;
  return o;
}

/* Integers, and the same numbers as text in all three layouts of strings. */
static uint64_t numbers[many];
static char text[many * 8];
static uint32_t offsets32[many + 1];
static uint64_t offsets64[many + 1];
static bloomery_string strings[many];

static void make_keys(void) {
  size_t at = 0;
  for (size_t i = 0; i < many; ++i) {
    const int length = snprintf(text + at, 8, "k%zu", i);
    numbers[i] = i * 3;
    offsets32[i] = (uint32_t)at;
    offsets64[i] = at;
    strings[i].data = text + at;
    strings[i].bytes = (size_t)length;
    at += (size_t)length;
  }
  offsets32[many] = (uint32_t)at;
  offsets64[many] = at;
}

static bloomery_keys keys_in(uint32_t layout) {
  bloomery_keys keys = {text, NULL, many, layout};
  if (layout == BLOOMERY_STRINGS) keys.data = strings;
  if (layout == BLOOMERY_INTEGERS) keys.data = numbers;
  if (layout == BLOOMERY_OFFSETS32) keys.offsets = offsets32;
  if (layout == BLOOMERY_OFFSETS64) keys.offsets = offsets64;
  return keys;
}

static size_t found_in(const bloomery_filter* f, const bloomery_keys* keys) {
  uint8_t answers[many];
  OK(bloomery_contains_batch(f, keys, answers));
  size_t found = 0;
  for (size_t i = 0; i < keys->count; ++i) found += answers[i];
  return found;
}

/* A filter of this kind with all strings, also of the static kinds. */
static bloomery_filter* filled(uint32_t kind) {
  bloomery_filter* f = NULL;
  const bloomery_options o = options_for(kind);
  const bloomery_keys keys = keys_in(BLOOMERY_STRINGS);
  OK(bloomery_build(&o, &keys, kind == BLOOMERY_BLOOMIER ? numbers : NULL, 1, &f));
  CHECK(f != NULL && bloomery_kind_of(f) == kind);
  return f;
}

static void test_layouts_are_the_same_keys(void) {
  bloomery_filter* filters[4];
  for (uint32_t layout = 0; layout < 4; ++layout) {
    const bloomery_options o = options_for(BLOOMERY_BLOCKED);
    const bloomery_keys keys = keys_in(layout);
    OK(bloomery_new(&o, &filters[layout]));
    OK(bloomery_add_batch(filters[layout], &keys));
    CHECK(found_in(filters[layout], &keys) == many);
    CHECK(bloomery_keys_added(filters[layout]) == many);
  }
  CHECK(bloomery_equal(filters[0], filters[2]) == 1 && bloomery_equal(filters[0], filters[3]) == 1);
  CHECK(bloomery_equal(filters[0], filters[1]) == 0);
  CHECK(bloomery_contains(filters[0], "k17", 3) == 1);
  CHECK(bloomery_contains(filters[0], "no such key", 11) == 0);
  CHECK(bloomery_contains_integer(filters[1], 51) == 1);
  bloomery_filter* shared = NULL;
  const bloomery_options of_shared = options_for(BLOOMERY_BLOCKED);
  const bloomery_keys all = keys_in(BLOOMERY_OFFSETS64);
  OK(bloomery_new(&of_shared, &shared));
  OK(bloomery_add_concurrent(shared, &all));
  CHECK(bloomery_equal(filters[0], shared) == 1);
  bloomery_free(shared);
  bloomery_filter* single = NULL;
  const bloomery_options o = options_for(BLOOMERY_BLOCKED);
  OK(bloomery_new(&o, &single));
  for (size_t i = 0; i < many; ++i) OK(bloomery_add(single, strings[i].data, strings[i].bytes));
  CHECK(bloomery_equal(filters[0], single) == 1);
  OK(bloomery_add(single, NULL, 0)); /* the empty string is a key */
  CHECK(bloomery_contains(single, "", 0) == 1);
  bloomery_free(single);
  for (size_t i = 0; i < 4; ++i) bloomery_free(filters[i]);
}

/* What each kind says that it can do works, and what it does not say is refused. */
static void test_every_kind(uint32_t kind) {
  bloomery_filter* f = filled(kind);
  const bloomery_keys keys = keys_in(BLOOMERY_STRINGS);
  const uint32_t can = bloomery_abilities(kind);
  if ((can & BLOOMERY_CAN_LIST) == 0) CHECK(found_in(f, &keys) == many);
  bloomery_filter_info info;
  info.struct_bytes = sizeof info;
  OK(bloomery_info(f, &info));
  CHECK(info.kind == kind && info.can == can && info.keys == many && info.mapped == 0);
  CHECK(info.bits > 0 && info.fill >= 0 && info.fpr_now >= 0 && info.fpr_now < 0.02);

  uint64_t counts[many];
  uint64_t values[many];
  uint8_t found[many];
  uint64_t number = 0;
  const int counted = bloomery_count(f, &keys, counts);
  CHECK(counted == ((can & BLOOMERY_CAN_COUNT) != 0 ? 0 : BLOOMERY_UNSUPPORTED));
  if (counted == 0 && kind != BLOOMERY_TOP_K) CHECK(counts[7] >= 1);
  const int valued = bloomery_value(f, &keys, values, found);
  CHECK(valued == ((can & BLOOMERY_CAN_VALUE) != 0 ? 0 : BLOOMERY_UNSUPPORTED));
  if (valued == 0) {
    for (size_t i = 0; i < many; ++i) CHECK(found[i] == 1 && values[i] == numbers[i]);
    const uint64_t other = 2;
    const bloomery_keys one = {strings, NULL, 1, BLOOMERY_STRINGS};
    OK(bloomery_set_values(f, &one, &other, &number));
    OK(bloomery_value(f, &one, values, found));
    CHECK(number == 1 && values[0] == 2);
  }
  if ((can & BLOOMERY_CAN_REMOVE) != 0) {
    OK(bloomery_remove(f, &keys, &number));
    CHECK(number == many && found_in(f, &keys) < many / 10);
  } else {
    CHECK(bloomery_remove(f, &keys, NULL) == BLOOMERY_UNSUPPORTED);
  }
  if ((can & BLOOMERY_CAN_ADD) != 0) {
    OK(bloomery_clear(f));
    OK(bloomery_advance(f, 100));
    CHECK(found_in(f, &keys) == 0);
  } else {
    CHECK(bloomery_add(f, "x", 1) == BLOOMERY_UNSUPPORTED);
    CHECK(strstr(bloomery_error_message(), bloomery_kind_name(kind)) != NULL);
  }
  bloomery_free(f);
}

/* Bytes, files, packed bytes and clones of every kind give the same filter again. */
static void test_round_trips(uint32_t kind) {
  bloomery_filter* f = filled(kind);
  bloomery_filter* again = NULL;
  bloomery_buffer bytes;
  bloomery_buffer packed;
  bloomery_filter_info info;
  info.struct_bytes = sizeof info;
  OK(bloomery_to_bytes(f, &bytes));
  OK(bloomery_info_header(f, &info));
  CHECK(info.image_bytes == bytes.bytes && isnan(info.fpr_now));
  OK(bloomery_from_bytes(bytes.data, bytes.bytes, &again));
  CHECK(bloomery_equal(f, again) == 1);
  bloomery_free(again);
  OK(bloomery_pack(f, &packed));
  OK(bloomery_from_bytes(packed.data, packed.bytes, &again));
  CHECK(bloomery_equal(f, again) == 1);
  bloomery_free(again);
  bloomery_buffer unpacked;
  OK(bloomery_unpack(packed.data, packed.bytes, &unpacked));
  CHECK(unpacked.bytes == bytes.bytes && memcmp(unpacked.data, bytes.data, bytes.bytes) == 0);
  OK(bloomery_save(f, "interface_test.bloom"));
  OK(bloomery_load("interface_test.bloom", &again));
  CHECK(bloomery_equal(f, again) == 1);
  bloomery_free(again);
  for (int verify = 0; verify < 2; ++verify) {
    bloomery_filter* copy = NULL;
    OK(bloomery_open("interface_test.bloom", verify, &again));
    OK(bloomery_verify(again));
    CHECK(bloomery_equal(f, again) == 1);
    CHECK(bloomery_add(again, "x", 1) == BLOOMERY_UNSUPPORTED);
    OK(bloomery_clone(again, &copy));
    CHECK(bloomery_equal(f, copy) == 1);
    bloomery_free(copy);
    bloomery_free(again);
  }
  remove("interface_test.bloom");
  bloomery_buffer_free(&unpacked);
  bloomery_buffer_free(&packed);
  bloomery_buffer_free(&bytes);
  CHECK(bytes.data == NULL && bytes.bytes == 0);
  bloomery_free(f);
}

static void test_sets(void) {
  const bloomery_options o = options_for(BLOOMERY_BLOCKED);
  bloomery_filter* a = NULL;
  bloomery_filter* b = NULL;
  bloomery_filter* both = NULL;
  OK(bloomery_new(&o, &a));
  OK(bloomery_new(&o, &b));
  bloomery_keys first = keys_in(BLOOMERY_STRINGS);
  bloomery_keys last = first;
  first.count = 3000;
  last.data = strings + 2000;
  last.count = 3000;
  OK(bloomery_add_batch(a, &first));
  OK(bloomery_add_batch(b, &last));
  bloomery_comparison c;
  OK(bloomery_compare(a, b, &c));
  CHECK(fabs(c.keys_a.value - 3000) < 300 && fabs(c.keys_intersection.value - 1000) < 300);
  CHECK(fabs(c.jaccard.value - 0.2) < 0.1 && c.shared_bits > 0);
  OK(bloomery_intersect(a, b, &both));
  for (size_t i = 2000; i < 3000; ++i) {
    CHECK(bloomery_contains(both, strings[i].data, strings[i].bytes) == 1);
  }
  CHECK(bloomery_covers(a, both) == 1 && bloomery_covers(both, a) == 0);
  bloomery_buffer delta;
  bloomery_filter* patched = NULL;
  OK(bloomery_diff(a, b, &delta));
  OK(bloomery_patch(a, delta.data, delta.bytes, &patched));
  CHECK(bloomery_equal(patched, b) == 1);
  bloomery_free(patched);
  CHECK(bloomery_patch(b, delta.data, delta.bytes, &patched) == BLOOMERY_MISMATCH);
  CHECK(patched == NULL);
  OK(bloomery_merge(a, b));
  bloomery_estimate e;
  OK(bloomery_estimate_keys(a, &e));
  CHECK(fabs(e.value - many) < 300 && e.standard_error > 0);
  bloomery_filter* folded = NULL;
  OK(bloomery_fold(a, 2, &folded));
  CHECK(found_in(folded, &first) == first.count && found_in(folded, &last) == last.count);
  CHECK(bloomery_merge(a, folded) == BLOOMERY_MISMATCH);
  CHECK(bloomery_fold(a, 0, &patched) == BLOOMERY_BAD_ARGUMENT);
  bloomery_buffer_free(&delta);
  bloomery_free(folded);
  bloomery_free(both);
  bloomery_free(a);
  bloomery_free(b);
}

static void test_counts(void) {
  const bloomery_options o = options_for(BLOOMERY_TOP_K);
  bloomery_filter* f = NULL;
  OK(bloomery_new(&o, &f));
  const bloomery_string names[] = {{"often", 5}, {"seldom", 6}};
  const bloomery_keys keys = {names, NULL, 2, BLOOMERY_STRINGS};
  const uint64_t counts[] = {1000, 3};
  OK(bloomery_add_counts(f, &keys, counts));
  bloomery_counted_key top[4];
  size_t count = 0;
  OK(bloomery_top(f, top, 4, &count));
  CHECK(count == 2 && top[0].count == 1000 && top[0].bytes == 5);
  CHECK(memcmp(top[0].data, "often", 5) == 0 && top[1].count == 3);
  OK(bloomery_top(f, NULL, 0, &count));
  CHECK(count == 2);
  CHECK(bloomery_add_integer(f, 7) == BLOOMERY_MISMATCH); /* it could not be told from a string */
  bloomery_free(f);
  f = filled(BLOOMERY_BLOCKED);
  CHECK(bloomery_add_counts(f, &keys, counts) == BLOOMERY_UNSUPPORTED);
  CHECK(bloomery_top(f, top, 4, &count) == BLOOMERY_UNSUPPORTED);
  bloomery_free(f);
  bloomery_estimate e;
  f = filled(BLOOMERY_CUCKOO);
  CHECK(bloomery_estimate_keys(f, &e) == BLOOMERY_UNSUPPORTED);
  CHECK(strcmp(bloomery_error_message(),
               "a cuckoo filter cannot be used to estimate its keys; only arrays of bits can") ==
        0);
  bloomery_free(f);
}

static void test_forms(void) {
  bloomery_options o = options_for(BLOOMERY_BLOCKED);
  bloomery_filter* f = NULL;
  o.form = BLOOMERY_FORM_INTEGERS;
  OK(bloomery_new(&o, &f));
  OK(bloomery_add_integer(f, 7));
  CHECK(bloomery_contains(f, "7", 1) == BLOOMERY_MISMATCH);
  CHECK(strcmp(bloomery_error_message(), "its keys are integers, not strings") == 0);
  bloomery_free(f);
  o.form = BLOOMERY_FORM_TEXT;
  OK(bloomery_new(&o, &f));
  CHECK(bloomery_add_integer(f, 7) == BLOOMERY_MISMATCH);
  bloomery_free(f);
  o.form = BLOOMERY_FORM_KMERS;
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT && f == NULL);
  o.form = 0;
  o.hash = BLOOMERY_XXH3_SECRET;
  o.seed = 99;
  OK(bloomery_new(&o, &f));
  OK(bloomery_add_integer(f, 7));
  OK(bloomery_add(f, "x", 1));
  CHECK(bloomery_contains_integer(f, 7) == 1 && bloomery_contains(f, "x", 1) == 1);
  bloomery_free(f);
}

static void test_what_it_tells(void) {
  bloomery_filter* f = filled(BLOOMERY_BLOCKED);
  bloomery_buffer json;
  OK(bloomery_info_json(f, &json));
  CHECK(((const char*)json.data)[0] == '{' && ((const char*)json.data)[json.bytes - 1] == '}');
  bloomery_buffer_free(&json);
  bloomery_keys one = {strings, NULL, 1, BLOOMERY_STRINGS};
  OK(bloomery_explain_json(f, &one, &json));
  CHECK(json.bytes > 100);
  bloomery_buffer_free(&json);
  one.count = 2;
  CHECK(bloomery_explain_json(f, &one, &json) == BLOOMERY_BAD_ARGUMENT && json.data == NULL);
  bloomery_free(f);

  bloomery_plan_row rows[most_kinds];
  size_t count = 0;
  bloomery_options o = options_for(0);
  OK(bloomery_plan(&o, rows, most_kinds, &count));
  CHECK(count >= 13 && rows[0].kind == BLOOMERY_BLOCKED && rows[0].fpr <= 0.01);
  size_t all = 0;
  OK(bloomery_plan(&o, NULL, 0, &all));
  CHECK(all == count);
  o.keys = 0;
  CHECK(bloomery_plan(&o, rows, most_kinds, &count) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_kind_from_name("blocked") == BLOOMERY_BLOCKED);
  CHECK(bloomery_kind_from_name("nonsense") == 0 && bloomery_kind_from_name(NULL) == 0);
  CHECK(bloomery_kind_name(99) == NULL && bloomery_abilities(99) == 0);
  CHECK(strchr(bloomery_version(), '.') != NULL);
}

/* A field of another kind: the error names it, and there is no filter. */
static void check_refused(const bloomery_options* o, const char* field) {
  bloomery_filter* f = NULL;
  const bloomery_keys keys = keys_in(BLOOMERY_STRINGS);
  const int status = bloomery_build(o, &keys, o->kind == BLOOMERY_BLOOMIER ? numbers : NULL, 1, &f);
  CHECK(status == BLOOMERY_BAD_ARGUMENT && f == NULL);
  CHECK(strstr(bloomery_error_message(), field) != NULL);
}

/* Each field that only some kinds have is refused by all others, also by those made of all keys. */
static void test_fields_of_other_kinds(uint32_t kind) {
  const int counts = kind == BLOOMERY_COUNT_MIN || kind == BLOOMERY_SPECTRAL;
  const int fingerprints = kind == BLOOMERY_CUCKOO || kind == BLOOMERY_FUSE ||
                           kind == BLOOMERY_RIBBON || kind == BLOOMERY_BLOOMIER;
  bloomery_options o = options_for(kind);
  o.cell_bits = 16;
  if (!counts && !fingerprints && kind != BLOOMERY_COUNTING) check_refused(&o, "cell_bits");
  o = options_for(kind);
  o.window = 60;
  if (kind != BLOOMERY_WINDOWED) check_refused(&o, "window");
  o = options_for(kind);
  o.generations = 4;
  if (kind != BLOOMERY_WINDOWED) check_refused(&o, "generations");
  o = options_for(kind);
  o.epsilon = 0.01;
  if (kind != BLOOMERY_COUNT_MIN) check_refused(&o, "epsilon");
  o = options_for(kind);
  o.delta = 0.01;
  if (kind != BLOOMERY_COUNT_MIN) check_refused(&o, "delta");
  o = options_for(kind);
  o.bucket_cells = 4;
  if (kind != BLOOMERY_CUCKOO) check_refused(&o, "bucket_cells");
  o = options_for(kind);
  o.layout = BLOOMERY_LAYOUT_LINE;
  if (kind != BLOOMERY_COUNTING) check_refused(&o, "layout");
  o = options_for(kind);
  o.update = BLOOMERY_UPDATE_PLAIN;
  if (!counts) check_refused(&o, "update");
  o = options_for(kind);
  o.growth = 2;
  if (kind != BLOOMERY_LAYERED) check_refused(&o, "growth");
  o = options_for(kind);
  o.value_bits = 20;
  if (kind != BLOOMERY_BLOOMIER) check_refused(&o, "value_bits");
  o = options_for(kind);
  o.k = 10;
  if (kind != BLOOMERY_TOP_K) check_refused(&o, "k is not for");
  /* The kinds whose number of probes is their own take no other one. */
  o = options_for(kind);
  o.probes = 7;
  if (fingerprints || kind == BLOOMERY_SCALABLE) check_refused(&o, "probes");
}

static void test_one_size(void) {
  bloomery_options o = options_for(BLOOMERY_COUNT_MIN);
  bloomery_filter* f = NULL;
  o.epsilon = 0.01;
  o.cell_bits = 16;
  o.update = BLOOMERY_UPDATE_CONSERVATIVE;
  OK(bloomery_new(&o, &f));
  bloomery_free(f);
  o.probes = 7;
  check_refused(&o, "epsilon and probes");
  o.bytes = 100000;
  check_refused(&o, "epsilon and bytes");
  o.bits_per_key = 10;
  check_refused(&o, "epsilon and bits_per_key");
  o.epsilon = 0;
  o.delta = 0.01;
  o.fpr = 0.01;
  check_refused(&o, "delta and fpr");
}

/* Nothing here may do more than return an error and say why. */
static void test_wrong_arguments(void) {
  bloomery_filter* f = NULL;
  bloomery_options o = options_for(BLOOMERY_BLOCKED);
  bloomery_keys keys = keys_in(BLOOMERY_STRINGS);
  uint8_t answer = 0;
  CHECK(bloomery_new(NULL, &f) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_new(&o, NULL) == BLOOMERY_BAD_ARGUMENT);
  o.struct_bytes = 0;
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  CHECK(strstr(bloomery_error_message(), "sizeof(bloomery_options)") != NULL);
  o.struct_bytes = sizeof o + 8;
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  o = options_for(99);
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  o = options_for(BLOOMERY_BLOCKED);
  o.fpr = 2;
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  o.fpr = NAN;
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  o.fpr = 1e-30;
  CHECK(bloomery_new(&o, &f) < 0);
  o = options_for(BLOOMERY_BLOCKED);
  o.k = 5; /* of another kind */
  CHECK(bloomery_new(&o, &f) == BLOOMERY_BAD_ARGUMENT);
  o = options_for(BLOOMERY_FUSE);
  CHECK(bloomery_new(&o, &f) == BLOOMERY_UNSUPPORTED);
  CHECK(bloomery_contains(NULL, "x", 1) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_add(NULL, "x", 1) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_open("no such file", 1, &f) == BLOOMERY_IO && f == NULL);
  CHECK(bloomery_load(NULL, &f) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_from_bytes("nonsense", 8, &f) < 0 && f == NULL);
  CHECK(bloomery_from_bytes(NULL, 0, &f) < 0);
  bloomery_free(NULL);
  bloomery_buffer_free(NULL);

  f = filled(BLOOMERY_BLOCKED);
  CHECK(bloomery_contains_batch(f, NULL, &answer) == BLOOMERY_BAD_ARGUMENT);
  CHECK(bloomery_contains_batch(f, &keys, NULL) == BLOOMERY_BAD_ARGUMENT);
  keys.layout = 9;
  CHECK(bloomery_add_batch(f, &keys) == BLOOMERY_BAD_ARGUMENT);
  keys = keys_in(BLOOMERY_OFFSETS32);
  keys.offsets = NULL;
  CHECK(bloomery_add_batch(f, &keys) == BLOOMERY_BAD_ARGUMENT);
  const uint32_t falling[] = {4, 2, 1};
  keys.offsets = falling;
  keys.count = 2;
  CHECK(bloomery_add_batch(f, &keys) == BLOOMERY_BAD_ARGUMENT);
  CHECK(strstr(bloomery_error_message(), "ascend") != NULL);
  const bloomery_keys none = {NULL, NULL, 0, BLOOMERY_STRINGS};
  OK(bloomery_add_batch(f, &none));
  bloomery_free(f);
}

/* NULL is the empty string where it has no bytes, and an error else. */
static void test_keys_without_data(uint32_t kind) {
  bloomery_filter* f = filled(kind);
  const bloomery_filter* const asked = f;
  const int can_add = (bloomery_abilities(kind) & BLOOMERY_CAN_ADD) != 0;
  const size_t lengths[] = {1, 5, 32, 33, 1000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    CHECK(bloomery_contains(asked, NULL, lengths[i]) == BLOOMERY_BAD_ARGUMENT);
    CHECK(strstr(bloomery_error_message(), "NULL") != NULL);
    if (can_add) CHECK(bloomery_add(f, NULL, lengths[i]) == BLOOMERY_BAD_ARGUMENT);
  }
  if (can_add) OK(bloomery_add(f, NULL, 0));
  CHECK(bloomery_contains(asked, NULL, 0) == bloomery_contains(asked, "", 0));

  uint8_t answers[many];
  for (uint32_t layout = BLOOMERY_OFFSETS32; layout <= BLOOMERY_OFFSETS64; ++layout) {
    bloomery_keys column = keys_in(layout);
    column.data = NULL;
    CHECK(bloomery_contains_batch(asked, &column, answers) == BLOOMERY_BAD_ARGUMENT);
    CHECK(strstr(bloomery_error_message(), "data is NULL") != NULL);
    if (can_add) CHECK(bloomery_add_batch(f, &column) == BLOOMERY_BAD_ARGUMENT);
  }
  const uint32_t rising_and_falling[] = {0, 5, 0};
  const bloomery_keys two = {NULL, rising_and_falling, 2, BLOOMERY_OFFSETS32};
  CHECK(bloomery_contains_batch(asked, &two, answers) == BLOOMERY_BAD_ARGUMENT);
  const uint32_t empty[] = {0, 0, 0};
  const bloomery_keys nothing = {NULL, empty, 2, BLOOMERY_OFFSETS32};
  OK(bloomery_contains_batch(asked, &nothing, answers));
  strings[many - 1].data = NULL;
  const bloomery_keys keys = keys_in(BLOOMERY_STRINGS);
  CHECK(bloomery_contains_batch(asked, &keys, answers) == BLOOMERY_BAD_ARGUMENT);
  CHECK(strstr(bloomery_error_message(), "key 4999 is NULL") != NULL);
  strings[many - 1].data = text + offsets32[many - 1];
  bloomery_free(f);
}

/* A flipped bit anywhere is found, and so is a missing byte. */
static void test_damaged_bytes(void) {
  bloomery_filter* f = filled(BLOOMERY_BLOCKED);

  bloomery_buffer bytes;
  bloomery_filter* damaged = NULL;
  OK(bloomery_to_bytes(f, &bytes));
  unsigned char* copy = malloc(bytes.bytes);
  for (size_t i = 0; i < bytes.bytes; i += 97) {
    memcpy(copy, bytes.data, bytes.bytes);
    copy[i] ^= 4;
    CHECK(bloomery_from_bytes(copy, bytes.bytes, &damaged) < 0 && damaged == NULL);
  }
  for (size_t length = 0; length < bytes.bytes; length += 61) {
    CHECK(bloomery_from_bytes(bytes.data, length, &damaged) < 0);
  }
  free(copy);
  bloomery_buffer_free(&bytes);
  bloomery_free(f);
}

int main(void) {
  make_keys();
  test_layouts_are_the_same_keys();
  for (uint32_t kind = 1; kind < most_kinds; ++kind) {
    if (bloomery_kind_name(kind) == NULL) continue;
    test_every_kind(kind);
    test_round_trips(kind);
    test_fields_of_other_kinds(kind);
    test_keys_without_data(kind);
  }
  test_one_size();
  test_sets();
  test_counts();
  test_forms();
  test_what_it_tells();
  test_wrong_arguments();
  test_damaged_bytes();
  puts("the C interface: all tests passed");
  return 0;
}
