"""What must hold for the values of every family: they outlive files, copies, pieces and the way to
a replica to the byte, and no damage gets in.

    class kept(keeping.kept_test):
        filled = [("CF.ADD", "key", "item"), ...]
        changed = [...]
        prefix = "CF"
"""
import harness

# Of Redis's dumps: the polynomial of Jones, reflected.
_TABLE = []
for _i in range(256):
    for _ in range(8):
        _i = _i >> 1 ^ (0x95AC9329AC4BC9B5 if _i & 1 else 0)
    _TABLE.append(_i)


def crc64(data):
    crc = 0
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc


def all_pieces(call, scan, load, key, to):
    """The commands that make `to` from the pieces of `key`."""
    commands = []
    iterator, data = call(scan, key, 0)
    while iterator:
        commands.append((load, to, iterator, data))
        iterator, data = call(scan, key, iterator)
    return commands


def exported(call, prefix, key):
    """The file of the tool that a key is."""
    image, offset = b"", 0
    while True:
        following, data = call(prefix + ".EXPORT", key, offset)
        image += data
        if not following:
            return image
        offset = following


class kept_test(harness.server_test):
    """One server that keeps commands, and a replica of it."""
    options = {"appendonly": "yes", "appendfsync": "no", "aof_use_rdb_preamble": "no",
               "auto_aof_rewrite_percentage": "0"}
    filled = []   # commands that make keys
    changed = []  # commands that change them

    def __init_subclass__(cls):
        cls.keys = sorted({command[1] for command in cls.filled})

    def setUp(self):
        super().setUp()
        self.run_all(self.filled)

    def run_all(self, commands):
        for command in commands:
            answer = self.call(*command)
            self.assertNotIsInstance(answer, harness.Raw.Error, command)

    def digests(self, keys=None, call=None):
        found = (call or self.call)("DEBUG", "DIGEST-VALUE", *(keys or self.keys))
        self.assertNotIn(b"0" * 40, [d if isinstance(d, bytes) else d.encode() for d in found])
        return found

    def loaded(self):
        return "aof_rewrite_in_progress:0" in self.call("INFO", "persistence").decode()

    def test_copies_and_dumps(self):
        before = self.digests()
        for key in self.keys:
            self.assertEqual(1, self.call("COPY", key, key + " copied"))
            self.assertEqual("OK", self.call("RESTORE", key + " restored", 0, self.call("DUMP", key)))
        self.assertEqual(before, self.digests([key + " copied" for key in self.keys]))
        self.assertEqual(before, self.digests([key + " restored" for key in self.keys]))
        # A copy is one: changing it leaves the first alone.
        self.run_all((c[0], c[1] + " copied", *c[2:]) for c in self.changed)
        self.assertEqual(before, self.digests())
        self.run_all(self.changed)
        self.assertEqual(self.digests(), self.digests([key + " copied" for key in self.keys]))

    def test_pieces(self):
        before = self.digests()
        for key in self.keys:
            self.run_all(all_pieces(self.call, self.prefix + ".SCANDUMP", self.prefix + ".LOADCHUNK", key,
                                    key + " again"))
        self.assertEqual(before, self.digests([key + " again" for key in self.keys]))

    def test_files(self):
        """Database and append-only file, written by commands and then rewritten; the last after a
        real restart.
        """
        before = self.digests()
        self.assertEqual("OK", self.call("DEBUG", "RELOAD"))
        self.assertEqual(before, self.digests())
        self.assertEqual("OK", self.call("DEBUG", "LOADAOF"))
        self.assertEqual(before, self.digests())
        self.call("BGREWRITEAOF")
        harness.wait_until(self.loaded, what="the rewritten file")
        self.assertEqual("OK", self.call("DEBUG", "LOADAOF"))
        self.assertEqual(before, self.digests())
        self.run_all(self.changed)
        after = self.digests()
        self.assertNotEqual(before, after)
        self.server.restart()
        self.two = harness.Raw(self.server.port, protocol=2)
        self.addCleanup(self.two.close)
        self.assertEqual(after, self.digests())

    def test_a_replica(self):
        replica = harness.Server(module_args="max-filter-bytes 100")
        self.addCleanup(replica.stop)
        there = harness.Raw(replica.port, protocol=2)
        self.addCleanup(there.close)
        there("REPLICAOF", "127.0.0.1", self.server.port)
        harness.wait_until(lambda: b"master_link_status:up" in there("INFO", "replication"), what="the replica")
        self.assertEqual(self.digests(), self.digests(call=there))
        self.run_all(self.changed)
        for key in self.keys:  # and all of it by commands
            self.call("DEL", key)
        self.run_all([*self.filled, *self.changed])
        self.assertEqual(1, self.call("WAIT", 1, 20000))
        self.assertEqual(self.digests(), self.digests(call=there))

    def test_damage(self):
        """With the server's checksum made right again, so that ours must notice. The server packs
        zeros, and some damage to how they are packed changes nothing.
        """
        sound = self.digests([self.keys[0]])
        noticed = 0
        payload = self.call("DUMP", self.keys[0])
        body = payload[:-8]
        self.assertEqual(payload[-8:], crc64(body).to_bytes(8, "little"))
        places = [*range(1, 300, 7), *range(300, len(body) - 2, max(1, len(body) // 40))]
        for place in places:
            for damaged in (body[:place] + bytes([body[place] ^ 0x10]) + body[place + 1:],
                            body[:place] + body[place + 1:]):
                answer = self.call("RESTORE", "damaged", 0, damaged + crc64(damaged).to_bytes(8, "little"))
                if answer == "OK":
                    self.assertEqual(sound, self.digests(["damaged"]), place)
                    self.call("DEL", "damaged")
                else:
                    self.assertIsInstance(answer, harness.Raw.Error, place)
                    noticed += 1
        self.assertGreater(noticed, 1.8 * len(places))
        self.assertEqual(0, self.call("EXISTS", "damaged"))
        self.assertEqual("PONG", self.call("PING"))
