"""The way over from RedisBloom and valkey-bloom: their database files, DUMPs, append-only files and
pieces load, answer as they did there, take new items, and go back as long as nobody has changed
them. The data is in ../foreign.
"""
import json
import os
import pathlib
import random
import shutil
import socket
import struct
import tempfile
import unittest

import harness
from persistence_test import sealed

DATA = pathlib.Path(__file__).parent.parent / "foreign" / "redisbloom"
ANSWERS = json.loads((DATA / "answers.json").read_text())
KEYS = {"bf:fixed", "bf:growing", "bf:tiny", "bf:default", "bf:empty", "cf:plain", "cf:buckets", "cms:dim", "cms:prob",
        "top:k", "plain"}


def item(i):
    return f"item-{i + 1}"


def in_parts(call, command, key, count):
    """The answers of a command with many items for item-1 to item-count."""
    return [a for first in range(0, count, 1000)
            for a in call(command, key, *[item(i) for i in range(first, min(first + 1000, count))])]


class moved(unittest.TestCase):
    def start(self, **options):
        self.server = harness.Server(folder=self.folder, **options)
        self.addCleanup(self.server.stop)
        self.connect()

    def connect(self):
        self.call = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(self.call.close)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bloomery-redis-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check(self, exactly=True, without=()):
        """What the other module answered: the same yes for every yes; exactly, if only its layers
        were asked.
        """
        same = self.assertEqual if exactly else lambda a, b, what: self.assertTrue(all(y >= x for x, y in zip(a, b)), what)
        for key in KEYS - {"plain"} - set(without):
            expected = [int(x) for x in ANSWERS[key]]
            command = {"bf": "BF.MEXISTS", "cf": "CF.MEXISTS", "cm": "CMS.QUERY", "to": "TOPK.QUERY"}[key[:2]]
            same(expected, in_parts(self.call, command, key, len(expected)), key)
            if key[:2] == "cf":
                expected = [int(x) for x in ANSWERS[key + " count"][:500]]
                same(expected, [self.call("CF.COUNT", key, item(i)) for i in range(500)], key)

    def numbers(self, *command):
        flat = self.call(*command)
        return {(n.decode() if isinstance(n, bytes) else n): v for n, v in zip(flat[::2], flat[1::2])}

    def restart(self, **options):
        self.call.close()
        self.server.restart(**options)
        self.connect()

    def rewrite(self):
        self.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        self.call("CONFIG", "SET", "appendonly", "yes")
        harness.wait_until(lambda: "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode() and
                           "aof_rewrite_scheduled:0" in self.call("INFO", "persistence").decode())

    def changes(self):
        """A change to every key, and what must be so afterwards."""
        call = self.call
        self.assertEqual([1, 0, 1], call("BF.MADD", "bf:growing", "new 1", "item-1", "new 2"))
        self.assertEqual(harness.Raw.Error("ERR non scaling filter is full"), call("BF.ADD", "bf:fixed", "new 1"))
        self.assertEqual(1, call("BF.ADD", "bf:tiny", "new 1"))
        self.assertEqual(1, call("CF.ADD", "cf:plain", "new 1"))
        self.assertEqual(0, call("CF.ADDNX", "cf:plain", "item-2"))
        self.assertEqual(1, call("CF.DEL", "cf:plain", "item-4"))
        self.assertEqual(int(ANSWERS["cms:dim"][6]) + 5, call("CMS.INCRBY", "cms:dim", "item-7", "5")[0])
        self.assertEqual([None], call("TOPK.INCRBY", "top:k", "item-191", "7"))

    def check_changes(self):
        call = self.call
        self.check(exactly=False, without={"cf:plain"})
        self.assertEqual([1, 1, 1], call("BF.MEXISTS", "bf:growing", "new 1", "new 2", "item-1"))
        self.assertEqual(2984, call("BF.CARD", "bf:growing"))
        self.assertEqual(1, call("BF.EXISTS", "bf:tiny", "new 1"))
        self.assertNotIn(0, call("BF.MEXISTS", "bf:empty", *[f"more {i}" for i in range(2000)]))
        self.assertEqual(1, call("CF.COUNT", "cf:plain", "new 1"))
        self.assertEqual(int(ANSWERS["cf:plain count"][3]) - 1, call("CF.COUNT", "cf:plain", "item-4"))
        self.assertEqual(1250, self.numbers("CF.INFO", "cf:plain")["Number of items inserted"])
        self.assertEqual(31, self.numbers("CF.INFO", "cf:plain")["Number of items deleted"])
        self.assertEqual([12], call("CMS.QUERY", "cms:dim", "item-7"))
        self.assertEqual(500505, self.numbers("CMS.INFO", "cms:dim")["count"])
        self.assertEqual([b"item-191", 36488], call("TOPK.LIST", "top:k", "WITHCOUNT")[:2])


class redisbloom(moved):
    def setUp(self):
        super().setUp()
        shutil.copy(DATA / "dump.rdb", self.folder)

    def test_a_database_file(self):
        self.start()
        self.assertEqual(KEYS, {k.decode() for k in self.call("KEYS", "*")})
        self.check()
        self.assertEqual([3100, 5, 2982, 2], [self.numbers("BF.INFO", "bf:growing")[f] for f in (
            "Capacity", "Number of filters", "Number of items inserted", "Expansion rate")])
        self.assertEqual([5000, 1, 5000, None], [self.numbers("BF.INFO", "bf:fixed")[f] for f in (
            "Capacity", "Number of filters", "Number of items inserted", "Expansion rate")])
        self.assertEqual([b"0.01"], self.call("BF.INFO", "bf:growing", "ERROR"))
        self.assertEqual(
            {"Number of buckets": 512, "Number of filters": 3, "Number of items inserted": 1250,
             "Number of items deleted": 30, "Bucket size": 2, "Expansion rate": 1, "Max iterations": 20},
            {n: v for n, v in self.numbers("CF.INFO", "cf:plain").items() if n != "Size"})
        self.assertEqual({"width": 2000, "depth": 7, "count": 500500}, self.numbers("CMS.INFO", "cms:prob"))
        self.assertEqual([b"item-191", 36481, b"item-188", 35344, b"item-187", 34969, b"item-180", 32400],
                         self.call("TOPK.LIST", "top:k", "WITHCOUNT")[:8])
        self.assertEqual(5, self.numbers("BF.STATS", "bf:growing")["foreign_layers"])
        self.assertEqual(7, len(self.call("BF.DEBUG", "bf:growing")))
        self.assertGreater(self.call("MEMORY", "USAGE", "bf:fixed"), 8992)
        for command in (("BF.MERGE", "bf:growing", "bf:default"), ("BF.MERGE", "new", "bf:default"),
                        ("BF.COMPARE", "bf:growing", "bf:default"), ("BF.EXPORT", "bf:growing", "0")):
            self.assertRegex(self.call(*command), "another module")

    def test_only_read_it_stays_what_it_was(self):
        self.start()
        self.check()
        dumps = {key: self.call("DUMP", key) for key in KEYS}
        # The type is RedisBloom's.
        self.assertIn(self.call("DUMP", "bf:tiny")[2:10], (DATA / "dump.rdb").read_bytes())
        self.call("SAVE")
        self.restart()
        self.check()
        self.assertEqual(dumps, {key: self.call("DUMP", key) for key in KEYS})
        # And after a change it is one of ours.
        self.call("BF.ADD", "bf:tiny", "new")
        self.assertNotEqual(dumps["bf:tiny"][2:10], self.call("DUMP", "bf:tiny")[2:10])

    def test_changes_survive(self):
        self.start()
        self.call("BF.MADD", "bf:empty", *[f"more {i}" for i in range(2000)])
        self.changes()
        self.check_changes()
        digests = self.call("DEBUG", "DIGEST")
        self.call("SAVE")
        self.restart()
        self.check_changes()
        self.assertEqual(digests, self.call("DEBUG", "DIGEST"))
        for key in KEYS - {"plain"}:
            self.assertEqual("OK", self.call("RESTORE", "again", "0", self.call("DUMP", key), "REPLACE"))
            self.assertEqual(1, self.call("COPY", key, "copy", "REPLACE"))
            a, b, c = self.call("DEBUG", "DIGEST-VALUE", key, "again", "copy")
            self.assertEqual((a, a), (b, c), key)
        self.call("DEL", "again", "copy")
        self.rewrite()
        self.restart(appendonly="yes")
        self.check_changes()

    def test_a_replica(self):
        self.start()
        replica = harness.Server(replicaof=f"127.0.0.1 {self.server.port}")
        self.addCleanup(replica.stop)
        other = harness.Raw(replica.port, protocol=2)
        self.addCleanup(other.close)
        harness.wait_until(lambda: "master_link_status:up" in other("INFO", "replication").decode(), what="the replica")
        self.call("BF.MADD", "bf:empty", *[f"more {i}" for i in range(2000)])
        self.changes()
        self.assertEqual(1, self.call("WAIT", "1", "10000"))
        self.call = other
        self.check_changes()

    def test_merged_sketches(self):
        self.start()
        self.call("CMS.INITBYDIM", "sum", "2000", "5")
        self.call("CMS.INCRBY", "sum", "item-3", "1000")
        self.call("CMS.INCRBY", "cms:dim", "item-3", "10")
        self.assertEqual("OK", self.call("CMS.MERGE", "sum", "2", "cms:dim", "sum", "WEIGHTS", "2", "1"))
        self.assertEqual([1000 + 2 * 13, 8], self.call("CMS.QUERY", "sum", "item-3", "item-4"))
        self.assertEqual(1000 + 2 * 500510, self.numbers("CMS.INFO", "sum")["count"])
        self.assertEqual("OK", self.call("CMS.MERGE", "cms:dim", "1", "cms:dim"))
        self.assertEqual([13, 4], self.call("CMS.QUERY", "cms:dim", "item-3", "item-4"))
        self.assertEqual("CMS: width/depth is not equal", self.call("CMS.MERGE", "sum", "1", "cms:prob"))

    def test_its_appendonly_file(self):
        os.remove(f"{self.folder}/dump.rdb")
        shutil.copy(DATA / "rewritten.aof", f"{self.folder}/appendonly.aof")
        self.start(appendonly="yes")
        self.assertEqual(KEYS, {k.decode() for k in self.call("KEYS", "*")})
        self.check()

    def test_its_appendonly_file_with_what_we_would_refuse(self):
        commands = (("BF.RESERVE", "grows", "1e-9", 1000), ("BF.ADD", "grows", "a"),
                    ("BF.INSERT", "made", "ERROR", "1e-9", "ITEMS", "a"),
                    ("BF.RESERVE", "fixed", "1e-18", 1000, "NONSCALING"), ("BF.ADD", "fixed", "a"),
                    ("CMS.INITBYDIM", "deep", 10, 80), ("CMS.INCRBY", "deep", "a", 7),
                    ("CMS.INITBYPROB", "sure", "0.1", "1e-30"), ("CMS.INCRBY", "sure", "a", 2**32 - 1, "b", 1),
                    ("TOPK.RESERVE", "long", 2**20 + 1, 8, 65, "0.9"), ("TOPK.ADD", "long", "a"),
                    ("TDIGEST.CREATE", "digest", "COMPRESSION", 200000), ("TDIGEST.ADD", "digest", 5),
                    ("CF.RESERVE", "cuckoo", 3, "EXPANSION", 65535), ("CF.ADD", "cuckoo", "a"))
        with open(f"{self.folder}/appendonly.aof", "w") as f:
            for words in (("SELECT", 0), *commands):
                f.write(f"*{len(words)}\r\n" + "".join(f"${len(str(w))}\r\n{w}\r\n" for w in words))
        os.remove(f"{self.folder}/dump.rdb")
        self.start(appendonly="yes")
        for key in ("grows", "made", "fixed"):
            self.assertEqual([1, 0], self.call("BF.MEXISTS", key, "a", "b"))
        for key in ("grows", "made"):
            self.assertEqual([b"1.6e-08"], self.call("BF.INFO", key, "ERROR"))
        self.assertLess(float(self.call("BF.INFO", "fixed", "ERROR")[0]), 1e-15)
        self.assertEqual([{"width": 10, "depth": 64, "count": 7}, 64],
                         [self.numbers("CMS.INFO", "deep"), self.numbers("CMS.INFO", "sure")["depth"]])
        self.assertEqual([7], self.call("CMS.QUERY", "deep", "a"))
        self.assertEqual({"k": 2**20, "width": 8, "depth": 64, "decay": b"0.9"}, self.numbers("TOPK.INFO", "long"))
        self.assertEqual(100000, self.numbers("TDIGEST.INFO", "digest")["Compression"])
        self.assertEqual(b"5", self.call("TDIGEST.MAX", "digest"))
        self.assertEqual([32768, 1], [self.numbers("CF.INFO", "cuckoo")[f] for f in ("Expansion rate",
                                                                                 "Number of items inserted")])
        for command in commands[3], commands[0]:  # but clients are told
            self.call("DEL", command[1])
            self.assertRegex(self.call(*command), "too small")

    def test_its_pieces(self):
        os.remove(f"{self.folder}/dump.rdb")
        self.start()
        for key, command, texts in (("bf:growing", "BF.LOADCHUNK", "ERR received bad data"),
                                    ("cf:plain", "CF.LOADCHUNK", "Invalid header")):
            files = sorted(DATA.glob(key.replace(":", "-") + ".chunk.*"), key=lambda f: int(f.suffix[1:]))
            self.assertEqual(texts, self.call(command, key, "1", files[0].read_bytes()[:-1]))
            for file in files:
                self.assertEqual(0, self.call("EXISTS", key))
                self.assertEqual("OK", self.call(command, key, file.suffix[1:], file.read_bytes()))
            # Ours hand it out again.
            iterator = 0
            while True:
                iterator, piece = self.call(command.replace("LOADCHUNK", "SCANDUMP"), key, iterator)
                if iterator == 0:
                    break
                self.assertEqual("OK", self.call(command, "again", iterator, piece))
            a, b = self.call("DEBUG", "DIGEST-VALUE", key, "again")
            self.assertEqual(a, b)
            self.call("DEL", "again")
        self.check(without=KEYS - {"bf:growing", "cf:plain"})

    def test_a_damaged_dump_is_refused_or_sound(self):
        self.start()
        rng = random.Random(11)
        for key in sorted(KEYS - {"plain", "bf:fixed", "cms:prob", "bf:default"}):
            body = self.call("DUMP", key)[:-8]
            for at in [*range(2, 120), *(rng.randrange(len(body)) for _ in range(150))]:
                broken = bytearray(body)
                broken[min(at, len(body) - 3)] ^= 1 << rng.randrange(8)
                self.call("RESTORE", "r", "0", sealed(bytes(broken)), "REPLACE")
                for command in ("BF.EXISTS", "CF.COUNT", "CMS.QUERY", "TOPK.COUNT", "BF.ADD", "CF.DEL"):
                    self.call(command, "r", "item-1")
            for size in (12, 20, 60, len(body) // 2):
                self.assertIsInstance(self.call("RESTORE", "r", "0", sealed(body[:size] + body[-2:]), "REPLACE"),
                                      harness.Raw.Error)
        self.assertTrue(self.server.alive())


# ---- valkey-bloom, of which there is no server here: its format written once more, by its public
# description

MASK = 2**64 - 1


def rotated(x, bits):
    return ((x << bits) | (x >> (64 - bits))) & MASK


def sip13(key, data):
    """SipHash-1-3; compared with Python's own hash() of bytes, which is the same with a key of
    zeros.
    """
    k = struct.unpack("<2Q", key)
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d, k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotated(v[1], 13) ^ v[0]
            v[0] = rotated(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotated(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotated(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotated(v[1], 17) ^ v[2]
            v[2] = rotated(v[2], 32)

    whole = len(data) - len(data) % 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at:at + 8], "little")
        v[3] ^= word
        rounds(1)
        v[0] ^= word
    word = int.from_bytes(data[whole:], "little") | (len(data) & 255) << 56
    v[3] ^= word
    rounds(1)
    v[0] ^= word
    v[2] ^= 0xff
    rounds(3)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Master:
    """What a replica needs of its master: an empty database, and then the commands that it is told.
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(30 * harness.PATIENCE)
        self.port = self.listener.getsockname()[1]
        self.connection = None

    def accept(self):
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(30 * harness.PATIENCE)
        lines = self.connection.makefile("rb")
        while True:
            words = []
            for _ in range(int(lines.readline()[1:])):
                words.append(lines.read(int(lines.readline()[1:]) + 2)[:-2])
            if words[0].upper() == b"PSYNC":
                break
            self.connection.sendall(b"+PONG\r\n" if words[0].upper() == b"PING" else b"+OK\r\n")
        empty = b"REDIS0010\xff" + bytes(8)
        self.connection.sendall(b"+FULLRESYNC " + b"a" * 40 + b" 0\r\n$%d\r\n" % len(empty) + empty)

    def tell(self, *commands):
        self.connection.sendall(b"".join(map(as_command, commands)))

    def close(self):
        self.listener.close()
        if self.connection:
            self.connection.close()


def as_command(words):
    parts = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class valkey(moved):
    SEED = bytes(range(7, 39))
    LAYERS = ((100, 100, 8), (200, 150, 9))  # capacity, items, probes

    def arrays(self):
        first = 0
        for capacity, items, probes in self.LAYERS:
            bits = bytearray(capacity * 2)
            for i in range(first, first + items):
                text = item(i).encode()
                data = len(text).to_bytes(8, "little") + text
                a, b = sip13(self.SEED[:16], data), sip13(self.SEED[16:], data)
                for j in range(probes):
                    h = (a, b)[j] if j < 2 else ((a + j * b) & MASK) % 0xffffffffffffffc5
                    at = h % (len(bits) * 8)
                    bits[at // 8] |= 1 << at % 8
            yield capacity, items, b"\x01" + struct.pack("<QI", len(bits), probes) + self.SEED + bytes(bits)
            first += items

    def check_filter(self, key):
        self.assertEqual([1] * 250, in_parts(self.call, "BF.MEXISTS", key, 250))
        self.assertLess(sum(self.call("BF.MEXISTS", key, *[f"other {i}" for i in range(1000)])), 30)
        self.assertEqual(250, self.call("BF.CARD", key))
        self.assertEqual(2, self.numbers("BF.INFO", key)["Number of filters"])

    def test_a_dump_and_its_load_command(self):
        self.start()
        name = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        kind = 1
        for place, letter in enumerate("bloomfltr"):
            kind |= name.index(letter) << (58 - 6 * place)
        number = lambda n: b"\x02" + (bytes([n]) if n < 64 else b"\x81" + n.to_bytes(8, "big"))
        real = lambda x: b"\x04" + struct.pack("<d", x)
        body = b"\x07\x81" + kind.to_bytes(8, "big") + number(2) + number(2) + real(0.01) + real(0.5) + number(1)
        load = b"\x01" + struct.pack("<IddBQ", 2, 0.01, 0.5, 1, 2)
        for n, (capacity, items, array) in enumerate(self.arrays()):
            body += b"\x05\x80" + len(array).to_bytes(4, "big") + array + number(capacity)
            body += number(items) if n == 1 else b""
            load += struct.pack("<Q", len(array)) + array + struct.pack("<QQ", items, capacity)
        payload = sealed(body + b"\x00" + struct.pack("<H", 10))
        self.assertEqual("OK", self.call("RESTORE", "restored", "0", payload))
        self.check_filter("restored")
        self.call("CONFIG", "SET", "rdbcompression", "no")
        self.assertEqual("OK", self.call("RESTORE", "again", "0", self.call("DUMP", "restored")))
        self.check_filter("again")
        self.assertEqual("OK", self.call("BF.LOAD", "loaded", load))
        self.check_filter("loaded")
        self.assertEqual(1, self.call("BF.ADD", "loaded", "new"))
        self.assertEqual(1, self.call("BF.EXISTS", "loaded", "new"))
        self.assertEqual("ERR received bad data", self.call("BF.LOAD", "broken", load[:-1]))

    # What it tells its replicas and its append-only file of a BF.RESERVE, a BF.ADD that makes a
    # filter, and one of a filter that is there; and numbers that are larger than ours may be.
    TOLD = (("SELECT", 0),
            ("BF.INSERT", "fixed", "CAPACITY", 3, "ERROR", "0.001", "TIGHTENING", "0.5", "SEED", SEED, "NONSCALING"),
            ("BF.ADD", "fixed", "a"),
            ("BF.INSERT", "grows", "CAPACITY", 5000, "ERROR", "0.002", "TIGHTENING", "0.5", "SEED", SEED, "EXPANSION", 4),
            ("BF.INSERT", "made", "CAPACITY", 100, "ERROR", "0.01", "TIGHTENING", "0.5", "SEED", SEED, "EXPANSION", 2,
             "ITEMS", "a", "b"),
            ("BF.MADD", "made", "c", "d"),
            ("BF.INSERT", "made", "CAPACITY", 2**40, "EXPANSION", 2**31, "NONSCALING", "ITEMS", "e"),
            ("BF.INSERT", "large", "CAPACITY", 2**33, "ERROR", "0.99", "TIGHTENING", "0.5", "SEED", SEED,
             "EXPANSION", 2**31))

    def check_told(self, call):
        def info(key, field):
            return call("BF.INFO", key, field)[0]
        self.assertEqual([3, None, 1], [info("fixed", f) for f in ("CAPACITY", "EXPANSION", "ITEMS")])
        self.assertEqual([b"0.001", b"0.002"], [info(key, "ERROR") for key in ("fixed", "grows")])
        self.assertEqual([5000, 4, 0], [info("grows", f) for f in ("CAPACITY", "EXPANSION", "ITEMS")])
        self.assertEqual([1] * 5 + [0], call("BF.MEXISTS", "made", *"abcdef"))
        self.assertEqual([100, 2], [info("made", f) for f in ("CAPACITY", "EXPANSION")])
        self.assertEqual([2**33, 32768], [info("large", f) for f in ("CAPACITY", "EXPANSION")])

    def test_its_appendonly_file(self):
        with open(f"{self.folder}/appendonly.aof", "wb") as f:
            f.write(b"".join(map(as_command, self.TOLD)))
        self.start(appendonly="yes")
        self.check_told(self.call)
        self.assertEqual([1, 1, harness.Raw.Error("ERR non scaling filter is full")],
                         self.call("BF.MADD", "fixed", "b", "c", "d"))
        self.restart(appendonly="yes")
        self.assertEqual(3, self.call("BF.CARD", "fixed"))

    def test_a_replica_of_it(self):
        master = Master()
        self.addCleanup(master.close)
        self.start(replicaof=f"127.0.0.1 {master.port}")
        master.accept()
        # One of ours behind it hears the same.
        behind = harness.Server(replicaof=f"127.0.0.1 {self.server.port}")
        self.addCleanup(behind.stop)
        other = harness.Raw(behind.port, protocol=2)
        self.addCleanup(other.close)
        master.tell(*self.TOLD, ("SET", "told", "all"))
        for call in (self.call, other):
            harness.wait_until(lambda: call("GET", "told") == b"all", what="the last command")
            self.check_told(call)


if __name__ == "__main__":
    unittest.main()
