#!/usr/bin/python3
"""Whole programs over one capture, for docs/packets.md: libpcap's loop, flows, trace record,
nfpcapd and tshark.

    bench/packets.py [--packets N] [--tshark N] [--rounds N] [--capture FILE] [TOOL]

They run in turns; printed are the medians of their processor time and of the time by the clock,
start included, and for each the packets a second and the ratio to flows. tshark, which takes some
thousand times as long, reads the first 300,000 packets, and so does flows beside it. What is not
installed is left out. Nothing is asserted: a busy machine must not fail a build.
"""
import argparse
import ctypes
import ctypes.util
import os
import random
import shutil
import statistics
import struct
import tempfile
import time
from pathlib import Path

CAPTURED = 82
RECORD = 16 + CAPTURED


def write_capture(path, packets):
    """Packets of a million flows with Zipf's sizes, as bench/packets_bench.cpp makes them."""
    draw = random.Random(1)
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(packets):
            flow = int(1_000_000 ** draw.random()) - 1
            addresses = (flow * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64
            wire = CAPTURED + draw.getrandbits(10)
            f.write(struct.pack("<IIII12xHBBHHHBBHQIIIBB34x", i // 1_000_000, i % 1_000_000, CAPTURED, wire,
                                8, 0x45, 0, socket_order(wire - 14), i & 65535, 0, 64, 17 if addresses % 8 == 0 else 6, 0,
                                addresses, flow, 0, 0, 0x50, 0x10))


def socket_order(number):
    return (number & 255) << 8 | number >> 8


def first_packets(path, packets, target):
    """The first packets of a capture with microseconds in the byte order of this machine."""
    with open(path, "rb") as whole, open(target, "wb") as part:
        part.write(whole.read(24))
        for _ in range(packets):
            header = whole.read(16)
            if len(header) < 16:
                break
            part.write(header + whole.read(struct.unpack("<8xI4x", header)[0]))


def count_packets(path):
    count, end = 0, os.path.getsize(path)
    with open(path, "rb") as f:
        f.seek(24)
        while f.tell() < end:
            f.seek(struct.unpack("<8xI4x", f.read(16))[0], os.SEEK_CUR)
            count += 1
    return count


def times_of(work):
    """Seconds of a child of this process that calls work(): of the processor, and by the clock."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)  # work() ends the child when all is well
    _, status, used = os.wait4(child, 0)
    if status != 0:
        raise SystemExit(f"a program failed: {status}")
    return used.ru_utime + used.ru_stime, time.monotonic() - start


def program(*command):
    def work():
        silent = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silent, descriptor)
        os.execvp(command[0], [str(word) for word in command])
    return lambda: times_of(work)


def libpcap_loop(path):
    name = ctypes.util.find_library("pcap")
    if name is None:
        return None
    pcap = ctypes.CDLL(name)
    pcap.pcap_open_offline.restype = ctypes.c_void_p
    pcap.pcap_loop.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    # A function that does nothing with the packet, in C: what Python would add is no part of the
    # loop.
    nothing = ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p)

    def work():
        opened = pcap.pcap_open_offline(os.fsencode(path), ctypes.create_string_buffer(256))
        os._exit(0 if opened and pcap.pcap_loop(opened, -1, nothing, None) == 0 else 1)
    return lambda: times_of(work)


def in_turns(title, runs, packets, rounds, before_each):
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            before_each()
            times[name].append(run())
    print(f"\n{title}: {packets:,} packets, medians of {rounds} in turns")
    for which, clock in enumerate(("processor time", "by the clock")):
        middle = {name: statistics.median(taken[which] for taken in all) for name, all in times.items()}
        print(f"\n    {clock}")
        for name, seconds in middle.items():
            print(f"    {name:<16}{seconds:>9.3f} s{packets / seconds:>14,.0f} packets/s"
                  f"{seconds / middle['flows']:>9.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packets", type=int, default=15_000_000)
    parser.add_argument("--tshark", type=int, default=300_000, help="packets that tshark reads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--capture", help="a pcap file with microseconds, instead of one that is made")
    parser.add_argument("tool", nargs="?", default=Path(__file__).resolve().parents[1] / "build/release/bloomery")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        slices, stored = os.path.join(folder, "slices"), os.path.join(folder, "stored")
        capture = o.capture or os.path.join(folder, "all.pcap")
        if not o.capture:
            write_capture(capture, o.packets)

        def clean():
            for made in (slices, stored):
                shutil.rmtree(made, ignore_errors=True)
            os.mkdir(stored)

        runs = {"libpcap's loop": libpcap_loop(capture),
                "flows": program(o.tool, "flows", "-q", capture),
                "trace record": program(o.tool, "trace", "record", "-q", "-o", slices, capture)}
        if shutil.which("nfpcapd"):
            runs["nfpcapd"] = program("nfpcapd", "-r", capture, "-w", stored)
        runs = {name: run for name, run in runs.items() if run}
        in_turns("the capture", runs, count_packets(capture), o.rounds, clean)
        if shutil.which("tshark"):
            part = os.path.join(folder, "part.pcap")
            first_packets(capture, o.tshark, part)
            runs = {"flows": program(o.tool, "flows", "-q", part),
                    "tshark": program("tshark", "-r", part, "-q", "-z", "conv,ip")}
            in_turns("its beginning", runs, count_packets(part), o.rounds, clean)


if __name__ == "__main__":
    main()
