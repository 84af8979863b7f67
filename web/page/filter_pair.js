// Two of the open filters: compared, merged, intersected.

import { $, h, table } from "./dom.js";
import { count, digits3, sentence } from "./units.js";

export function filterPair(opened, { ask, addFilter, say }) {
  const select = (id, label, chosen) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: id }, label),
      h(
        "select",
        { id },
        opened.map((one, i) => h("option", { value: i, selected: i === chosen }, one.name)),
      ),
    );
  const result = h("div", { role: "status" });
  const pair = () => [opened[Number($("#pair-a").value)], opened[Number($("#pair-b").value)]];
  const combine = (call, verb, sign) => async () => {
    const [a, b] = pair();
    try {
      const made = await ask(call, { a: a.filter, b: b.filter });
      addFilter(`${a.name.replace(/\.bloom$/, "")} ${sign} ${b.name}`, made);
      say(`${verb} ${a.name} and ${b.name}.`);
    } catch (error) {
      result.replaceChildren(h("p", { class: "error" }, `They cannot be joined. ${sentence(error.message)}`));
    }
  };
  const estimate = (e) =>
    Number.isFinite(e.standardError) ? `${count(e.value)} ± ${count(e.standardError)}` : "unknown: too full";
  const compare = async () => {
    const [a, b] = pair();
    try {
      const c = await ask("compare", { a: a.filter, b: b.filter });
      result.replaceChildren(
        table(
          `${a.name} and ${b.name}`,
          [["What"], ["Keys, estimated", 1]],
          [
            ["in the first", c.keysA],
            ["in the second", c.keysB],
            ["in one or both", c.keysUnion],
            ["in both", c.keysIntersection],
            ["only in the first", c.onlyA],
            ["only in the second", c.onlyB],
          ].map(([name, e]) =>
            h("tr", null, h("th", { scope: "row" }, name), h("td", { class: "number" }, estimate(e))),
          ),
        ),
        h(
          "p",
          null,
          `Jaccard similarity ${digits3(c.jaccard.value)} ± ${digits3(c.jaccard.standardError)}. ` +
            (c.equal
              ? "They answer alike."
              : c.aMayBeInB
                ? "All of the first may be in the second."
                : c.bMayBeInA
                  ? "All of the second may be in the first."
                  : "Neither is part of the other."),
        ),
      );
    } catch (error) {
      result.replaceChildren(h("p", { class: "error" }, `They cannot be compared. ${sentence(error.message)}`));
    }
  };
  return h(
    "section",
    { class: "panel", "aria-label": "Two filters" },
    h("h3", null, "Two filters"),
    h("div", { class: "controls" }, select("pair-a", "First", 1), select("pair-b", "Second", 0)),
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "button", onclick: compare }, "Compare"),
      h("button", { type: "button", onclick: combine("merge", "Merged", "+") }, "Merge: keys of either"),
      h("button", { type: "button", onclick: combine("intersect", "Intersected", "×") }, "Intersect: keys of both"),
    ),
    result,
  );
}
