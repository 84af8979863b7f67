#!/usr/bin/python3
"""What the module's commands cost a server: processor time for each command, against a module that
does nothing and against commands of the server's own, all on one server in one run.

    cmake --build --preset release --target bloomery_module bloomery_noop_module
    bench/redis/bench.py [--module build/release/bloomery.so] [--rounds 5]
                         [--growth N] [--many N] [--large N [--kinds growing,fixed]]

redis-benchmark sends the commands (-P 64); the time is that of the server's process. Each round
goes through all commands, so that other load on the machine affects all of them. Prints medians
and the ratios to the command that does nothing and to PING.

--growth N adds N items to a filter that nobody reserved, one by one, and prints the longest command
beside the longest of as many PINGs. The server's log of slow commands has time on the wall, others'
included, so it also prints the longest piece of 64 commands in processor time, which bounds that of
each of them, and how long a piece waited for a processor. --many N makes N filters of 100 items and
prints what each takes of resident memory. --large N makes a filter of N items, of each kind, and
prints for commands that go through all of it or copy it: how long the client waited, how much
processor time of the server's thread that took, and how long it kept the server from everything
else at once, by its log of slow commands. What is done in slices or in a thread is not in that log.

The no-op module's commands are: noop.one and the others, which only reply, and noop.asked,
noop.added and noop.counted, which also open the key, and say that they changed it: what no command
of a module with a value in a key can be without.
"""
import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "redis"))
import harness  # noqa: E402

ITEMS = 1_000_000
# Name, arguments (a random number of redis-benchmark's is __rand_int__), floor, calls.
MANY = ["__rand_int__"] * 100
COMMANDS = [
    ("ping", [], None, 1_000_000),
    ("noop.one", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.add", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.many", ["f", *MANY], None, 50_000),
    ("noop.madd", ["f", *MANY], None, 50_000),
    ("noop.asked", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.added", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.counted", ["m", "__rand_int__", "1"], None, 1_000_000),
    ("bf.exists", ["f", "__rand_int__"], "noop.asked", 1_000_000),
    ("bf.add", ["f", "__rand_int__"], "noop.asked", 1_000_000),  # of items that it has
    ("bf.exists", ["grown", "__rand_int__"], "noop.asked", 1_000_000),
    ("bf.mexists", ["f", *MANY], "noop.many", 50_000),
    ("bf.madd", ["f", *MANY], "noop.madd", 50_000),
    ("bf.mexists", ["grown", *MANY], "noop.many", 50_000),
    ("cf.exists", ["c", "__rand_int__"], "noop.asked", 1_000_000),
    ("cf.add", ["c", "__rand_int__"], "noop.added", 200_000),
    ("cms.incrby", ["m", "__rand_int__", "1"], "noop.counted", 1_000_000),
    ("tdigest.add", ["t", "1.5"], "noop.added", 1_000_000),
    # redis-benchmark's random numbers begin with zeros, which these commands do not accept. So they
    # ask for the same bit each time, which is in the cache.
    ("getbit", ["bits", "7654321"], "noop.one", 1_000_000),
    ("setbit", ["bits", "7654321", "1"], "noop.add", 1_000_000),
    ("sismember", ["set", "__rand_int__"], "noop.one", 1_000_000),
    ("sadd", ["set", "__rand_int__"], "noop.add", 1_000_000),
]


def cpu_seconds(pid, waiting=False):
    """What the process has run, or has been ready to run and waited for a processor."""
    fields = pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(fields[1 if waiting else 0]) / 1e9


def run(server, name, args, calls):
    before = cpu_seconds(server.process.pid)
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-P", "64", "-c", "4",
                    "-n", str(calls), "-r", str(ITEMS), "-q", name, *args],
                   check=True, stdout=subprocess.DEVNULL)
    return (cpu_seconds(server.process.pid) - before) / calls * 1e6


def growth(server, items):
    raw = harness.Raw(server.port, protocol=2)
    raw("CONFIG", "SET", "slowlog-log-slower-than", "500")
    raw("CONFIG", "SET", "slowlog-max-len", "10000")
    random.seed(1)
    layers = lambda: raw("BF.INFO", "growing", "FILTERS")[0]
    raw("BF.ADD", "growing", "first")
    # PING first: what else the machine does meets it as well.
    for name in ("ping", "bf.add"):
        raw("SLOWLOG", "RESET")
        worst, before = [], layers()
        for _ in range(items // 64):
            if name == "ping":
                piece = b"*1\r\n$4\r\nping\r\n" * 64
            else:
                piece = b"".join(b"*3\r\n$6\r\nbf.add\r\n$7\r\ngrowing\r\n$12\r\n%012d\r\n" % random.randrange(10**9)
                                 for _ in range(64))
            ran, waited = cpu_seconds(server.process.pid), cpu_seconds(server.process.pid, True)
            raw.socket.sendall(piece)
            for _ in range(64):
                raw.file.readline()
            ran = cpu_seconds(server.process.pid) - ran
            waited = cpu_seconds(server.process.pid, True) - waited
            if max(ran, waited) > 0.0005:
                after = layers()
                worst.append((ran, waited, after - before))
                before = after
        slow = [entry[2] for entry in raw("SLOWLOG", "GET", "-1") if entry[3][0].lower() == name.encode()]
        ms = lambda pieces, which: f"{1000 * max((p[which] for p in pieces), default=0):.1f} ms"
        print(f"{items:,} times {name}: the longest took {max(slow, default=0) / 1000} ms on the wall, "
              f"{len(slow)} of them more than 0.5 ms; the longest 64 ran for {ms(worst, 0)}, "
              f"those with a new layer for {ms([p for p in worst if p[2]], 0)}; "
              f"the longest wait for a processor was {ms(worst, 1)}")
    print(f"{layers()} layers")
    raw.close()


def many(server, filters):
    raw = harness.Raw(server.port, protocol=2)
    resident = lambda: int(raw("INFO", "memory").split(b"used_memory_rss:")[1].split(b"\r")[0])
    before = resident()
    word = lambda w: b"$%d\r\n%s\r\n" % (len(w), w)
    items = b"".join(word(b"%d" % i) for i in range(100))
    for first in range(0, filters, 500):
        keys = [word(b"key:%d" % i) for i in range(first, min(first + 500, filters))]
        raw.socket.sendall(b"".join(
            b"*5\r\n" + word(b"BF.RESERVE") + k + word(b"0.01") + word(b"100") + word(b"NONSCALING") +
            b"*102\r\n" + word(b"BF.MADD") + k + items for k in keys))
        for _ in range(2 * len(keys)):
            raw.read()
    print(f"{filters:,} filters of 100 items: {(resident() - before) / filters:.0f} bytes of resident memory each")
    raw.close()


# Of --large: family, how the filter is made, and whether it can be merged.
LARGE = {
    "growing": ("BF", None, True),
    "fixed": ("BF", ("0.01", "NONSCALING"), True),
    "counting": ("BF", ("0.01", "COUNTING"), True),
    "window": ("BF", ("0.01", "WINDOW", "1000"), False),
    "cuckoo": ("CF", ("BUCKETSIZE", "4"), False),
    "counts": ("CMS", None, True),
}


def fill(raw, kind, items):
    family, words, _ = LARGE[kind]
    if family == "CMS":  # 38 MiB, whatever is counted
        raw("CMS.INITBYDIM", "f", 2_000_000, 5)
        items = 100_000
    elif words:
        words = (words[0], items + items // 100, *words[1:]) if family == "BF" else (items + items // 100, *words)
        raw(f"{family}.RESERVE", "f", *words)
    for first in range(0, items, 10_000):
        some = range(first, first + 10_000)
        if family == "BF":
            raw("BF.MADD", "f", *some)
        elif family == "CF":
            raw("CF.INSERT", "f", "ITEMS", *some)
        else:
            raw("CMS.INCRBY", "f", *(word for i in some for word in (i, 1)))


def large(kind, items, rounds, module):
    server = harness.Server(modules=[module], proto_max_bulk_len="1gb")
    raw = harness.Raw(server.port, protocol=2)
    reader = harness.Raw(server.port, protocol=2)
    raw("CONFIG", "SET", "slowlog-log-slower-than", "0")
    fill(raw, kind, items)
    family, _, merges = LARGE[kind]
    of = lambda name: f"{family}.{name}"
    print(f"{kind}: {items:,} items, {raw('MEMORY', 'USAGE', 'f') / 2**20:.1f} MiB")
    new = iter(range(items, 10 * items))
    add = {"BF": lambda: ("BF.ADD", "f", next(new)), "CF": lambda: ("CF.ADD", "f", next(new)),
           "CMS": lambda: ("CMS.INCRBY", "f", next(new), "1")}[family]
    nothing = lambda: None
    def read_all(client, command):  # the server keeps what it lent until the last piece
        at = client(command, "f", 0)[0]
        while at != 0:
            at = client(command, "f", at)[0]
    begin_reading = lambda: reader(of("SCANDUMP"), "f", 0)
    end_reading = lambda: read_all(reader, of("SCANDUMP"))
    no_copy = lambda: raw("DEL", "g")
    copied = lambda: raw("COPY", "f", "g")
    payload = raw("DUMP", "f")
    rows = [
        (of("SCANDUMP") + ", the first piece", nothing, lambda: (of("SCANDUMP"), "f", "0"),
         lambda: read_all(raw, of("SCANDUMP"))),
        (of("SCANDUMP") + ", a piece of 4 MiB", begin_reading, lambda: (of("SCANDUMP"), "f", "1"), end_reading),
        (of("EXPORT") + ", the first piece", nothing, lambda: (of("EXPORT"), "f", "0"), lambda: read_all(raw, of("EXPORT"))),
        (add()[0] + " while somebody reads pieces", begin_reading, add, end_reading),
        (add()[0] + " at other times", nothing, add, nothing),
        ("COPY", no_copy, lambda: ("COPY", "f", "g"), no_copy),
        ("DEL", copied, lambda: ("DEL", "g"), nothing),
        ("UNLINK", copied, lambda: ("UNLINK", "g"), nothing),
        (of("INFO"), nothing, lambda: (of("INFO"), "f"), nothing),
        ("DUMP", nothing, lambda: ("DUMP", "f"), nothing),
        ("RESTORE", nothing, lambda: ("RESTORE", "r", "0", payload), lambda: raw("DEL", "r")),
    ]
    if family == "BF":
        rows.append(("BF.STATS", nothing, lambda: ("BF.STATS", "f"), nothing))
        rows.append(("BF.MADD of 100", nothing, lambda: ("BF.MADD", "f", *(next(new) for _ in range(100))), nothing))
    if family == "CF":
        rows.append(("CF.COMPACT", nothing, lambda: ("CF.COMPACT", "f"), nothing))
    if merges:
        words = ("CMS.MERGE", "g", "1", "f") if family == "CMS" else ("BF.MERGE", "g", "f")
        rows.append((words[0], copied, lambda: words, no_copy))
        rows.append((words[0] + " in a script", copied,
                     lambda: ("EVAL", "return redis.call(unpack(ARGV))", "0", *words), no_copy))
    print(f"{'command, ms':40} {'client waits':>12} {'processor':>10} {'log, median':>12} {'longest':>8}")
    for label, before, command, after in rows:
        waits, ran, log = [], [], []
        for _ in range(rounds):
            before()
            raw("SLOWLOG", "RESET")
            words_now = command()
            cpu, clock = cpu_seconds(server.process.pid), time.perf_counter()
            raw(*words_now)
            waits.append(time.perf_counter() - clock)
            ran.append(cpu_seconds(server.process.pid) - cpu)
            log += [entry[2] / 1000 for entry in raw("SLOWLOG", "GET", "-1") if entry[3][0].decode() == words_now[0]]
            after()
        print(f"{label:40} {1000 * statistics.median(waits):12.2f} {1000 * statistics.median(ran):10.2f} "
              f"{statistics.median(log or [0]):12.2f} {max(log, default=0):8.2f}")
    raw.close()
    reader.close()
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default=harness.MODULE)
    parser.add_argument("--noop", default=harness.NOOP)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--growth", type=int)
    parser.add_argument("--many", type=int)
    parser.add_argument("--large", type=int)
    parser.add_argument("--kinds", default=",".join(LARGE))
    options = parser.parse_args()
    if options.large:
        for kind in options.kinds.split(","):
            large(kind, options.large, options.rounds, options.module)
        return
    server = harness.Server(modules=[options.module, options.noop])
    try:
        if options.growth or options.many:
            if options.growth:
                growth(server, options.growth)
            if options.many:
                many(server, options.many)
            return
        raw = harness.Raw(server.port, protocol=2)
        raw("BF.RESERVE", "f", "0.01", ITEMS)
        for first in range(0, ITEMS, 1000):
            for key in ("f", "grown"):
                raw("BF.MADD", key, *[f"{i:012d}" for i in range(first, first + 1000)])
        raw("CF.RESERVE", "c", 2 * ITEMS, "EXPANSION", 2)
        raw("CMS.INITBYPROB", "m", "0.0001", "0.01")
        raw("TDIGEST.CREATE", "t")
        times = {}
        for _ in range(options.rounds):
            for i, (name, args, _, calls) in enumerate(COMMANDS):
                times.setdefault(i, []).append(run(server, name, args, calls))
        floors = {name: statistics.median(times[i])
                  for i, (name, _, floor, _) in enumerate(COMMANDS) if floor is None}
        layers = raw('BF.INFO', 'grown', 'FILTERS')
        print(f"{'command':34} {'us':>7} {'times no-op':>12} {'times PING':>11}   filter {layers} layers grown")
        for i, (name, args, floor, _) in enumerate(COMMANDS):
            median = statistics.median(times[i])
            label = f"{name} {args[0] if args else ''}" + (f" x{len(args) - 1}" if len(args) > 3 else "")
            print(f"{label:34} {median:7.3f} {median / floors[floor or name]:12.2f} {median / floors['ping']:11.2f}")
        raw.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
