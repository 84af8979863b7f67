"""The commands of TOPK: replies in both protocols, error texts, who is listed and who goes, files
and replicas.
"""
import unittest

import harness
import keeping

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
MISSING = "TopK: key does not exist"
INCREMENT = "TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000"


class replies(harness.server_test):
    def test_reserve_and_info(self):
        self.assertEqual("OK", self.call("TOPK.RESERVE", "t", "3"))
        self.assertEqual(["k", 3, "width", 8, "depth", 7, "decay", b"0.9"], self.call("TOPK.INFO", "t"))
        info = self.three("TOPK.INFO", "t")
        self.assertEqual({"k": 3, "width": 8, "depth": 7, "decay": 0.9}, info)
        self.assertIs(float, type(info["decay"]))
        self.call("TOPK.RESERVE", "u", "50", "2000", "6", "0.925")
        self.assertEqual([50, 2000, 6, b"0.925"], self.call("TOPK.INFO", "u")[1::2])
        for decay in ("1", "0.999", "1e-20"):
            self.call("TOPK.RESERVE", decay, "5", "20", "3", decay)
            self.assertEqual(float(decay), self.three("TOPK.INFO", decay)["decay"])
            self.call("TOPK.ADD", decay, *range(100))
        self.refused("TopK: key already exists", "TOPK.RESERVE", "t", "3")
        self.refused(MISSING, "TOPK.INFO", "missing")

    def test_reserve_refuses(self):
        for k in ("x", "0", "-1", "1048577"):
            self.refused("TopK: invalid k", "TOPK.RESERVE", "t", k)
        for width in ("x", "0", "4294967296"):
            self.refused("TopK: invalid width", "TOPK.RESERVE", "t", "5", width, "3", "0.9")
        for depth in ("x", "0", "65"):
            self.refused("TopK: invalid depth", "TOPK.RESERVE", "t", "5", "10", depth, "0.9")
        for decay in ("x", "0", "-0.5", "1.01", "nan"):
            self.refused("TopK: invalid decay value. must be '<= 1' & '> 0'", "TOPK.RESERVE", "t", "5", "10", "3", decay)
        self.refused("ERR Insufficient memory to create filter", "TOPK.RESERVE", "t", "5", "4294967295", "64", "0.9")
        self.arity("TOPK.RESERVE", "t")
        self.arity("TOPK.RESERVE", "t", "5", "10")
        self.arity("TOPK.RESERVE", "t", "5", "10", "3")
        self.arity("TOPK.RESERVE", "t", "5", "10", "3", "0.9", "x")
        self.assertEqual(0, self.call("EXISTS", "t"))

    def test_lists(self):
        self.call("TOPK.RESERVE", "t", "2", "50", "4", "0.9")
        self.assertEqual([None, None, None, None], self.call("TOPK.ADD", "t", "a", "b", "a", "c"))
        self.assertEqual([b"a", b"b"], self.call("TOPK.LIST", "t"))
        self.assertEqual([b"b", None], self.call("TOPK.INCRBY", "t", "d", "5", "a", "1"))
        for call in (self.call, self.three):
            self.assertEqual([b"d", b"a"], call("TOPK.LIST", "t"))
            self.assertEqual([b"d", 5, b"a", 3], call("TOPK.LIST", "t", "withcount"))
            self.assertEqual([3, 5, 1], call("TOPK.COUNT", "t", "a", "d", "b"))
        self.assertEqual([1, 0], self.call("TOPK.QUERY", "t", "a", "b"))
        self.assertEqual([True, False], self.three("TOPK.QUERY", "t", "a", "b"))
        self.assertEqual([None, b"a"], self.three("TOPK.INCRBY", "t", b"\0\xff", "0", b"\0\xff", "100000"))
        self.assertEqual([b"\0\xff", 100000, b"d", 5], self.three("TOPK.LIST", "t", "WITHCOUNT"))
        self.refused("WITHCOUNT keyword expected", "TOPK.LIST", "t", "COUNTS")
        self.arity("TOPK.LIST", "t", "WITHCOUNT", "x")

    def test_finds_the_most_frequent(self):
        self.call("TOPK.RESERVE", "t", "10", "200", "5", "0.9")
        for round in range(100):
            self.call("TOPK.ADD", "t", *(f"heavy {i}" for i in range(10)), *(f"light {round} {i}" for i in range(50)))
        self.assertEqual({f"heavy {i}".encode() for i in range(10)}, set(self.call("TOPK.LIST", "t")))

    def test_bad_numbers_end_the_reply(self):
        self.call("TOPK.RESERVE", "t", "3")
        for bad in ("x", "-1", "100001", "1.5", "9223372036854775808"):
            self.assertEqual([None, INCREMENT], self.call("TOPK.INCRBY", "t", "a", "5", "b", bad, "c", "5"))
        self.assertEqual([b"a", 25], self.call("TOPK.LIST", "t", "WITHCOUNT"))
        self.call("DEL", "t")
        self.call("TOPK.RESERVE", "t", "3")
        self.arity("TOPK.INCRBY", "t", "a", "5", "b")
        # The longest that can be listed has 64 KiB; one that is too long is refused with all that
        # came with it.
        self.assertEqual([None], self.call("TOPK.ADD", "t", "x" * 65536))
        self.assertRegex(self.call("TOPK.ADD", "t", "a", "x" * 65537), "^ERR the length of a key")
        self.assertEqual([b"x" * 65536], self.call("TOPK.LIST", "t"))

    def test_missing_keys_and_wrong_types(self):
        commands = (("TOPK.ADD", "t", "a"), ("TOPK.INCRBY", "t", "a", "1"), ("TOPK.QUERY", "t", "a"),
                    ("TOPK.COUNT", "t", "a"), ("TOPK.LIST", "t"), ("TOPK.INFO", "t"))
        for args in commands:
            self.refused(MISSING, *args)
        self.call("SET", "t", "text")
        for args in commands:
            self.refused(WRONGTYPE, *args)
        self.refused("TopK: key already exists", "TOPK.RESERVE", "t", "3")
        for args in (("TOPK.ADD", "t"), ("TOPK.QUERY", "t"), ("TOPK.COUNT", "t"), ("TOPK.LIST",), ("TOPK.INFO",)):
            self.arity(*args)

    def test_metadata(self):
        for name in ("topk.reserve", "topk.add", "topk.incrby"):
            self.assertLessEqual({"write", "denyoom"}, set(self.call("COMMAND", "INFO", name)[0][2]), name)
        for name in ("topk.query", "topk.count", "topk.info"):
            self.assertLessEqual({"readonly", "fast"}, set(self.call("COMMAND", "INFO", name)[0][2]), name)

    def test_pieces_of_one_that_is_asked_meanwhile(self):
        self.call("TOPK.RESERVE", "t", "3")
        self.call("TOPK.ADD", "t", "a", "b")
        position, start = self.call("TOPK.SCANDUMP", "t", 0)
        # All of these look at the same words.
        self.call("DEBUG", "DIGEST-VALUE", "t")
        self.call("MEMORY", "USAGE", "t")
        self.call("COPY", "t", "u")
        self.call("DUMP", "t")
        self.assertRegex(self.call("TOPK.ADD", "t", "x" * 65537), "^ERR ")
        self.call("TOPK.ADD", "t", "c")
        self.call("TOPK.LOADCHUNK", "then", position, start)
        while position:
            position, data = self.call("TOPK.SCANDUMP", "t", position)
            if position:
                self.assertEqual("OK", self.call("TOPK.LOADCHUNK", "then", position, data))
        self.assertEqual([b"a", b"b"], self.call("TOPK.LIST", "then"))
        commands = keeping.all_pieces(self.call, "TOPK.SCANDUMP", "TOPK.LOADCHUNK", "t", "v")
        self.call("DEBUG", "DIGEST-VALUE", "t")
        for command in commands:
            self.assertEqual("OK", self.call(*command))
        self.assertEqual([b"a", b"b", b"c"], self.call("TOPK.LIST", "v"))


class kept(keeping.kept_test):
    prefix = "TOPK"
    filled = [("TOPK.RESERVE", "a", "5", "10", "3", "0.95"), ("TOPK.ADD", "a", *(i % 37 for i in range(500))),
              ("TOPK.RESERVE", "b", "3"), ("TOPK.INCRBY", "b", "x", "7", "y", "70", "z", "3", "u", "9"),
              ("TOPK.RESERVE", "c", "3", "20", "2", "1"), ("TOPK.RESERVE", "d", "2", "2", "2", "0.5"),
              ("TOPK.ADD", "d", *range(100))]
    # The draws go on where they were.
    changed = [("TOPK.ADD", "a", *(i * i % 41 for i in range(500))), ("TOPK.INCRBY", "b", "z", "100"),
               ("TOPK.ADD", "c", "one"), ("TOPK.ADD", "d", *(i % 7 for i in range(300)))]


class client(harness.server_test):
    """The commands as redis-py makes them."""

    def test_topk(self):
        topk = self.server.connect(decode_responses=True).topk()
        self.assertTrue(topk.reserve("t", 3, 10, 3, 0.9))
        self.assertEqual([None] * 4, topk.add("t", "A", "B", "A", "C"))
        self.assertEqual([None, "B"], topk.incrby("t", ["C", "D"], [5, 6]))
        self.assertEqual([1, 0], topk.query("t", "A", "B"))
        self.assertEqual(["C", "D", "A"], topk.list("t"))
        self.assertEqual(["C", 6, "D", 6, "A", 2], topk.list("t", withcount=True))
        info = topk.info("t")
        self.assertEqual((3, 10, 3, 0.9), (info.k, info.width, info.depth, float(info.decay)))


if __name__ == "__main__":
    unittest.main()
