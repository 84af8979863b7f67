#!/usr/bin/python3
"""A second reader of Bloomery filter files, written from docs/format.md alone.

It shares no code with the library, so that the two agree only where the page says enough. Hashes,
the header and the checksums are here; kinds.py has what is inside of the payloads.

    reader.py FILE < keys             prints the lines that FILE may contain
    reader.py --count FILE < keys     prints every line, a tab and its count
    reader.py --value FILE < keys     prints the lines that have a value, a tab and the value
    reader.py --top FILE              prints the listed keys, a tab and their counts
    reader.py --info FILE             prints what FILE is, as JSON

With --key-file K for a siphash filter, as in the tool.
"""

import argparse
import ctypes
import ctypes.util
import functools
import hashlib
import json
import math
import mmap
import os
import struct
import sys

import xxhash

import kinds
from kinds import FormatError, MASK64, POSITIONS, mix, require

HEADER_BYTES = 256
CHUNK_BYTES = 1_048_576

HASHES = {0: "none", 1: "xxh3", 2: "siphash", 3: "sha1", 4: "md5", 5: "sha1-folded",
          6: "xxh3-secret", 7: "murmur"}
RULES = {0: "plain", 1: "password", 2: "near password", 3: "password digest", 4: "word", 5: "block list"}
FORMS = {0: "unknown", 1: "text", 2: "integers", 3: "binary", 4: "k-mers"}
SCHEMES = {1: "multiply", 2: "modulo"}

HEADER = struct.Struct("<8s3HBB2HIQIIQQQQdQQQQQI4H116sQ")
HEADER_FIELDS = (
    "magic", "version", "header bytes", "kind", "hash", "rule", "scheme", "cell bits", "probes", "bits",
    "block bits", "chunk bytes", "seed", "key id", "keys", "planned keys", "target", "payload offset", "payload bytes",
    "checksums offset", "file bytes", "checksum of the checksums", "variant", "shard", "last shard", "form of the keys",
    "bases", "reserved", "checksum of the header")

# By number: the name, what `bits` is a multiple of, and the probes, cell bits and variants that a
# kind may have. What depends on other fields is in check_shape.
NONE = (0,)
COUNTERS = (8, 16, 32, 64)
# Bits 0 to 7 the factor, 8 to 15 the spread, 16 whether it is steep.
LAYERED = frozenset(steep << 16 | spread << 8 | factor
                    for steep in (0, 1) for spread in range(1, 256) for factor in range(2, 17))
KINDS = {
    1: ("classic", 1, range(1, 65), NONE, NONE),
    2: ("partitioned", 1, range(1, 65), NONE, NONE),
    3: ("blocked", 512, range(1, 17), NONE, NONE),
    4: ("counting", 64, range(1, 65), (2, 4, 8, 16), NONE),
    5: ("scalable", 512, (1,), (12, 16, 21, 32), range(64)),
    6: ("windowed", 512, range(1, 17), range(1, 17), range(1, 64)),
    7: ("cuckoo", 64, (2,), range(4, 33), NONE),
    8: ("fuse", 64, (3, 4), (8, 16, 32), NONE),
    9: ("ribbon", 64, (1,), range(1, 33), NONE),
    10: ("bloomier", 64, (3, 4), range(1, 97), range(1, 65)),
    11: ("count-min", 64, range(1, 65), COUNTERS, range(6)),
    12: ("spectral", 64, range(1, 65), COUNTERS, (0, 1, 2)),
    13: ("top-k", 64, range(1, 65), (32,), range(1, 2**20 + 1)),
    14: ("layered", 512, range(1, 17), NONE, LAYERED),
    15: ("split-block", 256, (8,), NONE, NONE)}


# Hashes

def mix64(key, seed):
    return mix(key, kinds.splitmix64(seed))


@functools.lru_cache(maxsize=1)
def xxh3_secret_hash(seed):
    """A function of keys. The Python package knows seeds only, so the library of the same name is
    called.
    """
    secret = struct.pack("<24Q", *(kinds.splitmix64(seed + i * 0x9E3779B97F4A7C15 & MASK64) for i in range(24)))
    function = ctypes.CDLL(ctypes.util.find_library("xxhash")).XXH3_64bits_withSecret
    function.restype = ctypes.c_uint64
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    return lambda data: function(data, len(data), secret, len(secret))


def murmur64a(data, seed):
    multiplier = 0xc6a4a7935bd1e995
    h = seed ^ len(data) * multiplier & MASK64
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        k = int.from_bytes(data[at:at + 8], "little") * multiplier & MASK64
        h = (h ^ (k ^ k >> 47) * multiplier & MASK64) * multiplier & MASK64
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * multiplier & MASK64
    h = (h ^ h >> 47) * multiplier & MASK64
    return h ^ h >> 47


def murmur_words(data, probes, positions):
    a = murmur64a(data, 0xc6a4a7935bd1e995)
    b = murmur64a(data, a)
    return [(a + j * b & MASK64) % positions for j in range(probes)]


def siphash24(data, secret):
    k0, k1 = struct.unpack("<QQ", secret)
    v0, v1, v2, v3 = (k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
                      k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573)

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = v0 + v1 & MASK64
            v1 = (v1 << 13 & MASK64 | v1 >> 51) ^ v0
            v0 = v0 << 32 & MASK64 | v0 >> 32
            v2 = v2 + v3 & MASK64
            v3 = (v3 << 16 & MASK64 | v3 >> 48) ^ v2
            v0 = v0 + v3 & MASK64
            v3 = (v3 << 21 & MASK64 | v3 >> 43) ^ v0
            v2 = v2 + v1 & MASK64
            v1 = (v1 << 17 & MASK64 | v1 >> 47) ^ v2
            v2 = v2 << 32 & MASK64 | v2 >> 32

    # The last word is what remains of the data, zeros, and the length in its top byte.
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def siphash_key_id(secret):
    digest = hashlib.blake2b(b"bloomery siphash id" + secret, digest_size=32).digest()
    return int.from_bytes(digest[:8], "little")


def sha1_words(data, probes):
    for j in range(1, probes + 1):
        yield int.from_bytes(hashlib.sha1(b"%d" % j + data).digest()[:4], "big")


def folded_sha1_words(data, probes):
    for j in range(1, probes + 1):
        a, b, c, d, e = struct.unpack(">5I", hashlib.sha1(b"%d" % j + data).digest())
        yield a ^ b ^ c ^ d ^ e


def md5_words(data, probes):
    return struct.unpack(">4I", hashlib.md5(data).digest())[:probes]


# Files

def check_shape(f, limits):
    """Kind, probes, bits, block bits, cell bits and variant against the table of kinds."""
    kind, unit, probes, cell_bits, variants = limits
    require(f["variant"] in variants, "variant", f"{f['variant']} does not go with kind {kind}")
    require(f["cell bits"] in cell_bits, "cell bits", f"{f['cell bits']} does not go with kind {kind}")
    if kind == "bloomier":
        require(0 <= f["cell bits"] - f["variant"] <= 32, "cell bits", f"{f['cell bits']} does not go with the values")

    in_lines = kind in ("blocked", "scalable", "layered", "windowed") or kind == "counting" and f["block bits"] != 0
    if kind == "cuckoo":
        lawful = (f["cell bits"] * cells for cells in range(1, 256))
    else:
        lawful = (512 if in_lines else 256 if kind == "split-block" else 0,)
    require(f["block bits"] in lawful, "block bits", f"{f['block bits']} does not go with kind {kind}")

    if in_lines:
        unit, probes = 512, (1,) if kind == "scalable" else range(1, 17)
    require(f["probes"] in probes, "probes", f"{f['probes']} does not go with kind {kind}")
    require(1 <= f["bits"] <= 2**48, "bits", f"{f['bits']} is not in 1 to 2^48")
    divisor = f["probes"] if kind == "partitioned" else unit
    require(f["shard"] <= f["last shard"], "shard", f"{f['shard']} is past the last, {f['last shard']}")
    require(f["last shard"] == 0 or kind in ("blocked", "split-block"), "last shard", f"a {kind} filter has no shards")
    require(f["bits"] * (f["last shard"] + 1) <= 2**48, "bits", f"{f['bits']} in all shards are more than 2^48")
    require(f["bits"] % divisor == 0, "bits", f"{f['bits']} is not a multiple of {divisor}")


def parse_header(data):
    """The fields of the header by name, each checked; data is its 256 bytes."""
    f = dict(zip(HEADER_FIELDS, HEADER.unpack(data)))
    require(f["magic"] == b"BLOOMERY", "magic", "not a Bloomery file")
    require(f["version"] == 1, "version", f"{f['version']} is not known, only 1 is")
    require(f["checksum of the header"] == xxhash.xxh3_64_intdigest(data[:248]),
            "checksum of the header", "does not match")

    for field, names in (("kind", KINDS), ("hash", HASHES), ("rule", RULES), ("scheme", SCHEMES),
                         ("form of the keys", FORMS)):
        require(f[field] in names, field, f"{f[field]} is not known")
    limits = KINDS[f["kind"]]
    f["kind"], f["hash"], f["scheme"] = limits[0], HASHES[f["hash"]], SCHEMES[f["scheme"]]
    hash_name = f["hash"]

    digest_words = hash_name in ("sha1", "md5", "sha1-folded", "murmur")
    require((f["scheme"] == "modulo") == digest_words, "scheme", f"{f['scheme']} does not go with hash {hash_name}")
    require(f["kind"] == "classic" or not digest_words, "scheme", f"modulo does not go with kind {f['kind']}")
    check_shape(f, limits)
    require(hash_name != "md5" or f["probes"] <= 4, "probes", f"{f['probes']} is more than md5 has")
    require(f["bits"] <= 2**32 or not digest_words, "bits", f"{f['bits']} is more than words of 32 bits reach")

    # A program that hashed by rules of its own may have used a seed; the other hashes say that they
    # do not.
    require(hash_name != "murmur" or 1 <= f["seed"] <= 2**32, "seed", "is no number of positions")
    require(f["seed"] == 0 or hash_name in ("xxh3", "xxh3-secret", "murmur", "none"), "seed", f"is not 0 with hash {hash_name}")
    require(f["rule"] == 0 or hash_name in ("xxh3", "xxh3-secret", "siphash"), "rule", f"is not 0 with hash {hash_name}")
    f["form of the keys"] = form = FORMS[f["form of the keys"]]
    require(f["bases"] in (range(1, 1025) if form == "k-mers" else (0,)), "bases", f"{f['bases']} with form {form}")
    require(form == "unknown" or f["rule"] == 0, "form of the keys", "is known where the rule says what keys are")
    require(f["key id"] == 0 or hash_name == "siphash", "key id", f"is not 0 with hash {hash_name}")
    lawful_target = 0 <= f["target"] < 1 and math.copysign(1, f["target"]) > 0
    require(lawful_target, "target", f"{f['target']} is not in [0, 1)")
    require(not any(f["reserved"]), "reserved", "is not zeros")

    payload_bytes = (f["bits"] + 63) // 64 * 8
    chunks = -(-payload_bytes // CHUNK_BYTES)
    for field, value in (("header bytes", HEADER_BYTES), ("chunk bytes", CHUNK_BYTES),
                         ("payload offset", HEADER_BYTES), ("payload bytes", payload_bytes),
                         ("checksums offset", HEADER_BYTES + payload_bytes),
                         ("file bytes", HEADER_BYTES + payload_bytes + 8 * chunks)):
        require(f[field] == value, field, f"is {f[field]}, must be {value}")
    return f


class Filter:
    """A mapped file. secret is the 16-byte key of siphash; without it such a file opens but answers
    nothing.
    """

    def __init__(self, path, secret=None):
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            require(size >= HEADER_BYTES, "file", f"{size} bytes are too few for a header")
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._open(size, secret)
        except BaseException:
            self.close()
            raise

    def _open(self, size, secret):
        self.fields = parse_header(self._data[:HEADER_BYTES])
        self.kind = self.fields["kind"]
        self.hash = self.fields["hash"]
        self.seed = self.fields["seed"]
        self.keys = self.fields["keys"]
        self.shape = (self.fields["probes"], self.fields["bits"])
        require(size == self.fields["file bytes"], "file bytes", f"is {self.fields['file bytes']}, the file has {size}")

        payload_bytes = self.fields["payload bytes"]
        last_word = int.from_bytes(self._data[HEADER_BYTES + payload_bytes - 8:HEADER_BYTES + payload_bytes], "little")
        used_bits = self.fields["bits"] - (payload_bytes - 8) * 8
        require(last_word >> used_bits == 0, "payload", "has bits past its end")
        if payload_bytes <= CHUNK_BYTES:
            self.verify()
        self.payload = kinds.PAYLOADS[self.kind](self.fields, self.read)

        if secret is not None and self.hash == "siphash" and siphash_key_id(secret) != self.fields["key id"]:
            raise ValueError("key id: the file was made with another secret key")
        self._secret = secret

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._data.close()

    def read(self, first, count):
        """Bytes of the payload."""
        return self._data[HEADER_BYTES + first:HEADER_BYTES + first + count]

    def verify(self):
        """Checks every checksum of the payload; that of the header was checked on opening."""
        start = self.fields["checksums offset"]
        checksums = self._data[start:]
        require(xxhash.xxh3_64_intdigest(checksums) == self.fields["checksum of the checksums"],
                "checksum of the checksums", "does not match")
        for index, (checksum,) in enumerate(struct.iter_unpack("<Q", checksums)):
            begin = HEADER_BYTES + index * CHUNK_BYTES
            chunk = self._data[begin:min(begin + CHUNK_BYTES, start)]
            require(xxhash.xxh3_64_intdigest(chunk) == checksum, "payload", f"checksum of chunk {index} is wrong")

    def hash_of(self, key):
        """The 64-bit hash of a key, a string of bytes or an integer of at most 64 bits; the words
        of a digest.
        """
        integer = isinstance(key, int)
        if integer and not -2**63 <= key < 2**64:
            raise ValueError(f"{key} is not a 64-bit integer")
        form = self.fields["form of the keys"]
        if form != "unknown" and integer != (form == "integers"):
            raise ValueError(f"form of the keys: {form}, not those of {key}")
        data = (key & MASK64).to_bytes(8, "little") if integer else key
        if self.hash == "sha1-folded":
            return folded_sha1_words(data, self.shape[0])
        if self.hash == "sha1":
            return sha1_words(data, self.shape[0])
        if self.hash == "murmur":
            return murmur_words(data, self.shape[0], self.seed)
        if self.hash == "md5":
            return md5_words(data, self.shape[0])
        if self.hash == "siphash":
            if self._secret is None:
                raise ValueError("hash: siphash needs its secret key")
            return siphash24(data, self._secret)
        if self.hash == "xxh3-secret":
            return xxh3_secret_hash(self.seed)(data)
        if self.hash == "xxh3":
            return mix64(key & MASK64, self.seed) if integer else xxhash.xxh3_64_intdigest(data, self.seed)
        raise ValueError("hash: only the program that wrote the file knows it")

    def positions(self, key):
        """The positions of a key in a filter of bits; None of a key of another shard."""
        probes, bits = self.shape
        hashed = self.hash_of(key)
        if isinstance(hashed, int):
            shards, shard = self.fields["last shard"] + 1, self.fields["shard"]
            if hashed * shards >> 64 != shard:
                return None
            positions = POSITIONS[self.kind](hashed, probes, bits * shards)
            return (position - bits * shard for position in positions)
        return (word % bits for word in hashed)

    def contains(self, key):
        if self.kind in POSITIONS:
            positions = self.positions(key)
            return positions is not None and all(map(self.payload.bit, positions))
        return self.payload.contains(self.hash_of(key))

    def _asked(self, verb):
        if not hasattr(self.payload, verb):
            raise ValueError(f"kind: a {self.kind} filter has no {verb}")
        return getattr(self.payload, verb)

    def count(self, key):
        return self._asked("count")(self.hash_of(key))

    def value(self, key):
        """None for a key that the map does not have."""
        return self._asked("value")(self.hash_of(key))

    def top(self):
        """The listed keys and their counts, the largest first."""
        return self._asked("top")()


def answers(bloom, options):
    """The lines that are printed."""
    if options.top:
        return [b"%b\t%d" % listed for listed in bloom.top()]
    # Not splitlines, which also splits at carriage returns.
    keys = [line for line in sys.stdin.buffer.read().split(b"\n") if line]
    if options.count:
        return [b"%b\t%d" % (key, bloom.count(key)) for key in keys]
    if options.value:
        values = ((key, bloom.value(key)) for key in keys)
        return [b"%b\t%d" % (key, value) for key, value in values if value is not None]
    return [key for key in keys if bloom.contains(key)]


def main():
    parser = argparse.ArgumentParser(description="Reads Bloomery filter files.")
    parser.add_argument("file")
    verbs = parser.add_mutually_exclusive_group()
    verbs.add_argument("--info", action="store_true", help="print the header as JSON instead of checking keys")
    verbs.add_argument("--count", action="store_true", help="print how often each key was added")
    verbs.add_argument("--value", action="store_true", help="print the values of a map")
    verbs.add_argument("--top", action="store_true", help="print the most frequent keys")
    parser.add_argument("--key-file", help="32 hexadecimal digits: the secret key of a siphash filter")
    options = parser.parse_args()
    try:
        secret = None
        if options.key_file:
            with open(options.key_file, encoding="ascii") as file:
                secret = bytes.fromhex(file.read())
        with Filter(options.file, secret) as bloom:
            if options.info:
                shown = {k.replace(" ", "_"): v for k, v in bloom.fields.items() if not isinstance(v, bytes)}
                print(json.dumps(shown, indent=2))
                return 0
            sys.stdout.buffer.writelines(line + b"\n" for line in answers(bloom, options))
    except (FormatError, ValueError, OSError) as error:
        print(f"reader.py: {options.file}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
