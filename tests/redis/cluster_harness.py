"""A real cluster of three masters and three replicas on the loopback interface, for tests."""
import subprocess

import harness

NODE_TIMEOUT_MS = 1000


class Cluster:
    def __init__(self):
        self.nodes = []
        try:
            for _ in range(6):
                self.nodes.append(harness.Server(
                    cluster_enabled="yes", cluster_node_timeout=NODE_TIMEOUT_MS, cluster_config_file="nodes.conf",
                    cluster_port=harness.free_port(), repl_ping_replica_period=1))
            addresses = [self.address(node) for node in self.nodes]
            subprocess.run(["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", "1", "--cluster-yes"],
                           check=True, stdout=subprocess.DEVNULL)
            harness.wait_until(self.is_ok, what="cluster_state:ok on all nodes")
        except BaseException:
            self.stop()
            raise

    @staticmethod
    def address(node):
        return f"127.0.0.1:{node.port}"

    def alive(self):
        return [node for node in self.nodes if node.alive()]

    def call(self, node, *args):
        raw = harness.Raw(node.port, protocol=2)
        try:
            return raw(*args)
        finally:
            raw.close()

    def is_ok(self):
        """All slots are served, and every master has its replicas."""
        for node in self.alive():
            if b"cluster_state:ok" not in self.call(node, "CLUSTER", "INFO"):
                return False
            role = self.call(node, "ROLE")
            if role[0] == b"slave" and role[3] != b"connected":
                return False
            if role[0] == b"master" and len(self.alive()) == len(self.nodes) and len(role[2]) != 1:
                return False
        return True

    def masters(self):
        return [node for node in self.alive() if self.call(node, "ROLE")[0] == b"master"]

    def owner(self, key):
        slot = self.call(self.alive()[0], "CLUSTER", "KEYSLOT", key)
        for first, last, master, *_ in self.call(self.alive()[0], "CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.alive() if node.port == master[1]), slot
        raise LookupError(key)

    def replica_of(self, node):
        port = int(self.call(node, "ROLE")[2][0][1])
        return next(other for other in self.nodes if other.port == port)

    def node_id(self, node):
        return self.call(node, "CLUSTER", "MYID").decode()

    def move_slot(self, slot, source, target, before_last=lambda: None):
        """As `redis-cli --cluster reshard` does it: the keys go one after the other, and clients
        meet ASK meanwhile.
        """
        source_id, target_id = self.node_id(source), self.node_id(target)
        assert self.call(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", source_id) == "OK"
        assert self.call(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", target_id) == "OK"
        while keys := self.call(source, "CLUSTER", "GETKEYSINSLOT", slot, 10):
            moved = self.call(source, "MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
            assert moved == "OK", moved
        before_last()
        for node in (target, source, *self.masters()):
            assert self.call(node, "CLUSTER", "SETSLOT", slot, "NODE", target_id) == "OK"

    def stop(self):
        for node in self.nodes:
            node.stop()


def tool(*args, stdin=None, check=True):
    """Runs the tool; its result with stdout and stderr as text."""
    result = subprocess.run([harness.TOOL, *map(str, args)], input=stdin, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape", timeout=240)
    if check and result.returncode != 0:
        raise AssertionError(f"bloomery {' '.join(map(str, args))}: {result.returncode}\n{result.stderr}")
    return result
