#!/usr/bin/python3
"""A second reader of text indexes, written from docs/format.md: it finds what bloomery search
finds.
"""

import os
import struct
import subprocess
import tempfile

import xxhash

TOOL = os.environ["BLOOMERY"]
C = 0xD1342543DE82EF95


def run(*words):
    return subprocess.run([TOOL, *words], check=True, stdout=subprocess.PIPE).stdout.decode()


class Index:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = b = file.read()
        assert b[:8] == b"BLOOMERY" and struct.unpack_from("<HH", b, 8) == (1, 3)
        self.probes, self.terms, self.unit, self.k = struct.unpack_from("<IHHI", b, 12)
        (self.seed, self.target, self.words, documents, files, groups, names, bits, size) = \
            struct.unpack_from("<QdQQQQQQQ", b, 24)
        assert size == len(b) and b[96:120] == bytes(24)
        assert struct.unpack_from("<Q", b, 120)[0] == xxhash.xxh3_64_intdigest(b[:120])
        assert struct.unpack_from("<Q", b, size - 8)[0] == xxhash.xxh3_64_intdigest(b[:-8])
        at = 128
        self.groups = [struct.unpack_from("<QQQ", b, at + 24 * i) for i in range(groups)]
        at += 24 * groups
        self.documents = [struct.unpack_from("<II", b, at + 8 * i) for i in range(documents)]
        at += 8 * documents
        self.members = struct.unpack_from(f"<{documents}I", b, at)
        at += (4 * documents + 7) // 8 * 8
        ends = (0, *struct.unpack_from(f"<{files}Q", b, at))
        at += 8 * files
        self.paths = [b[at + ends[i]:at + ends[i + 1]].decode() for i in range(files)]
        assert ends[-1] == names
        self.bits = at + (names + 7) // 8 * 8
        assert self.bits + bits + 8 == size
        assert self.words == sum(words for _, _, words in self.groups)

    def find(self, words):
        found, at, first = [], self.bits, 0
        for rows, count, _ in self.groups:
            table = int.from_bytes(self.bytes[at:at + (rows * count + 63) // 64 * 8], "little")
            left = (1 << count) - 1
            for word in words:
                h = xxhash.xxh3_64_intdigest(word.encode(), self.seed)
                for _ in range(self.probes):
                    left &= table >> (h * rows >> 64) * count
                    h = h * C % 2**64
            found += [self.members[first + i] for i in range(count) if left >> i & 1]
            at += (rows * count + 63) // 64 * 8
            first += count
        return [self.paths[f] + (f":{line}" if self.unit else "")
                for f, line in (self.documents[d] for d in sorted(found)) if f != 2**32 - 1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/i"
        for options in ([], ["--fpr", "10%", "--probes", "1"], ["--paragraphs"]):
            run("index", "-q", "-o", path, *options, "/usr/share/common-licenses")
            run("index", "-q", "-o", path, "--add", "/usr/share/common-licenses/GPL-2", "/etc/os-release")
            index = Index(path)
            for words in (["warranty"], ["gnu", "1991"], ["the"], ["debian"], ["qqzz", "zzqq"]):
                asked = subprocess.run([TOOL, "search", path, *words], stdout=subprocess.PIPE)
                assert asked.stdout.decode().splitlines() == index.find(words), (options, words)


main()
