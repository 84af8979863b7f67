// What a person should know of each kind, in a line. What a kind can do, and its numbers, come from
// the planner.

export const kindHints = {
  blocked: "one line of memory a lookup: nearly always the right one",
  classic: "the smallest that can be added to; a line of memory for each probe",
  partitioned: "classic, with an array of its own for each probe",
  "split-block": "the fastest lookup of a single key, in a little more space",
  counting: "keys can be removed, and counted up to 15",
  cuckoo: "keys can be removed, in little space",
  scalable: "grows: nobody knows how many keys will come",
  layered: "the number of keys is known, but more may come",
  windowed: "forgets old keys, by number or by time",
  fuse: "made of all keys at once; asked often",
  ribbon: "made of all keys at once; the smallest of all",
  bloomier: "a value for each key",
  "count-min": "how often each key came",
  spectral: "how often each key came, more exactly for rare ones",
};

// The order of the tool's table.
export const plannedKinds = Object.keys(kindHints);

export function abilities(row) {
  const names = ["remove", "count", "value", "merge", "grow", "forget"].filter((name) => row[name]);
  return row.add ? names : ["made of all keys at once", ...names];
}
