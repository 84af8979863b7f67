// The page's service worker, with stand-ins for network, cache and clock. No browser is needed for
// that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import vm from "node:vm";

import { root } from "./harness.mjs";

const source = readFileSync(path.join(root, "web/page/sw.js"), "utf8");
const base = "https://host/page/";
const reply = (body, more = {}) => ({ ok: true, status: 200, type: "basic", redirected: false, body, ...more });
const never = new Promise(() => {});

// A worker whose network is the function `fetch`, and whose copies are in `stores`, by the name of
// the cache.
function startWorker(fetch, stores = new Map(), version = "one") {
  const listeners = {};
  const world = { now: 1000, timers: [], stores, fetch };
  const store = (name) => stores.get(name) ?? stores.set(name, new Map()).get(name);
  vm.runInNewContext(source.replace("@page_version@", version), {
    self: {
      location: `${base}sw.js`,
      registration: { scope: base },
      addEventListener: (name, listener) => {
        listeners[name] = listener;
      },
      skipWaiting: async () => {},
      clients: { claim: async () => {} },
    },
    caches: {
      open: async (name) => ({
        put: async (file, response) => store(name).set(file, response),
        match: async (file) => store(name).get(file),
      }),
      keys: async () => [...stores.keys()],
      delete: async (name) => stores.delete(name),
    },
    fetch: (request) => world.fetch(typeof request === "string" ? request : request.url),
    setTimeout: (call, time, value) => world.timers.push(() => call(value)),
    Date: { now: () => world.now },
    Response: class {
      constructor(body) {
        Object.assign(this, reply(body));
      }
    },
    URL,
  });
  const fire = async (name) => {
    let done;
    listeners[name]({ waitUntil: (promise) => (done = promise) });
    await done;
  };
  world.install = async () => {
    await fire("install");
    await fire("activate");
  };
  world.ask = (url, method = "GET") => {
    let answer = null;
    listeners.fetch({ request: { url, method }, respondWith: (promise) => (answer = promise) });
    return answer;
  };
  return world;
}

const installed = async (...more) => {
  const world = startWorker(async (file) => reply(`copy of ${file}`), ...more);
  await world.install();
  return world;
};

test("a version is kept whole, and takes the place of the one before and of no other page", async () => {
  const stores = new Map([["bloomery-page https://host/ one", new Map()]]);
  await installed(stores, "one");
  const [, first] = stores.keys();
  await installed(stores, "two");
  assert.deepEqual([...stores.keys()], ["bloomery-page https://host/ one", first.replace(/one$/, "two")]);
  const broken = startWorker(async (file) => reply("", { ok: file !== "work.js", status: 404 }), stores, "three");
  await assert.rejects(broken.install(), /work\.js: status 404/);
  assert.ok(stores.has(first.replace(/one$/, "two")));
});

test("the network comes first, the copy where it fails", async () => {
  const world = await installed();
  world.fetch = async () => reply("fresh");
  assert.equal((await world.ask(`${base}plan.js?x#y`)).body, "fresh");
  world.fetch = async () => reply("gone", { ok: false, status: 404 });
  assert.equal((await world.ask(`${base}plan.js`)).body, "copy of plan.js");
  world.fetch = async () => {
    throw new Error("no network");
  };
  assert.equal((await world.ask(`${base}plan.js`)).body, "copy of plan.js");
  assert.equal((await world.ask(`${base}index.html`)).body, "copy of ./");
  assert.equal(world.ask(`${base}filters`), null);
  assert.equal(world.ask(`${base}plan.js`, "POST"), null);
});

test("a redirect is followed, and kept as what it leads to", async () => {
  const world = startWorker(async (file) => reply(`copy of ${file}`, { redirected: file === "./" }));
  await world.install();
  const [copies] = world.stores.values();
  assert.ok([...copies.values()].every((response) => !response.redirected));
  world.fetch = async () => reply(null, { ok: false, status: 0, type: "opaqueredirect" });
  assert.equal((await world.ask(`${base}index.html`)).type, "opaqueredirect");
});

test("a network that is too slow is not waited for again for half a minute", async () => {
  const world = await installed();
  world.fetch = () => never;
  const answer = world.ask(`${base}see.js`);
  world.timers.pop()();
  assert.equal((await answer).body, "copy of see.js");
  world.fetch = async () => reply("fresh");
  world.now += 29999;
  assert.equal((await world.ask(`${base}plan.js`)).body, "copy of plan.js");
  world.now += 1;
  assert.equal((await world.ask(`${base}plan.js`)).body, "fresh");
});
