#!/usr/bin/python3
r"""The Python package against set, against the C++ call, and against python3-flor where that is
there.

    cmake --preset release -DBLOOMERY_BENCH=ON
    cmake --build --preset release --target bloomery_python bloomery_python_floor
    PYTHONPATH=build/release/python bench/python/bench.py \
        build/release/bench/libbloomery_python_floor.so

All in one process, interleaved, medians of REPEATS rounds: what counts is the ratio to what ran
beside it.
"""

import ctypes
import gc
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy

import bloomery

REPEATS = int(os.environ.get("BLOOMERY_REPEATS", "7"))


def clock(work):
    """Nanoseconds that one call has the processor: others may use the machine, too."""
    start = time.thread_time_ns()
    work()
    return time.thread_time_ns() - start


def wall(work):
    """Nanoseconds that pass."""
    start = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - start


def rounds(repeats=REPEATS, clock=clock, **works):
    """Medians of all works, which take turns."""
    times = {name: [] for name in works}
    gc.disable()
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(clock(work))
    gc.enable()
    return {name: statistics.median(found) for name, found in times.items()}


def show(what, ours, theirs, keys, limit):
    ratio = ours / theirs
    verdict = "" if limit is None else f"   at most {limit}: {'yes' if ratio <= limit else 'NO'}"
    print(f"{what:<46} {ours / keys:8.1f} {theirs / keys:8.1f} ns a key   {ratio:6.3f}{verdict}")


def strings(count):
    rng = random.Random(count)
    # In memory in this order, as lines of a file are.
    return [f"user-{rng.getrandbits(48):x}" for _ in range(count)]


def ask(container, keys):
    for key in keys:
        key in container  # noqa: B015


def fill(add, keys):
    for key in keys:
        add(key)


def single(count, limit):
    keys = strings(count)
    asked = keys * max(1, 20_000 // count)
    # Short rounds, so that the clocks of a core change little.
    repeats = REPEATS * max(1, 1_000_000 // len(asked))
    there = set(keys)
    ours = bloomery.Filter(keys)
    found = rounds(repeats, ours=lambda: ask(ours, asked), theirs=lambda: ask(there, asked))
    show(f"{count:,} str: in, against set", found["ours"], found["theirs"], len(asked), limit)
    absent = [key + "x" for key in asked[:200_000]]
    hash_of = [hash(key) for key in absent]  # strings keep their hash, as those above did
    found = rounds(repeats, ours=lambda: ask(ours, absent), theirs=lambda: ask(there, absent))
    show(f"{count:,} str: in, absent ones", found["ours"], found["theirs"], len(hash_of), None)


def bulk():
    keys = strings(1_000_000)
    found = rounds(ours=lambda: bloomery.Filter(keys=len(keys)).update(keys), theirs=lambda: set(keys))
    show("1,000,000 str: update, against set(list)", found["ours"], found["theirs"], len(keys), 0.35)
    there = set()
    ours = bloomery.Filter(keys=len(keys))
    found = rounds(ours=lambda: fill(ours.add, keys), theirs=lambda: fill(there.add, keys))
    show("1,000,000 str: add, against set.add again", found["ours"], found["theirs"], len(keys), None)


def arrays(library):
    floor = ctypes.CDLL(library)
    floor.floor_new.restype = ctypes.c_void_p
    floor.floor_new.argtypes = [ctypes.c_uint64]
    keys = numpy.random.default_rng(1).integers(0, 2**64, 4_000_000, dtype=numpy.uint64)
    out = numpy.zeros(len(keys), dtype=bool)
    handle = ctypes.c_void_p(floor.floor_new(len(keys)))
    ours = bloomery.Filter(keys=len(keys))
    data, count = ctypes.c_void_p(keys.ctypes.data), ctypes.c_size_t(len(keys))
    answers = ctypes.c_void_p(out.ctypes.data)
    found = rounds(ours=lambda: ours.update(keys), theirs=lambda: floor.floor_add(handle, data, count))
    show("4,000,000 uint64: update, against C++", found["ours"], found["theirs"], len(keys), 1.15)
    found = rounds(ours=lambda: ours.contains_many(keys),
                   theirs=lambda: floor.floor_contains(handle, data, count, answers))
    show("4,000,000 uint64: contains_many, against C++", found["ours"], found["theirs"], len(keys), 1.15)
    assert out.all() and ours.contains_many(keys).all()
    floor.floor_free(handle)


def in_threads(*works):
    """All at the same time, a thread each."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def scaling():
    """Two threads with half of the work each, against one with all of it: seconds that pass."""
    keys = numpy.random.default_rng(2).integers(0, 2**64, 8_000_000, dtype=numpy.uint64)
    halves = keys[:4_000_000], keys[4_000_000:]
    text = strings(1_000_000)
    text_halves = text[:500_000], text[500_000:]
    one = bloomery.Filter(keys)
    own = [bloomery.Filter(keys=len(half)) for half in halves]
    for what, call, first, second in (
            ("8,000,000 uint64: contains_many of one filter", lambda i, some: one.contains_many(some), *halves),
            ("8,000,000 uint64: update of two filters", lambda i, some: own[i].update(some), *halves),
            ("1,000,000 str: update of two filters", lambda i, some: own[i].update(some), *text_halves)):
        found = rounds(clock=wall, one=lambda: (call(0, first), call(1, second)),
                       two=lambda: in_threads(lambda: call(0, first), lambda: call(1, second)))
        count = len(first) + len(second)
        print(f"{what + ', 1 and 2 threads':<63} {found['one'] / count:6.1f} {found['two'] / count:6.1f} ns a key   "
              f"{found['one'] / found['two']:.2f} times as fast")


def starting():
    """Milliseconds for an interpreter with and without the import: of the processor, and that pass.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    folder = tempfile.TemporaryDirectory()
    environment["PYTHONPYCACHEPREFIX"] = folder.name  # compiled once, as an installed package is

    def run(code):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        return ((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000, (ended - began) * 1000)
    run("import bloomery")
    times = [(run("import bloomery"), run("pass")) for _ in range(3 * REPEATS)]
    extra, passed = (statistics.median(ours[i] - theirs[i] for ours, theirs in times) for i in (0, 1))
    print(f"import beyond Python itself: {extra:.1f} ms, {passed:.1f} ms by the clock on the wall   at most 10: "
          f"{'yes' if max(extra, passed) < 10 else 'NO'}")


def opening():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.bloom")
        bloomery.Filter(keys=1_000_000, bytes=1_000_000_000).save(path)
        size = os.path.getsize(path) / 1e9

        def opened(clocked, verify):
            return rounds(clock=clocked, ours=lambda: bloomery.open(path, verify=verify).close())["ours"] / 1e6

        found, passed = opened(clock, False), opened(wall, False)
        print(f"opening {size:.2f} GB with verify=False: {found:.2f} ms, {passed:.2f} ms by the clock on the wall"
              f"   at most 5: {'yes' if max(found, passed) < 5 else 'NO'}")
        print(f"opening {size:.2f} GB: {opened(wall, True):.0f} ms by the clock on the wall")


def peers():
    try:
        import flor
    except ImportError:
        print("python3-flor is not installed")
        return
    keys = [key.encode() for key in strings(100_000)]
    theirs = flor.BloomFilter(n=len(keys), p=0.01)
    ours = bloomery.Filter(keys=len(keys))
    found = rounds(ours=lambda: fill(ours.add, keys), theirs=lambda: fill(theirs.add, keys))
    show("100,000 bytes: add, against python3-flor", found["ours"], found["theirs"], len(keys), None)
    found = rounds(ours=lambda: ask(ours, keys), theirs=lambda: ask(theirs, keys))
    show("100,000 bytes: in, against python3-flor", found["ours"], found["theirs"], len(keys), None)


def main():
    print(f"Python {sys.version.split()[0]}, numpy {numpy.__version__}, medians of {REPEATS}")
    print(f"{'':<46} {'ours':>8} {'theirs':>8}               ratio")
    single(1_000, 1.5)
    single(1_000_000, 0.6)
    bulk()
    if len(sys.argv) > 1:
        arrays(sys.argv[1])
    scaling()
    starting()
    opening()
    peers()


if __name__ == "__main__":
    main()
