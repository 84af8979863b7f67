"""The module in its server: limits, settings, events, metadata, sizes; and filters exchanged with
the tool.
"""
import pathlib
import random
import re
import subprocess
import tempfile
import time
import unittest

import harness

NO_MEMORY = "ERR Insufficient memory to create filter"


class commands(harness.server_test):
    """What other modules of the kind do not have."""

    def test_merge(self):
        self.call("BF.MADD", "a", "1", "2")
        self.call("BF.MADD", "b", "2", "3")
        self.assertEqual("OK", self.call("BF.MERGE", "u", "a", "b"))
        self.assertEqual([1, 1, 1, 0], self.call("BF.MEXISTS", "u", "1", "2", "3", "4"))
        self.assertEqual("OK", self.call("BF.MERGE", "a", "b"))
        self.assertEqual([1, 1, 1], self.call("BF.MEXISTS", "a", "1", "2", "3"))
        self.assertEqual([0, 1, 1], self.call("BF.MEXISTS", "b", "1", "2", "3"))
        self.refused("ERR not found", "BF.MERGE", "u", "a", "missing")
        self.refused("ERR not found", "BF.MERGE", "new", "missing")
        self.call("SET", "s", "text")
        self.refused("WRONGTYPE Operation against a key holding the wrong kind of value", "BF.MERGE", "u", "s")
        self.call("BF.RESERVE", "fixed", "0.01", "1000", "NONSCALING")
        self.call("BF.RESERVE", "larger", "0.01", "9000", "NONSCALING")
        self.assertRegex(self.call("BF.MERGE", "fixed", "larger"), "^ERR .*bits")
        self.assertRegex(self.call("BF.MERGE", "fixed", "a"), "^ERR .*kind")
        self.arity("BF.MERGE", "u")

    def test_compare(self):
        for key in ("a", "b"):
            self.call("BF.RESERVE", key, "0.001", "20000")
        self.call("BF.MADD", "a", *range(10000))
        self.call("BF.MADD", "b", *range(8000, 18000))
        answer = self.three("BF.COMPARE", "a", "b")
        self.assertEqual({"keys_a", "keys_b", "keys_union", "keys_intersection", "jaccard"}, set(answer))
        # The library's tests have the errors of the estimates; these are ten times wider.
        self.assertAlmostEqual(10000, answer["keys_a"], delta=300)
        self.assertAlmostEqual(18000, answer["keys_union"], delta=500)
        self.assertAlmostEqual(2000, answer["keys_intersection"], delta=500)
        self.assertAlmostEqual(2 / 18, answer["jaccard"], delta=0.03)
        flat = self.call("BF.COMPARE", "a", "b")
        self.assertEqual(answer["keys_a"], float(flat[1]))
        self.refused("ERR not found", "BF.COMPARE", "a", "missing")
        self.call("BF.RESERVE", "c", "0.01", "20000")
        self.assertRegex(self.call("BF.COMPARE", "a", "c"), "^ERR ")

    def test_removal(self):
        self.call("BF.RESERVE", "f", "0.001", "1000", "COUNTING")
        self.assertEqual([1, 1, 0], self.call("BF.MADD", "f", "a", "b", "b"))
        self.assertEqual(1, self.call("BF.REM", "f", "a"))
        self.assertIs(False, self.three("BF.REM", "f", "a"))
        self.assertEqual(0, self.call("BF.EXISTS", "f", "a"))
        # As often as it was added.
        self.assertEqual([1, 0], self.call("BF.MREM", "f", "b", "c"))
        self.assertEqual(1, self.call("BF.EXISTS", "f", "b"))
        self.assertEqual([True, False], self.three("BF.MREM", "f", "b", "b"))
        self.assertEqual(0, self.call("BF.CARD", "f"))
        self.refused("ERR not found", "BF.REM", "missing", "a")
        self.call("BF.ADD", "plain", "a")
        self.refused("ERR items can be removed from filters that were reserved with COUNTING only",
                     "BF.REM", "plain", "a")
        self.call("BF.RESERVE", "small", "0.001", "2", "COUNTING")
        self.assertEqual([1, 1, "ERR non scaling filter is full"], self.call("BF.MADD", "small", "a", "b", "c"))
        self.refused("Nonscaling filters cannot expand", "BF.RESERVE", "g", "0.01", "100", "COUNTING", "EXPANSION", "2")

    def test_what_is_acknowledged_is_counted(self):
        full = "ERR non scaling filter is full"
        for batches in ([["x", "x", "x"]], [["x"]] * 3):
            self.call("BF.RESERVE", "small", "0.01", "2", "COUNTING")
            self.assertEqual([1, 0, full], [a for batch in batches for a in self.call("BF.MADD", "small", *batch)])
            self.assertEqual([1, 1, 0], [self.call("BF.REM", "small", "x") for _ in range(3)])
            self.call("DEL", "small")
        # More than there is room for in one call: some are taken for items that are there.
        items = [f"item {i}" for i in range(10_300)]
        self.call("BF.RESERVE", "f", "0.01", "10000", "COUNTING")
        answers = self.call("BF.MADD", "f", *items)
        self.assertEqual(full, answers[-1])
        counted = items[:len(answers) - 1]
        self.assertEqual(10_000, len(counted))
        self.assertIn(0, answers)
        self.call("BF.MREM", "f", *counted[::2])
        self.assertEqual([1] * len(counted[1::2]), self.call("BF.MEXISTS", "f", *counted[1::2]))

    def test_windows(self):
        self.refused("ERR bad window", "BF.RESERVE", "w", "0.01", "100", "WINDOW")
        self.refused("ERR window must be in the range [0.1, 1000000000] seconds", "BF.RESERVE", "w", "0.01", "100",
                     "WINDOW", "0")
        self.refused("ERR generations must be in the range [1, 63]", "BF.RESERVE", "w", "0.01", "100", "WINDOW", "5",
                     "GENERATIONS", "64")
        self.refused("ERR a filter has either COUNTING or WINDOW", "BF.RESERVE", "w", "0.01", "100", "WINDOW", "5",
                     "COUNTING")
        self.call("BF.RESERVE", "w", "0.01", "100", "WINDOW", "1000000")
        self.assertEqual([1, 0], self.call("BF.MADD", "w", "a", "a"))
        now = int(self.call("TIME")[0]) * 1000
        # Clients may set the clock, but not ahead of the server's by more than one of the four
        # generations.
        self.assertEqual("OK", self.call("BF.ROTATE", "w", now + 200_000_000))
        self.assertEqual(1, self.call("BF.EXISTS", "w", "a"))
        self.refused("ERR the time is ahead of the server's by more than a generation", "BF.ROTATE", "w",
                     now + 300_000_000)
        self.refused("ERR bad time", "BF.ROTATE", "w", "-1")
        self.call("BF.ADD", "plain", "a")
        self.refused("ERR the filter has no window", "BF.ROTATE", "plain", "5")

    def test_windows_keep_their_rate(self):
        """Ten times the capacity in one moment: the last of them are remembered, and the error is
        as reserved.
        """
        self.call("BF.RESERVE", "fast", "0.01", "1000", "WINDOW", "1000")
        self.call("BF.MADD", "fast", *range(1000))
        self.assertEqual(1000, sum(self.call("BF.MEXISTS", "fast", *range(1000))))
        self.assertEqual(1000, self.three("BF.STATS", "fast")["window_covered"])
        self.call("BF.MADD", "fast", *range(1000, 10_000))
        self.assertEqual(1000, sum(self.call("BF.MEXISTS", "fast", *range(9000, 10_000))))
        # 100 of 10,000 are expected, 10 the standard deviation.
        self.assertLess(sum(self.call("BF.MEXISTS", "fast", *range(20_000, 30_000))), 150)
        stats = self.three("BF.STATS", "fast")
        self.assertLess(stats["fpr"], 0.01)
        self.assertLess(stats["window_covered"], 1000)
        # The same item again and again pushes nothing out.
        self.call("BF.RESERVE", "hot", "0.01", "1000", "WINDOW", "1000")
        self.call("BF.MADD", "hot", *range(500))
        for _ in range(20):
            self.call("BF.MADD", "hot", *["again"] * 500)
        self.assertEqual(500, sum(self.call("BF.MEXISTS", "hot", *range(500))))

    def test_windows_that_no_step_divides(self):
        """Remembered for the whole window, whatever the steps of the clock."""
        self.call("BF.RESERVE", "odd", "0.0001", "1000", "WINDOW", "1.001", "GENERATIONS", "7")
        added = {}
        for item in range(12):
            added[item] = time.monotonic()
            self.call("BF.ADD", "odd", item)
            time.sleep(0.03)
        while added:
            known = self.call("BF.MEXISTS", "odd", *added)
            now = time.monotonic()
            for item, there in zip(tuple(added), known):
                if not there:
                    self.assertGreaterEqual(now - added.pop(item), 1.001)
            time.sleep(0.01)

    def test_stats(self):
        self.call("BF.RESERVE", "f", "0.01", "10000")
        self.call("BF.MADD", "f", *range(10000))
        stats = self.three("BF.STATS", "f")
        self.assertEqual(b"layered", stats["kind"])
        self.assertEqual(1, stats["layers"])
        self.assertGreater(stats["fill"], 0.3)
        self.assertLess(stats["fpr"], 0.01)
        self.assertEqual(0.01, stats["fpr_target"])
        self.assertLess(stats["bits_per_key"], 11)
        self.refused("ERR not found", "BF.STATS", "missing")


class server(harness.server_test):
    def test_sizes_and_rates(self):
        self.call("BF.RESERVE", "f", "0.01", "1000000")
        self.call("BF.RESERVE", "fixed", "0.01", "1000000", "NONSCALING")
        for key in ("f", "fixed"):
            for first in range(0, 1000000, 20000):
                self.call("BF.MADD", key, *range(first, first + 20000))
            self.assertLess(self.call("BF.INFO", key, "SIZE")[0] * 8, 10.4e6)
            self.assertGreater(self.call("MEMORY", "USAGE", key), 1.2e6)
            self.assertEqual(1, self.call("BF.INFO", key, "FILTERS")[0])
            # 100,000 other items: 1 % is 1000, and three standard deviations are 95.
            wrong = sum(sum(self.call("BF.MEXISTS", key, *range(first, first + 20000)))
                        for first in range(2000000, 2100000, 20000))
            self.assertLess(wrong, 1095)

    def test_memory_is_the_servers(self):
        before = int(re.search(r"used_memory:(\d+)", self.call("INFO", "memory").decode())[1])
        self.call("BF.RESERVE", "f", "0.01", "8000000")
        after = int(re.search(r"used_memory:(\d+)", self.call("INFO", "memory").decode())[1])
        self.assertGreater(after - before, 10e6)
        self.call("DEL", "f")
        harness.wait_until(lambda: int(re.search(r"used_memory:(\d+)", self.call("INFO", "memory").decode())[1]) < after - 9e6)

    def test_limits(self):
        self.call("CONFIG", "SET", "maxmemory", "100mb")
        self.refused(NO_MEMORY, "BF.RESERVE", "x", "0.000001", "1000000000")
        self.refused(NO_MEMORY, "BF.RESERVE", "x", "0.0001", "100000000", "NONSCALING")
        self.assertEqual("OK", self.call("BF.RESERVE", "x", "0.01", "1000000"))
        self.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.refused(NO_MEMORY, "BF.RESERVE", "y", "0.000001", "1000000000")
        self.call("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
        self.call("CONFIG", "SET", "bf.max-filter-bytes", "1000000")
        self.refused(NO_MEMORY, "BF.RESERVE", "z", "0.01", "1000000")
        self.refused(NO_MEMORY, "BF.INSERT", "z", "CAPACITY", "1000000", "ITEMS", "a")
        self.assertEqual(0, self.call("EXISTS", "z"))
        self.call("CONFIG", "SET", "bf.max-filter-bytes", "0")

    def test_settings(self):
        self.assertEqual([b"bf.error-rate", b"0.01"], self.call("CONFIG", "GET", "bf.error-rate"))
        for name, number in (("initial-size", "7"), ("expansion-factor", "5")):
            self.assertEqual("OK", self.call("CONFIG", "SET", "bf." + name, number))
        self.assertEqual("OK", self.call("CONFIG", "SET", "bf.error-rate", "0.25"))
        self.call("BF.ADD", "f", "a")
        self.assertEqual([7], self.call("BF.INFO", "f", "CAPACITY"))
        self.assertEqual([5], self.call("BF.INFO", "f", "EXPANSION"))
        self.assertEqual(b"0.25", self.call("BF.STATS", "f")[13])
        for name, text in (("error-rate", "1.5"), ("error-rate", "x"), ("initial-size", "0"), ("expansion-factor", "-1")):
            self.assertIsInstance(self.call("CONFIG", "SET", "bf." + name, text), harness.Raw.Error, name)
        for name, number in (("initial-size", "100"), ("expansion-factor", "2"), ("error-rate", "0.01")):
            self.call("CONFIG", "SET", "bf." + name, number)

    def test_events(self):
        self.call("CONFIG", "SET", "notify-keyspace-events", "KEAd")
        listener = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(listener.close)
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        self.call("BF.RESERVE", "f", "0.01", "100")
        self.call("BF.ADD", "f", "a")
        self.call("BF.ADD", "f", "a")
        self.call("BF.MERGE", "g", "f")
        got = [listener.read()[2:] for _ in range(3)]
        self.assertEqual([[b"__keyevent@0__:bf.reserve", b"f"], [b"__keyevent@0__:bf.add", b"f"],
                          [b"__keyevent@0__:bf.merge", b"g"]], got)
        self.call("CONFIG", "SET", "notify-keyspace-events", "")

    def test_watch_sees_changes_only(self):
        self.call("BF.ADD", "f", "a")
        for item, outcome in (("a", ["PONG"]), ("b", None)):
            self.call("WATCH", "f")
            self.three("BF.ADD", "f", item)
            self.call("MULTI")
            self.call("PING")
            self.assertEqual(outcome, self.call("EXEC"))

    def test_what_the_server_knows(self):
        self.assertEqual([b"k"], self.call("COMMAND", "GETKEYS", "BF.ADD", "k", "i"))
        self.assertEqual([b"a", b"b", b"c"], self.call("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"))
        self.assertEqual([b"a", b"b"], self.call("COMMAND", "GETKEYS", "BF.COMPARE", "a", "b"))
        info = {c[0].decode(): c for c in self.call("COMMAND", "INFO", "bf.add", "bf.mexists", "bf.reserve")}
        self.assertEqual({"write", "denyoom", "module"}, set(info["bf.add"][2]) - {"fast"})
        self.assertEqual({"readonly", "fast", "module"}, set(info["bf.mexists"][2]))
        self.assertEqual([3, -3, -4], [info[c][1] for c in ("bf.add", "bf.mexists", "bf.reserve")])
        text = self.call("INFO", "everything").decode()
        self.assertIn("# bf_filters", text)
        for field in ("filters", "filters_created", "memory_bytes", "commands"):
            self.assertRegex(text, rf"bf_{field}:\d+")

    def test_arguments_of_loadmodule(self):
        with self.assertRaises(RuntimeError) as failed:
            harness.Server(module_args="error-rate 2").stop()
        self.assertIn("bad module argument error-rate", str(failed.exception))
        # There are others, all of them named.
        for name in ("initial-size", "cf-max-expansions", "bloom-use-random-seed"):
            self.assertIn(f", {name}", str(failed.exception))
        other = harness.Server(module_args="ERROR_RATE 0.1 INITIAL_SIZE 5")
        self.addCleanup(other.stop)
        raw = harness.Raw(other.port)
        self.addCleanup(raw.close)
        raw("BF.ADD", "f", "a")
        self.assertEqual({"Capacity": 5}, raw("BF.INFO", "f", "CAPACITY"))


def packed(*args):
    return b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p.encode()) for p in args)


class slow_work(harness.server_test):
    """What takes long on large filters is done in slices: others are served meanwhile."""

    def setUp(self):
        super().setUp()
        for key in ("a", "b"):
            self.call("BF.RESERVE", key, "0.01", "10000000")
            self.call("BF.MADD", key, *range(1000))

    def read_all(self, command, key):
        pieces, iterator = [], 0
        while True:
            iterator, data = self.call(command, key, iterator)
            pieces.append(data)
            if iterator == 0:
                return b"".join(pieces)

    def test_results(self):
        answer = self.call("BF.COMPARE", "a", "b")
        self.assertAlmostEqual(1000, float(answer[7]), delta=50)
        # In a transaction nobody may wait; the answer is the same.
        self.call("MULTI")
        self.call("BF.COMPARE", "a", "b")
        self.call("BF.EXPORT", "a", "0")
        together = self.call("EXEC")
        self.assertEqual(answer, together[0])
        image = self.read_all("BF.EXPORT", "a")
        self.assertEqual(together[1][1], image[:len(together[1][1])])
        self.assertGreater(len(image), 12_000_000)
        for offset in range(0, len(image), 10**7):
            self.assertEqual("OK", self.call("BF.IMPORT", "c", offset, image[offset:offset + 10**7]))
        self.assertEqual(answer[7], self.call("BF.COMPARE", "a", "c")[7])

    def test_statistics(self):
        self.call("BF.MADD", "a", *range(1000, 30000))
        for kind, keys in (("scaling", 30000), ("NONSCALING", 2000)):
            if kind == "NONSCALING":
                self.call("DEL", "a")
                self.call("BF.RESERVE", "a", "0.01", "10000000", kind)
                self.call("BF.MADD", "a", *range(keys))
            answer = self.call("BF.STATS", "a")
            self.call("MULTI")  # nobody may wait
            self.call("BF.STATS", "a")
            at_once = self.call("EXEC")[0]
            self.assertEqual(keys, answer[3])
            self.assertEqual(answer[:10], at_once[:10])  # the fill is the last of these
            self.assertEqual(answer[12:], at_once[12:])
            self.assertGreater(float(answer[9]), 0)
            self.assertAlmostEqual(1, float(answer[11]) / float(at_once[11]), places=9)
        waiting = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(waiting.close)
        def waits():
            waiting.socket.sendall(packed("BF.STATS", "b"))
            others_are_served = b"blocked_clients:1" in self.call("INFO", "clients")
            waiting.read()
            return others_are_served
        harness.wait_until(waits, what="an answer in slices")

    def while_waiting(self, command, *others):
        """The answer to a command that was still waiting when the others had been answered."""
        def asked():
            waiting = harness.Raw(self.server.port, protocol=2)
            self.addCleanup(waiting.close)
            waiting.socket.sendall(packed(*command))
            if b"blocked_clients:1" not in self.call("INFO", "clients"):
                waiting.read()
                return None
            for other in others:
                self.call(*other)
            late = b"blocked_clients:1" not in self.call("INFO", "clients")
            return (waiting.read(), late)
        return harness.wait_until(asked, what="an answer that takes a while")[0]

    def test_statistics_are_of_one_moment(self):
        """Those of a filter that a write copied meanwhile, for somebody who reads pieces of it; and
        of one that was deleted or replaced.
        """
        self.call("BF.RESERVE", "f", "0.01", "10000000", "NONSCALING")
        self.call("BF.MADD", "f", *range(20000))
        reader = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(reader.close)
        reader("BF.SCANDUMP", "f", 0)
        before = self.call("BF.STATS", "f")
        answer = self.while_waiting(("BF.STATS", "f"), ("BF.MADD", "f", *range(20000, 40000)))
        after = self.call("BF.STATS", "f")
        self.assertGreater(float(after[9]), 1.5 * float(before[9]))
        self.assertIn((answer[3], answer[9]), ((before[3], before[9]), (after[3], after[9])))
        self.assertEqual(after, self.while_waiting(("BF.STATS", "f"), ("DEL", "f")))

    def test_statistics_of_every_kind_keep_nobody_waiting(self):
        for words in (("0.01", "10000000", "COUNTING"), ("1e-10", "10000000", "NONSCALING"),
                      ("0.01", "20000000", "WINDOW", "1000")):
            self.call("BF.RESERVE", "f", *words)
            self.call("BF.MADD", "f", *range(1000))
            self.call("MULTI")  # nobody may wait
            self.call("BF.STATS", "f")
            expected = self.call("EXEC")[0]
            self.assertEqual(1000, expected[3])
            self.assertEqual(expected[:16], self.while_waiting(("BF.STATS", "f"), ("BF.ADD", "f", "new"))[:16])
            if "COUNTING" in words:  # which takes longest
                self.assertLess(self.time_of("BF.STATS", "f"), self.time_of("EVAL", "return redis.call('BF.STATS', 'f')", 0) / 3)
            self.call("DEL", "f")

    def time_of(self, *command):
        """Processor time of the server's thread."""
        def ran():
            with open(f"/proc/{self.server.process.pid}/schedstat") as file:
                return int(file.read().split()[0])
        before = ran()
        self.call(*command)
        return ran() - before

    def test_a_key_that_changes_meanwhile(self):
        for change in (("DEL", "a"), ("BF.ADD", "a", "new"), ("RENAME", "a", "z"), ("FLUSHALL",)):
            for command in (("BF.COMPARE", "a", "b"), ("BF.STATS", "a")):
                self.setUp()
                # One packet: the second command comes while the first one waits.
                waiting = harness.Raw(self.server.port, protocol=2)
                waiting.socket.sendall(packed(*command))
                self.three(*change)
                answer = waiting.read()
                waiting.close()
                # Or it was done before.
                self.assertTrue(isinstance(answer, list) or str(answer).startswith("ERR "), answer)
        self.assertEqual("PONG", self.call("PING"))

    def test_a_union_in_a_thread(self):
        for kind in ((), ("NONSCALING",)):
            for key, items in (("x", range(0, 1000)), ("y", range(500, 1500)), ("z", range(1200, 2000))):
                self.call("DEL", key)
                self.call("BF.RESERVE", key, "0.01", "10000000", *kind)
                self.call("BF.MADD", key, *items)
            self.call("DEL", "all", "at once")
            self.assertEqual("OK", self.call("BF.MERGE", "all", "x", "y", "z"))
            self.assertEqual([1] * 2000, self.call("BF.MEXISTS", "all", *range(2000)))
            self.call("MULTI")  # nobody may wait
            self.call("BF.MERGE", "at once", "x", "y", "z")
            self.assertEqual(["OK"], self.call("EXEC"))
            self.assertEqual(self.read_all("BF.EXPORT", "at once"), self.read_all("BF.EXPORT", "all"))
            # Into one that is there, and into itself.
            self.assertEqual("OK", self.call("BF.MERGE", "x", "x", "z"))
            self.assertEqual([1] * 1800, self.call("BF.MEXISTS", "x", *range(1000), *range(1200, 2000)))
        self.call("BF.RESERVE", "other", "0.01", "9000000", "NONSCALING")
        self.assertIsInstance(self.call("BF.MERGE", "x", "other"), harness.Raw.Error)
        self.call("SET", "text", "text")
        self.refused("WRONGTYPE Operation against a key holding the wrong kind of value", "BF.MERGE", "text", "x")

    def test_a_union_of_what_changes_meanwhile(self):
        for change in (("BF.ADD", "a", "new"), ("BF.ADD", "b", "new"), ("DEL", "a"), ("SET", "both", "1")):
            self.call("FLUSHALL")
            self.setUp()
            waiting = harness.Raw(self.server.port, protocol=2)
            waiting.socket.sendall(b"*4\r\n$8\r\nBF.MERGE\r\n$4\r\nboth\r\n$1\r\na\r\n$1\r\nb\r\n")
            self.three(*change)
            answer = waiting.read()
            waiting.close()
            if answer in ("OK", b"OK"):
                if self.call("TYPE", "both") == "string":  # the union came first
                    continue
                self.assertEqual([1] * 1000, self.call("BF.MEXISTS", "both", *range(1000)))
                if change[0] == "BF.ADD":
                    self.assertEqual(1, self.call("BF.EXISTS", change[1], "new"))
            else:
                self.assertIn(change[0], ("DEL", "SET"), answer)
        self.assertEqual("PONG", self.call("PING"))

    def test_a_client_that_leaves(self):
        for _ in range(5):
            gone = harness.Raw(self.server.port, protocol=2)
            gone.socket.sendall(b"*3\r\n$9\r\nBF.EXPORT\r\n$1\r\na\r\n$1\r\n0\r\n")
            gone.close()
        self.assertEqual(0, self.call("BF.EXISTS", "a", "nobody"))
        self.assertEqual(1, self.call("BF.ADD", "a", "somebody"))

    def test_pieces_are_of_one_moment(self):
        """Whatever happens to the filter while a client reads it, and whoever reads it too."""
        for command in ("BF.EXPORT", "BF.SCANDUMP"):
            before = self.read_all(command, "a")
            iterator, data = self.call(command, "a", 0)
            pieces = [data]
            for step in range(100):
                if not iterator:
                    break
                self.three("BF.ADD", "a", f"{command} {step}")
                if step == 1:
                    after = self.three(command, "a", 0)
                iterator, data = self.call(command, "a", iterator)
                pieces.append(data)
            self.assertEqual(before, b"".join(pieces))
            # Another client reads what it is now, and the first one does, too, when it begins
            # again.
            self.assertNotEqual(before, self.read_all(command, "a"))
            self.three(command, "a", after[0])

    def test_a_snapshot_takes_memory_only_while_it_is_read(self):
        def used():
            return int(re.search(r"used_memory:(\d+)", self.call("INFO", "memory").decode())[1])
        before = used()
        reader = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(reader.close)
        reader("BF.SCANDUMP", "a", 0)
        self.call("BF.ADD", "a", "new")
        self.assertGreater(used() - before, 10e6)
        reader.close()
        harness.wait_until(lambda: used() - before < 2e6, what="the snapshot's memory")
        # When there is none, who reads has to begin again; who writes does not wait.
        iterator, _ = self.call("BF.SCANDUMP", "a", 0)
        self.call("CONFIG", "SET", "maxmemory", used() + 6_000_000)
        self.assertEqual(1, self.three("BF.ADD", "a", "newer"))
        self.assertLess(used() - before, 4e6)
        self.call("CONFIG", "SET", "maxmemory", "0")

    def test_a_union_and_a_reader_of_its_source(self):
        """The union is lent a filter while somebody adds to it; who reads it then reads what it
        was.
        """
        for key in ("x", "y"):
            self.call("BF.RESERVE", key, "0.01", "20000000", "NONSCALING")
            self.call("BF.MADD", key, *range(1000))
        whole = self.read_all("BF.SCANDUMP", "x")
        iterator, data = self.call("BF.SCANDUMP", "x", 0)
        pieces = [data]
        merging = harness.Raw(self.server.port, protocol=2)
        merging.socket.sendall(b"*4\r\n$8\r\nBF.MERGE\r\n$4\r\nboth\r\n$1\r\nx\r\n$1\r\ny\r\n")
        for item in range(20):
            self.three("BF.ADD", "x", item)
        self.assertEqual("OK", merging.read())
        merging.close()
        while iterator:
            iterator, data = self.call("BF.SCANDUMP", "x", iterator)
            pieces.append(data)
        self.assertEqual(whole, b"".join(pieces))


class tool(harness.server_test):
    """Filters go to and from the tool, in pieces of any length."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.words = self.folder / "words"
        self.words.write_text("".join(f"word {i}\n" for i in range(50000)))

    def bloomery(self, *args):
        return subprocess.run([harness.TOOL, *map(str, args)], check=True, capture_output=True, text=True).stdout

    def import_file(self, path, key, size):
        data = path.read_bytes()
        for offset in range(0, len(data), size):
            self.assertEqual(0, self.call("EXISTS", key))
            self.assertEqual("OK", self.call("BF.IMPORT", key, offset, data[offset:offset + size]))
        self.assertEqual(1, self.call("EXISTS", key))

    def test_import(self):
        for kind in ("blocked", "scalable", "layered", "counting"):
            file = self.folder / "f"
            self.bloomery("build", "-q", "--kind", kind, "--seed", "5", "-o", file,
                          self.words)
            self.import_file(file, kind, random.Random(1).choice((1000, 7777, 10**6)))
            words = [f"word {i}" for i in range(40000, 60000)]
            answers = self.call("BF.MEXISTS", kind, *words)
            (self.folder / "asked").write_text("".join(w + "\n" for w in words))
            told = set(self.bloomery("check", file, self.folder / "asked").splitlines())
            self.assertEqual(told, {w for w, a in zip(words, answers) if a})
            self.assertEqual(50000, self.call("BF.CARD", kind))
        # It doubles, and goes on doing so.
        self.assertEqual([2], self.call("BF.INFO", "scalable", "EXPANSION"))
        more = [f"more {i}" for i in range(60000)]
        self.call("BF.MADD", "scalable", *more)
        self.assertEqual(60000, sum(self.call("BF.MEXISTS", "scalable", *more)))
        self.refused("ERR filters of fingerprints cannot be compared", "BF.COMPARE", "scalable", "scalable")

    def test_export(self):
        self.call("BF.MADD", "f", *[f"word {i}" for i in range(3000)])
        offset, data = 0, b""
        while True:
            offset, piece = self.call("BF.EXPORT", "f", offset)
            data += piece
            if offset == 0:
                break
        file = self.folder / "f"
        file.write_bytes(data)
        self.bloomery("verify", file)
        self.assertEqual(3000, len([w for w in self.bloomery("check", file, self.words).splitlines()
                                    if int(w.split()[1]) < 3000]))

    def test_a_bad_import_leaves_nothing(self):
        file = self.folder / "f"
        self.bloomery("build", "-q", "-o", file, self.words)
        data = file.read_bytes()
        self.refused("ERR iterator must be the offset of the data in the file", "BF.IMPORT", "k", "-1", "x")
        self.refused("ERR no import of this key was begun; begin at 0", "BF.IMPORT", "k", "5", "x")
        self.assertRegex(self.call("BF.IMPORT", "k", "0", b"x" * 300), "^ERR not a Bloomery filter")
        self.call("BF.IMPORT", "k", "0", data[:1000])
        self.refused("ERR the next piece begins at 1000", "BF.IMPORT", "k", "999", "x")
        broken = bytearray(data)
        broken[5000] ^= 1
        self.assertRegex(self.call("BF.IMPORT", "k", "1000", bytes(broken[1000:])), "^ERR .*damaged")
        self.refused("ERR no import of this key was begun; begin at 0", "BF.IMPORT", "k", "1000", "x")
        self.call("BF.IMPORT", "k", "0", data[:1000])
        self.assertRegex(self.call("BF.IMPORT", "k", "1000", data[1000:] + b"x"), "^ERR .*more bytes")
        self.bloomery("pack", "-q", "-o", self.folder / "packed", file)
        self.assertRegex(self.call("BF.IMPORT", "k", "0", (self.folder / "packed").read_bytes()), "^ERR .*packed")
        self.bloomery("build", "-q", "--kind", "fuse", "-o", file, self.words)
        self.assertRegex(self.call("BF.IMPORT", "k", "0", file.read_bytes()), "^ERR .*kind")
        self.assertEqual(0, self.call("EXISTS", "k"))
        self.call("BF.ADD", "k", "x")
        self.refused("ERR item exists", "BF.IMPORT", "k", "0", data)


if __name__ == "__main__":
    unittest.main()
