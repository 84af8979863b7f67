// The page in a real browser: each view as a person uses it, its numbers against the tool's.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  createWriteStream,
  mkdirSync,
  readFileSync,
  readdirSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { plannedKinds } from "../page/kinds.js";
import { bytes, digits3, rate } from "../page/units.js";
import { wordAt } from "../page/words.js";
import { browse, patience, pictures, serve, started, violations } from "./browser.mjs";
import { golden, inScratch, pageFolder, run, scratch, tool } from "./harness.mjs";

let server;
let browser;
let page;

before(async () => {
  server = await serve();
  browser = await browse({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
  page = browser.page;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(() => {
  browser.errors.length = 0;
});

const text = (selector) => page.locator(selector).innerText();
async function open(hash) {
  await page.goto("about:blank");
  await page.goto(`${server.url}#${hash}`);
  await started(page);
}
const unharmed = () => assert.deepEqual(browser.errors, []);

// ---- plan ---------------------------------------------------------------------------------------

async function planned() {
  await page.locator("#plan-table td", { hasText: /\d/ }).first().waitFor();
  return page
    .locator("#plan-table tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.cells].map((c) => c.innerText.trim())));
}

describe("plan", () => {
  for (const [hash, args] of [
    ["plan?keys=1000000&fpr=0.01", ["--keys", "1000000", "--fpr", "0.01"]],
    ["plan?keys=123456789&fpr=0.00002&kind=cuckoo", ["--keys", "123456789", "--fpr", "0.00002"]],
    ["plan?keys=50000&bytes=40000&kind=ribbon", ["--keys", "50000", "--bytes", "40000"]],
  ]) {
    test(`has the numbers of the tool: ${hash}`, async () => {
      await open(hash);
      const rows = await planned();
      const expected = JSON.parse(run("plan", "--json", ...args));
      assert.deepEqual(
        rows.map((r) => r[0]),
        plannedKinds,
      );
      for (const row of rows) {
        const e = expected.rows.find((r) => r.kind === row[0]);
        if (!e) {
          assert.equal(row[7], "not for these numbers");
          continue;
        }
        assert.deepEqual(
          row.slice(1, 7),
          [
            bytes(e.bytes),
            digits3(e.bits_per_key),
            String(e.probes),
            rate(e.fpr),
            `${digits3(e.times_lower_bound)} ×`,
            String(e.lines),
          ],
          row[0],
        );
      }
      const others = await page
        .locator("#plan-alternatives tbody tr")
        .evaluateAll((r) => r.map((x) => x.cells[0].innerText.trim()));
      assert.deepEqual(others, ["lower bound of any filter", ...expected.alternatives.map((a) => a.name)]);
      unharmed();
    });
  }

  test("fields, sliders and the address say the same", async () => {
    await open("plan");
    await planned();
    await page.fill("#plan-keys", "64k");
    await page.fill("#plan-fpr", "1 in 500");
    await page.locator("#plan-kind").selectOption("classic");
    await page.waitForFunction(() => location.hash === "#plan?keys=64000&fpr=0.002&kind=classic");
    assert.match(await text("#plan-sum"), /^64,000 keys in a classic filter take/);
    const address = page.url();
    await page.locator("#plan-keys-slider").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.inputValue("#plan-keys"), "80,000");
    await page.goto("about:blank");
    await page.goto(address);
    await planned();
    assert.equal(await page.inputValue("#plan-keys"), "64,000");
    assert.equal(await page.inputValue("#plan-fpr"), "0.2 %");
    assert.equal(await page.inputValue("#plan-kind"), "classic");
    await page.getByLabel("the memory there is").check();
    assert.match(page.url() + (await text("#plan-sum")), /64,000 keys in a classic filter take/);
    await page.fill("#plan-bytes", "10 MB");
    await page.waitForFunction(() => location.hash === "#plan?keys=64000&bytes=10000000&kind=classic");
    unharmed();
  });

  test("says what is wrong with what was typed, and keeps the last plan", async () => {
    await open("plan");
    const rows = await planned();
    await page.fill("#plan-keys", "many");
    assert.match(await text("#plan-keys-error"), /such as 5000/);
    assert.equal(await page.getAttribute("#plan-keys", "aria-invalid"), "true");
    assert.deepEqual(await planned(), rows);
    await page.fill("#plan-keys", "1e6");
    assert.equal(await text("#plan-keys-error"), "");
    await page.fill("#plan-fpr", "1e-15");
    assert.match(await text("#plan-sum"), /^A 64-bit hash cannot honour an fpr of 1e-15/);
    unharmed();
  });

  test("a row chooses a kind, and the calls follow", async () => {
    await open("plan?keys=1000&fpr=0.01");
    await planned();
    await page.locator("#plan-table button", { hasText: "counting" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.kind), "counting");
    const code = await page.locator("#plan-snippets code").allInnerTexts();
    assert.equal(code[0], "bloomery build --kind counting --keys 1000 --fpr 0.01 -o set.bloom keys.txt");
    assert.match(code[1], /keyed<bloomery::counting_filter> f\({\.keys = 1'000, \.fpr = 0\.01}\)/);
    assert.equal(code[4], "BF.RESERVE set 0.01 1000 COUNTING");
    await page.locator("#plan-overfill").focus();
    await page.keyboard.press("End");
    assert.match(await text("#plan-overfill-text"), /4,000 keys, 4 times as many as planned: \d+/);
    unharmed();
  });
});

// ---- see ----------------------------------------------------------------------------------------

describe("see", () => {
  test("shows the places and the answers of the tool, for every kind", async () => {
    const words = Array.from({ length: 100 }, (_, i) => wordAt(i));
    writeFileSync(inScratch("seen.txt"), `${words.join("\n")}\n`);
    for (const word of ["apple", "mango", "naïve"]) {
      await open(`see?keys=128&fpr=0.05&n=100&word=${encodeURIComponent(word)}`);
      await page.locator(".filter-panel").nth(3).waitFor();
      for (const kind of ["classic", "blocked", "counting", "cuckoo"]) {
        run("build", "-q", "--kind", kind, "--keys", "128", "--fpr", "5%", "-o", `${kind}.bloom`, "seen.txt");
        let told;
        try {
          told = JSON.parse(run("explain", "--json", `${kind}.bloom`, word));
        } catch (error) {
          // status 1: not in it
          told = JSON.parse(error.stdout);
        }
        const panel = page.locator(`.filter-panel[data-kind=${kind}]`);
        const steps = await panel.locator("li").allInnerTexts();
        assert.equal(steps.length, 4);
        assert.ok(steps[0].includes(told.hash), `${kind}: ${steps[0]}`);
        for (const place of told.places) {
          assert.ok(
            steps[2].includes(` ${place.position.toLocaleString("en-GB")} is ${place.value}`),
            `${kind}: ${steps[2]}`,
          );
        }
        if (kind === "cuckoo") {
          for (const { bucket } of told.buckets) assert.ok(steps[2].includes(`bucket ${bucket} `), steps[2]);
        }
        assert.match(steps[3], told.contained ? /probably in the set/ : /surely not/);
        const now = (await panel.locator("dd").allInnerTexts())[1];
        assert.equal(now, rate(told.fpr_now));
      }
    }
    unharmed();
  });

  test("words are added, asked, removed; steps go back and forth", async () => {
    await open("see");
    await page.locator(".filter-panel").nth(3).waitFor();
    await page.fill("#see-word", "quince");
    await page.keyboard.press("Enter");
    assert.match(await text(".filter-panel[data-kind=classic] .verdict"), /surely not/);
    await page.click("#see-add");
    for (const kind of ["classic", "blocked", "counting", "cuckoo"]) {
      assert.match(await text(`.filter-panel[data-kind=${kind}] .verdict`), /probably in the set\. Right/);
    }
    await page.click("#see-back");
    await page.click("#see-back");
    assert.equal(await page.locator(".filter-panel[data-kind=blocked] li").count(), 2);
    assert.match(await text("#see-step"), /Step 2 of 4/);
    await page.click("#see-all");
    await page.click("#see-remove");
    assert.match(await text(".filter-panel[data-kind=counting] .verdict"), /surely not/i);
    assert.match(await text(".filter-panel[data-kind=classic] .verdict"), /probably/);
    await page.click("#see-remove");
    assert.match(await text("#see-word-error"), /in none of them/);
    unharmed();
  });

  test("false positives appear, are explained, and measured rates agree with the model", async () => {
    await open("see?keys=128&fpr=0.05&n=128");
    await page.locator(".filter-panel").nth(3).waitFor();
    await page.click("#see-find");
    assert.ok((await page.locator(".verdict.false").allInnerTexts()).some((t) => /Wrong: a false positive/.test(t)));
    // The measured rate is that of these bits, within five standard errors of 10,000 questions.
    for (const kind of ["classic", "blocked", "counting", "cuckoo"]) {
      const [, now, measured] = await page.locator(`.filter-panel[data-kind=${kind}] dd`).allInnerTexts();
      const p = parseFloat(now) / 100;
      assert.ok(
        Math.abs(parseFloat(measured) / 100 - p) < 5 * Math.sqrt(p / 10000) + 0.0002,
        `${kind}: ${now}, ${measured}`,
      );
    }
    unharmed();
  });
});

// ---- work ---------------------------------------------------------------------------------------

const cards = () => page.locator("#work-filters article");
const message = async (pattern) => {
  await page.waitForFunction(
    (p) => new RegExp(p).test(document.querySelector("#work-message").textContent),
    pattern.source,
  );
};
async function openWork(...files) {
  await open("work");
  for (const file of files) await give(file);
}
async function give(file) {
  const n = await cards().count();
  await page.setInputFiles("#work-file", file);
  return n;
}
async function build(file, { kind = "blocked", fpr = "1 %", keys = "" } = {}) {
  await give(file);
  await page.locator("#build-kind").selectOption(kind);
  await page.fill("#build-fpr", fpr);
  await page.fill("#build-keys", keys);
  await page.getByRole("button", { name: "Make the filter" }).click();
  await message(/^Made in/);
}
async function downloaded(link) {
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  return readFileSync(await download.path());
}
const download = () =>
  downloaded(
    cards()
      .first()
      .getByRole("link", { name: /^Download/ })
      .last(),
  );
async function ask(words, as) {
  const card = cards().first();
  await card.locator("textarea").fill(words.join("\n"));
  if (as) await card.locator("select").selectOption(as);
  await card.getByRole("button", { name: "Check these" }).click();
  await page.waitForFunction(
    (n) =>
      document.querySelectorAll("#work-filters article:first-child .answers li").length === n ||
      document.querySelector("#work-filters article:first-child [role=status] .error"),
    words.length,
  );
  const errors = await card.locator("[role=status] .error").allInnerTexts();
  if (errors.length > 0) throw new Error(`${await card.locator("h3").innerText()}: ${errors}`);
  return card
    .locator(".answers li")
    .evaluateAll((items) => items.map((item) => item.firstChild.textContent.trim() === "probably"));
}

describe("work", () => {
  const words = "/usr/share/dict/words";
  test("filters of a word list are the tool’s, byte for byte, for every kind", async () => {
    const list = readFileSync(words, "utf8").split("\n").slice(0, 20000).join("\n");
    const file = inScratch("list.txt");
    writeFileSync(file, `${list}\n\n`);
    await openWork();
    for (const [kind, fpr, keys] of [
      ["blocked", "1 %", ""],
      ["blocked", "0.1 %", "30000"],
      ["split-block", "1 %", ""],
      ["classic", "1 %", ""],
      ["partitioned", "2 %", ""],
      ["counting", "1 %", ""],
      ["cuckoo", "1 %", ""],
      ["scalable", "1 %", "5000"],
      ["layered", "1 %", "5000"],
      ["windowed", "1 %", "30000"],
      ["fuse", "1 %", ""],
      ["ribbon", "1 %", ""],
      ["count-min", "1 %", ""],
      ["spectral", "1 %", ""],
    ]) {
      await build(file, { kind, fpr, keys });
      const made = await download();
      run(
        "build",
        "-q",
        "--kind",
        kind,
        "--fpr",
        fpr.replace(" ", ""),
        ...(keys ? ["--keys", keys] : []),
        "-o",
        "tool.bloom",
        file,
      );
      assert.ok(made.equals(readFileSync(inScratch("tool.bloom"))), `${kind} ${fpr} ${keys}`);
      await cards().first().getByRole("button", { name: "Close" }).click();
    }
    unharmed();
  });

  test("packed lists, CR LF and a byte-order mark are read as the tool reads them", async () => {
    await openWork();
    for (const [name, content, options] of [
      ["packed.txt.gz", gzipSync("apple\npear\nplum\n"), []],
      ["windows.txt", "apple\r\npear\r\n", ["--crlf"]],
      ["mark.txt", "\ufeffapple\npear", []],
      ["last.txt", "apple\n\n\npear", []],
    ]) {
      writeFileSync(inScratch(name), content);
      await build(inScratch(name));
      run("build", "-q", ...options, "-o", "tool.bloom", name);
      assert.ok((await download()).equals(readFileSync(inScratch("tool.bloom"))), name);
    }
    unharmed();
  });

  test("golden files of every kind open and answer as in C++", async () => {
    await openWork();
    const kinds = new Set();
    for (const name of readdirSync(golden)
      .filter((f) => f.endsWith(".bloom"))
      .map((f) => f.slice(0, -6))) {
      const expected = JSON.parse(
        readFileSync(path.join(golden, `${name}.json`), "utf8").replace(/(?<=[[,:]\s*)-?\d{16,}(?=[,\]}])/g, '"$&"'),
      ); // numbers beyond 2^53
      await give(path.join(golden, `${name}.bloom`));
      await cards().first().waitFor();
      kinds.add((await cards().first().locator("h3").innerText()).replace(/.*: (.*) filter$/, "$1"));
      const asked = [...expected.present, ...expected.absent].map(String).filter((w) => w !== "");
      const present = new Set(expected.present.map(String));
      if (/siphash|md5|sha1|murmur/.test(name)) {
        // hashes that the module does not have: a sentence says so
        await assert.rejects(
          ask(["word"]),
          /not in this library\. The|does not have the filter's hash|made with a secret key/,
          name,
        );
      } else {
        assert.deepEqual(
          await ask(asked, expected.integers ? "integers" : undefined),
          asked.map((w) => present.has(w)),
          name,
        );
      }
      await cards().first().getByRole("button", { name: "Close" }).click();
    }
    assert.equal(kinds.size, plannedKinds.length + 1); // top-k is not planned
    unharmed();
  });

  test("info, words and files are answered; two filters are compared and joined", async () => {
    const list = readFileSync(words, "utf8").split("\n").filter(Boolean);
    writeFileSync(inScratch("a.txt"), `${list.slice(0, 6000).join("\n")}\n`);
    writeFileSync(inScratch("b.txt"), `${list.slice(4000, 10000).join("\n")}\n`);
    for (const name of ["a", "b"]) run("build", "-q", "--keys", "10000", "-o", `${name}.bloom`, `${name}.txt`);
    await openWork(inScratch("a.bloom"));
    await cards().first().waitFor();
    const info = JSON.parse(run("info", "--json", "a.bloom"));
    const facts = await cards().first().locator("dl").innerText();
    assert.ok(facts.includes(info.name) && facts.includes(`${rate(info.fpr_now)} now`), facts);
    assert.deepEqual(await ask([list[0], "no such word", list[5999]]), [true, false, true]);
    await page.locator("#work-filters article:first-child input[type=file]").setInputFiles(inScratch("b.txt"));
    const count = run("check", "-c", "a.bloom", "b.txt").trim();
    await page
      .getByText(`b.txt: ${Number(count).toLocaleString("en-GB")} of 6,000 lines are probably in the set`)
      .waitFor();
    const found = await downloaded(page.getByRole("link", { name: /^Download those lines/ }));
    assert.equal(String(found), run("check", "a.bloom", "b.txt"));

    await give(inScratch("b.bloom"));
    await page.getByRole("button", { name: "Compare" }).click();
    const table = await page.locator("#work-pair table").innerText();
    assert.match(table, /in both\s+(1,9|2,0)\d\d ±/);
    await page.getByRole("button", { name: /^Merge/ }).click();
    await cards().nth(2).waitFor();
    run("merge", "-q", "-o", "both.bloom", "a.bloom", "b.bloom");
    assert.ok((await download()).equals(readFileSync(inScratch("both.bloom"))));
    await page.locator("#pair-a").selectOption("1");
    await page.locator("#pair-b").selectOption("2");
    await page.getByRole("button", { name: /^Intersect/ }).click();
    await cards().nth(3).waitFor();
    run("intersect", "-q", "-o", "both.bloom", "a.bloom", "b.bloom");
    assert.ok((await download()).equals(readFileSync(inScratch("both.bloom"))));
    run("build", "-q", "--keys", "77", "-o", "other.bloom", "a.txt");
    await give(inScratch("other.bloom"));
    await cards().nth(4).waitFor();
    await page.getByRole("button", { name: /^Merge/ }).click();
    await page.getByText(/They cannot be joined\. .*differ/).waitFor();
    unharmed();
  });

  test("bad files are named in a sentence, and the page goes on", async () => {
    run("build", "-q", "-o", "sound.bloom", words);
    const sound = readFileSync(inScratch("sound.bloom"));
    const flipped = Buffer.from(sound);
    flipped[5000] ^= 4;
    mkdirSync(inScratch("folder"), { recursive: true });
    const files = {
      "flipped.bloom": [flipped, /damaged|checksum/],
      "short.bloom": [sound.subarray(0, 3000), /bytes|short|damaged/],
      "head.bloom": [sound.subarray(0, 9), /“head.bloom”/],
      "empty.txt": ["", /is empty: there is no key in it/],
      "list.xz": [Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 1, 2]), /packed with xz/],
      "list.zip": [Buffer.from("PK\x03\x04...."), /packed with zip/],
      "wide.txt": [Buffer.from("\ufeffa\n", "utf16le"), /UTF-16/],
      "cut.gz": [gzipSync("apple\n".repeat(1000)).subarray(0, 30), /“cut.gz”/],
    };
    await openWork();
    for (const [name, [content, sentence]] of Object.entries(files)) {
      writeFileSync(inScratch(name), content);
      await give(inScratch(name));
      if (name === "cut.gz") {
        await message(/packed with gzip/);
        await page.getByRole("button", { name: "Make the filter" }).click();
        await page.waitForFunction(() => document.querySelector("#work-message.bad"));
      }
      await message(sentence);
    }
    // A folder, as a mouse drops it.
    const client = await page.context().newCDPSession(page);
    const box = await page.locator("#work-drop").boundingBox();
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await client.send("Input.dispatchDragEvent", {
        type,
        x: box.x + 50,
        y: box.y + 20,
        data: { items: [], files: [inScratch("folder")], dragOperationsMask: 1 },
      });
    }
    await message(/“folder” is a folder/);
    // Binary bytes: a warning, and the tool's bytes.
    writeFileSync(inScratch("binary.dat"), sound.subarray(64, 40000));
    await give(inScratch("binary.dat"));
    await page.getByText(/as binary files do/).waitFor();
    await build(inScratch("binary.dat"));
    run("build", "-q", "-o", "tool.bloom", "binary.dat");
    assert.ok((await download()).equals(readFileSync(inScratch("tool.bloom"))));
    unharmed();
  });

  test("a line of 100 MB is a key", async () => {
    const file = createWriteStream(inScratch("long.txt"));
    file.write("first\n");
    for (let i = 0; i < 100; ++i) file.write("x".repeat(1e6));
    file.end("\nlast\n");
    await once(file, "finish");
    await openWork();
    await build(inScratch("long.txt"));
    run("build", "-q", "-o", "tool.bloom", "long.txt");
    assert.ok((await download()).equals(readFileSync(inScratch("tool.bloom"))));
    unharmed();
  });

  test("a filter larger than the memory of a page is told of in a sentence", async () => {
    // All but its first bytes takes no space on the disk.
    writeFileSync(inScratch("huge.bloom"), "BLOOMERY");
    truncateSync(inScratch("huge.bloom"), 4e9);
    await openWork(inScratch("huge.bloom"));
    await message(/^“huge.bloom” has 4.00 GB; a page has at most 4 GB of memory/);
    writeFileSync(inScratch("few.txt"), "apple\npear\n");
    await give(inScratch("few.txt"));
    for (const kind of ["blocked", "cuckoo"]) {
      await page.locator("#build-kind").selectOption(kind);
      await page.fill("#build-keys", "1e12");
      await page.getByRole("button", { name: "Make the filter" }).click();
      await message(/^“few.txt” needs more memory than a browser gives a page/);
    }
    assert.equal(await cards().count(), 0);
    await build(inScratch("few.txt"));
    assert.deepEqual(await ask(["apple", "no such word"]), [true, false]);
    unharmed();
  });

  test("a long build can be cancelled", async () => {
    // Its worker reads the first pieces of a file, and the next ones when it is told to stop: so
    // Cancel comes in the middle, however fast or busy the machine is.
    const holdsBack = `{
      const read = Blob.prototype.arrayBuffer;
      const stopped = new Promise((resolve) => addEventListener("message", ({ data }) => data.cancel && resolve()));
      let count = 0;
      Blob.prototype.arrayBuffer = async function () {
        // Progress is told now and then.
        if (++count === 2) await new Promise((resolve) => setTimeout(resolve, 200));
        if (count > 2) await stopped;
        return read.call(this);
      };
    }\n`;
    const worker = holdsBack + readFileSync(path.join(pageFolder, "worker.js"), "utf8");
    const other = await serve(pageFolder, { "/worker.js": () => ({ type: "text/javascript", body: worker }) });
    try {
      writeFileSync(inScratch("large.txt"), "a line of some length\n".repeat(1e6));
      writeFileSync(inScratch("few.txt"), "apple\npear\n");
      await page.goto(`${other.url}#work`);
      await started(page);
      await give(inScratch("large.txt"));
      await page.getByRole("button", { name: "Make the filter" }).click();
      await page.waitForFunction(() => document.querySelector("#work-bar").value > 0);
      await page.click("#work-cancel");
      await message(/^Cancelled/);
      assert.equal(await page.locator("#work-progress").isVisible(), false);
      assert.equal(await cards().count(), 0);
      await build(inScratch("few.txt")); // the worker still works
      unharmed();
    } finally {
      await other.stop();
      await page.goto("about:blank");
    }
  });
});

// ---- served -------------------------------------------------------------------------------------

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

describe("served", () => {
  test("says what to do where there is no server", async () => {
    await open("served");
    await page.getByText("No server of filters is here").waitFor();
    unharmed();
  });

  test("lists, counts and checks with bloomery serve", async (t) => {
    const help = run("help");
    if (!/^\s+serve\b/m.test(help)) {
      t.skip("the tool has no serve");
      return;
    }
    mkdirSync(inScratch("shelf"), { recursive: true });
    writeFileSync(inScratch("fruit.txt"), "apple\npear\n");
    run("build", "-q", "-o", "shelf/fruit.bloom", "fruit.txt");
    const child = spawn(tool, ["serve", "shelf", "--listen", "127.0.0.1:0", "--page", pageFolder], {
      cwd: scratch,
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      const base = await new Promise((resolve, reject) => {
        let said = "";
        child.stderr.on("data", (piece) => {
          said += piece;
          const address = / at (http:\/\/127\.0\.0\.1:\d+)\s/.exec(said);
          if (address) resolve(`${address[1]}/`);
        });
        child.on("exit", () => reject(new Error(`bloomery serve has ended: ${said}`)));
      });
      await page.goto(`${base}#served`);
      await page.locator("#served-list tbody tr").waitFor();
      assert.match(await text("#served-list"), /fruit\.bloom\s+blocked\s+2/);
      await page.fill("#served-key", "apple");
      await page.keyboard.press("Enter");
      await page.getByText("“apple” is probably in fruit.bloom.").waitFor();
      await page.fill("#served-key", "mango & more");
      await page.keyboard.press("Enter");
      await page.getByText("“mango & more” is surely not in fruit.bloom.").waitFor();
      await page.waitForFunction(() => /2\s*keys asked/.test(document.querySelector("#served-tiles").innerText));
      run("build", "-q", "-o", "shelf/more.bloom", "fruit.txt");
      await page.getByRole("link", { name: "more.bloom" }).waitFor();
      // Axe wants a page that stands still.
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Go on" }).waitFor();
      await look("served-live");
      unharmed();
    } finally {
      await end(child);
    }
  });

  test("reads any metrics and names, and stays calm without them", async () => {
    const name = 'odd "name" <b>.bloom';
    const other = await serve(pageFolder, {
      "/filters": () => ({
        body: JSON.stringify([{ name, kind: "classic", keys: 3, bytes: 300, fpr_target: null, version: "00ff" }]),
      }),
      "/metrics": () => ({
        type: "text/plain",
        body:
          'bloomery_serve_requests_total{route="check",status="2xx"} 1234\n' +
          '# HELP x\nbloomery_serve_filter_versions{name="odd \\"name\\" <b>.bloom"} 3\nnonsense\n' +
          "bloomery_serve_keys_asked_total 10\n" +
          "bloomery_serve_keys_found_total 1\n",
      }),
      [`/filters/${encodeURIComponent(name)}/check`]: () => ({
        status: 409,
        body: '{"error":"its keys are integers"}',
      }),
    });
    try {
      await page.goto(`${other.url}#served`);
      await page.getByText("1,234").waitFor();
      assert.match(await text("#served-list"), /odd "name" <b>\.bloom\s+classic\s+3\s+300 bytes\s+none\s+00ff\s+3/);
      assert.match(await text("#served-tiles"), /10\.0 % of the keys/);
      await page.fill("#served-key", "x");
      await page.keyboard.press("Enter");
      await page.getByText("its keys are integers.").waitFor();
      unharmed();
    } finally {
      await other.stop();
      await page.goto("about:blank");
    }
  });
});

// ---- all of it ----------------------------------------------------------------------------------

// A picture of the view that is shown, in two sizes and two themes, with axe in each.
async function look(name) {
  for (const theme of ["light", "dark"]) {
    await page.locator("#theme").selectOption(theme);
    for (const [size, width, height] of [
      ["wide", 1280, 900],
      ["phone", 390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      // What follows the size of the page, such as the charts, is drawn in the next frame.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: path.join(pictures, `${name}-${size}-${theme}.png`), fullPage: true });
      const sideways = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.ok(sideways <= 0, `${name} ${size}: ${sideways} pixels too wide`);
    }
    assert.deepEqual(await violations(page), [], `${name}, ${theme}`);
  }
  await page.locator("#theme").selectOption("auto");
  await page.setViewportSize({ width: 1280, height: 900 });
}

describe("for everybody", () => {
  test("axe finds nothing in any view and theme; pictures are taken", async () => {
    await open("plan?keys=1000000&fpr=0.01");
    await planned();
    await look("plan");
    await open("plan?keys=1000000&bytes=1000000&kind=classic");
    await planned();
    await look("plan-memory");
    await open("see?keys=128&fpr=0.05&n=120&word=apple");
    await page.locator(".filter-panel").nth(3).waitFor();
    await page.click("#see-find");
    await look("see");
    await openWork();
    await look("work-empty");
    await build("/usr/share/dict/words");
    await ask(["apple", "no such word"]);
    await build("/usr/share/dict/words", { keys: "200000" });
    await page.getByRole("button", { name: "Compare" }).click();
    await page.locator("#work-pair [role=status] > *").first().waitFor();
    await give("/usr/share/dict/words");
    await page.getByRole("button", { name: "Make the filter" }).waitFor();
    await look("work");
    await open("served");
    await page.getByText("No server of filters is here").waitFor();
    await look("served");
    unharmed();
  });

  const focused = () =>
    page.evaluate(() => {
      const { id, dataset, tagName } = document.activeElement;
      return id || dataset.kind || tagName;
    });
  async function reach(...ids) {
    const reached = new Set();
    for (let i = 0; i < 80; ++i) {
      await page.keyboard.press("Tab");
      reached.add(await focused());
    }
    for (const id of ids) assert.ok(reached.has(id), `${id} is not among ${[...reached].join(", ")}`);
  }
  async function tabTo(selector) {
    const there = () => page.evaluate((s) => document.activeElement.matches(s), selector);
    for (let i = 0; i < 40 && !(await there()); ++i) await page.keyboard.press("Tab");
    assert.ok(await there(), `${selector} is not reached, but ${await focused()}`);
  }

  test("everything can be reached by keyboard", async () => {
    await open("plan");
    await planned();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "main");
    await reach("plan-keys", "plan-keys-slider", "plan-fpr", "plan-kind", "plan-overfill", "ribbon", "plan-link");
    await open("see?keys=128&fpr=0.05&n=100&word=apple");
    await page.locator(".filter-panel").nth(3).waitFor();
    await reach("see-word", "see-ask", "see-add", "see-remove", "see-fill", "see-find", "see-keys", "see-back", "see-all");
    unharmed();
  });

  test("a filter is made and asked by keyboard", async () => {
    writeFileSync(inScratch("few.txt"), "apple\npear\n");
    await openWork();
    await tabTo("#work-file"); // what the browser then shows is its own
    await give(inScratch("few.txt"));
    await page.locator("#build-kind").waitFor();
    await tabTo("#build-fpr");
    await page.keyboard.press("Enter");
    await message(/^Made in/);
    await tabTo("textarea");
    await page.keyboard.type("apple");
    await tabTo("button");
    await page.keyboard.press("Enter");
    await cards().first().locator(".answers li", { hasText: "probably" }).waitFor();
    unharmed();
  });

  test("nothing jumps while a slider moves", async () => {
    await open("plan");
    await planned();
    const tops = () =>
      page.evaluate(() =>
        ["#plan-sizes", "#plan-table", "#plan-alternatives"].map((s) =>
          Math.round(document.querySelector(s).getBoundingClientRect().top),
        ),
      );
    const firstTops = await tops();
    await page.locator("#plan-keys-slider").focus();
    for (let i = 0; i < 12; ++i) {
      await page.keyboard.press("ArrowRight");
      assert.deepEqual(await tops(), firstTops);
    }
  });

  test("it prints", async () => {
    await open("plan");
    await planned();
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20000);
    assert.equal(String(pdf.subarray(0, 5)), "%PDF-");
    await page.locator("#theme").selectOption("dark");
    await page.emulateMedia({ media: "print" });
    try {
      // What is for the screen alone stays there, and the paper white.
      const seen = (selector) => page.locator(selector).first().isVisible();
      for (const selector of ["nav", "footer", "#theme", "#plan-keys-slider"])
        assert.equal(await seen(selector), false, selector);
      for (const selector of ["#plan-keys", "#plan-sum", "#plan-sizes", "#plan-table", "#plan-alternatives"])
        assert.equal(await seen(selector), true, selector);
      assert.equal(
        await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim()),
        "#fff",
      );
    } finally {
      await page.emulateMedia({ media: null });
      await page.locator("#theme").selectOption("auto");
    }
  });

  test("a link is followed though the state of a view has yet to go into the address", async () => {
    await open("plan");
    await planned();
    await page.evaluate(() => {
      const slider = document.querySelector("#plan-keys-slider");
      slider.value = Number(slider.value) + 1;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      location.hash = "#see";
      // This writes what waits, before anybody hears of the new address.
      dispatchEvent(new Event("pagehide"));
    });
    await started(page, "#view-see");
    assert.match(page.url(), /#see/);
    unharmed();
  });

  test("a view takes nothing before its script is there", async () => {
    const fresh = await browse({ serviceWorkers: "block" });
    try {
      let arrive;
      const late = new Promise((resolve) => {
        arrive = resolve;
      });
      await fresh.page.route("**/work.js", async (route) => {
        await late;
        await route.continue();
      });
      await fresh.page.goto(server.url);
      await started(fresh.page, "#view-plan");
      await fresh.page.click("nav a[data-view=work]");
      const work = fresh.page.locator("#view-work");
      await work.waitFor();
      assert.equal(await work.evaluate((view) => view.inert), true);
      arrive();
      await started(fresh.page, "#view-work");
      assert.deepEqual(fresh.errors, []);
    } finally {
      await fresh.close();
    }
  });

  test("it works with the server stopped, after one visit", async () => {
    const other = await serve();
    const fresh = await browse();
    try {
      await fresh.page.goto(other.url);
      await fresh.page.getByText("Works without a network from now on.").waitFor();
      await other.stop();
      for (const [hash, selector] of [
        ["plan", "#plan-sizes rect"],
        ["see", ".filter-panel"],
      ]) {
        await fresh.page.goto("about:blank");
        await fresh.page.goto(`${other.url}#${hash}`);
        await fresh.page.locator(selector).first().waitFor();
      }
      await fresh.page.click("nav a[data-view=work]");
      await started(fresh.page, "#view-work");
      await fresh.page.setInputFiles("#work-file", {
        name: "list.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("apple\npear\n"),
      });
      await fresh.page.getByRole("button", { name: "Make the filter" }).click();
      await fresh.page.getByText("list.bloom: blocked filter").waitFor();
      await fresh.page.click("nav a[data-view=served]");
      await fresh.page.getByText("No server of filters is here").waitFor();
      assert.deepEqual(fresh.errors, []);
    } finally {
      await other.stop();
      await fresh.close();
    }
  });

  test("without a network it is of one version, the last that was visited", async () => {
    const release = (number) => {
      const folder = inScratch(`release-${number}`);
      cpSync(pageFolder, folder, { recursive: true });
      for (const name of ["app.js", "work.js"])
        appendFileSync(path.join(folder, name), `document.documentElement.dataset["${name}"] = "${number}";\n`);
      const worker = readFileSync(path.join(folder, "sw.js"), "utf8");
      assert.match(worker, /^const version = "[0-9a-f]{16}";/m);
      writeFileSync(
        path.join(folder, "sw.js"),
        worker.replace(/^const version = .*$/m, `const version = "${number}";`),
      );
      return folder;
    };
    const folders = [release(1), release(2)];
    const other = await serve(() => folders[0]);
    const fresh = await browse();
    const kept = () => fresh.page.evaluate(() => globalThis.caches.keys().then(String));
    try {
      await fresh.page.goto(other.url);
      await fresh.page.getByText("Works without a network from now on.").waitFor();
      assert.match(await kept(), / 1$/);
      folders.shift();
      await fresh.page.goto("about:blank");
      await fresh.page.goto(`${other.url}#plan`);
      for (const end = Date.now() + patience; !/^[^,]* 2$/.test(await kept()); await delay(50))
        assert.ok(Date.now() < end, "the new version was not kept");
      await other.stop();
      await fresh.page.goto("about:blank");
      await fresh.page.goto(`${other.url}index.html#work`);
      await started(fresh.page, "#view-work");
      assert.deepEqual(await fresh.page.evaluate(() => ({ ...document.documentElement.dataset })), {
        "app.js": "2",
        "work.js": "2",
      });
      assert.deepEqual(fresh.errors, []);
    } finally {
      await other.stop();
      await fresh.close();
    }
  });

  test("says so when it cannot be kept for times without a network", async () => {
    const other = await serve(pageFolder, { "/icon.svg": () => ({ status: 404 }) });
    try {
      await page.goto(other.url);
      await page.getByText("Could not be kept for times without a network.").waitFor();
      unharmed();
    } finally {
      await other.stop();
      await page.goto("about:blank");
    }
  });

  test("all of it is below 400 kB compressed", () => {
    const size = (folder) =>
      readdirSync(folder, { withFileTypes: true }).reduce(
        (n, e) =>
          n +
          (e.isDirectory()
            ? size(path.join(folder, e.name))
            : e.name.endsWith(".d.ts")
              ? 0
              : gzipSync(readFileSync(path.join(folder, e.name))).length),
        0,
      );
    const all = size(pageFolder);
    assert.ok(all < 400000, `${all} bytes`);
  });
});
