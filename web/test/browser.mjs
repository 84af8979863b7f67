// A static server for the page, and a browser: Debian's chromium, or BLOOMERY_CHROMIUM.

import { mkdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

import { chromium } from "playwright-core";

import { inScratch, pageFolder, root } from "./harness.mjs";

export const pictures = process.env.BLOOMERY_PICTURES ?? path.join(root, "build/web/pictures");
mkdirSync(pictures, { recursive: true });

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".json": "application/json",
};

// Files of a folder, as any static host has them, or of that which a function names now; `routes`
// answer first.
export function serve(folder = pageFolder, routes = {}) {
  const folderNow = typeof folder === "function" ? folder : () => folder;
  const sockets = new Set();
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const route = routes[url.pathname];
    if (route) {
      const { status = 200, type = "application/json", body } = route(url);
      response.writeHead(status, { "Content-Type": type }).end(body);
      return;
    }
    const name = decodeURIComponent(url.pathname).replace(/\/$/, "/index.html");
    try {
      const body = readFileSync(path.join(folderNow(), path.normalize(name)));
      response.writeHead(200, { "Content-Type": types[path.extname(name)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("there is nothing here\n");
    }
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}/`,
        stop: () =>
          new Promise((done) => {
            server.close(done);
            for (const socket of sockets) socket.destroy();
          }),
      }),
    ),
  );
}

// How long anything may take on a busy machine before it counts as never.
export const patience = 120000;

let profiles = 0;
// A browser with a profile of its own; errors of the page's scripts fail the test that asks for
// them.
export async function browse(options = {}) {
  const context = await chromium.launchPersistentContext(inScratch(`profile-${++profiles}`), {
    executablePath: process.env.BLOOMERY_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    timeout: patience,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
    ],
    ...options,
  });
  context.setDefaultTimeout(patience);
  context.setDefaultNavigationTimeout(patience);
  const page = context.pages()[0] ?? (await context.newPage());
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  return { context, page, errors, close: () => context.close() };
}

// The view that is shown, or the one that the selector names, has its script and takes input.
export const started = (page, view = "") => page.locator(`.view${view}:not([hidden]):not([inert])`).waitFor();

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// What axe finds wrong, one line each. It is put in past the page's own policy, which allows no
// foreign scripts. Colours that are still on their way to another theme have a contrast that nobody
// reads by: they arrive first.
export async function violations(page) {
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((running) => running.finished)));
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: axeSource });
  await client.detach();
  const result = await page.evaluate(() =>
    globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }),
  );
  return result.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary}`));
}
