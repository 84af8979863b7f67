// What the module makes and tells is what the tool makes and tells.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, built, file, golden, load, run, runJson, words } from "./common.mjs";

const bloomery = await load();
const lines = words(20000);
const path = file("words.txt", lines);

// The options of build() and those of the tool.
const builds = [
  [{}, []],
  [{ fpr: 0.001, seed: 7 }, ["--fpr", "0.001", "--seed", "7"]],
  [{ hash: "xxh3-secret", seed: 99 }, ["--hash", "xxh3-secret", "--seed", "99"]],
  [{ bitsPerKey: 12 }, ["--bits-per-key", "12"]],
  [{ bytes: 40000, probes: 5 }, ["--bytes", "40000", "--probes", "5"]],
  [{ keys: 50000 }, ["--keys", "50000"]],
  [{ kind: "split-block" }, ["--kind", "split-block"]],
  [{ kind: "classic" }, ["--kind", "classic"]],
  [{ kind: "partitioned" }, ["--kind", "partitioned"]],
  [{ kind: "counting" }, ["--kind", "counting"]],
  [{ kind: "counting", layout: "classic", cellBits: 8 },
    ["--kind", "counting", "--layout", "classic", "--cell-bits", "8"]],
  [{ kind: "scalable" }, ["--kind", "scalable"]],
  [{ kind: "scalable", keys: 1000 }, ["--kind", "scalable", "--keys", "1000"]],
  [{ kind: "layered" }, ["--kind", "layered"]],
  [{ kind: "layered", keys: 1000, growth: 4 }, ["--kind", "layered", "--keys", "1000", "--growth", "4"]],
  [{ kind: "cuckoo" }, ["--kind", "cuckoo"]],
  [{ kind: "cuckoo", bucketCells: 2 }, ["--kind", "cuckoo", "--bucket", "2"]],
  [{ kind: "fuse" }, ["--kind", "fuse"]],
  [{ kind: "ribbon", fpr: 0.001 }, ["--kind", "ribbon", "--fpr", "0.001"]],
  [{ kind: "count-min" }, ["--kind", "count-min"]],
  [{ kind: "count-min", epsilon: 0.001, update: "conservative" },
    ["--kind", "count-min", "--epsilon", "0.001", "--update", "conservative"]],
  [{ kind: "spectral" }, ["--kind", "spectral"]],
  [{ kind: "spectral", update: "recurring" }, ["--kind", "spectral", "--update", "recurring"]],
  [{ kind: "top-k", keys: 20000 }, ["--kind", "top-k", "--keys", "20000"]],
  [{ kind: "windowed" }, ["--kind", "windowed"]],
  [{ keepEmpty: true, crlf: true }, ["--keep-empty", "--crlf"]],
  [{ null: true }, ["--null"]],
];

for (const [options, given] of builds) {
  test(`build ${given.join(" ")}`, async () => {
    const filter = await bloomery.build(new TextEncoder().encode(lines), options);
    assert.deepEqual(filter.toBytes(), built(path, ...given));
    filter.free();
  });
}

test("every kind that is made of lines is built here", () => {
  const kinds = new Set(builds.map(([{ kind = "blocked" }]) => kind));
  assert.deepEqual(bloomery.kinds.filter((kind) => !kinds.has(kind)), ["bloomier"]);
});

test("a byte-order mark is no part of the first line, however the pieces are cut", async () => {
  for (const [text, options, given] of [["\ufeffapple\npear", {}, []], ["\ufeff\npear", {}, []], ["\ufeff", {}, []],
    ["\ufeff", { keepEmpty: true, keys: 10 }, ["--keep-empty", "--keys", "10"]],
    ["a\n\ufeffb\n", {}, []], ["\ufeffa\0b\0", { null: true }, ["--null"]]]) {
    const bytes = new TextEncoder().encode(text);
    const expected = built(file("mark.txt", text), ...given);
    for (const length of [1, 2, 100]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.subarray(i * length, (i + 1) * length));
      assert.deepEqual((await bloomery.build(parts, options)).toBytes(), expected, JSON.stringify(text));
    }
  }
});

test("no lines make an empty filter, as the tool's", async () => {
  for (const kind of ["blocked", "ribbon", "fuse", "cuckoo"]) {
    const filter = await bloomery.build("", { kind });
    assert.deepEqual(filter.toBytes(), built(file("empty.txt", ""), "--kind", kind), kind);
  }
});

test("a map of the tool has the bytes of one that is made here", () => {
  const keys = Array.from({ length: 500 }, (_, i) => `key ${i}`);
  const made = bloomery.buildKeys(keys, { kind: "bloomier" }, keys.map((_, i) => i * 3));
  const out = file("map.bloom", "");
  run("map", "build", "-q", "-o", out, file("map.txt", keys.map((key, i) => `${key}\t${i * 3}\n`).join("")));
  const read = bloomery.open(made.toBytes());
  keys.forEach((key, i) => assert.equal(read.value(key), i * 3));
  assert.equal(runJson("info", "--json", file("made.bloom", made.toBytes())).kind, "bloomier");
});

const plans = [
  [{ keys: 1000 }, ["--keys", "1000"]],
  [{ keys: 1e9, fpr: 0.001 }, ["--keys", "1e9", "--fpr", "0.001"]],
  [{ keys: 7000000, bytes: 8000000 }, ["--keys", "7M", "--bytes", "8M"]],
  [{ keys: 12345, bitsPerKey: 9.6, keyBytes: 40 }, ["--keys", "12345", "--bits-per-key", "9.6", "--key-bytes", "40"]],
  [{ keys: 1000, fpr: 1e-12 }, ["--keys", "1000", "--fpr", "1e-12"]],
  [{ keys: 1000, probes: 3, universe: 2 ** 32 }, ["--keys", "1000", "--probes", "3", "--universe", "2^32"]],
  [{ keys: 1 }, ["--keys", "1"]],
];
for (const [options, given] of plans) {
  test(`plan ${given.join(" ")}`, () => {
    assertClose(bloomery.plan(options), runJson("plan", "--json", ...given));
  });
}

test("info and explain of every golden file are the tool's", () => {
  for (const { name, path: filterPath, bytes, answers } of golden) {
    const filter = bloomery.open(bytes);
    // What depends on a secret, on foreign functions or on the clock is asked of neither.
    if (/siphash|sha1|md5|murmur|windowed/.test(name)) continue;
    const told = (text) => JSON.parse(text.toString().replace(/(: )(\d{16,})/g, '$1"$2"'));
    const mine = (object) => JSON.parse(JSON.stringify(object, (_, value) =>
      typeof value === "bigint" ? String(value) : value));
    assertClose(mine(filter.info()), told(run("info", "--json", filterPath)), name);
    const integers = answers.integers === true;
    const asked = [...(answers.present ?? []).slice(3, 4), ...(answers.absent ?? []).slice(3, 4)];
    for (const key of asked) {
      const { sentences, ...mineOfKey } = filter.explain(integers ? BigInt(key) : key);
      const form = integers ? ["--integers"] : [];
      const { key: _, ...toolOfKey } = told(run("explain", "--json", ...form, filterPath, "--", String(key)));
      assertClose(mine(mineOfKey), toolOfKey, `${name}: ${key}`);
      if (sentences.length === 0) continue;
      const printed = run("explain", ...form, filterPath, "--", String(key)).toString();
      for (const sentence of sentences) assert.ok(printed.includes(sentence), `${name}: ${sentence}`);
    }
    filter.free();
  }
});

test("check counts and prints what the tool does", async () => {
  const filter = await bloomery.build(lines, {});
  const filterPath = file("asked.bloom", filter.toBytes());
  const asked = lines.replaceAll("-7", "-77").replace("\n", "\n\n\r\n");
  const askedPath = file("asked.txt", asked);
  for (const select of ["present", "absent"]) {
    const parts = [];
    const counts = await filter.containsLines(asked, { select, onLines: (part) => parts.push(Buffer.from(part)) });
    const given = select === "absent" ? ["-v"] : [];
    const printed = run("check", ...given, filterPath, askedPath);
    assert.ok(Buffer.concat(parts).equals(printed), select);
    assert.equal(counts[select], printed.toString().split("\n").length - 1);
  }
});

test("fill is what info --plot draws, and merge and compare are the tool's", async () => {
  const a = await bloomery.build(lines, { keys: 20000 });
  const b = await bloomery.build(words(30000, 0.3), { keys: 20000 });
  const paths = [file("a.bloom", a.toBytes()), file("b.bloom", b.toBytes())];
  const c = runJson("compare", "--json", ...paths);
  const mine = a.compare(b);
  for (const [name, field] of Object.entries({ keysA: "keys_a", keysB: "keys_b", keysUnion: "keys_union",
    keysIntersection: "keys_intersection", onlyA: "only_a", onlyB: "only_b", jaccard: "jaccard" })) {
    assertClose(mine[name], { value: c[field], standardError: c[`${field}_standard_error`] }, name);
  }
  assert.equal(mine.sharedBits, c.shared_bits);
  assert.equal(mine.aMayBeInB, c.a_may_be_in_b);
  assert.equal(mine.bMayBeInA, c.b_may_be_in_a);
  const fill = a.fill(10);
  assert.equal(fill.slices.length, 10);
  assert.ok(Math.abs(fill.used / fill.cells - a.info().fill) < 1e-9);
  const ones = a.cells(0, 512).values.reduce((sum, bit) => sum + bit, 0);
  assert.ok(ones > 0 && ones < 512);
  run("merge", "-q", "-o", paths[0] + ".all", ...paths);
  a.merge(b);
  const merged = file("merged.bloom", a.toBytes());
  assert.deepEqual(runJson("info", "--json", merged), runJson("info", "--json", paths[0] + ".all"));
});
