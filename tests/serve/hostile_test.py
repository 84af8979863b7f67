"""The server against clients that break rules, are slow, or many; and what is left when it is
killed.
"""
import contextlib
import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TOOL = os.environ["BLOOMERY"]
os.chdir(tempfile.mkdtemp())


def tool(*words, **more):
    return subprocess.run([TOOL, *words], check=True, **more)


class Server:
    all = []

    def __init__(self, *options):
        self.errors = open("server.err", "w+")
        self.process = subprocess.Popen([TOOL, "serve", "dir", "--listen", "127.0.0.1:0", *options], stderr=self.errors)
        Server.all.append(self.process)
        for _ in range(600):
            told = open("server.err").read()
            if " at http://" in told:
                break
            assert self.process.poll() is None, told
            time.sleep(0.05)
        self.port = int(told.split("127.0.0.1:")[1].split()[0])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, method, path, body=None, headers={}):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        c.request(method, path, body, headers)
        r = c.getresponse()
        return r.status, r.read()

    def ask_until_answered(self, path):
        """For a server that may have no room yet, or no patience."""
        deadline = time.monotonic() + 60
        while True:
            try:
                answer, body = self.ask("GET", path)
                if answer == 200:
                    return body
            except (ConnectionError, http.client.HTTPException):
                pass
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def raw(self, *pieces, pause=0.0):
        """What comes back until the server closes; "" when it resets."""
        with self.connect() as s:
            try:
                for piece in pieces:
                    s.sendall(piece)
                    time.sleep(pause)
                s.shutdown(socket.SHUT_WR)
                got = b""
                while data := s.recv(65536):
                    got += data
                return got
            except ConnectionError:
                return b""

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, open("server.err").read()


def status(reply):
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.1 ") else 0


def hostile_requests(server):
    ok = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
    post = b"POST /filters/words/check HTTP/1.1\r\nHost: a\r\n"
    cases = [
        (200, ok + b"\r\n"),
        (200, b"GET /healthz HTTP/1.0\r\n\r\n"),
        (400, b"GET /healthz HTTP/1.1\r\n\r\n"),  # no Host
        (400, ok + b"Host: b\r\n\r\n"),
        (400, b"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
        (505, b"GET /heal thz HTTP/1.1\r\nHost: a\r\n\r\n"),
        (505, b"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n"),
        (400, b"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, ok + b"X : y\r\n\r\n"),
        (400, ok + b"X\r\n\r\n"),
        (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200)),  # TLS
        (431, ok + b"X: " + b"a" * 20000 + b"\r\n\r\n"),
        (431, b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, post + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        (400, post + b"Content-Length: -3\r\n\r\nabc"),
        (400, post + b"Content-Length: +3\r\n\r\nabc"),
        (400, post + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (501, post + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        (501, post + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        (400, post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        (400, post + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n"),
        (200, post + b"Transfer-Encoding: chunked\r\n\r\n4\r\nkey1\r\n0\r\nX: y\r\n\r\n"),
        (400, post + b"Transfer-Encoding: chunked\r\n\r\n1;" + b"a" * 40000),
        (400, post + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 7000),
        (405, b"BREW /filters HTTP/1.1\r\nHost: a\r\n\r\n"),
        (413, post + b"Content-Length: 2000000\r\n\r\n" + b"a" * 2000000),
    ]
    for wanted, request in cases:
        assert status(server.raw(request)) == wanted, (wanted, request[:100], server.raw(request)[:300])
        # However it is cut.
        if len(request) < 400:
            pieces = [request[i:i + 7] for i in range(0, len(request), 7)]
            assert status(server.raw(*pieces, pause=0.001)) in (wanted, 0), (wanted, request)
    # Several requests at once, answered in order; one after an error is not looked at.
    got = server.raw(ok + b"\r\n" + ok.replace(b"/healthz", b"/none") + b"\r\n" + ok + b"Connection: close\r\n\r\n" + ok + b"\r\n")
    assert [int(p[:3]) for p in got.split(b"HTTP/1.1 ")[1:]] == [200, 404, 200], got
    got = server.raw(b"BAD\r\n\r\n" + ok + b"\r\n")
    assert got.count(b"\r\nDate: ") == 1, got
    # A body that nobody wants is not taken for a request.
    got = server.raw(b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\n\r\n" + ok + b"\r\n")
    assert got.count(b"\r\nDate: ") == 1, got
    # 100-continue, and garbage by the kilobyte.
    with server.connect() as s:
        s.sendall(post + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        assert s.recv(100).startswith(b"HTTP/1.1 100 ")
        s.sendall(b"key1")
        assert b"200 OK" in s.recv(1000)
    dice = random.Random(4)
    for _ in range(200):
        base = bytearray(dice.choice(cases)[1][:300])
        for _ in range(dice.randrange(1, 8)):
            at = dice.randrange(len(base))
            base[at:at + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        server.raw(bytes(base))
    assert server.ask("GET", "/healthz")[0] == 200


def slow_clients():
    server = Server("--header-time", "2", "--slack", "2", "--idle-time", "1", "--threads", "2")
    start = time.monotonic()
    # Each speaks as soon as it is there: a connection that never said anything is not counted as
    # late.
    with contextlib.ExitStack() as clients:
        slow = clients.enter_context(server.connect())
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        body = clients.enter_context(server.connect())
        body.sendall(b"POST /filters/words/check HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        idle = clients.enter_context(server.connect())
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        ended = set()
        # A byte now and then does not help.
        while len(ended) < 3:
            assert time.monotonic() - start < 60, ended
            for s, byte in ((slow, b"X"), (body, b"k"), (idle, b"")):
                if s in ended:
                    continue
                try:
                    s.sendall(byte)
                    s.settimeout(0.05)
                    if not s.recv(1000):
                        ended.add(s)
                except TimeoutError:
                    pass
                except ConnectionError:
                    ended.add(s)
    metrics = server.ask_until_answered("/metrics").decode()
    # A request for them may have been late itself.
    assert int(re.search(r"^bloomery_serve_timeouts_total (\d+)$", metrics, re.M)[1]) >= 2, metrics
    server.stop()


def too_many_clients():
    """One connection too many is told so, and there is room again when one has gone."""
    server = Server("--connections", "4", "--threads", "2")
    held = []
    refused = 0
    for _ in range(8):
        s = server.connect()
        held.append(s)
        try:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            refused += b" 503 " in s.recv(1000)
        except ConnectionError:
            refused += 1
    assert refused == 4, refused
    for s in held:
        s.close()
    server.ask_until_answered("/healthz")
    server.stop()


def graceful_stop():
    """A request that is under way is finished, and new ones are not taken."""
    server = Server("--threads", "1")
    with server.connect() as s:
        s.sendall(b"POST /filters/words/check HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nke")
        while server.ask("GET", "/healthz")[0] != 200:
            pass
        server.process.terminate()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                server.connect().close()
                time.sleep(0.02)
            except ConnectionError:
                break
        s.sendall(b"y1\n")
        got = b""
        while data := s.recv(1000):
            got += data
    assert b"200 OK" in got and b"Connection: close" in got and got.endswith(b"key1\n"), got
    assert server.process.wait(60) == 0


def swaps_without_a_failure():
    """Versions come while clients ask, fetch and follow: no request fails, every answer is of one
    version.
    """
    shutil.copy("words.0", "dir/words")
    server = Server("--threads", "2")
    versions = {open(f"words.{i}", "rb").read() for i in range(3)}
    stop = threading.Event()
    failures = []

    def client(number):
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            while not stop.is_set():
                if number == 0:
                    c.request("GET", "/filters/words")
                    r = c.getresponse()
                    assert r.status == 200 and r.read() in versions
                else:
                    c.request("POST", "/filters/words/check", b"key1\nkey2000\nnokey\n")
                    r = c.getresponse()
                    assert (r.status, r.read()) == (200, b"key1\nkey2000\n")
        except Exception as e:
            failures.append(repr(e))

    clients = [threading.Thread(target=client, args=(i,)) for i in range(3)]
    for c in clients:
        c.start()
    for i in range(40):
        shutil.copy(f"words.{i % 3}", "new")
        os.rename("new", "dir/words")
        time.sleep(0.02)
    stop.set()
    for c in clients:
        c.join()
    assert not failures, failures
    server.stop()


def kill_while_adding():
    """kill -9 at any moment, in the middle of a long body and while files are renamed, leaves a
    sound file, the old one or a new one, and nothing beside it.
    """
    dice = random.Random(3)
    few = [[f"new{i}"] for i in range(2000)]
    # Bodies of a megabyte.
    many = [[f"many{i}-{k:012}" for k in range(50_000)] for i in range(8)]
    token = {"Authorization": "Bearer " + open("token").read().strip()}
    for i in range(2):
        tool("build", "-q", "--keys", "1M", "-o", f"roomy.{i}", input=f"version{i}\n", text=True)
    for round in range(6):
        shutil.copy("roomy.0", "dir/words")
        server = Server("--writable", "--token-file", "token")
        killed = threading.Event()
        confirmed = []

        def add(bodies):
            for keys in bodies:
                try:
                    if server.ask("POST", "/filters/words/add", "".join(k + "\n" for k in keys), token)[0] == 200:
                        confirmed.extend(keys)
                except (ConnectionError, http.client.HTTPException, OSError):
                    return

        # In every second round it is the file to which keys are added, and takes them away again.
        replaced = "words" if round % 2 else "other"

        def rename():
            turn = 0
            while not killed.is_set():
                turn += 1
                shutil.copy(f"roomy.{turn % 2}", "new")
                os.rename("new", "dir/" + replaced)

        others = [threading.Thread(target=add, args=(few,)), threading.Thread(target=add, args=(many,)),
                  threading.Thread(target=rename)]
        for thread in others:
            thread.start()
        time.sleep(dice.random() * 0.5)
        server.kill()
        killed.set()
        for thread in others:
            thread.join()
        tool("verify", "-q", "dir/words")
        # What was confirmed is there.
        if replaced != "words" and confirmed:
            found = tool("check", "dir/words", input="".join(k + "\n" for k in confirmed), text=True,
                         capture_output=True).stdout.split()
            assert found == confirmed, (round, len(found), len(confirmed))
    server = Server("--writable", "--token-file", "token")
    assert server.ask("POST", "/filters/words/add", "last\n", token)[0] == 200
    server.stop()
    assert sorted(os.listdir("dir")) == ["other", "words"], os.listdir("dir")


os.mkdir("dir")
for i in range(3):
    keys = "".join(f"key{k}\n" for k in range(2001)) + f"version{i}\n"
    tool("build", "-q", "--keys", "10k", "-o", f"words.{i}", input=keys, text=True)
with open("token", "w") as f:
    f.write("0123456789abcdef\n")
shutil.copy("words.0", "dir/words")
try:
    one = Server("--threads", "1")
    hostile_requests(one)
    one.stop()
    slow_clients()
    too_many_clients()
    graceful_stop()
    swaps_without_a_failure()
    kill_while_adding()
finally:
    for process in Server.all:
        if process.poll() is None:
            process.kill()
    folder = os.getcwd()
    os.chdir("/")
    shutil.rmtree(folder)
