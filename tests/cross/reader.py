#!/usr/bin/python3
"""A second reader of Bloomery filter files, written from docs/format.md alone.

It shares no code with the library, so that the two agree only where the page says enough.

    reader.py FILE < keys      prints the lines that FILE may contain
    reader.py --info FILE      prints what FILE is, as JSON

With --key-file K for a siphash filter, as in the tool.
"""

import argparse
import hashlib
import json
import mmap
import os
import struct
import sys

import xxhash

HEADER_BYTES = 256
CHUNK_BYTES = 1_048_576
MASK32 = 2**32 - 1
MASK64 = 2**64 - 1

KINDS = {1: "classic", 2: "partitioned", 3: "blocked"}
HASHES = {0: "none", 1: "xxh3", 2: "siphash", 3: "sha1", 4: "md5"}
SCHEMES = {1: "multiply", 2: "modulo"}

HEADER = struct.Struct("<8s6HIQIIQQQQdQQQQQ128sQ")
HEADER_FIELDS = (
    "magic", "version", "header bytes", "kind", "hash", "scheme", "reserved", "probes", "bits", "block bits",
    "chunk bytes", "seed", "key id", "keys", "planned keys", "target", "payload offset", "payload bytes",
    "checksums offset", "file bytes", "checksum of the checksums", "reserved tail", "checksum of the header")

PROBE_MULTIPLIER = 0xD1342543DE82EF95
BLOCK_PATTERNS = (
    0x0001, 0x0003, 0x000B, 0x0053, 0x0153, 0x02B3, 0x053B, 0x0A6F,
    0x0B77, 0x177B, 0x1DBF, 0x2EFF, 0x5DFF, 0x3FFF, 0x7FFF, 0xFFFF)
LANE_MULTIPLIERS = (
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
    0xD1B54A33, 0x6C8E944D, 0xB5297A4D, 0x1B56C4E9, 0xE7037ED1, 0x3C6EF373, 0xF39CC061, 0x82A2B175)


class FormatError(Exception):
    """The file is not a version 1 filter; the text starts with the field at fault."""


def require(condition, field, text):
    if not condition:
        raise FormatError(f"{field}: {text}")


# Hashes

def splitmix64(x):
    z = (x + 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


def mix64(key, seed):
    product = (key ^ splitmix64(seed)) * 0x9FB21C651E98DF25
    return ((product & MASK64 ^ product >> 64) * 0xD6E8FEB86659FD93) & MASK64


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


def md5_words(data, probes):
    return struct.unpack(">4I", hashlib.md5(data).digest())[:probes]


# Positions: h is the 64-bit hash, k the number of probes, m the number of bits

def classic_positions(h, k, m):
    for _ in range(k):
        yield h * m >> 64
        h = h * PROBE_MULTIPLIER & MASK64


def partitioned_positions(h, k, m):
    slice_bits = m // k
    for j, position in enumerate(classic_positions(h, k, slice_bits)):
        yield j * slice_bits + position


def blocked_positions(h, k, m):
    block = h * (m // 512) >> 64
    x = h & MASK32
    rotation = x >> 16 & 15
    for lane, multiplier in enumerate(LANE_MULTIPLIERS):
        if BLOCK_PATTERNS[k - 1] >> (lane + rotation) % 16 & 1:
            yield 512 * block + 32 * lane + ((x * multiplier & MASK32) >> 27)


POSITIONS = {"classic": classic_positions, "partitioned": partitioned_positions, "blocked": blocked_positions}


# Files

def parse_header(data):
    """The fields of the header by name, each checked; data is its 256 bytes."""
    f = dict(zip(HEADER_FIELDS, HEADER.unpack(data)))
    require(f["magic"] == b"BLOOMERY", "magic", "not a Bloomery file")
    require(f["version"] == 1, "version", f"{f['version']} is not known, only 1 is")
    require(f["checksum of the header"] == xxhash.xxh3_64_intdigest(data[:248]),
            "checksum of the header", "does not match")

    for field, names in (("kind", KINDS), ("hash", HASHES), ("scheme", SCHEMES)):
        require(f[field] in names, field, f"{f[field]} is not known")
        f[field] = names[f[field]]
    kind, hash_name, probes, bits = f["kind"], f["hash"], f["probes"], f["bits"]

    digest_words = hash_name in ("sha1", "md5")
    require((f["scheme"] == "modulo") == digest_words, "scheme", f"{f['scheme']} does not go with hash {hash_name}")
    require(kind == "classic" or not digest_words, "scheme", f"modulo does not go with kind {kind}")

    most_probes = 16 if kind == "blocked" else 4 if hash_name == "md5" else 64
    require(1 <= probes <= most_probes, "probes", f"{probes} is not in 1 to {most_probes}")
    require(1 <= bits <= 2**48, "bits", f"{bits} is not in 1 to 2^48")
    divisor = {"classic": 1, "partitioned": probes, "blocked": 512}[kind]
    require(bits % divisor == 0, "bits", f"{bits} is not a multiple of {divisor}")

    # A program that hashed by rules of its own may have used a seed; the other hashes say that they do not.
    require(f["seed"] == 0 or hash_name in ("xxh3", "none"), "seed", f"is not 0 with hash {hash_name}")
    require(f["key id"] == 0 or hash_name == "siphash", "key id", f"is not 0 with hash {hash_name}")
    require(0 <= f["target"] < 1, "target", f"{f['target']} is not in [0, 1)")
    require(not any(f["reserved tail"]), "reserved tail", "is not zeros")

    payload_bytes = (bits + 63) // 64 * 8
    chunks = -(-payload_bytes // CHUNK_BYTES)
    for field, value in (("header bytes", HEADER_BYTES), ("reserved", 0),
                         ("block bits", 512 if kind == "blocked" else 0), ("chunk bytes", CHUNK_BYTES),
                         ("payload offset", HEADER_BYTES), ("payload bytes", payload_bytes),
                         ("checksums offset", HEADER_BYTES + payload_bytes),
                         ("file bytes", HEADER_BYTES + payload_bytes + 8 * chunks)):
        require(f[field] == value, field, f"is {f[field]}, must be {value}")
    return f


class Filter:
    """A mapped file. secret is the 16-byte key of siphash; without it such a file opens but answers nothing."""

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

        if secret is not None and self.hash == "siphash" and siphash_key_id(secret) != self.fields["key id"]:
            raise ValueError("key id: the file was made with another secret key")
        self._secret = secret

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._data.close()

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

    def positions(self, key):
        """The positions of a key: a string of bytes, or an integer of at most 64 bits."""
        probes, bits = self.shape
        integer = isinstance(key, int)
        if integer and not -2**63 <= key < 2**64:
            raise ValueError(f"{key} is not a 64-bit integer")
        data = (key & MASK64).to_bytes(8, "little") if integer else key
        if self.hash == "sha1":
            return (word % bits for word in sha1_words(data, probes))
        if self.hash == "md5":
            return (word % bits for word in md5_words(data, probes))
        if self.hash == "siphash":
            if self._secret is None:
                raise ValueError("hash: siphash needs its secret key")
            h = siphash24(data, self._secret)
        elif self.hash == "xxh3":
            h = mix64(key & MASK64, self.seed) if integer else xxhash.xxh3_64_intdigest(data, self.seed)
        else:
            raise ValueError("hash: only the program that wrote the file knows it")
        return POSITIONS[self.kind](h, probes, bits)

    def contains(self, key):
        return all(self._data[HEADER_BYTES + (p >> 3)] >> (p & 7) & 1 for p in self.positions(key))


def main():
    parser = argparse.ArgumentParser(description="Reads Bloomery filter files.")
    parser.add_argument("file")
    parser.add_argument("--info", action="store_true", help="print the header as JSON instead of checking keys")
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
            # Not splitlines, which also splits at carriage returns.
            lines = sys.stdin.buffer.read().split(b"\n")
            sys.stdout.buffer.writelines(line + b"\n" for line in lines if line and bloom.contains(line))
    except (FormatError, ValueError, OSError) as error:
        print(f"reader.py: {options.file}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
