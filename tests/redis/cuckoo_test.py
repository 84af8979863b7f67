"""The commands of CF: replies in both protocols, error texts, growth, removal, files and replicas.
"""
import subprocess
import unittest

import harness
import keeping

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
NO_MEMORY = "ERR Insufficient memory to create filter"
FIELDS = ["Size", "Number of buckets", "Number of filters", "Number of items inserted", "Number of items deleted",
          "Bucket size", "Expansion rate", "Max iterations"]


class replies(harness.server_test):
    def info(self, key):
        return self.three("CF.INFO", key)

    def test_reserve_and_info(self):
        self.assertEqual("OK", self.call("CF.RESERVE", "f", "1000"))
        flat = self.call("CF.INFO", "f")
        self.assertEqual(FIELDS, flat[::2])
        info = self.info("f")
        self.assertEqual(FIELDS, list(info))
        self.assertEqual(flat[1::2], list(info.values()))
        self.assertEqual([1, 0, 0, 2, 1, 20], flat[5::2])
        self.assertGreaterEqual(2 * info["Number of buckets"], 1000)
        self.call("CF.RESERVE", "g", "1000", "expansion", "4", "BUCKETSIZE", "8", "MAXITERATIONS", "500")
        self.assertEqual([8, 4, 500], list(self.info("g").values())[5:])
        self.call("CF.RESERVE", "fixed", "1000", "EXPANSION", "0")
        self.assertEqual(0, self.info("fixed")["Expansion rate"])
        self.refused("ERR not found", "CF.INFO", "missing")
        self.refused("ERR item exists", "CF.RESERVE", "f", "1000")

    def test_reserve_refuses(self):
        size = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
        for text, *args in (
                ("Bad capacity", "many"),
                (size, "0"), (size, "-5"), (size, "3"), (size, "1073741825"), (size, "15", "BUCKETSIZE", "8"),
                ("Couldn't parse BUCKETSIZE", "100", "BUCKETSIZE", "x"),
                ("Couldn't parse MAXITERATIONS", "100", "MAXITERATIONS", "x"),
                ("Couldn't parse EXPANSION", "100", "EXPANSION", "1.5"),
                ("BUCKETSIZE: value must be in the range [1, 255]", "1000", "BUCKETSIZE", "0"),
                ("BUCKETSIZE: value must be in the range [1, 255]", "1000", "BUCKETSIZE", "256"),
                ("MAXITERATIONS: value must be in the range [1, 65535]", "1000", "MAXITERATIONS", "0"),
                ("MAXITERATIONS: value must be in the range [1, 65535]", "1000", "MAXITERATIONS", "65536"),
                ("EXPANSION: value must be in the range [0, 32768]", "1000", "EXPANSION", "-1"),
                ("EXPANSION: value must be in the range [0, 32768]", "1000", "EXPANSION", "32769"),
                ("Unknown argument received", "1000", "COLOUR", "1")):
            self.refused(text, "CF.RESERVE", "f", *args)
        self.arity("CF.RESERVE", "f")
        self.arity("CF.RESERVE", "f", "100", "BUCKETSIZE")
        self.assertEqual(0, self.call("EXISTS", "f"))
        self.assertEqual("OK", self.call("CF.RESERVE", "f", "510", "BUCKETSIZE", "255", "MAXITERATIONS", "65535",
                                         "EXPANSION", "32768"))
        self.assertEqual(1, self.call("CF.ADD", "f", "a"))

    def test_add_count_and_del(self):
        self.assertEqual(1, self.call("CF.ADD", "f", "a"))
        self.assertIs(True, self.three("CF.ADD", "f", "a"))
        self.assertEqual(0, self.call("CF.ADDNX", "f", "a"))
        self.assertIs(False, self.three("CF.ADDNX", "f", "a"))
        self.assertEqual(1, self.call("CF.ADDNX", "f", b"\0\xff"))
        self.assertEqual(1, self.call("CF.EXISTS", "f", "a"))
        self.assertIs(True, self.three("CF.EXISTS", "f", b"\0\xff"))
        self.assertIs(False, self.three("CF.EXISTS", "f", "c"))
        self.assertEqual([1, 0], self.call("CF.MEXISTS", "f", "a", "c"))
        self.assertEqual([True, False], self.three("CF.MEXISTS", "f", "a", "c"))
        self.assertEqual(2, self.call("CF.COUNT", "f", "a"))
        self.assertEqual(2, self.three("CF.COUNT", "f", "a"))
        self.assertEqual(1, self.call("CF.DEL", "f", "a"))
        self.assertIs(True, self.three("CF.DEL", "f", "a"))
        self.assertIs(False, self.three("CF.DEL", "f", "a"))
        self.assertEqual(0, self.call("CF.DEL", "f", "a"))
        self.assertEqual(0, self.call("CF.COUNT", "f", "a"))
        info = self.info("f")
        self.assertEqual((1, 2), (info["Number of items inserted"], info["Number of items deleted"]))
        # What nobody described is made for 1024 items.
        self.assertEqual([2, 1, 20], list(info.values())[5:])

    def test_missing_keys(self):
        for key in ("missing", "s"):
            self.call("SET", "s", "text")
            self.assertEqual(0, self.call("CF.EXISTS", key, "a"))
            self.assertEqual([0, 0], self.call("CF.MEXISTS", key, "a", "b"))
            self.assertEqual(0, self.call("CF.COUNT", key, "a"))
        self.refused("Not found", "CF.DEL", "missing", "a")
        self.refused("Cuckoo filter was not found", "CF.COMPACT", "missing")
        self.refused("ERR not found", "CF.INSERT", "missing", "NOCREATE", "ITEMS", "a")
        self.refused("ERR not found", "CF.INSERTNX", "missing", "NOCREATE", "ITEMS", "a")
        self.refused("ERR not found", "CF.SCANDUMP", "missing", "0")

    def test_wrong_types_and_arity(self):
        self.call("SET", "s", "text")
        self.call("BF.ADD", "b", "a")
        for key in ("s", "b"):
            for args in (("CF.RESERVE", key, "100"), ("CF.ADD", key, "a"), ("CF.ADDNX", key, "a"),
                         ("CF.INSERT", key, "ITEMS", "a"), ("CF.INSERTNX", key, "ITEMS", "a"), ("CF.DEL", key, "a"),
                         ("CF.COMPACT", key), ("CF.INFO", key), ("CF.SCANDUMP", key, "0"),
                         ("CF.LOADCHUNK", key, "1", "x")):
                self.refused(WRONGTYPE, *args)
        self.call("CF.ADD", "f", "a")
        self.refused(WRONGTYPE, "BF.ADD", "f", "a")
        for args in (("CF.ADD", "f"), ("CF.ADD", "f", "a", "b"), ("CF.ADDNX", "f"), ("CF.INSERT", "f", "ITEMS"),
                     ("CF.INSERT", "f", "NOCREATE", "ITEMS"), ("CF.INSERTNX", "f", "ITEMS"), ("CF.EXISTS", "f"),
                     ("CF.MEXISTS", "f"), ("CF.COUNT", "f"), ("CF.DEL", "f"), ("CF.COMPACT",), ("CF.INFO",),
                     ("CF.SCANDUMP", "f"), ("CF.LOADCHUNK", "f", "1")):
            self.arity(*args)

    def test_insert(self):
        self.assertEqual([1, 1, 1], self.call("CF.INSERT", "f", "CAPACITY", "5000", "ITEMS", "a", "b", "a"))
        self.assertEqual([True, True], self.three("cf.insert", "f", "nocreate", "items", "a", "c"))
        self.assertEqual([0, 1, 0], self.call("CF.INSERTNX", "f", "ITEMS", "a", "d", "d"))
        self.assertEqual([0, 1], self.three("CF.INSERTNX", "f", "ITEMS", "a", "e"))
        self.assertIs(int, type(self.three("CF.INSERTNX", "f", "ITEMS", "z")[0]))
        self.assertEqual(3, self.call("CF.COUNT", "f", "a"))
        self.assertGreaterEqual(2 * self.info("f")["Number of buckets"], 5000)
        self.refused("Unknown argument received", "CF.INSERT", "g", "SIZE", "1", "ITEMS", "a")
        self.refused("Unknown argument received", "CF.INSERTNX", "g", "NOCREAT", "ITEMS", "a")
        self.refused("Bad capacity", "CF.INSERT", "g", "CAPACITY", "x", "ITEMS", "a")
        self.assertEqual(0, self.call("EXISTS", "g"))

    def test_a_full_filter_refuses(self):
        self.call("CF.RESERVE", "f", "20", "EXPANSION", "0")
        items = [f"item {i}" for i in range(100)]
        answers = self.call("CF.INSERT", "f", "ITEMS", *items)
        self.assertEqual({1, -1}, set(answers))
        taken = [item for item, answer in zip(items, answers) if answer == 1]
        self.assertGreaterEqual(len(taken), 20)
        self.assertEqual([1] * len(taken), self.call("CF.MEXISTS", "f", *taken))
        self.assertEqual(len(taken), self.info("f")["Number of items inserted"])
        refused = next(item for item in items if not self.call("CF.EXISTS", "f", item))
        self.refused("Filter is full", "CF.ADD", "f", refused)
        self.refused("Filter is full", "CF.ADDNX", "f", refused)
        self.assertEqual([False], self.three("CF.INSERT", "f", "ITEMS", refused))
        self.assertEqual([-1, 0], self.three("CF.INSERTNX", "f", "ITEMS", refused, taken[0]))

    def test_iterations(self):
        """The more items may move for another, the more find a place; with one in a bucket it
        shows: of many tables the first to refuse an item after one move comes at half of what they
        take without a limit, on average.
        """
        taken = []
        for moves in (1, 3, 300):
            self.call("CF.RESERVE", moves, "1000", "BUCKETSIZE", "1", "MAXITERATIONS", moves, "EXPANSION", "0")
            taken.append(self.call("CF.INSERT", moves, "ITEMS", *range(1500)).index(-1))
        self.assertLess(1.5 * taken[0], taken[2])
        self.assertLess(taken[0], taken[1])

    def test_growth_has_an_end(self):
        self.call("CF.RESERVE", "f", "8")
        answers = self.call("CF.INSERT", "f", "ITEMS", *range(2000))
        self.assertEqual(-1, answers[-1])
        self.assertEqual(32, self.info("f")["Number of filters"])
        new = next(i for i in range(2000, 9000) if not self.call("CF.EXISTS", "f", i))
        self.refused("Maximum expansions reached", "CF.ADD", "f", new)
        self.refused("Maximum expansions reached", "CF.ADDNX", "f", new)

    def test_expansion(self):
        self.call("CF.RESERVE", "f", "1000", "EXPANSION", "2")
        self.assertEqual([1] * 20000, self.call("CF.INSERT", "f", "ITEMS", *range(20000)))
        self.assertEqual([1] * 20000, self.call("CF.MEXISTS", "f", *range(20000)))
        info = self.info("f")
        self.assertEqual((5, 20000), (info["Number of filters"], info["Number of items inserted"]))

    def test_rate_and_size(self):
        self.call("CF.RESERVE", "f", "100000", "BUCKETSIZE", "4")
        for first in range(0, 100000, 20000):
            self.assertEqual([1] * 20000, self.call("CF.INSERT", "f", "ITEMS", *range(first, first + 20000)))
        self.assertEqual(1, self.info("f")["Number of filters"])
        self.assertLess(self.info("f")["Size"] * 8, 1.3e6)
        # 40,000 others at a quarter of a per cent are 100, and five standard deviations 50.
        wrong = sum(self.call("CF.MEXISTS", "f", *range(200000, 240000)))
        self.assertLess(wrong, 150)

    def test_compact(self):
        self.call("CF.RESERVE", "f", "100")
        self.call("CF.INSERT", "f", "ITEMS", *range(1000))
        before = self.info("f")
        for i in range(50, 1000):
            self.assertEqual(1, self.call("CF.DEL", "f", i))
        self.assertEqual("OK", self.call("CF.COMPACT", "f"))
        after = self.info("f")
        self.assertEqual((1, 50, 950), (after["Number of filters"], after["Number of items inserted"],
                                        after["Number of items deleted"]))
        self.assertLess(after["Size"] * 2, before["Size"])
        self.assertEqual([1] * 50, self.call("CF.MEXISTS", "f", *range(50)))

    def test_pieces(self):
        self.call("CF.INSERT", "f", "ITEMS", *range(500))
        (_, _, _, start), *rest = keeping.all_pieces(self.call, "CF.SCANDUMP", "CF.LOADCHUNK", "f", "g")
        self.assertEqual([0, None], self.call("CF.SCANDUMP", "f", rest[-1][2]))
        self.assertEqual([0, None], self.three("CF.SCANDUMP", "f", rest[-1][2]))
        for position in ("x", "-1"):
            self.refused("Invalid position", "CF.SCANDUMP", "f", position)
            self.refused("Invalid position", "CF.LOADCHUNK", "g", position, start)
        self.refused("Invalid header", "CF.LOADCHUNK", "g", "1", start[:-1])
        self.refused("Invalid header", "CF.LOADCHUNK", "g", "1", start[:100] + b"?" + start[101:])
        self.refused("Couldn't load chunk!", "CF.LOADCHUNK", "g", rest[0][2], rest[0][3])
        self.assertEqual("OK", self.call("CF.LOADCHUNK", "g", "1", start))
        self.refused("Couldn't load chunk!", "CF.LOADCHUNK", "g", rest[0][2] + 1, rest[0][3] + b"x")
        self.refused("Couldn't load chunk!", "CF.LOADCHUNK", "f", "1", start)
        self.assertEqual(0, self.call("EXISTS", "g"))

    def test_metadata(self):
        flags = {name: set(self.call("COMMAND", "INFO", name)[0][2]) for name in
                 ("cf.reserve", "cf.add", "cf.addnx", "cf.insert", "cf.insertnx", "cf.loadchunk", "cf.del", "cf.compact",
                  "cf.exists", "cf.mexists", "cf.count", "cf.info", "cf.scandump")}
        for name in list(flags)[:6]:
            self.assertLessEqual({"write", "denyoom"}, flags[name], name)
        for name in list(flags)[6:8]:
            self.assertIn("write", flags[name], name)
        for name in list(flags)[8:12]:
            self.assertLessEqual({"readonly", "fast"}, flags[name], name)


class limits(harness.server_test):
    options = {"module_args": "max-filter-bytes 100000"}

    def test_memory(self):
        # A replica without the limit takes what its master took, and no more.
        replica = harness.Server()
        self.addCleanup(replica.stop)
        there = harness.Raw(replica.port, protocol=2)
        self.addCleanup(there.close)
        there("REPLICAOF", "127.0.0.1", self.server.port)
        harness.wait_until(lambda: b"master_link_status:up" in there("INFO", "replication"), what="the replica")
        self.refused(NO_MEMORY, "CF.RESERVE", "f", "1073741824")
        self.refused(NO_MEMORY, "CF.INSERT", "f", "CAPACITY", "1000000", "ITEMS", "a")
        self.assertEqual(0, self.call("EXISTS", "f"))
        # One that may not grow as far as it would.
        self.call("CF.RESERVE", "f", "40000", "EXPANSION", "2")
        answers = [self.call("CF.INSERT", "f", "ITEMS", *range(n, n + 10000)) for n in range(0, 60000, 10000)]
        self.assertEqual(-1, answers[-1][-1])
        info = self.three("CF.INFO", "f")
        self.assertEqual((1, sum(a.count(1) for a in answers)),
                         (info["Number of filters"], info["Number of items inserted"]))
        refused = next(i for i in range(10**6, 2 * 10**6) if not self.call("CF.EXISTS", "f", i))
        self.refused(NO_MEMORY, "CF.ADD", "f", refused)
        self.assertEqual(1, self.call("WAIT", 1, 20000))
        digest = self.call("DEBUG", "DIGEST-VALUE", "f")
        self.assertEqual(digest, there("DEBUG", "DIGEST-VALUE", "f"))


class kept(keeping.kept_test):
    prefix = "CF"
    filled = [("CF.RESERVE", "a", "100", "BUCKETSIZE", "3", "MAXITERATIONS", "7"),
              ("CF.INSERT", "a", "ITEMS", *range(300)), ("CF.DEL", "a", "5"), ("CF.DEL", "a", "50"),
              ("CF.ADD", "b", "one"), ("CF.ADDNX", "b", "one"), ("CF.ADDNX", "b", "two"),
              ("CF.INSERTNX", "c", "CAPACITY", "60", "ITEMS", *range(40), *range(90)),
              ("CF.RESERVE", "d", "10", "EXPANSION", "0"), ("CF.INSERT", "d", "ITEMS", *range(100))]
    changed = [("CF.INSERTNX", "a", "ITEMS", *range(200, 500)), ("CF.DEL", "b", "one"), ("CF.DEL", "c", "17"),
               ("CF.COMPACT", "c"), ("CF.COMPACT", "a"), ("CF.INSERT", "d", "ITEMS", *range(100))]

    def test_the_tools_files(self):
        words = "".join(f"word {i}\n" for i in range(500))
        path = self.server.folder / "cuckoo"
        subprocess.run([harness.TOOL, "build", "--quiet", "--kind", "cuckoo", "-o", path, "-"], input=words.encode(),
                       check=True)
        self.assertEqual("OK", self.call("CF.IMPORT", "tool", 0, path.read_bytes()))
        self.assertEqual([1, 1, 0], self.call("CF.MEXISTS", "tool", "word 0", "word 499", "wort"))
        self.assertEqual(20, self.three("CF.INFO", "tool")["Max iterations"])
        self.call("CF.ADD", "tool", "wort")
        path.write_bytes(keeping.exported(self.call, "CF", "tool"))
        found = subprocess.run([harness.TOOL, "check", path, "-"], input=b"wort\nelse\n", check=True,
                               stdout=subprocess.PIPE)
        self.assertEqual(b"wort\n", found.stdout)


class client(harness.server_test):
    """The commands as redis-py makes them."""

    def test_cf(self):
        connection = self.server.connect(decode_responses=True)
        cf = connection.cf()
        self.assertTrue(cf.create("f", 1000, expansion=1, bucket_size=4, max_iterations=30))
        self.assertEqual(1, cf.add("f", "a"))
        self.assertEqual(0, cf.addnx("f", "a"))
        self.assertEqual([1], cf.insert("f", ["b"], capacity=100))
        self.assertEqual([0, 1], cf.insertnx("f", ["b", "c"]))
        self.assertEqual(1, cf.exists("f", "a"))
        self.assertEqual(1, cf.count("f", "a"))
        self.assertEqual(1, cf.delete("f", "a"))
        info = cf.info("f")
        self.assertEqual((1, 2, 1, 4, 1, 30), (info.filterNum, info.insertedNum, info.deletedNum, info.bucketSize,
                                               info.expansionRate, info.maxIteration))
        binary = self.server.connect().cf()
        pieces, position = [], 0
        while True:
            position, data = binary.scandump("f", position)
            if position == 0:
                break
            pieces.append((position, data))
        connection.delete("f")
        for position, data in pieces:
            self.assertTrue(binary.loadchunk("f", position, data))
        self.assertEqual((0, 1), (cf.exists("f", "a"), cf.exists("f", "c")))


if __name__ == "__main__":
    unittest.main()
