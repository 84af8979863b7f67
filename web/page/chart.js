// Charts in SVG, by hand, as wide as their place, so that letters have the same size on phones.
// Each is a picture with a name; the numbers are in a table or a sentence beside it.

import { s } from "./dom.js";
import { bytes, digits3, rate, short, superscript } from "./units.js";

// Bars of bits a key. `rows` are {kind, bitsPerKey, bytes}, bitsPerKey null where there is no such
// filter. Bars that are much longer than the others are cut, with a gap that says so: the number
// beside them is right.
export function sizeBars(rows, bound, chosen, onChoose, width) {
  const narrow = width < 520;
  const left = 92;
  const right = narrow ? 84 : 172;
  const top = 26;
  const step = 28;
  const lengths = rows
    .filter((r) => r.bitsPerKey !== null)
    .map((r) => r.bitsPerKey)
    .sort((a, b) => a - b);
  const limit = Math.min(lengths.at(-1), Math.max(3 * bound, 2.2 * (lengths[Math.floor(lengths.length / 2)] ?? 1)));
  const x = (bits) => left + ((width - left - right) * Math.min(bits, limit)) / limit;
  const marks = rows.map((row, i) => {
    const y = top + i * step;
    if (row.bitsPerKey === null) {
      return s(
        "g",
        { class: "bar-row" },
        s("text", { x: left - 8, y: y + 15, "text-anchor": "end", class: "soft" }, row.kind),
        s("text", { x: left + 4, y: y + 15, class: "soft" }, row.why),
      );
    }
    const end = x(row.bitsPerKey);
    const cut = row.bitsPerKey > limit * 1.0001;
    const body = cut
      ? [
          s("rect", { class: "bar-mark", x: left, y: y + 2, width: end - left - 26, height: 17 }),
          s("path", { class: "bar-mark", d: `M${end - 20} ${y + 2}h14l6 8.5l-6 8.5h-14z` }),
        ]
      : [s("rect", { class: "bar-mark", x: left, y: y + 2, width: Math.max(1, end - left), height: 17 })];
    return s(
      "g",
      { class: row.kind === chosen ? "bar-row chosen" : "bar-row", onclick: () => onChoose(row.kind) },
      s("rect", { x: 0, y, width, height: step - 2, fill: "transparent" }),
      s("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, row.kind),
      body,
      s(
        "text",
        { x: end + 8, y: y + 15 },
        narrow ? bytes(row.bytes) : `${digits3(row.bitsPerKey)} bits · ${bytes(row.bytes)}`,
      ),
    );
  });
  const bottom = top + rows.length * step;
  const boundX = x(bound);
  return s(
    "svg",
    {
      viewBox: `0 0 ${width} ${bottom + 2}`,
      role: "img",
      "aria-label": "Bars: bits a key and size of every kind. The table below has the numbers.",
    },
    s("line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom }),
    marks,
    s("line", { class: "bound", x1: boundX, x2: boundX, y1: top - 4, y2: bottom }),
    s(
      "text",
      {
        class: "bound-text",
        x: narrow ? 0 : boundX,
        y: 14,
        "text-anchor": narrow || boundX < 160 ? "start" : "middle",
      },
      `no filter can do with fewer than ${digits3(bound)} bits a key`,
    ),
  );
}

// The rate against the number of keys, logarithmic upwards. `at` is the point that is told of.
export function rateCurve(keys, rates, planned, at, width) {
  const height = 300;
  const left = 62;
  const right = 12;
  const top = 22;
  const bottom = 44;
  const usable = rates.filter((r) => r > 0);
  const high = 1;
  const low = Math.max(1e-18, 10 ** Math.floor(Math.log10(Math.min(...usable))));
  const last = keys.at(-1);
  const x = (n) => left + ((width - left - right) * n) / last;
  const y = (r) => top + ((height - top - bottom) * Math.log(high / Math.max(r, low))) / Math.log(high / low);
  const decades = Math.round(Math.log10(high / low));
  const every = Math.max(1, Math.ceil(decades / 6));
  const lines = [];
  for (let d = 0; d <= decades; d += every) {
    const r = 10 ** -d;
    lines.push(
      s("line", { class: "grid", x1: left, x2: width - right, y1: y(r), y2: y(r) }),
      s(
        "text",
        { x: left - 6, y: y(r) + 5, "text-anchor": "end", class: "soft" },
        d <= 4 ? `${Number((100 * r).toPrecision(1))} %` : `10${superscript(-d)}`,
      ),
    );
  }
  const ticks = (width < 420 ? [1, 2, 4] : [1, 2, 3, 4]).map((t) =>
    s(
      "text",
      { x: x(planned * t), y: height - bottom + 18, "text-anchor": t === 4 ? "end" : "middle", class: "soft" },
      short(planned * t),
    ),
  );
  const path = [...rates]
    .map((r, i) => (r > 0 ? `${x(keys[i]).toFixed(1)} ${y(r).toFixed(1)}` : null))
    .filter(Boolean);
  return s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": "Curve: the false-positive rate against the number of keys. The slider below reads it.",
    },
    lines,
    ticks,
    s("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    s("line", { class: "planned", x1: x(planned), x2: x(planned), y1: top, y2: height - bottom }),
    s("text", { class: "bound-text", x: x(planned) + 5, y: height - bottom - 8 }, "as planned"),
    s("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle", class: "soft" }, "keys in the filter"),
    s("text", { x: 4, y: 13, class: "soft" }, "rate"),
    s("path", { class: "curve", d: `M${path.join("L")}` }),
    at.rate > 0 ? s("circle", { class: "point", cx: x(at.keys), cy: y(at.rate), r: 6 }) : null,
  );
}

// How full an array is from its beginning to its end: a bar for each slice, a line for what the
// model expects.
export function fillPicture(fill) {
  const width = 520;
  const height = 170;
  const left = 54;
  const top = 8;
  const bottom = 26;
  const n = fill.slices.length;
  const w = (width - left - 4) / Math.max(1, n);
  const full = height - top - bottom;
  const y = (share) => top + full * (1 - share);
  let bars = "";
  for (let i = 0; i < n; ++i) {
    bars += `M${(left + i * w).toFixed(2)} ${y(0)}V${y(fill.slices[i]).toFixed(2)}h${Math.max(
      0.6,
      w - (w > 3 ? 0.6 : 0),
    ).toFixed(2)}V${y(0)}z`;
  }
  const used = fill.cells > 0 ? fill.used / fill.cells : 0;
  return s(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `How full it is from its beginning to its end: ${rate(used)} of its ${fill.unit} in all`,
    },
    [0, 0.5, 1].map((share) => [
      s("line", { class: "grid", x1: left, x2: width - 4, y1: y(share), y2: y(share) }),
      s("text", { class: "soft", x: left - 6, y: y(share) + 5, "text-anchor": "end" }, `${100 * share} %`),
    ]),
    s("g", { class: "chosen" }, s("path", { class: "bar-mark", d: bars })),
    fill.expected === null
      ? null
      : s("line", { class: "bound", x1: left, x2: width - 4, y1: y(fill.expected), y2: y(fill.expected) }),
    s("text", { class: "soft", x: left, y: height - 6 }, "beginning"),
    s("text", { class: "soft", x: width - 4, y: height - 6, "text-anchor": "end" }, "end of the array"),
  );
}
