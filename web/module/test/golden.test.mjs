// The golden file of every kind opens and answers as its .json says, and comes out as it was.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BloomeryError, golden, load } from "./common.mjs";

const bloomery = await load();

// What needs a function that is not in the module: it opens, and says so when it is asked.
const foreign = ["siphash", "sha1", "md5", "murmur"];

test("there is a golden file of every kind", () => {
  const kinds = new Set(golden.map(({ bytes }) => bloomery.open(bytes).kind));
  assert.deepEqual([...kinds].sort(), [...bloomery.kinds].sort());
});

for (const { name, bytes, answers } of golden) {
  test(name, () => {
    const filter = bloomery.open(bytes);
    const integers = answers.integers === true;
    const keyOf = (key) => (integers ? BigInt(key) : key);
    assert.deepEqual(filter.toBytes(), bytes);
    assert.equal(filter.info().kind, filter.kind);
    if (foreign.some((hash) => name.includes(hash))) {
      assert.throws(() => filter.contains("a key"), BloomeryError);
      return;
    }
    for (const key of answers.present ?? []) assert.equal(filter.contains(keyOf(key)), true, `${key}`);
    for (const key of answers.absent ?? []) assert.equal(filter.contains(keyOf(key)), false, `${key}`);
    for (const [key, count] of Object.entries(answers.counts ?? {})) {
      assert.equal(BigInt(filter.count(keyOf(key))), BigInt(count), `count of ${key}`);
    }
    for (const [key, value] of Object.entries(answers.values ?? {})) {
      assert.equal(BigInt(filter.value(keyOf(key))), BigInt(value), `value of ${key}`);
    }
    if (answers.top) {
      const listed = filter.top().map(({ key, count }) => [new TextDecoder().decode(key), count]);
      assert.deepEqual(listed, answers.top);
    }
    const copy = filter.clone();
    assert.equal(copy.equals(filter), true);
    filter.free();
    assert.deepEqual(copy.toBytes(), bytes);
    assert.deepEqual(bloomery.open(copy.pack()).toBytes(), bytes);
    copy.free();
  });
}
