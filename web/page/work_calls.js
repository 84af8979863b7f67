// Calls of worker.js as promises, each with its id.

// `wasm` is the compiled module. reopen() is called with a fresh worker after one had to be ended:
// what it had is gone.
export function startCalls(wasm, reopen) {
  let worker = null;
  let speaks = false; // this worker
  let lost = false; // what an earlier worker had
  let lastId = 0;
  let waiting = new Map();

  function start() {
    speaks = false;
    const fresh = new Worker("worker.js", { type: "module" });
    worker = fresh;
    worker.onmessage = ({ data }) => {
      if (worker !== fresh) return;
      speaks = true;
      const call = waiting.get(data.id);
      if (!call) return;
      if (data.progress) {
        call.progress?.(data.progress);
        return;
      }
      waiting.delete(data.id);
      if (data.error) call.reject(Object.assign(new Error(data.error.message), data.error));
      else call.resolve(data.result);
    };
    worker.postMessage({ wasm });
    worker.onerror = (event) => {
      if (worker === fresh) end(new Error(event.message || "the worker stopped"));
    };
  }

  // One that never said anything could not be loaded, most likely: the next call tries again, and
  // nobody before that.
  function end(error) {
    const calls = [...waiting.values()];
    waiting = new Map();
    worker.terminate();
    worker = null;
    for (const call of calls) call.reject(error);
    lost ||= speaks;
    if (speaks) restart();
  }

  function restart() {
    start();
    if (lost) reopen();
  }

  function ask(call, args, progress) {
    if (!worker) restart();
    const id = ++lastId;
    worker.postMessage({ id, call, args });
    const promise = new Promise((resolve, reject) => waiting.set(id, { resolve, reject, progress }));
    promise.id = id;
    return promise;
  }

  // A call that does not stop by itself within a second (a solver) is ended with its worker.
  function cancel(id) {
    if (!waiting.has(id)) return;
    worker.postMessage({ cancel: id });
    setTimeout(() => {
      if (waiting.has(id)) end(Object.assign(new Error("cancelled"), { cancelled: true }));
    }, 1000);
  }

  return { ask, cancel };
}
