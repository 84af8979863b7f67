// Calls of worker.js as promises, each with its id.

// `wasm` is the compiled module. reopen() is called with a fresh worker after one had to be ended: what it had is gone.
export function startCalls(wasm, reopen) {
  let worker = null;
  let lastId = 0;
  let waiting = new Map();

  function start() {
    worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => {
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
    worker.onerror = (event) => end(new Error(event.message || "the worker stopped"));
  }

  function end(error) {
    const calls = [...waiting.values()];
    waiting = new Map();
    worker.terminate();
    start();
    for (const call of calls) call.reject(error);
    reopen();
  }

  function ask(call, args, progress) {
    if (!worker) start();
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
