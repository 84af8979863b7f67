// Damaged and hostile input is an Error, and the module goes on.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { BloomeryError, golden, load, root } from "./common.mjs";

const bloomery = await load();

function works() {
  const filter = bloomery.create({ keys: 100 });
  filter.add("still here");
  assert.equal(filter.contains("still here"), true);
  filter.free();
}

/**
 * Opens and asks for all that there is. Anything but an answer or an error of the library fails the
 * test.
 */
function use(bytes, what) {
  let filter;
  try {
    filter = bloomery.open(bytes);
  } catch (e) {
    assert.ok(e instanceof BloomeryError, `${what}: ${e.stack}`);
    assert.notEqual(e.code, "internal", `${what}: ${e.message}`);
    assert.notEqual(e.message, "", what);
    return false;
  }
  const tries = [() => filter.contains("a"), () => filter.contains(1n), () => filter.add("a"), () => filter.info(),
    () => filter.explain("a"), () => filter.fill(), () => filter.cells(0, 10), () => filter.count("a"),
    () => filter.value("a"), () => filter.remove("a"), () => filter.top(), () => filter.merge(filter.clone()),
    () => filter.toBytes(), () => filter.pack(), () => filter.rates([1, 1e6]), () => filter.clear()];
  for (const attempt of tries) {
    try {
      attempt();
    } catch (e) {
      assert.ok(e instanceof BloomeryError && e.code !== "internal", `${what}: ${attempt}: ${e.stack}`);
    }
  }
  filter.free();
  return true;
}

let state = 1;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

test("what is no filter", () => {
  const none = [new Uint8Array(0), new Uint8Array(1), new Uint8Array(1e6),
    new TextEncoder().encode("a text\n".repeat(99)), golden[0].bytes.subarray(0, 8), new Uint8Array(300).fill(255)];
  for (const bytes of none) assert.throws(() => bloomery.open(bytes), BloomeryError);
  assert.throws(() => bloomery.open("a string"), TypeError);
  assert.throws(() => bloomery.open(undefined), TypeError);
  assert.throws(() => bloomery.check(new Uint8Array(5)), (e) => e.code === "not_bloomery");
  works();
});

test("flipped bits of every golden file are found", () => {
  for (const { name, bytes } of golden) {
    for (let i = 0; i < 40; ++i) {
      const damaged = bytes.slice();
      const place = i < 20 ? random(Math.min(256, bytes.length)) : random(bytes.length);
      damaged[place] ^= 1 << random(8);
      const what = `${name}, byte ${place}`;
      assert.equal(use(damaged, what), false, `${what} is not covered by a checksum`);
    }
  }
  works();
});

test("every length and appended bytes", () => {
  for (const { name, bytes } of golden) {
    for (let i = 0; i < 20; ++i) use(bytes.subarray(0, random(bytes.length)), `${name}, cut`);
    const longer = new Uint8Array(bytes.length + 100);
    longer.set(bytes);
    use(longer, `${name}, longer`);
  }
  works();
});

test("packed filters with flipped bits", () => {
  for (const { name, bytes } of golden) {
    const filter = bloomery.open(bytes);
    const packed = filter.pack();
    filter.free();
    for (let i = 0; i < 20; ++i) {
      const damaged = packed.slice();
      damaged[random(packed.length)] ^= 1 << random(8);
      use(damaged, `${name}, packed`);
    }
  }
  works();
});

// With right checksums, so that what lies behind them is reached: sizes beyond 32 bits, odd shapes,
// wild counts.
test("altered filters with right checksums", () => {
  const script = `
import struct, sys
from pathlib import Path
root = Path(sys.argv[1])
sys.path.insert(0, str(root / "tests/sql"))
import mutations
images = [path.read_bytes() for path in sorted((root / "tests/golden").glob("*.bloom"))]
for image in mutations.mutated(images, int(sys.argv[2]), int(sys.argv[3])):
    sys.stdout.buffer.write(struct.pack("<I", len(image)) + image)
`;
  const count = process.env.BLOOMERY_WEB_MUTATIONS ?? "3000";
  const seed = process.env.BLOOMERY_WEB_SEED ?? "26";
  const all = execFileSync("/usr/bin/python3", ["-c", script, root, count, seed], { maxBuffer: 1 << 30 });
  let opened = 0;
  for (let at = 0; at < all.length;) {
    const length = all.readUInt32LE(at);
    if (use(new Uint8Array(all.subarray(at + 4, at + 4 + length)), `altered filter at ${at}`)) ++opened;
    at += 4 + length;
  }
  assert.ok(opened > Number(count) / 50, `only ${opened} could be opened: the checksums are wrong`);
  works();
});

test("errors give their memory back", () => {
  const { bytes } = golden.find(({ name }) => name === "blocked-1pc");
  const damaged = bytes.slice();
  damaged[damaged.length - 9] ^= 1;
  const once = () => assert.throws(() => bloomery.open(damaged), (e) => e.code === "corrupt");
  for (let i = 0; i < 1000; ++i) once();
  const before = bloomery.memoryBytes;
  for (let i = 0; i < 20000; ++i) once();
  assert.equal(bloomery.memoryBytes, before);
});

test("more than memory", () => {
  for (const keys of [1e10, 1e12, 2 ** 53 - 1, 2n ** 63n]) {
    for (const kind of bloomery.kinds.filter((name) => name !== "top-k")) {
      try {
        bloomery.create({ kind, keys }).free();
      } catch (e) {
        assert.ok(e instanceof BloomeryError && e.code !== "internal", `${kind}: ${e.stack}`);
      }
    }
  }
  works();
});
