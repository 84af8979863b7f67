"""One filter over a cluster of three masters and three replicas: adding while a master is killed
and while slots move, and what is there afterwards. $BLOOMERY_CLUSTER_KEYS sets the number of keys;
./test --long asks for three million.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import harness
import xxhash
from cluster_harness import Cluster, tool

KEYS = int(os.environ.get("BLOOMERY_CLUSTER_KEYS", 300_000))


def shard_of(item, shards, seed=0):
    return xxhash.xxh3_64_intdigest(item, seed) * shards >> 64


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        folder = tempfile.TemporaryDirectory(prefix="bloomery-cluster-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.at = Cluster.address(cls.cluster.nodes[0])

    def write(self, name, first, last):
        path = self.folder / name
        with open(path, "w") as out:
            out.writelines(f"key {i}\n" for i in range(first, last))
        return path

    def call(self, *args):
        """On the node of the key."""
        return self.cluster.call(self.cluster.owner(args[1])[0], *args)

    def test_1_shards_are_on_all_nodes_and_are_slices_of_one_filter(self):
        keys = self.write("few", 0, 20_000)
        said = json.loads(tool("redis", "add", "--cluster", self.at, "few", keys, "--json", "-q").stdout)
        self.assertEqual((said["keys"], said["shards"]), (20_000, 12))
        owners = {self.cluster.owner(f"few/{i}")[0].port for i in range(12)}
        self.assertEqual(owners, {node.port for node in self.cluster.masters()})
        # As docs/redis.md says it: the key of an item follows from its hash.
        for item in ("key 7", "key 19999"):
            self.assertEqual(self.call("BF.EXISTS", f"few/{shard_of(item, 12)}", item), 1)
        example = pathlib.Path(__file__).parents[2] / "examples/redis/sharded.py"
        printed = subprocess.run([sys.executable, example, self.at, "few", "key 7", "key 8"], stdout=subprocess.PIPE, check=True)
        self.assertEqual(printed.stdout, b"+\tkey 7\n+\tkey 8\n")
        # Pulled together they are the filter that the library builds from the same keys.
        tool("pull", "--cluster", f"redis://{self.at}/few", "-o", self.folder / "pulled", "-q")
        shard = self.call("BF.SHARD", "few/0")
        fields = dict(zip(shard[::2], shard[1::2]))
        tool("build", "-q", "-o", self.folder / "built", "--bytes", fields["bits"] // 8 * 12, "--probes",
             fields["probes"], keys)
        self.assertEqual((self.folder / "pulled").read_bytes()[256:], (self.folder / "built").read_bytes()[256:])

    def test_2_push_spreads_a_file_and_pull_joins_it(self):
        keys = self.write("pushed", 0, 50_000)
        tool("build", "-q", "-o", self.folder / "f", "--shards", 9, "--fpr", "0.1%", keys)
        tool("push", "-q", "--cluster", "--shards", 9, self.folder / "f", f"redis://{self.at}/pushed")
        tool("pull", "-q", "--cluster", f"redis://{self.at}/pushed", "-o", self.folder / "g")
        self.assertEqual((self.folder / "f").read_bytes(), (self.folder / "g").read_bytes())
        self.assertEqual(tool("redis", "check", "--cluster", self.at, "pushed", "-c", keys).stdout, "50000\n")
        tool("push", "-q", "--cluster", self.folder / "f", f"redis://{self.at}/alone")
        tool("pull", "-q", "--cluster", f"redis://{self.at}/alone", "-o", self.folder / "g")
        self.assertEqual((self.folder / "f").read_bytes(), (self.folder / "g").read_bytes())
        # Without --cluster one node is asked, and says that it is a node.
        away = next(node for node in self.cluster.masters() if node is not self.cluster.owner("alone")[0])
        refused = tool("pull", f"redis://{Cluster.address(away)}/alone", "-o", self.folder / "no", check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is a node of a cluster, and the key is on", refused.stderr)
        self.assertFalse((self.folder / "no").exists())

    def test_3_a_slot_that_is_moving(self):
        keys = self.write("moving", 0, 5_000)
        more = self.write("more", 5_000, 10_000)
        add = ("redis", "add", "-q", "--cluster", self.at, "moving", "--shards", 6)
        tool(*add, "--keys", 10_000, keys)
        source, slot = self.cluster.owner("moving/0")
        target = next(node for node in self.cluster.masters() if node is not source)
        # The key is there already, and the slot is not: every client meets ASK.
        during = lambda: (tool(*add, more), self.assertEqual(
            tool("redis", "check", "--cluster", self.at, "moving", "-c", keys, more).stdout, "10000\n"))
        self.cluster.move_slot(slot, source, target, before_last=during)
        harness.wait_until(lambda: self.cluster.owner("moving/0")[0] is target, what="the slot's new node")
        self.assertEqual(tool("redis", "check", "--cluster", self.at, "moving", "-c", keys, more).stdout, "10000\n")

    def test_4_a_missing_or_foreign_shard_is_an_error(self):
        keys = self.write("torn", 0, 1_000)
        tool("redis", "add", "-q", "--cluster", self.at, "torn", "--shards", 4, keys)
        self.assertEqual(self.call("DEL", "torn/2"), 1)
        for verb in (("add", "-q"), ("check", "-c")):
            refused = tool("redis", *verb, "--cluster", self.at, "torn", keys, check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("torn/2: this shard is missing", refused.stderr)
        self.call("BF.RESERVE", "torn/2", "0.01", "1000", "SHARD", "2", "5")
        refused = tool("redis", "check", "--cluster", self.at, "torn", keys, check=False)
        self.assertIn("torn/2 is no shard of the filter that torn/0 belongs to", refused.stderr)
        refused = tool("redis", "check", "--cluster", self.at, "absent", keys, check=False)
        self.assertIn("the key absent/0 is missing", refused.stderr)
        refused = tool("redis", "add", "--cluster", self.at, "absent", stdin="a\n", check=False)
        self.assertIn("say with --keys", refused.stderr)

    def test_5_a_full_filter_says_so(self):
        keys = self.write("many", 0, 5_000)
        refused = tool("redis", "add", "--cluster", self.at, "full", "--shards", 3, "--keys", 1_000, keys, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("non scaling filter is full; make the filter anew", refused.stderr)

    def test_6_no_acknowledged_key_is_lost_when_a_master_is_killed(self):
        """The client runs while a slot moves and while a master dies; what it added is all there,
        at the rate asked for.
        """
        keys = self.write("seen", 0, KEYS)
        others = self.write("others", KEYS, 2 * KEYS)
        # Through a pipe, so that it is known to be in the middle.
        client = subprocess.Popen([harness.TOOL, "redis", "add", "--cluster", self.at, "seen", "--keys", str(KEYS),
                                   "--fpr", "1%", "--threads", "2", "--json"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        moved, killed = threading.Event(), threading.Event()

        def feed():
            """A quarter at once; another one when the slot has moved, during which the master dies;
            then the rest.
            """
            data = keys.read_bytes()
            quarter = len(data) // 4
            for at, gate in ((0, None), (quarter, moved), (3 * quarter, killed)):
                if gate:
                    gate.wait(900)
                client.stdin.write(data[at:at + (2 * quarter if at == quarter else quarter + 4 * (at > 0))])
                client.stdin.flush()
            client.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        items = lambda: sum(self.call("BF.CARD", f"seen/{i}") for i in range(12))
        harness.wait_until(lambda: items() > KEYS // 8, seconds=600, what="the first keys")
        source, slot = self.cluster.owner("seen/1")
        target = next(node for node in self.cluster.masters() if node is not source)
        self.cluster.move_slot(slot, source, target)
        # MIGRATE does not wait for the replica of the node it writes to: that one must not die
        # before it has the key.
        harness.wait_until(lambda: self.cluster.call(target, "WAIT", 1, 1000) >= 1, what="the replica")
        victim = self.cluster.owner("seen/2")[0]

        def rests():
            """The first quarter has come, whatever its size: what comes later waits for a replica
            that is stopped.
            """
            last = items()
            return time.sleep(0.5) or last == items()

        harness.wait_until(rests, seconds=600, what="the first quarter")
        before = first = self.call("BF.CARD", "seen/2")
        # Its replica hears nothing of what comes now, so that the master dies with keys that nobody
        # else has.
        heir = self.cluster.replica_of(victim)
        heir.process.send_signal(signal.SIGSTOP)
        moved.set()
        def waits():
            """Some keys have come, and no more do: the client waits for the replica."""
            nonlocal before
            last, before = before, self.call("BF.CARD", "seen/2")
            return last == before != first or time.sleep(0.1)

        harness.wait_until(waits, seconds=60, what="the client to wait")
        victim.kill()
        heir.process.send_signal(signal.SIGCONT)
        killed.set()
        feeder.join()
        out, err = client.stdout.read(), client.stderr.read()
        client.stdout.close()
        client.stderr.close()
        self.assertEqual(client.wait(), 0, err)
        self.assertEqual(json.loads(out)["keys"], KEYS)
        self.assertEqual(len(self.cluster.alive()), 5)

        at = Cluster.address(self.cluster.alive()[0])
        self.assertEqual(tool("redis", "check", "-c", "--cluster", at, "seen", keys).stdout, f"{KEYS}\n")
        found = int(tool("redis", "check", "-c", "--cluster", at, "seen", others, check=False).stdout)
        # At most 1 % of the others, give or take five standard deviations of the count.
        self.assertLess(found, 0.01 * KEYS + 5 * (0.01 * KEYS) ** 0.5)


if __name__ == "__main__":
    unittest.main()
