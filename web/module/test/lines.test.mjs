// Lines in pieces: every way to cut a text gives the same filter and the same counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BloomeryError, built, file, load } from "./common.mjs";

const bloomery = await load();
const encoder = new TextEncoder();

function* cut(bytes, length) {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length);
}

test("pieces may end anywhere", async () => {
  const bytes = encoder.encode("apple\nbanana\r\n\n\r\nkürbis\n\nlast");
  const whole = (await bloomery.build(bytes)).toBytes();
  assert.deepEqual(whole, built(file("fruit.txt", bytes)));
  for (let length = 1; length < bytes.length; ++length) {
    const filter = await bloomery.build(cut(bytes, length));
    assert.deepEqual(filter.toBytes(), whole, `pieces of ${length}`);
    const counts = await filter.containsLines(cut(bytes, length));
    assert.deepEqual(counts, { lines: 7, empty: 0, bytes: bytes.length, present: counts.present,
      absent: 7 - counts.present });
    const other = bloomery.create({ keys: 10 });
    assert.deepEqual(await other.addLines(cut(bytes, length)), { lines: 5, empty: 2, bytes: bytes.length });
    assert.deepEqual(await other.addLines(cut(bytes, length), { crlf: true }),
      { lines: 4, empty: 3, bytes: bytes.length });
  }
});

test("every source of bytes", async () => {
  const text = "one\ntwo\nthree\n";
  const bytes = encoder.encode(text);
  async function* slowly() { yield bytes.subarray(0, 5); yield bytes.subarray(5); }
  const sources = [text, bytes, bytes.buffer, new Blob([bytes]), new Blob([bytes]).stream(), [bytes], slowly()];
  for (const source of sources) {
    const filter = await bloomery.build(source);
    assert.equal(filter.size, 3);
    assert.deepEqual(filter.containsAll(["one", "two", "three", "four"]), [true, true, true, false]);
  }
  await assert.rejects(bloomery.build(42), TypeError);
  await assert.rejects(bloomery.build([1, 2]), TypeError);
});

test("tens of megabytes across pieces are the tool's file", async () => {
  const parts = [];
  for (let i = 0; i < 600; ++i) {
    parts.push(Array.from({ length: 2000 }, (_, j) => `https://example.org/${i}/${j * 7919}/page.html`).join("\n"));
  }
  const bytes = encoder.encode(parts.join("\n")); // 45 MB
  const path = file("urls.txt", bytes);
  for (const kind of ["blocked", "fuse"]) {
    const seen = [];
    const filter = await bloomery.build(new Blob([bytes]), { kind, progress: (n) => seen.push(n) });
    assert.deepEqual(filter.toBytes(), built(path, "--kind", kind));
    assert.equal(seen.at(-1), bytes.length);
    const counts = await filter.containsLines(cut(bytes, 777777));
    assert.equal(counts.present, 1200000);
    filter.free();
  }
});

test("a line of 100 MB is a key", async () => {
  const filter = bloomery.create({ keys: 10 });
  const adder = filter.lineAdder();
  const piece = new Uint8Array(10_000_000).fill(120);
  for (let i = 0; i < 10; ++i) adder.push(piece);
  adder.push(encoder.encode("\nshort\n"));
  assert.deepEqual(adder.finish(), { lines: 2, empty: 0, bytes: 100_000_007 });
  assert.equal(filter.contains("short"), true);
  assert.equal(filter.contains(new Uint8Array(100_000_000).fill(120)), true);
  assert.throws(() => adder.push(piece), /finished/);
});

test("builders, adders and checkers", () => {
  const builder = bloomery.builder({ kind: "cuckoo" });
  builder.push(encoder.encode("a\nb\na\n"));
  assert.equal(builder.lines, 3);
  assert.equal(builder.different, 2);
  builder.push(encoder.encode("c"));
  const filter = builder.finish();
  assert.equal(filter.size, 4);
  assert.throws(() => builder.finish(), BloomeryError);
  const checker = filter.lineChecker({ select: "absent" });
  assert.equal(new TextDecoder().decode(checker.push(encoder.encode("a\nx\ny"))), "x\n");
  const { rest, ...counts } = checker.finish();
  assert.equal(new TextDecoder().decode(rest), "y\n");
  assert.deepEqual(counts, { lines: 3, empty: 0, bytes: 5, present: 1, absent: 2 });
  const adder = filter.lineAdder();
  filter.free();
  assert.throws(() => adder.push(encoder.encode("d\n")), /freed/);
});

test("a reader stops when it is told to", async () => {
  const stop = new AbortController();
  let pieces = 0;
  function* endless() {
    for (;;) {
      if (++pieces === 5) stop.abort(new Error("enough"));
      yield encoder.encode("line\n");
    }
  }
  await assert.rejects(bloomery.build(endless(), { signal: stop.signal }), /enough/);
  assert.equal(pieces, 5);
  await assert.rejects(bloomery.build("x", { signal: AbortSignal.abort(new Error("never")) }), /never/);
});
