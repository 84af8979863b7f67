"""What survives: database files, the append-only file, COPY, DUMP and RESTORE; and what a damaged
file cannot do.
"""
import random
import re
import unittest

import harness


def fill(call):
    """Keys of every kind that BF has."""
    call("BF.RESERVE", "scaling", "0.01", "2000")
    call("BF.RESERVE", "fixed", "0.001", "5000", "NONSCALING")
    call("BF.RESERVE", "counting", "0.01", "5000", "COUNTING")
    call("BF.RESERVE", "window", "0.01", "5000", "WINDOW", "3600", "GENERATIONS", "3")
    for key in ("scaling", "fixed", "counting", "window", "default"):
        call("BF.MADD", key, *[f"{key} {i}" for i in range(3000)])
    call("BF.MREM", "counting", *[f"counting {i}" for i in range(100)])
    call("BF.MERGE", "union", "scaling", "scaling")


KEYS = ("scaling", "fixed", "counting", "window", "default", "union")


# Of DUMP: Jones, reflected.
CRC_TABLE = [0] * 256
for i in range(256):
    c = i
    for _ in range(8):
        c = (c >> 1) ^ (0x95AC9329AC4BC9B5 if c & 1 else 0)
    CRC_TABLE[i] = c


def sealed(payload):
    """A DUMP payload with the right checksum, whatever is in it."""
    crc = 0
    for byte in payload:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return payload + crc.to_bytes(8, "little")


class files(harness.server_test):
    options = {"rdbcompression": "no"}

    def setUp(self):
        super().setUp()
        fill(self.two)
        self.digests = self.digest(self.two)

    def digest(self, call):
        return [call("DEBUG", "DIGEST-VALUE", *KEYS), [call("BF.INFO", key) for key in KEYS]]

    def reload(self, **options):
        self.two.close()
        self.three.close()
        self.server.restart(**options)
        self.two = harness.Raw(self.server.port, protocol=2)
        self.three = harness.Raw(self.server.port)
        self.addCleanup(self.two.close)
        self.addCleanup(self.three.close)

    def check(self):
        self.assertEqual(self.digests, self.digest(self.two))
        for key in ("scaling", "fixed", "window", "default", "union"):
            name = "scaling" if key == "union" else key
            self.assertEqual([1] * 3000, self.call("BF.MEXISTS", key, *[f"{name} {i}" for i in range(3000)]), key)
        self.assertEqual([1] * 2900, self.call("BF.MEXISTS", "counting", *[f"counting {i}" for i in range(100, 3000)]))
        self.assertGreater(90, sum(self.call("BF.MEXISTS", "counting", *[f"counting {i}" for i in range(100)])))

    def test_debug_reload(self):
        self.assertEqual("OK", self.call("DEBUG", "RELOAD"))
        self.check()

    def test_database_file(self):
        self.call("SAVE")
        self.reload()
        self.check()
        self.call("FLUSHALL")
        self.call("SAVE")

    def test_append_only_file_and_its_rewrite(self):
        self.call("CONFIG", "SET", "appendonly", "yes")
        harness.wait_until(lambda: "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode() and
                           "aof_rewrite_scheduled:0" in self.call("INFO", "persistence").decode())
        self.call("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        self.call("BGREWRITEAOF")
        harness.wait_until(lambda: "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode())
        # And commands after it, one by one.
        self.call("BF.MADD", "default", *[f"later {i}" for i in range(5000)])
        self.call("BF.ADD", "new", "a")
        self.call("BF.REM", "counting", "counting 200")
        digests = [self.digest(self.two), self.call("DEBUG", "DIGEST-VALUE", "new")]
        self.reload(appendonly="yes")
        self.assertEqual(digests, [self.digest(self.two), self.call("DEBUG", "DIGEST-VALUE", "new")])
        self.reload(appendonly="no")
        self.call("FLUSHALL")

    def test_copy_and_restore(self):
        for key in KEYS:
            self.assertEqual(1, self.call("COPY", key, "copy"))
            payload = self.call("DUMP", key)
            self.assertEqual("OK", self.call("RESTORE", "restored", "0", payload))
            digests = self.call("DEBUG", "DIGEST-VALUE", key, "copy", "restored")
            self.assertEqual([digests[0]] * 3, digests)
            # The copy is one of its own.
            self.call("BF.ADD", "copy", "something new")
            again = self.call("DEBUG", "DIGEST-VALUE", key, "copy")
            self.assertEqual(digests[0], again[0])
            self.assertNotEqual(again[0], again[1])
            self.call("DEL", "copy", "restored")

    def test_scandump_and_loadchunk(self):
        for key in KEYS:
            pieces = []
            iterator = 0
            while True:
                iterator, data = self.call("BF.SCANDUMP", key, iterator)
                if iterator == 0:
                    break
                pieces.append((iterator, data))
            self.assertEqual(b"", data)
            self.assertGreater(len(pieces), 1)
            for n, (iterator, data) in enumerate(pieces):
                self.assertEqual(0, self.call("EXISTS", "loaded"))
                self.assertEqual("OK", self.call("BF.LOADCHUNK", "loaded", iterator, data))
            digests = self.call("DEBUG", "DIGEST-VALUE", key, "loaded")
            self.assertEqual(digests[0], digests[1])
            self.refused("ERR invalid offset - no link found", "BF.LOADCHUNK", "loaded", *pieces[0])
            self.call("DEL", "loaded")
        self.refused("Second argument must be numeric", "BF.SCANDUMP", "fixed", "x")
        self.refused("ERR not found", "BF.SCANDUMP", "missing", "0")
        self.refused("ERR Second argument must be numeric", "BF.LOADCHUNK", "l", "x", "data")
        self.refused("ERR received bad data", "BF.LOADCHUNK", "l", "1", "data")
        self.refused("ERR received bad data", "BF.LOADCHUNK", "l", "1", b"\0" * len(pieces[0][1]))
        self.refused("ERR invalid offset - no link found", "BF.LOADCHUNK", "l", "17", "data")
        self.call("BF.LOADCHUNK", "l", *pieces[0])
        size = len(pieces[1][1]) + 1
        self.refused("ERR invalid chunk - Too big for current filter", "BF.LOADCHUNK", "l", 1 + size, b"x" * size)
        broken = bytearray(pieces[1][1])
        broken[100] ^= 1
        self.refused("ERR received bad data", "BF.LOADCHUNK", "l", pieces[1][0], bytes(broken))
        self.assertEqual(0, self.call("EXISTS", "l"))

    def test_a_damaged_dump_is_refused(self):
        rng = random.Random(5)
        self.call("FLUSHALL")
        self.call("BF.RESERVE", "scaling", "0.01", "100")
        self.call("BF.RESERVE", "fixed", "0.01", "100", "NONSCALING")
        self.call("BF.RESERVE", "counting", "0.01", "100", "COUNTING")
        self.call("BF.RESERVE", "window", "0.01", "100", "WINDOW", "3600")
        for key in ("scaling", "fixed", "counting", "window"):
            self.call("BF.MADD", key, "a", "b", "c")
            self.call("DEL", "r")
            body = self.call("DUMP", key)[:-8]
            self.assertEqual(self.call("DUMP", key), sealed(body))
            places = list(range(0, 400)) + [rng.randrange(len(body)) for _ in range(100)]
            refused = 0
            for at in places:
                broken = bytearray(body)
                broken[at] ^= 1 << rng.randrange(8)
                answer = self.call("RESTORE", "r", "0", sealed(bytes(broken)))
                if answer == "OK":  # a length that is written in another way, perhaps
                    self.call("DEL", "r")
                else:
                    refused += 1
            self.assertGreater(refused, len(places) - 20)
            for size in (20, 100, 300, len(body) // 2, len(body) - 1):
                self.assertIsInstance(self.call("RESTORE", "r", "0", sealed(body[:size - 2] + body[-2:])),
                                      harness.Raw.Error)
        self.assertEqual([1, 1, 1], self.call("BF.MEXISTS", "scaling", "a", "b", "c"))

    def test_a_damaged_file_stops_the_start_with_a_message(self):
        self.call("FLUSHALL")
        self.call("BF.RESERVE", "f", "0.01", "100000")
        self.call("SAVE")
        path = self.server.folder / "dump.rdb"
        good = path.read_bytes()
        broken = bytearray(good)
        broken[5000] ^= 4
        path.write_bytes(broken)
        self.server.shut_down()
        with self.assertRaises(RuntimeError) as failed:
            self.server.start(rdbchecksum="no")
        self.assertRegex(str(failed.exception), "bloomery: cannot load a key: the filter is damaged")
        self.assertNotRegex(str(failed.exception), "(?i)crash|signal|assert")
        path.write_bytes(good)
        self.server.start()
        self.two.close()
        self.two = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(self.two.close)
        self.call("FLUSHALL")
        self.call("SAVE")


if __name__ == "__main__":
    unittest.main()
