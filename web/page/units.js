// Numbers as people read and type them: units, powers of ten, percentages.

const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

export const count = (n) => grouped.format(Math.round(n));

// Three digits: 1.25, 12.5, 125.
export function digits3(x) {
  const a = Math.abs(x);
  if (a >= 999.5) return count(x);
  return x.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

const byteUnits = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];

// Powers of 1000, as the tool prints them.
export function bytes(n) {
  let unit = 0;
  let x = n;
  while (x >= 999.5 && unit < byteUnits.length - 1) {
    x /= 1000;
    ++unit;
  }
  if (unit === 0) return n === 1 ? "1 byte" : `${Math.round(n)} bytes`;
  return `${digits3(x)} ${byteUnits[unit]}`;
}

// A share of one: 0.98 %, 1 in 1.1 million where a percentage has too many zeros.
export function rate(p) {
  if (p === null || p === undefined || Number.isNaN(p)) return "unknown";
  if (p <= 0) return "0 %";
  const percent = 100 * p;
  if (percent >= 99.95 && p < 1) return "> 99.9 %";
  if (percent >= 10) return `${percent.toFixed(1)} %`;
  if (percent >= 0.1) return `${percent.toFixed(2)} %`;
  if (percent >= 0.001) return `${Number(percent.toPrecision(3))} %`;
  return p
    .toExponential(2)
    .replace("e-", " × 10⁻")
    .replace(/⁻(\d+)$/, (_, d) => `⁻${superscript(d)}`);
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
export const superscript = (text) => [...String(text)].map((d) => (d === "-" ? "⁻" : superscripts[d])).join("");

// What an absent key's answer means in words: 1 in 102.
export function oneIn(p) {
  if (!(p > 0)) return "none";
  const n = 1 / p;
  if (n < 10) return `1 in ${digits3(n)}`;
  if (n < 1e6) return `1 in ${count(n)}`;
  for (const [limit, unit, name] of [
    [1e9, 1e6, "million"],
    [1e12, 1e9, "billion"],
    [1e15, 1e12, "trillion"],
  ]) {
    if (n < limit) return `1 in ${digits3(n / unit)} ${name}`;
  }
  return `1 in ${n.toPrecision(2).replace("e+", " × 10^")}`;
}

// 1,000,000 as 1 million, where it is so short.
export function short(n) {
  for (const [unit, name] of [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ]) {
    if (n >= unit) return `${Number((n / unit).toPrecision(3))} ${name}`;
  }
  return count(n);
}

export function seconds(s) {
  if (s < 1) return `${Math.round(1000 * s)} ms`;
  if (s < 90) return `${digits3(s)} s`;
  return `${Math.round(s / 60)} min`;
}

const countFactors = {
  "": 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

// The number that somebody typed, or null: 1000, 1,000,000, 1e9, 64k, 2.5M, 10G, 2 million, 2^20.
export function parseCount(text) {
  const t = text
    .trim()
    .toLowerCase()
    .replace(/[,_'\u00a0\u202f]/g, "");
  const power = /^(\d+)\s*\^\s*(\d+)$/.exec(t);
  if (power) return Number(power[1]) ** Number(power[2]);
  const m = /^(\d*\.?\d+(?:e\+?\d+)?)\s*([a-z]*)$/.exec(t);
  if (!m || !(m[2] in countFactors)) return null;
  const n = Math.round(Number(m[1]) * countFactors[m[2]]);
  return Number.isFinite(n) ? n : null;
}

// A rate, or null: 0.01, 1%, 1e-3, 1 in 500, 1/500.
export function parseRate(text) {
  const t = text.trim().toLowerCase().replace(",", ".").replace(/\s+/g, " ");
  let m = /^1 ?(?:in|\/) ?([\d.]+(?:e\+?\d+)?)\s*(k|m|g|thousand|million|billion|trillion)?$/.exec(t);
  if (m) return 1 / (Number(m[1]) * countFactors[m[2] ?? ""]);
  m = /^(\d*\.?\d+(?:e[+-]?\d+)?) ?(%?)$/.exec(t);
  if (!m) return null;
  return Number(m[1]) / (m[2] ? 100 : 1);
}

const byteFactors = {
  "": 1,
  b: 1,
  byte: 1,
  bytes: 1,
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  t: 1e12,
  tb: 1e12,
  ki: 2 ** 10,
  kib: 2 ** 10,
  mi: 2 ** 20,
  mib: 2 ** 20,
  gi: 2 ** 30,
  gib: 2 ** 30,
  ti: 2 ** 40,
  tib: 2 ** 40,
};

// A number of bytes, or null: 4096, 64k, 10 MB, 2GiB.
export function parseBytes(text) {
  const m = /^(\d*\.?\d+(?:e\+?\d+)?)\s*([a-z]*)$/.exec(text.trim().toLowerCase().replace(/,/g, ""));
  if (!m || !(m[2] in byteFactors)) return null;
  return Math.round(Number(m[1]) * byteFactors[m[2]]);
}

// The shortest text that a field shows for a rate, and that parseRate reads back.
export function rateText(p) {
  const percent = Number((100 * p).toPrecision(12));
  return percent >= 0.001 ? `${percent} %` : `${Number(p.toPrecision(12))}`;
}

// What the library says, as a sentence: "the file is damaged" -> "The file is damaged."
export const sentence = (text) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
