// The calls that make exactly the filter that was planned: at a shell prompt, in C++, Python, SQL
// and Redis.
//
// A plan is {kind, keys, fpr, lines} or {kind, keys, bytes, lines}: lines is how many of memory a
// lookup reads, by the planner. Each result is {title, code, note}; a note says what the call
// cannot say. web/test runs all of them, SQL in SQLite, and compares what they make.

const isStatic = (kind) => ["fuse", "ribbon", "bloomier"].includes(kind);
const grouped = (n, mark) => String(n).replace(/\B(?=(\d{3})+$)/g, mark);

// Shortest decimal text; shells, C++, Python, SQL and Redis all read 1e-7.
const number = (x) => String(x);

export function shell({ kind, keys, fpr, bytes }) {
  const size = bytes ? `--bytes ${bytes}` : `--fpr ${number(fpr)}`;
  if (kind === "bloomier" && bytes) {
    return { title: "Command line", code: "", note: "bloomery map build plans by a rate alone." };
  }
  if (kind === "bloomier") {
    return {
      title: "Command line",
      code: `bloomery map build ${size} --value-bits 8 -o set.bloom pairs.tsv`,
      note: "Each line of pairs.tsv has a key, a tab and a number below 256. The size follows from the lines.",
    };
  }
  const parts = ["bloomery build"];
  if (kind !== "blocked") parts.push(`--kind ${kind}`);
  if (!isStatic(kind)) parts.push(`--keys ${keys}`);
  parts.push(size, "-o set.bloom keys.txt");
  return {
    title: "Command line",
    code: parts.join(" "),
    note: isStatic(kind) ? "Sized by the different lines of keys.txt." : "keys.txt has a key on each line.",
  };
}

const cppTypes = {
  classic: "classic_filter",
  partitioned: "partitioned_filter",
  counting: "counting_filter",
  cuckoo: "cuckoo_filter",
  scalable: "scalable_filter",
  layered: "layered_filter",
  windowed: "windowed_filter",
  fuse: "fuse_filter",
  ribbon: "ribbon_filter",
  blocked: "blocked_filter",
  "split-block": "split_block_filter",
  "count-min": "count_min",
  spectral: "spectral_filter",
  bloomier: "bloomier_filter",
};

export function cpp({ kind, keys, fpr, bytes }) {
  const type = cppTypes[kind];
  const enumerator = kind.replace("-", "_");
  const n = grouped(keys, "'");
  const head = "#include <bloomery/bloomery.hpp>\n\n";
  const size = bytes ? `.bytes = ${grouped(bytes, "'")}` : `.fpr = ${number(fpr)}`;
  const title = "C++";
  if (kind === "bloomier" || (isStatic(kind) && bytes)) {
    const more = kind === "bloomier" ? ", .variant = 8" : "";
    const values = kind === "bloomier" ? ", values" : "";
    return {
      title,
      code:
        `${head}const auto plan = bloomery::sizing::make_plan(\n` +
        `    {.kind = bloomery::filter_kind::${enumerator}, .keys = hashes.size(), ${size}${more}});\n` +
        `bloomery::${type} f(plan, hashes${values});`,
      note: `hashes has the ${n} keys, each by bloomery::hash_key(bloomery::xxh3_hasher(), key).`,
    };
  }
  if (isStatic(kind)) {
    return {
      title,
      code: `${head}bloomery::keyed<bloomery::${type}> f(keys, ${number(fpr)});`,
      note: `keys is any range of the ${n} different keys.`,
    };
  }
  if (!bytes) {
    const name = kind === "blocked" ? "bloomery::filter" : `bloomery::keyed<bloomery::${type}>`;
    return { title, code: `${head}${name} f({.keys = ${n}, ${size}});\nf.add("apples");` };
  }
  return {
    title,
    code:
      `${head}const auto plan = bloomery::sizing::make_plan(\n` +
      `    {.kind = bloomery::filter_kind::${enumerator}, .keys = ${n}, ${size}});\n` +
      `bloomery::keyed<bloomery::${type}> f{bloomery::${type}(plan)};\nf.add("apples");`,
  };
}

const pythonClasses = {
  blocked: "Filter",
  "split-block": "Filter",
  classic: "Filter",
  partitioned: "Filter",
  layered: "Filter",
  counting: "Counting",
  cuckoo: "Cuckoo",
  scalable: "Scalable",
  windowed: "Windowed",
  fuse: "Fuse",
  ribbon: "Ribbon",
  bloomier: "Map",
  "count-min": "CountMin",
  spectral: "Spectral",
};

export function python({ kind, keys, fpr, bytes }) {
  const name = pythonClasses[kind];
  const size = bytes ? `bytes=${grouped(bytes, "_")}` : `fpr=${number(fpr)}`;
  const title = "Python";
  const head = `from bloomery import ${name}\n\n`;
  if (kind === "bloomier") {
    return {
      title,
      code: `${head}m = Map(pairs, ${size}, value_bits=8)\nm["apples"]`,
      note: "pairs is a dict, or pairs of key and number.",
    };
  }
  if (isStatic(kind)) {
    return {
      title,
      code: `${head}f = ${name}(keys, ${size})\n"apples" in f`,
      note: "keys are the different keys themselves; they give the size.",
    };
  }
  const which = name === "Filter" && kind !== "blocked" ? `, kind="${kind}"` : "";
  return { title, code: `${head}f = ${name}(keys=${grouped(keys, "_")}, ${size}${which})\nf.add("apples")` };
}

export function sql({ kind, keys, fpr, bytes }) {
  const title = "SQL: PostgreSQL, SQLite";
  if (kind === "bloomier") return { title, code: "", note: "SQL has no maps of keys to values: a table is one." };
  if (bytes || isStatic(kind)) {
    return {
      title,
      code:
        "SELECT pg_read_binary_file('/srv/set.bloom')::bloom;        -- PostgreSQL\n" +
        "SELECT id FROM visits WHERE bloom_contains(bloom_file('set.bloom'), id);   -- SQLite",
      note:
        `${bytes ? "SQL plans by the rate alone" : "SQL makes no filters of this kind"}: these read the file ` +
        "that the command line makes.",
    };
  }
  if (kind === "blocked") {
    return { title, code: `SELECT bloom_agg(id, ${keys}, ${number(fpr)}) FROM visits;` };
  }
  return {
    title,
    code: `SELECT bloom(${keys}, ${number(fpr)}, '${kind}');`,
    note: "An empty one; bloom_add(filter, key) returns it with a key added.",
  };
}

// What BF.RESERVE and CF.RESERVE take. A filter that grows has another plan for few items.
const mostItems = 2 ** 30;
const fewItems = 1024;
const leastCuckooItems = 8;

export function redis({ kind, keys, fpr, bytes, lines }) {
  const title = "Redis";
  const push = {
    title,
    code: "bloomery push set.bloom redis://localhost/set",
    note: "No command of the module plans this; push loads the file that the command line makes.",
  };
  if (kind === "cuckoo" && fpr === 0.01 && keys >= leastCuckooItems && keys <= mostItems) {
    return { title, code: `CF.RESERVE set ${keys} BUCKETSIZE 4 EXPANSION 0` };
  }
  if (["split-block", "partitioned", "cuckoo", "fuse", "ribbon", "bloomier", "spectral", "count-min"].includes(kind)) {
    return {
      title,
      code: "",
      note:
        {
          cuckoo:
            "The module plans cuckoo filters for 1 % and 8 to 1,073,741,824 keys alone; counting filters can " +
            "remove keys, too.",
          "count-min":
            "The module has sketches of counts by their width and depth (CMS.INITBYDIM), not by keys and a rate.",
        }[kind] ?? `The module has no filters of the kind ${kind}; blocked, layered or counting are near.`,
    };
  }
  if (keys > mostItems) {
    return {
      ...push,
      note:
        "The module's commands plan for up to 1,073,741,824 keys; push loads the file that the command line " +
        "makes, and bloomery redis add spreads a filter over many.",
    };
  }
  // The module's counting filters have their counters in lines of memory, whatever the rate.
  const other = kind === "layered" ? keys <= fewItems : kind === "counting" && lines > 1;
  if (bytes || other || kind === "classic" || kind === "scalable") return push;
  const more = { blocked: " NONSCALING", layered: "", counting: " COUNTING", windowed: " WINDOW 3600" }[kind];
  return {
    title,
    code: `BF.RESERVE set ${number(fpr)} ${keys}${more}`,
    note: kind === "windowed" ? "Forgets after an hour: 3600 seconds." : undefined,
  };
}

export const allSnippets = (plan) => [shell, cpp, python, sql, redis].map((make) => make(plan));
