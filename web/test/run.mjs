// Runs the browser's tests: `node run.mjs FOLDER`. What they need from npm is installed into FOLDER
// by the lock file, when it is not there yet. Where there is no chromium or npm, or no registry can
// be reached, nothing can be said: the status is 77.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const folder = path.resolve(process.argv[2]);
const chromium = process.env.BLOOMERY_CHROMIUM ?? "/usr/bin/chromium";
const lacks = !existsSync(chromium)
  ? `${chromium} is not there`
  : Number(process.versions.node.split(".")[0]) < 20
    ? "the driver of the browser needs Node 20"
    : spawnSync("npm", ["--version"]).error
      ? "npm is not there"
      : null;
if (lacks) {
  console.error(lacks);
  process.exit(77);
}

mkdirSync(folder, { recursive: true });
const lock = readFileSync(path.join(web, "package-lock.json"), "utf8");
// Written last, so that a part is never taken for all.
const stamp = path.join(folder, "installed.json");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    cpSync(path.join(web, name), path.join(folder, name));
  const npm = spawnSync(
    "npm",
    [
      "ci",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      "--prefer-offline",
      "--fetch-retries=1",
      "--fetch-timeout=20000",
    ],
    { cwd: folder, encoding: "utf8" },
  );
  if (npm.status !== 0) {
    console.error(npm.stderr);
    process.exit(
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|E?TIMEDOUT/.test(npm.stderr ?? "") ? 77 : 1,
    );
  }
  writeFileSync(stamp, lock);
}
// Beside node_modules, where the language looks for what a file imports.
for (const name of ["test", "page"]) cpSync(path.join(web, name), path.join(folder, name), { recursive: true });
const inBrowser = ["page.test.mjs"];
const others = readdirSync(path.join(web, "test")).filter((f) => f.endsWith(".test.mjs") && !inBrowser.includes(f));
// A server that a failed test has left must not keep the whole waiting; early versions of Node 20
// cannot be told so.
const force = "--test-force-exit";
const options = spawnSync(process.execPath, [force, "--version"]).status === 0 ? [force, "--test"] : ["--test"];
function run(files) {
  const tests = spawnSync(process.execPath, [...options, ...files.map((name) => path.join(folder, "test", name))], {
    stdio: "inherit",
    env: { ...process.env, BLOOMERY_ROOT: path.resolve(web, "..") },
  });
  return tests.status ?? 1;
}
let status = run(inBrowser);
if (status !== 0) {
  // A browser on a busy machine may miss a moment; what is wrong fails twice.
  console.error("the tests in the browser failed; once more");
  status = run(inBrowser);
}
process.exit(run(others) || status);
