// Measures the page in the browser, beside the tool on the same files: `node measure.mjs [ROUNDS]`.
// Medians of rounds that take turns. docs/web.md has the numbers.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";

import { browse, serve, started } from "./browser.mjs";
import { inScratch, scratch, tool } from "./harness.mjs";

const rounds = Number(process.argv[2] ?? 5);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const server = await serve();

function writeLines(name, count, line) {
  const file = openSync(inScratch(name), "w");
  for (let i = 0; i < count; i += 10000) {
    writeSync(file, Array.from({ length: Math.min(10000, count - i) }, (_, j) => line(i + j)).join(""));
  }
  closeSync(file);
}

// Seconds of the tool by the clock and of the processor. Its output goes nowhere: the page does not
// wait for a disk.
function native(args, kernel) {
  const done = spawnSync("bash", ["-c", 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null', "bash", tool, ...args], {
    cwd: scratch,
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C", ...(kernel ? { BLOOMERY_KERNEL: kernel } : {}) },
  });
  if (done.status > 1) throw new Error(done.stderr);
  const [clock, user, kernelTime] = done.stderr.trim().split("\n").at(-1).split(" ").map(Number);
  return { clock, processor: user + kernelTime };
}

// First paint, and the first plan, with nothing in any cache.
const paints = [];
const plans = [];
for (let i = 0; i < rounds; ++i) {
  const b = await browse();
  await b.page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("#plan-sizes rect")) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        globalThis.plannedAt = performance.now();
      });
    }).observe(document, { childList: true, subtree: true });
  });
  await b.page.goto(server.url);
  await b.page.waitForFunction(() => globalThis.plannedAt);
  paints.push(await b.page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  plans.push(await b.page.evaluate(() => globalThis.plannedAt));
  await b.close();
}
console.log(`first paint ${median(paints).toFixed(0)} ms, first plan ${median(plans).toFixed(0)} ms (of ${rounds})`);

const b = await browse();
const page = b.page;
// Processor time of all processes of the browser.
const system = await b.context.browser().newBrowserCDPSession();
async function browserTime() {
  const { processInfo } = await system.send("SystemInfo.getProcessInfo");
  return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
}
page.setDefaultTimeout(300000);
await page.goto(`${server.url}#plan`);
await page.locator("#plan-sizes rect").first().waitFor({ state: "attached" });
for (const id of ["plan-keys-slider", "plan-fpr-slider"]) {
  // Each step at its quickest: what else the machine does only adds to it.
  const steps = await page.evaluate(
    ([sliderId, turns]) => {
      const slider = document.getElementById(sliderId);
      const least = new Map();
      for (let round = 0; round < turns; ++round) {
        for (let v = 20; v < 90; ++v) {
          const started = performance.now();
          slider.value = v;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          document.body.getBoundingClientRect(); // with the layout
          least.set(v, Math.min(least.get(v) ?? Infinity, performance.now() - started));
        }
      }
      return [...least.values()];
    },
    [id, rounds],
  );
  console.log(
    `${id}: median ${median(steps).toFixed(1)} ms a step, the slowest of ${steps.length} ` +
      `${Math.max(...steps).toFixed(1)} ms (each the least of ${rounds})`,
  );
}

const lines = 3_300_000;
writeLines("large.txt", lines, (i) => `https://example.org/page/${((i * 2654435761) % 4294967296).toString(16)}\n`);
writeLines(
  "million.txt",
  1_000_000,
  (i) => `https://example.org/page/${(((i + 2_800_000) * 2654435761) % 4294967296).toString(16)}\n`,
);
const made = [];
const asked = [];
// What the page says that it took.
async function told(pattern) {
  const match = (p) => new RegExp(p).exec(document.querySelector("#view-work").innerText)?.[0];
  const text = await (await page.waitForFunction(match, pattern, { polling: 100 })).jsonValue();
  const [, value, unit] = /([\d.]+) (ms|s)$/.exec(text);
  return unit === "ms" ? value / 1000 : Number(value);
}
async function inBrowser(start, pattern) {
  const before = await browserTime();
  await start();
  const clock = await told(pattern);
  return { clock, processor: (await browserTime()) - before };
}
spawnSync(tool, ["build", "-q", "-o", "large.bloom", "large.txt"], { cwd: scratch });
for (let i = 0; i < rounds; ++i) {
  await page.goto("about:blank");
  await page.goto(`${server.url}#work`);
  await started(page);
  await page.setInputFiles("#work-file", inScratch("large.txt"));
  const button = page.getByRole("button", { name: "Make the filter" });
  await button.waitFor();
  made.push({
    page: await inBrowser(() => button.click(), "Made in [\\d.]+ (ms|s)"),
    tool: native(["build", "-q", "--threads", "1", "-o", "-", "large.txt"]),
  });
  const input = page.locator("#work-filters input[type=file]");
  asked.push({
    page: await inBrowser(() => input.setInputFiles(inScratch("million.txt")), "surely not\\. [\\d.]+ (ms|s)"),
    tool: native(["check", "--threads", "1", "large.bloom", "million.txt"], "portable"),
  });
}
function show(name, list) {
  for (const time of ["clock", "processor"]) {
    const [ours, theirs] = ["page", "tool"].map((who) => median(list.map((x) => x[who][time])));
    const ratio = median(list.map((x) => x.page[time] / x.tool[time]));
    console.log(
      `${name}, ${time}: page ${ours.toFixed(2)} s, tool ${theirs.toFixed(2)} s, ratio ${ratio.toFixed(2)}`,
    );
  }
}
show("a filter of 100 MB, the tool with one thread", made);
show("a million lookups, the tool with one thread and portable code", asked);
await b.close();
await server.stop();
