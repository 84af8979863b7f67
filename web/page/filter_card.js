// What is shown of an open filter: what info sees, its fill as a picture, a box to check words, its
// file.

import { fillPicture } from "./chart.js";
import { codeBlock, h, table } from "./dom.js";
import { bytes, count, digits3, oneIn, rate, rateText, sentence } from "./units.js";

function facts(one) {
  const i = one.info;
  const rows = [
    [
      "keys",
      `${count(Number(i.keys))} added${Number(i.keys_planned) ? `, planned for ${count(Number(i.keys_planned))}` : ""}`,
    ],
    [
      "different",
      i.keys_estimated === null || i.keys_estimated === undefined
        ? null
        : `about ${count(Number(i.keys_estimated))}, by what is in it`,
    ],
    [
      "size",
      `${count(one.file.size)} bytes` +
        (Number(i.keys) ? `, ${digits3((8 * Number(i.bytes)) / Number(i.keys))} bits a key` : "") +
        (i.packed ? ", packed" : ""),
    ],
    ["probes", i.probes],
    ["fill", i.fill === null || i.fill === undefined ? null : rate(i.fill)],
    [
      "false positives",
      i.fpr_now === null || i.fpr_now === undefined
        ? null
        : `${rate(i.fpr_now)} now (${oneIn(i.fpr_now)})` +
          (i.fpr_target ? `, at most ${rateText(i.fpr_target)} asked for` : ""),
    ],
    ["form of keys", i.form ?? "any"],
    ["hash", `${i.hash}, seed ${i.seed}`],
    ["format", `version ${i.format_version}`],
    ["name", h("span", { class: "mono" }, i.name)],
  ];
  return h(
    "dl",
    { class: "facts" },
    rows
      .filter(([, v]) => v !== null && v !== undefined)
      .map(([k, v]) => [h("dt", null, k), h("dd", null, v instanceof Node ? v : String(v))]),
  );
}

export function download(blob, name, label) {
  const url = URL.createObjectURL(blob);
  return h("a", { class: "button primary", href: url, download: name }, label);
}

// Made once for each filter, so that words that were typed stay when others are opened.
export function filterCard(one, { ask, checkFile, close }) {
  const id = `filter-${one.serial}`;
  const answers = h("ul", { class: "answers", "aria-label": `Answers of ${one.name}`, tabindex: 0 });
  const result = h("div", { role: "status" }, h("p", { class: "note" }, "None yet."));
  const area = h("textarea", { id: `${id}-words`, spellcheck: "false", "aria-describedby": `${id}-words-hint` });
  const forms = { text: "text", integers: "integers", binary: "bytes in hexadecimal" };
  const known = one.info.form in forms;
  const as = h(
    "select",
    { id: `${id}-as` },
    Object.entries(forms)
      .filter(([form]) => !known || form === one.info.form)
      .map(([form, name]) => h("option", { value: form }, name)),
  );
  const file = h("input", { type: "file", id: `${id}-file`, class: "hidden-visually" });
  const form = h(
    "form",
    { autocomplete: "off" },
    h("h4", null, "Check words"),
    h(
      "div",
      { class: "field" },
      h("label", { for: `${id}-words` }, "Words, one on each line"),
      area,
      h("p", { class: "hint", id: `${id}-words-hint` }, "Ctrl + Enter asks"),
    ),
    h("div", { class: "field", hidden: known }, h("label", { for: `${id}-as` }, "They are"), as),
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary" }, "Check these"),
      h("button", { type: "button", onclick: () => file.click() }, "Check a file"),
      file,
    ),
  );
  file.tabIndex = -1;
  file.setAttribute("aria-label", `A file to check against ${one.name}`);
  one.showResult = (node) => result.replaceChildren(node);
  file.addEventListener("change", () => {
    if (file.files[0]) checkFile(file.files[0], null, one);
    file.value = "";
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const words = area.value
      .split("\n")
      .map((w) => w.replace(/\r$/, ""))
      .filter((w) => w !== "");
    if (words.length === 0) {
      result.replaceChildren(h("p", { class: "error" }, "Type a word first."));
      return;
    }
    try {
      const list = await ask("ask", { filter: one.filter, words: words.slice(0, 100000), as: as.value });
      const yes = list.filter((a) => a.present).length;
      result.replaceChildren(
        h(
          "p",
          null,
          `${count(yes)} of ${count(list.length)} are probably in the set, ` +
            `${count(list.length - yes)} surely not.`,
        ),
      );
      answers.replaceChildren(
        ...list
          .slice(0, 500)
          .map((a) =>
            h(
              "li",
              null,
              a.present
                ? h("span", { class: "yes-mark" }, "probably ")
                : h("span", { class: "no-mark" }, "surely not "),
              a.word,
              a.count !== null ? `: at most ${a.count} times` : "",
              a.value !== null ? `: ${a.value}` : "",
            ),
          ),
      );
    } catch (error) {
      answers.replaceChildren();
      result.replaceChildren(
        h(
          "p",
          { class: "error" },
          sentence(error.message) +
            (error.code === "unsupported" ? " The command-line tool can ask this filter." : ""),
        ),
      );
    }
  });
  const can = Object.entries(one.can)
    .filter(([name, yes]) => yes && name !== "add")
    .map(([name]) => name);
  const rest = Object.fromEntries(Object.entries(one.info).filter(([k]) => !["kind", "keys"].includes(k)));
  return h(
    "article",
    { class: "panel", "aria-label": one.name },
    h(
      "div",
      { class: "filter-card" },
      h("div", null, h("h3", { tabindex: -1 }, `${one.name}: ${one.info.kind} filter`), facts(one)),
      h(
        "figure",
        { class: "field" },
        h(
          "figcaption",
          null,
          one.fill.unit
            ? `How full its ${count(one.fill.cells)} ${one.fill.unit} ` +
                "are, from the beginning to the end" +
                (one.fill.expected === null ? "" : "; dashed: what the model expects")
            : "Fill",
        ),
        one.fill.slices.length > 0
          ? h("div", { class: "chart" }, fillPicture(one.fill))
          : h("p", { class: "note" }, "There is nothing to draw."),
      ),
      h(
        "div",
        { class: "full" },
        one.top
          ? table(
              "The most frequent keys",
              [["Key"], ["Count", 1]],
              one.top.map(([key, n]) =>
                h("tr", null, h("th", { scope: "row" }, key), h("td", { class: "number" }, count(Number(n)))),
              ),
            )
          : null,
        h("div", { class: "filter-card" }, form, h("div", null, h("h4", null, "Answers"), result, answers)),
        one.command
          ? h(
              "details",
              null,
              h("summary", null, "The command that makes the same file"),
              codeBlock("Command line", one.command),
            )
          : null,
        h(
          "details",
          null,
          h("summary", null, "All that info tells"),
          h(
            "pre",
            { tabindex: 0, "aria-label": "info as JSON" },
            h(
              "code",
              null,
              JSON.stringify(rest, (k, v) => (typeof v === "bigint" ? String(v) : v), 2),
            ),
          ),
          h(
            "p",
            { class: "note" },
            can.length > 0 ? `It can ${can.join(", ")}.` : "It can be asked, and nothing else.",
          ),
        ),
        h(
          "p",
          { class: "buttons" },
          download(one.file, one.name, `Download ${bytes(one.file.size)}`),
          h("button", { type: "button", onclick: () => close(one) }, "Close"),
        ),
      ),
    ),
  );
}
