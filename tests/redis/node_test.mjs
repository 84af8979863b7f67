// The commands as node-redis makes them, in both protocols: replies are what its types say. node.py
// starts the server.
import assert from "node:assert/strict";
import { createClient, RESP_TYPES } from "redis";

const port = Number(process.env.BLOOMERY_PORT);

// Everything in pieces, and back under another name.
async function reload(client, commands, from, to) {
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  for (let iterator = 0; ;) {
    const piece = await binary[commands].scanDump(from, iterator);
    if (piece.iterator === 0) break;
    iterator = piece.iterator;
    assert.equal(await client[commands].loadChunk(to, iterator, piece.chunk), "OK");
  }
}

async function bloom(client) {
  const { bf } = client;
  assert.equal(await bf.reserve("bf", 0.01, 1000, { EXPANSION: 4 }), "OK");
  assert.equal(await bf.add("bf", "a"), true);
  assert.deepEqual(await bf.mAdd("bf", ["a", "b"]), [false, true]);
  assert.deepEqual(await bf.insert("bf", ["b", "c"], { NOCREATE: true }), [false, true]);
  assert.deepEqual(await bf.insert("made", "c", { CAPACITY: 500, ERROR: 0.001, EXPANSION: 2 }), [true]);
  assert.equal(await bf.exists("bf", "a"), true);
  assert.deepEqual(await bf.mExists("bf", ["a", "z"]), [true, false]);
  assert.equal(await bf.card("bf"), 3);
  const info = await bf.info("bf");
  assert.equal(info["Capacity"], 1000);
  assert.equal(info["Number of filters"], 1);
  assert.equal(info["Number of items inserted"], 3);
  assert.equal(info["Expansion rate"], 4);
  assert.ok(info["Size"] > 100); // a filter with few items is kept packed
  await assert.rejects(bf.reserve("bf", 0.01, 1000), { message: "ERR item exists" });
  await reload(client, "bf", "bf", "bf again");
  assert.deepEqual(await bf.mExists("bf again", ["a", "b", "c", "z"]), [true, true, true, false]);
}

async function cuckoo(client) {
  const { cf } = client;
  assert.equal(await cf.reserve("cf", 1000, { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), "OK");
  assert.equal(await cf.add("cf", "a"), true);
  assert.equal(await cf.addNX("cf", "a"), false);
  assert.deepEqual(await cf.insert("cf", ["a", "b"], { NOCREATE: true }), [true, true]);
  assert.deepEqual((await cf.insertNX("cf", ["a", "c"])).map(Number), [0, 1]);
  assert.equal(await cf.exists("cf", "a"), true);
  assert.equal(await cf.exists("cf", "z"), false);
  assert.equal(await cf.count("cf", "a"), 2);
  assert.equal(await cf.del("cf", "a"), true);
  assert.equal(await cf.del("cf", "z"), false);
  await assert.rejects(cf.del("missing", "z"), { message: "Not found" });
  const { Size: size, "Number of buckets": buckets, ...rest } = await cf.info("cf");
  assert.ok(size > 100 && buckets >= 250);
  assert.deepEqual({ ...rest }, {
    "Number of filters": 1, "Number of items inserted": 3, "Number of items deleted": 1, "Bucket size": 4,
    "Expansion rate": 2, "Max iterations": 30,
  });
  await reload(client, "cf", "cf", "cf again");
  assert.equal(await cf.count("cf again", "a"), 1);
}

async function countMin(client) {
  const { cms } = client;
  assert.equal(await cms.initByDim("cms", 1000, 5), "OK");
  assert.equal(await cms.initByProb("prob", 0.001, 0.01), "OK");
  assert.deepEqual(await cms.incrBy("cms", { item: "a", incrementBy: 5 }), [5]);
  assert.deepEqual(await cms.incrBy("cms", [{ item: "a", incrementBy: 1 }, { item: "b", incrementBy: 2 }]), [6, 2]);
  assert.deepEqual(await cms.query("cms", ["a", "b", "z"]), [6, 2, 0]);
  assert.deepEqual({ ...await cms.info("cms") }, { width: 1000, depth: 5, count: 8 });
  assert.equal(await cms.initByDim("sum", 1000, 5), "OK");
  assert.equal(await cms.merge("sum", ["cms", "cms"]), "OK");
  assert.equal(await cms.merge("sum", [{ name: "cms", weight: 3 }, { name: "sum", weight: 1 }]), "OK");
  assert.deepEqual(await cms.query("sum", "a"), [30]);
  await assert.rejects(cms.query("missing", "a"), { message: "CMS: key does not exist" });
}

async function topK(client) {
  const { topK } = client;
  assert.equal(await topK.reserve("topk", 2, { width: 50, depth: 4, decay: 0.9 }), "OK");
  assert.deepEqual(await topK.add("topk", ["a", "b", "a"]), [null, null, null]);
  assert.deepEqual(await topK.incrBy("topk", [{ item: "c", incrementBy: 5 }, { item: "a", incrementBy: 1 }]), ["b", null]);
  assert.deepEqual(await topK.query("topk", ["a", "b"]), [true, false]);
  assert.deepEqual(await topK.count("topk", ["a", "c"]), [3, 5]);
  assert.deepEqual(await topK.list("topk"), ["c", "a"]);
  assert.deepEqual(await topK.listWithCount("topk"), [{ item: "c", count: 5 }, { item: "a", count: 3 }]);
  assert.deepEqual({ ...await topK.info("topk") }, { k: 2, width: 50, depth: 4, decay: 0.9 });
  // As with RedisBloom, a bad number ends the list of answers.
  const [refused] = await topK.incrBy("topk", { item: "a", incrementBy: -1 });
  assert.match(String(refused?.message), /^TopK: increment must be an integer greater or equal to 0 /);
  assert.deepEqual(await topK.list("topk"), ["c", "a"]); // the connection goes on
}

async function digest(client, RESP) {
  const { tDigest } = client;
  // In RESP2 this version of the client takes infinity for no number.
  const infinite = RESP === 2 ? NaN : Infinity;
  assert.equal(await tDigest.create("times", { COMPRESSION: 200 }), "OK");
  assert.ok(Number.isNaN((await tDigest.quantile("times", [0.5]))[0]));
  assert.ok(Number.isNaN(await tDigest.min("times")));
  assert.equal(await tDigest.add("times", [12, 7.5, 31, 9, 8]), "OK");
  assert.deepEqual(await tDigest.quantile("times", [0.5, 1]), [9, 31]);
  assert.deepEqual(await tDigest.cdf("times", [5, 9, 40]), [0, 0.5, 1]);
  assert.deepEqual(await tDigest.rank("times", [9, 5, 100]), [2, -1, 5]);
  assert.deepEqual(await tDigest.revRank("times", [9, 100]), [2, -1]);
  assert.deepEqual(await tDigest.byRank("times", [0, 2, 5]), [7.5, 9, infinite]);
  assert.deepEqual(await tDigest.byRevRank("times", [0, 5]), [31, -infinite]);
  assert.ok(Math.abs(await tDigest.trimmedMean("times", 0.2, 0.8) - 29 / 3) < 1e-9);
  assert.equal(await tDigest.create("more"), "OK");
  assert.equal(await tDigest.add("more", [-1.5]), "OK");
  assert.equal(await tDigest.merge("all", ["times", "more"], { COMPRESSION: 150 }), "OK");
  assert.deepEqual([await tDigest.min("all"), await tDigest.max("all")], [-1.5, 31]);
  assert.equal(await tDigest.merge("all", "times", { OVERRIDE: true }), "OK");
  assert.equal(await tDigest.min("all"), 7.5);
  const info = await tDigest.info("all");
  assert.deepEqual([info["Compression"], info["Observations"]], [200, 5]);
  assert.equal(info["Merged nodes"] + info["Unmerged nodes"], 5);
  assert.ok(info["Capacity"] > 200 && info["Memory usage"] > 80);
  assert.equal(await tDigest.reset("all"), "OK");
  assert.ok(Number.isNaN(await tDigest.max("all")));
  await assert.rejects(tDigest.add("all", ["x"]), { message: "ERR T-Digest: error parsing val parameter" });
  await assert.rejects(tDigest.min("missing"), { message: "ERR T-Digest: key does not exist" });
}

for (const RESP of [2, 3]) {
  const client = createClient({ RESP, socket: { host: "127.0.0.1", port } });
  client.on("error", (error) => { throw error; });
  await client.connect();
  for (const family of [bloom, cuckoo, countMin, topK, digest]) {
    await client.flushAll();
    await family(client, RESP);
    console.log(`RESP${RESP} ${family.name}: fine`);
  }
  client.destroy();
}
