// The table of docs/web.md: a million lines into a filter and asked of it, in the module and in the
// native tool with one thread, by processor time; medians of five runs, the two in turn. What the
// tool takes for no lines, to start and to make room for the filter, is taken off: the module has
// started before.
//
//     node web/module/bench.mjs [KIND...]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const packageFolder = process.env.BLOOMERY_MODULE ?? join(root, "build/web/module");
const tool = process.env.BLOOMERY_TOOL ?? join(root, "build/release/bloomery");
const { load } = await import(pathToFileURL(join(packageFolder, "bloomery.js")));

const wasm = readFileSync(join(packageFolder, "bloomery.wasm"));
const script = readFileSync(join(packageFolder, "bloomery.js"));
for (const [name, bytes] of [["bloomery.wasm", wasm], ["bloomery.js", script]]) {
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  console.log(`${name}: ${bytes.length} bytes, gzip ${gzipSync(bytes, { level: 9 }).length}, brotli ${brotli.length}`);
}

const folder = mkdtempSync(join(tmpdir(), "bloomery-web-"));
const count = 1_000_000;
const lines = Array.from({ length: count }, (_, i) => `https://example.org/page/${i * 7919}`).join("\n") + "\n";
const keys = join(folder, "keys.txt");
writeFileSync(keys, lines);
const none = join(folder, "none.txt");
writeFileSync(none, "");
const bytes = new TextEncoder().encode(lines);

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
function nativeSeconds(kernel, ...words) { // of processor time
  const timed = 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>/dev/null; } 2>&1; true';
  const text = execFileSync("bash", ["-c", timed, "bash", tool, ...words],
    { env: { ...process.env, BLOOMERY_KERNEL: kernel }, encoding: "utf8" });
  return text.trim().split(/\s+/).reduce((sum, number) => sum + Number(number), 0);
}
function moduleSeconds(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const bloomery = await load();
const kinds = process.argv.length > 2 ? process.argv.slice(2) : ["blocked", "classic", "cuckoo", "fuse"];
console.log("kind, work: module ms, native portable ms, ratio; native best ms, ratio");
for (const kind of kinds) {
  const counted = kind === "fuse" || kind === "ribbon";
  const asked = counted ? [{ kind }, []] : [{ kind, keys: count }, ["--keys", String(count)]];
  const times = { build: [[], [], []], check: [[], [], []] };
  const file = join(folder, "built.bloom");
  for (let run = 0; run < 6; ++run) {
    let filter;
    const push = (job) => {
      for (let from = 0; from < bytes.length; from += 1 << 20) job.push(bytes.subarray(from, from + (1 << 20)));
      return job.finish();
    };
    const mine = [moduleSeconds(() => { filter = push(bloomery.builder(asked[0])); }),
      moduleSeconds(() => push(filter.lineChecker()))];
    filter.free();
    const others = ["portable", ""].map((kernel) => {
      const build = (out, input) =>
        nativeSeconds(kernel, "build", "-q", "--threads", "1", "--kind", kind, ...asked[1], "-o", out, input);
      const check = (input) => nativeSeconds(kernel, "check", "-c", "--threads", "1", file, input);
      return [build(file, keys) - build(join(folder, "none.bloom"), none), check(keys) - check(none)];
    });
    if (run === 0) continue; // the first compiles the module and reads the file
    ["build", "check"].forEach((work, i) => {
      times[work][0].push(mine[i]);
      times[work][1].push(others[0][i]);
      times[work][2].push(others[1][i]);
    });
  }
  for (const [work, all] of Object.entries(times)) {
    const [mine, portable, best] = all.map((list) => median(list) * 1000);
    console.log(`${kind}, ${work}: ${mine.toFixed(0)}, ${portable.toFixed(0)}, ${(mine / portable).toFixed(2)}; ` +
      `${best.toFixed(0)}, ${(mine / best).toFixed(2)}`);
  }
}
rmSync(folder, { recursive: true });
