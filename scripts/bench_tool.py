#!/usr/bin/python3
"""The tool from end to end: building a filter of a large file and checking the file against it,
beside wc -l.

Usage: bench_tool.py TOOL FOLDER LINES
       bench_tool.py --dedup TOOL FOLDER LINES

Makes a file of LINES lines of 33 bytes in FOLDER, which leaves it in the page cache, and runs each
command five times in turn. Prints JSON: seconds (the median), seconds of processors and peak bytes
of each command.

With --dedup the lines are 43 bytes, each is there twice, half a file apart, and dedup runs beside
awk, which runs once: it takes long.
"""

import json
import os
import statistics
import subprocess
import sys
import time

REPETITIONS = 5


def write_lines(path, lines, first_number=0):
    end = first_number + lines
    with open(path, "wb") as file:
        for first in range(first_number, end, 10_000):
            file.write(b"".join(b"https://www.example.org/%08d\n" % i
                                for i in range(first, min(first + 10_000, end))))


def write_repeated_lines(path, lines):
    different = lines // 2
    with open(path, "wb") as file:
        for first in range(0, 2 * different, 10_000):
            file.write(b"".join(b"14/Nov 10.0.7.1 GET /item/%08d 200 512\n" % (i * 7_368_787 % different)
                                for i in range(first, min(first + 10_000, 2 * different))))


def run(command):
    """Seconds, seconds of processors and peak bytes of a command whose output nobody reads."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench_tool: status {process.returncode} from {' '.join(command)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def summary(results):
    return {"seconds": statistics.median(wall for wall, _, _ in results),
            "cpu_seconds": statistics.median(cpu for _, cpu, _ in results),
            "peak_bytes": max(peak for _, _, peak in results)}


def dedup(tool, folder, lines):
    text = os.path.join(folder, "repeated")
    write_repeated_lines(text, lines)
    commands = {}
    for threads in ("1", "2"):
        end = ["--threads", threads, text]
        commands[f"dedup, {threads} threads"] = [tool, "dedup", "-q"] + end
        commands[f"dedup --keys, {threads} threads"] = (
            [tool, "dedup", "-q", "--keys", str(lines // 2)] + end)
    taken = {name: [run(command) for _ in range(REPETITIONS)] for name, command in commands.items()}
    taken["awk"] = [run(["awk", "!seen[$0]++", text])]
    json.dump({"lines": lines, "bytes": os.path.getsize(text),
               "commands": {name: summary(results) for name, results in taken.items()}},
              sys.stdout, indent=2)
    os.remove(text)


def main(tool, folder, lines):
    text, bloom = os.path.join(folder, "lines"), os.path.join(folder, "lines.bloom")
    write_lines(text, lines)
    commands = {"wc -l": ["wc", "-l", text]}
    for threads in ("1", "2"):
        end = ["--threads", threads, text]
        build = [tool, "build", "-q", "-o", bloom]
        suffix = f", {threads} thread{'s' if threads != '1' else ''}"
        commands["build" + suffix] = build + end
        commands["build --keys" + suffix] = build + ["--keys", str(lines)] + end
        commands["check" + suffix] = [tool, "check", bloom] + end
        commands["check -c" + suffix] = [tool, "check", "-c", bloom] + end
    taken = {name: [] for name in commands}
    for repetition in range(REPETITIONS + 1):
        for name, command in commands.items():
            result = run(command)
            if repetition > 0:  # the first is to warm up
                taken[name].append(result)
    json.dump({
        "lines": lines,
        "bytes": os.path.getsize(text),
        "filter_bytes": os.path.getsize(bloom),
        "repetitions": REPETITIONS,
        "commands": {name: summary(results) for name, results in taken.items()},
    }, sys.stdout, indent=2)


if __name__ == "__main__":
    what, arguments = (dedup, sys.argv[2:]) if sys.argv[1:2] == ["--dedup"] else (main, sys.argv[1:])
    if len(arguments) != 3:
        sys.exit(__doc__)
    what(arguments[0], arguments[1], int(arguments[2]))
