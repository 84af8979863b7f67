#!/usr/bin/python3
"""A second reader of maps of strings, written from docs/format.md: it gives what bloomery map get
gives.
"""

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import xxhash

TOOL = os.environ["BLOOMERY"]
READER = Path(__file__).resolve().parent / "reader.py"


def run(*words, text=""):
    return subprocess.run([str(w) for w in words], input=text.encode(), stdout=subprocess.PIPE).stdout.decode()


def checksum(data):
    return struct.pack("<Q", xxhash.xxh3_64_intdigest(data))


def read(path):
    """The image of the filter, and the strings."""
    data = path.read_bytes()
    assert data[:8] == b"BLOOMERY" and struct.unpack_from("<HHI", data, 8) == (1, 4, 0)
    image, strings, size, length, zero = struct.unpack_from("<5Q", data, 16)
    assert length == len(data) and zero == 0 and data[56:64] == checksum(data[:56])
    table = data[64 + image:]
    assert len(table) == 8 * strings + (size + 7) // 8 * 8 + 8 and table[-8:] == checksum(table[:-8])
    ends = (0, *struct.unpack_from(f"<{strings}Q", table))
    assert ends[-1] == size
    texts = table[8 * strings:8 * strings + size]
    return data[64:64 + image], [texts[ends[i]:ends[i + 1]].decode() for i in range(strings)]


with tempfile.TemporaryDirectory(prefix="bloomery-") as folder:
    pairs = {f"city {i}": f"country {i * i % 23}" for i in range(3000)}
    source, made, inner = (Path(folder) / name for name in ("pairs", "made", "inner"))
    source.write_text("".join(f"{k}\t{v}\n" for k, v in pairs.items()))
    run(TOOL, "map", "build", "-q", "-o", made, source)
    image, strings = read(made)
    assert strings == sorted(set(pairs.values())), strings
    inner.write_bytes(image)
    # The keys, and 1,000 others, some of which have a string by chance.
    asked = "".join(f"{k}\n" for k in [*pairs, *(f"town {i}" for i in range(1000))])
    numbered = [line.rsplit("\t", 1) for line in run(sys.executable, READER, "--value", inner, text=asked).splitlines()]
    mine = "".join(f"{key}\t{strings[int(number)]}\n" for key, number in numbered)
    assert mine == run(TOOL, "map", "get", made, text=asked)
    assert mine.startswith(source.read_text())
    # What set adds stands at the end.
    run(TOOL, "map", "set", "-q", made, text="city 7\tAtlantis\n")
    image, strings = read(made)
    assert strings == sorted(set(pairs.values())) + ["Atlantis"]
    print("the same strings from both readers")
