"""What the module does while nobody may write: a paused server, a failover, a shutdown that waits
for a replica; and what becomes of work whose client has left.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness

LARGE = ("0.01", "10000000", "NONSCALING")


def send(raw, *args):
    """Sends without waiting for the answer."""
    parts = [str(a).encode() for a in args]
    raw.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))


class own_server(unittest.TestCase):
    """A server of its own for each test: each of them ended one once."""

    def setUp(self):
        self.server = harness.Server(appendonly="yes", appendfsync="no")
        self.addCleanup(self.server.stop)
        self.call = self.raw()

    def raw(self, server=None):
        connection = harness.Raw((server or self.server).port, protocol=2)
        self.addCleanup(connection.close)
        return connection

    def replica(self):
        other = harness.Server()
        self.addCleanup(other.stop)
        there = self.raw(other)
        there("REPLICAOF", "127.0.0.1", self.server.port)
        harness.wait_until(lambda: b"master_link_status:up" in there("INFO", "replication"), what="the replica")
        return other, there

    def reserve(self):
        self.call("BF.RESERVE", "w", "0.01", "1000", "WINDOW", "0.4", "GENERATIONS", "2")
        self.call("BF.ADD", "w", "x")

    def ask_all(self, call):
        call("BF.EXISTS", "w", "x")
        call("BF.MEXISTS", "w", "x", "y")
        call("BF.STATS", "w")
        call("BF.CARD", "w")
        call("BF.INFO", "w")


class paused(own_server):
    def test_questions_to_a_filter_that_forgets(self):
        for way in ("WRITE", "ALL"):
            self.reserve()
            self.call("CLIENT", "PAUSE", "1500" if way == "ALL" else "20000", way)
            time.sleep(0.7)
            self.ask_all(self.call)
            self.assertTrue(self.server.alive(), way)
            self.assertEqual(0, self.call("BF.EXISTS", "w", "x"))
            self.call("CLIENT", "UNPAUSE")
            self.call("DEL", "w")

    def test_a_question_changes_nothing(self):
        self.reserve()
        before = self.call("DEBUG", "DIGEST-VALUE", "w")
        offset = self.call("INFO", "persistence").split(b"aof_current_size:")[1].split()[0]
        harness.wait_until(lambda: self.call("BF.EXISTS", "w", "x") == 0, what="the window")
        self.ask_all(self.call)
        self.assertEqual(before, self.call("DEBUG", "DIGEST-VALUE", "w"))
        self.assertEqual(offset, self.call("INFO", "persistence").split(b"aof_current_size:")[1].split()[0])
        self.assertEqual(0, self.call("BF.CARD", "w"))

    def test_failover(self):
        other, there = self.replica()
        self.reserve()
        self.call("BF.RESERVE", "a", *LARGE)
        self.call("BF.RESERVE", "b", *LARGE)
        self.call("BF.ADD", "b", "item")
        self.call("WAIT", 1, 20000)
        # The replica hears nothing, so that the failover lasts until it does.
        os.kill(other.process.pid, signal.SIGSTOP)
        waiting = self.raw()
        send(waiting, "BF.MERGE", "a", "b")
        self.call("SET", "something", "for the replica to wait for")
        self.assertEqual("OK", self.call("FAILOVER", "TO", "127.0.0.1", other.port, "TIMEOUT", "1500", "FORCE"))
        for _ in range(10):
            time.sleep(0.08)
            self.ask_all(self.call)
        os.kill(other.process.pid, signal.SIGCONT)
        harness.wait_until(lambda: b"role:master" in there("INFO", "replication"), what="the failover")
        self.assertTrue(self.server.alive())
        harness.wait_until(lambda: b"master_link_status:up" in self.raw()("INFO", "replication"), what="the old master")
        self.assertEqual(there("DEBUG", "DIGEST"), self.raw()("DEBUG", "DIGEST"))

    def test_a_shutdown_that_waits_for_a_replica(self):
        other, _ = self.replica()
        self.reserve()
        self.call("WAIT", 1, 20000)
        os.kill(other.process.pid, signal.SIGSTOP)
        self.call("SET", "something", "for the replica to wait for")
        self.server.process.terminate()
        for _ in range(8):
            time.sleep(0.08)
            self.ask_all(self.call)
        os.kill(other.process.pid, signal.SIGCONT)
        self.assertEqual(0, self.server.process.wait(timeout=30))

    def test_work_that_ends_while_writes_are_paused(self):
        """A union, a sum, a compacted filter and a load, all of which are made in threads."""
        for key in ("a", "b"):
            self.call("BF.RESERVE", key, *LARGE)
            self.call("BF.ADD", key, "item " + key)
            self.call("CMS.INITBYDIM", "count " + key, "1500000", "2")
            self.call("CMS.INCRBY", "count " + key, "item", "3")
        self.call("CF.RESERVE", "cuckoo", "8000000")
        self.call("CF.ADD", "cuckoo", "item")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "f"
        subprocess.run([harness.TOOL, "build", "-q", "--kind", "blocked", "--keys", "10000000", "-o", path, os.devnull],
                       check=True)
        data = path.read_bytes()
        self.assertEqual("OK", self.call("BF.IMPORT", "file", 0, data[:-1]))
        # In one packet with the pause, so that the work ends after it began.
        work = [("BF.MERGE", "a", "b"), ("CMS.MERGE", "count a", "2", "count a", "count b"), ("CF.COMPACT", "cuckoo"),
                ("BF.IMPORT", "file", len(data) - 1, data[-1:])]
        waiting = [self.raw() for _ in work]
        for connection, command in zip(waiting, work):
            parts = [a if isinstance(a, bytes) else str(a).encode() for a in command]
            connection.socket.sendall(b"*%d\r\n" % len(parts) +
                                      b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        self.call("PING")
        self.call("CLIENT", "PAUSE", "600", "WRITE")
        for connection, command in zip(waiting, work):
            self.assertEqual("OK", connection.read(), command)
        self.assertTrue(self.server.alive())
        self.assertEqual([1, 1], self.call("BF.MEXISTS", "a", "item a", "item b"))
        self.assertEqual([6], self.call("CMS.QUERY", "count a", "item"))
        self.assertEqual(1, self.call("EXISTS", "file"))
        digest = self.call("DEBUG", "DIGEST")
        self.call("DEBUG", "LOADAOF")
        self.assertEqual(digest, self.call("DEBUG", "DIGEST"))

    def test_a_union_whose_client_leaves(self):
        for key in ("a", "b"):
            self.call("BF.RESERVE", key, *LARGE)
            self.call("BF.ADD", key, "item " + key)
        leaving = harness.Raw(self.server.port, protocol=2)
        send(leaving, "BF.MERGE", "both", "a", "b")
        harness.wait_until(lambda: b"bf.merge" in self.call("INFO", "commandstats"), what="the command")
        leaving.close()
        harness.wait_until(lambda: self.call("EXISTS", "both"), what="the union")
        self.assertEqual([1, 1], self.call("BF.MEXISTS", "both", "item a", "item b"))
        digest = self.call("DEBUG", "DIGEST")
        self.call("DEBUG", "LOADAOF")
        self.assertEqual(digest, self.call("DEBUG", "DIGEST"))


class forgetting(own_server):
    """A replica forgets by its own clock, and nobody can stop that."""

    def test_without_traffic(self):
        _, there = self.replica()
        self.reserve()
        self.call("WAIT", 1, 20000)
        harness.wait_until(lambda: there("BF.EXISTS", "w", "x") == 0, what="the window")
        self.assertEqual([0], there("BF.MEXISTS", "w", "x"))
        self.assertEqual(0, there("BF.CARD", "w"))
        self.assertEqual(self.call("DEBUG", "DIGEST-VALUE", "w"), there("DEBUG", "DIGEST-VALUE", "w"))

    def test_the_clock_stays_with_the_servers(self):
        self.reserve()
        for ahead in ("9223372036854775807", str(int(time.time() * 1000) + 10000)):
            self.assertEqual("ERR the time is ahead of the server's by more than a generation",
                             self.call("BF.ROTATE", "w", ahead))
        self.call("BF.ADD", "w", "y")
        harness.wait_until(lambda: self.call("BF.EXISTS", "w", "y") == 0, what="the window")
        self.assertEqual("OK", self.call("BF.ROTATE", "w", str(int(time.time() * 1000))))

    def test_no_way_in_for_a_clock_that_is_ahead(self):
        """One that a file has, since the clock of its server was wrong: it loads, and nobody brings
        a copy of it.
        """
        ahead = str(int(time.time() * 1000) + 10**9)
        commands = (("BF.RESERVE", "w", "0.01", "1000", "WINDOW", "0.4"), ("BF.ADD", "w", "x"), ("BF.ROTATE", "w", ahead))
        folder = tempfile.mkdtemp(prefix="bloomery-redis-")
        self.addCleanup(shutil.rmtree, folder)
        with open(f"{folder}/appendonly.aof", "w") as f:
            for words in commands:
                f.write(f"*{len(words)}\r\n" + "".join(f"${len(w)}\r\n{w}\r\n" for w in words))
        server = harness.Server(folder=folder, appendonly="yes")
        self.addCleanup(server.stop)
        there = self.raw(server)
        self.assertEqual(1, there("EXISTS", "w"))
        payload = there("DUMP", "w")
        self.assertRegex(self.call("RESTORE", "r", "0", payload), "Bad data format")
        self.assertIn("cannot load a key: the clock of the filter is ahead", self.server.log_text())
        pieces, iterator = [], 0
        while True:
            iterator, piece = there("BF.SCANDUMP", "w", iterator)
            if not iterator:
                break
            pieces.append((iterator, piece))
        self.assertRegex([self.call("BF.LOADCHUNK", "r", *p) for p in pieces][-1], "clock of the filter is ahead")
        self.assertRegex(self.call("BF.LOAD", "r", b"".join(p for _, p in pieces)), "clock of the filter is ahead")
        self.assertRegex(self.call("BF.IMPORT", "r", "0", there("BF.EXPORT", "w", "0")[1]), "clock of the filter is ahead")
        self.assertEqual(0, self.call("EXISTS", "r"))
        # But servers have their own from each other.
        there("DEBUG", "RELOAD")
        self.assertEqual(payload, there("DUMP", "w"))
        self.call("REPLICAOF", "127.0.0.1", server.port)
        harness.wait_until(lambda: self.call("EXISTS", "w") == 1, what="the replica")

    def test_a_window_of_the_tools(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "f"
        keys = pathlib.Path(folder.name) / "keys"
        keys.write_text("old\n")
        subprocess.run([harness.TOOL, "build", "-q", "--kind", "windowed", "--window", "4s", "--keys", "1000", "-o", path,
                        keys], check=True)
        self.assertEqual("OK", self.call("BF.IMPORT", "f", 0, path.read_bytes()))
        self.assertEqual(1, self.call("BF.EXISTS", "f", "old"))
        self.assertEqual(1, self.call("BF.CARD", "f"))
        time.sleep(2)
        self.call("BF.ADD", "f", "new")
        harness.wait_until(lambda: self.call("BF.EXISTS", "f", "old") == 0, what="the window")
        self.assertEqual(1, self.call("BF.EXISTS", "f", "new"))
        digest = self.call("DEBUG", "DIGEST")
        self.call("DEBUG", "LOADAOF")
        self.assertEqual(digest, self.call("DEBUG", "DIGEST"))


if __name__ == "__main__":
    unittest.main()
