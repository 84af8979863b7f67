// Calls of the worker, with a stand-in for it. No browser is needed for that.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { startCalls } from "../page/work_calls.js";

let workers;
globalThis.Worker = class {
  ended = false;
  sent = [];
  constructor() {
    workers.push(this);
  }
  postMessage(message) {
    if (message.id) this.sent.push(message);
  }
  terminate() {
    this.ended = true;
  }
  answer(result) {
    this.onmessage({ data: { id: this.sent.at(-1).id, result } });
  }
};
beforeEach(() => {
  workers = [];
});

test("a worker that cannot be loaded is started once for each call", async () => {
  let reopened = 0;
  const { ask } = startCalls({}, () => ++reopened);
  for (let i = 1; i <= 3; ++i) {
    const call = ask("build", {});
    assert.equal(workers.length, i);
    workers.at(-1).onerror({ message: "no such file" });
    await assert.rejects(call, /no such file/);
    assert.equal(workers.length, i);
    assert.ok(workers.at(-1).ended);
  }
  assert.equal(reopened, 0);
  const call = ask("build", {});
  workers.at(-1).answer("made");
  assert.equal(await call, "made");
});

test("one that fails later is replaced at once, and what it had is opened again", async () => {
  let reopened = 0;
  const { ask } = startCalls({}, () => ++reopened);
  const first = ask("open", {});
  workers[0].answer("opened");
  await first;
  const second = ask("check", {});
  workers[0].onerror({});
  await assert.rejects(second, /the worker stopped/);
  assert.equal(workers.length, 2);
  assert.equal(reopened, 1);
  // If that one cannot be loaded, the next call starts one that opens them.
  workers[1].onerror({ message: "no network" });
  assert.equal(workers.length, 2);
  const third = ask("check", {});
  assert.equal(workers.length, 3);
  assert.equal(reopened, 2);
  workers[2].answer(7);
  assert.equal(await third, 7);
});
