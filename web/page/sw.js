// Keeps the page for times without a network. The network comes first, so that a new version is
// seen at once; what it cannot give in three seconds comes from the copy. Filters and metrics of a
// server are never kept.
//
// A copy is of one version: it is made whole when its service worker is installed, which is when
// any of its files has changed, and the one before it goes only then.

const version = "@page_version@"; // of all files together; cmake/PageVersion.cmake writes it
// Other folders of this host may have pages, too.
const scope = `bloomery-page ${self.registration.scope} `;
const cacheName = scope + version;
const files = [
  "./",
  "style.css",
  "app.js",
  "cell_picture.js",
  "chart.js",
  "dom.js",
  "filter_card.js",
  "filter_pair.js",
  "kinds.js",
  "plan.js",
  "see.js",
  "served.js",
  "snippets.js",
  "units.js",
  "words.js",
  "work.js",
  "work_calls.js",
  "worker.js",
  "icon.svg",
  "manifest.webmanifest",
  "module/bloomery.js",
  "module/bloomery.wasm",
];
const address = (file) => new URL(file, self.location).href;
const known = new Map(files.map((file) => [address(file), file]));
known.set(address("index.html"), "./"); // some hosts send whoever asks for it to the folder

async function keep(file) {
  const response = await fetch(file, { cache: "reload" });
  if (!response.ok) throw new Error(`${file}: status ${response.status}`);
  // Of a copy that came by way of a redirect, browsers would make no page.
  const copy = response.redirected ? new Response(response.body, { headers: response.headers }) : response;
  await (await caches.open(cacheName)).put(file, copy);
}

self.addEventListener("install", (event) => {
  event.waitUntil(Promise.all(files.map(keep)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith(scope) && name !== cacheName;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

const patienceMs = 3000;
const hurryMs = 30000;
let hurryUntil = 0; // a network that was too slow once is not waited for again for a while

async function answer(request, file) {
  const copy = () => caches.open(cacheName).then((cache) => cache.match(file));
  if (Date.now() < hurryUntil) {
    const kept = await copy();
    if (kept) return kept;
  }
  const fresh = fetch(request);
  const patience = new Promise((resolve) => {
    setTimeout(resolve, patienceMs, null);
  });
  try {
    const first = await Promise.race([fresh, patience]);
    if (first?.ok || first?.type === "opaqueredirect") return first;
    if (!first) hurryUntil = Date.now() + hurryMs;
  } catch {
    /* no network */
  }
  fresh.catch(() => {
    /* nobody waits for it any more */
  });
  return (await copy()) ?? fresh;
}

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = "";
  url.hash = "";
  const file = known.get(url.href);
  if (event.request.method === "GET" && file) event.respondWith(answer(event.request, file));
});
