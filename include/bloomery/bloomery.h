/**
 * @file
 * The C interface: filters of every kind, from C99, C++ and any language that calls C.
 *
 * One header for all of it, longer than others of the library, because a binding is written against
 * one page. docs/c.md is the tour; there is also how to bind it from another language.
 *
 * **Results.** Calls return an int: 0 (BLOOMERY_OK), where a call says so 1, and a negative
 * #bloomery_status after an error, of which bloomery_error_message() has the text. After an error
 * the arguments are as they were, and what a call makes is NULL or empty, unless it says otherwise.
 *
 * **Ownership.** A filter belongs to the caller until bloomery_free(), a bloomery_buffer until
 * bloomery_buffer_free(). What is passed in is read during the call and not kept.
 *
 * **Keys** are bytes or 64-bit integers. The integer 42, the string "42" and the byte 42 are three
 * different keys; a negative integer is the one with the same 64 bits. The same key has the same
 * bits here, in C++ and in the tool.
 *
 * **Threads.** Different filters are independent. Of one filter, calls that take it as const may
 * run in any number of threads at once, while no other call runs. What lists the most frequent keys
 * (top-k) is an exception: all that makes bytes of it wants to be alone.
 *
 * **Versions.** Symbols are versioned and none disappears within a soname. The structures that
 * begin with their size may have more fields at the end in later versions; the others stay.
 */
#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BLOOMERY_API __attribute__((visibility("default")))
#else
#define BLOOMERY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call returns after an error. */
enum bloomery_status {
  BLOOMERY_OK = 0,            /**< no error */
  BLOOMERY_BAD_ARGUMENT = -1, /**< a parameter outside its range */
  BLOOMERY_UNREACHABLE = -2,  /**< each parameter is valid, but no filter honours them together */
  BLOOMERY_NO_MEMORY = -3,    /**< not enough memory, or more than a limit allows */
  BLOOMERY_IO = -4,           /**< the operating system refused; the text has its reason */
  BLOOMERY_NOT_BLOOMERY = -5, /**< the bytes are no filter */
  BLOOMERY_UNSUPPORTED = -6,  /**< a version, kind, hash or verb that is not there */
  BLOOMERY_CORRUPT = -7,      /**< a checksum, a length or a field contradicts another */
  BLOOMERY_MISMATCH = -8,     /**< two filters, or a filter and a key, do not belong together */
  BLOOMERY_FULL = -9,         /**< no room for another key, and no leave to grow */
  BLOOMERY_INTERNAL = -10     /**< something that should not happen */
};

/** The kinds of filter; the numbers are those of the file format. docs/when-to-use.md compares. */
enum bloomery_kind {
  BLOOMERY_CLASSIC = 1,     /**< Bloom's own, 1970 */
  BLOOMERY_PARTITIONED = 2, /**< a slice of the array for each probe */
  BLOOMERY_BLOCKED = 3,     /**< the default: one cache line a key */
  BLOOMERY_COUNTING = 4,    /**< keys can be removed and are counted */
  BLOOMERY_SCALABLE = 5,    /**< grows with the keys */
  BLOOMERY_WINDOWED = 6,    /**< forgets old keys */
  BLOOMERY_CUCKOO = 7,      /**< keys can be removed, in little space */
  BLOOMERY_FUSE = 8,        /**< static: made from all keys at once */
  BLOOMERY_RIBBON = 9,      /**< static, the smallest */
  BLOOMERY_BLOOMIER = 10,   /**< static, with a value for each key */
  BLOOMERY_COUNT_MIN = 11,  /**< counts that are never too low */
  BLOOMERY_SPECTRAL = 12,   /**< a filter that answers with counts */
  BLOOMERY_TOP_K = 13,      /**< the most frequent keys */
  BLOOMERY_LAYERED = 14,    /**< grows in layers, without a pause */
  BLOOMERY_SPLIT_BLOCK = 15 /**< half a cache line a key: the fastest single call */
};

/** What a kind can do beyond answering; bloomery_abilities() has the sum. */
enum bloomery_ability {
  BLOOMERY_CAN_ADD = 1,            /**< keys one by one; without it, bloomery_build() */
  BLOOMERY_CAN_ADD_CONCURRENT = 2, /**< bloomery_add_concurrent() */
  BLOOMERY_CAN_REMOVE = 4,         /**< bloomery_remove() */
  BLOOMERY_CAN_COUNT = 8,          /**< bloomery_count() */
  BLOOMERY_CAN_VALUE = 16,         /**< bloomery_value() */
  BLOOMERY_CAN_MERGE = 32,         /**< bloomery_merge() */
  BLOOMERY_CAN_GROW = 64,          /**< takes any number of keys at its rate */
  BLOOMERY_CAN_FORGET = 128,       /**< bloomery_advance() */
  BLOOMERY_CAN_LIST = 256          /**< bloomery_top() */
};

/** What the keys of a filter are. One that knows it refuses keys of another form. */
enum bloomery_form {
  BLOOMERY_FORM_ANY = 0,      /**< any: whoever adds and asks takes care of it */
  BLOOMERY_FORM_TEXT = 1,     /**< strings, as the tool reads them from lines */
  BLOOMERY_FORM_INTEGERS = 2, /**< 64-bit integers */
  BLOOMERY_FORM_BINARY = 3,   /**< bytes, such as digests */
  BLOOMERY_FORM_KMERS = 4     /**< k-mers, which only the tool adds and asks for */
};

/** The hash functions that can be chosen. */
enum bloomery_hash {
  BLOOMERY_XXH3 = 0,       /**< XXH3 for bytes, a mixer of two multiplications for integers */
  BLOOMERY_XXH3_SECRET = 6 /**< for keys that strangers choose: a secret drawn from the seed */
};

/** How #BLOOMERY_COUNTING lays out its counters. */
enum bloomery_layout {
  BLOOMERY_LAYOUT_USUAL = 0,   /**< in a line down to a rate of 0.1 %, else anywhere */
  BLOOMERY_LAYOUT_LINE = 1,    /**< those of a key in one cache line */
  BLOOMERY_LAYOUT_ANYWHERE = 2 /**< anywhere, as in Bloom's own filter */
};

/** How sketches of counts are changed. */
enum bloomery_update {
  BLOOMERY_UPDATE_USUAL = 0,        /**< the kind's first: plain, or minimum selection */
  BLOOMERY_UPDATE_PLAIN = 1,        /**< count-min: keys can be removed */
  BLOOMERY_UPDATE_CONSERVATIVE = 2, /**< count-min: closer counts, no removing */
  BLOOMERY_UPDATE_SELECTION = 1,    /**< spectral: minimum selection */
  BLOOMERY_UPDATE_INCREASE = 2,     /**< spectral: minimal increase */
  BLOOMERY_UPDATE_RECURRING = 3     /**< spectral: recurring minimum */
};

/** A filter of any kind, in memory or in a mapped file. */
typedef struct bloomery_filter bloomery_filter;

/**
 * What filter to make. Call bloomery_options_init() first; 0 means "not said" in every field. Give
 * `keys` and at most one of `fpr`, `bits_per_key` and `bytes`; without any the rate is 0.01.
 */
typedef struct bloomery_options {
  size_t struct_bytes;   /**< sizeof(bloomery_options) */
  uint64_t keys;         /**< how many are expected; bloomery_build() counts its own */
  double fpr;            /**< highest false-positive rate at that number */
  double bits_per_key;   /**< or the memory for each key, */
  uint64_t bytes;        /**< or for all of them */
  uint64_t seed;         /**< chooses the hash function */
  uint64_t window;       /**< windowed: how long keys are kept, in the unit of bloomery_advance() */
  double epsilon;        /**< count-min, instead of a size or rate: counts are too high by more
                              than this share of the total */
  double delta;          /**< with at most this probability, 0.01 when only epsilon is given */
  uint32_t kind;         /**< #bloomery_kind; 0 is blocked */
  uint32_t form;         /**< #bloomery_form */
  uint32_t hash;         /**< #bloomery_hash */
  uint32_t probes;       /**< fixes the number of probes */
  uint32_t cell_bits;    /**< of a counter or fingerprint */
  uint32_t bucket_cells; /**< cuckoo: fingerprints in a bucket */
  uint32_t layout;       /**< counting: #bloomery_layout */
  uint32_t update;       /**< count-min, spectral: #bloomery_update */
  uint32_t generations;  /**< windowed: in how many steps it forgets */
  uint32_t growth;       /**< layered: how many times larger it becomes with a layer */
  uint32_t value_bits;   /**< bloomier: bits of a value; bloomery_build() looks at the values */
  uint32_t k;            /**< top-k: how many keys it lists */
} bloomery_options;

/** A string of bytes, which need not end with a zero; NULL only where there are none. */
typedef struct bloomery_string {
  const void* data; /**< the first byte */
  size_t bytes;     /**< how many */
} bloomery_string;

/** How many keys lie in memory. */
enum bloomery_key_layout {
  BLOOMERY_STRINGS = 0,   /**< data: bloomery_string[count] */
  BLOOMERY_INTEGERS = 1,  /**< data: uint64_t[count] */
  BLOOMERY_OFFSETS32 = 2, /**< data: bytes; key i from offsets[i] to offsets[i + 1], uint32_t */
  BLOOMERY_OFFSETS64 = 3  /**< likewise with uint64_t: columns of Arrow, dumps of databases */
};

/** Many keys. Offsets ascend, there are count + 1 of them, and all lie within the data. */
typedef struct bloomery_keys {
  const void* data;    /**< as the layout says */
  const void* offsets; /**< NULL unless the layout has them */
  size_t count;        /**< how many keys */
  uint32_t layout;     /**< #bloomery_key_layout */
} bloomery_keys;

/** Bytes that a call has made; give them back with bloomery_buffer_free(). */
typedef struct bloomery_buffer {
  const void* data; /**< the first byte */
  size_t bytes;     /**< how many */
  void* owner;      /**< the library's */
} bloomery_buffer;

/** What a filter is; see bloomery_info(). */
typedef struct bloomery_filter_info {
  size_t struct_bytes;     /**< set by the caller: sizeof(bloomery_filter_info) */
  uint64_t keys;           /**< calls of add */
  uint64_t keys_planned;   /**< 0: nobody said */
  double keys_estimated;   /**< different ones, by the content; NaN where the kind cannot tell */
  uint64_t bits;           /**< all that the filter occupies */
  uint64_t image_bytes;    /**< of a file of it */
  double fpr_target;       /**< what was asked for; 0: only a size was */
  double fpr_now;          /**< of the bits as they are */
  double fill;             /**< share of bits or cells in use */
  uint64_t seed;           /**< of the hash function */
  uint64_t most_count;     /**< a count of this means "at least"; UINT64_MAX where none does */
  uint32_t kind;           /**< #bloomery_kind */
  uint32_t probes;         /**< positions a key */
  uint32_t form;           /**< #bloomery_form */
  uint32_t hash;           /**< number of the hash function in docs/format.md */
  uint32_t can;            /**< #bloomery_ability; a mapped filter only answers */
  uint32_t format_version; /**< of the file format */
  uint32_t mapped;         /**< 1: it looks at a file */
} bloomery_filter_info;

/** An estimate and its standard error. */
typedef struct bloomery_estimate {
  double value;          /**< infinite when every bit is set */
  double standard_error; /**< of the value */
} bloomery_estimate;

/** What two filters of bits have in common; see bloomery_compare(). */
typedef struct bloomery_comparison {
  bloomery_estimate keys_a;            /**< different keys in the first, */
  bloomery_estimate keys_b;            /**< in the second, */
  bloomery_estimate keys_union;        /**< in any of them, */
  bloomery_estimate keys_intersection; /**< in both, */
  bloomery_estimate only_a;            /**< in the first alone, */
  bloomery_estimate only_b;            /**< in the second alone */
  bloomery_estimate jaccard;           /**< intersection / union */
  uint64_t shared_bits;                /**< set in both */
} bloomery_comparison;

/** A size that a filter could have; see bloomery_plan(). */
typedef struct bloomery_plan_row {
  uint32_t kind;            /**< #bloomery_kind */
  uint32_t probes;          /**< positions a key */
  uint64_t bytes;           /**< of the array */
  double bits_per_key;      /**< the same for each of the keys asked for */
  double fpr;               /**< its rate with that many keys */
  double times_lower_bound; /**< of any filter with the row's own rate */
  uint32_t lines;           /**< cache lines that a lookup reads */
  uint32_t can;             /**< #bloomery_ability */
} bloomery_plan_row;

/** A key of bloomery_top(). */
typedef struct bloomery_counted_key {
  const void* data; /**< until the sketch is changed or freed */
  size_t bytes;     /**< of the key */
  uint64_t count;   /**< how often it came */
} bloomery_counted_key;

/** @name What there is
 *  @{ */

/** The version of the library, such as "0.1.0". */
BLOOMERY_API const char* bloomery_version(void);
/** The text of the last error in this thread; "" before the first. Valid until the next error. */
BLOOMERY_API const char* bloomery_error_message(void);
/** The kind with this name ("blocked"); 0 when there is none. */
BLOOMERY_API uint32_t bloomery_kind_from_name(const char* name);
/** The name of a kind; NULL for a number that no kind has. Never freed. */
BLOOMERY_API const char* bloomery_kind_name(uint32_t kind);
/** The sum of #bloomery_ability of a kind in memory; 0 for a number that no kind has. */
BLOOMERY_API uint32_t bloomery_abilities(uint32_t kind);
/** Sets all fields to "not said", and the size. */
BLOOMERY_API void bloomery_options_init(bloomery_options* options);
/**
 * The sizes of all kinds for `options`, whose kind is not looked at. Writes at most `room` rows and
 * the number of all to `count`; rows may be NULL with a room of 0. A kind that cannot have such a
 * filter has no row; when none can, the first reason is the error.
 */
BLOOMERY_API int bloomery_plan(const bloomery_options* options, bloomery_plan_row* rows,
                               size_t room, size_t* count);
/** @} */

/** @name Making, opening and saving
 *  Each writes a new filter to `out`, or NULL after an error.
 *  @{ */

/** A new, empty filter in memory. */
BLOOMERY_API int bloomery_new(const bloomery_options* options, bloomery_filter** out);
/**
 * A filter of exactly these keys; the only way to make the static kinds. `values`, one for each
 * key, are for a bloomier filter, else NULL. `threads` are used where the kind can, 0: all cores.
 */
BLOOMERY_API int bloomery_build(const bloomery_options* options, const bloomery_keys* keys,
                                const uint64_t* values, uint32_t threads, bloomery_filter** out);
/**
 * Maps a file: opens at once, whatever its size, and cannot be changed. With verify 0 a filter of
 * more than 1 MiB is not compared with its checksums, so that a damaged one may lose keys; with 1
 * all of the file is read. Nobody may shorten the file meanwhile: reading behind the new end raises
 * SIGBUS. Replacing it as bloomery_save() and the tool do is safe. A packed file is unpacked into
 * memory.
 */
BLOOMERY_API int bloomery_open(const char* path, int verify, bloomery_filter** out);
/** Copies a file into memory, so that it can be changed; every checksum is compared. */
BLOOMERY_API int bloomery_load(const char* path, bloomery_filter** out);
/** Copies bytes of a file, plain or packed, into a new filter; every checksum is compared. */
BLOOMERY_API int bloomery_from_bytes(const void* data, size_t bytes, bloomery_filter** out);
/** Another in memory with the same content, also of a mapped one. */
BLOOMERY_API int bloomery_clone(const bloomery_filter* filter, bloomery_filter** out);
/** Gives the filter back, and its mapping. NULL is allowed. */
BLOOMERY_API void bloomery_free(bloomery_filter* filter);
/** Replaces the file atomically: a crash leaves the old one or the new one. */
BLOOMERY_API int bloomery_save(const bloomery_filter* filter, const char* path);
/** The bytes of a file. */
BLOOMERY_API int bloomery_to_bytes(const bloomery_filter* filter, bloomery_buffer* out);
/** The packed form, for the wire; bloomery_from_bytes() unpacks it. */
BLOOMERY_API int bloomery_pack(const bloomery_filter* filter, bloomery_buffer* out);
/** The plain bytes of a packed filter, or of a plain one after a look at its checksums. */
BLOOMERY_API int bloomery_unpack(const void* data, size_t bytes, bloomery_buffer* out);
/** What leads from one version of a filter to another, in few bytes. */
BLOOMERY_API int bloomery_diff(const bloomery_filter* from, const bloomery_filter* to,
                               bloomery_buffer* out);
/** The version that a delta leads to; BLOOMERY_MISMATCH when it starts from another one. */
BLOOMERY_API int bloomery_patch(const bloomery_filter* from, const void* delta, size_t bytes,
                                bloomery_filter** out);
/** Gives the bytes back and empties the buffer. NULL is allowed. */
BLOOMERY_API void bloomery_buffer_free(bloomery_buffer* buffer);
/** Every checksum of a mapped file; what is in memory was verified when it was read. */
BLOOMERY_API int bloomery_verify(const bloomery_filter* filter);
/** @} */

/** @name One key
 *  `key` may be NULL when `bytes` is 0: the empty string is a key.
 *  @{ */

/** Adds a string of bytes; BLOOMERY_MISMATCH when the filter knows that its keys are integers. */
BLOOMERY_API int bloomery_add(bloomery_filter* filter, const void* key, size_t bytes);
/** Adds an integer, which is another key than its digits; likewise. */
BLOOMERY_API int bloomery_add_integer(bloomery_filter* filter, uint64_t key);
/** 1 when the filter probably has the key, 0 when it surely has not. */
BLOOMERY_API int bloomery_contains(const bloomery_filter* filter, const void* key, size_t bytes);
/** The same of an integer. */
BLOOMERY_API int bloomery_contains_integer(const bloomery_filter* filter, uint64_t key);
/** @} */

/** @name Many keys
 *  One key is a bloomery_keys with a count of 1.
 *  @{ */

/** After an error (BLOOMERY_FULL, BLOOMERY_NO_MEMORY of kinds that grow) some keys may be in. */
BLOOMERY_API int bloomery_add_batch(bloomery_filter* filter, const bloomery_keys* keys);
/** Adds each key counts[i] times, in kinds that count; the others take no counts. */
BLOOMERY_API int bloomery_add_counts(bloomery_filter* filter, const bloomery_keys* keys,
                                     const uint64_t* counts);
/** Like bloomery_add_batch(), but may run in several threads at once, and with no other call. */
BLOOMERY_API int bloomery_add_concurrent(bloomery_filter* filter, const bloomery_keys* keys);
/** out[i] is 1 or 0; it has room for keys->count bytes. */
BLOOMERY_API int bloomery_contains_batch(const bloomery_filter* filter, const bloomery_keys* keys,
                                         uint8_t* out);
/** Takes keys out; remove only what was added. `removed`, if not NULL, is how many were there. */
BLOOMERY_API int bloomery_remove(bloomery_filter* filter, const bloomery_keys* keys,
                                 uint64_t* removed);
/** counts[i] is how often key i was added, at most. */
BLOOMERY_API int bloomery_count(const bloomery_filter* filter, const bloomery_keys* keys,
                                uint64_t* counts);
/** values[i] is that of key i, and found[i] 1; both are 0 for an absent key. */
BLOOMERY_API int bloomery_value(const bloomery_filter* filter, const bloomery_keys* keys,
                                uint64_t* values, uint8_t* found);
/** Gives keys of a map other values; `updated`, if not NULL, is how many were in it. */
BLOOMERY_API int bloomery_set_values(bloomery_filter* filter, const bloomery_keys* keys,
                                     const uint64_t* values, uint64_t* updated);
/** The most frequent keys of a top-k sketch, the largest count first; as bloomery_plan() counts. */
BLOOMERY_API int bloomery_top(const bloomery_filter* filter, bloomery_counted_key* out, size_t room,
                              size_t* count);
/** Takes all keys out. */
BLOOMERY_API int bloomery_clear(bloomery_filter* filter);
/** Tells a filter that forgets what time it is, in the unit of its window; others do not care. */
BLOOMERY_API int bloomery_advance(bloomery_filter* filter, uint64_t now);
/** @} */

/** @name Filters as sets
 *  Both have one kind, shape, hash and seed; else BLOOMERY_MISMATCH, with the difference named.
 *  @{ */

/** Adds what the other has. */
BLOOMERY_API int bloomery_merge(bloomery_filter* into, const bloomery_filter* from);
/** What both may have, of kinds that are arrays of bits. */
BLOOMERY_API int bloomery_intersect(const bloomery_filter* a, const bloomery_filter* b,
                                    bloomery_filter** out);
/** One of 1/divisor of the size, as if built so. */
BLOOMERY_API int bloomery_fold(const bloomery_filter* filter, uint64_t divisor,
                               bloomery_filter** out);
/** How many keys two filters of bits have in common, by their bits. */
BLOOMERY_API int bloomery_compare(const bloomery_filter* a, const bloomery_filter* b,
                                  bloomery_comparison* out);
/** How many different keys a filter of bits has. */
BLOOMERY_API int bloomery_estimate_keys(const bloomery_filter* filter, bloomery_estimate* out);
/** 1 when every bit of `part` is in `all`, so that it may be a subset; 0 when it surely is not. */
BLOOMERY_API int bloomery_covers(const bloomery_filter* all, const bloomery_filter* part);
/** 1 when hash, shape and content are the same, so that all answers are; else 0. */
BLOOMERY_API int bloomery_equal(const bloomery_filter* a, const bloomery_filter* b);
/** @} */

/** @name What a filter tells
 *  @{ */

/** Fills in what the filter is. Reads all of it, for its rate. */
BLOOMERY_API int bloomery_info(const bloomery_filter* filter, bloomery_filter_info* out);
/** The same at once, whatever the size: what takes a look at all bits (keys_estimated, fpr_now and
 *  fill) is NaN. */
BLOOMERY_API int bloomery_info_header(const bloomery_filter* filter, bloomery_filter_info* out);
/** What bloomery_info() tells as JSON, and more: the object of `bloomery info --json`. */
BLOOMERY_API int bloomery_info_json(const bloomery_filter* filter, bloomery_buffer* out);
/** The #bloomery_kind, at once; 0 for NULL. */
BLOOMERY_API uint32_t bloomery_kind_of(const bloomery_filter* filter);
/** Calls of add, at once; 0 for NULL. */
BLOOMERY_API uint64_t bloomery_keys_added(const bloomery_filter* filter);
/** What the filter looks at for one key, as JSON; `keys` has a count of 1. */
BLOOMERY_API int bloomery_explain_json(const bloomery_filter* filter, const bloomery_keys* keys,
                                       bloomery_buffer* out);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
