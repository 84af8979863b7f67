// Which view is shown, the state in the address, the theme, and the module that all views share.
//
// The address is #VIEW?NAME=VALUE&...: it works on any static host and without a network, and is
// never sent to one.

import { load } from "./module/bloomery.js";
import { $, announce } from "./dom.js";

const views = {}; // by name: {start(engine, app), show(state)}
const titles = { plan: "Plan", see: "See", work: "Work", served: "Served" };
const modules = { plan: "./plan.js", see: "./see.js", work: "./work.js", served: "./served.js" };

export const app = {
  engine: null,
  wasm: null, // the compiled module
  address: location.hash, // the last that show() has seen or flush() has written
  // Replaces the state of the view that is shown; sliders write often, so that it waits a little.
  save(view, state) {
    clearTimeout(app.waiting);
    const query = String(new URLSearchParams(state));
    app.pending = `#${view}${query ? `?${query}` : ""}`;
    app.waiting = setTimeout(app.flush, 200);
  },
  // A link that was followed a moment ago stays in the address: show() comes for it.
  flush() {
    clearTimeout(app.waiting);
    if (app.pending && app.pending !== location.hash && location.hash === app.address) {
      window.history.replaceState(null, "", app.pending);
      app.address = location.hash;
    }
    app.pending = null;
  },
  problem(text) {
    $("#problem").textContent = text;
    $("#problem").hidden = !text;
  },
};

function parseHash() {
  const [name, query] = location.hash.slice(1).split("?");
  return { name: name in titles ? name : "plan", state: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

let shown = null;
async function show(focus) {
  app.address = location.hash;
  if (location.hash === "#main") return; // the link past the navigation
  app.pending = null;
  const { name, state } = parseHash();
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== `view-${name}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${titles[name]} · Bloomery`;
  const changed = shown !== name;
  if (changed && shown) views[shown]?.hide?.();
  shown = name;
  if (focus && changed) {
    scrollTo(0, 0);
    $("#main").focus({ preventScroll: true });
    announce(`${titles[name]} view`, 0);
  }
  try {
    if (!views[name]) {
      const [module, engine] = await Promise.all([import(modules[name]), engineReady]);
      views[name] ??= module.start(engine, app);
      // Until here nobody listens: a file that was chosen or a form that was sent would be lost.
      $(`#view-${name}`).inert = false;
    }
    if (shown === name) views[name].show(state);
  } catch (error) {
    app.problem(`This view could not start: ${error.message}`);
  }
}

function startTheme() {
  const select = $("#theme");
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let stored = "auto";
  try {
    stored = localStorage.getItem("theme") ?? "auto";
  } catch {
    /* no storage: the choice lasts as long as the page */
  }
  select.value = stored;
  apply(select.value);
  select.addEventListener("change", () => {
    apply(select.value);
    try {
      localStorage.setItem("theme", select.value);
    } catch {
      /* likewise */
    }
  });
}

function startOffline() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  navigator.serviceWorker
    .register("sw.js")
    .then((registration) => {
      const worker = registration.installing ?? registration.waiting;
      const look = () => {
        if (registration.active || (worker && worker.state !== "redundant")) return;
        $("#offline").textContent = "Could not be kept for times without a network.";
      };
      worker?.addEventListener("statechange", look);
      look();
      return navigator.serviceWorker.ready;
    })
    .then(() => {
      $("#offline").textContent = "Works without a network from now on.";
    })
    .catch(() => {
      /* a host that forbids it: the page works as long as it can be fetched */
    });
}

startTheme();
// Compiled here, once: the worker gets the same module, so that it starts at once.
const compiledModule = fetch("module/bloomery.wasm").then(async (response) => {
  if (!response.ok) throw new Error(`${response.url}: status ${response.status}`);
  const streams = (response.headers.get("Content-Type") ?? "").startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
});
const engineReady = compiledModule.then(async (wasm) => {
  const engine = await load({ wasm });
  app.wasm = wasm;
  app.engine = engine;
  $("#version").textContent = engine.version;
  return engine;
});
engineReady.catch((error) => app.problem(`The WebAssembly module could not be loaded: ${error.message}`));
addEventListener("hashchange", () => show(true));
addEventListener("pagehide", app.flush);
$(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("#main").focus();
});
show(false);
addEventListener("load", startOffline);
