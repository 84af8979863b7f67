// Bloomery in JavaScript; bloomery.d.ts says what there is. The work is done by bloomery.wasm,
// whose calls are those of include/bloomery/bloomery.h and of module.cpp.

const codes = ["", "bad_argument", "unreachable", "no_memory", "io", "not_bloomery", "unsupported", "corrupt",
  "mismatch", "full", "internal"];
const abilities = { add: 1, remove: 4, count: 8, value: 16, merge: 32, grow: 64, forget: 128, list: 256 };
const forms = { any: 0, text: 1, integers: 2, binary: 3 };
const hashes = { "xxh3": 0, "xxh3-secret": 6 };
const layouts = { line: 1, classic: 2 };
const updates = {
  "count-min": { plain: 1, conservative: 2 },
  "spectral": { selection: 1, increase: 2, recurring: 3 },
};
const layoutStrings = 0, layoutIntegers = 1, layoutOffsets32 = 2; // bloomery_key_layout
const pieceBytes = 1 << 20; // that go over at once
const mostCells = 65536;

export class BloomeryError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "BloomeryError";
    this.code = code;
  }
}

// ---- numbers ------------------------------------------------------------------------------------

const plain = (big) => (big >= -9007199254740991n && big <= 9007199254740991n ? Number(big) : big);

/**
 * JSON of the library, whose integers may have 64 bits; its strings have neither digits in such
 * rows nor quotes.
 */
function parse(text) {
  const marked = text.replace(/([:,[])(\d{16,})(?=[,\]}])/g, '$1"#$2"');
  if (marked.length === text.length) return JSON.parse(text);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && /^#\d+$/.test(value) ? plain(BigInt(value.slice(1))) : value);
}

function integer(value, name) {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "bigint") return value;
  throw typeof value === "number"
    ? new BloomeryError("bad_argument", `${name} is ${value}, but it must be an integer, a bigint beyond 2^53`)
    : new TypeError(`${name} must be a number or a bigint, not ${typeOf(value)}`);
}

function unsigned(value, name, bits = 64n) {
  const big = integer(value, name);
  if (big < 0n || big >> bits !== 0n) {
    throw new BloomeryError("bad_argument", `${name} is ${big}, but it must be from 0 to 2^${bits} - 1`);
  }
  return big;
}

function real(value, name) {
  if (typeof value !== "number") throw new TypeError(`${name} must be a number, not ${typeOf(value)}`);
  if (!(value > 0)) throw new BloomeryError("bad_argument", `${name} is ${value}, but it must be more than 0`);
  return value;
}

function typeOf(value) {
  return value === null ? "null" : typeof value === "object" ? value.constructor?.name ?? "object" : typeof value;
}

const isInteger = (key) => typeof key === "number" || typeof key === "bigint";

/** The 64 bits of an integer that is a key. */
function keyBits(key) {
  if (typeof key === "number" && !Number.isSafeInteger(key)) {
    throw new BloomeryError("bad_argument",
      `a number that is a key is an integer up to 2^53, not ${key}; add String(key) for others`);
  }
  const big = BigInt(key);
  if (big < -(1n << 63n) || big >> 64n > 0n) {
    throw new BloomeryError("bad_argument", "a bigint that is a key has 64 bits, from -2^63 to 2^64 - 1");
  }
  return big;
}

function bytesOf(data, name) {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError(`${name} must be bytes, a Uint8Array, not ${typeOf(data)}`);
}

// ---- an instance of the module ------------------------------------------------------------------

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// What is in the area that JavaScript and the module share for arguments, by its place.
const at = { options: 0, out: 128, buffer: 136, keys: 152, string: 168, number: 176, answer: 184, told: 192,
  comparison: 256, end: 384 };

class Core {
  constructor(instance) {
    this.calls = instance.exports;
    this.memory = instance.exports.memory;
    this.stack = instance.exports.__stack_pointer;
    this.stackStart = this.stack.value;
    this.freed = new FinalizationRegistry(({ pointer, free }) => this.calls[free](pointer));
    this.area = this.take(at.end);
    this.scratchBytes = 4096;
    this.scratch = this.take(this.scratchBytes);
    this.kinds = new Map(); // name -> number
    for (let number = 1; ; ++number) {
      const name = this.calls.bloomery_kind_name(number);
      if (name === 0) break;
      this.kinds.set(this.text(name), number);
    }
    this.names = [...this.kinds.keys()]; // of number i + 1
  }

  // Views of memory, which are made anew when it has grown.
  get bytes() {
    if (this.bytes_?.buffer !== this.memory.buffer) this.bytes_ = new Uint8Array(this.memory.buffer);
    return this.bytes_;
  }
  get view() {
    if (this.view_?.buffer !== this.memory.buffer) this.view_ = new DataView(this.memory.buffer);
    return this.view_;
  }

  text(pointer) {
    const all = this.bytes;
    return decoder.decode(all.subarray(pointer, all.indexOf(0, pointer)));
  }

  /** Calls the module. What it returns is a status, or a number that is not negative. */
  call(name, ...values) {
    let status;
    try {
      status = this.calls[name](...values);
    } catch (e) {
      // A trap: the library has met what it takes for impossible. Its stack is as it was before the
      // call.
      this.stack.value = this.stackStart;
      throw new BloomeryError("internal", `the module stopped in ${name}: ${e.message}`);
    }
    if (status < 0) {
      const message = this.text(this.calls.bloomery_error_message());
      throw new BloomeryError(codes[-status] ?? "internal", message);
    }
    return status;
  }

  take(bytes) {
    // Pointers may have their highest bit.
    const room = bytes < 4294967296 ? this.calls.web_take(bytes) >>> 0 : 0;
    if (room === 0) throw new BloomeryError("no_memory", `there is no room for ${bytes} bytes in the module's memory`);
    return room;
  }
  give(room) { this.calls.web_give(room); }

  /** Puts bytes into new memory. */
  put(data) {
    const room = this.take(data.length);
    this.bytes.set(data, room);
    return room;
  }

  /** Puts a key of bytes where it lies until the next one; returns its length. */
  putKey(key) {
    if (typeof key === "string") {
      this.reserve(key.length * 3);
      if (this.scratch_?.buffer !== this.memory.buffer) {
        this.scratch_ = new Uint8Array(this.memory.buffer, this.scratch, this.scratchBytes);
      }
      return encoder.encodeInto(key, this.scratch_).written;
    }
    if (!(key instanceof Uint8Array)) {
      throw new TypeError(`a key is a string, a Uint8Array, a number or a bigint, not ${typeOf(key)}`);
    }
    this.reserve(key.length);
    this.bytes.set(key, this.scratch);
    return key.length;
  }
  reserve(bytes) {
    if (bytes <= this.scratchBytes) return;
    const larger = this.take(bytes);
    this.give(this.scratch);
    this.scratch = larger;
    this.scratchBytes = bytes;
    this.scratch_ = undefined;
  }

  /** A bloomery_keys of one key. */
  oneKey(key) {
    const keys = this.area + at.keys, string = this.area + at.string, number = this.area + at.number;
    const whole = isInteger(key);
    const bits = whole ? keyBits(key) : 0n;
    const length = whole ? 0 : this.putKey(key);
    const view = this.view;
    if (whole) {
      view.setBigUint64(number, BigInt.asUintN(64, bits), true);
    } else {
      view.setUint32(string, this.scratch, true);
      view.setUint32(string + 4, length, true);
    }
    return this.keysAt(keys, whole ? number : string, 0, 1, whole ? layoutIntegers : layoutStrings);
  }
  keysAt(keys, data, offsets, count, layout) {
    const view = this.view;
    view.setUint32(keys, data, true);
    view.setUint32(keys + 4, offsets, true);
    view.setUint32(keys + 8, count, true);
    view.setUint32(keys + 12, layout, true);
    return keys;
  }

  /** What a call wrote to a bloomery_buffer, as a copy. */
  made(name, ...values) {
    const buffer = this.area + at.buffer;
    this.call(name, ...values, buffer);
    const data = this.view.getUint32(buffer, true);
    const copy = this.bytes.slice(data, data + this.view.getUint32(buffer + 4, true));
    this.calls.bloomery_buffer_free(buffer);
    return copy;
  }
  json(name, ...values) { return parse(decoder.decode(this.made(name, ...values))); }

  /** A pointer that a call wrote. */
  pointer(name, ...values) {
    const out = this.area + at.out;
    this.call(name, ...values, out);
    return this.view.getUint32(out, true);
  }
  filter(name, ...values) { return new Filter(this, this.pointer(name, ...values)); }

  /** Calls work with an array of doubles, and returns as many. */
  curve(numbers, work) {
    const given = Float64Array.from(numbers);
    const room = this.take(given.byteLength * 2);
    try {
      this.bytes.set(new Uint8Array(given.buffer), room);
      work(room, given.length, room + given.byteLength);
      const answers = this.bytes.slice(room + given.byteLength, room + given.byteLength * 2);
      return new Float64Array(answers.buffer);
    } finally {
      this.give(room);
    }
  }

  /** Writes a bloomery_options. */
  options(asked, alsoTaken = []) {
    if (asked === null || typeof asked !== "object") throw new TypeError("options must be an object");
    const written = [];
    const whole = (place, bits, name) => (value) => {
      const big = unsigned(value, name, bits);
      if (big === 0n && name !== "seed" && name !== "keys") {
        throw new BloomeryError("bad_argument", `${name} is 0, but it must be more`);
      }
      written.push((view, start) =>
        bits === 64n ? view.setBigUint64(start + place, big, true) : view.setUint32(start + place, Number(big), true));
    };
    const double = (place, name) => (value) => {
      const number = real(value, name);
      written.push((view, start) => view.setFloat64(start + place, number, true));
    };
    const named = (place, name, table) => (value) => {
      if (!Object.hasOwn(table, value)) {
        throw new BloomeryError("bad_argument",
          `${name} is ${String(value)}, but it must be one of ${Object.keys(table).join(", ")}`);
      }
      written.push((view, start) => view.setUint32(start + place, table[value], true));
    };
    const kind = asked.kind ?? "blocked";
    const fields = {
      keys: whole(8, 64n, "keys"), fpr: double(16, "fpr"), bitsPerKey: double(24, "bitsPerKey"),
      bytes: whole(32, 64n, "bytes"), seed: whole(40, 64n, "seed"), window: whole(48, 64n, "window"),
      epsilon: double(56, "epsilon"), delta: double(64, "delta"),
      kind: named(72, "kind", Object.fromEntries(this.kinds)), form: named(76, "form", forms),
      hash: named(80, "hash", hashes), probes: whole(84, 32n, "probes"), cellBits: whole(88, 32n, "cellBits"),
      bucketCells: whole(92, 32n, "bucketCells"), layout: named(96, "layout", layouts),
      update: named(100, "update", updates[kind] ?? { ...updates["count-min"], ...updates.spectral }),
      generations: whole(104, 32n, "generations"), growth: whole(108, 32n, "growth"),
      valueBits: whole(112, 32n, "valueBits"), k: whole(116, 32n, "k"),
    };
    for (const [name, value] of Object.entries(asked)) {
      if (value === undefined || alsoTaken.includes(name)) continue;
      if (!Object.hasOwn(fields, name)) throw new TypeError(`there is no option '${name}'`);
      fields[name](value);
    }
    const start = this.area + at.options;
    this.bytes.fill(0, start, start + 120);
    this.view.setUint32(start, 120, true);
    for (const write of written) write(this.view, start);
    return start;
  }
}

// ---- lines --------------------------------------------------------------------------------------

const lineOptions = ["null", "keepEmpty", "crlf"];
const readOptions = [...lineOptions, "signal", "progress"];

function checkNames(options, known) {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`there is no option '${name}'`);
  }
}

const rulesOf = (options) => (options.null ? 1 : 0) | (options.keepEmpty ? 2 : 0) | (options.crlf ? 4 : 0);

/** A job of module.cpp that takes lines in pieces. */
class LineJob {
  #core; #pointer; #alive;

  /** alive(), where there is one, throws when the filter of the job is no longer there. */
  constructor(core, pointer, alive) {
    this.#core = core;
    this.#pointer = pointer;
    this.#alive = alive;
    core.freed.register(this, { pointer, free: "web_lines_free" }, this);
  }
  get #job() {
    if (this.#pointer === 0) throw new BloomeryError("bad_argument", "these lines are finished");
    this.#alive?.();
    return this.#pointer;
  }

  /** Calls take(selected lines) for each part of the piece that goes over at once. */
  push(piece, take) {
    const data = bytesOf(piece, "a piece");
    for (let from = 0; from < data.length; from += pieceBytes) {
      const part = data.subarray(from, from + pieceBytes);
      this.#orFree(() => {
        const room = this.#core.pointer("web_lines_room", this.#job, part.length);
        this.#core.bytes.set(part, room);
        this.#core.call("web_lines_push", this.#job, part.length);
      });
      if (take) this.#select(take);
    }
  }
  end(take) {
    this.#orFree(() => this.#core.call("web_lines_end", this.#job));
    if (take) this.#select(take);
  }
  #orFree(work) {
    try {
      work();
    } catch (e) {
      this.free();
      throw e;
    }
  }
  #told() {
    const told = this.#core.area + at.told;
    this.#core.calls.web_lines_told(this.#job, told);
    const view = this.#core.view;
    return Array.from({ length: 7 }, (_, i) => view.getFloat64(told + 8 * i, true));
  }
  #select(take) {
    const told = this.#told();
    if (told[6] !== 0) take(this.#core.bytes.slice(told[5], told[5] + told[6]));
  }
  counts() {
    const [lines, empty, bytes, present, different] = this.#told();
    return { lines, empty, bytes, present, different };
  }
  filter(now) { return this.#core.filter("web_lines_filter", this.#job, now); }
  free() {
    if (this.#pointer === 0) return;
    this.#core.freed.unregister(this);
    this.#core.calls.web_lines_free(this.#pointer);
    this.#pointer = 0;
  }
}

const lineCounts = ({ lines, empty, bytes }) => ({ lines, empty, bytes });
const checkCounts = ({ lines, empty, bytes, present }) => ({ lines, empty, bytes, present, absent: lines - present });

class LineAdder {
  #job;
  constructor(job) { this.#job = job; }
  push(piece) { this.#job.push(piece); }
  finish() {
    this.#job.end();
    const counts = lineCounts(this.#job.counts());
    this.#job.free();
    return counts;
  }
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let to = 0;
  for (const part of parts) {
    all.set(part, to);
    to += part.length;
  }
  return all;
}

class LineChecker {
  #job; #selects;
  constructor(job, selects) {
    this.#job = job;
    this.#selects = selects;
  }
  push(piece) {
    const parts = [];
    this.#job.push(piece, this.#selects ? (part) => parts.push(part) : undefined);
    return joined(parts);
  }
  finish() {
    const parts = [];
    this.#job.end(this.#selects ? (part) => parts.push(part) : undefined);
    const counts = checkCounts(this.#job.counts());
    this.#job.free();
    return { ...counts, rest: joined(parts) };
  }
}

class Builder {
  #job;
  constructor(job) { this.#job = job; }
  push(piece) { this.#job.push(piece); }
  get lines() { return this.#job.counts().lines; }
  get different() { return this.#job.counts().different; }
  finish() {
    try {
      this.#job.end();
      return this.#job.filter(Math.floor(Date.now() / 1000));
    } finally {
      this.#job.free();
    }
  }
  free() { this.#job.free(); }
}

/** The bytes of whatever has bytes, piece by piece. */
async function* pieces(source) {
  if (typeof source === "string") {
    yield encoder.encode(source);
  } else if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const data = bytesOf(source, "the source");
    for (let from = 0; from < data.length; from += pieceBytes) yield data.subarray(from, from + pieceBytes);
  } else if (typeof source?.stream === "function" || typeof source?.getReader === "function") {
    const reader = (typeof source.stream === "function" ? source.stream() : source).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield bytesOf(value, "a piece of the stream");
      }
    } finally {
      reader.cancel().catch(() => {}); // whoever stops early wants no more of it
    }
  } else if (typeof source?.[Symbol.asyncIterator] === "function" || typeof source?.[Symbol.iterator] === "function") {
    for await (const piece of source) yield bytesOf(piece, "a piece");
  } else {
    throw new TypeError("lines come from a string, bytes, a Blob, a stream or an iterable of Uint8Arrays, not from " +
      typeOf(source));
  }
}

async function read(source, job, options, take) {
  try {
    options.signal?.throwIfAborted();
    for await (const piece of pieces(source)) {
      job.push(piece, take);
      options.signal?.throwIfAborted();
      if (options.progress) {
        const { bytes, lines } = job.counts();
        options.progress(bytes, lines);
      }
    }
    job.end(take);
  } catch (e) {
    job.free();
    throw e;
  }
}

// ---- filters ------------------------------------------------------------------------------------

/** A finding's sentence with its numbers in it. */
function sentence({ text, numbers }) {
  const shown = (value, hexadecimal) => {
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (Array.isArray(value)) return value.map((one) => shown(one, hexadecimal)).join(hexadecimal ? " " : ", ");
    return hexadecimal ? value.toString(16) : value.toLocaleString("en-US");
  };
  return text.replace(/\{(\w+)(:x)?\}/g, (mark, name, hexadecimal) =>
    Object.hasOwn(numbers, name) ? shown(numbers[name], hexadecimal) : mark);
}

class Filter {
  #core; #pointer;

  constructor(core, pointer) {
    this.#core = core;
    this.#pointer = pointer;
    core.freed.register(this, { pointer, free: "bloomery_free" }, this);
  }
  get #here() {
    if (this.#pointer === 0) throw new BloomeryError("bad_argument", "the filter was freed");
    return this.#pointer;
  }
  #other(filter) {
    if (!(filter instanceof Filter)) throw new TypeError(`the other must be a filter, not ${typeOf(filter)}`);
    if (filter.#core !== this.#core) {
      throw new BloomeryError("mismatch", "the filters are in two instances of the module; open one's bytes here");
    }
    return filter.#here;
  }

  get kind() { return this.#core.names[this.#core.call("bloomery_kind_of", this.#here) - 1]; }
  get size() { return plain(BigInt.asUintN(64, this.#core.calls.bloomery_keys_added(this.#here))); }
  get can() {
    const all = this.#core.call("web_can", this.#here);
    return Object.fromEntries(Object.entries(abilities).map(([name, bit]) => [name, (all & bit) !== 0]));
  }

  add(key) {
    const core = this.#core;
    if (isInteger(key)) {
      core.call("bloomery_add_integer", this.#here, keyBits(key));
    } else {
      const length = core.putKey(key);
      core.call("bloomery_add", this.#here, core.scratch, length);
    }
  }
  contains(key) {
    const core = this.#core;
    if (isInteger(key)) return core.call("bloomery_contains_integer", this.#here, keyBits(key)) !== 0;
    const length = core.putKey(key);
    return core.call("bloomery_contains", this.#here, core.scratch, length) !== 0;
  }
  addAll(keys) { for (const key of keys) this.add(key); }
  containsAll(keys) { return Array.from(keys, (key) => this.contains(key)); }
  #number(name, key) {
    const number = this.#core.area + at.answer;
    this.#core.call(name, this.#here, this.#core.oneKey(key), number);
    return plain(this.#core.view.getBigUint64(number, true));
  }
  remove(key) { return this.#number("bloomery_remove", key) !== 0; }
  count(key) { return this.#number("bloomery_count", key); }
  value(key) {
    const core = this.#core;
    const number = core.area + at.answer, found = core.area + at.out;
    core.call("bloomery_value", this.#here, core.oneKey(key), number, found);
    return core.bytes[found] !== 0 ? plain(core.view.getBigUint64(number, true)) : undefined;
  }
  top() {
    const core = this.#core;
    const count = core.pointer("bloomery_top", this.#here, 0, 0);
    const room = core.take(16 * count);
    try {
      core.call("bloomery_top", this.#here, room, count, core.area + at.out);
      return Array.from({ length: count }, (_, i) => {
        const entry = room + 16 * i;
        const data = core.view.getUint32(entry, true);
        return { key: core.bytes.slice(data, data + core.view.getUint32(entry + 4, true)),
          count: plain(core.view.getBigUint64(entry + 8, true)) };
      });
    } finally {
      core.give(room);
    }
  }
  clear() { this.#core.call("bloomery_clear", this.#here); }
  advance(now) { this.#core.call("bloomery_advance", this.#here, unsigned(now, "the time")); }

  #adding(options) {
    return new LineJob(this.#core, this.#core.pointer("web_add_lines", this.#here, rulesOf(options)),
      () => this.#here);
  }
  #checking(options, selects) {
    // An empty line is a line like others, as in `check`.
    const { select = "present", keepEmpty = true } = options;
    if (select !== "present" && select !== "absent") {
      throw new BloomeryError("bad_argument", `select is ${select}, but it must be one of present, absent`);
    }
    const wanted = !selects ? 0 : select === "present" ? 1 : 2;
    return new LineJob(this.#core,
      this.#core.pointer("web_check_lines", this.#here, rulesOf({ ...options, keepEmpty }), wanted), () => this.#here);
  }
  async addLines(source, options = {}) {
    checkNames(options, readOptions);
    const job = this.#adding(options);
    await read(source, job, options);
    const counts = lineCounts(job.counts());
    job.free();
    return counts;
  }
  async containsLines(source, options = {}) {
    checkNames(options, [...readOptions, "select", "onLines"]);
    const job = this.#checking(options, options.onLines !== undefined);
    await read(source, job, options, options.onLines);
    const counts = checkCounts(job.counts());
    job.free();
    return counts;
  }
  lineAdder(options = {}) {
    checkNames(options, lineOptions);
    return new LineAdder(this.#adding(options));
  }
  lineChecker(options = {}) {
    checkNames(options, [...lineOptions, "select"]);
    const selects = options.select !== undefined;
    return new LineChecker(this.#checking(options, selects), selects);
  }

  info() { return this.#core.json("bloomery_info_json", this.#here); }
  explain(key) {
    const told = this.#core.json("web_explain", this.#here, this.#core.oneKey(key));
    return { ...told.explanation, sentences: told.findings.map(sentence) };
  }
  fill(slices = 100) {
    const most = Number(unsigned(slices, "the number of slices", 16n));
    const told = this.#core.json("web_fill", this.#here, most);
    return { ...told, slices: Float64Array.from(told.slices) };
  }
  cells(first = 0, count = mostCells) {
    const from = Number(unsigned(first, "the first cell", 52n));
    const number = Math.min(Number(unsigned(count, "the number of cells", 52n)), mostCells);
    const told = this.#core.json("web_cells", this.#here, from, number);
    return { ...told, values: Float64Array.from(told.values, Number) };
  }
  rates(keys) {
    return this.#core.curve(keys, (given, count, out) =>
      this.#core.call("web_filter_rates", this.#here, given, count, out));
  }

  merge(other) { this.#core.call("bloomery_merge", this.#here, this.#other(other)); }
  intersect(other) { return this.#core.filter("bloomery_intersect", this.#here, this.#other(other)); }
  compare(other) {
    const core = this.#core, a = this.#here, b = this.#other(other);
    const result = core.area + at.comparison;
    core.call("bloomery_compare", a, b, result);
    const view = core.view;
    const estimate = (i) =>
      ({ value: view.getFloat64(result + 16 * i, true), standardError: view.getFloat64(result + 16 * i + 8, true) });
    return {
      keysA: estimate(0), keysB: estimate(1), keysUnion: estimate(2), keysIntersection: estimate(3),
      onlyA: estimate(4), onlyB: estimate(5), jaccard: estimate(6),
      sharedBits: plain(view.getBigUint64(result + 112, true)),
      aMayBeInB: core.call("bloomery_covers", b, a) !== 0,
      bMayBeInA: core.call("bloomery_covers", a, b) !== 0,
    };
  }
  equals(other) { return this.#core.call("bloomery_equal", this.#here, this.#other(other)) !== 0; }
  clone() { return this.#core.filter("bloomery_clone", this.#here); }

  toBytes() { return this.#core.made("bloomery_to_bytes", this.#here); }
  pack() { return this.#core.made("bloomery_pack", this.#here); }
  free() {
    if (this.#pointer === 0) return;
    this.#core.freed.unregister(this);
    this.#core.calls.bloomery_free(this.#pointer);
    this.#pointer = 0;
  }
}

// ---- the module ---------------------------------------------------------------------------------

class Bloomery {
  #core;

  constructor(core) {
    this.#core = core;
    this.version = core.text(core.calls.bloomery_version());
    this.kinds = Object.freeze([...core.names]);
  }
  get memoryBytes() { return this.#core.memory.buffer.byteLength; }

  create(options) { return this.#core.filter("bloomery_new", this.#core.options(options)); }
  open(file) {
    const data = bytesOf(file, "a file");
    const room = this.#core.put(data);
    try {
      return this.#core.filter("bloomery_from_bytes", room, data.length);
    } finally {
      this.#core.give(room);
    }
  }
  check(file) { this.open(file).free(); }

  #building(options, taken) {
    const asked = this.#core.options({ form: "text", ...options }, taken);
    return new LineJob(this.#core, this.#core.pointer("web_build_lines", asked, rulesOf(options)));
  }
  async build(source, options = {}) {
    const job = this.#building(options, readOptions);
    await read(source, job, options);
    try {
      return job.filter(Math.floor(Date.now() / 1000));
    } finally {
      job.free();
    }
  }
  builder(options = {}) { return new Builder(this.#building(options, lineOptions)); }

  buildKeys(keys, options = {}, values = undefined) {
    const all = Array.from(keys);
    const whole = all.length !== 0 && isInteger(all[0]);
    if (all.some((key) => isInteger(key) !== whole)) {
      throw new TypeError("the keys of a filter are either integers, or strings and bytes");
    }
    const form = whole ? "integers" : all.every((key) => key instanceof Uint8Array) && all.length ? "binary" : "text";
    const core = this.#core;
    const rooms = [];
    try {
      const put = (data) => {
        rooms.push(core.put(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
        return rooms.at(-1);
      };
      let given;
      if (whole) {
        given = [put(BigUint64Array.from(all, (key) => BigInt.asUintN(64, keyBits(key)))), 0, layoutIntegers];
      } else {
        const parts = all.map((key) => (typeof key === "string" ? encoder.encode(key) : bytesOf(key, "a key")));
        const offsets = new Uint32Array(all.length + 1);
        parts.forEach((part, i) => { offsets[i + 1] = offsets[i] + part.length; });
        given = [put(joined(parts)), put(offsets), layoutOffsets32];
      }
      let listed = 0;
      if (values !== undefined) {
        const numbers = Array.from(values, (value) => unsigned(value, "a value"));
        if (numbers.length !== all.length) {
          throw new BloomeryError("bad_argument", `there are ${all.length} keys and ${numbers.length} values`);
        }
        listed = put(BigUint64Array.from(numbers));
      }
      const asked = core.options({ form, ...options });
      const column = core.keysAt(core.area + at.keys, given[0], given[1], all.length, given[2]);
      return core.filter("bloomery_build", asked, column, listed, 1);
    } finally {
      for (const room of rooms) core.give(room);
    }
  }

  plan(options) {
    const { keyBytes = 20, universe = 0 } = options;
    const key = Number(unsigned(keyBytes, "keyBytes", 32n));
    if (typeof universe !== "number") throw new TypeError(`universe must be a number, not ${typeOf(universe)}`);
    return this.#core.json("web_plan", this.#core.options(options, ["keyBytes", "universe"]), key, universe);
  }
  rates(options, keys) {
    return this.#core.curve(keys, (given, count, out) =>
      this.#core.call("web_rates", this.#core.options(options), given, count, out));
  }
  sizes(options, fprs) {
    return this.#core.curve(fprs, (given, count, out) =>
      this.#core.call("web_sizes", this.#core.options(options), given, count, out));
  }
}

// The module has no system below it but random numbers and an empty environment. All else that its
// C library could ask for is refused.
function systemFor(instance) {
  const bytesAt = (place, bytes) => new Uint8Array(instance().exports.memory.buffer, place >>> 0, bytes);
  const calls = {
    random_get(place, bytes) {
      crypto.getRandomValues(bytesAt(place, bytes));
      return 0;
    },
    environ_sizes_get(count, bytes) {
      bytesAt(count, 4).fill(0);
      bytesAt(bytes, 4).fill(0);
      return 0;
    },
    environ_get: () => 0,
    proc_exit() { throw new Error("the module ended itself"); },
  };
  // 52 is ENOSYS.
  return { wasi_snapshot_preview1: new Proxy(calls, { get: (own, name) => own[name] ?? (() => 52) }) };
}

// Node 18 has them, but not by this name.
const crypto = globalThis.crypto ?? (await import(/* webpackIgnore: true */ "node:crypto")).webcrypto;
const isNode = typeof process !== "undefined" && process.versions?.node !== undefined;

async function compiled(wasm) {
  const source = await wasm;
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof Response !== "undefined" && source instanceof Response) return compiledResponse(source);
  const url = new URL(source, import.meta.url);
  if (isNode && url.protocol === "file:") {
    const { readFile } = await import(/* webpackIgnore: true */ "node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  return compiledResponse(await fetch(url));
}

async function compiledResponse(response) {
  if (!response.ok) throw new BloomeryError("io", `${response.url}: ${response.status} ${response.statusText}`);
  const streams = (response.headers.get("Content-Type") ?? "").startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

let usual; // the module beside this file, compiled once

export async function load({ wasm } = {}) {
  if (wasm === undefined) {
    usual ??= compiled(new URL("bloomery.wasm", import.meta.url));
    usual.catch(() => { usual = undefined; }); // perhaps the network is back next time
  }
  const module = await (wasm === undefined ? usual : compiled(wasm));
  const instance = await WebAssembly.instantiate(module, systemFor(() => instance));
  instance.exports._initialize();
  return new Bloomery(new Core(instance));
}
