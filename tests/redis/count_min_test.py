"""The commands of CMS: replies in both protocols, error texts, sums, overflow, files and replicas.
"""
import unittest

import harness
import keeping

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
MISSING = "CMS: key does not exist"
MOST = 2**32 - 1


class replies(harness.server_test):
    def test_init_and_info(self):
        self.assertEqual("OK", self.call("CMS.INITBYDIM", "d", "2000", "5"))
        self.assertEqual(["width", 2000, "depth", 5, "count", 0], self.call("CMS.INFO", "d"))
        self.assertEqual({"width": 2000, "depth": 5, "count": 0}, self.three("CMS.INFO", "d"))
        self.assertEqual("OK", self.call("CMS.INITBYPROB", "p", "0.001", "0.01"))
        self.assertEqual(["width", 2000, "depth", 7, "count", 0], self.call("CMS.INFO", "p"))
        for width, depth in ((1, 1), (7, 1), (3, 64), (2719, 3)):
            self.call("CMS.INITBYDIM", f"{width}x{depth}", width, depth)
            self.assertEqual([width, depth], self.call("CMS.INFO", f"{width}x{depth}")[1:4:2])
        for args in (("CMS.INITBYDIM", "d", "2000", "5"), ("CMS.INITBYPROB", "d", "0.001", "0.01")):
            self.refused("CMS: key already exists", *args)
        self.refused(MISSING, "CMS.INFO", "missing")

    def test_init_refuses(self):
        for width in ("x", "0", "-3", "1.5"):
            self.refused("CMS: invalid width", "CMS.INITBYDIM", "k", width, "5")
        for depth in ("x", "0", "-3"):
            self.refused("CMS: invalid depth", "CMS.INITBYDIM", "k", "5", depth)
        for error in ("x", "0", "1", "-0.1", "nan"):
            self.refused("CMS: invalid overestimation value", "CMS.INITBYPROB", "k", error, "0.01")
        for chance in ("x", "0", "1", "1.5", "nan"):
            self.refused("CMS: invalid prob value", "CMS.INITBYPROB", "k", "0.01", chance)
        # More than there can be: an error, and the server lives.
        for width, depth in (("1000000000", "100"), ("9223372036854775807", "64"), ("1000000000000000", "9"),
                             ("9223372036854775807", "9223372036854775807")):
            self.refused("CMS: invalid init arguments", "CMS.INITBYDIM", "k", width, depth)
        self.refused("CMS: invalid init arguments", "CMS.INITBYPROB", "k", "1e-300", "0.01")
        self.refused("CMS: invalid init arguments", "CMS.INITBYPROB", "k", "0.01", "1e-300")
        self.refused("ERR Insufficient memory to create filter", "CMS.INITBYDIM", "k", "100000000000", "9")
        self.assertEqual(0, self.call("EXISTS", "k"))

    def test_counts(self):
        self.call("CMS.INITBYDIM", "k", "2000", "7")
        self.assertEqual([5, 3, 6, 0], self.call("CMS.INCRBY", "k", "a", "5", "b", "3", "a", "1", "c", "0"))
        self.assertEqual([7, 1], self.three("CMS.INCRBY", "k", "a", "1", b"\0\xff", "1"))
        self.assertEqual([7, 3, 0, 1, 0], self.call("CMS.QUERY", "k", "a", "b", "c", b"\0\xff", ""))
        self.assertEqual([7], self.three("CMS.QUERY", "k", "a"))
        self.assertEqual(11, self.call("CMS.INFO", "k")[5])
        # Never too low, and rarely too high: 200 items in 2000 counters, each row wrong with a
        # chance of a tenth.
        pairs = [part for i in range(200) for part in (f"item {i}", i)]
        self.call("CMS.INCRBY", "k", *pairs)
        counts = self.call("CMS.QUERY", "k", *pairs[::2])
        self.assertEqual(list(range(200)), counts)

    def test_bad_numbers_change_nothing(self):
        self.call("CMS.INITBYDIM", "k", "2000", "7")
        for bad in ("x", "1.5", "", "9223372036854775808"):
            self.refused("CMS: Cannot parse number", "CMS.INCRBY", "k", "a", "5", "b", bad)
            self.refused("CMS: Cannot parse number", "CMS.INCRBY", "k", "a", bad)
        self.refused("CMS: Number cannot be negative", "CMS.INCRBY", "k", "a", "5", "b", "-1")
        self.refused("CMS: Number cannot be negative", "CMS.INCRBY", "k", "a", "-1")
        self.assertEqual([0, 0], self.call("CMS.QUERY", "k", "a", "b"))
        self.arity("CMS.INCRBY", "k", "a", "5", "b")

    def test_one_by_one_is_as_together(self):
        for key in ("one", "all"):
            self.call("CMS.INITBYDIM", key, "20", "3")
        pairs = [(f"item {i % 40}", i % 7) for i in range(200)] + [("item 3", MOST - 9)]
        sums = self.call("CMS.INCRBY", "all", *[part for pair in pairs for part in pair])
        self.assertEqual(sums, [self.call("CMS.INCRBY", "one", item, n)[0] for item, n in pairs])
        self.assertEqual(1, len(set(self.call("DEBUG", "DIGEST-VALUE", "one", "all"))))

    def test_overflow_is_told_for_each_item(self):
        over = "CMS: INCRBY overflow"
        self.call("CMS.INITBYDIM", "k", "2000", "7")
        self.assertEqual([MOST - 1, 5, over, over, 6], self.call("CMS.INCRBY", "k", "a", MOST - 1, "b", 5, "a", 1,
                                                                 "a", 7, "b", 1))
        self.assertEqual([over], self.three("CMS.INCRBY", "k", "c", 2**62))
        self.assertEqual([MOST, 6, MOST], self.call("CMS.QUERY", "k", "a", "b", "c"))
        self.assertEqual(MOST - 1 + 14 + 2**62, self.call("CMS.INFO", "k")[5])
        self.call("CMS.INCRBY", "k", "c", 2**63 - 1, "c", 2**63 - 1)
        self.assertEqual(2**63 - 1, self.call("CMS.INFO", "k")[5])

    def test_merge(self):
        for key in ("a", "b", "sum"):
            self.call("CMS.INITBYDIM", key, "1000", "5")
        self.call("CMS.INCRBY", "a", "x", "5", "y", "2")
        self.call("CMS.INCRBY", "b", "x", "1", "z", "7")
        self.call("CMS.INCRBY", "sum", "old", "1")
        self.assertEqual("OK", self.call("CMS.MERGE", "sum", "2", "a", "b"))
        self.assertEqual([6, 2, 7, 0], self.call("CMS.QUERY", "sum", "x", "y", "z", "old"))
        self.assertEqual(15, self.call("CMS.INFO", "sum")[5])
        self.assertEqual("OK", self.three("CMS.MERGE", "sum", "2", "a", "b", "weights", "10", "0"))
        self.assertEqual([50, 20, 0], self.call("CMS.QUERY", "sum", "x", "y", "z"))
        # The one that it goes into among the others, and twice.
        self.assertEqual("OK", self.call("CMS.MERGE", "a", "3", "a", "b", "a", "WEIGHTS", "2", "3", "-1"))
        self.assertEqual([8, 2, 21], self.call("CMS.QUERY", "a", "x", "y", "z"))

    def test_merge_refuses(self):
        for key in ("a", "b"):
            self.call("CMS.INITBYDIM", key, "1000", "5")
        self.call("CMS.INITBYDIM", "wide", "1001", "5")
        self.call("CMS.INITBYDIM", "deep", "1000", "6")
        self.call("CMS.INITBYDIM", "seven", "7", "1")
        self.call("CMS.INITBYDIM", "eight", "8", "1")
        self.call("CMS.INCRBY", "b", "x", 2**31)
        for text, *args in (
                ("CMS: invalid numkeys", "x", "b"),
                ("CMS: Number of keys must be positive", "0", "b"),
                ("CMS: Number of keys must be positive", "-1", "b"),
                ("CMS: wrong number of keys", "2", "b"),
                ("CMS: wrong number of keys", "1", "b", "b"),
                ("CMS: wrong number of keys", "9223372036854775807", "b"),
                ("CMS: wrong number of keys/weights", "1", "b", "WEIGHTS"),
                ("CMS: wrong number of keys/weights", "2", "a", "b", "WEIGHTS", "1"),
                ("CMS: wrong number of keys/weights", "1", "b", "WEIGHTS", "1", "2"),
                ("CMS: invalid weight value", "1", "b", "WEIGHTS", "x"),
                ("CMS: width/depth is not equal", "2", "b", "wide"),
                ("CMS: width/depth is not equal", "1", "deep"),
                (MISSING, "2", "b", "missing"),
                ("CMS: MERGE overflow", "2", "b", "b"),
                ("CMS: MERGE overflow", "1", "b", "WEIGHTS", "2"),
                ("CMS: MERGE overflow", "1", "b", "WEIGHTS", "-1"),
                ("CMS: MERGE overflow", "1", "b", "WEIGHTS", 2**63 - 1)):
            self.refused(text, "CMS.MERGE", "a", *args)
        self.refused(MISSING, "CMS.MERGE", "missing", "1", "b")
        self.refused("CMS: width/depth is not equal", "CMS.MERGE", "seven", "1", "eight")
        self.arity("CMS.MERGE", "a", "1")
        self.assertEqual([0], self.call("CMS.QUERY", "a", "x"))

    def test_missing_keys_and_wrong_types(self):
        commands = (("CMS.INCRBY", "k", "a", "1"), ("CMS.QUERY", "k", "a"), ("CMS.INFO", "k"),
                    ("CMS.MERGE", "k", "1", "k"))
        for args in commands:
            self.refused(MISSING, *args)
        self.call("SET", "k", "text")
        for args in commands:
            self.refused(WRONGTYPE, *args)
        for args in (("CMS.INITBYDIM", "k", "2", "2"), ("CMS.INITBYPROB", "k", "0.1", "0.1")):
            self.refused("CMS: key already exists", *args)
        self.arity("CMS.QUERY", "k")
        self.arity("CMS.INITBYDIM", "k", "2")
        self.arity("CMS.INITBYPROB", "k", "0.1")
        self.arity("CMS.INFO")

    def test_metadata(self):
        for name in ("cms.initbydim", "cms.initbyprob", "cms.incrby", "cms.merge"):
            self.assertLessEqual({"write", "denyoom"}, set(self.call("COMMAND", "INFO", name)[0][2]), name)
        for name in ("cms.query", "cms.info"):
            self.assertLessEqual({"readonly", "fast"}, set(self.call("COMMAND", "INFO", name)[0][2]), name)
        self.assertEqual([b"sum", b"a", b"b"], self.call("COMMAND", "GETKEYS", "CMS.MERGE", "sum", "2", "a", "b",
                                                         "WEIGHTS", "1", "2"))


class limits(harness.server_test):
    options = {"maxmemory": "20mb", "maxmemory_policy": "noeviction"}

    def test_memory(self):
        self.refused("ERR Insufficient memory to create filter", "CMS.INITBYDIM", "k", "1000000", "10")
        self.assertEqual(0, self.call("EXISTS", "k"))
        self.assertEqual("OK", self.call("CMS.INITBYDIM", "k", "100000", "10"))


class kept(keeping.kept_test):
    prefix = "CMS"
    filled = [("CMS.INITBYDIM", "a", "301", "1"), ("CMS.INCRBY", "a", *range(200)),
              ("CMS.INITBYPROB", "b", "0.05", "0.01"), ("CMS.INCRBY", "b", "x", "7", "y", 2**33),
              ("CMS.INITBYPROB", "c", "0.05", "0.01"), ("CMS.MERGE", "c", "2", "b", "b", "WEIGHTS", "1", "0")]
    changed = [("CMS.INCRBY", "b", "z", "1"), ("CMS.MERGE", "a", "1", "a", "WEIGHTS", "3"),
               ("CMS.INCRBY", "c", "z", "3")]


class client(harness.server_test):
    """The commands as redis-py makes them."""

    def test_cms(self):
        cms = self.server.connect(decode_responses=True).cms()
        self.assertTrue(cms.initbydim("d", 1000, 5))
        self.assertTrue(cms.initbyprob("p", 0.01, 0.01))
        self.assertEqual([5], cms.incrby("d", ["foo"], [5]))
        self.assertEqual([5, 0], cms.query("d", "foo", "bar"))
        info = cms.info("d")
        self.assertEqual((1000, 5, 5), (info.width, info.depth, info.count))
        self.assertTrue(cms.initbydim("m", 1000, 5))
        self.assertTrue(cms.merge("m", 1, ["d"], weights=[3]))
        self.assertEqual([15], cms.query("m", "foo"))


if __name__ == "__main__":
    unittest.main()
