// The calls one by one: keys, options, errors, numbers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { BloomeryError, load, modulePath } from "./common.mjs";

const bloomery = await load();

test("keys of every type are different keys", () => {
  const filter = bloomery.create({ keys: 1000, fpr: 1e-6 });
  filter.addAll(["42", 7, new Uint8Array([1, 2]), -1, 2n ** 64n - 2n, "", "é"]);
  const asked = ["42", 42, 7, "7", 7n, new Uint8Array([1, 2]), -1n, 2n ** 64n - 1n, -2, "", "é"];
  assert.deepEqual(filter.containsAll(asked),
    [true, false, true, false, true, true, true, true, true, true, true]);
  assert.equal(filter.contains(new TextEncoder().encode("é")), true);
  assert.equal(filter.contains("x".repeat(100000)), false);
  assert.equal(filter.size, 7);
  for (const wrong of [1.5, 2 ** 60, NaN, Infinity, 2n ** 64n, -(2n ** 63n) - 1n]) {
    assert.throws(() => filter.add(wrong), BloomeryError);
  }
  for (const wrong of [null, undefined, {}, [], true, Symbol("x"), new Date()]) {
    assert.throws(() => filter.add(wrong), TypeError);
  }
  filter.clear();
  assert.equal(filter.contains("42"), false);
});

test("a form refuses keys of another", () => {
  const filter = bloomery.create({ keys: 10, form: "integers" });
  filter.add(1);
  assert.throws(() => filter.add("1"), (e) => e instanceof BloomeryError && e.code === "mismatch");
  const text = bloomery.create({ keys: 10, form: "text" });
  assert.throws(() => text.add(1), (e) => e.code === "mismatch");
  text.add("1");
});

test("removing, counting, forgetting", () => {
  const counting = bloomery.create({ kind: "counting", keys: 100 });
  counting.addAll(["a", "a", "b"]);
  assert.equal(counting.count("a"), 2);
  assert.equal(counting.remove("b"), true);
  assert.equal(counting.remove("b"), false);
  assert.equal(counting.contains("b"), false);
  const windowed = bloomery.create({ kind: "windowed", keys: 100, window: 60 });
  windowed.advance(1000);
  windowed.add("a");
  assert.equal(windowed.contains("a"), true);
  windowed.advance(5000);
  assert.equal(windowed.contains("a"), false);
  const top = bloomery.create({ kind: "top-k", keys: 1000, k: 2 });
  top.addAll(["x", "y", "x", "z", "x", "y"]);
  assert.deepEqual(top.top().map(({ key, count }) => [new TextDecoder().decode(key), count]), [["x", 3], ["y", 2]]);
  assert.throws(() => counting.top(), (e) => e.code === "unsupported");
  assert.throws(() => top.remove("x"), (e) => e.code === "unsupported");
  assert.equal(counting.can.remove, true);
  assert.equal(top.can.list, true);
  assert.equal(bloomery.create({ keys: 9 }).can.remove, false);
});

test("static kinds and maps", () => {
  assert.throws(() => bloomery.create({ kind: "ribbon", keys: 10 }), BloomeryError);
  const ribbon = bloomery.buildKeys([1, 2n, 3], { kind: "ribbon", fpr: 1e-4 });
  assert.deepEqual(ribbon.containsAll([1, 2, 3, 4]), [true, true, true, false]);
  assert.equal(ribbon.info().form, "integers");
  assert.throws(() => ribbon.add(5), BloomeryError);
  const map = bloomery.buildKeys(["a", "b"], { kind: "bloomier", fpr: 1e-4 }, [10, 2n ** 60n]);
  assert.equal(map.value("a"), 10);
  assert.equal(map.value("b"), 2n ** 60n);
  assert.equal(map.value("c"), undefined);
  assert.throws(() => bloomery.buildKeys(["a", 1]), TypeError);
  assert.throws(() => bloomery.buildKeys(["a"], { kind: "bloomier" }, [1, 2]), /1 keys and 2 values/);
  assert.equal(bloomery.buildKeys([]).contains("x"), false);
});

test("options that make no sense are refused with a sentence", () => {
  const refused = (options, pattern) => assert.throws(() => bloomery.create(options),
    (e) => e instanceof BloomeryError && pattern.test(e.message), Object.keys(options).join());
  refused({ keys: 10, fpr: 2 }, /2/);
  refused({ keys: 10, fpr: 0 }, /more than 0/);
  refused({ keys: 10, fpr: NaN }, /NaN/);
  refused({ keys: -1 }, /-1/);
  refused({ keys: 1.5 }, /1\.5/);
  refused({ keys: 10, kind: "round" }, /round.*classic/);
  refused({ keys: 10, fpr: 0.1, bytes: 100 }, /./);
  refused({ keys: 10, probes: 10 ** 6 }, /./);
  refused({ keys: 10, growth: 2 }, /growth/);
  refused({ keys: 10, seed: 2n ** 64n }, /2\^64/);
  assert.throws(() => bloomery.create({ keys: 10, bits_per_key: 3 }), /bits_per_key/);
  assert.throws(() => bloomery.create(null), TypeError);
  assert.equal(bloomery.create({ keys: 10, seed: 2n ** 64n - 1n }).info().seed, 2n ** 64n - 1n);
});

test("curves", () => {
  const rates = bloomery.rates({ keys: 1000, fpr: 0.01 }, [0, 500, 1000, 2000, 5000]);
  assert.equal(rates.length, 5);
  assert.equal(rates[0], 0);
  for (let i = 1; i < rates.length; ++i) assert.ok(rates[i] > rates[i - 1]);
  assert.ok(rates[2] <= 0.01);
  const filter = bloomery.create({ keys: 1000, fpr: 0.01 });
  assert.deepEqual(filter.rates([0, 500, 1000, 2000, 5000]), rates);
  assert.ok(Number.isNaN(bloomery.rates({ keys: 1000 }, [-1])[0]));
  const sizes = bloomery.sizes({ kind: "blocked", keys: 1e6 }, [0.1, 0.01, 0.001, 1e-15]);
  assert.ok(sizes[0] < sizes[1] && sizes[1] < sizes[2] && Number.isNaN(sizes[3]));
  const row = bloomery.plan({ keys: 1e6, fpr: 0.01 }).rows.find(({ kind }) => kind === "blocked");
  assert.equal(sizes[1], row.bits_per_key);
});

test("explain has the places and the reason", () => {
  const filter = bloomery.create({ keys: 100 });
  filter.add("in");
  const found = filter.explain("in");
  assert.equal(found.contained, true);
  assert.equal(found.places.length, filter.info().probes);
  const cells = filter.cells();
  for (const { position, value } of found.places) {
    assert.equal(value, 1);
    assert.equal(cells.values[position], 1);
  }
  assert.equal(filter.explain("out").contained, false);
  const cuckoo = bloomery.create({ kind: "cuckoo", keys: 100 });
  assert.ok(cuckoo.explain("x").sentences.length > 0);
});

test("a freed filter is refused, and filters of other instances", async () => {
  const filter = bloomery.create({ keys: 10 });
  const other = await load();
  assert.throws(() => filter.merge(other.create({ keys: 10 })), (e) => e.code === "mismatch");
  assert.throws(() => filter.merge({}), TypeError);
  assert.throws(() => filter.merge(bloomery.create({ keys: 1000 })), (e) => e.code === "mismatch");
  filter.free();
  filter.free();
  assert.throws(() => filter.contains("x"), /freed/);
});

test("what nobody holds is freed", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const before = bloomery.memoryBytes;
  for (let i = 0; i < 400; ++i) {
    bloomery.create({ keys: 1e6 });
    if (i % 10 === 9) {
      gc();
      await new Promise((done) => setTimeout(done));
    }
  }
  assert.ok(bloomery.memoryBytes < before + 200e6);
});

test("the module is loaded from bytes, a compiled module, and in a worker", async () => {
  const bytes = readFileSync(modulePath.replace(/\.js$/, ".wasm"));
  const compiled = await WebAssembly.compile(bytes);
  for (const wasm of [bytes, compiled, new Response(bytes, { headers: { "Content-Type": "application/wasm" } })]) {
    assert.equal((await load({ wasm })).version, bloomery.version);
  }
  await assert.rejects(load({ wasm: new Response("no", { status: 404, statusText: "Not Found" }) }), /404/);
  const worker = new Worker(`import(${JSON.stringify(new URL(modulePath, "file://").href)}).then(async ({ load }) =>
    (await import("node:worker_threads")).parentPort.postMessage((await load()).create({ keys: 5 }).toBytes()))`,
  { eval: true });
  const made = await new Promise((done, failed) => worker.once("message", done).once("error", failed));
  assert.equal(bloomery.open(made).kind, "blocked");
  await worker.terminate();
});

test("the package says its version and its files", () => {
  const { version, files } = JSON.parse(readFileSync(modulePath.replace(/bloomery\.js$/, "package.json"), "utf8"));
  assert.equal(version, bloomery.version);
  for (const name of files) readFileSync(modulePath.replace(/bloomery\.js$/, name));
});
