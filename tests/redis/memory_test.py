"""All memory of the module is the server's: it is counted, limited, evicted and given back; and
small values are small.
"""
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

import harness

KEYS = 10_000


def packed(*args):
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


class own_server(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server()
        self.addCleanup(self.server.stop)
        self.call = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(self.call.close)

    def many(self, commands):
        """Sends them, some hundred at a time; the answers."""
        answers = []
        for first in range(0, len(commands), 500):
            part = commands[first:first + 500]
            self.call.socket.sendall(b"".join(c if isinstance(c, bytes) else packed(*c) for c in part))
            answers += [self.call.read() for _ in part]
        return answers

    def memory(self, field="used_memory"):
        return int(re.search(rf"{field}:(\d+)", self.call("INFO", "memory").decode())[1])


    def resident(self):
        """Without the pages that the allocator keeps for a while, which depend on how fast the
        machine is.
        """
        self.call("MEMORY", "PURGE")
        with open(f"/proc/{self.server.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class small(own_server):
    def cost(self, *commands):
        """Bytes a key: counted, and resident. The server's own buffers are there before the first
        key that counts.
        """
        def call_all(names):
            for name, *rest in commands:
                head, tail = packed(name, *rest).split(b"\r\n", 3)[1:3], packed(*rest).split(b"\r\n", 1)[1]
                start = b"*%d\r\n%s\r\n%s\r\n" % (len(rest) + 2, *head)
                self.many([start + packed(key).split(b"\r\n", 1)[1] + tail for key in names])

        call_all([f"first:{i}" for i in range(1000)])
        counted, resident = self.memory(), self.resident()
        call_all([f"key:{i}" for i in range(KEYS)])
        return (self.memory() - counted) / KEYS, (self.resident() - resident) / KEYS

    def test_a_filter_of_100_items(self):
        counted, resident = self.cost(("BF.RESERVE", "0.01", "100", "NONSCALING"), ("BF.MADD", *range(100)))
        self.assertLess(counted, 400)
        self.assertLess(resident, 400)

    def test_others(self):
        for most, command in ((360, ("BF.ADD", "item")), (300, ("CF.RESERVE", "100")),
                              (300, ("CMS.INITBYDIM", "20", "5")), (300, ("TOPK.RESERVE", "10"))):
            counted, resident = self.cost(command)
            self.assertLess(counted, most, command)
            self.assertLess(resident, 3 * most, command)
            self.call("FLUSHALL")

    def test_they_are_what_they_were(self):
        """More keys than stay awake, in any order, against sets in Python and a reload."""
        rng = random.Random(7)
        make = {"fixed": ("BF.RESERVE", "0.0001", "300", "NONSCALING"), "grows": ("BF.RESERVE", "0.0001", "10"),
                "counting": ("BF.RESERVE", "0.0001", "100", "COUNTING"),
                "window": ("BF.RESERVE", "0.0001", "200", "WINDOW", "3600"), "cuckoo": ("CF.RESERVE", "50"),
                "count": ("CMS.INITBYDIM", "64", "4"), "top": ("TOPK.RESERVE", "5")}
        add = {"cuckoo": "CF.ADD", "count": "CMS.INCRBY", "top": "TOPK.ADD"}
        exists = {"cuckoo": "CF.MEXISTS", "count": "CMS.QUERY"}
        added = {}
        for kind, (command, *rest) in make.items():
            for i in range(40):
                added[kind, i] = set()
                self.assertEqual("OK", self.call(command, f"{kind}:{i}", *rest))
        keys = list(added)
        for _ in range(4000):
            kind, i = rng.choice(keys)
            item = str(rng.randrange(200))
            if item in added[kind, i]:
                continue
            added[kind, i].add(item)
            answer = self.call(add.get(kind, "BF.ADD"), f"{kind}:{i}", item, *(("1",) if kind == "count" else ()))
            self.assertNotIsInstance(answer, harness.Raw.Error, (kind, i))
        def check():
            wrong = 0
            for (kind, i), items in added.items():
                if kind == "top":
                    self.assertEqual(5, len(self.call("TOPK.LIST", f"top:{i}")))
                    continue
                others = [f"other {j}" for j in range(50)]
                answers = self.call(exists.get(kind, "BF.MEXISTS"), f"{kind}:{i}", *items, *others)
                self.assertNotIn(0, answers[:len(items)], (kind, i))
                if kind not in ("count", "cuckoo"):
                    wrong += sum(answers[len(items):])
            self.assertLess(wrong, 30)
        check()
        digest = self.call("DEBUG", "DIGEST")
        sizes = [self.call("MEMORY", "USAGE", f"{kind}:{i}") for kind, i in keys]
        self.call("DEBUG", "RELOAD")
        self.assertEqual(digest, self.call("DEBUG", "DIGEST"))
        self.assertEqual(sizes, [self.call("MEMORY", "USAGE", f"{kind}:{i}") for kind, i in keys])
        check()

    def test_freed_in_another_thread(self):
        for _ in range(5):
            self.many([("BF.ADD", f"key:{i}", "item") for i in range(2000)])
            self.call("FLUSHALL", "ASYNC")
            self.many([("BF.ADD", f"key:{i}", "item") for i in range(200)])
            self.call("BGSAVE")
            self.call("UNLINK", *(f"key:{i}" for i in range(200)))
            harness.wait_until(lambda: b"rdb_bgsave_in_progress:0" in self.call("INFO", "persistence"), what="BGSAVE")
        self.assertIn(b"rdb_last_bgsave_status:ok", self.call("INFO", "persistence"))


class defragmentation(own_server):
    def test_small_values_are_moved(self):
        """By servers with the allocator that this needs, which Debian's do not have."""
        if self.call("CONFIG", "SET", "activedefrag", "yes") != "OK":
            self.skipTest("this server's allocator cannot say what is worth moving")
        self.call("CONFIG", "SET", "activedefrag", "no")
        made = (("BF.ADD", "f", "item"), ("CF.ADD", "c", "item"), ("CMS.INITBYDIM", "m", "20", "5"),
                ("TOPK.RESERVE", "t", "10"), ("TDIGEST.CREATE", "d"))
        self.many([(command, f"{key}:{i}", *rest) for i in range(KEYS) for command, key, *rest in made])
        # What is left of every page is a tenth.
        self.many([("DEL", *(f"{key}:{i}" for _, key, *_ in made)) for i in range(KEYS) if i % 10 != 0])
        digest = self.call("DEBUG", "DIGEST")
        for name, value in (("ignore-bytes", "1"), ("threshold-lower", "1"), ("cycle-min", "50"), ("cycle-max", "75")):
            self.assertEqual("OK", self.call("CONFIG", "SET", "active-defrag-" + name, value))
        self.assertEqual("OK", self.call("CONFIG", "SET", "activedefrag", "yes"))
        moved = lambda: int(re.search(r"active_defrag_hits:(\d+)", self.call("INFO", "stats").decode())[1])
        harness.wait_until(lambda: moved() > KEYS // 2, what="values that are moved")
        self.call("CONFIG", "SET", "activedefrag", "no")
        self.assertEqual(digest, self.call("DEBUG", "DIGEST"))
        self.assertEqual({1}, set(self.many([("BF.EXISTS", f"f:{i}", "item") for i in range(0, KEYS, 10)])))
        self.assertEqual({1}, set(self.many([("CF.DEL", f"c:{i}", "item") for i in range(0, KEYS, 10)])))
        self.call("FLUSHALL")


class copies(own_server):
    def test_full_layers_are_shared(self):
        def add(key, numbers):
            for first in range(0, len(numbers), 10_000):
                self.call("BF.MADD", key, *numbers[first:first + 10_000])
        add("f", range(1_000_000))
        self.assertGreater(self.call("BF.INFO", "f", "FILTERS")[0], 2)
        digest = self.call("DEBUG", "DIGEST-VALUE", "f")
        size = self.call("BF.INFO", "f", "SIZE")[0]
        before = self.memory("used_memory")
        self.assertEqual(1, self.call("COPY", "f", "g"))
        self.assertLess(self.memory("used_memory") - before, 0.9 * size)
        add("g", range(10**6, 3 * 10**6, 7))
        self.assertEqual(digest, self.call("DEBUG", "DIGEST-VALUE", "f"))
        self.call("DEL", "f", "g")
        self.assertLess(self.memory("used_memory"), before - 0.9 * size)


class limits(own_server):
    def test_without_eviction(self):
        self.call("CONFIG", "SET", "maxmemory", "10mb")
        resident = self.memory("used_memory_rss")
        answers = self.many([("BF.RESERVE", f"key:{i}", "0.01", "100", "NONSCALING") for i in range(70_000)])
        self.assertRegex(answers[-1], "^OOM")
        self.assertLess(self.memory("used_memory_rss") - resident, 15 << 20)

    def test_with_eviction(self):
        self.call("CONFIG", "SET", "maxmemory", "5mb", "maxmemory-policy", "allkeys-lru")
        resident = self.memory("used_memory_rss")
        answers = self.many([("BF.ADD", f"key:{i}", "item") for i in range(30_000)])
        self.assertEqual({1}, set(answers))
        self.assertLess(self.call("DBSIZE"), 20_000)
        self.assertLess(self.memory(), 5.2 * (1 << 20))
        self.assertLess(self.memory("used_memory_rss") - resident, 12 << 20)

    def test_many_unions_at_a_time(self):
        """Each is made in a thread, and fits by itself."""
        self.call("CONFIG", "SET", "maxmemory", "200mb")
        for key in ("a", "b"):
            self.call("BF.RESERVE", key, "0.01", "10000000", "NONSCALING")
            self.call("BF.ADD", key, key)
        clients = [harness.Raw(self.server.port, protocol=2) for _ in range(30)]
        for i, client in enumerate(clients):
            self.addCleanup(client.close)
            client.socket.sendall(packed("BF.MERGE", f"union {i}", "a", "b"))
        answers = [client.read() for client in clients]
        self.assertEqual({"OK", "ERR Insufficient memory to create filter"}, set(answers))
        self.assertLess(self.memory(), 200 << 20)
        self.call("DEL", *(f"union {i}" for i in range(30)))
        # What was promised to them is free again.
        self.assertEqual("OK", self.call("BF.MERGE", "union", "a", "b"))

    def test_long_items(self):
        before = self.memory()
        self.call("TOPK.RESERVE", "t", "400")
        for i in range(400):
            self.call("TOPK.ADD", "t", f"{i:05}" * 12000)
        self.assertGreater(self.memory() - before, 400 * 60000)
        self.assertGreater(self.call("MEMORY", "USAGE", "t"), 400 * 60000)
        self.call("DEL", "t")
        harness.wait_until(lambda: self.memory() - before < 2e6, what="the memory of the items")
        self.call("CONFIG", "SET", "maxmemory", "40mb")
        self.call("TOPK.RESERVE", "t", "1000")
        answers = [self.call("TOPK.ADD", "t", f"{i:05}" * 12000) for i in range(1000)]
        self.assertRegex(answers[-1], "^OOM")

    def image(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "f"
        subprocess.run([harness.TOOL, "build", "-q", "--kind", "blocked", "--keys", "16000000", "-o", path, os.devnull],
                       check=True)
        return path.read_bytes()

    def test_what_is_loaded_in_pieces(self):
        data = self.image()
        before = self.memory()
        half = len(data) // 2
        def begin():
            self.assertEqual("OK", self.call("BF.IMPORT", "f", 0, data[:half]))
            self.assertGreater(self.memory() - before, half)
        def gone():
            harness.wait_until(lambda: self.memory() - before < half // 4, what="the memory of the pieces")
        begin()
        self.call("FLUSHALL")
        gone()
        self.assertEqual("ERR no import of this key was begun; begin at 0", self.call("BF.IMPORT", "f", half, b"x"))
        begin()
        self.call("SET", "f", "something else")
        self.assertRegex(self.call("BF.IMPORT", "f", half, b"x"), "^WRONGTYPE")
        gone()
        self.call("DEL", "f")
        leaving = harness.Raw(self.server.port, protocol=2)
        self.assertEqual("OK", leaving("BF.IMPORT", "f", 0, data[:half]))
        leaving.close()
        gone()
        # All of it together, what is still to come included, has to fit. The last step makes the
        # filter beside it.
        self.call("CONFIG", "SET", "maxmemory", self.memory() + 3 * len(data))
        self.assertEqual("OK", self.call("BF.IMPORT", "a", 0, data[:5000]))
        self.assertEqual("ERR Insufficient memory to create filter", self.call("BF.IMPORT", "b", 0, data[:5000]))
        self.assertEqual("OK", self.call("BF.IMPORT", "a", 5000, data[5000:]))
        self.assertEqual(1, self.call("EXISTS", "a"))


if __name__ == "__main__":
    unittest.main()
