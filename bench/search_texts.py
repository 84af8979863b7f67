#!/usr/bin/python3
"""Writes 100,000 text files for search_bench, cut from the documentation, manual pages and headers
of this machine.

Usage: search_texts.py FOLDER [NUMBER]
A file has 1 to 400 whole lines, with a median of 20. The same machine gives the same files.
"""

import gzip
import random
import sys
from pathlib import Path


def lines():
    for root in ("/usr/share/doc", "/usr/share/man", "/usr/include"):
        for path in sorted(p for p in Path(root).rglob("*") if p.is_file() and not p.is_symlink()):
            try:
                with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
                    text = file.read()
            except OSError:
                continue
            if b"\0" not in text:
                yield from text.splitlines(keepends=True)


def main():
    folder, number = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    random.seed(1)
    source = lines()
    for i in range(number):
        length = min(400, int(random.lognormvariate(3, 1)) + 1)
        piece = [line for line, _ in zip(source, range(length))]
        if not piece:  # the machine has less text than this
            source = lines()
        path = folder / f"{i // 1000:03}" / f"{i:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(piece))


main()
