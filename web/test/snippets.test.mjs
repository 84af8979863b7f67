// The calls that the page offers make the filter that was planned. No browser is needed for that.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { plannedKinds } from "../page/kinds.js";
import { cpp, python, redis, shell, sql } from "../page/snippets.js";
import { buildFolder, inScratch, root, run, scratch, tool } from "./harness.mjs";

const keys = 5000;
const lines = Array.from({ length: keys }, (_, i) => `key ${i}`).join("\n");
writeFileSync(inScratch("pairs.tsv"), Array.from({ length: keys }, (_, i) => `key ${i}\t${i % 256}\n`).join(""));

function planned(plan) {
  const args = Object.entries(plan).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return [plan, new Map(JSON.parse(run("plan", "--json", ...args)).rows.map((r) => [r.kind, r]))];
}
const plans = [{ keys, fpr: 0.01 }, { keys, fpr: 0.0005 }, { keys, bytes: 20000 }].map(planned);

const isStatic = (kind) => ["fuse", "ribbon", "bloomier"].includes(kind);
const info = (file) => JSON.parse(run("info", "--json", file));
const arrayBytes = (file) => Number(info(file).bits) / 8;
const inShell = (code) =>
  execFileSync("bash", ["-c", code.replace(/^bloomery/, `'${tool}'`)], { cwd: scratch, stdio: "pipe" });

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
      inShell(code);
      same(kind, arrayBytes("set.bloom"), rows.get(kind), code);
    }
  }
});

// What a file says of itself, less its name and what its keys were said to be.
function shape(file) {
  const { file: _, name, form, bytes, format_version, ...rest } = info(file);
  return rest;
}
function filesOfTool(keyOfOthers) {
  return plans.flatMap(([plan, rows], i) =>
    plannedKinds
      .filter((kind) => rows.has(kind) && shell({ kind, ...plan }).code)
      .map((kind) => {
        const file = `tool.${i}.${kind}.bloom`;
        writeFileSync(inScratch("keys.txt"), `${isStatic(kind) ? lines : keyOfOthers}\n`);
        inShell(shell({ kind, ...plan }).code);
        renameSync(inScratch("set.bloom"), inScratch(file));
        return { plan, kind, file, made: `cpp.${i}.${kind}.bloom` };
      }),
  );
}

const library = path.join(buildFolder, "libbloomery_core.a");
const compiler = process.env.CXX ?? "g++";
const noCompiler = !existsSync(library)
  ? `${library} is not there`
  : spawnSync(compiler, ["--version"]).error
    ? `${compiler} is not there`
    : false;
test("C++", { skip: noCompiler }, () => {
  const files = filesOfTool("apples");
  const blocks = files.map(({ plan, kind, made }) => {
    const [include, ...code] = cpp({ kind, ...plan }).code.split("\n");
    assert.equal(include, "#include <bloomery/bloomery.hpp>");
    // A filter of hashes alone does not know what they are.
    const hash = code.at(-1).includes("(plan, hashes") ? ", bloomery::xxh3_hasher().spec()" : "";
    return `  {\n${code.join("\n")}\nbloomery::save(f, "${made}"${hash});\n}`;
  });
  writeFileSync(
    inScratch("calls.cpp"),
    `#include <bloomery/bloomery.hpp>
#include <string>
#include <vector>
int main() {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> hashes, values;
  for (int i = 0; i < ${keys}; ++i) {
    keys.push_back("key " + std::to_string(i));
    hashes.push_back(bloomery::hash_key(bloomery::xxh3_hasher(), keys.back()));
    values.push_back(i % 256);
  }
${blocks.join("\n")}
}
`,
  );
  const options = ["-std=c++20", "-O0", `-I${path.join(root, "include")}`, "-o", "calls"];
  execFileSync(compiler, [...options, "calls.cpp", library, "-pthread"], { cwd: scratch, stdio: "pipe" });
  execFileSync(inScratch("calls"), { cwd: scratch });
  for (const { plan, kind, file, made } of files)
    assert.deepEqual(shape(made), shape(file), cpp({ kind, ...plan }).code);
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
  writeFileSync(inScratch("keys.txt"), `${lines}\n`);
  run("build", "-q", "-o", "set.bloom", "keys.txt");
  const calls = plans
    .filter(([plan]) => plan.fpr)
    .flatMap(([plan, rows]) => plannedKinds.filter((kind) => rows.has(kind)).map((kind) => ({ plan, rows, kind })));
  for (const { plan, rows, kind } of calls.filter(({ plan, kind }) => sql({ kind, ...plan }).code)) {
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
    for (const [plan, rows] of plans) {
      const { code, note } = redis({ kind, ...plan, lines: rows.get(kind)?.lines });
      assert.ok(code || note, kind);
    }
    const { code } = redis({ kind, keys: 2 ** 30 + 1, fpr: 0.01, lines: 1 });
    assert.ok(code === "" || code.startsWith("bloomery push "), code);
  }
});

const redisModule = path.join(buildFolder, "bloomery.so");
const noRedis = !existsSync(redisModule)
  ? `${redisModule} is not there`
  : ["redis-server", "redis-cli"].some((name) => spawnSync(name, ["--version"]).error)
    ? "redis-server or redis-cli is not there"
    : false;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
// A server with the module on a port that is free, or was a moment ago.
async function redisServer() {
  for (let attempt = 0; attempt < 5; ++attempt) {
    const port = String(await freePort());
    const options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", scratch];
    const server = spawn("redis-server", [...options, "--loadmodule", redisModule], { stdio: "ignore" });
    const ended = once(server, "exit");
    const call = (...words) => execFileSync("redis-cli", ["-p", port, ...words], { encoding: "utf8" }).trim();
    const stop = async () => {
      server.kill();
      await ended;
    };
    while (server.exitCode === null) {
      const { stdout } = spawnSync("redis-cli", ["-p", port, "PING"], { encoding: "utf8" });
      // Another may have taken the port.
      const ours = () => call("INFO", "server").includes(`process_id:${server.pid}\r`);
      if (stdout.trim() === "PONG" && ours()) return { port, call, stop };
      await delay(20);
    }
  }
  throw new Error("redis-server does not start");
}

test("Redis, in a server", { skip: noRedis }, async () => {
  const { port, call, stop } = await redisServer();
  try {
    // What an array takes besides its bytes.
    call("BF.RESERVE", "set", "0.01", String(keys), "NONSCALING");
    const besides = Number(call("BF.INFO", "set", "SIZE")) - plans[0][1].get("blocked").bytes;
    const others = [1025, 1024, 7].map((few) => planned({ keys: few, fpr: 0.01 }));
    const commands = new Set();
    for (const [plan, rows] of [...plans, ...others]) {
      for (const [kind, row] of rows) {
        const { code } = redis({ kind, ...plan, lines: row.lines });
        if (!code) continue;
        writeFileSync(inScratch("keys.txt"), "one key\n");
        inShell(shell({ kind, ...plan }).code);
        call("DEL", "set");
        if (code.startsWith("bloomery ")) {
          inShell(code.replace("localhost", `localhost:${port}`));
          run("pull", "-q", "-o", "pulled.bloom", `redis://localhost:${port}/set`);
          assert.deepEqual(readFileSync(inScratch("pulled.bloom")), readFileSync(inScratch("set.bloom")), code);
          continue;
        }
        assert.equal(call(...code.split(" ")), "OK", code);
        commands.add(code.replace(/[\d.]+/g, "N"));
        if (kind === "cuckoo") {
          const about = call("CF.INFO", "set").split("\n");
          if (plan.keys === keys) assert.equal(Number(about[about.indexOf("Size") + 1]), row.bytes + besides, code);
          continue;
        }
        run("pull", "-q", "-o", "pulled.bloom", `redis://localhost:${port}/set`);
        const [reserved, made] = [info("pulled.bloom"), info("set.bloom")];
        for (const name of ["kind", "bits", "probes", "layers", "fpr_target", "keys_planned", "hash", "seed"])
          assert.equal(reserved[name], made[name], `${code}: ${name}`);
      }
    }
    assert.equal(commands.size, 5, [...commands].join(", "));
    // The limits that the page knows.
    for (const beyond of ["BF.RESERVE big 0.01 1073741825 NONSCALING", "CF.RESERVE big 7 BUCKETSIZE 4 EXPANSION 0"])
      assert.match(call(...beyond.split(" ")), /apacity must be/);
  } finally {
    await stop();
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
