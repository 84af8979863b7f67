#!/usr/bin/python3
"""The tool from end to end: building a filter of a large file and checking the file against it, beside wc -l.

Usage: bench_tool.py TOOL FOLDER LINES

Makes a file of LINES lines of 33 bytes in FOLDER, which leaves it in the page cache, and runs each command five
times in turn. Prints JSON: seconds (the median) and peak bytes of each command.
"""

import json
import os
import statistics
import subprocess
import sys
import time

REPETITIONS = 5


def write_lines(path, lines):
    with open(path, "wb") as file:
        for first in range(0, lines, 10_000):
            file.write(b"".join(b"https://www.example.org/%08d\n" % i
                                for i in range(first, min(first + 10_000, lines))))


def run(command):
    """Seconds and peak bytes of a command whose output nobody reads."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench_tool: status {process.returncode} from {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024


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
        commands["check" + suffix] = [tool, "check", "-q", bloom] + end
        commands["check -c" + suffix] = [tool, "check", "-q", "-c", bloom] + end
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
        "commands": {name: {"seconds": statistics.median(t for t, _ in results),
                            "peak_bytes": max(peak for _, peak in results)}
                     for name, results in taken.items()},
    }, sys.stdout, indent=2)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
