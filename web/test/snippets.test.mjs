// The calls that the page offers make the filter that was planned. No browser is needed for that.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { plannedKinds } from "../page/kinds.js";
import { python, redis, shell, sql } from "../page/snippets.js";
import { buildFolder, inScratch, root, run, scratch, tool } from "./harness.mjs";

const keys = 5000;
const lines = Array.from({ length: keys }, (_, i) => `key ${i}`).join("\n");
writeFileSync(inScratch("pairs.tsv"), Array.from({ length: keys }, (_, i) => `key ${i}\t${i % 256}\n`).join(""));

const planned = (args) =>
  new Map(JSON.parse(run("plan", "--keys", String(keys), "--json", ...args)).rows.map((r) => [r.kind, r]));
const plans = [
  [{ keys, fpr: 0.01 }, planned(["--fpr", "0.01"])],
  [{ keys, fpr: 0.0005 }, planned(["--fpr", "0.0005"])],
  [{ keys, bytes: 20000 }, planned(["--bytes", "20000"])],
];

const isStatic = (kind) => ["fuse", "ribbon", "bloomier"].includes(kind);
const arrayBytes = (file) => Number(JSON.parse(run("info", "--json", file)).bits) / 8;

// Static kinds are sized by their keys; whoever counts those by an estimate is a little off.
function same(kind, bytes, row, what) {
  const room = isStatic(kind) ? 0.05 : 0;
  assert.ok(Math.abs(bytes - row.bytes) <= room * row.bytes, `${what}: ${bytes} bytes, planned were ${row.bytes}`);
}

test("the command line", () => {
  for (const [plan, rows] of plans) {
    for (const kind of plannedKinds.filter((k) => rows.has(k))) {
      const { code } = shell({ kind, ...plan });
      if (!code) continue;
      // A scalable filter grows with its keys, static ones are made of all of them.
      writeFileSync(inScratch("keys.txt"), `${isStatic(kind) ? lines : "one key"}\n`);
      execFileSync("bash", ["-c", code.replace(/^bloomery/, `'${tool}'`)], { cwd: scratch, stdio: "pipe" });
      same(kind, arrayBytes("set.bloom"), rows.get(kind), code);
    }
  }
});

const packageFolder = path.join(buildFolder, "python");
test("Python", { skip: !existsSync(packageFolder) }, () => {
  const programs = [];
  for (const [plan, rows] of plans) {
    for (const kind of plannedKinds.filter((k) => rows.has(k))) {
      const { code } = python({ kind, ...plan });
      const result = /^(\w) = /m.exec(code)[1];
      programs.push(`${code.split("\n").slice(0, 3).join("\n")}\nprint(${result}.info()["bits"] // 8)`);
    }
  }
  const head = 'keys = [f"key {i}" for i in range(5000)]\npairs = {k: i % 256 for i, k in enumerate(keys)}\n';
  const output = execFileSync("/usr/bin/python3", ["-c", head + programs.join("\n")], {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: packageFolder },
  })
    .trim()
    .split("\n")
    .map(Number);
  let i = 0;
  for (const [plan, rows] of plans) {
    for (const kind of plannedKinds.filter((k) => rows.has(k)))
      same(kind, output[i++], rows.get(kind), python({ kind, ...plan }).code);
  }
});

const sqlite = path.join(buildFolder, "bloomery_sqlite.so");
test("SQL, in SQLite", { skip: !existsSync(sqlite) }, () => {
  const [plan, rows] = plans[0];
  writeFileSync(inScratch("keys.txt"), `${lines}\n`);
  run("build", "-q", "-o", "set.bloom", "keys.txt");
  for (const kind of plannedKinds.filter((k) => sql({ kind: k, ...plan }).code)) {
    const lines = sql({ kind, ...plan }).code.split("\n");
    const query = lines
      .at(-1)
      .replace(/;.*$/, "")
      .replace(/^SELECT (bloom(?:_agg)?\(.*\))( FROM visits)?$/, "SELECT bloom_info($1)$2");
    const answer = execFileSync(
      "/usr/bin/python3",
      [
        "-c",
        `
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("CREATE TABLE visits (id TEXT)")
db.executemany("INSERT INTO visits VALUES (?)", [(f"key {i}",) for i in range(100)])
print(db.execute(sys.argv[2]).fetchone()[0])`,
        sqlite,
        query,
      ],
      { cwd: scratch, encoding: "utf8" },
    );
    if (query.includes("bloom_info")) same(kind, JSON.parse(answer).bits / 8, rows.get(kind), query);
    else assert.match(answer, /^key \d/);
  }
});

test("Redis has a call or a reason for every kind", () => {
  assert.equal(redis({ kind: "blocked", keys, fpr: 0.01 }).code, "BF.RESERVE set 0.01 5000 NONSCALING");
  assert.equal(redis({ kind: "cuckoo", keys, fpr: 0.01 }).code, "CF.RESERVE set 5000 BUCKETSIZE 4 EXPANSION 0");
  for (const kind of plannedKinds) {
    for (const [plan] of plans) {
      const { code, note } = redis({ kind, ...plan });
      assert.ok(code || note, kind);
    }
  }
});

test("the page is sound JavaScript, kept for times without a network, and asks nobody else", () => {
  const page = path.join(root, "web/page");
  assert.ok(existsSync(page));
  const kept = [...readFileSync(path.join(page, "sw.js"), "utf8").matchAll(/["']([\w./]+\.\w+)["']/g)].map(
    (m) => m[1],
  );
  const sources = execFileSync("ls", [page], { encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((f) => !["sw.js", "CMakeLists.txt"].includes(f));
  for (const file of sources) {
    assert.ok(kept.includes(file), `sw.js does not keep ${file}`);
    if (file.endsWith(".js")) execFileSync(process.execPath, ["--check", path.join(page, file)]);
    const text = readFileSync(path.join(page, file), "utf8").replaceAll("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(text, /https?:\/\/(?!localhost)/, file);
  }
});
