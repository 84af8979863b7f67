"""A replica is the same to the byte: after random commands, restarts, failover, and with other
settings than its master.

$BLOOMERY_REDIS_COMMANDS is how many commands; 100000 is the long run.
"""
import os
import random
import unittest

import harness

COMMANDS = int(os.environ.get("BLOOMERY_REDIS_COMMANDS", "4000"))
KEYS = [f"key {i}" for i in range(12)]
FAMILIES = ("CF", "CMS", "TOPK", "TDIGEST")


def random_command_of_others(rng):
    """Of the other families, with numbers that are refused halfway, counters that are full and
    filters that are.
    """
    family = rng.choice(FAMILIES)
    key = f"{family} {rng.randrange(3)}"
    items = [f"item {rng.randrange(200)}" for _ in range(rng.choice((1, 1, 2, 10)))]

    def each_with(numbers):
        return [word for item in items for word in (item, rng.choice(numbers))]

    commands = {
        "CF": (("CF.RESERVE", key, 20, "EXPANSION", rng.randrange(2)), ("CF.ADD", key, items[0]),
               ("CF.ADDNX", key, items[0]), ("CF.INSERT", key, "ITEMS", *items),
               ("CF.INSERTNX", key, "CAPACITY", 64, "ITEMS", *items), ("CF.DEL", key, items[0])),
        "CMS": (("CMS.INITBYDIM", key, 20, 3), ("CMS.INCRBY", key, *each_with((1, 5, 2**32 - 9, 2**40))),
                ("CMS.INCRBY", key, items[0], rng.choice((2**31, -1, "x"))), ("CMS.MERGE", key, 1, key, "WEIGHTS", 2),
                ("DEL", key)),
        "TOPK": (("TOPK.RESERVE", key, 5, 20, 3, "0.9"), ("TOPK.ADD", key, *items),
                 ("TOPK.INCRBY", key, *each_with((1, 7, 7, 100000, -1, "x", 100001)))),
        "TDIGEST": (("TDIGEST.CREATE", key), ("TDIGEST.ADD", key, *(rng.choice((1, -2.5, 3e9)) for _ in items), 4),
                    ("TDIGEST.ADD", key, 1, rng.choice(("x", "nan", "inf"))), ("TDIGEST.RESET", key),
                    ("TDIGEST.MERGE", key, 2, "TDIGEST 0", "TDIGEST 1")),
    }
    return rng.choice(commands[family])


def random_command(rng):
    if rng.randrange(3) == 0:
        return random_command_of_others(rng)
    key = rng.choice(KEYS)
    items = [f"item {rng.randrange(20000)}" for _ in range(rng.choice((1, 1, 2, 10, 100)))]
    kind = rng.randrange(100)
    if kind < 30:
        return ("BF.MADD", key, *items)
    if kind < 50:
        return ("BF.ADD", key, items[0])
    if kind < 56:
        return ("BF.INSERT", key, "CAPACITY", rng.choice((1, 50, 5000)), "ERROR", rng.choice(("0.1", "0.0013")),
                *rng.choice(((), ("NONSCALING",), ("EXPANSION", "4"))), "ITEMS", *items)
    if kind < 60:
        return ("BF.RESERVE", key, rng.choice(("0.01", "0.3333333333333333")), rng.choice((10, 3000)),
                *rng.choice(((), ("NONSCALING",), ("COUNTING",), ("WINDOW", "0.3", "GENERATIONS", "3"))))
    if kind < 64:
        return ("DEL", key)
    if kind < 68:
        return ("BF.MERGE", key, rng.choice(KEYS), rng.choice(KEYS))
    if kind < 72:
        return ("COPY", key, rng.choice(KEYS), "REPLACE")
    if kind < 80:
        return ("BF.MREM", key, *items)
    if kind < 84:
        return ("BF.REM", key, items[0])
    if kind < 88:
        return ("RENAME", key, rng.choice(KEYS))
    return ("BF.MEXISTS", key, *items)


def reload_by_pieces(call, rng):
    """SCANDUMP and LOADCHUNK, and EXPORT and IMPORT, by a client."""
    key = rng.choice(KEYS)
    if not call("EXISTS", key):
        return
    pieces = []
    if rng.randrange(2):
        iterator, data = call("BF.SCANDUMP", key, 0)
        while iterator:
            pieces.append(("BF.LOADCHUNK", key, iterator, data))
            iterator, data = call("BF.SCANDUMP", key, iterator)
    else:
        offset = 0
        while True:
            following, data = call("BF.EXPORT", key, offset)
            pieces.append(("BF.IMPORT", key, offset, data))
            if following == 0:
                break
            offset = following
    call("DEL", key)
    for piece in pieces:
        assert call(*piece) == "OK", piece


class replication(unittest.TestCase):
    def setUp(self):
        self.master = self.started(appendonly="yes", **{"aof-use-rdb-preamble": "no"})
        # Its own defaults are others: what it does comes from the master all the same.
        self.replica = self.started(module_args="error-rate 0.2 initial-size 7 expansion-factor 9 max-filter-bytes 100")
        self.follow(self.replica, self.master)

    def started(self, **options):
        server = harness.Server(**options)
        self.addCleanup(server.stop)
        return server

    def call(self, server, *args):
        raw = harness.Raw(server.port, protocol=2)
        try:
            return raw(*args)
        finally:
            raw.close()

    def follow(self, replica, master):
        self.call(replica, "REPLICAOF", "127.0.0.1", master.port)
        harness.wait_until(lambda: b"master_link_status:up" in self.call(replica, "INFO", "replication"))

    def same(self):
        def offsets():
            return [self.call(s, "INFO", "replication").decode().split("master_repl_offset:")[1].split()[0]
                    for s in (self.master, self.replica)]
        def equal():
            a, b = offsets()
            return a == b
        harness.wait_until(equal, what="the replica's offset")
        digests = [self.call(s, "DEBUG", "DIGEST") for s in (self.master, self.replica)]
        self.assertEqual(digests[0], digests[1])
        return digests[0]

    def work(self, rng, count):
        raw = harness.Raw(self.master.port, protocol=2)
        for i in range(count):
            raw(*random_command(rng))
            if i % 97 == 0:
                reload_by_pieces(raw, rng)
        raw.close()

    def test_unions_that_a_thread_makes(self):
        for i in range(3):
            self.call(self.master, "BF.RESERVE", f"large {i}", "0.01", "8000000", *(() if i else ("NONSCALING",)))
            self.call(self.master, "BF.MADD", f"large {i}", *range(i * 100, i * 100 + 200))
        for key in ("sketch 1", "sketch 2"):
            self.call(self.master, "CMS.INITBYDIM", key, 500_000, 5)
            self.call(self.master, "CMS.INCRBY", key, "item", 3, key, 4)
        self.assertIn(self.call(self.master, "CMS.MERGE", "sketch 1", 2, "sketch 1", "sketch 2", "WEIGHTS", 2, 1), ("OK", b"OK"))
        self.assertEqual([9, 8, 4], self.call(self.master, "CMS.QUERY", "sketch 1", "item", "sketch 1", "sketch 2"))
        self.call(self.master, "CF.RESERVE", "cuckoo", 8_000_000, "EXPANSION", 1)
        for first in range(0, 50_000, 10_000):
            self.call(self.master, "CF.INSERT", "cuckoo", "ITEMS", *range(first, first + 10_000))
        for item in range(0, 50_000, 100):
            self.call(self.master, "CF.DEL", "cuckoo", item)
        for key in ("large 0", "sketch 1", "cuckoo"):  # else it would be done at once
            self.assertGreater(self.call(self.master, "MEMORY", "USAGE", key), 8 << 20)
        self.assertIn(self.call(self.master, "CF.COMPACT", "cuckoo"), ("OK", b"OK"))
        self.assertEqual([1] * 99, self.call(self.master, "CF.MEXISTS", "cuckoo", *range(1, 100)))
        for target, source in (("new", "large 0"), ("large 1", "large 2"), ("large 2", "large 1"), ("new", "large 0")):
            self.assertIn(self.call(self.master, "BF.MERGE", target, source), ("OK", b"OK"))
        digest = self.same()
        self.call(self.master, "CONFIG", "SET", "appendfsync", "always")
        self.call(self.master, "BF.ADD", "last", "item")
        digest = self.same()
        self.master.kill()
        self.master.start()
        self.assertEqual(digest, self.call(self.master, "DEBUG", "DIGEST"))

    def test_a_replica_is_the_same(self):
        rng = random.Random(20)
        quarter = COMMANDS // 4
        self.work(rng, quarter)
        before = self.same()
        self.assertNotEqual("0" * 40, before)
        self.call(self.master, "BGREWRITEAOF")
        self.work(rng, quarter)
        harness.wait_until(lambda: b"aof_rewrite_in_progress:0" in self.call(self.master, "INFO", "persistence"))
        digest = self.same()
        # The append-only file alone, after a crash: everysec may lose a second, so it is written
        # first.
        self.call(self.master, "CONFIG", "SET", "appendfsync", "always")
        self.call(self.master, "BF.ADD", "last", "item")
        digest = self.same()
        self.master.kill()
        self.master.start()
        self.assertEqual(digest, self.call(self.master, "DEBUG", "DIGEST"))
        self.follow(self.replica, self.master)
        self.work(rng, quarter)
        self.same()
        self.call(self.master, "BGSAVE")
        harness.wait_until(lambda: b"rdb_bgsave_in_progress:0" in self.call(self.master, "INFO", "persistence"))
        # Failover: the other way round from here.
        self.call(self.replica, "REPLICAOF", "NO", "ONE")
        self.master, self.replica = self.replica, self.master
        self.call(self.master, "CONFIG", "SET", "bf.max-filter-bytes", "0")
        self.follow(self.replica, self.master)
        self.work(rng, COMMANDS - 3 * quarter)
        self.same()

    def test_a_refused_growth_is_refused_once(self):
        self.call(self.master, "CONFIG", "SET", "bf.max-filter-bytes", "50000")
        answer = self.call(self.master, "BF.MADD", "f", *[str(i) for i in range(30000)])
        self.assertEqual("ERR Insufficient memory to create filter", answer[-1])
        self.assertLess(len(answer), 25000)
        self.assertEqual("ERR Insufficient memory to create filter", self.call(self.master, "BF.ADD", "f", "more"))
        self.assertEqual(1, self.call(self.master, "BF.EXISTS", "f", "1"))
        self.same()

    def test_what_a_client_is_refused_replicas_do_not_hear(self):
        self.call(self.master, "TOPK.RESERVE", "t", 3)
        answer = self.call(self.master, "TOPK.INCRBY", "t", "a", 1, "b", "foo")
        self.assertEqual([None, "TopK: increment"], [answer[0], answer[1][:15]])
        self.call(self.master, "CMS.INITBYDIM", "c", 10, 2)
        over = "CMS: INCRBY overflow"
        self.assertEqual([over, 1], self.call(self.master, "CMS.INCRBY", "c", "a", 2**32 - 1, "b", 1))
        self.assertEqual([over, 2], self.call(self.master, "CMS.INCRBY", "c", "a", 5, "b", 1))
        self.assertEqual([over], self.call(self.master, "CMS.INCRBY", "c", "a", 5))
        # By settings that the replica does not share.
        for name, number in (("expansion-factor", 0), ("cf-initial-size", 4), ("cf-bucket-size", 255)):
            self.assertEqual("OK", self.call(self.replica, "CONFIG", "SET", f"bf.{name}", number))
        self.call(self.master, "CF.RESERVE", "f", 100)
        self.assertEqual([1], self.call(self.master, "CF.INSERT", "f", "ITEMS", "a"))
        for item in ("a", "b"):
            self.assertEqual([1], self.call(self.master, "BF.INSERT", "b", "VALIDATESCALETO", 1000, "ITEMS", item))
        self.same()
        self.assertEqual([2**32 - 1, 2], self.call(self.replica, "CMS.QUERY", "c", "a", "b"))
        # It reads its append-only file again; the servers' logs are read when they stop.
        self.master.restart()

    def test_items_are_forgotten_everywhere(self):
        self.call(self.master, "BF.RESERVE", "w", "0.01", "1000", "WINDOW", "0.2", "GENERATIONS", "2")
        self.call(self.master, "BF.ADD", "w", "old")
        self.assertEqual(1, self.call(self.master, "BF.EXISTS", "w", "old"))
        harness.wait_until(lambda: self.call(self.master, "BF.EXISTS", "w", "old") == 0, what="the window")
        self.same()
        self.assertEqual(0, self.call(self.replica, "BF.EXISTS", "w", "old"))


if __name__ == "__main__":
    unittest.main()
