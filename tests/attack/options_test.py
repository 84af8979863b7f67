"""Whatever a verb writes is a file on which every verb answers or refuses with a reason, and that
opens again.

Options of `build` are drawn with a fixed seed; $BLOOMERY_BUILDS is the number of filters, 30 where
it is not set. The files of the other verbs, and filters that once went wrong, are in a list.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL = os.environ["BLOOMERY"]
BUILDS = int(os.environ.get("BLOOMERY_BUILDS", "30"))

OPTIONS = {
    "--kind": ["blocked", "split-block", "classic", "partitioned", "counting", "cuckoo", "scalable", "layered", "windowed",
               "fuse", "ribbon", "bloomier", "count-min", "spectral", "top-k"],
    "--fpr": ["0.5", "1%", "1e-3", "1e-6", "1e-9", "0", "1", "nan"],
    "--keys": ["1", "3", "1000", "100000", "0", "18446744073709551615"],
    "--bits-per-key": ["0.5", "4", "9.6", "64"],
    "--bytes": ["1", "64", "1024", "1M"],
    "--probes": ["1", "4", "13", "255"],
    "--seed": ["1", "18446744073709551615"],
    "--hash": ["xxh3", "xxh3-secret", "sha1", "sha1-folded", "md5", "siphash", "pairwise"],
    "--epsilon": ["0.1", "1e-9"],
    "--delta": ["0.5", "1e-9"],
    "--record-bytes": ["2"],
    "--kmer": ["2"],
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
    "--integers": [],
}
KEYS = ["keys", "empty", "one"]
# Each writes F.
WRITERS = [
    "build -q -o F --kind classic --hash md5 --probes 4 keys",
    "build -q -o F --kind scalable --keys 1000000 --bytes 1024 keys",
    "build -q -o F --integers keys",
    "build -q -o F --hash xxh3-secret keys",
    "build -q -o F --kind layered --keys 10 keys",
    "map build -q -o F values",
    "map build -q -o F --value-bits 64 --fpr 0.5 values",
    "map build -q -o F --seed 3 empty",
    "map build -q -o F strings",
    "map build -q -o F --strings --value-bits 3 --fpr 1e-9 values",
    "index -q -o F texts",
    "index -q -o F --paragraphs --fpr 0.5 --probes 64 texts",
    "index -q -o F --kmer 2 genes",
    "dedup -q --state F keys",
    "dedup -q --window 7 --state F keys",
    "dedup -q --window 1h --keys 5 --state F keys",
    "top -q -o F keys",
    "top -q -k 1 -o F one",
    "passwd build -q -o F --distance 1 keys",
    "block build -q -o F hosts",
    "spell build -q -o F keys",
    "pack -o F plain",
    "pack -o F counts",
    "diff -o F plain larger",
    "diff -o F larger plain",
    "fold -o F larger",
    "merge -o F plain plain",
    "compact -q -o F grown keys",
]
VERBS = ["check -c F keys", "count F keys", "info F", "info --json F", "verify F", "explain F 7", "compare F F",
         "pack -o out F", "unpack -o out F", "fold -o out F", "merge -o out F F", "intersect -o out F F",
         "diff -o delta F F", "patch -o out F delta", "patch -o out plain F", "compact -o out F keys", "map get F keys",
         "search F text", "top -q F", "digest info F", "passwd check F keys", "block check F keys", "spell -d F keys",
         "info --plot out.svg F", "map set F values", "map set F strings", "remove F keys", "add F keys",
         "dedup --state F keys", "index -o F --add texts"]
TAKE_KEYS = ("check", "count", "explain", "compact", "map", "remove", "add")


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


def try_verbs(folder, made, key):
    """What goes wrong with F."""
    bad = []
    for verb in VERBS:
        words = verb.split()
        (folder / "out").unlink(missing_ok=True)
        got = run(folder, [*words, *(key if words[0] in TAKE_KEYS else [])])
        if wrong := wrong_with(got):
            bad.append(f"{made}, then {verb}: {wrong}")
        if (folder / "out").exists() and run(folder, ["verify", "-q", "out"]).returncode != 0:
            bad.append(f"{made}, then {verb}: what it writes does not open")
    opened = run(folder, ["verify", "-q", "F"])
    if opened.returncode != 0 and b"this is a delta" not in opened.stderr:
        bad.append(f"{made}: does not open any more")
    return bad


def try_filter(folder, random_source):
    """Returns whether the options made a filter, and what went wrong with it."""
    # A kind, and few others: most combinations of many are refused.
    names = ["--kind", *random_source.sample(sorted(OPTIONS.keys() - {"--kind"}), random_source.choice([0, 1, 1, 2, 2, 3]))]
    options = []
    for name in names:
        options += [name, random_source.choice(OPTIONS[name])] if OPTIONS[name] else [name]
    key = ["--key-file", "secret"] if "siphash" in options else []
    if key and "--key-file" not in options:
        options += key
    if "--integers" in options:
        key = [*key, "--integers"]
    made = run(folder, ["build", "-q", "-o", "F", *options, random_source.choice(KEYS)])
    if wrong := wrong_with(made):
        return False, [f"build {' '.join(options)}: {wrong}"]
    if made.returncode != 0:
        return False, []
    return True, try_verbs(folder, f"build {' '.join(options)}", key)


def write_inputs(folder):
    (folder / "keys").write_text("".join(f"{i}\n" for i in range(300)))
    (folder / "values").write_text("".join(f"{i}\t{i % 3}\n" for i in range(300)))
    (folder / "strings").write_text("".join(f"{i}\ttext {i % 3}\n" for i in range(300)))
    (folder / "one").write_text("1\n")
    (folder / "empty").write_text("")
    (folder / "secret").write_text("00112233445566778899aabbccddeeff\n")
    (folder / "hosts").write_text("10.0.0.0/8\nevil.example\n")
    (folder / "genes").write_text(">a\nACGTACGT\n")
    (folder / "texts").mkdir()
    (folder / "texts" / "a").write_text("a text\n\nanother ACGT\n")
    for options in ("plain --keys 300", "larger --keys 5000", "counts --kind counting", "grown --kind layered --keys 9"):
        run(folder, ["build", "-q", "-o", *options.split(), "keys"])


def main():
    random_source = random.Random(5)
    bad, built, refused = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_inputs(folder)
        for writer in WRITERS[:BUILDS]:
            (folder / "F").unlink(missing_ok=True)
            made = run(folder, writer.split())
            if made.returncode == 0:
                bad += try_verbs(folder, writer, [])
            elif wrong_with(made) or not writer.startswith("build"):  # which may refuse
                bad.append(f"{writer}: {made.stderr.decode()}")
        while built < BUILDS:
            (folder / "F").unlink(missing_ok=True)
            made, wrong = try_filter(folder, random_source)
            built, refused = built + made, refused + (not made)
            bad += wrong
    print(f"{built} filters, {refused} refused, {len(WRITERS[:BUILDS])} files of other verbs, {len(VERBS)} verbs on each")
    for text in bad:
        print("FAILED:", text, file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
