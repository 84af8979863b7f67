// Work: real files. Everything that takes time is in worker.js; this file asks, shows, and says
// what went wrong.

import { $, announce, h } from "./dom.js";
import { download, filterCard } from "./filter_card.js";
import { filterPair } from "./filter_pair.js";
import { kindHints } from "./kinds.js";
import { bytes, count, parseCount, parseRate, seconds, sentence } from "./units.js";
import { startCalls } from "./work_calls.js";

const magic = "BLOOMERY";
const sniffBytes = 1 << 16;
const largestFilter = 3.5e9; // of 4 GB that WebAssembly can have
const buildable = [
  "blocked",
  "classic",
  "partitioned",
  "split-block",
  "counting",
  "cuckoo",
  "scalable",
  "layered",
  "windowed",
  "fuse",
  "ribbon",
  "count-min",
  "spectral",
];

export function start(engine, app) {
  let opened = []; // {filter, name, info, fill, can, file}
  let serials = 0;
  let current = null; // the id of the call that Cancel stops
  const { ask, cancel } = startCalls(app.wasm, async () => {
    for (const one of opened) one.filter = null; // numbers of the worker that has ended
    for (const one of opened) {
      try {
        one.filter = (await ask("open", { blob: one.file })).filter;
      } catch {
        /* whoever asks it is told that it is closed */
      }
    }
  });
  $("#work-cancel").addEventListener("click", () => cancel(current));

  async function withProgress(title, promise) {
    $("#work-progress-title").textContent = title;
    $("#work-progress-text").textContent = "Starting…";
    $("#work-bar").removeAttribute("value");
    $("#work-progress").hidden = false;
    current = promise.id;
    try {
      return await promise;
    } finally {
      current = null;
      $("#work-progress").hidden = true;
    }
  }
  let announced = 0;
  const showProgress = ({ bytes: done, of, seconds: time }) => {
    $("#work-bar").value = of ? done / of : 1;
    const speed = time > 0.2 ? `, ${bytes(done / time)} a second` : "";
    const left = time > 1 && done < of ? `, about ${seconds(((of - done) * time) / done)} left` : "";
    $("#work-progress-text").textContent =
      `${bytes(done)} of ${bytes(of)} read${speed}${left}` + (done >= of ? "; making the filter…" : "");
    const tenth = Math.floor((10 * done) / of);
    if (tenth !== announced && tenth % 3 === 0) announce(`${10 * tenth} percent`, 0);
    announced = tenth;
  };

  function say(text, bad = false) {
    $("#work-message").textContent = text;
    $("#work-message").classList.toggle("bad", bad);
  }

  // ---- files that come in -----------------------------------------------------------------------

  async function takeFiles(files) {
    say("");
    for (const file of files) {
      if (file.folder) {
        say(`“${file.name}” is a folder. Drop the files in it, or one list of them.`, true);
        continue;
      }
      try {
        await takeFile(file);
      } catch (error) {
        say(explainFailure(file.name, error), true);
      }
    }
  }

  function explainFailure(name, error) {
    if (error.cancelled) return `Cancelled: “${name}”.`;
    if (error.name === "NotReadableError" || error.name === "NotFoundError") {
      return `“${name}” could not be read. If it is a folder, drop its files; if it has changed, choose it again.`;
    }
    if (error.code === "no_memory" || error instanceof RangeError || /memory|allocat/i.test(error.message)) {
      return (
        `“${name}” needs more memory than a browser gives a page (4 GB at most). Give the number of keys, a ` +
        `higher rate or a smaller file; the command-line tool has no such limit. (${error.message})`
      );
    }
    const advice =
      {
        corrupt: " The file was damaged or cut short: fetch or build it again.",
        not_bloomery: " It is no filter of Bloomery.",
        unsupported: " A newer version may have written it.",
      }[error.code] ?? "";
    return `“${name}”: ${sentence(error.message)}${advice}`;
  }

  async function takeFile(file) {
    if (file.size === 0) {
      say(`“${file.name}” is empty: there is no key in it.`, true);
      return;
    }
    const head = new Uint8Array(await file.slice(0, sniffBytes).arrayBuffer());
    const begins = (...values) => values.every((v, i) => head[i] === v);
    const text = String.fromCharCode(...head.slice(0, 8));
    if (text === magic) {
      await openFilter(file);
      return;
    }
    const packed = begins(0x42, 0x5a, 0x68)
      ? "bzip2"
      : begins(0x28, 0xb5, 0x2f, 0xfd)
        ? "zstd"
        : begins(0xfd, 0x37, 0x7a, 0x58, 0x5a)
          ? "xz"
          : begins(0x50, 0x4b, 3, 4)
            ? "zip"
            : null;
    if (packed) {
      say(
        `“${file.name}” is packed with ${packed}, which browsers cannot unpack. Unpack it first` +
          (packed === "zip" ? "." : ", or use bloomery build, which does."),
        true,
      );
      return;
    }
    if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) {
      say(`“${file.name}” is UTF-16. Save it as UTF-8: every program that asks the filter will hash that.`, true);
      return;
    }
    const gzip = begins(0x1f, 0x8b);
    let notes = "";
    let crlf = false;
    if (!gzip) {
      const newlines = head.reduce((n, b) => n + (b === 10), 0);
      const returns = head.reduce((n, b, i) => n + (b === 10 && head[i - 1] === 13), 0);
      crlf = newlines > 0 && returns > newlines / 2;
      if (head.includes(0))
        notes = "It has zero bytes, as binary files do: keys will be whatever stands between line ends.";
      else if (newlines === 0 && file.size > sniffBytes)
        notes = "There is no line end in its first 64 kB: is it a list of lines?";
    }
    offerBuild(file, { gzip, crlf, notes });
    say(`“${file.name}”: ${bytes(file.size)}${gzip ? ", packed with gzip" : ""}. Choose what to make of it.`);
  }

  async function openFilter(file) {
    if (file.size > largestFilter) {
      say(
        `“${file.name}” has ${bytes(file.size)}; a page has at most 4 GB of memory. bloomery info reads any size.`,
        true,
      );
      return;
    }
    const result = await withProgress(`Opening ${file.name}`, ask("open", { blob: file }));
    addFilter(file.name, result);
    say(`“${file.name}” is a ${result.info.kind} filter; every checksum is right.`);
  }

  const drop = $("#work-drop");
  addEventListener("dragover", (event) => {
    if ($("#view-work").hidden) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    if ($("#view-work").hidden) return;
    event.preventDefault();
    drop.classList.remove("over");
    const files = [...event.dataTransfer.items]
      .filter((item) => item.kind === "file")
      .map((item) => {
        if (item.webkitGetAsEntry?.()?.isDirectory) return { folder: true, name: item.webkitGetAsEntry().name };
        return item.getAsFile();
      });
    takeFiles(files.filter(Boolean));
  });
  $("#work-file").addEventListener("change", (event) => {
    takeFiles([...event.target.files]);
    event.target.value = "";
  });

  // ---- building ---------------------------------------------------------------------------------

  function offerBuild(file, { gzip, crlf, notes }) {
    const place = $("#work-build");
    const input = (id, label, value, hint) => [
      h("label", { for: id }, label),
      h("input", { id, type: "text", value, spellcheck: "false", "aria-describedby": `${id}-hint` }),
      h("p", { class: "hint", id: `${id}-hint` }, hint),
    ];
    const kind = h(
      "select",
      { id: "build-kind" },
      buildable.map((k) => h("option", { value: k }, k)),
    );
    const hint = h("p", { class: "hint" }, kindHints.blocked);
    kind.addEventListener("change", () => {
      hint.textContent = kindHints[kind.value];
    });
    const error = h("p", { class: "error", role: "alert" });
    const form = h(
      "form",
      { autocomplete: "off" },
      h("h3", { tabindex: -1 }, `Make a filter of ${file.name}`),
      notes ? h("p", { class: "error" }, notes) : null,
      h(
        "div",
        { class: "controls" },
        h("div", { class: "field" }, h("label", { for: "build-kind" }, "Kind"), kind, hint),
        h(
          "div",
          { class: "field" },
          input("build-fpr", "False-positive rate", "1 %", "such as 1 %, 0.001, 1 in 500"),
        ),
        h(
          "div",
          { class: "field" },
          input("build-keys", "Keys, if you know", "", "empty: the different lines are counted"),
        ),
        h(
          "div",
          { class: "field" },
          h(
            "label",
            null,
            h("input", { type: "checkbox", id: "build-crlf", checked: crlf }),
            "Lines end with CR LF, as on Windows",
          ),
          h("label", null, h("input", { type: "checkbox", id: "build-empty" }), "Empty lines are keys too"),
        ),
      ),
      error,
      h(
        "p",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary" }, "Make the filter"),
        opened.length > 0
          ? h("button", { type: "button", onclick: () => checkFile(file, gzip) }, "Check its lines instead")
          : null,
      ),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fpr = parseRate($("#build-fpr").value);
      const keysText = $("#build-keys").value.trim();
      const keys = keysText ? parseCount(keysText) : undefined;
      error.textContent =
        fpr === null || fpr <= 0 || fpr >= 1
          ? "The rate must be above 0 and below 100 %, such as 1 %."
          : keys === null || keys === 0
            ? "The number of keys must be 1 or more, such as 5000 or 64k; or leave it empty."
            : "";
      if (error.textContent) return;
      const options = {
        kind: kind.value,
        fpr,
        ...(keys ? { keys } : {}),
        crlf: $("#build-crlf").checked,
        keepEmpty: $("#build-empty").checked,
      };
      await build(file, gzip, options);
    });
    place.replaceChildren(form);
    place.hidden = false;
    $("h3", form).focus();
  }

  async function build(file, gzip, options) {
    say("");
    try {
      const result = await withProgress(
        `Making a filter of ${file.name}`,
        ask("build", { blob: file, gzip, options }, showProgress),
      );
      const name = `${file.name.replace(/\.(gz|txt|csv|lst|list)$/gi, "")}.bloom`;
      result.command = toolCommand(file.name, name, options);
      addFilter(name, result);
      $("#work-build").hidden = true;
      const speed = result.seconds > 0 ? ` (${bytes(file.size / result.seconds)} a second)` : "";
      say(
        `Made in ${seconds(result.seconds)}${speed}: ` +
          `${count(Number(result.info.keys))} keys in ${bytes(result.file.size)}.`,
      );
    } catch (error) {
      say(explainFailure(file.name, error), !error.cancelled);
    }
  }

  const quoted = (text) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  function toolCommand(from, to, o) {
    return [
      "bloomery build",
      o.kind === "blocked" ? "" : `--kind ${o.kind}`,
      o.keys ? `--keys ${o.keys}` : "",
      `--fpr ${o.fpr}`,
      o.crlf ? "--crlf" : "",
      o.keepEmpty ? "--keep-empty" : "",
      `-o ${quoted(to)} ${quoted(from)}`,
    ]
      .filter(Boolean)
      .join(" ");
  }

  // ---- filters that are open --------------------------------------------------------------------

  function addFilter(name, result) {
    const names = opened.map((one) => one.name);
    let unique = name;
    for (let i = 2; names.includes(unique); ++i) unique = name.replace(/(\.bloom)?$/, ` ${i}$1`);
    opened.unshift({ ...result, name: unique, serial: ++serials });
    showFilters();
    $("#work-filters h3")?.focus();
  }

  function close(one) {
    opened = opened.filter((other) => other !== one);
    for (const link of one.card.querySelectorAll("a[download]")) URL.revokeObjectURL(link.href);
    ask("free", { filter: one.filter });
    showFilters();
    say(`“${one.name}” is closed.`);
    $("#work-file").focus();
  }

  function showFilters() {
    for (const one of opened) one.card ??= filterCard(one, { ask, checkFile, close });
    $("#work-filters").replaceChildren(...opened.map((one) => one.card));
    $("#work-pair").replaceChildren(...(opened.length < 2 ? [] : [filterPair(opened, { ask, addFilter, say })]));
  }

  async function checkFile(file, gzip = null, one = opened[0]) {
    say("");
    if (file.size === 0) {
      say(`“${file.name}” is empty: there is nothing to check.`, true);
      return;
    }
    try {
      const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
      if (String.fromCharCode(...head) === magic) {
        say(`“${file.name}” is a filter, no list. Open it, and compare the two.`, true);
        return;
      }
      const isGzip = gzip ?? (head[0] === 0x1f && head[1] === 0x8b);
      const crlf = $("#build-crlf")?.checked && !$("#work-build").hidden;
      const r = await withProgress(
        `Checking ${file.name}`,
        ask(
          "check",
          { filter: one.filter, blob: file, gzip: isGzip, options: { crlf: Boolean(crlf) }, select: "present" },
          showProgress,
        ),
      );
      $("#work-build").hidden = true;
      const lines = Number(r.lines);
      one.showResult(
        h(
          "div",
          null,
          h(
            "p",
            null,
            `${file.name}: ${count(r.present)} of ${count(lines)} lines are probably in the set, ` +
              `${count(r.absent)} surely not. ${seconds(r.seconds)}` +
              (r.seconds > 0.05 ? `, ${count(lines / r.seconds)} lines a second.` : "."),
          ),
          r.present > 0
            ? h(
                "p",
                { class: "buttons" },
                download(r.found, `${file.name}.found.txt`, `Download those lines, ${bytes(r.found.size)}`),
              )
            : null,
        ),
      );
      announce(`${count(r.present)} of ${count(lines)} lines are probably in the set`, 0);
    } catch (error) {
      say(explainFailure(file.name, error), !error.cancelled);
    }
  }

  return {
    show() {
      app.save("work", {});
    },
  };
}
