// Served: what `bloomery serve` has, live; of a site that `bloomery publish` wrote, the list alone.

import { $, h, s, table } from "./dom.js";
import { bytes, count, digits3, rate, rateText } from "./units.js";

const everyMs = 2000;
const remembered = 60;
const prefix = "bloomery_serve_";

// Prometheus' text: name{label="value",...} number.
export function parseMetrics(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const m = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line);
    if (!m || !m[1].startsWith(prefix)) continue;
    const labels = {};
    for (const [, name, value] of (m[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    }
    found.push({ name: m[1].slice(prefix.length), labels, value: Number(m[3]) });
  }
  return found;
}

export function start(engine, app) {
  const body = $("#served-body");
  let timer = 0;
  let visible = false;
  let history = []; // {time, requests, asked, found}
  let shownList = "";
  let paused = false;
  let looks = 0; // only the last one is drawn

  async function fetchJson(path) {
    const reply = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
    if (!reply.ok || !/json/.test(reply.headers.get("Content-Type") ?? "")) throw new Error(`status ${reply.status}`);
    return reply.json();
  }

  async function list() {
    try {
      return { live: true, filters: await fetchJson("filters") };
    } catch {
      return { live: false, filters: await fetchJson("filters/index.json") };
    }
  }

  async function refresh() {
    clearTimeout(timer);
    const look = ++looks;
    const wanted = () => visible && look === looks;
    let listed;
    try {
      listed = await list();
    } catch {
      if (wanted()) nobody();
      return;
    }
    if (!wanted()) return;
    const metrics = listed.live
      ? await fetch("metrics", { cache: "no-store" })
          .then((r) => (r.ok ? r.text() : ""))
          .then(parseMetrics)
          .catch(() => [])
      : [];
    if (!wanted()) return;
    draw(listed, metrics);
    if (listed.live && !paused) timer = setTimeout(refresh, everyMs);
  }

  function nobody() {
    shownList = "";
    body.replaceChildren(
      h(
        "div",
        { class: "panel" },
        h("h3", null, "No server of filters is here"),
        h(
          "p",
          null,
          "This page came from a place that serves no filters. Start one with the folder that has this page, and open " +
            "it there. Of Debian's package bloomery-server that is:",
        ),
        h(
          "pre",
          { tabindex: 0, "aria-label": "Commands" },
          h(
            "code",
            null,
            "bloomery build -o filters/words.bloom /usr/share/dict/words\n" +
              "bloomery serve filters --page /usr/share/bloomery/web",
          ),
        ),
        h("p", { class: "buttons" }, h("button", { type: "button", onclick: refresh }, "Look again")),
      ),
    );
  }

  const sum = (metrics, name) => metrics.filter((m) => m.name === name).reduce((n, m) => n + m.value, 0);

  function draw({ live, filters }, metrics) {
    const key = JSON.stringify([live, filters]);
    if (!$("#served-list")) {
      body.replaceChildren(
        h("div", { id: "served-tiles" }),
        h("div", { id: "served-list" }),
        h("div", { id: "served-check" }),
      );
      shownList = "";
    }
    if (key !== shownList) {
      // so that nobody's place in the table is lost while nothing changes
      shownList = key;
      drawList(filters, metrics);
      drawCheck(live, filters);
    }
    for (const m of metrics.filter((m) => m.name === "filter_versions")) {
      const cell = document.getElementById(`versions-${m.labels.name}`);
      if (cell) cell.textContent = count(m.value);
    }
    if (live) drawTiles(metrics);
    else
      $("#served-tiles").replaceChildren(
        h("p", { class: "note" }, "A static site of bloomery publish: it counts nothing."),
      );
  }

  function drawTiles(metrics) {
    const now = {
      time: performance.now(),
      requests: sum(metrics, "requests_total"),
      asked: sum(metrics, "keys_asked_total"),
      found: sum(metrics, "keys_found_total"),
    };
    history.push(now);
    history = history.slice(-remembered);
    const first = history.at(-2);
    const speed = (name) => (first ? (now[name] - first[name]) / ((now.time - first.time) / 1000) : 0);
    const tile = (number, text) => h("div", { class: "tile" }, h("b", null, number), h("span", null, text));
    const focused = document.activeElement?.id === "served-pause";
    const pause = h(
      "button",
      {
        type: "button",
        id: "served-pause",
        class: "small",
        "aria-pressed": String(paused),
        onclick: () => {
          paused = !paused;
          refresh();
        },
      },
      paused ? "Go on" : "Pause",
    );
    $("#served-tiles").replaceChildren(
      h("div", { class: "code-head" }, h("h3", null, "Now"), pause),
      h(
        "div",
        { class: "tiles" },
        tile(count(now.requests), `requests, ${digits3(speed("requests"))} a second`),
        tile(count(now.asked), `keys asked, ${digits3(speed("asked"))} a second`),
        tile(count(now.found), `positives${now.asked > 0 ? `: ${rate(now.found / now.asked)} of the keys` : ""}`),
        tile(count(sum(metrics, "swaps_total")), "new versions taken"),
        tile(count(sum(metrics, "connections")), "connections at present"),
        tile(bytes(sum(metrics, "sent_bytes_total")), "sent"),
      ),
      sparkline(),
    );
    if (focused) pause.focus({ preventScroll: true });
  }

  // Requests a second over the last two minutes.
  function sparkline() {
    const speeds = history
      .slice(1)
      .map((one, i) => (one.requests - history[i].requests) / Math.max(0.001, (one.time - history[i].time) / 1000));
    const top = Math.max(1, ...speeds);
    const d = speeds
      .map(
        (v, i) =>
          `${i === 0 ? "M" : "L"}${((i * 700) / (remembered - 2)).toFixed(1)} ${(64 - (56 * v) / top).toFixed(1)}`,
      )
      .join("");
    return h(
      "figure",
      { class: "panel" },
      h("figcaption", { class: "note" }, `Requests a second, at most ${digits3(top)} in these two minutes`),
      h(
        "div",
        { class: "chart" },
        s(
          "svg",
          {
            viewBox: "0 0 700 70",
            role: "img",
            "aria-label": `Requests a second: ${digits3(speeds.at(-1) ?? 0)} now`,
          },
          s("line", { class: "axis", x1: 0, x2: 700, y1: 66, y2: 66 }),
          s("path", { class: "curve", d: d || "M0 64" }),
        ),
      ),
    );
  }

  function drawList(filters, metrics) {
    if (filters.length === 0) {
      $("#served-list").replaceChildren(h("p", null, "The server has no filters yet: put some into its folder."));
      return;
    }
    const versions = new Map(
      metrics.filter((m) => m.name === "filter_versions").map((m) => [m.labels.name, m.value]),
    );
    $("#served-list").replaceChildren(
      table(
        "Published filters",
        [["Name"], ["Kind"], ["Keys", 1], ["Size", 1], ["Rate asked for", 1], ["Version"], ["Versions kept", 1]],
        filters.map((f) =>
          h(
            "tr",
            null,
            h(
              "th",
              { scope: "row" },
              h("a", { href: `filters/${encodeURIComponent(f.name)}`, download: f.name }, f.name),
            ),
            h("td", null, f.kind),
            h("td", { class: "number" }, count(Number(f.keys))),
            h("td", { class: "number" }, bytes(Number(f.bytes))),
            h("td", { class: "number" }, f.fpr_target ? rateText(f.fpr_target) : "none"),
            h("td", null, h("span", { class: "mono" }, f.version)),
            h(
              "td",
              { class: "number", id: `versions-${f.name}` },
              versions.has(f.name) ? count(versions.get(f.name)) : "–",
            ),
          ),
        ),
      ),
    );
  }

  function drawCheck(live, filters) {
    const place = $("#served-check");
    if (!live || filters.length === 0) {
      place.replaceChildren();
      return;
    }
    const options = (chosen) =>
      filters.map((f) => h("option", { value: f.name, selected: f.name === chosen }, f.name));
    const there = $("#served-filter");
    if (there) {
      // what was typed and answered stays
      there.replaceChildren(...options(there.value));
      return;
    }
    const answer = h("p", { class: "message", role: "status" });
    const select = h("select", { id: "served-filter" }, options());
    const field = h("input", { id: "served-key", type: "text", spellcheck: "false" });
    const form = h(
      "form",
      { class: "panel controls", autocomplete: "off" },
      h("div", { class: "field" }, h("label", { for: "served-filter" }, "Filter"), select),
      h("div", { class: "field" }, h("label", { for: "served-key" }, "Key"), field),
      h(
        "div",
        { class: "field" },
        h("span", { class: "label", "aria-hidden": "true" }, "\u00a0"),
        h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Check")),
        answer,
      ),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const reply = await fetch(
          `filters/${encodeURIComponent(select.value)}/check?key=${encodeURIComponent(field.value)}`,
          { cache: "no-store" },
        );
        const result = await reply.json();
        answer.classList.toggle("bad", !reply.ok);
        answer.textContent = !reply.ok
          ? `${result.error ?? `status ${reply.status}`}.`
          : result.found
            ? `“${field.value}” is probably in ${select.value}.`
            : `“${field.value}” is surely not in ${select.value}.`;
      } catch (error) {
        answer.classList.add("bad");
        answer.textContent = `The server did not answer: ${error.message}.`;
      }
    });
    place.replaceChildren(h("h3", null, "Check a key"), form);
  }

  return {
    show() {
      visible = true;
      app.save("served", {});
      if (!body.firstChild) body.replaceChildren(h("p", null, "Asking the server…"));
      refresh();
    },
    hide() {
      visible = false;
      clearTimeout(timer);
    },
  };
}
