"""Every verb, with one call that fails: of memory, of the disk, of the system.

A verb whose call failed does its work all the same, or ends with status 2 and a line that says why.
It is never killed by a signal, leaves every file that was there as it was or as it should be, and
no other file. Killed before a call, it leaves the files likewise; a file with a hidden name is left
between naming and renaming. $BLOOMERY_FAULTS is the number of failures that are tried for a verb
and a call, 2 where it is not set.
"""
import concurrent.futures
import gzip
import hashlib
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

TOOL = os.environ["BLOOMERY"]
INJECT = os.environ["BLOOMERY_INJECT"]
MOST = int(os.environ.get("BLOOMERY_FAULTS", "2"))
CALLS = ["malloc", "write", "fsync", "rename", "link", "mmap", "open", "stat", "unlink", "truncate", "chmod", "lock"]

# What a verb is given; files that it may change or make come first. NAME/ is a folder whose files
# it may change, and with a + at its end a store, of which each record must be old or new. ~NAME is
# a state that is saved again and again: any one that is sound is right, and an empty file, which is
# there to be locked, is none yet.
VERBS = [
    (["new"], "build -o new keys"),
    (["new"], "build --kind fuse -o new keys"),
    (["new"], "build --kind ribbon -o new keys"),
    (["new"], "build --kind scalable -o new keys"),
    (["new"], "build --kind layered --keys 100 -o new keys"),
    (["new"], "build --kind cuckoo -o new keys"),
    (["new"], "build --kind top-k -o new keys"),
    (["new"], "build --kind windowed -o new keys"),
    (["new"], "build --memory 4k -o new keys"),
    (["new"], "build --hash siphash --key-file secret -o new keys"),
    (["new"], "build --column key -o new a.csv"),
    (["new"], "build --json-key a.b -o new lines.json.gz"),
    (["f.bloom"], "add f.bloom more"),
    (["t.bloom"], "add t.bloom more"),
    (["c.bloom"], "remove c.bloom keys"),
    (["new"], "compact -o new l.bloom keys"),
    (["new"], "merge -o new f.bloom g.bloom"),
    (["new"], "intersect -o new f.bloom g.bloom"),
    (["new"], "fold -o new f.bloom"),
    (["new"], "pack -o new f.bloom"),
    (["new"], "unpack -o new f.packed"),
    (["new"], "diff -o new f.bloom g.bloom"),
    (["new"], "patch -o new f.bloom f.delta"),
    (["new"], "map build -o new values.tsv"),
    (["new"], "map build -o new strings.tsv"),
    (["m.bloom"], "map set m.bloom values.tsv"),
    (["n.bloom"], "map set n.bloom strings.tsv"),
    (["new"], "index -o new texts"),
    (["i.bloom"], "index -o i.bloom --add texts"),
    (["new"], "index --paragraphs --json -o new texts"),
    (["~new"], "dedup --keys 1000 --state new keys"),
    (["~d.bloom"], "dedup --state d.bloom more"),
    (["new"], "top --seed 1 -o new keys"),
    (["new"], "passwd build -o new --distance 1 keys"),
    (["new"], "block build -q -o new hosts"),
    (["new"], "spell build -o new words"),
    (["new"], "reconcile -o new keys more"),
    (["new/", "~new/keys"], "share make --key-file key --for bert -o new keys"),
    (["new"], "digest make -q -o new urls"),
    (["new"], "digest make -q -o new --mirror texts --base http://h/"),
    (["new"], "digest export -o new d.digest"),
    (["new/+"], "store load new values.tsv"),
    (["store/+"], "store put store strings.tsv"),
    (["store/+"], "store erase store one"),
    (["store/+"], "store merge store"),
    (["site/"], "publish lists -o site"),
    (["fresh/"], "publish --json lists -o fresh"),
    (["traces/", "~traces/1762345678.000000000_1762345678.000199000.bloom"], "trace record -q -o traces packets.pcap"),
    (["new/"], "import -q --from redisbloom -o new dump.rdb"),
    (["new.svg"], "info --plot new.svg f.bloom"),
    ([], "check -c f.bloom keys"),
    ([], "check --json f.packed keys"),
    ([], "check f.bloom g.bloom -- keys"),
    ([], "check -v --confirm more f.bloom keys"),
    ([], "count s.bloom keys"),
    ([], "count --json t.bloom keys"),
    ([], "dedup --keys 1000 keys"),
    ([], "dedup --json --keys 1000 keys"),
    ([], "top keys"),
    ([], "top --json keys"),
    ([], "quantiles keys"),
    ([], "quantiles --json --range 5..7 keys"),
    ([], "map get m.bloom keys"),
    ([], "map get n.bloom keys"),
    ([], "info f.bloom"),
    ([], "info --json f.bloom"),
    ([], "info --json i.bloom n.bloom f.packed l.bloom"),
    ([], "verify f.bloom"),
    ([], "verify --json i.bloom n.bloom f.packed l.bloom"),
    ([], "explain f.bloom 7"),
    ([], "explain --json l.bloom 7"),
    ([], "compare f.bloom g.bloom"),
    ([], "compare --json f.bloom g.bloom"),
    ([], "import --json --from redisbloom dump.rdb"),
    ([], "plan --keys 1000"),
    ([], "plan --keys 1000 --json"),
    ([], "search i.bloom bloom"),
    ([], "search --verify --json i.bloom bloom filter"),
    ([], "reconcile keys more"),
    ([], "reconcile --json --method filter keys more"),
    ([], "join a.csv b.csv --on key"),
    ([], "join --json a.csv b.csv --on key"),
    ([], "join --estimate a.csv b.csv --on key"),
    ([], "share ask shared keys"),
    ([], "share overlap shared shared"),
    ([], "digest info --json d.digest"),
    ([], "digest ask d.digest --list urls"),
    ([], "store get store one"),
    ([], "store list store"),
    ([], "store info --json store"),
    ([], "passwd check p.bloom keys"),
    ([], "passwd check --json p.bloom keys"),
    ([], "block check b.bloom log"),
    ([], "block check --json b.bloom log"),
    ([], "spell -d w.bloom texts/0.txt"),
    ([], "spell --suggest --json -d w.bloom texts/0.txt"),
    ([], "hyphenate --patterns hyphens --exceptions exceptions texts/0.txt"),
    ([], "hyphenate --json --patterns hyphens texts/0.txt"),
    ([], "flows packets.pcap"),
    ([], "flows --json packets.pcap"),
    ([], "trace ask seen packets.pcap"),
    ([], "trace ask --json seen packets.pcap"),
    ([], "completion bash"),
    ([], "help build"),
]


def write_capture(path):
    """UDP packets between two hosts, in the form of tcpdump."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for n in range(200):
            f.write(struct.pack("<IIII", 1762345678, n, 28, 28))
            f.write(struct.pack(">BBHHHBBH4s4sHHHH", 0x45, 0, 28, n, 0, 64, 17, 0, bytes([192, 0, 2, 7]),
                                bytes([198, 51, 100, 9]), 1000 + n % 9, 53, 8, 0))


def write_inputs(folder):
    def lines(name, texts):
        (folder / name).write_text("".join(f"{text}\n" for text in texts))

    lines("keys", range(2000))
    lines("more", range(1500, 3000))
    lines("one", ["1"])
    lines("two.tsv", ["1\tone", "2\ttwo"])
    lines("values.tsv", sorted(f"{i}\t{i % 7}" for i in range(500)))
    lines("strings.tsv", (f"{i}\ttext {i % 7}" for i in range(500)))
    lines("a.csv", ["key,a", *(f"{i},{i % 3}" for i in range(300))])
    lines("b.csv", ["key,b", *(f"{i},{i % 3}" for i in range(200, 500))])
    (folder / "lines.json.gz").write_bytes(gzip.compress(b'{"a":{"b":"c"}}\n' * 100, mtime=0))
    lines("secret", ["00112233445566778899aabbccddeeff"])
    lines("key", ["00112233445566778899aabbccddeeff" * 2])
    lines("hosts", ["10.0.0.0/8", "evil.example", "https://bad.example/page", "2001:db8::/32"])
    lines("log", ["10.1.2.3 GET /", "https://bad.example/page", "good.example"])
    lines("urls", (f"http://h/{i}" for i in range(300)))
    lines("words", ["bloom", "filter", "text"])
    lines("hyphens", ["UTF-8", "1te", "b1l", "l1t"])
    lines("exceptions", ["fil-ter"])
    write_capture(folder / "packets.pcap")
    shutil.copy(pathlib.Path(__file__).parent.parent / "foreign/redisbloom/dump.rdb", folder)
    (folder / "texts").mkdir()
    for i in range(3):
        lines(f"texts/{i}.txt", [f"a bloom filter of text {i}", "", "a secnd paragraph"])


def make_files(folder):
    def tool(words):
        subprocess.run([TOOL, *words.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    write_inputs(folder)
    tool("build -o f.bloom --keys 4000 keys")
    tool("build -o g.bloom --keys 4000 more")
    tool("build --kind counting -o c.bloom keys")
    tool("build --kind count-min -o s.bloom keys")
    tool("build --kind layered --keys 100 -o l.bloom keys")
    tool("build --kind top-k -o t.bloom keys")
    tool("pack -o f.packed f.bloom")
    tool("diff -o f.delta f.bloom g.bloom")
    (folder / "lists").mkdir()
    shutil.copy(folder / "f.bloom", folder / "lists/l.bloom")
    tool("publish lists -o site")
    tool("add lists/l.bloom more")
    tool("trace record -o seen packets.pcap")
    tool("map build --value-bits 8 -o m.bloom values.tsv")
    tool("map build --value-bits 8 -o n.bloom strings.tsv")
    tool("index -o i.bloom texts")
    tool("dedup -q --state d.bloom keys")
    tool("passwd build -o p.bloom keys")
    tool("block build -q -o b.bloom hosts")
    tool("spell build -o w.bloom words")
    tool("share make --key-file key --for bert -o shared keys")
    tool("digest make -o d.digest urls")
    tool("store load store values.tsv")
    tool("store put store two.tsv")


def listed(folder, store):
    """The records of a store."""
    got = subprocess.run([TOOL, "store", "list", store], cwd=folder, capture_output=True, timeout=60)
    if got.returncode > 1:
        return {"refused": got.stderr.decode()}
    return dict(line.split(b"\t", 1) for line in got.stdout.splitlines())


def state(folder, changes):
    """What is in each file: its digest. Of a store its records, of a state whether it is sound."""
    stores = tuple(name[:-1] for name in changes if name.endswith("+"))
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if "~" + name in changes and path.stat().st_size == 0:
            continue
        if path.is_file() and not name.startswith(stores):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file() and "~" + name in changes:
            verified = subprocess.run([TOOL, "verify", "-q", path], stderr=subprocess.DEVNULL)
            if verified.returncode == 0:
                found[name] = "sound"
    for store in stores:
        found |= {f"{store} {key}": value for key, value in listed(folder, store).items()}
    return found


def may_change(name, changes):
    return any(name == c.strip("~+") or c.endswith(("/", "+")) and name.startswith(c.strip("+")) for c in changes)


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
        allowed = {before.get(name), after.get(name)} if may_change(name, changes) else {before.get(name)}
        if now.get(name) not in allowed:
            return f"left {name} neither old nor new"
    return None


def wrong_after_kill(got, changes, before, after, now):
    if got.returncode != -signal.SIGKILL:
        return f"ended with {got.returncode}"
    whole = {after[name] for name in after if may_change(name, changes)}
    if any(c.startswith("~") for c in changes):  # one that is sound cannot be told from another
        whole |= set(now.values())
    hidden = {name for name in now if os.path.basename(name).startswith(".bloomery-") and now[name] in whole}
    return wrong_files(changes, before, after, {name: now[name] for name in now.keys() - hidden})


def wrong_after(words, got, good, changes, before, after, now):
    """What is wrong with the end of a verb, one of whose calls failed; nothing when all is well."""
    said = got.stderr.decode(errors="replace").strip()
    if got.returncode not in (good.returncode, 2):
        return f"ended with {got.returncode}: {said}"
    if got.returncode == 2 and not any(line.startswith("bloomery: ") for line in said.split("\n")):
        return f"does not say what is wrong: {said}"
    # Both sides of reconcile and join are here: one of them knows what was wrong.
    if "the peer" in said:
        return f"speaks of somebody else: {said}"
    if "--memory" in said and not words.startswith("build"):
        return f"recommends an option that it has not: {said}"
    if wrong := wrong_files(changes, before, after, now):
        return f"{wrong}: {said}"
    if got.returncode != 2 and now != after:
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

        before = state(fresh(), changes)
        good = run(scratch / "files", words, "none", scratch / "count")
        if good.returncode > 1:
            return 0, [f"'{words}' does not work at all: {good.stderr.decode()}"]
        after = state(scratch / "files", changes)
        total = dict(line.split() for line in (scratch / "count").read_text().splitlines())
        for call in CALLS:
            for number in chosen(int(total[call])):
                folder = fresh()
                tried += 1
                try:
                    got = run(folder, words, f"{call}:{number}")
                    wrong = wrong_after(words, got, good, changes, before, after, state(folder, changes))
                except subprocess.TimeoutExpired:
                    wrong = "hangs"
                if wrong:
                    bad.append(f"'{words}' after {call}:{number}: {wrong}")
                if changes and call not in ("malloc", "stat"):
                    folder = fresh()
                    got = run(folder, words, f"{call}:{number}:kill")
                    if wrong := wrong_after_kill(got, changes, before, after, state(folder, changes)):
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
