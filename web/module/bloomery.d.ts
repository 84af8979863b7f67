/**
 * Bloomery in JavaScript: filters of every kind, the planner and the file format, as WebAssembly.
 *
 *     import { load } from "bloomery";
 *     const bloomery = await load();
 *     const filter = bloomery.create({ keys: 1000, fpr: 0.01 });
 *     filter.add("apple");
 *     filter.contains("apple");                    // true
 *     const file = filter.toBytes();               // what the tool and every other front end reads
 *
 * Works in browsers, in workers and in Node 18 or later. Calls are synchronous unless they read a
 * stream. Whatever fails throws a BloomeryError (or a TypeError for a wrong type); filters and the
 * module stay as they were and usable. An instance belongs to one thread: a worker loads its own.
 *
 * Integers are numbers up to 2^53 and bigint beyond, in arguments and in results.
 */

export type Kind =
  | "classic" | "partitioned" | "blocked" | "counting" | "scalable" | "windowed" | "cuckoo"
  | "fuse" | "ribbon" | "bloomier" | "count-min" | "spectral" | "top-k" | "layered"
  | "split-block";

/**
 * A string is its UTF-8 bytes (a half of a surrogate pair is U+FFFD, as everywhere on the web). 42,
 * "42" and new Uint8Array([42]) are three different keys; 42 and 42n are one.
 */
export type Key = string | Uint8Array | number | bigint;
export type Integer = number | bigint;

/** What keys a filter has; one that knows it refuses keys of another form. */
export type Form = "any" | "text" | "integers" | "binary";

export type ErrorCode =
  | "bad_argument" | "unreachable" | "no_memory" | "io" | "not_bloomery" | "unsupported"
  | "corrupt" | "mismatch" | "full" | "internal";

/** An error of the library; `message` is its sentence, which says the value and the limit. */
export class BloomeryError extends Error {
  readonly code: ErrorCode;
}

/** What filter to make. Give `keys` and at most one of fpr, bitsPerKey, bytes; else fpr is 0.01. */
export interface FilterOptions {
  kind?: Kind;              // "blocked"
  keys?: Integer;           // how many are expected; build() counts for itself without it
  fpr?: number;             // highest false-positive rate, a fraction
  bitsPerKey?: number;      // or the memory for each key,
  bytes?: Integer;          // or for all of them
  probes?: number;
  seed?: Integer;           // 64 bits
  form?: Form;              // create(): "any"; build() of lines: "text"; buildKeys(): of the keys
  hash?: "xxh3" | "xxh3-secret";
  cellBits?: number;        // counting, cuckoo, fuse, ribbon, count-min, spectral
  bucketCells?: number;     // cuckoo
  layout?: "line" | "classic";                                   // counting
  update?: "plain" | "conservative" | "selection" | "increase" | "recurring"; // count-min, spectral
  epsilon?: number;         // count-min, instead of a rate
  delta?: number;
  generations?: number;     // windowed
  window?: Integer;         // windowed, in the unit of advance(); build() and the tool use seconds
  growth?: number;          // layered
  valueBits?: number;       // bloomier
  k?: number;               // top-k: how many keys it lists
}

// ---- lines ------------------------------------------------------------------------------------

/** Bytes in pieces of any size; a piece may end anywhere, also within a character. */
export type ByteSource =
  | Uint8Array | string | Blob | ReadableStream<Uint8Array>
  | Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * The tool's rules: a line ends with \n, the last one need not; empty ones are left out, and so is
 * a byte-order mark.
 */
export interface LineOptions {
  null?: boolean;           // a zero byte ends a line instead
  keepEmpty?: boolean;      // an empty line is a key like others; true where lines are checked
  crlf?: boolean;           // for files of Windows: a \r before the end does not belong to the line
}

export interface ReadOptions extends LineOptions {
  signal?: AbortSignal;     // stops between two pieces and throws its reason
  /** After each piece, which may be small: draw it at most some 60 times a second. */
  progress?: (bytes: number, lines: number) => void;
}

export interface LineCounts {
  lines: number;            // keys; empty lines that were left out are not among them
  empty: number;            // those
  bytes: number;
}

export interface CheckOptions extends ReadOptions {
  /** Which lines onLines gets; "present" when it is not said. */
  select?: "present" | "absent";
  /**
   * The selected lines of a piece, whole, each with its end, one after the other; the last line of
   * the input gets an end if it has none. Valid after the call: it is a copy. Up to the size of a
   * piece.
   */
  onLines?: (lines: Uint8Array) => void;
}

export interface CheckCounts extends LineCounts {
  present: number;          // probably in the set
  absent: number;           // surely not
}

/** Takes pieces as they come. Without finish() the last line, if it has no end, is not taken. */
export interface LineAdder {
  push(piece: Uint8Array): void;
  finish(): LineCounts;
}
export interface LineChecker {
  /** The selected lines of this piece, as onLines has them; empty when options had no select. */
  push(piece: Uint8Array): Uint8Array;
  finish(): CheckCounts & { rest: Uint8Array }; // rest: the last line, if it is selected
}

/** A filter of keys whose number is not known before. See Bloomery.builder(). */
export interface Builder {
  push(piece: Uint8Array): void;
  /** Keys so far. */
  readonly lines: number;
  /** Different ones so far, an estimate. */
  readonly different: number;
  /** The filter. The builder is used up, also after an error. */
  finish(): Filter;
  /** Gives its memory back without a filter. */
  free(): void;
}

// ---- what is told -----------------------------------------------------------------------------

/** The object of `bloomery plan --json`, field by field. */
export interface Plan {
  keys: Integer;
  fpr: number;                        // asked for; where a size was, the best of the rows
  rows: PlanRow[];                    // a row for each kind that can; blocked, the default, first
  lower_bound: { bits_per_key: number; bytes: Integer; universe?: number };
  alternatives: Alternative[];        // what else there is: lists, hash tables, a bitmap
  /** How far one classic filter may be from the mean; absent where there is no classic row. */
  concentration?: {
    bits: Integer; probes: number; zeros: number;
    deviation: number; probability: number; fpr_highest: number;
  };
}
export interface PlanRow {
  kind: Kind;
  bits_per_key: number;
  bytes: Integer;                     // of the array; a file has 256 bytes and some more
  probes: number;
  fpr: number;                        // by the exact model of this kind, at `keys` keys
  times_lower_bound: number;          // of any filter with this row's own rate
  lines: number;                      // cache lines (64 bytes) that a lookup reads
  add: boolean;                       // false: static, made of all keys at once
  remove: boolean;
  count: boolean;
  value: boolean;
  merge: boolean;
  grow: boolean;
  forget: boolean;
}
export interface Alternative {
  name: string;                       // "hash table of 20-byte keys"
  bytes: Integer;
  bits_per_key: number;
  fpr: number;
}
export interface PlanOptions extends FilterOptions { // its kind is not looked at
  keys: Integer;
  keyBytes?: number;                  // of a key, for the alternatives; 20
  universe?: number;                  // the keys that there could be: for the exact bound, a bitmap
}

/**
 * The object of `bloomery info --json`. More fields for some kinds: layers, generations, shards...
 */
export interface Info {
  kind: Kind;
  keys: Integer;                      // calls of add
  keys_planned: Integer;
  keys_estimated: Integer | null;     // different ones, by the content
  bits: Integer;
  bytes: Integer;                     // of the file
  packed: boolean;
  name: string;                       // of the content, 16 hexadecimal digits
  probes: number;
  fpr_target: number | null;
  fpr_now: number;                    // of the bits as they are
  fill: number;                       // share of bits or cells in use
  form: string | null;
  hash: string;
  seed: Integer;
  format_version: number;
  [more: string]: unknown;
}

/** The object of `bloomery explain --json` without the key. More fields for some kinds. */
export interface Explanation {
  kind: Kind;
  hash_function: string;
  hash: string | null;                // 16 hexadecimal digits
  unit: string;                       // "bit", "counter" or "cell"
  places: { position: Integer; value: Integer }[]; // all that belong to the key
  contained: boolean;
  fpr_now: number;
  /**
   * Sentences with the numbers in them, as `bloomery explain` prints; the last one is the reason,
   * if there is one.
   */
  sentences: string[];
  [more: string]: unknown;
}

export interface Fill {
  unit: string;                       // "bits", "counters", "cells"; "" where none are counted
  cellBits: number;                   // of one of them
  cells: number;                      // in all
  used: number;                       // that are not 0
  expected: number | null;            // share by the model for this many keys, where there is one
  /** From the beginning to the end of the array: share that is not 0, one number for each slice. */
  slices: Float64Array;
}

export interface Cells {
  unit: string;
  cellBits: number;
  total: number;                      // cells of the filter
  first: number;
  values: Float64Array;               // of the cells from `first` on; 0 is an empty one
}

export interface Estimate { value: number; standardError: number } // infinite when every bit is set
export interface Comparison {
  keysA: Estimate; keysB: Estimate; keysUnion: Estimate; keysIntersection: Estimate;
  onlyA: Estimate; onlyB: Estimate; jaccard: Estimate;
  sharedBits: Integer;
  aMayBeInB: boolean; bMayBeInA: boolean;
}

// ---- filters ----------------------------------------------------------------------------------

/**
 * A filter. It lies in the memory of the module until free(); one that nobody holds any more is
 * freed some time later. Every call after free() throws.
 */
export interface Filter {
  readonly kind: Kind;
  readonly size: Integer;                       // calls of add
  readonly can: {
    add: boolean; remove: boolean; count: boolean; value: boolean; merge: boolean; grow: boolean;
    forget: boolean; list: boolean;
  };

  add(key: Key): void;
  contains(key: Key): boolean;
  addAll(keys: Iterable<Key>): void;
  containsAll(keys: Iterable<Key>): boolean[];
  /** Whether it was there. Remove only what was added. */
  remove(key: Key): boolean;
  count(key: Key): Integer;
  /** The value of a key of a bloomier filter; undefined for an absent one. */
  value(key: Key): Integer | undefined;
  /** The most frequent keys of a top-k sketch, as bytes. */
  top(): { key: Uint8Array; count: Integer }[];
  clear(): void;
  /** Tells a windowed filter the time, in the unit of its window. */
  advance(now: Integer): void;

  addLines(source: ByteSource, options?: ReadOptions): Promise<LineCounts>;
  containsLines(source: ByteSource, options?: CheckOptions): Promise<CheckCounts>;
  lineAdder(options?: LineOptions): LineAdder;
  lineChecker(options?: LineOptions & { select?: "present" | "absent" }): LineChecker;

  info(): Info;
  explain(key: Key): Explanation;
  /** How full the array is, in at most so many slices (100). */
  fill(slices?: number): Fill;
  /** The cells themselves; at most 65,536 a call. */
  cells(first?: number, count?: number): Cells;
  /** The rate that the model has for this filter with so many keys; NaN where there is no model. */
  rates(keys: ArrayLike<number>): Float64Array;

  /** Adds what the other has; both have one kind, shape, hash and seed, else "mismatch". */
  merge(other: Filter): void;
  intersect(other: Filter): Filter;
  compare(other: Filter): Comparison;
  equals(other: Filter): boolean;
  clone(): Filter;

  /** The file, the same bytes as the tool's. */
  toBytes(): Uint8Array;
  /** Packed, for the wire; open() takes it too. */
  pack(): Uint8Array;
  free(): void;
}

// ---- the module -------------------------------------------------------------------------------

export interface Bloomery {
  readonly version: string;
  readonly kinds: readonly Kind[];
  /** Bytes of WebAssembly memory that are taken from the system. */
  readonly memoryBytes: number;

  /** An empty filter. Static kinds (fuse, ribbon, bloomier) cannot be: build() those. */
  create(options: FilterOptions & { keys: Integer }): Filter;
  /** The filter in a file, plain or packed; every checksum is compared. */
  open(file: Uint8Array | ArrayBuffer): Filter;
  /** Throws as open() would, and keeps nothing: whether a file is sound. */
  check(file: Uint8Array | ArrayBuffer): void;
  /** A filter of the lines of a file, byte for byte that of `bloomery build`. */
  build(source: ByteSource, options?: FilterOptions & ReadOptions): Promise<Filter>;
  /** A filter of exactly these keys. `values` are for a bloomier filter. */
  buildKeys(keys: Iterable<Key>, options?: FilterOptions, values?: Iterable<Integer>): Filter;
  /**
   * The same for pieces as they come. With `keys` a kind that can add takes each at once; else
   * 8 bytes are kept for each line until finish(), so that some 300 million lines are the limit.
   */
  builder(options?: FilterOptions & LineOptions): Builder;

  plan(options: PlanOptions): Plan;
  /**
   * For curves: the rate of the filter that `options` plan when it has so many keys; NaN: no model.
   */
  rates(options: FilterOptions & { keys: Integer }, keys: ArrayLike<number>): Float64Array;
  /**
   * For curves: bits per key of a kind for each of these rates; NaN where there is no such filter.
   */
  sizes(options: { kind: Kind; keys: Integer; probes?: number }, fprs: ArrayLike<number>): Float64Array;
}

export interface LoadOptions {
  /**
   * The WebAssembly file, its bytes, or a compiled module; bloomery.wasm beside this file if not
   * said.
   */
  wasm?: string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module;
}

/** A new instance with its own memory, of up to 4 GB. */
export function load(options?: LoadOptions): Promise<Bloomery>;
