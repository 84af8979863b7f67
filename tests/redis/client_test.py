"""The tool against one server: files pushed and pulled, keys that are in the way, servers without
the module, and servers that lie. What a server says is input like any other.
"""
import concurrent.futures
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import harness
from cluster_harness import tool


class Liar:
    """Answers every command with the next of the given bytes, and then closes the connection."""

    def __init__(self, *answers):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answers = answers
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    for answer in self.answers:
                        if not connection.recv(1 << 16):
                            break
                        connection.sendall(answer)
                except OSError:
                    pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


class Transfer(harness.server_test):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="bloomery-transfer-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.url = f"redis://127.0.0.1:{self.server.port}"

    def build(self, name, *options, keys=1000):
        path = self.folder / name
        tool("build", "-q", "-o", path, *options, stdin="".join(f"key {i}\n" for i in range(keys)))
        return path

    def refused(self, text, *args, stdin=None):
        result = tool(*args, stdin=stdin, check=False)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("bloomery: "), result.stderr)

    def test_round_trips_of_every_kind_that_the_module_has(self):
        for kind in ("blocked", "counting", "scalable", "layered"):
            file = self.build(kind, "--kind", kind)
            tool("push", "-q", file, f"{self.url}/a%20key/{kind}")
            self.assertEqual(self.call("BF.EXISTS", f"a key/{kind}", "key 7"), 1)
            tool("pull", "-q", f"{self.url}/a%20key/{kind}", "-o", self.folder / "again")
            self.assertEqual((self.folder / "again").read_bytes(), file.read_bytes())

    def test_the_form_of_keys_goes_with_the_file(self):
        numbers = "".join(f"{i}\n" for i in range(100))
        file = self.folder / "numbers"
        tool("build", "-q", "--integers", "-o", file, stdin=numbers)
        self.refused("numbers: its keys are integers, but a server hashes the strings", "push", file, f"{self.url}/n")
        # Neither does the server take it from others, who would get wrong answers.
        self.assertIn("only filters of strings", self.call("BF.IMPORT", "n", 0, file.read_bytes()))
        tool("build", "-q", "--hex", "-o", file, stdin="00ff\n")
        tool("push", "-q", "--shards", "1", file, f"{self.url}/h/0")
        self.assertEqual(self.call("BF.EXISTS", "h/0", b"\x00\xff"), 1)
        self.assertEqual(self.call("BF.SHARD", "h/0")[-2:], ["form", b"binary"])
        at = ("--server", self.url.removeprefix("redis://"))
        self.assertEqual(tool("redis", "check", *at, "--hex", "h", stdin="00ff\n").stdout, "00ff\n")
        self.refused("h: its keys are binary; give --hex or --record-bytes", "redis", "check", *at, "h", stdin="00ff\n")
        self.refused("h: its keys are binary; give --hex or --record-bytes", "redis", "add", *at, "h", stdin="00ff\n")
        tool("pull", "-q", f"{self.url}/h/0", "-o", self.folder / "again")
        self.assertEqual((self.folder / "again").read_bytes(), file.read_bytes())

    def test_a_file_of_many_pieces(self):
        file = self.build("large", "--bytes", 11_000_000 // 512 * 512, "--seed", 9)
        tool("push", "-q", file, f"{self.url}/large?db=3")
        tool("pull", "-q", f"{self.url}/large?db=3", "-o", self.folder / "again")
        self.assertEqual((self.folder / "again").read_bytes(), file.read_bytes())
        self.assertEqual(self.call("DBSIZE"), 0)

    def test_an_interrupted_push_leaves_no_key(self):
        file = self.build("large", "--bytes", "200M", keys=10)
        push = subprocess.Popen([harness.TOOL, "push", "-q", str(file), f"{self.url}/large"])
        loading = lambda: int(self.server.connect().info("commandstats").get("cmdstat_bf.import", {}).get("calls", 0))
        before = loading()
        harness.wait_until(lambda: loading() > before + 2, what="some pieces")
        push.send_signal(signal.SIGKILL)
        push.wait()
        self.assertEqual(self.call("EXISTS", "large"), 0)
        # And the next one is not in its way.
        small = self.build("small")
        tool("push", "-q", small, f"{self.url}/large")
        self.assertEqual(self.call("BF.CARD", "large"), 1000)

    def test_what_is_there_is_not_replaced_unless_asked(self):
        file = self.build("f")
        tool("push", "-q", file, f"{self.url}/key")
        other = self.build("g", keys=500)
        self.refused("ERR item exists; delete the key first, or push with --replace", "push", other, f"{self.url}/key")
        self.assertEqual(self.call("BF.CARD", "key"), 1000)
        tool("push", "-q", "--replace", other, f"{self.url}/key")
        self.assertEqual(self.call("BF.CARD", "key"), 500)
        self.assertEqual(self.call("KEYS", "*"), [b"key"])
        self.call("SET", "text", "no filter")
        self.refused("WRONGTYPE", "push", file, f"{self.url}/text")
        self.refused("WRONGTYPE", "pull", f"{self.url}/text", "-o", self.folder / "no")
        self.refused("not found", "pull", f"{self.url}/nothing", "-o", self.folder / "no")
        self.refused("name/0: WRONGTYPE", "redis", "check", "--server", f"127.0.0.1:{self.server.port}", "name",
                     stdin=self.call("SET", "name/0", "x") and "a\n")
        self.assertFalse((self.folder / "no").exists())

    def test_shards(self):
        at = f"127.0.0.1:{self.server.port}"
        for bad in (("SHARD",), ("SHARD", "1"), ("SHARD", "2", "2"), ("SHARD", "-1", "2"), ("SHARD", "0", "65537"),
                    ("SHARD", "0", "0"), ("SHARD", "x", "2")):
            self.assertEqual(self.call("BF.RESERVE", "s", "0.01", "100", *bad),
                             "ERR a shard is a number and how many there are, at most 65536")
        self.assertEqual(self.call("BF.RESERVE", "s", "0.01", "100", "COUNTING", "SHARD", "0", "2"),
                         "ERR a shard has neither COUNTING nor WINDOW")
        self.assertEqual(self.call("BF.RESERVE", "s", "0.01", "100", "SHARD", "1", "2"), "OK")
        fields = self.call("BF.SHARD", "s")
        self.assertEqual(fields[:6], ["shard", 1, "shards", 2, "kind", b"blocked"])
        items = [f"item {i}" for i in range(20)]
        taken = [item for item in items if not isinstance(self.call("BF.ADD", "s", item), harness.Raw.Error)]
        self.assertTrue(0 < len(taken) < 20)
        self.assertEqual(self.call("BF.CARD", "s"), len(taken))
        self.assertEqual(self.call("BF.MADD", "s", *items)[:35], "ERR an item belongs to shard 0 of 2")
        self.assertEqual(self.call("BF.MEXISTS", "s", *items), [int(item in taken) for item in items])
        # It stays what it is in the database file, in a copy and among others.
        self.call("DEBUG", "RELOAD")
        self.call("COPY", "s", "t")
        self.assertEqual(self.call("BF.SHARD", "t"), fields[:14] + ["keys", len(taken)] + fields[16:])
        self.call("BF.RESERVE", "u", "0.01", "100", "SHARD", "0", "2")
        self.assertIn("their shards differ", self.call("BF.MERGE", "t", "u"))
        self.refused("is no shard of the filter", "redis", "check", "--server", at, "x",
                     stdin=self.call("RENAME", "s", "x/0") and "a\n")

    def test_output_like_that_of_check(self):
        at = f"127.0.0.1:{self.server.port}"
        tool("redis", "add", "-q", "--server", at, "f", "--keys", 100, "--fpr", "1e-6", stdin="a\nb\nc\n")
        ask = ("redis", "check", "--server", at, "f")
        self.assertEqual(tool(*ask, stdin="x\nc\ny\na\n").stdout, "c\na\n")
        self.assertEqual(tool(*ask, "-v", stdin="x\nc\ny\na\n").stdout, "x\ny\n")
        self.assertEqual(tool(*ask, "-c", stdin="x\nc\ny\na\n").stdout, "2\n")
        self.assertEqual(tool(*ask, "-n", stdin="x\nc\ny\na\n").stdout, "2:c\n4:a\n")
        self.assertEqual(tool(*ask, "-q", stdin="x\nc\ny\na\n").stdout, "")
        self.assertEqual(tool(*ask, stdin="x\n", check=False).returncode, 1)
        self.assertEqual(tool(*ask, stdin="", check=False).returncode, 1)
        # Bytes of any kind, and items longer than what goes into one command.
        odd = "\r\n".join(["\udcff\0", " ", "x" * 300_000, "y" * 300_000, "$5"]) + "\n"
        tool("redis", "add", "-q", "--server", at, "f", stdin=odd)
        self.assertEqual(tool(*ask, "-c", stdin=odd).stdout, "5\n")

    def test_passwords(self):
        server = harness.Server()
        self.addCleanup(server.stop)
        server.connect().config_set("requirepass", "se cret")
        file = self.build("f")
        at = f"127.0.0.1:{server.port}"
        self.refused("NOAUTH Authentication required.; put the password into the URL", "push", file, f"redis://{at}/k")
        self.refused("logging in: WRONGPASS", "push", file, f"redis://:no@{at}/k")
        tool("push", "-q", file, f"redis://:se%20cret@{at}/k")
        tool("pull", "-q", f"redis://default:se%20cret@{at}/k", "-o", self.folder / "again")
        self.assertEqual((self.folder / "again").read_bytes(), file.read_bytes())

    def test_a_server_without_the_module(self):
        server = harness.Server(modules=[])
        self.addCleanup(server.stop)
        at = f"127.0.0.1:{server.port}"
        file = self.build("f")
        for args in (("push", file, f"redis://{at}/k"), ("pull", f"redis://{at}/k", "-o", self.folder / "no"),
                     ("redis", "add", "--cluster", at, "name", "--keys", 1), ("redis", "check", "--cluster", at, "name")):
            self.refused("the server needs the module bloomery.so", *args, stdin="a\n")

    def test_bad_addresses(self):
        file = self.build("f")
        for url, text in (("redis://127.0.0.1:0/k", "the port is 0"), ("redis://127.0.0.1:99999/k", "the port is 99999"),
                          ("redis:///k", "there is no host"), ("redis://127.0.0.1", "names no key"),
                          ("redis://[::1/k", "has no ]"), ("redis://127.0.0.1/%zz", "two hexadecimal digits"),
                          ("redis://127.0.0.1/k?x=1", "?db=NUMBER"), ("rediss://127.0.0.1/k", "must begin with redis://")):
            self.refused(text, "push", file, url)
        self.refused("given up after 1 seconds", "push", "--timeout", 1, file, f"redis://127.0.0.1:{harness.free_port()}/k")
        self.refused("a divisor of", "push", "--shards", 10007, file, f"{self.url}/k")

    def test_servers_that_lie(self):
        header = self.build("f").read_bytes()[:256]
        piece = lambda following, data: b"*2\r\n:%d\r\n$%d\r\n%s\r\n" % (following, len(data), data)
        slots = b"*1\r\n*3\r\n:%d\r\n:%d\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n"
        lies = [
            b"*2147483647\r\n", b"*99999999999999999999\r\n", b"*-7\r\n", b"$-2\r\n", b"$" + b"9" * 40,
            b"$2147483647\r\n" + b"x" * 1000, b"garbage\r\n", b"+" + b"x" * 100, b"*1\r\n" * 100, b":12x\r\n",
            b"*2\r\n:1\r\n", b"", b"*1\r\n*1\r\n*1\r\n:1\r\n", b"*0\r\n", b"*1\r\n*0\r\n",
            slots % (0, 16384, 1), slots % (-1, 5, 1), slots % (7, 5, 1), slots % (0, 16383, 0), slots % (0, 16383, 65536)]
        # The key is not there, nor is a shard; then pieces of a file that is none.
        missing = (b"-ERR not found\r\n",) * 2
        pieces = [
            (piece(0, b"BLOOMERY"),), (piece(0, header),), (piece(4096, header),), (piece(256, b""),),
            (piece(256, header), piece(0, b"x" * (1 << 20))), (b"*1\r\n:0\r\n",), (b"*2\r\n$1\r\nx\r\n:1\r\n",)]
        disabled = b"-ERR This instance has cluster support disabled\r\n"
        runs = [((lie,) * 3, verb) for lie in lies for verb in ("check", "pull")]
        runs += [((disabled, *missing, *some), "pull") for some in pieces]
        runs += [((disabled, b"-MOVED 1 :1\r\n"), "check"), ((disabled, b"-MOVED 99999999 x\r\n"), "check"),
                 ((disabled, b"-MOVED\r\n"), "check"), ((disabled, b"-ASK 1 127.0.0.1:99999\r\n"), "check")]

        def run(answers, verb):
            liar = Liar(*answers)
            try:
                if verb == "check":
                    args = ("redis", "check", "--timeout", 1, "--cluster", f"127.0.0.1:{liar.port}", "name")
                else:
                    args = ("pull", "--timeout", 1, "--cluster", f"redis://127.0.0.1:{liar.port}/k", "-o", self.folder / "no")
                self.refused("", *args, stdin="a\n")
            finally:
                liar.close()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for done in [pool.submit(run, *r) for r in runs]:
                done.result()
        self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
