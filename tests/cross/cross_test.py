#!/usr/bin/python3
"""Holds the tool and the golden files against reader.py and writer.py, written from docs/format.md
alone.

The environment variable BLOOMERY is the path of the tool. Everything is derived from a fixed random
seed.
"""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import xxhash

sys.dont_write_bytecode = True  # the test leaves nothing behind in the source tree
import kinds
import reader
import writer

READER = Path(reader.__file__)
GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SECRET = bytes(range(16))

# A second transcription of the table in docs/format.md, so that one slip cannot hide in both.
OFFSETS = {
    "magic": (0, "8s"), "version": (8, "H"), "header bytes": (10, "H"), "kind": (12, "H"), "hash": (14, "B"),
    "rule": (15, "B"),
    "scheme": (16, "H"), "cell bits": (18, "H"), "probes": (20, "I"), "bits": (24, "Q"), "block bits": (32, "I"),
    "chunk bytes": (36, "I"), "seed": (40, "Q"), "key id": (48, "Q"), "keys": (56, "Q"), "planned keys": (64, "Q"),
    "target": (72, "d"), "payload offset": (80, "Q"), "payload bytes": (88, "Q"), "checksums offset": (96, "Q"),
    "file bytes": (104, "Q"), "checksum of the checksums": (112, "Q"), "variant": (120, "I"),
    "shard": (124, "H"), "last shard": (126, "H"), "form of the keys": (128, "H"), "bases": (130, "H"),
    "checksum of the header": (248, "Q")}
CLASSIC, PARTITIONED, BLOCKED = 1, 2, 3
NONE, XXH3, SIPHASH, SHA1, MD5 = range(5)
MULTIPLY, MODULO = 1, 2


def filter_file(payload=None, **changes):
    """The bytes of a filter file that obeys every rule, except for the changed fields (a_b stands
    for `a b`).
    """
    fields = {"magic": b"BLOOMERY", "version": 1, "header bytes": 256, "kind": CLASSIC, "hash": XXH3,
              "scheme": MULTIPLY, "probes": 3, "bits": 1000, "chunk bytes": 2**20, "seed": 0, "keys": 5,
              "planned keys": 100, "target": 0.01, "payload offset": 256}
    changes = {name.replace("_", " "): value for name, value in changes.items()}
    reserved = changes.pop("reserved", {})
    fields |= changes
    if fields["kind"] == BLOCKED:
        fields.setdefault("block bits", 512)
    size = (fields["bits"] + 63) // 64 * 8
    if payload is None:
        # Changed fields may ask for absurd sizes; the file then need not be that long to be
        # refused.
        payload = bytes(min(size, 2**20))
    checksums = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(payload[begin:begin + 2**20]))
                         for begin in range(0, len(payload), 2**20))
    fields.setdefault("payload bytes", size)
    fields.setdefault("checksums offset", 256 + size)
    fields.setdefault("file bytes", 256 + size + 8 * -(-size // 2**20))
    fields.setdefault("checksum of the checksums", xxhash.xxh3_64_intdigest(checksums))
    header = bytearray(256)
    for name, value in fields.items():
        offset, code = OFFSETS[name]
        struct.pack_into("<" + code, header, offset, value)
    for offset, value in reserved.items():
        header[offset] = value
    if "checksum of the header" not in fields:
        struct.pack_into("<Q", header, 248, xxhash.xxh3_64_intdigest(bytes(header[:248])))
    return bytes(header) + payload + checksums


def changed_golden(name, words=None, **changes):
    """A golden file with other words in its payload and other fields, and with checksums that fit
    again.
    """
    data = (GOLDEN / f"{name}.bloom").read_bytes()
    derived = ("payload bytes", "checksums offset", "file bytes", "checksum of the checksums", "checksum of the header")
    fields = {field.replace(" ", "_"): struct.unpack_from("<" + code, data, offset)[0]
              for field, (offset, code) in OFFSETS.items() if field not in derived}
    length = struct.unpack_from("<Q", data, OFFSETS["payload bytes"][0])[0]
    payload = bytearray(data[256:256 + length])
    for index, value in (words or {}).items():
        struct.pack_into("<Q", payload, 8 * (index % (length // 8)), value)
    return filter_file(payload=bytes(payload), **fields | changes)


def cut_golden(name, words):
    """A golden file with only so many words of its payload."""
    data = (GOLDEN / f"{name}.bloom").read_bytes()
    whole = changed_golden(name)
    assert whole == data, name
    fields = {field.replace(" ", "_"): struct.unpack_from("<" + code, data, offset)[0]
              for field, (offset, code) in OFFSETS.items() if offset < 80 or field in ("variant", "payload offset")}
    return filter_file(payload=data[256:256 + 8 * words], **fields | {"bits": 64 * words})


# (the field that the message names, the file)
UNLAWFUL = (
    ("magic", filter_file(magic=b"BLOOMERZ")),
    ("version", filter_file(version=0)),
    ("version", filter_file(version=2)),
    ("checksum of the header", filter_file(checksum_of_the_header=1)),
    ("header bytes", filter_file(header_bytes=255)),
    ("kind", filter_file(kind=0)),
    ("kind", filter_file(kind=999)),
    ("hash", filter_file(hash=8)),
    ("rule", filter_file(rule=6)),
    ("rule", filter_file(hash=NONE, rule=1)),
    ("rule", filter_file(hash=SHA1, scheme=MODULO, rule=1)),
    ("scheme", filter_file(scheme=0)),
    ("scheme", filter_file(scheme=3)),
    ("scheme", filter_file(scheme=MODULO)),
    ("scheme", filter_file(scheme=MODULO, hash=NONE)),
    ("scheme", filter_file(scheme=MODULO, hash=SIPHASH)),
    ("scheme", filter_file(hash=SHA1)),
    ("scheme", filter_file(hash=MD5)),
    ("scheme", filter_file(hash=SHA1, scheme=MODULO, kind=PARTITIONED, probes=2)),
    ("scheme", filter_file(hash=SHA1, scheme=MODULO, kind=BLOCKED, bits=512)),
    ("cell bits", filter_file(cell_bits=1)),
    ("cell bits", filter_file(kind=PARTITIONED, bits=999, cell_bits=8)),
    ("cell bits", filter_file(kind=BLOCKED, bits=512, cell_bits=8)),
    ("variant", filter_file(variant=1)),
    ("variant", filter_file(kind=PARTITIONED, bits=999, variant=1)),
    ("variant", filter_file(kind=BLOCKED, bits=512, variant=2**31)),
    ("probes", filter_file(probes=0)),
    ("probes", filter_file(probes=65)),
    ("probes", filter_file(kind=BLOCKED, bits=512, probes=0)),
    ("probes", filter_file(kind=BLOCKED, bits=512, probes=17)),
    ("probes", filter_file(kind=PARTITIONED, bits=1040, probes=0)),
    ("probes", filter_file(kind=PARTITIONED, bits=1040, probes=65)),
    ("probes", filter_file(hash=MD5, scheme=MODULO, probes=5)),
    ("bits", filter_file(bits=0)),
    ("bits", filter_file(bits=2**48 + 1)),
    ("bits", filter_file(bits=2**64 - 1, payload_bytes=0, checksums_offset=256, file_bytes=256)),
    ("bits", filter_file(hash=SHA1, scheme=MODULO, bits=2**32 + 1)),
    ("bits", filter_file(kind=BLOCKED, bits=1000)),
    ("bits", filter_file(kind=BLOCKED, bits=0)),
    ("bits", filter_file(kind=PARTITIONED, bits=1000, probes=3)),
    ("block bits", filter_file(block_bits=512)),
    ("block bits", filter_file(kind=PARTITIONED, bits=999, block_bits=512)),
    ("block bits", filter_file(kind=BLOCKED, bits=512, block_bits=0)),
    ("block bits", filter_file(kind=BLOCKED, bits=1024, block_bits=256)),
    ("chunk bytes", filter_file(chunk_bytes=2**19)),
    ("seed", filter_file(hash=SIPHASH, seed=1)),
    ("seed", filter_file(hash=SHA1, scheme=MODULO, seed=1)),
    ("seed", filter_file(hash=MD5, scheme=MODULO, seed=1)),
    ("key id", filter_file(key_id=1)),
    ("key id", filter_file(hash=SHA1, scheme=MODULO, key_id=1)),
    ("key id", filter_file(hash=MD5, scheme=MODULO, key_id=1)),
    ("target", filter_file(target=1.0)),
    ("target", filter_file(target=-0.25)),
    ("target", filter_file(target=-0.0)),
    ("target", filter_file(target=float("inf"))),
    ("target", filter_file(target=float("nan"))),
    ("payload offset", filter_file(payload_offset=320)),
    ("payload bytes", filter_file(payload_bytes=136)),
    ("payload bytes", filter_file(payload_bytes=120)),
    ("checksums offset", filter_file(checksums_offset=376)),
    ("file bytes", filter_file(file_bytes=400)),
    ("file bytes", filter_file(bits=2**48)),  # lawful, but the file is not that long
    ("shard", filter_file(shard=1)),
    ("last shard", filter_file(last_shard=1)),
    ("shard", changed_golden("blocked-shard-2", shard=3)),
    ("shard", changed_golden("blocked-shard-2", last_shard=1)),
    ("last shard", changed_golden("counting-lines", last_shard=1)),
    ("bits", filter_file(kind=BLOCKED, probes=1, block_bits=512, bits=2**48 - 512, last_shard=1)),
    ("form of the keys", filter_file(form_of_the_keys=5)),
    ("form of the keys", filter_file(form_of_the_keys=1, rule=4)),
    ("bases", filter_file(form_of_the_keys=4)),
    ("bases", filter_file(form_of_the_keys=4, bases=1025)),
    ("bases", filter_file(form_of_the_keys=1, bases=31)),
    ("reserved", filter_file(reserved={132: 1})),
    ("reserved", filter_file(reserved={247: 128})),
    ("payload", filter_file(payload=bytes(125) + b"\x01\0\0")),  # bit 1000 of 1000
    ("payload", filter_file(payload=bytes(127) + b"\x80")),
    ("payload", filter_file(bits=1, payload=b"\x02" + bytes(7))),
    ("checksum of the checksums", filter_file(checksum_of_the_checksums=1)),
)

# Fields of the kinds of cells and directories: golden files, one field changed.
UNLAWFUL_SHAPES = tuple((field, changed_golden(name, **{field.replace(" ", "_"): value})) for field, name, values in (
    ("probes", "counting-lines", (0, 17)),
    ("probes", "counting-classic", (0, 65)),
    ("cell bits", "counting-lines", (0, 1, 3, 32)),
    ("cell bits", "counting-classic", (0, 1, 3, 32)),
    ("block bits", "counting-lines", (64, 256, 1024)),
    ("bits", "counting-lines", (0, 512 * 16 - 64)),
    ("bits", "counting-classic", (0, 64 * 121 - 4)),
    ("variant", "counting-lines", (1,)),
    ("probes", "layered-reserved", (0, 17)),
    ("cell bits", "layered-reserved", (1, 16)),
    ("block bits", "layered-reserved", (0,)),
    ("bits", "layered-reserved", (64 * 9,)),
    ("variant", "layered-reserved", (0, 2, 0x101, 0x111, 0x10002, 0x20102, 2**31 + 0x102)),
    ("probes", "scalable-16", (0, 2, 16, 17)),
    ("cell bits", "scalable-16", (0, 1, 8, 13, 24, 33)),
    ("block bits", "scalable-16", (0, 16)),
    ("bits", "scalable-16", (64 * 9,)),
    ("variant", "scalable-16", (64, 255, 256, 2**18 + 4, 2**31 + 4)),
    ("probes", "windowed-count", (0, 17)),
    ("cell bits", "windowed-count", (0, 17)),
    ("block bits", "windowed-count", (0,)),
    ("variant", "windowed-count", (0, 64)),
    ("probes", "cuckoo-layers", (1, 3)),
    ("cell bits", "cuckoo-layers", (3, 33)),
    ("block bits", "cuckoo-layers", (0, 47, 12 * 256)),
    ("variant", "cuckoo-layers", (1,)),
    ("probes", "fuse-3", (0, 2, 5)),
    ("cell bits", "fuse-3", (4, 12, 64)),
    ("block bits", "fuse-3", (512,)),
    ("variant", "fuse-3", (1,)),
    ("bits", "fuse-3", (63,)),
    ("probes", "ribbon-7", (0, 2)),
    ("cell bits", "ribbon-7", (0, 33)),
    ("block bits", "ribbon-7", (512,)),
    ("variant", "ribbon-7", (1,)),
    ("probes", "bloomier-8", (2, 5)),
    ("cell bits", "bloomier-8", (0, 7, 41, 97)),
    ("block bits", "bloomier-8", (512,)),
    ("variant", "bloomier-8", (0, 65)),
    ("probes", "count-min-plain", (0, 65)),
    ("cell bits", "count-min-plain", (4, 24, 128)),
    ("block bits", "count-min-plain", (512,)),
    ("variant", "count-min-plain", (6, 7)),
    ("probes", "count-min-lines", (0, 17, 65)),
    ("probes", "spectral-recurring", (0, 65)),
    ("cell bits", "spectral-recurring", (4, 24, 128)),
    ("block bits", "spectral-recurring", (512,)),
    ("variant", "spectral-recurring", (3,)),
    ("probes", "top-k", (0, 65)),
    ("cell bits", "top-k", (0, 16, 64)),
    ("block bits", "top-k", (512,)),
    ("variant", "top-k", (0, 2**20 + 1)),
) for value in values)

# What stands in the payload: golden files, one word changed.
UNLAWFUL_PAYLOADS = tuple((field, changed_golden(name, {word: value})) for field, name, word, value in (
    ("layers", "layered-reserved", 0, 0),
    ("layers", "layered-reserved", 0, 33),
    ("layers", "layered-reserved", 0, 2**64 - 1),
    ("directory", "layered-reserved", 1, 1),
    ("directory", "layered-reserved", 7, 2**63),
    ("blocks", "layered-reserved", 8, 0),
    ("blocks", "layered-reserved", 8, 3),
    ("blocks", "layered-reserved", 8, 1),
    ("blocks", "layered-reserved", 8, 2**61),
    ("capacity", "layered-reserved", 9, 0),
    ("directory", "layered-reserved", 11, 1),
    ("directory", "layered-reserved", 31, 1),
    ("lines", "scalable-16", 0, 0),
    ("lines", "scalable-16", 0, 2**20),
    ("lines", "scalable-16", 0, 2**61),
    ("lines", "scalable-16", 0, 2**64 - 1),
    ("stash", "scalable-16", 0, 1),
    ("doublings", "scalable-16", 2, 64),
    ("doublings", "scalable-16", 2, 2**64 - 1),
    ("stash", "scalable-16", 3, 1),
    ("stash", "scalable-16", 3, 8),
    ("stash", "scalable-16", 3, 24),
    ("stash", "scalable-16", 3, 2**20),
    ("stash", "scalable-16", 3, 2**63),
    ("stash", "scalable-16", 3, 2**64 - 1),
    ("head", "scalable-16", 4, 1),
    ("head", "scalable-16", 7, 2**63),
    ("window", "windowed-count", 0, 3),
    ("clock", "windowed-count", 1, 2),
    ("clock", "windowed-count", 2, 1),
    ("quota", "windowed-count", 3, 0),
    ("current slot", "windowed-count", 4, 5),
    ("clock", "windowed-count", 5, 1),
    ("clock", "windowed-count", 6, 2),
    ("clock", "windowed-count", 7, 1),
    ("stored keys", "windowed-count", 9, 2**63),
    ("clock", "windowed-count", 10, 1),
    ("clock", "windowed-count", 11, 1),
    ("clock", "windowed-count", 28, 1),
    ("clock", "windowed-count", 31, 2**63),
    ("layers", "cuckoo-layers", 0, 0),
    ("layers", "cuckoo-layers", 0, 33),
    ("greatest number of layers", "cuckoo-layers", 1, 0),
    ("greatest number of layers", "cuckoo-layers", 1, 33),
    ("expansion", "cuckoo-layers", 2, 0),
    ("expansion", "cuckoo-layers", 2, 3),
    ("expansion", "cuckoo-layers", 2, 65536),
    ("preamble", "cuckoo-layers", 3, 1),
    ("preamble", "cuckoo-layers", 7, 1),
    ("preamble", "cuckoo-layers", 15, 1),
    ("used cells", "cuckoo-layers", 9, 0),
    ("buckets", "cuckoo-layers", 8, 0),
    ("buckets", "cuckoo-layers", 8, 41),
    ("buckets", "cuckoo-layers", 10, 42 * 3),
    ("buckets", "cuckoo-layers", 10, 42 * 2**32),
    ("buckets", "cuckoo-layers", 12, 42 * 8),
    ("buckets", "cuckoo-layers", 12, 42),
    ("buckets", "cuckoo-layers", 12, 0),
    ("used cells", "cuckoo-layers", 9, 4 * 42 + 1),
    ("shards", "fuse-3", -8, 0),
    ("shards", "fuse-3", -8, 2**24 + 1),
    ("shards", "fuse-3", -8, 2**64 - 1),
    ("different keys", "fuse-3", -7, 301),
    ("footer", "fuse-3", -6, 1),
    ("footer", "fuse-3", -1, 2**63),
    ("first word", "fuse-3", -12, 8),
    ("first word", "fuse-shards", -16, 8),
    ("segments", "fuse-3", -10, 2**31),
    ("cells of a segment", "fuse-3", -10, 0),
    ("cells of a segment", "fuse-3", -9, 0),
    ("cells of a segment", "fuse-3", -9, 2**31),
    ("shards", "fuse-3", -10, 2),
    ("shards", "fuse-3", -9, 1),
    ("cells of a segment", "fuse-empty", -9, 1),
    ("first word", "ribbon-7", -16, 8),
    ("slots", "ribbon-7", -11, 703),
    ("slots", "ribbon-7", -11, 128),
    ("slots", "ribbon-7", -11, 2**32),
    ("words of columns", "ribbon-7", -11, 768),
    ("words of columns", "ribbon-7", -10, 0),
    ("directory", "ribbon-7", -9, 1),
    ("footer", "ribbon-layers", -3, 1),
    ("different keys", "ribbon-layers", -7, 2**64 - 1),
    ("shards", "bloomier-8", -8, 2),
    ("shards", "bloomier-8", -9, 200),
    ("different keys", "bloomier-8", -7, 301),
    ("preamble", "count-min-plain", 1, 1),
    ("preamble", "count-min-plain", 7, 2**63),
    ("rest", "count-min-plain", -1, 2**63),
    ("preamble", "count-min-lines", 1, 1),
    ("preamble", "count-min-lines-conservative", 7, 2**63),
    ("width", "top-k", 0, 0),
    ("width", "top-k", 0, 2**63),
    ("width", "top-k", 0, 1000),
    ("bytes of keys", "top-k", 0, 41),
    ("decay", "top-k", 2, 0),
    ("decay", "top-k", 2, 4252017624),
    ("listed keys", "top-k", 4, 21),
    ("bytes of keys", "top-k", 4, 19),
    ("bytes of keys", "top-k", 5, 0),
    ("bytes of keys", "top-k", 5, 2**64 - 1),
    ("preamble", "top-k", 6, 1),
    ("preamble", "top-k", 7, 1),
    ("count", "top-k", 8 + 80 + 1, 0),
    ("list", "top-k", 8 + 80 + 1, 1),
    ("length", "top-k", 8 + 80 + 2, 65537),
    ("bytes of keys", "top-k", 8 + 80 + 3 * 19 + 2, 1),
    ("padding", "top-k", -1, 2**64 - 1),
)) + (
    ("bits", changed_golden("windowed-count", variant=5)),
    ("bits", cut_golden("windowed-count", 8)),
    ("bits", cut_golden("windowed-count", 8 * 2)),
    ("bits", cut_golden("windowed-count", 8 * 4)),
    ("bits", cut_golden("windowed-time", 8 * 14)),
    ("cell bits", changed_golden("windowed-count", cell_bits=6)),
    ("bits", cut_golden("count-min-plain", 8)),
    ("bits", cut_golden("count-min-plain", 9)),
    ("bits", cut_golden("count-min-lines", 8)),
    ("bits", cut_golden("count-min-lines", 65)),
    ("bits", cut_golden("spectral-recurring-32", 1)),
    ("layers", cut_golden("layered-reserved", 8)),
    ("layers", cut_golden("layered-reserved", 24)),
    ("blocks", cut_golden("layered-reserved", 40)),
    ("lines", cut_golden("scalable-16", 8)),
    ("lines", cut_golden("scalable-16", 16)),
    ("layers", cut_golden("cuckoo-layers", 15)),
    ("buckets", cut_golden("cuckoo-layers", 16)),
    ("shards", cut_golden("fuse-3", 11)),
    ("preamble", cut_golden("top-k", 8)),
    ("width", cut_golden("top-k", 87)),
    ("bytes of keys", cut_golden("top-k", 100)),
)

LAWFUL = (
    filter_file(),
    filter_file(bits=1, probes=64, keys=2**64 - 1, planned_keys=0, target=0.0, seed=2**64 - 1),
    filter_file(rule=5),
    *(filter_file(form_of_the_keys=form) for form in range(4)),
    filter_file(form_of_the_keys=4, bases=1), filter_file(form_of_the_keys=4, bases=1024),
    filter_file(bits=1, payload=b"\x01" + bytes(7)),
    filter_file(payload=b"\xff" * 125 + bytes(3)),
    filter_file(bits=64, payload=b"\xff" * 8),
    filter_file(kind=PARTITIONED, bits=64 * 3, probes=64),
    filter_file(kind=BLOCKED, bits=512, probes=16),
    filter_file(kind=BLOCKED, bits=1024, probes=1, hash=SIPHASH, key_id=2**64 - 1),
    filter_file(hash=NONE),
    filter_file(hash=SHA1, scheme=MODULO, probes=64),
    filter_file(hash=MD5, scheme=MODULO, probes=4),
)

# Cells may hold anything, and so may numbers that nothing follows from.
LAWFUL_PAYLOADS = tuple(changed_golden(name, {word: value}) for name, word, value in (
    ("counting-lines", 0, 2**64 - 1),
    ("counting-classic", -1, 2**64 - 1),
    ("layered-reserved", 9, 1),
    ("layered-reserved", 10, 2**64 - 1),
    ("layered-reserved", -1, 2**64 - 1),
    ("scalable-16", 1, 0),
    ("scalable-16", 1, 2**64 - 1),
    ("scalable-16", 2, 0),
    ("scalable-16", 2, 63),
    ("scalable-16", 8, 2**64 - 1),
    ("scalable-21", 8, 2**64 - 1),
    ("scalable-16", -1, 2**64 - 1),
    ("windowed-count", 0, 2**64 - 1),
    ("windowed-count", 0, 4),
    ("windowed-count", 1, 1),
    ("windowed-time", 2, 2**64 - 1),
    ("windowed-count", 3, 2**64 - 1),
    ("windowed-count", 4, 0),
    ("windowed-count", 12, 2**64 - 1),
    ("windowed-count", -1, 2**64 - 1),
    ("cuckoo-layers", 1, 1),
    ("cuckoo-layers", 2, 1),
    ("cuckoo-layers", 2, 32768),
    ("cuckoo-layers", -1, 2**64 - 1),
    ("fuse-3", 0, 2**64 - 1),
    ("fuse-3", -7, 0),
    ("fuse-3", -11, 2**64 - 1),
    ("ribbon-7", 0, 2**64 - 1),
    ("ribbon-layers", 492, 2**64 - 1),
    ("bloomier-8", 0, 2**64 - 1),
    ("count-min-plain", 0, 2**64 - 1),
    ("count-min-plain", 8, 2**64 - 1),
    ("count-min-lines", 0, 2**64 - 1),
    ("count-min-lines", -1, 2**64 - 1),
    ("spectral-recurring", -1, 2**64 - 1),
    ("top-k", 1, 2**64 - 1),
    ("top-k", 2, 1),
    ("top-k", 3, 0),
    ("top-k", 8, 2**64 - 1),
))


def make_keys(rng, count, without=frozenset()):
    """Different keys of 1 to 300 bytes: all bytes but the newline, which would end a line."""
    keys = {}
    while len(keys) < count:
        key = rng.randbytes(rng.randint(1, 300)).replace(b"\n", b"\r")
        if key not in without:
            keys[key] = None
    return list(keys)


def write_lines(path, keys):
    path.write_bytes(b"".join(key + b"\n" for key in keys))


class WithDirectory(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)

    def written(self, data):
        path = self.directory / "written.bloom"
        path.write_bytes(data)
        return path


class KnownAnswers(unittest.TestCase):
    """Values that were computed apart from the reader: published ones, and others with pencil or
    bc.
    """

    def test_splitmix64(self):
        for x, expected in ((0, 0xE220A8397B1DCDAF), (1, 0x910A2DEC89025CC1), (1234567, 6457827717110365317),
                            (2**64 - 1, 0xE4D971771B652C20)):
            self.assertEqual(kinds.splitmix64(x), expected)

    def test_mix64(self):
        for key, seed, expected in (
                (0, 0, 0x678A4A22B673CD48), (1, 0, 0x69E4230A4DDBC71C), (1, 7, 0xE9263DF5B48E3044),
                (2**64 - 1, 2**64 - 1, 0x466762E17CAB4A1A),
                (0x0123456789ABCDEF, 0xFEDCBA9876543210, 0xD7AEE8A9B478CF18)):
            self.assertEqual(reader.mix64(key, seed), expected)
        # The key that meets its seed multiplies 0.
        self.assertEqual(reader.mix64(0xE220A8397B1DCDAF, 0), 0)

    def test_siphash(self):
        # The reference vectors of SipHash-2-4: key 00 01 ... 0f, message 00 01 ... of each length.
        vectors = (
            0x726FDB47DD0E0E31, 0x74F839C593DC67FD, 0x0D6C8009D9A94F5A, 0x85676696D7FB7E2D, 0xCF2794E0277187B7,
            0x18765564CD99A68D, 0xCBC9466E58FEE3CE, 0xAB0200F58B01D137, 0x93F5F5799A932462, 0x9E0082DF0BA9E4B0,
            0x7A5DBBC594DDB9F3, 0xF4B32F46226BADA7, 0x751E8FBC860EE5FB, 0x14EA5627C0843D90, 0xF723CA908E7AF2EE,
            0xA129CA6149BE45E5, 0x3F2ACC7F57C29BDB)
        for length, expected in (*enumerate(vectors), (63, 0x958A324CEB064572)):
            self.assertEqual(reader.siphash24(bytes(range(length)), SECRET), expected, length)

    def test_key_id(self):
        # b2sum -l 256 of the 35 bytes starts with dc8a85e207b007bc.
        self.assertEqual(reader.siphash_key_id(SECRET), 0xBC07B007E2858ADC)

    def test_digest_words(self):
        self.assertEqual(reader.md5_words(b"abc", 4), (0x90015098, 0x3CD24FB0, 0xD6963F7D, 0x28E17F72))
        # The SHA-1 of "123", "223", ... and of "1023".
        words = list(reader.sha1_words(b"23", 10))
        self.assertEqual((words[0], words[1], words[9]), (0x40BD0015, 0xAF06318C, 0x138825ED))
        self.assertEqual(list(reader.folded_sha1_words(b"apples", 2)), [0x05227687, 0xBC448C12])

    def test_positions(self):
        # 1, c, c^2 and c^3 are 0, 0.817, 0.694 and 0.451 of 2^64; an odd multiple of 2^63 is always
        # one half.
        self.assertEqual(list(kinds.classic_positions(1, 4, 1000)), [0, 817, 694, 451])
        self.assertEqual(list(kinds.classic_positions(2**63, 3, 2**48)), [2**47] * 3)
        self.assertEqual(list(kinds.partitioned_positions(1, 4, 4000)), [0, 1817, 2694, 3451])

    def test_blocked_positions(self):
        self.assertEqual(list(kinds.blocked_positions(1, 2, 512)), [8, 32 + 8])
        self.assertEqual(list(kinds.blocked_positions(2**63, 3, 2048)), [1024, 1024 + 32, 1024 + 96])
        # r = 1 moves the single bit of the pattern to lane 15, where 0xb1750000 >> 27 is 22; r = 15
        # to lane 1.
        self.assertEqual(list(kinds.blocked_positions(0x10000, 1, 512)), [480 + 22])
        self.assertEqual(list(kinds.blocked_positions(0xC0000000000F0001, 1, 2048)), [1536 + 32 + 26])

    def test_split_block_positions(self):
        # The top five bits of the multipliers themselves.
        self.assertEqual(list(kinds.split_block_positions(1, 8, 256)),
                         [8, 32 + 8, 64 + 17, 96 + 20, 128 + 14, 160 + 5, 192 + 19, 224 + 11])
        # The block comes from the whole hash; x = 0 asks for the first bit of each lane.
        self.assertEqual(list(kinds.split_block_positions(2**63, 8, 1024)), [512 + 32 * lane for lane in range(8)])

    def test_patterns_have_as_many_bits_as_probes(self):
        self.assertEqual([pattern.bit_count() for pattern in kinds.BLOCK_PATTERNS], list(range(1, 17)))


class Files(WithDirectory):
    """What the reader takes and refuses, on files that the test writes itself."""

    def refused(self, path):
        try:
            reader.Filter(path).close()
        except reader.FormatError as error:
            return str(error)
        return None

    def test_lawful_files_are_taken(self):
        for data in LAWFUL + LAWFUL_PAYLOADS:
            with reader.Filter(self.written(data)) as bloom:
                bloom.verify()
                if bloom.hash == "xxh3":
                    form = bloom.fields["form of the keys"]
                    for key in (b"", b"key", 7):
                        if form == "unknown" or isinstance(key, int) == (form == "integers"):
                            bloom.contains(key)
                        else:
                            with self.assertRaisesRegex(ValueError, f"form of the keys: {form}"):
                                bloom.contains(key)

    def test_unlawful_files_are_refused_by_name(self):
        for number, (field, data) in enumerate(UNLAWFUL + UNLAWFUL_SHAPES + UNLAWFUL_PAYLOADS):
            with self.subTest(field=field, number=number):
                self.assertEqual(str(self.refused(self.written(data))).split(":")[0], field)

    def test_unlawful_lists(self):
        with reader.Filter(GOLDEN / "top-k.bloom") as bloom:
            first, listed = 8 + 2 * 40, bloom.payload.listed
        for words, text in (
                ({first + 3: listed[0][2]}, "list: has a hash twice"),
                # With one count for all their bytes decide, and those are in another order.
                ({first + 3 * i + 1: 9 for i in range(len(listed))}, "list: is out of order")):
            path = self.written(changed_golden("top-k", words))
            self.assertEqual(self.refused(path), text)

    def test_a_clock_moves_forwards_only(self):
        with reader.Filter(GOLDEN / "windowed-time.bloom") as bloom:
            ring, words = bloom.payload, json.loads((GOLDEN / "windowed-time.json").read_text(encoding="utf-8"))
            h = xxhash.xxh3_64_intdigest(words["present"][-1].encode())
            self.assertEqual(ring.remembered(), bloom.keys)
            self.assertTrue(ring.contains(h, 0))
            remembered = [ring.remembered(ring.now + later) for later in range(80)]
            self.assertEqual(remembered, sorted(remembered, reverse=True))
            self.assertEqual((remembered[0], remembered[-1]), (bloom.keys, 0))
            self.assertFalse(ring.contains(h, ring.now + 80))
        with reader.Filter(GOLDEN / "windowed-count.bloom") as bloom:
            self.assertEqual(bloom.payload.alive(2**40), bloom.payload.alive())

    def test_verbs_that_a_kind_lacks(self):
        with reader.Filter(GOLDEN / "fuse-3.bloom") as bloom:
            for ask in (lambda: bloom.count(b"key"), lambda: bloom.value(b"key"), bloom.top):
                with self.assertRaises(ValueError):
                    ask()
        self.assertIn("7", self.refused(self.written(filter_file(version=7))))

    def test_every_flipped_bit_is_refused(self):
        rng = random.Random(1)
        data = filter_file(kind=BLOCKED, bits=1024, probes=8, seed=7, payload=rng.randbytes(128))
        path = self.written(data)
        self.assertIsNone(self.refused(path))
        with open(path, "r+b", buffering=0) as file:
            for offset, byte in enumerate(data):
                for bit in range(8):
                    os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), offset)
                    self.assertIsNotNone(self.refused(path), f"byte {offset}, bit {bit}")
                os.pwrite(file.fileno(), bytes([byte]), offset)
        self.assertIsNone(self.refused(path))

    def test_every_other_length_is_refused(self):
        data = filter_file()
        for length in range(len(data)):
            self.assertIsNotNone(self.refused(self.written(data[:length])), length)
        self.assertIsNotNone(self.refused(self.written(data + b"\0")))

    def test_large_files_are_verified_on_demand(self):
        size = 2 * 2**20 + 8
        data = bytearray(filter_file(bits=8 * size, payload=bytes(size)))
        reader.Filter(self.written(data)).verify()
        for offset in (256, 256 + 2**20 - 1, 256 + 2**20, 256 + size - 1, 256 + size, len(data) - 1):
            data[offset] ^= 1
            with reader.Filter(self.written(data)) as bloom, self.assertRaises(reader.FormatError):
                bloom.verify()
            data[offset] ^= 1

    def test_hashes_that_cannot_be_computed(self):
        key_id = reader.siphash_key_id(SECRET)
        for data, secret in ((filter_file(hash=NONE), None), (filter_file(hash=SIPHASH, key_id=key_id), None),
                             (filter_file(hash=SIPHASH, key_id=key_id ^ 1), SECRET)):
            with self.assertRaises(ValueError):
                reader.Filter(self.written(data), secret).contains(b"key")

    def test_integers_are_extended_to_64_bits(self):
        # mix64 sends 1 to position 0x69e4 >> 6 = 423 of 1024, and 0 to 0x678a >> 6 = 414.
        path = self.written(filter_file(bits=1024, probes=1, payload=bytes(52) + b"\x80" + bytes(75)))
        with reader.Filter(path) as bloom:
            self.assertTrue(bloom.contains(1))
            self.assertFalse(bloom.contains(0))
            self.assertEqual(list(bloom.positions(-1)), list(bloom.positions(2**64 - 1)))
            for integer in (2**64, -2**63 - 1):
                with self.assertRaises(ValueError):
                    bloom.contains(integer)


FULL_COUNTERS = ("counting", "count-min", "spectral")  # kinds whose largest count means "at least"


class Tool(WithDirectory):
    """The tool builds, and both answer."""

    @classmethod
    def setUpClass(cls):
        cls.tool = os.path.abspath(os.environ["BLOOMERY"])
        rng = random.Random(20_231)
        cls.added = make_keys(rng, 2000)
        cls.others = make_keys(rng, 20_000, without=set(cls.added))

    def setUp(self):
        super().setUp()
        write_lines(self.directory / "added", self.added)
        write_lines(self.directory / "others", self.others)
        (self.directory / "key").write_text(SECRET.hex() + "\n", encoding="ascii")

    def run_tool(self, *arguments, statuses=(0,)):
        result = subprocess.run([self.tool, *map(str, arguments)], cwd=self.directory, capture_output=True)
        self.assertIn(result.returncode, statuses, (arguments, result.stderr))
        return result.stdout

    def build(self, *options):
        self.run_tool("build", "-o", "f.bloom", "--keys", len(self.added), *options, "added")
        return self.directory / "f.bloom"

    def assert_agrees(self, *options, secret=None, others=None):
        """Builds with the options; returns the other keys that both say are contained."""
        key_file = ("--key-file", "key") if secret else ()
        others = self.others if others is None else others
        with reader.Filter(self.build(*options, *key_file), secret) as bloom:
            bloom.verify()
            info = json.loads(self.run_tool("info", "--json", "f.bloom"))
            fields = bloom.fields
            # The tool counts the bits that are occupied, in whole words, and has null for no
            # target.
            self.assertEqual(
                {name: info[name] for name in ("kind", "keys", "bits", "bytes", "probes", "fpr_target", "hash", "seed",
                                               "format_version")},
                {"kind": bloom.kind, "keys": bloom.keys, "bits": 8 * fields["payload bytes"],
                 "bytes": fields["file bytes"], "probes": fields["probes"], "fpr_target": fields["target"] or None,
                 "hash": bloom.hash, "seed": bloom.seed, "format_version": fields["version"]})
            self.assertEqual(bloom.keys, len(self.added))
            self.assertEqual([key for key in self.added if not bloom.contains(key)], [])
            return self.assert_same_answers(bloom, others, *key_file)

    def assert_same_answers(self, bloom, others, *key_file):
        write_lines(self.directory / "asked", others)
        found = [key for key in others if bloom.contains(key)]
        printed = self.run_tool("check", *key_file, "f.bloom", "asked", statuses=(0, 1))
        self.assertEqual(printed.split(b"\n"), found + [b""])
        return found

    def test_every_kind(self):
        for kind in ("classic", "partitioned", "blocked", "split-block"):
            for fpr, seed in ((0.3, 0), (0.01, 7), (0.001, 2**64 - 1), (1e-6, 0x0123456789ABCDEF)):
                with self.subTest(kind=kind, fpr=fpr, seed=seed):
                    found = self.assert_agrees("--kind", kind, "--fpr", fpr, "--seed", seed)
                    # Agreement means little unless wrong positives occur, and about as often as
                    # asked for.
                    self.assertLess(len(found), 2 * fpr * len(self.others) + 3)
                    if fpr >= 0.01:
                        self.assertGreater(len(found), fpr * len(self.others) / 2)

    def test_every_number_of_probes(self):
        for kind, numbers in (("classic", (*range(1, 13), 64)), ("partitioned", (*range(1, 13), 64)),
                              ("blocked", range(1, 17))):
            for probes in numbers:
                with self.subTest(kind=kind, probes=probes):
                    self.assert_agrees("--kind", kind, "--probes", probes, "--bits-per-key", 10,
                                       others=self.others[:2000])

    def test_every_layout(self):
        for options in (
                "counting --layout line --cell-bits 2", "counting --layout line",
                "counting --layout line --cell-bits 8", "counting --layout line --cell-bits 16",
                "counting --layout classic", "counting --layout classic --probes 1",
                "scalable", "layered", "layered --growth 3", "layered --growth 16", "windowed", "windowed --generations 1",
                "windowed --generations 9", "windowed --generations 63", "cuckoo", "cuckoo --bucket 1", "cuckoo --bucket 3 --cell-bits 7",
                "cuckoo --bucket 255 --cell-bits 32", "fuse", "fuse --probes 4", "fuse --cell-bits 32", "ribbon",
                "ribbon --cell-bits 5", "ribbon --cell-bits 32", "count-min", "count-min --update conservative",
                "count-min --layout line", "count-min --layout line --update conservative --cell-bits 8",
                "spectral", "spectral --update increase", "spectral --update recurring"):
            for fpr, seed in ((0.1, 0), (0.004, 7)):
                if "cell-bits" in options and fpr < 0.01:
                    continue  # the number of bits decides
                with self.subTest(options=options, fpr=fpr):
                    self.assert_agrees("--kind", *options.split(), "--fpr", fpr, "--seed", seed,
                                       others=self.others[:3000])

    def test_growth(self):
        for kind in ("scalable", "scalable --fpr 0.1", "scalable --fpr 0.001", "scalable --fpr 0.0001", "layered",
                     "cuckoo"):
            with self.subTest(kind=kind):
                self.run_tool("build", "-o", "f.bloom", "--kind", *kind.split(), "--keys", 30, "added")
                with reader.Filter(self.directory / "f.bloom") as bloom:
                    if kind.startswith("scalable"):
                        self.assertGreater(bloom.payload.doublings, 1)
                    else:
                        self.assertGreater(len(bloom.payload.layers), 4)
                    self.assertTrue(all(map(bloom.contains, self.added)))
                    self.assert_same_answers(bloom, self.others)

    def test_many_keys(self):
        """A ribbon of several layers, and fuse filters with many segments."""
        keys = [b"%d" % i for i in range(40_000)]
        write_lines(self.directory / "many", keys)
        for kind in ("fuse", "ribbon"):
            with self.subTest(kind=kind):
                self.run_tool("build", "-o", "f.bloom", "--kind", kind, "many")
                with reader.Filter(self.directory / "f.bloom") as bloom:
                    self.assertEqual([key for key in keys[::7] if not bloom.contains(key)], [])
                    self.assert_same_answers(bloom, self.others[:2000])

    def test_counts(self):
        for name, most in (("often", 400), ("seldom", 30)):
            repeated = [key for i, key in enumerate(self.added[:400]) for _ in range(1 + most // (i + 1))]
            random.Random(3).shuffle(repeated)
            write_lines(self.directory / name, repeated)
        asked = self.added[:600] + self.others[:400]
        write_lines(self.directory / "asked", asked)
        for options in ("counting", "counting --layout classic --cell-bits 2", "cuckoo", "cuckoo --bucket 2",
                        "count-min --bytes 2K", "count-min --bytes 1K --update conservative",
                        "count-min --bytes 2K --hash pairwise --seed 18446744073709551615",
                        "count-min --bytes 1K --hash pairwise --update conservative",
                        "count-min --epsilon 0.01 --delta 0.1",
                        "count-min --bytes 2K --layout line --cell-bits 16",
                        "count-min --epsilon 0.02 --layout line --update conservative",
                        "spectral --bytes 2K --cell-bits 8", "spectral --bytes 1K --update increase",
                        "spectral --bytes 1K --update recurring", "top-k", "top-k --bytes 1K"):
            with self.subTest(options=options):
                planned = 20 if options.startswith("top-k") else 400
                # It takes so many copies, and no more.
                keys = "seldom" if options.startswith("cuckoo") else "often"
                self.run_tool("build", "-o", "f.bloom", "--kind", *options.split(), "--keys", planned, keys)
                printed = self.run_tool("count", "f.bloom", "asked")
                with reader.Filter(self.directory / "f.bloom") as bloom:
                    most = 2**bloom.fields["cell bits"] - 1 if options.split()[0] in FULL_COUNTERS else -1
                    said = ((key, bloom.count(key)) for key in asked)
                    self.assertEqual(printed, b"".join(b"%b\t%d%b\n" % (key, n, b"\tat least" if n == most else b"")
                                                       for key, n in said))

    def test_removal(self):
        for kind in ("counting", "cuckoo"):
            with self.subTest(kind=kind):
                self.build("--kind", kind)
                write_lines(self.directory / "gone", self.added[:1000])
                self.run_tool("remove", "f.bloom", "gone")
                with reader.Filter(self.directory / "f.bloom") as bloom:
                    self.assertEqual(bloom.keys, 1000)
                    self.assertTrue(all(map(bloom.contains, self.added[1000:])))
                    self.assert_same_answers(bloom, self.added[:1000])

    def test_maps(self):
        keys = [key.replace(b"\t", b" ") for key in self.added[:800]]
        for bits in (1, 9, 33, 64):
            with self.subTest(bits=bits):
                values = [random.Random(i).getrandbits(bits) for i in range(len(keys))]
                (self.directory / "pairs").write_bytes(b"".join(map(b"%b\t%d\n".__mod__, zip(keys, values))))
                self.run_tool("map", "build", "-o", "f.bloom", "--value-bits", bits, "--fpr", 0.2, "pairs")
                write_lines(self.directory / "asked", self.others[:2000])
                printed = self.run_tool("map", "get", "f.bloom", "asked")
                with reader.Filter(self.directory / "f.bloom") as bloom:
                    self.assertEqual([bloom.value(key) for key in keys], values)
                    found = ((key, bloom.value(key)) for key in self.others[:2000])
                    self.assertEqual(printed, b"".join(b"%b\t%d\n" % pair for pair in found if pair[1] is not None))

    def assert_written_again(self, keys, **more):
        with reader.Filter(self.directory / "f.bloom") as bloom:
            again = writer.words_again(bloom, keys, **more)
            self.assertTrue(again == bloom.read(0, bloom.fields["payload bytes"]), "other words")

    def test_second_writer(self):
        """The same keys in the same order make the same words."""
        keys = [key for i, key in enumerate(self.added[:600]) for _ in range(1 + 30 // (i + 1))]
        random.Random(5).shuffle(keys)
        write_lines(self.directory / "few", keys)
        for options, planned in (
                ("counting --layout line --cell-bits 2", 300), ("counting --layout line", 300),
                ("counting --layout classic --cell-bits 2", 300), ("scalable", 40), ("scalable --fpr 0.1", 40),
                ("scalable --fpr 0.001", 40), ("scalable --fpr 0.0001", 40), ("layered", 40), ("layered --growth 5", 7),
                ("windowed", 200), ("windowed --fpr 1e-6", 200), ("windowed --generations 1", 200), ("windowed --generations 63", 100),
                ("cuckoo", 600), ("cuckoo", 90), ("cuckoo --bucket 1", 300), ("cuckoo --bucket 3 --cell-bits 11", 200),
                ("fuse", 600), ("fuse --probes 4 --cell-bits 16", 600), ("fuse", 4 << 20), ("ribbon", 600),
                ("ribbon --fpr 1e-6", 3 << 20), ("count-min --bytes 2K", 600),
                ("count-min --bytes 1K --update conservative", 600),
                ("count-min --bytes 2K --layout line", 600),
                ("count-min --bytes 1K --layout line --update conservative --cell-bits 8", 600), ("spectral --bytes 1K --cell-bits 8", 600),
                ("spectral --bytes 2K --update increase", 600), ("spectral --bytes 2K --update recurring", 600),
                ("top-k --bytes 1K", 20), ("top-k", 5), ("top-k", 1000)):
            with self.subTest(options=options, planned=planned):
                self.run_tool("build", "-o", "f.bloom", "--kind", *options.split(), "--keys", planned, "few")
                self.assert_written_again(keys)

    def test_second_writer_of_many_keys(self):
        """More than one piece of 8192 cells, many segments, and layers that bump."""
        keys = [b"%d" % i for i in range(20_000)]
        write_lines(self.directory / "many", keys)
        for options in ("fuse", "fuse --probes 4", "ribbon --cell-bits 3"):
            with self.subTest(options=options):
                self.run_tool("build", "-o", "f.bloom", "--kind", *options.split(), "--fpr", 0.2, "many")
                self.assert_written_again(keys)

    def test_second_writer_removes(self):
        keys = self.added[:500] + self.added[:100]
        write_lines(self.directory / "few", keys)
        gone = self.added[50:300] + self.added[60:70] + self.others[:50]
        write_lines(self.directory / "gone", gone)
        for options in ("counting", "counting --layout classic --cell-bits 2", "cuckoo", "cuckoo --bucket 2"):
            for planned in (600, 60):
                with self.subTest(options=options, planned=planned):
                    self.run_tool("build", "-o", "f.bloom", "--kind", *options.split(), "--keys", planned, "few")
                    self.run_tool("remove", "f.bloom", "gone")
                    self.assert_written_again(keys, removed=gone)

    def test_second_writer_of_maps(self):
        keys = [b"%d" % i for i in range(900)]
        for bits in (1, 13, 64):
            values = [random.Random(i).getrandbits(bits) for i in range(len(keys))]
            (self.directory / "pairs").write_bytes(b"".join(map(b"%b\t%d\n".__mod__, zip(keys, values))))
            self.run_tool("map", "build", "-o", "f.bloom", "--value-bits", bits, "pairs")
            self.assert_written_again(keys, values=values)

    def test_top(self):
        repeated = [key for i, key in enumerate(self.added[:300]) for _ in range(1 + 300 // (i + 1))]
        random.Random(4).shuffle(repeated)
        write_lines(self.directory / "repeated", repeated)
        printed = self.run_tool("top", "-k", 25, "-o", "f.bloom", "repeated")
        shown = subprocess.run([sys.executable, READER, "--top", self.directory / "f.bloom"], stdout=subprocess.PIPE,
                               check=True).stdout
        self.assertEqual(printed, shown)

    def test_siphash(self):
        for kind in ("classic", "partitioned", "blocked", "split-block"):
            with self.subTest(kind=kind):
                self.assert_agrees("--kind", kind, "--fpr", 0.02, "--hash", "siphash", secret=SECRET,
                                   others=self.others[:3000])

    def test_xxh3_secret(self):
        for seed in (0, 2**64 - 1):
            with self.subTest(seed=seed):
                self.assert_agrees("--fpr", 0.02, "--hash", "xxh3-secret", "--seed", seed)

    def test_sha1(self):
        self.assert_agrees("--kind", "classic", "--hash", "sha1", "--fpr", 0.05)
        self.assert_agrees("--kind", "classic", "--hash", "sha1-folded", "--fpr", 0.05)

    def test_md5(self):
        for probes in range(1, 5):
            with self.subTest(probes=probes):
                self.assert_agrees("--kind", "classic", "--hash", "md5", "--probes", probes, "--fpr", 0.05)

    def test_several_chunks(self):
        self.run_tool("build", "-o", "f.bloom", "--keys", 2_000_000, "added")
        with reader.Filter(self.directory / "f.bloom") as bloom:
            self.assertGreater(bloom.fields["payload bytes"], 2**20)
            bloom.verify()
            self.assertTrue(all(map(bloom.contains, self.added)))

    def test_flipped_bytes_are_refused(self):
        write_lines(self.directory / "few", self.added[:20])
        self.run_tool("build", "-o", "f.bloom", "--keys", 20, "few")
        path = self.directory / "f.bloom"
        data = path.read_bytes()
        for offset, byte in enumerate(data):
            path.write_bytes(data[:offset] + bytes([byte ^ 0xFF]) + data[offset + 1:])
            with self.assertRaises(reader.FormatError, msg=f"byte {offset}"):
                reader.Filter(path)

    def test_tool_takes_and_refuses_the_same_files(self):
        for data in LAWFUL + LAWFUL_PAYLOADS:
            self.run_tool("info", self.written(data))
        for number, (field, data) in enumerate(UNLAWFUL + UNLAWFUL_SHAPES + UNLAWFUL_PAYLOADS):
            with self.subTest(field=field, number=number):
                self.run_tool("info", self.written(data), statuses=(2,))

    def test_forms_of_keys(self):
        numbers = "".join(f"{n}\n" for n in range(-200, 200)).encode()
        (self.directory / "numbers").write_bytes(numbers)
        self.run_tool("build", "-o", "f.bloom", "--integers", "numbers")
        with reader.Filter(self.directory / "f.bloom") as bloom:
            self.assertEqual([n for n in range(-200, 200) if not bloom.contains(n)], [])
            with self.assertRaisesRegex(ValueError, "form of the keys: integers"):
                bloom.contains(b"7")
        (self.directory / "dna").write_bytes(b">x\nACGTTGCA\n")
        for options, file, form, bases in ((("--hex",), "none", "binary", 0), (("--record-bytes", 4), "none", "binary", 0),
                                           (("--kmer", 4), "dna", "k-mers", 4), (("-0",), "none", "text", 0)):
            (self.directory / "none").write_bytes(b"")
            self.run_tool("build", "-o", "f.bloom", *options, file)
            with reader.Filter(self.directory / "f.bloom") as bloom:
                self.assertEqual((bloom.fields["form of the keys"], bloom.fields["bases"]), (form, bases))
            info = json.loads(self.run_tool("info", "--json", "f.bloom"))
            self.assertEqual((info["form"], info.get("kmer", 0)), (form, bases))

    def test_command_line_of_the_reader(self):
        path = self.build("--fpr", 0.05)
        # Empty lines are no keys; the last has no newline.
        lines = b"\n\n".join(self.added[:50] + self.others[:500])
        (self.directory / "asked").write_bytes(lines)
        printed = subprocess.run([sys.executable, READER, path], input=lines, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(printed, self.run_tool("check", "f.bloom", "asked"))
        shown = subprocess.run([sys.executable, READER, "--info", path], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(json.loads(shown)["keys"], len(self.added))


class Golden(unittest.TestCase):
    """Files that were written once and must be read for ever."""

    def test_golden_files(self):
        paths = sorted(GOLDEN.glob("*.bloom"))
        self.assertTrue(paths, f"no .bloom file in {GOLDEN}")
        for path in paths:
            with self.subTest(path=path.name):
                stated = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                secret = bytes.fromhex(stated["key_hex"]) if "key_hex" in stated else None
                as_key = int if stated.get("integers") else str.encode
                with reader.Filter(path, secret) as bloom:
                    bloom.verify()
                    self.assertTrue(stated["present"] + stated["absent"], "no answers are stated")
                    for name, expected in (("present", True), ("absent", False)):
                        wrong = [key for key in stated[name] if bloom.contains(as_key(key)) != expected]
                        self.assertEqual(wrong, [], name)
                    for name, ask in (("counts", bloom.count), ("values", bloom.value)):
                        numbers = stated.get(name, {})
                        self.assertEqual({key: ask(as_key(key)) for key in numbers}, numbers, name)
                    if "top" in stated:
                        self.assertEqual([[key.decode(), count] for key, count in bloom.top()], stated["top"])

    def test_golden_files_of_every_kind(self):
        kinds_seen = set()
        for path in GOLDEN.glob("*.bloom"):
            with reader.Filter(path) as bloom:
                kinds_seen.add(bloom.kind)
        self.assertEqual(kinds_seen, {limits[0] for limits in reader.KINDS.values()})


if __name__ == "__main__":
    unittest.main()
