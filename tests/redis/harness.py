"""Real Redis servers for tests: started on free ports of the loopback interface with the module, in
a folder of their own, and stopped by their process when the test is done, however it ends.

    class some_test(harness.server_test):
        def test_it(self):
            self.assertEqual(1, self.call("BF.ADD", "key", "item"))

The module's path is in $BLOOMERY_MODULE, the tool's in $BLOOMERY. With $BLOOMERY_REDIS_CHECKED
servers run under valgrind, which is many times slower, and what it finds in the module is an error
when a server is stopped. So is a line of a replica's, or of one that reads its append-only file,
that says that it refused what its master had taken.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import redis

MODULE = os.environ.get("BLOOMERY_MODULE", "build/release/bloomery.so")
TOOL = os.environ.get("BLOOMERY", "build/release/bloomery")
NOOP = os.environ.get("BLOOMERY_NOOP_MODULE", "build/release/tests/noop_module.so")

CHECKED = bool(os.environ.get("BLOOMERY_REDIS_CHECKED"))
# Freed memory and what lies between objects; what is not initialised is for the sanitizers.
CHECKER = ["valgrind", "-q", "--soname-synonyms=somalloc=*jemalloc*", "--undef-value-errors=no"] if CHECKED else []
PATIENCE = 20 if CHECKED else 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(condition, seconds=20, what="a condition"):
    """Asks again and again; the first answer that is true."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.005)


class Server:
    """One redis-server. `options` are command-line options without the two dashes; they stand over
    what a configuration `file` says.
    """

    def __init__(self, folder=None, modules=None, module_args="", may_refuse_its_master=False, file=None, **options):
        self.may_refuse_its_master = may_refuse_its_master
        self.file = file
        self.own_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="bloomery-redis-"))
        self.modules = [MODULE] if modules is None else modules
        self.module_args = module_args
        self.options = {"save": "", "appendonly": "no", "enable-debug-command": "yes", "bind": "127.0.0.1",
                        "repl-diskless-sync-delay": "0"} | {k.replace("_", "-"): v for k, v in options.items()}
        self.process = None
        self.connections = []
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self, **options):
        self.options |= {k.replace("_", "-"): v for k, v in options.items()}
        for attempt in range(5):
            self.port = free_port()
            checker = CHECKER and [*CHECKER, f"--log-file={self.folder}/checked.%p"]
            command = [*checker, "redis-server", *([str(self.file)] if self.file else []),
                       "--port", str(self.port), "--dir", str(self.folder)]
            for module in self.modules:
                command += ["--loadmodule", os.path.abspath(module), *self.module_args.split()]
            for name, value in self.options.items():
                command += ["--" + name, str(value)]
            with open(self.folder / "log", "ab") as log:
                self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            if self._answers():
                return
            if "Address already in use" not in self.log_text():
                break
        raise RuntimeError("redis-server does not start:\n" + self.log_text()[-2000:])

    def _answers(self):
        client = redis.Redis(port=self.port)
        def asked():
            if self.process.poll() is not None:
                return "dead"
            try:
                return client.ping() and "alive"
            except redis.exceptions.BusyLoadingError:
                return False
            except redis.exceptions.ConnectionError:
                return False
        state = wait_until(asked, what="the server's PING")
        client.close()
        return state == "alive"

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def connect(self, protocol=2, **options):
        options = {"decode_responses": False, "socket_timeout": 30 * PATIENCE} | options
        client = redis.Redis(port=self.port, single_connection_client=True, **options)
        self.connections.append(client)
        return client

    def resp3(self):
        """A connection that speaks RESP3 and gives replies as they are on the wire; see Raw."""
        raw = Raw(self.port)
        self.connections.append(raw)
        return raw

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """As if the machine lost power."""
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self):
        for c in self.connections:
            c.close()
        self.connections = []

    def shut_down(self):
        """The way an administrator does it; writes the database when there are save points."""
        if self.alive():
            self.process.terminate()
            self.process.wait(timeout=30 * PATIENCE)
        self._close()

    def restart(self, **options):
        self.shut_down()
        self.start(**options)

    def stop(self):
        if self.alive():
            self.process.kill()
            self.process.wait()
        self._close()
        found = "".join(p.read_text(errors="replace") for p in self.folder.glob("checked.*"))
        log = self.log_text() if (self.folder / "log").exists() else ""
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        if "Invalid" in found:
            raise AssertionError("the server read or wrote memory that is not its own:\n" + found[:4000])
        refused = [line for line in log.split("\n") if "== CRITICAL ==" in line]
        if refused and not self.may_refuse_its_master:
            raise AssertionError("the server refused what its master had taken:\n" + "\n".join(refused[:20]))


class Raw:
    """A connection of our own, since Debian's client knows only RESP2. Types of RESP3 stay visible:
    booleans are bool, maps are dict, errors are Error.
    """

    class Error(str):
        pass

    def __init__(self, port, protocol=3):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30 * PATIENCE)
        self.file = self.socket.makefile("rb")
        if protocol == 3:
            self("HELLO", "3")

    def __call__(self, *args):
        parts = [a if isinstance(a, bytes) else str(a).encode() for a in args]
        self.socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        return self.read()

    def read(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Raw.Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2]
        if kind in b"*~>":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        if kind == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        raise ValueError(line)

    def close(self):
        self.file.close()
        self.socket.close()


class server_test(unittest.TestCase):
    """Tests that share one server, which is emptied before each."""
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.server = Server(**cls.options)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.two = Raw(self.server.port, protocol=2)
        self.three = Raw(self.server.port)
        self.addCleanup(self.two.close)
        self.addCleanup(self.three.close)
        self.two("FLUSHALL")

    def call(self, *args):
        """In RESP2."""
        return self.two(*args)

    def refused(self, text, *args):
        answer = self.two(*args)
        self.assertIsInstance(answer, Raw.Error, args)
        self.assertEqual(text, answer, args)

    def arity(self, *args):
        self.refused(f"ERR wrong number of arguments for '{args[0].lower()}' command", *args)
