// See: small filters side by side, and the way of one word through them. What a filter looks at,
// its cells and all rates come from the module; this file only shows them, and remembers which word
// set which cell.

import { geometry, picture } from "./cell_picture.js";
import { $, announce, fieldError, h } from "./dom.js";
import { count, digits3, rate, sentence } from "./units.js";
import { wordAt } from "./words.js";

const kinds = ["classic", "blocked", "counting", "cuckoo"];
const lastStep = 4;
const asked = 10000; // absent words for the measured rate

const models = {
  classic: "mean of Xᵏ, where X is the share of set bits: 1\u00a0−\u00a0(1\u00a0−\u00a01/m)ᵏⁿ on average",
  blocked: "the classic model within a block, averaged over how many of the n words a block gets",
  counting: "that of a blocked filter with a counter for each bit",
  cuckoo: "1\u00a0−\u00a0(1\u00a0−\u00a01/(2ᶠ\u00a0−\u00a01))^(2·b·load): two buckets of b fingerprints of f bits",
};

export function start(engine, app) {
  const defaults = { keys: 128, fpr: 0.05, word: "mango", n: 0 };
  let state = { ...defaults };
  let step = lastStep;
  let question = "mango"; // the word that is followed
  let panels = [];
  let finds = []; // false positives that were met
  let nextWord = 0;

  const absentWords = Array.from({ length: asked }, (_, i) => `absent ${i}`);

  // ---- the filters ------------------------------------------------------------------------------

  function rebuild() {
    for (const panel of panels) panel.filter.free();
    panels = kinds.map((kind) => ({
      kind,
      filter: engine.create({ kind, keys: state.keys, fpr: state.fpr, form: "text" }),
      words: new Map(), // how often each was added
      owners: new Map(), // position -> words
    }));
    finds = [];
    nextWord = 0;
  }

  function addWord(word, meet = true) {
    for (const panel of panels) {
      const before = panel.filter.explain(word);
      if (meet && before.contained && !panel.words.has(word)) noteFind(panel, word);
      panel.filter.add(word);
      panel.words.set(word, (panel.words.get(word) ?? 0) + 1);
      for (const { position } of before.places) {
        const owners = panel.owners.get(position) ?? [];
        if (!owners.includes(word)) owners.push(word);
        panel.owners.set(position, owners);
      }
    }
  }

  function removeWord(word) {
    const done = [];
    for (const panel of panels) {
      if (!panel.filter.can.remove || !panel.words.has(word)) continue;
      panel.filter.remove(word);
      const left = panel.words.get(word) - 1;
      if (left > 0) {
        panel.words.set(word, left);
      } else {
        panel.words.delete(word);
        for (const owners of panel.owners.values()) {
          if (owners.includes(word)) owners.splice(owners.indexOf(word), 1);
        }
      }
      done.push(panel.kind);
    }
    return done;
  }

  function noteFind(panel, word) {
    if (!finds.some((f) => f.kind === panel.kind && f.word === word)) finds.push({ kind: panel.kind, word });
  }

  function addNext(n) {
    for (let added = 0; added < n; ++nextWord) {
      const word = wordAt(nextWord);
      if (panels[0].words.has(word)) continue;
      addWord(word);
      ++added;
    }
  }

  // ---- the sentences ----------------------------------------------------------------------------

  const utf8 = new TextEncoder();
  function sentences(panel, cells, e, g) {
    const bytes = utf8.encode(question).length;
    const list = [
      `Hash: XXH3 makes 64 bits of the ${bytes === 1 ? "byte" : `${bytes} bytes`} “${question}”: ` +
        `${e.hash}, in hexadecimal digits.`,
    ];
    if (panel.kind === "cuckoo") {
      const named = (e.buckets ?? []).filter((b) => !b.layer).map((b) => count(Number(b.bucket)));
      list.push(
        `Place: the hash gives the fingerprint ${count(Number(e.fingerprint))}, of ${cells.cellBits} bits, and ` +
          `${named.length > 1 ? `the buckets ${named.join(" and ")}` : `the bucket ${named[0]}`}.`,
      );
      list.push(
        `Look: ${(e.buckets ?? [])
          .map(
            (b) =>
              `bucket ${count(Number(b.bucket))}${b.layer ? ` of layer ${b.layer}` : ""} ` +
              `has ${
                b.cells
                  .filter((c) => c > 0)
                  .map((c) => count(c))
                  .join(", ") || "nothing"
              }`,
          )
          .join("; ")}.`,
      );
      return list;
    }
    const unit = panel.kind === "counting" ? "counter" : "bit";
    const k = e.places.length;
    if (panel.kind === "classic") {
      list.push(
        `Place: ${k} of the ${count(cells.total)} bits, anywhere in the array, so that a lookup reads up to ` +
          `${k} lines of memory (here the whole array is small).`,
      );
    } else {
      list.push(
        `Place: the hash chooses ${panel.kind === "blocked" ? "block" : "line"} ${count(g.line)} of 0 to ` +
          `${count(g.lines - 1)}, 64 bytes that are read at once, and ${k} ${unit}s in it.`,
      );
    }
    list.push(`Look: ${e.places.map((p) => `${unit} ${count(Number(p.position))} is ${p.value}`).join(", ")}.`);
    return list;
  }

  function verdict(panel, e) {
    const added = panel.words.has(question);
    if (!e.contained)
      return [
        "no",
        added ? "Surely not in the set: it was removed." : `Answer: “${question}” is surely not in the set.`,
      ];
    if (added) return ["yes", `Answer: “${question}” is probably in the set. Right: it was added.`];
    const where = e.places
      .map((p) => {
        const owners = panel.owners.get(p.position) ?? [];
        return owners.length > 0
          ? `${count(Number(p.position))} by ${owners.slice(0, 2).join(", ")}` +
              (owners.length > 2 ? ` and ${owners.length - 2} more` : "")
          : null;
      })
      .filter(Boolean);
    return [
      "false",
      `Answer: “${question}” is probably in the set. Wrong: a false positive.` +
        (where.length > 0
          ? ` Other words set its ${panel.kind === "counting" ? "counters" : "bits"}: ${where.join("; ")}.`
          : " Another word has the same fingerprint in one of its buckets."),
    ];
  }

  function ratesOf(panel) {
    // Different words; a cuckoo filter keeps a fingerprint for each call.
    const n = panel.kind === "cuckoo" ? Number(panel.filter.size) : panel.words.size;
    const info = panel.filter.info();
    const expected = n === 0 ? 0 : panel.filter.rates([n])[0];
    const answers = panel.filter.containsAll(absentWords);
    let wrong = 0;
    let trials = 0;
    for (let i = 0; i < asked; ++i) {
      if (panel.words.has(absentWords[i])) continue;
      ++trials;
      wrong += answers[i];
    }
    return { n, info, expected, wrong, trials };
  }

  function drawPanel(panel) {
    const e = panel.filter.explain(question);
    const cells = panel.filter.cells(0, 65536);
    const g = geometry(panel, cells, e);
    const r = ratesOf(panel);
    const [answer, text] = verdict(panel, e);
    const lines = sentences(panel, cells, e, g);
    const p = r.wrong / r.trials;
    const error = Math.sqrt((p * (1 - p)) / r.trials);
    return h(
      "article",
      { class: "panel filter-panel", "data-kind": panel.kind, "aria-label": `${panel.kind} filter` },
      h(
        "h3",
        null,
        panel.kind[0].toUpperCase() + panel.kind.slice(1) + " ",
        h(
          "small",
          null,
          `${count(Number(r.info.bits) / 8)} bytes, ${r.info.probes} ` +
            `${panel.kind === "cuckoo" ? "buckets" : "probes"}, ${rate(r.info.fill)} full`,
        ),
      ),
      picture(panel, cells, e, g, step),
      h(
        "ol",
        { class: "steps" },
        lines.slice(0, step).map((line) => h("li", null, line)),
        step >= lastStep ? h("li", { class: `verdict ${answer}` }, text) : null,
      ),
      h(
        "dl",
        { class: "rates" },
        h("dt", null, "Model"),
        h(
          "dd",
          null,
          Number.isNaN(r.expected) ? "none for a filter that has grown" : rate(r.expected),
          h("span", { class: "note" }, ` ${models[panel.kind]}; n = ${count(r.n)}`),
        ),
        h("dt", null, "These bits"),
        h("dd", null, rate(r.info.fpr_now)),
        h("dt", null, "Measured"),
        h(
          "dd",
          null,
          `${rate(p)} ± ${rate(error)}: ${count(r.wrong)} of ${count(r.trials)} ` + "words that were never added",
        ),
      ),
    );
  }

  function draw(say = true) {
    $("#see-panels").replaceChildren(...panels.map(drawPanel));
    const planned = state.keys;
    const n = panels[0].words.size;
    $("#see-count").textContent =
      `${count(n)} of ${count(planned)} planned words are in` +
      (n > planned ? `: ${digits3(n / planned)} times as many as planned.` : ".");
    $("#see-step").textContent =
      step === lastStep
        ? `All ${lastStep} steps of “${question}” are shown.`
        : `Step ${step} of ${lastStep}: ${["", "hash", "place", "look", "answer"][step]}.`;
    for (const [id, off] of [
      ["#see-back", step === 1],
      ["#see-next", step === lastStep],
    ]) {
      $(id).setAttribute("aria-disabled", String(off));
    }
    const words = [...panels[0].words.keys()];
    const open = $("#see-words details")?.open ?? false;
    $("#see-words").replaceChildren(
      h(
        "p",
        { class: "legend" },
        "Grey-green cells are in use; with an orange edge: asked for and set; hollow and red: asked " +
          "for and not set. Digits are counts from 2 on. An orange frame is what one lookup reads.",
      ),
      finds.length > 0
        ? h(
            "p",
            null,
            h("strong", null, `False positives met so far: ${finds.length}. `),
            finds
              .slice(-12)
              .map((f) => `${f.word} (${f.kind})`)
              .join(", "),
            ".",
          )
        : null,
      h(
        "details",
        { open },
        h("summary", null, `The ${count(words.length)} words that were added`),
        h("p", null, words.join(", ") || "none yet"),
      ),
    );
    if (say)
      announce(
        `${question}: ` +
          panels.map((panel) => `${panel.kind} ${panel.filter.contains(question) ? "probably" : "no"}`).join(", "),
      );
    app.save("see", { keys: state.keys, fpr: state.fpr, n: nextWord, word: question });
  }

  // ---- what people do ---------------------------------------------------------------------------

  function ask(word, from = lastStep) {
    question = word;
    step = from;
    for (const panel of panels) {
      if (panel.filter.contains(word) && !panel.words.has(word)) noteFind(panel, word);
    }
    draw();
  }
  const typed = () => {
    const word = $("#see-word").value;
    fieldError($("#see-word"), word ? "" : "Type a word first.");
    return word;
  };
  const on = (id, action) =>
    $(id).addEventListener("click", () => {
      fieldError($("#see-word"), "");
      try {
        action();
      } catch (error) {
        fieldError($("#see-word"), sentence(error.message));
      }
    });

  $("#see-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const word = typed();
    if (word) ask(word);
  });
  on("#see-add", () => {
    const word = typed();
    if (!word) return;
    addWord(word);
    ask(word);
  });
  on("#see-remove", () => {
    const word = typed();
    if (!word) return;
    if (!panels.some((panel) => panel.filter.can.remove && panel.words.has(word))) {
      fieldError(
        $("#see-word"),
        `“${word}” is in none of them. Removing what was not added would take away others’ cells.`,
      );
      return;
    }
    const done = removeWord(word);
    fieldError($("#see-word"), "");
    ask(word);
    announce(`Removed from ${done.join(" and ")}; the others cannot remove.`, 0);
  });
  on("#see-add-1", () => {
    addNext(1);
    const word = [...panels[0].words.keys()].at(-1);
    $("#see-word").value = word;
    ask(word);
  });
  on("#see-add-10", () => {
    addNext(10);
    draw();
  });
  on("#see-fill", () => {
    addNext(Math.max(0, state.keys - panels[0].words.size));
    draw();
  });
  on("#see-clear", () => {
    rebuild();
    draw();
  });
  on("#see-find", () => {
    for (let i = nextWord + 1; i < nextWord + 50000; ++i) {
      const word = wordAt(i);
      const panel = panels.find((p) => !p.words.has(word) && p.filter.contains(word));
      if (!panel || finds.some((f) => f.word === word)) continue;
      $("#see-word").value = word;
      ask(word);
      return;
    }
    fieldError($("#see-word"), "None of 50,000 words is one: the filters are too empty. Add more words.");
  });
  on("#see-back", () => {
    step = Math.max(1, step - 1);
    draw();
  });
  on("#see-next", () => {
    step = Math.min(lastStep, step + 1);
    draw();
  });
  on("#see-all", () => {
    step = step === lastStep ? 1 : lastStep;
    draw();
  });
  for (const id of ["keys", "fpr"]) {
    $(`#see-${id}`).addEventListener("change", () => {
      const n = nextWord;
      state[id] = Number($(`#see-${id}`).value);
      rebuild();
      addNext(Math.min(n, 4 * state.keys));
      draw();
    });
  }

  return {
    show(query) {
      if (this.shown && Object.keys(query).length === 0) {
        draw(false);
        return;
      }
      this.shown = true;
      state = { ...defaults };
      const has = (id, value) => [...$(`#see-${id}`).options].some((o) => o.value === String(value));
      if (has("keys", query.keys)) state.keys = Number(query.keys);
      if (has("fpr", query.fpr)) state.fpr = Number(query.fpr);
      $("#see-keys").value = String(state.keys);
      $("#see-fpr").value = String(state.fpr);
      question = (query.word ?? defaults.word).slice(0, 200) || defaults.word;
      $("#see-word").value = question;
      rebuild();
      addNext(Math.min(4 * state.keys, Math.max(0, Math.floor(Number(query.n)) || 0)));
      ask(question);
    },
  };
}
