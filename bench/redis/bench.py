#!/usr/bin/python3
"""What the module's commands cost a server: processor time for each command, against a module that
does nothing and against commands of the server's own, all on one server in one run.

    cmake --build --preset release --target bloomery_module bloomery_noop_module
    bench/redis/bench.py [--module build/release/bloomery.so] [--rounds 5]

redis-benchmark sends the commands (-P 64); the time is that of the server's process. Each round
goes through all commands, so that other load on the machine affects all of them. Prints medians
and the ratio to the command that does nothing.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "redis"))
import harness  # noqa: E402

ITEMS = 1_000_000
# Name, arguments (a random number of redis-benchmark's is __rand_int__), floor, calls.
MANY = ["__rand_int__"] * 100
COMMANDS = [
    ("noop.one", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.add", ["f", "__rand_int__"], None, 1_000_000),
    ("noop.many", ["f", *MANY], None, 50_000),
    ("noop.madd", ["f", *MANY], None, 50_000),
    ("bf.exists", ["f", "__rand_int__"], "noop.one", 1_000_000),
    ("bf.add", ["f", "__rand_int__"], "noop.add", 1_000_000),
    ("bf.exists", ["grown", "__rand_int__"], "noop.one", 1_000_000),
    ("bf.mexists", ["f", *MANY], "noop.many", 50_000),
    ("bf.madd", ["f", *MANY], "noop.madd", 50_000),
    ("bf.mexists", ["grown", *MANY], "noop.many", 50_000),
    # redis-benchmark's random numbers begin with zeros, which these commands do not accept. So they
    # ask for the same bit each time, which is in the cache.
    ("getbit", ["bits", "7654321"], "noop.one", 1_000_000),
    ("setbit", ["bits", "7654321", "1"], "noop.add", 1_000_000),
    ("sismember", ["set", "__rand_int__"], "noop.one", 1_000_000),
    ("sadd", ["set", "__rand_int__"], "noop.add", 1_000_000),
]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(fields[0]) / 1e9


def run(server, name, args, calls):
    before = cpu_seconds(server.process.pid)
    subprocess.run(["redis-benchmark", "-p", str(server.port), "-P", "64", "-c", "4",
                    "-n", str(calls), "-r", str(ITEMS), "-q", name, *args],
                   check=True, stdout=subprocess.DEVNULL)
    return (cpu_seconds(server.process.pid) - before) / calls * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default=harness.MODULE)
    parser.add_argument("--noop", default=harness.NOOP)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    server = harness.Server(modules=[options.module, options.noop])
    try:
        raw = harness.Raw(server.port, protocol=2)
        raw("BF.RESERVE", "f", "0.01", ITEMS)
        for first in range(0, ITEMS, 1000):
            for key in ("f", "grown"):
                raw("BF.MADD", key, *[f"{i:012d}" for i in range(first, first + 1000)])
        times = {}
        for _ in range(options.rounds):
            for i, (name, args, _, calls) in enumerate(COMMANDS):
                times.setdefault(i, []).append(run(server, name, args, calls))
        floors = {name: statistics.median(times[i])
                  for i, (name, _, floor, _) in enumerate(COMMANDS) if floor is None}
        layers = raw('BF.INFO', 'grown', 'FILTERS')
        print(f"{'command':34} {'us':>7} {'times no-op':>12}   filter {layers} layers grown")
        for i, (name, args, floor, _) in enumerate(COMMANDS):
            median = statistics.median(times[i])
            label = f"{name} {args[0]}" + (f" x{len(args) - 1}" if len(args) > 3 else "")
            print(f"{label:34} {median:7.3f} {median / floors[floor or name]:12.2f}")
        raw.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
