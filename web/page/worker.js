// The worker of the Work view: filters and the reading of files, so that the page never waits.
//
// The first message is {wasm}, the compiled module. Others are {id, call, args}; the reply is {id,
// result} or {id, error}. Long calls send {id, progress} on the way, and {cancel: id} stops them
// between two pieces.

import { load } from "./module/bloomery.js";

let engineReady;
const filters = new Map();
const running = new Map();
let lastFilter = 0;

const pieceBytes = 4 << 20;
const slices = 200;

// A file in pieces: larger ones than those of Blob.stream(), which cost a message each.
async function* pieces(blob, signal, tell) {
  let read = 0;
  if (blob.packed) {
    const counted = new TransformStream({
      transform(piece, out) {
        read += piece.byteLength;
        out.enqueue(piece);
      },
    });
    const reader = blob.stream().pipeThrough(counted).pipeThrough(new DecompressionStream("gzip")).getReader();
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      tell(read);
    }
  }
  let next = blob.size > 0 ? blob.slice(0, pieceBytes).arrayBuffer() : null;
  while (next) {
    const piece = new Uint8Array(await next);
    signal.throwIfAborted();
    read += piece.byteLength;
    // Read while the other is hashed.
    next = read < blob.size ? blob.slice(read, read + pieceBytes).arrayBuffer() : null;
    yield piece;
    tell(read);
  }
}

function source({ blob, gzip }, signal, id) {
  let drawn = 0;
  const started = performance.now();
  if (gzip) blob.packed = true;
  return pieces(blob, signal, (read) => {
    const now = performance.now();
    if (now - drawn < 80 && read < blob.size) return;
    drawn = now;
    postMessage({ id, progress: { bytes: read, of: blob.size, seconds: (now - started) / 1000 } });
  });
}

// Pieces that wait are given to the browser now and then, which may keep them on disk.
class Collector {
  parts = [];
  waiting = [];
  waitingBytes = 0;
  push(piece) {
    this.waiting.push(piece);
    this.waitingBytes += piece.byteLength;
    if (this.waitingBytes > 16 << 20) this.flush();
  }
  flush() {
    if (this.waitingBytes > 0) this.parts.push(new Blob(this.waiting));
    this.waiting = [];
    this.waitingBytes = 0;
  }
  blob() {
    this.flush();
    return new Blob(this.parts, { type: "text/plain" });
  }
}

function keep(filter) {
  const id = ++lastFilter;
  filters.set(id, filter);
  return id;
}

function describe(id, file) {
  const filter = filters.get(id);
  return {
    filter: id,
    info: filter.info(),
    fill: filter.fill(slices),
    can: { ...filter.can },
    file,
    top: filter.can.list
      ? filter
          .top()
          .slice(0, 20)
          .map(({ key, count }) => [new TextDecoder().decode(key), count])
      : null,
  };
}

function written(filter) {
  return new Blob([filter.toBytes()], { type: "application/octet-stream" });
}

const calls = {
  async build(engine, { blob, gzip, options }, signal, id) {
    const started = performance.now();
    const filter = await engine.build(source({ blob, gzip }, signal, id), { ...options, signal });
    const kept = keep(filter);
    return { ...describe(kept, written(filter)), seconds: (performance.now() - started) / 1000 };
  },
  async open(engine, { blob }) {
    const filter = engine.open(new Uint8Array(await blob.arrayBuffer()));
    return describe(keep(filter), blob);
  },
  async check(engine, { filter, blob, gzip, options, select }, signal, id) {
    const started = performance.now();
    const found = new Collector();
    const counts = await filters.get(filter).containsLines(source({ blob, gzip }, signal, id), {
      ...options,
      signal,
      select,
      onLines: (lines) => found.push(lines),
    });
    return { ...counts, lines: counts.lines, found: found.blob(), seconds: (performance.now() - started) / 1000 };
  },
  async ask(engine, { filter, words, as }) {
    const f = filters.get(filter);
    const keys = words.map(spelled[as]);
    const present = f.containsAll(keys);
    return words.map((word, i) => ({
      word,
      present: present[i],
      count: f.can.count && present[i] ? String(f.count(keys[i])) : null,
      value: f.can.value && present[i] ? String(f.value(keys[i])) : null,
    }));
  },
  async merge(engine, { a, b }) {
    const both = filters.get(a).clone();
    try {
      both.merge(filters.get(b));
    } catch (error) {
      both.free();
      throw error;
    }
    return describe(keep(both), written(both));
  },
  async intersect(engine, { a, b }) {
    const both = filters.get(a).intersect(filters.get(b));
    return describe(keep(both), written(both));
  },
  async compare(engine, { a, b }) {
    return { ...filters.get(a).compare(filters.get(b)), equal: filters.get(a).equals(filters.get(b)) };
  },
  async free(engine, { filter }) {
    filters.get(filter)?.free();
    filters.delete(filter);
  },
};

// What a word that somebody typed stands for.
const spelled = {
  text: (word) => word,
  integers(word) {
    if (!/^[+-]?\d+$/.test(word.trim())) throw new Error(`“${word.slice(0, 40)}” is no integer`);
    return BigInt(word.trim());
  },
  binary(word) {
    const digits = word.trim();
    if (!/^([\da-f]{2})*$/i.test(digits))
      throw new Error(`“${word.slice(0, 40)}” is not bytes in hexadecimal, such as 0aff`);
    return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  },
};

onmessage = async ({ data }) => {
  if (data.wasm) {
    engineReady = load({ wasm: data.wasm });
    engineReady.catch(() => {
      /* every call says so */
    });
    return;
  }
  if (data.cancel) {
    running.get(data.cancel)?.abort();
    return;
  }
  const { id, call, args } = data;
  const abort = new AbortController();
  running.set(id, abort);
  try {
    const engine = await engineReady;
    const asked = ["filter", "a", "b"].filter((name) => name in args);
    if (call !== "free" && !asked.every((name) => filters.has(args[name]))) throw new Error("this filter was closed");
    postMessage({ id, result: await calls[call](engine, args, abort.signal, id) });
  } catch (error) {
    postMessage({
      id,
      error: {
        message: String(error?.message ?? error),
        code: error?.code,
        name: error?.name,
        cancelled: abort.signal.aborted,
      },
    });
  } finally {
    running.delete(id);
  }
};
