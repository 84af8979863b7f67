"""The commands of BF: replies in both protocols, error texts, sizes."""
import unittest

import harness

WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


class replies(harness.server_test):
    def test_reserve_and_info(self):
        self.assertEqual("OK", self.call("BF.RESERVE", "f", "0.01", "1000"))
        info = self.call("BF.INFO", "f")
        self.assertEqual(["Capacity", 1000, "Size", info[3], "Number of filters", 1, "Number of items inserted", 0,
                          "Expansion rate", 2], info)
        self.assertEqual({"Capacity": 1000, "Size": info[3], "Number of filters": 1, "Number of items inserted": 0,
                          "Expansion rate": 2}, self.three("BF.INFO", "f"))
        for option, name, number in (("CAPACITY", "Capacity", 1000), ("size", "Size", info[3]),
                                     ("Filters", "Number of filters", 1), ("ITEMS", "Number of items inserted", 0),
                                     ("EXPANSION", "Expansion rate", 2)):
            self.assertEqual([number], self.call("BF.INFO", "f", option))
            self.assertEqual({name: number}, self.three("BF.INFO", "f", option))
        self.call("BF.RESERVE", "fixed", "0.01", "1000", "NONSCALING")
        self.assertEqual([None], self.call("BF.INFO", "fixed", "EXPANSION"))
        self.assertEqual({"Expansion rate": None}, self.three("BF.INFO", "fixed", "EXPANSION"))
        self.call("BF.RESERVE", "wide", "0.01", "1000", "EXPANSION", "5")
        self.assertEqual([5], self.call("BF.INFO", "wide", "EXPANSION"))
        self.refused("Invalid information value", "BF.INFO", "f", "COLOUR")
        self.refused("ERR not found", "BF.INFO", "missing")

    def test_add_and_exists(self):
        self.assertEqual(1, self.call("BF.ADD", "f", "a"))
        self.assertEqual(0, self.call("BF.ADD", "f", "a"))
        self.assertIs(True, self.three("BF.ADD", "f", "b"))
        self.assertIs(False, self.three("BF.ADD", "f", "b"))
        self.assertEqual(1, self.call("BF.EXISTS", "f", "a"))
        self.assertEqual(0, self.call("BF.EXISTS", "f", "c"))
        self.assertIs(True, self.three("BF.EXISTS", "f", "b"))
        self.assertEqual([1, 0], self.call("BF.MEXISTS", "f", "a", "c"))
        self.assertEqual([True, False], self.three("BF.MEXISTS", "f", "a", "c"))
        self.assertEqual(0, self.call("BF.EXISTS", "missing", "a"))
        self.assertEqual([0, 0], self.call("BF.MEXISTS", "missing", "a", "b"))
        self.assertEqual(2, self.call("BF.CARD", "f"))
        self.assertEqual(0, self.call("BF.CARD", "missing"))
        # Like any filter that nobody described.
        self.assertEqual([100], self.call("BF.INFO", "f", "CAPACITY"))

    def test_madd_answers_in_sequence(self):
        self.assertEqual([1, 1, 0, 1], self.call("BF.MADD", "f", "a", "b", "a", "c"))
        self.assertEqual([False, True, False], self.three("BF.MADD", "f", "a", "d", "d"))
        self.assertEqual(4, self.call("BF.CARD", "f"))
        many = [f"item {i}" for i in range(500)]
        # Most are new; a few look as if they were there.
        self.assertGreater(sum(self.call("BF.MADD", "f", *many)), 480)
        self.assertEqual([1] * 500, self.call("BF.MEXISTS", "f", *many))
        self.assertEqual([0] * 500, self.call("BF.MADD", "f", *many))

    def test_filters_that_come_and_go(self):
        """Commands for one item fetch memory of the filter before: it may be another one, larger,
        gone, or no filter.
        """
        kinds = ([], ["NONSCALING"], ["EXPANSION", "4"])
        for turn in range(12):
            key = f"f{turn % 4}"
            self.call(*(("DEL", key), ("UNLINK", key), ("SET", key, "text"), ("FLUSHALL", "ASYNC"))[turn % 4])
            self.call("BF.EXISTS", key, "an item")
            self.call("DEL", key)
            self.call("BF.RESERVE", key, "0.01", 200_000 + turn, *kinds[turn % 3])
            for i in range(20):
                self.assertEqual(1, self.call("BF.ADD", key, f"{turn} {i}"))
                self.assertEqual(1, self.call("BF.EXISTS", key, f"{turn} {i}"))
                self.assertEqual(0, self.call("BF.EXISTS", "missing", f"{turn} {i}"))
                self.assertEqual(1, self.call("BF.ADD", f"small {turn}", i))
            self.call("CF.RESERVE", f"c{turn}", 500_000)
            for i in range(20):
                self.assertEqual(1, self.call("CF.ADD", f"c{turn}", i))
                self.assertEqual(1, self.call("CF.EXISTS", f"c{turn}", i))
                self.assertEqual(0, self.call("CF.EXISTS", f"c{turn - 1}", f"no {i}"))

    def test_items_are_bytes(self):
        self.assertEqual(1, self.call("BF.ADD", "f", b""))
        self.assertEqual(1, self.call("BF.ADD", "f", b"\0\xff\r\n"))
        self.assertEqual([1, 1, 0], self.call("BF.MEXISTS", "f", b"", b"\0\xff\r\n", b"\0"))

    def test_insert(self):
        self.assertEqual([1, 1], self.call("BF.INSERT", "f", "CAPACITY", "500", "ERROR", "0.001", "EXPANSION", "4",
                                           "ITEMS", "a", "b"))
        self.assertEqual([500], self.call("BF.INFO", "f", "CAPACITY"))
        self.assertEqual([4], self.call("BF.INFO", "f", "EXPANSION"))
        self.assertEqual([False, True], self.three("bf.insert", "f", "nocreate", "items", "a", "c"))
        self.refused("ERR not found", "BF.INSERT", "missing", "NOCREATE", "ITEMS", "a")
        self.assertEqual([1], self.call("BF.INSERT", "fixed", "NONSCALING", "CAPACITY", "1", "ITEMS", "a"))
        self.assertEqual([None], self.call("BF.INFO", "fixed", "EXPANSION"))
        self.refused("Bad capacity", "BF.INSERT", "g", "CAPACITY", "x", "ITEMS", "a")
        self.refused("Bad capacity", "BF.INSERT", "g", "CAPACITY", "0", "ITEMS", "a")
        self.refused("Bad error rate", "BF.INSERT", "g", "ERROR", "x", "ITEMS", "a")
        self.refused("Bad error rate", "BF.INSERT", "g", "ERROR", "1", "ITEMS", "a")
        self.refused("Bad expansion", "BF.INSERT", "g", "EXPANSION", "x", "ITEMS", "a")
        self.refused("Bad expansion", "BF.INSERT", "g", "EXPANSION", "32769", "ITEMS", "a")
        self.refused("Unknown argument received", "BF.INSERT", "g", "SIZE", "1", "ITEMS", "a")
        self.refused("Nonscaling filters cannot expand", "BF.INSERT", "g", "EXPANSION", "2", "NONSCALING", "ITEMS", "a")
        self.arity("BF.INSERT", "g", "NOCREATE", "ITEMS")
        self.refused("ERR not found", "BF.INSERT", "g", "NOCREATE")
        self.refused("Unknown argument received", "BF.INSERT", "g", "CAPACITY")
        self.assertEqual(0, self.call("EXISTS", "g"))
        # Without items it makes the filter, if there is none, and nothing else.
        self.assertEqual([], self.call("BF.INSERT", "g", "CAPACITY", "5", "NONSCALING"))
        self.assertEqual([], self.call("BF.INSERT", "g", "CAPACITY", "6"))
        self.assertEqual([5, 0, None], [self.call("BF.INFO", "g", f)[0] for f in ("CAPACITY", "ITEMS", "EXPANSION")])
        self.assertEqual([], self.three("BF.INSERT", "h"))
        self.assertEqual([100], self.call("BF.INFO", "h", "CAPACITY"))

    def test_a_full_filter_refuses(self):
        self.call("BF.RESERVE", "f", "0.0001", "3", "NONSCALING")
        full = "ERR non scaling filter is full"
        self.assertEqual([1, 1, 0, 1, full], self.call("BF.MADD", "f", "a", "b", "a", "c", "d", "e"))
        self.assertEqual([0, full], self.call("BF.MADD", "f", "a", "e", "b"))
        self.refused(full, "BF.ADD", "f", "d")
        self.assertEqual(0, self.call("BF.ADD", "f", "a"))
        self.assertEqual(3, self.call("BF.CARD", "f"))

    def test_reserve_refuses(self):
        for text, *args in (
                ("ERR bad error rate", "x", "100"),
                ("ERR error rate must be in the range (0.000000, 1.000000)", "0", "100"),
                ("ERR error rate must be in the range (0.000000, 1.000000)", "1", "100"),
                ("ERR bad error rate", "nan", "100"),
                ("ERR bad capacity", "0.01", "many"),
                ("ERR capacity must be in the range [1, 1073741824]", "0.01", "0"),
                ("ERR capacity must be in the range [1, 1073741824]", "0.01", "1073741825"),
                ("ERR no expansion", "0.01", "100", "EXPANSION"),
                ("ERR bad expansion", "0.01", "100", "EXPANSION", "x"),
                ("ERR expansion must be in the range [0, 32768]", "0.01", "100", "EXPANSION", "-1"),
                ("ERR expansion must be in the range [0, 32768]", "0.01", "100", "EXPANSION", "32769"),
                ("Nonscaling filters cannot expand", "0.01", "100", "EXPANSION", "2", "NONSCALING")):
            self.refused(text, "BF.RESERVE", "f", *args)
        self.assertEqual(0, self.call("EXISTS", "f"))
        self.call("BF.RESERVE", "f", "0.01", "100", "EXPANSION", "0")
        self.assertEqual([None], self.call("BF.INFO", "f", "EXPANSION"))
        self.refused("ERR item exists", "BF.RESERVE", "f", "0.01", "100")

    def test_wrong_types_and_arity(self):
        self.call("SET", "s", "text")
        for args in (("BF.RESERVE", "s", "0.01", "100"), ("BF.ADD", "s", "a"), ("BF.MADD", "s", "a"),
                     ("BF.INSERT", "s", "ITEMS", "a"), ("BF.INSERT", "s"), ("BF.CARD", "s"), ("BF.INFO", "s")):
            self.refused(WRONGTYPE, *args)
        self.assertEqual(0, self.call("BF.EXISTS", "s", "a"))
        self.assertEqual([0], self.call("BF.MEXISTS", "s", "a"))
        self.call("BF.ADD", "f", "a")
        self.refused(WRONGTYPE, "GET", "f")
        for args in (("BF.RESERVE", "f", "0.01"), ("BF.ADD", "f"), ("BF.ADD", "f", "a", "b"), ("BF.MADD", "f"),
                     ("BF.INSERT", "f", "ITEMS"), ("BF.EXISTS", "f"), ("BF.EXISTS", "f", "a", "b"),
                     ("BF.MEXISTS", "f"), ("BF.CARD",), ("BF.CARD", "f", "g"), ("BF.INFO",),
                     ("BF.INFO", "f", "SIZE", "x")):
            self.arity(*args)


if __name__ == "__main__":
    unittest.main()
