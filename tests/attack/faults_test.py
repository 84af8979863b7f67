"""Every verb, with one call that fails: of memory, of the disk, of the system.

A verb whose call failed does its work all the same, or ends with status 2 and a line that says why. It is never killed
by a signal, leaves every file that was there as it was or as it should be, and no other file.
Killed before a call, it leaves the files likewise; a file with a hidden name is left between naming and renaming.
$BLOOMERY_FAULTS is the number of failures that are tried for a verb and a call, 12 where it is not set.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

TOOL = os.environ["BLOOMERY"]
INJECT = os.environ["BLOOMERY_INJECT"]
MOST = int(os.environ.get("BLOOMERY_FAULTS", "12"))
CALLS = ["malloc", "write", "fsync", "rename", "link", "mmap", "open", "stat"]

# What a verb is given; files that it may change or make come first.
VERBS = [
    (["new"], "build -o new keys"),
    (["new"], "build --kind fuse -o new keys"),
    (["new"], "build --kind scalable -o new keys"),
    (["new"], "build --memory 4k -o new keys"),
    (["f.bloom"], "add f.bloom more"),
    (["c.bloom"], "remove c.bloom keys"),
    (["new"], "merge -o new f.bloom g.bloom"),
    (["new"], "intersect -o new f.bloom g.bloom"),
    (["new"], "fold -o new f.bloom"),
    (["new"], "pack -o new f.bloom"),
    (["new"], "unpack -o new f.packed"),
    (["new"], "diff -o new f.bloom g.bloom"),
    (["new"], "map build -o new values.tsv"),
    (["new"], "index -o new texts"),
    (["i.bloom"], "index -o i.bloom --add texts"),
    ([], "check -c f.bloom keys"),
    ([], "count s.bloom keys"),
    ([], "dedup --keys 1000 keys"),
    ([], "top keys"),
    ([], "info --json f.bloom"),
    ([], "verify f.bloom"),
    ([], "explain f.bloom 7"),
    ([], "compare f.bloom g.bloom"),
    ([], "plan --keys 1000 --json"),
    ([], "search i.bloom bloom"),
    ([], "reconcile keys more"),
]


def make_files(folder):
    def tool(*words):
        subprocess.run([TOOL, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    (folder / "keys").write_text("".join(f"{i}\n" for i in range(2000)))
    (folder / "more").write_text("".join(f"{i}\n" for i in range(1500, 3000)))
    (folder / "values.tsv").write_text("".join(f"{i}\t{i % 7}\n" for i in range(500)))
    (folder / "texts").mkdir()
    for i in range(3):
        (folder / "texts" / f"{i}.txt").write_text(f"a bloom filter of text {i}\n")
    tool("build", "-o", "f.bloom", "--keys", "4000", "keys")
    tool("build", "-o", "g.bloom", "--keys", "4000", "more")
    tool("build", "--kind", "counting", "-o", "c.bloom", "keys")
    tool("build", "--kind", "count-min", "-o", "s.bloom", "keys")
    tool("pack", "-o", "f.packed", "f.bloom")
    tool("index", "-o", "i.bloom", "texts")


def state(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in folder.rglob("*") if p.is_file()}


def run(folder, words, fault, count_to=None):
    env = dict(os.environ, LD_PRELOAD=INJECT, BLOOMERY_FAULT=fault)
    if count_to:
        env["BLOOMERY_FAULT_COUNT"] = str(count_to)
    return subprocess.run([TOOL, *words.split()], cwd=folder, env=env, capture_output=True, timeout=60)


def chosen(total):
    """Of the calls 1 to total, as many as are wanted, the first and the last among them."""
    if total <= MOST:
        return range(1, total + 1)
    return sorted({1 + i * (total - 1) // (MOST - 1) for i in range(MOST)})


def wrong_files(changes, before, after, now):
    """A file that is neither as it was nor as it should be."""
    for name in now.keys() | before.keys():
        allowed = {before.get(name), after.get(name)} if name in changes else {before.get(name)}
        if now.get(name) not in allowed:
            return f"left {name} neither old nor new"
    return None


def wrong_after_kill(got, changes, before, after, now):
    if got.returncode != -signal.SIGKILL:
        return f"ended with {got.returncode}"
    whole = {after.get(name) for name in changes}
    hidden = {name for name in now if name.startswith(".bloomery-") and now[name] in whole}
    return wrong_files(changes, before, after, {name: now[name] for name in now.keys() - hidden})


def wrong_after(got, good, changes, before, after, now):
    """What is wrong with the end of a verb, one of whose calls failed; nothing when all is well."""
    said = got.stderr.decode(errors="replace").strip()
    if got.returncode not in (good.returncode, 2):
        return f"ended with {got.returncode}: {said}"
    if got.returncode == 2 and not any(line.startswith("bloomery: ") for line in said.split("\n")):
        return f"does not say what is wrong: {said}"
    if wrong := wrong_files(changes, before, after, now):
        return f"{wrong}: {said}"
    if got.returncode != 2 and any(now.get(name) != after.get(name) for name in changes):
        return "says that all is well, and changed nothing"
    return None


def try_verb(changes, words, pristine):
    """Returns the number of failures tried, and what went wrong."""
    tried, bad = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        def fresh():
            folder = scratch / "files"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(pristine, folder)
            return folder

        folder = fresh()
        before = state(folder)
        good = run(folder, words, "none")
        if good.returncode > 1:
            return 0, [f"'{words}' does not work at all: {good.stderr.decode()}"]
        after = state(folder)
        for call in CALLS:
            run(fresh(), words, call, scratch / "count")
            for number in chosen(int((scratch / "count").read_text())):
                folder = fresh()
                tried += 1
                try:
                    got = run(folder, words, f"{call}:{number}")
                    wrong = wrong_after(got, good, changes, before, after, state(folder))
                except subprocess.TimeoutExpired:
                    wrong = "hangs"
                if wrong:
                    bad.append(f"'{words}' after {call}:{number}: {wrong}")
                if changes and call not in ("malloc", "stat"):
                    folder = fresh()
                    got = run(folder, words, f"{call}:{number}:kill")
                    if wrong := wrong_after_kill(got, changes, before, after, state(folder)):
                        bad.append(f"'{words}' killed at {call}:{number}: {wrong}")
    return tried, bad


def main():
    with tempfile.TemporaryDirectory() as pristine:
        pristine = pathlib.Path(pristine)
        make_files(pristine)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda verb: try_verb(*verb, pristine), VERBS))
    bad = [text for result in results for text in result[1]]
    print(f"{sum(tried for tried, _ in results)} failures in {len(VERBS)} commands")
    for text in bad:
        print("FAILED:", text, file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
