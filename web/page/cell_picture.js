// The cells of a small filter, drawn, with what belongs to one word.

import { s } from "./dom.js";
import { count } from "./units.js";

const cell = 10;
const lineBits = 512;

// Where cells stand: {columns, rows, place(index) -> [x, y], frames(explanation) -> rectangles}.
export function geometry(panel, cells, explanation) {
  if (panel.kind === "cuckoo") {
    const b = explanation.buckets?.[0]?.cells.length ?? 4;
    const perRow = 8;
    const place = (i) => {
      const bucket = Math.floor(i / b);
      return [(bucket % perRow) * (b * cell + 6) + (i % b) * cell, Math.floor(bucket / perRow) * (cell + 5)];
    };
    return {
      width: perRow * (b * cell + 6),
      height: Math.ceil(cells.total / b / perRow) * (cell + 5),
      place,
      frames:
        explanation.buckets
          ?.filter((x) => !x.layer)
          .map((x) => {
            const [left, top] = place(Number(x.bucket) * b);
            return [left - 2, top - 2, b * cell + 3, cell + 3];
          }) ?? [],
    };
  }
  const inLines = panel.kind !== "classic";
  if (!inLines) {
    const columns = 48;
    return {
      width: columns * cell,
      height: Math.ceil(cells.total / columns) * cell,
      frames: [],
      place: (i) => [(i % columns) * cell, Math.floor(i / columns) * cell],
    };
  }
  const perLine = lineBits / cells.cellBits;
  const columns = perLine / 16; // a row for each of the 16 lanes
  const across = Math.max(1, Math.round(64 / columns));
  const gap = 8;
  const lines = Math.ceil(cells.total / perLine);
  const used = Math.min(lines, across);
  const corner = (line) => [(line % across) * (columns * cell + gap), Math.floor(line / across) * (16 * cell + gap)];
  const place = (i) => {
    const [x, y] = corner(Math.floor(i / perLine));
    const inside = i % perLine;
    return [x + (inside % columns) * cell, y + Math.floor(inside / columns) * cell];
  };
  const line = explanation.places.length > 0 ? Math.floor(Number(explanation.places[0].position) / perLine) : null;
  const frames = line === null ? [] : [[corner(line)[0] - 3, corner(line)[1] - 3, columns * cell + 5, 16 * cell + 5]];
  return {
    width: used * (columns * cell + gap),
    height: Math.ceil(lines / across) * (16 * cell + gap),
    place,
    frames,
    line,
    lines,
  };
}

// `step` says how far the word has come: its place from 2 on, its cells from 3 on.
export function picture(panel, cells, explanation, g, step) {
  const square = (i) => {
    const [x, y] = g.place(i);
    return `M${x} ${y}h${cell - 1}v${cell - 1}h${1 - cell}z`;
  };
  let empty = "";
  let set = "";
  const numbers = [];
  for (let i = 0; i < cells.values.length; ++i) {
    if (cells.values[i] === 0) {
      empty += square(i);
    } else {
      set += square(i);
    }
    if (panel.kind === "counting" && cells.values[i] > 1) {
      const [x, y] = g.place(i);
      numbers.push(
        s(
          "text",
          { x: x + (cell - 1) / 2, y: y + 7.2, "text-anchor": "middle", class: "count" },
          cells.values[i].toString(16),
        ),
      );
    }
  }
  let hit = "";
  let miss = "";
  if (step >= 3) {
    for (const { position, value } of explanation.places) {
      if (Number(value) > 0) hit += square(Number(position));
      else miss += square(Number(position));
    }
    for (const bucket of explanation.buckets ?? []) {
      if (bucket.layer) continue;
      bucket.cells.forEach((print, slot) => {
        if (print === explanation.fingerprint) hit += square(Number(bucket.bucket) * bucket.cells.length + slot);
      });
    }
  }
  const name =
    `${panel.kind}: ${count(cells.total)} ${cells.unit}, ` +
    `${count(cells.values.reduce((n, v) => n + (v > 0), 0))} in use`;
  return s(
    "svg",
    { class: "cells", viewBox: `-4 -4 ${g.width + 8} ${g.height + 8}`, role: "img", "aria-label": name },
    s("path", { class: "empty", d: empty }),
    s("path", { class: "set", d: set }),
    numbers,
    step >= 2
      ? g.frames.map(([x, y, w, hh]) => s("rect", { class: "frame", x, y, width: w, height: hh, rx: 2 }))
      : null,
    s("path", { class: "hit", d: hit }),
    s("path", { class: "miss", d: miss }),
  );
}
