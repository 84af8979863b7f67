// Keeps the page for times without a network. The network comes first, so that a new version is seen at once; what it
// cannot give in three seconds comes from the copy. Filters and metrics of a server are never kept.

const cacheName = "bloomery-page";
const files = [
  "./",
  "index.html",
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
const known = new Set(files.map((file) => new URL(file, self.location).href));

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(cacheName)
      .then((cache) => cache.addAll(files.map((file) => new Request(file, { cache: "reload" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function answer(request, url) {
  const cache = await caches.open(cacheName);
  const kept = () => cache.match(url);
  const fresh = fetch(request).then((response) => {
    if (response.ok) cache.put(url, response.clone());
    return response;
  });
  const patience = new Promise((resolve) => {
    setTimeout(resolve, 3000);
  });
  try {
    const first = await Promise.race([fresh, patience]);
    if (first?.ok) return first;
  } catch {
    /* no network */
  }
  return (await kept()) ?? fresh;
}

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = "";
  url.hash = "";
  if (event.request.method === "GET" && known.has(url.href)) event.respondWith(answer(event.request, url.href));
});
