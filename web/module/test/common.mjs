// What the tests share: the module as it was built, the native tool, and keys.
//
//     BLOOMERY_MODULE  the folder of the package; build/web/module
//     BLOOMERY_TOOL    the tool; build/release/bloomery
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
export const modulePath = join(process.env.BLOOMERY_MODULE ?? join(root, "build/web/module"), "bloomery.js");
export const { load, BloomeryError } = await import(pathToFileURL(modulePath));

const tool = process.env.BLOOMERY_TOOL ?? join(root, "build/release/bloomery");
const folder = mkdtempSync(join(tmpdir(), "bloomery-web-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the tool; an exit status of 1 is an answer. */
export function run(...words) {
  try {
    return execFileSync(tool, words, { stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
  } catch (e) {
    if (e.status === 1) return e.stdout;
    throw new Error(`bloomery ${words.join(" ")}: ${e.stderr}`);
  }
}
export const runJson = (...words) => JSON.parse(run(...words).toString());

/** The path of a file with this content. */
export function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
export const pathOf = (name) => join(folder, name);

/** What `bloomery build` makes of the lines in a file. */
export function built(path, ...words) {
  const out = pathOf("built.bloom");
  run("build", "-q", "-o", out, ...words, path);
  return new Uint8Array(readFileSync(out));
}

const goldenFolder = join(root, "tests/golden");
export const golden = readdirSync(goldenFolder).filter((name) => name.endsWith(".bloom")).map((name) => ({
  name: name.slice(0, -".bloom".length),
  path: join(goldenFolder, name),
  bytes: new Uint8Array(readFileSync(join(goldenFolder, name))),
  // Integers beyond 2^53 stay what they are.
  answers: JSON.parse(readFileSync(join(goldenFolder, name.replace(/bloom$/, "json")), "utf8")
    .replace(/([[,:] *)(-?\d{16,})/g, '$1"$2"')),
}));

/**
 * Equal, but for the last digits of a number that is no integer: exp, log and lgamma of two C
 * libraries differ there, and a rate is a sum of thousands of them.
 */
export function assertClose(mine, other, what = "") {
  if (typeof mine === "number" && typeof other === "number" && !Number.isInteger(other)) {
    // Rates are sums of terms near 1, which libraries of mathematics round differently.
    assert.ok(Math.abs(mine - other) <= 1e-9 * Math.abs(other) + 1e-14, `${what}: ${mine} instead of ${other}`);
  } else if (typeof mine === "object" && mine !== null) {
    assert.deepEqual(Object.keys(mine).sort(), Object.keys(other).sort(), what);
    for (const [name, value] of Object.entries(mine)) assertClose(value, other[name], `${what}.${name}`);
  } else {
    assert.equal(mine, other, what);
  }
}

/** Lines of different lengths, some of them again, and the last without an end. */
export function words(count, repeated = 0.1) {
  const all = [];
  let state = 12345;
  for (let i = 0; i < count; ++i) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const again = i !== 0 && state / 2 ** 32 < repeated;
    all.push(again ? all[state % i] : `word-${i}-${"x".repeat(state % 23)}é`);
  }
  return all.join("\n");
}
