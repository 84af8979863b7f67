/* Counts the lines of a text that were seen before, in a few bytes a line, and saves what was seen
 * for the next run: seen FILTER [FILE]. Built by cc -std=c99 -pedantic. */
#include <bloomery/bloomery.h>
#include <stdio.h>
#include <string.h>

static int failed(const char* what) {
  fprintf(stderr, "seen: %s: %s\n", what, bloomery_error_message());
  return 2;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: seen FILTER [FILE]\n");
    return 2;
  }
  FILE* in = argc > 2 ? fopen(argv[2], "r") : stdin;
  if (in == NULL) {
    perror(argv[2]);
    return 2;
  }

  bloomery_filter* seen = NULL;
  if (bloomery_load(argv[1], &seen) != BLOOMERY_OK) { /* the first run: there is none yet */
    bloomery_options options;
    bloomery_options_init(&options);
    options.keys = 1000000;
    options.fpr = 0.001;
    if (bloomery_new(&options, &seen) != BLOOMERY_OK) return failed("new");
  }

  char line[4096];
  unsigned long again = 0;
  unsigned long lines = 0;
  while (fgets(line, sizeof line, in) != NULL) {
    const size_t bytes = strcspn(line, "\n");
    ++lines;
    if (bloomery_contains(seen, line, bytes) == 1) {
      ++again;
    } else if (bloomery_add(seen, line, bytes) != BLOOMERY_OK) {
      return failed("add");
    }
  }
  printf("%lu lines, %lu seen before\n", lines, again);

  if (bloomery_save(seen, argv[1]) != BLOOMERY_OK) return failed(argv[1]);
  bloomery_free(seen);
  if (in != stdin) fclose(in);
  return 0;
}
