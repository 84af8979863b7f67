"""Whatever `build` accepts is a filter on which every verb answers or refuses with a reason, and that opens again.

Options are drawn with a fixed seed; $BLOOMERY_BUILDS is the number of filters, 60 where it is not set.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL = os.environ["BLOOMERY"]
BUILDS = int(os.environ.get("BLOOMERY_BUILDS", "60"))

OPTIONS = {
    "--kind": ["blocked", "classic", "partitioned", "counting", "cuckoo", "scalable", "layered", "windowed", "fuse",
               "ribbon", "bloomier", "count-min", "spectral", "top-k"],
    "--fpr": ["0.5", "1%", "1e-3", "1e-6", "1e-9", "0", "1", "nan"],
    "--keys": ["1", "3", "1000", "100000", "0", "18446744073709551615"],
    "--bits-per-key": ["0.5", "4", "9.6", "64"],
    "--bytes": ["1", "64", "1024", "1M"],
    "--probes": ["1", "4", "13", "255"],
    "--seed": ["1", "18446744073709551615"],
    "--hash": ["xxh3", "sha1", "md5", "siphash"],
    "--key-file": ["secret"],
    "--cell-bits": ["1", "4", "8", "16", "32", "64"],
    "--bucket": ["1", "2", "4", "8"],
    "--layout": ["line", "classic"],
    "--growth": ["1", "2", "4"],
    "--window": ["1s", "7d"],
    "--generations": ["1", "2", "16"],
    "--shards": ["1", "4"],
    "--update": ["plain", "conservative", "selection", "increase", "recurring"],
    "--memory": ["4k"],
}
KEYS = ["keys", "empty", "one"]
VERBS = ["check -c F keys", "count F keys", "info F", "info --json F", "verify F", "explain F 7", "compare F F",
         "pack -o out F", "fold -o out F", "merge -o out F F", "intersect -o out F F", "diff -o out F F",
         "compact -o out F keys", "map get F keys", "map set F values", "remove F keys", "add F keys",
         "info --plot out.svg F"]


def run(folder, words):
    return subprocess.run([TOOL, *words], cwd=folder, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)


def wrong_with(got):
    said = got.stderr.decode(errors="replace")
    if got.returncode not in (0, 1, 2):
        return f"ended with {got.returncode}: {said}"
    if got.returncode == 2 and "bloomery: " not in said:
        return f"does not say why not: {said}"
    if "damaged" in said:
        return f"calls it damaged: {said}"
    return None


def try_filter(folder, random_source):
    """Returns whether the options made a filter, and what went wrong with it."""
    # A kind, and few others: most combinations of many are refused.
    names = ["--kind", *random_source.sample(sorted(OPTIONS.keys() - {"--kind"}), random_source.choice([0, 1, 1, 2, 2, 3]))]
    options = [word for name in names for word in (name, random_source.choice(OPTIONS[name]))]
    key = ["--key-file", "secret"] if "siphash" in options else []
    if key and "--key-file" not in options:
        options += key
    made = run(folder, ["build", "-q", "-o", "F", *options, random_source.choice(KEYS)])
    if wrong := wrong_with(made):
        return False, [f"build {' '.join(options)}: {wrong}"]
    if made.returncode != 0:
        return False, []
    bad = []
    for verb in VERBS:
        words = verb.split()
        takes_key = key and words[0] in ("check", "count", "explain", "compact", "map", "remove", "add")
        if wrong := wrong_with(run(folder, [*words, *(key if takes_key else [])])):
            bad.append(f"build {' '.join(options)}, then {verb}: {wrong}")
    if run(folder, ["verify", "-q", "F"]).returncode != 0:
        bad.append(f"build {' '.join(options)}: does not open any more")
    return True, bad


def main():
    random_source = random.Random(5)
    bad, built, refused = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "keys").write_text("".join(f"{i}\n" for i in range(300)))
        (folder / "values").write_text("".join(f"{i}\t{i % 3}\n" for i in range(300)))
        (folder / "one").write_text("1\n")
        (folder / "empty").write_text("")
        (folder / "secret").write_text("00112233445566778899aabbccddeeff\n")
        while built < BUILDS:
            (folder / "F").unlink(missing_ok=True)
            made, wrong = try_filter(folder, random_source)
            built, refused = built + made, refused + (not made)
            bad += wrong
    print(f"{built} filters, {refused} refused, {len(VERBS)} verbs on each")
    for text in bad:
        print("FAILED:", text, file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
