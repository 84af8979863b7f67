// Plan: how large a filter is. All numbers come from the module's planner.

import { sizeBars, rateCurve } from "./chart.js";
import { $, announce, codeBlock, copyText, fieldError, h, table } from "./dom.js";
import { abilities, kindHints, plannedKinds } from "./kinds.js";
import { allSnippets } from "./snippets.js";
import {
  bytes,
  count,
  digits3,
  oneIn,
  parseBytes,
  parseCount,
  parseRate,
  rate,
  rateText,
  sentence,
  short,
} from "./units.js";

const defaults = { keys: 1e6, fpr: 0.01, bytes: 1.25e6, mode: "fpr", kind: "blocked", keyBytes: 20 };
// Ten steps a decade, rounded as people like them.
const round = [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8];
const stepped = (i) => Number((round[((i % 10) + 10) % 10] * 10 ** Math.floor(i / 10)).toPrecision(6));
const stepOf = (x) => Math.round(10 * Math.log10(x));
const rateAt = (i) => Number((10 ** (-i / 10)).toPrecision(i % 10 === 0 ? 1 : 2));
const mostKeys = 1e15;

export function start(engine, app) {
  let state = { ...defaults };
  const fields = {
    keys: $("#plan-keys"),
    fpr: $("#plan-fpr"),
    bytes: $("#plan-bytes"),
    keyBytes: $("#plan-key-bytes"),
  };
  const sliders = { keys: $("#plan-keys-slider"), fpr: $("#plan-fpr-slider"), bytes: $("#plan-bytes-slider") };
  const overfill = $("#plan-overfill");
  const kind = $("#plan-kind");
  kind.append(...plannedKinds.map((name) => h("option", { value: name }, name)));

  // Asked for only when it changes: to ask in the middle of drawing makes the browser lay out
  // everything twice.
  const widths = {};
  const widthOf = (id) => {
    widths[id] ??= Math.max(260, $(`#${id}`).clientWidth || 600);
    return widths[id];
  };
  const resized = new ResizeObserver((entries) => {
    const changed = entries.filter(
      (e) => e.contentRect.width > 0 && Math.round(e.contentRect.width) !== widths[e.target.id],
    );
    for (const { target, contentRect } of changed) widths[target.id] = Math.max(260, Math.round(contentRect.width));
    if (changed.length > 0 && ready) update();
  });
  for (const id of ["plan-sizes", "plan-curve"]) resized.observe($(`#${id}`));
  let ready = false;

  const request = () => ({
    keys: state.keys,
    ...(state.mode === "fpr" ? { fpr: state.fpr } : { bytes: state.bytes }),
  });

  // ---- from the state to the page ---------------------------------------------------------------

  const showFields = (except) => {
    const texts = {
      keys: count(state.keys),
      fpr: rateText(state.fpr),
      bytes: bytesText(state.bytes),
      keyBytes: String(state.keyBytes),
    };
    for (const [name, field] of Object.entries(fields)) {
      if (field !== except) {
        field.value = texts[name];
        fieldError(field, "");
      }
    }
    const steps = {
      keys: stepOf(state.keys),
      fpr: Math.round(-10 * Math.log10(state.fpr)),
      bytes: stepOf(state.bytes),
    };
    for (const [name, slider] of Object.entries(sliders)) {
      if (slider !== except) slider.value = steps[name];
      slider.setAttribute(
        "aria-valuetext",
        {
          keys: `${short(state.keys)} keys`,
          fpr: `${rate(state.fpr)}, ${oneIn(state.fpr)}`,
          bytes: bytes(state.bytes),
        }[name],
      );
    }
    for (const radio of document.querySelectorAll("[name=mode]")) radio.checked = radio.value === state.mode;
    $("#plan-fpr-field").hidden = state.mode !== "fpr";
    $("#plan-bytes-field").hidden = state.mode !== "bytes";
    kind.value = state.kind;
    $("#plan-kind-hint").textContent = kindHints[state.kind];
  };

  const headline = (plan, row) => {
    const sum = $("#plan-sum");
    if (!row) {
      sum.replaceChildren(`No ${state.kind} filter can be planned for this. `, whyNot());
      return;
    }
    const hashTable = plan.alternatives.find((a) => a.name.startsWith("hash table of") && a.fpr === 0);
    sum.replaceChildren(
      h("strong", null, `${short(state.keys)} keys`),
      ` in a ${state.kind} filter take `,
      h("strong", null, bytes(Number(row.bytes))),
      `: ${digits3(row.bits_per_key)} bits a key. `,
      `Of keys that are not in it, `,
      h("strong", null, rate(row.fpr)),
      ` (${oneIn(row.fpr)}) look as if they were. `,
      `A lookup makes ${row.probes} ${row.probes === 1 ? "probe" : "probes"} and reads `,
      `${row.lines} ${row.lines === 1 ? "line" : "lines"} of memory.`,
      hashTable ? ` A hash table of ${state.keyBytes}-byte keys would take ${bytes(Number(hashTable.bytes))}.` : "",
    );
  };

  // The planner's own sentence.
  const whyNot = () => {
    try {
      engine.rates({ kind: state.kind, ...request() }, [1]);
      return "Another kind can.";
    } catch (error) {
      return sentence(error.message);
    }
  };

  // The rows stay, and only what differs is written: sliders move often.
  const write = (cell, text) => {
    if (cell.textContent !== text) cell.textContent = text;
  };
  const numbers = (n) => Array.from({ length: n }, () => h("td", { class: "number" }));
  const kindRows = new Map(
    plannedKinds.map((name) => {
      const button = h(
        "button",
        { type: "button", class: "link-button", "data-kind": name, onclick: () => choose(name) },
        name,
      );
      const cells = [...numbers(6), h("td")];
      return [name, { button, cells, row: h("tr", null, h("th", { scope: "row" }, button), cells) }];
    }),
  );
  $("#plan-table").replaceChildren(
    table(
      "Every kind for these numbers",
      [
        ["Kind"],
        ["Size", 1],
        ["Bits a key", 1],
        ["Probes", 1],
        ["False positives", 1],
        ["Times the bound", 1],
        ["Lines read", 1],
        ["Can, besides"],
      ],
      [...kindRows.values()].map(({ row }) => row),
    ),
  );
  const otherRows = [];
  const others = table(
    "What else there is",
    [["Instead of a filter"], ["Size", 1], ["Bits a key", 1], ["False positives", 1]],
    [],
  );
  $("#plan-alternatives").replaceChildren(others);

  const showTable = (plan, rows) => {
    for (const [name, { button, cells, row }] of kindRows) {
      const r = rows.get(name);
      row.className = `${name === state.kind ? "chosen" : ""} ${r ? "" : "none"}`.trim();
      button.setAttribute("aria-pressed", String(name === state.kind));
      const texts = r
        ? [
            bytes(Number(r.bytes)),
            digits3(r.bits_per_key),
            String(r.probes),
            rate(r.fpr),
            `${digits3(r.times_lower_bound)} ×`,
            String(r.lines),
            abilities(r).join(", ") || "add and ask",
          ]
        : ["–", "–", "–", "–", "–", "–", "not for these numbers"];
      texts.forEach((text, i) => write(cells[i], text));
    }
    const list = plan
      ? [{ name: "lower bound of any filter", ...plan.lower_bound, fpr: plan.fpr }, ...plan.alternatives]
      : [];
    while (otherRows.length < list.length) {
      const cells = [h("th", { scope: "row" }), ...numbers(3)];
      otherRows.push({ cells, row: h("tr", null, cells) });
      $("tbody", others).append(otherRows.at(-1).row);
    }
    otherRows.forEach(({ cells, row }, i) => {
      row.hidden = i >= list.length;
      if (row.hidden) return;
      const a = list[i];
      [a.name, bytes(Number(a.bytes)), digits3(a.bits_per_key), rate(a.fpr)].forEach((text, k) =>
        write(cells[k], text),
      );
    });
  };

  const showCurve = (row) => {
    const place = $("#plan-curve");
    const keys = Array.from({ length: 80 }, (_, i) => Math.max(1, Math.round((state.keys * (i + 1)) / 20)));
    let rates = [];
    if (row?.add) {
      try {
        rates = engine.rates({ kind: state.kind, ...request() }, keys);
      } catch {
        /* the headline says why */
      }
    }
    if (!rates.some((r) => r > 0)) {
      overfill.disabled = true;
      place.replaceChildren();
      $("#plan-overfill-text").textContent = !row
        ? ""
        : row.add
          ? `There is no closed model of ${state.kind} filters with other numbers of keys.`
          : `A ${state.kind} filter is made of all keys at once: no key can come later.`;
      return;
    }
    overfill.disabled = false;
    const draw = () => {
      const i = Number(overfill.value) - 1;
      place.replaceChildren(
        rateCurve(keys, rates, state.keys, { keys: keys[i], rate: rates[i] }, widthOf("plan-curve")),
      );
      const share = (i + 1) / 20;
      const text =
        `${short(keys[i])} keys, ${share === 1 ? "as planned" : `${share} times as many as planned`}: ` +
        `${rate(rates[i])} false positives (${oneIn(rates[i])}).`;
      $("#plan-overfill-text").textContent =
        text +
        (row.grow && share > 1
          ? " It grows; this is its rate then."
          : row.forget && share > 1
            ? " It forgets the oldest."
            : "");
      overfill.setAttribute("aria-valuetext", text);
    };
    overfill.oninput = draw;
    draw();
  };

  const showSnippets = (row) => {
    $("#plan-snippets").replaceChildren(
      ...(row ? allSnippets({ kind: state.kind, ...request(), lines: row.lines }) : []).map(({ title, code, note }) =>
        code
          ? codeBlock(title, code, note)
          : h(
              "section",
              { class: "code", "aria-label": title },
              h("h4", null, title),
              h("p", { class: "note" }, note),
            ),
      ),
    );
  };

  let snippetsLater = 0;
  const update = (except) => {
    showFields(except);
    ready = true;
    let plan;
    try {
      plan = engine.plan({ ...request(), keyBytes: state.keyBytes });
    } catch (error) {
      $("#plan-sum").textContent = sentence(error.message);
      for (const id of ["sizes", "curve", "snippets"]) $(`#plan-${id}`).replaceChildren();
      showTable(null, new Map());
      $("#plan-overfill-text").textContent = "";
      save();
      return;
    }
    const rows = new Map(plan.rows.map((row) => [row.kind, row]));
    const row = rows.get(state.kind);
    headline(plan, row);
    $("#plan-sizes").replaceChildren(
      sizeBars(
        plannedKinds.map((name) => ({
          kind: name,
          bitsPerKey: rows.get(name)?.bits_per_key ?? null,
          bytes: Number(rows.get(name)?.bytes ?? 0),
          why: "not for these numbers",
        })),
        plan.lower_bound.bits_per_key,
        state.kind,
        choose,
        widthOf("plan-sizes"),
      ),
    );
    showTable(plan, rows);
    showCurve(row);
    clearTimeout(snippetsLater); // nobody reads code while a slider moves
    if (except?.type === "range") snippetsLater = setTimeout(() => showSnippets(row), 120);
    else showSnippets(row);
    announce($("#plan-sum").textContent);
    save();
  };

  const save = () =>
    app.save("plan", {
      keys: state.keys,
      ...(state.mode === "fpr" ? { fpr: state.fpr } : { bytes: state.bytes }),
      kind: state.kind,
      ...(state.keyBytes === defaults.keyBytes ? {} : { keybytes: state.keyBytes }),
    });
  const choose = (name) => {
    state.kind = name;
    update();
  };

  // ---- from the page to the state ---------------------------------------------------------------

  const parsers = {
    keys: [
      parseCount,
      (n) => n >= 1 && n <= mostKeys,
      "Type a number of keys from 1 to 10^15, such as 5000, 64k or 1e9.",
    ],
    fpr: [parseRate, (p) => p > 0 && p < 1, "Type a rate above 0 and below 100 %, such as 1 % or 0.001."],
    bytes: [parseBytes, (b) => b >= 1 && b <= 2 ** 45, "Type a size from 1 byte to 32 TiB, such as 64 kB or 10 MB."],
    keyBytes: [parseCount, (b) => b >= 1 && b <= 10000, "Type a number of bytes from 1 to 10,000."],
  };
  for (const [name, field] of Object.entries(fields)) {
    field.addEventListener("input", () => {
      const [parse, good, advice] = parsers[name];
      const value = parse(field.value);
      if (value === null || !good(value)) {
        fieldError(field, advice);
        return;
      }
      fieldError(field, "");
      state[name] = value;
      update(field);
    });
    field.addEventListener("change", () => {
      if (!field.hasAttribute("aria-invalid")) showFields();
    });
  }
  sliders.keys.addEventListener("input", () => {
    state.keys = Math.max(1, Math.round(stepped(Number(sliders.keys.value))));
    update(sliders.keys);
  });
  sliders.fpr.addEventListener("input", () => {
    state.fpr = rateAt(Number(sliders.fpr.value));
    update(sliders.fpr);
  });
  sliders.bytes.addEventListener("input", () => {
    state.bytes = Math.round(stepped(Number(sliders.bytes.value)));
    update(sliders.bytes);
  });
  for (const radio of document.querySelectorAll("[name=mode]")) {
    radio.addEventListener("change", () => {
      if (radio.value === "bytes") {
        // begin with what the rate took
        const row = engine.plan(request()).rows.find((r) => r.kind === state.kind);
        if (row) state.bytes = Number(row.bytes);
      }
      state.mode = radio.value;
      update();
    });
  }
  kind.addEventListener("change", () => choose(kind.value));
  $("#plan-form").addEventListener("submit", (event) => event.preventDefault());
  $("#plan-link").addEventListener("click", async () => {
    app.flush();
    await copyText(location.href);
    announce("Link copied", 0);
    $("#plan-link").textContent = "Copied";
    setTimeout(() => {
      $("#plan-link").textContent = "Copy a link to this plan";
    }, 1500);
  });

  return {
    show(query) {
      const next = { ...defaults };
      const keys = Number(query.keys);
      if (keys >= 1 && keys <= mostKeys) next.keys = Math.round(keys);
      if (Number(query.fpr) > 0 && Number(query.fpr) < 1) next.fpr = Number(query.fpr);
      if (Number(query.bytes) >= 1 && Number(query.bytes) <= 2 ** 45) {
        next.bytes = Math.round(Number(query.bytes));
        next.mode = "bytes";
      }
      if (plannedKinds.includes(query.kind)) next.kind = query.kind;
      if (Number(query.keybytes) >= 1 && Number(query.keybytes) <= 10000)
        next.keyBytes = Math.round(Number(query.keybytes));
      if (Object.keys(query).length > 0 || !this.shown) state = next;
      this.shown = true;
      update();
    },
  };
}

// What the field for memory shows: short where that is exact, else all digits.
function bytesText(n) {
  for (const [unit, name] of [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ]) {
    const x = n / unit;
    if (x >= 1 && Number(x.toFixed(3)) === x) return `${x} ${name}`;
  }
  return `${count(n)} bytes`;
}
