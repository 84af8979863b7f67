"""TDIGEST: the replies that clients know, with numbers from the commands' public documentation, and
what survives.
"""
import math
import random
import struct
import unittest

import harness
from persistence_test import sealed


def reals(answer):
    return [float(x) for x in answer]


class t_digest(harness.server_test):
    def fill(self, key="t", numbers=(1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5), *options):
        self.assertEqual("OK", self.call("TDIGEST.CREATE", key, *options))
        self.assertEqual("OK", self.call("TDIGEST.ADD", key, *numbers))

    def test_answers(self):
        self.fill()
        self.assertEqual([1, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5],
                         reals(self.call("TDIGEST.QUANTILE", "t", *[i / 10 for i in range(11)])))
        self.assertEqual([0, 0.033, 0.133, 0.3, 0.533, 0.833, 1],
                         [round(x, 3) for x in reals(self.call("TDIGEST.CDF", "t", *range(7)))])
        self.assertEqual([1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, math.inf],
                         reals(self.call("TDIGEST.BYRANK", "t", *range(16))))
        self.assertEqual([5, 5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 2, 2, 1, -math.inf],
                         reals(self.call("TDIGEST.BYREVRANK", "t", *range(16))))
        self.assertEqual([1.0, 5.0], [float(self.call("TDIGEST.MIN", "t")), float(self.call("TDIGEST.MAX", "t"))])
        self.fill("s", range(10, 70, 10))
        self.assertEqual([-1, 0, 1, 2, 3, 4, 5, 6], self.call("TDIGEST.RANK", "s", *range(0, 80, 10)))
        self.assertEqual([6, 5, 4, 3, 2, 1, 0, -1], self.call("TDIGEST.REVRANK", "s", *range(0, 80, 10)))
        self.fill("ten", range(1, 11))
        self.assertEqual([4, 6.5, 5.5], [float(self.call("TDIGEST.TRIMMED_MEAN", "ten", *cut)) for cut in (
            (0.1, 0.6), (0.3, 0.9), (0, 1))])
        self.assertEqual([1.0, 10.0], self.three("TDIGEST.QUANTILE", "ten", 0, 1))
        info = self.three("TDIGEST.INFO", "ten")
        self.assertEqual(["Compression", "Capacity", "Merged nodes", "Unmerged nodes", "Merged weight",
                          "Unmerged weight", "Observations", "Total compressions", "Memory usage"], list(info))
        self.assertEqual([100, 610, 10], [info[n] for n in ("Compression", "Capacity", "Observations")])

    def test_empty(self):
        self.call("TDIGEST.CREATE", "e", "COMPRESSION", "500")
        for command in (("QUANTILE", "0.5"), ("CDF", "1"), ("BYRANK", "1"), ("BYREVRANK", "1")):
            self.assertTrue(math.isnan(reals(self.call("TDIGEST." + command[0], "e", command[1]))[0]), command)
        for command in (("MIN",), ("MAX",), ("TRIMMED_MEAN", "0", "1")):
            self.assertTrue(math.isnan(float(self.call("TDIGEST." + command[0], "e", *command[1:]))), command)
        self.assertEqual([-2], self.call("TDIGEST.RANK", "e", "1"))
        self.assertEqual([-2], self.call("TDIGEST.REVRANK", "e", "1"))

    def test_refusals(self):
        self.fill()
        self.call("SET", "text", "x")
        for command in ("ADD", "QUANTILE", "CDF", "RANK", "BYRANK"):
            self.refused("ERR T-Digest: key does not exist", "TDIGEST." + command, "none", "1")
            self.refused("WRONGTYPE Operation against a key holding the wrong kind of value",
                         "TDIGEST." + command, "text", "1")
        self.refused("ERR T-Digest: key already exists", "TDIGEST.CREATE", "t")
        self.refused("ERR T-Digest: wrong keyword", "TDIGEST.CREATE", "n", "PRESSURE", "1")
        self.refused("ERR T-Digest: error parsing compression parameter", "TDIGEST.CREATE", "n", "COMPRESSION", "x")
        self.refused("ERR T-Digest: compression parameter needs to be a positive integer",
                     "TDIGEST.CREATE", "n", "COMPRESSION", "0")
        self.refused("ERR T-Digest: allocation failed", "TDIGEST.CREATE", "n", "COMPRESSION", "9223372036854775807")
        self.refused("ERR T-Digest: error parsing val parameter", "TDIGEST.ADD", "t", "1", "x")
        self.refused("ERR T-Digest: val parameter needs to be a finite number", "TDIGEST.ADD", "t", "1", "inf")
        self.assertEqual(15, self.three("TDIGEST.INFO", "t")["Observations"])
        self.refused("ERR T-Digest: quantile should be in [0,1]", "TDIGEST.QUANTILE", "t", "1.1")
        self.refused("ERR T-Digest: rank needs to be non negative", "TDIGEST.BYRANK", "t", "-1")
        self.refused("ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile",
                     "TDIGEST.TRIMMED_MEAN", "t", "0.5", "0.5")
        self.refused("ERR T-Digest: numkeys needs to be a positive integer", "TDIGEST.MERGE", "d", "0", "t")
        self.refused("ERR T-Digest: wrong keyword", "TDIGEST.MERGE", "d", "1", "t", "WORD")
        self.refused("ERR T-Digest: key does not exist", "TDIGEST.MERGE", "d", "2", "t", "none")
        self.arity("TDIGEST.ADD", "t")
        self.arity("TDIGEST.CREATE", "n", "COMPRESSION")

    def test_merge(self):
        self.fill("a", [10, 20], "COMPRESSION", "50")
        self.fill("b", [30, 40], "COMPRESSION", "200")
        self.assertEqual("OK", self.call("TDIGEST.MERGE", "d", "2", "a", "b"))
        self.assertEqual([200, 4], [self.three("TDIGEST.INFO", "d")[n] for n in ("Compression", "Observations")])
        self.assertEqual("OK", self.call("TDIGEST.MERGE", "a", "1", "b"))
        self.assertEqual([50, 4], [self.three("TDIGEST.INFO", "a")[n] for n in ("Compression", "Observations")])
        self.assertEqual("OK", self.call("TDIGEST.MERGE", "d", "1", "b", "COMPRESSION", "70", "OVERRIDE"))
        self.assertEqual([70, 2], [self.three("TDIGEST.INFO", "d")[n] for n in ("Compression", "Observations")])
        self.assertEqual("OK", self.call("TDIGEST.RESET", "d"))
        self.assertEqual(0, self.three("TDIGEST.INFO", "d")["Observations"])

    def test_survives(self):
        rng = random.Random(3)
        numbers = [rng.gauss(100, 15) for _ in range(20_000)]
        self.fill("t", numbers)
        self.call("TDIGEST.CREATE", "empty")
        # Asked on one side only: the digests stay the same.
        asked = reals(self.call("TDIGEST.QUANTILE", "t", "0.5", "0.999"))
        numbers.sort()
        self.assertLess(abs(numbers[10_000] - asked[0]), 0.5)
        self.assertLess(abs(numbers[19_980] - asked[1]), 1.5)
        digests = self.call("DEBUG", "DIGEST-VALUE", "t", "empty")
        for key in ("t", "empty"):
            self.assertEqual("OK", self.call("RESTORE", "r", "0", self.call("DUMP", key), "REPLACE"))
            self.call("COPY", key, "c", "REPLACE")
            self.assertEqual(1, len(set(self.call("DEBUG", "DIGEST-VALUE", key, "r", "c"))))
        self.call("DEBUG", "RELOAD")
        self.assertEqual(digests, self.call("DEBUG", "DIGEST-VALUE", "t", "empty"))
        self.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        self.call("CONFIG", "SET", "appendonly", "yes")
        harness.wait_until(lambda: "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode() and
                           "aof_rewrite_scheduled:0" in self.call("INFO", "persistence").decode())
        self.call("TDIGEST.ADD", "t", "7")
        digests = self.call("DEBUG", "DIGEST-VALUE", "t", "empty")
        self.call("DEBUG", "LOADAOF")
        self.assertEqual(digests, self.call("DEBUG", "DIGEST-VALUE", "t", "empty"))
        self.call("CONFIG", "SET", "appendonly", "no")

    def test_what_is_loaded_goes_on_as_it_would_have(self):
        # Passes over a digest come when its buffer is full: not sooner where it was loaded
        # meanwhile.
        rng = random.Random(4)
        self.fill("t", [rng.gauss(0, 1) for _ in range(300)])
        self.call("COPY", "t", "same")
        for way in (lambda: self.call("DEBUG", "RELOAD"), self.rewrite_and_load):
            for _ in range(5):
                self.call("RESTORE", "t", "0", self.call("DUMP", "t"), "REPLACE")
                numbers = [rng.gauss(0, 1) for _ in range(100)]
                for key in ("t", "same"):
                    self.call("TDIGEST.ADD", key, *numbers)
                self.assertEqual(1, len(set(self.call("DEBUG", "DIGEST-VALUE", "t", "same"))))
                self.assertEqual(self.call("TDIGEST.QUANTILE", "t", "0.01", "0.5", "0.99"),
                                 self.call("TDIGEST.QUANTILE", "same", "0.01", "0.5", "0.99"))
            digest = self.call("DEBUG", "DIGEST-VALUE", "t")
            way()
            self.assertEqual(digest, self.call("DEBUG", "DIGEST-VALUE", "t"))

    def rewrite_and_load(self):
        self.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        self.call("CONFIG", "SET", "appendonly", "yes")
        harness.wait_until(lambda: "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode() and
                           "aof_rewrite_scheduled:0" in self.call("INFO", "persistence").decode())
        self.call("DEBUG", "LOADAOF")
        self.call("CONFIG", "SET", "appendonly", "no")

    def test_damaged_dumps(self):
        self.fill("t", range(200))
        body = self.call("DUMP", "t")[:-8]
        rng = random.Random(9)
        for at in range(2, len(body) - 2):
            broken = bytearray(body)
            broken[at] ^= 1 << rng.randrange(8)
            self.call("RESTORE", "r", "0", sealed(bytes(broken)), "REPLACE")
            self.call("TDIGEST.ADD", "r", "1", "2")
            self.call("TDIGEST.QUANTILE", "r", "0.5")
        huge = body[:11] + b"".join((b"\x04" + struct.pack("<d", x)) for x in (100, 1, 2))
        huge += b"\x01\x40\x64" + b"\x01\x81" + (2**40).to_bytes(8, "big")
        self.assertIsInstance(self.call("RESTORE", "r", "0", sealed(huge + body[-2:]), "REPLACE"), harness.Raw.Error)
        self.assertTrue(self.server.alive())


if __name__ == "__main__":
    unittest.main()
