"""Every verb that listens or connects, with a hostile peer: real processes, real sockets.

What is tried: to connect and close; garbage; a real conversation cut at any byte; a message of it
changed, repeated, left out, moved or lengthened on its way, with a checksum that fits; lengths up
to 2^32; bytes that come one by one; a peer that stops reading; few bytes that ask for much memory.
A verb is never killed by a signal, ends in time, holds no more than it may (--memory, and its own
work), and says in a line what was wrong. One that listens goes on, and serves the right peer
afterwards. $BLOOMERY_PEERS is how often each kind of attack is tried, once where it is not set.
"""
import concurrent.futures
import os
import pathlib
import queue
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import xxhash

TOOL = os.environ["BLOOMERY"]
TIMES = int(os.environ.get("BLOOMERY_PEERS", "1"))
SANITIZED = bool(os.environ.get("BLOOMERY_SANITIZED"))  # then all is slow, and memory says nothing
# The --timeout of verbs: what a stall costs, and more than a right peer ever thinks.
WAIT = 10 if SANITIZED else 3
SEED = os.environ.get("BLOOMERY_SEED", "1")
PATIENCE = 90  # seconds for anything at all
MEBIBYTE = 1 << 20
FETCHES = subprocess.run([TOOL, "help", "fetch"], capture_output=True).returncode == 0

# A verb that listens, and its peer that connects.
PAIRS = [
    ("reconcile", "reconcile -o union {listen} old", "reconcile --method sketch {connect} new"),
    ("reconcile", "reconcile -o union {listen} old", "reconcile --method filter {connect} new"),
    ("reconcile", "reconcile -o union {listen} new", "reconcile --method full {connect} old"),
    ("join", "join {listen} a.csv --on k", "join {connect} b.csv --on k"),
    ("join", "join {listen} b.csv --on k", "join {connect} a.csv --on k"),
    ("join --estimate", "join {listen} a.csv --on k", "join --estimate {connect} b.csv --on k"),
]


# A verb that serves many until it is stopped, and one that asks it.
SERVERS = [
    ("node --listen 127.0.0.1:0 --have one", "find --timeout {wait} --node 127.0.0.1:{port} one"),
    ("node --listen 127.0.0.1:0 --have one --key-file secret",
     "find --timeout {wait} --key-file secret --node 127.0.0.1:{port} one"),
    ("trace serve traces --listen 127.0.0.1:0 --key-file secret",
     "trace path --timeout {wait}s --topology routers.{port} --from r --key-file secret packets.pcap"),
]


def write_capture(path):
    """UDP packets between two hosts, in the form of tcpdump."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for n in range(1):
            f.write(struct.pack("<IIII", 1762345678, n, 28, 28))
            f.write(struct.pack(">BBHHHBBH4s4sHHHH", 0x45, 0, 28, n, 0, 64, 17, 0, bytes([192, 0, 2, 7]),
                                bytes([198, 51, 100, 9]), 1000, 53, 8, 0))


def make_files(folder):
    (folder / "old").write_text("".join(f"line {i}\n" for i in range(3000)))
    (folder / "new").write_text("".join(f"line {i}\n" for i in range(100, 3200)))
    (folder / "a.csv").write_text("k,x\n" + "".join(f"{i},a row of the table\n" for i in range(3000)))
    (folder / "b.csv").write_text("k,y\n" + "".join(f"{i},{i % 7}\n" for i in range(2900, 6000)))
    (folder / "docs").mkdir()
    for i in range(10):
        (folder / "docs" / f"{i}.txt").write_text(f"common word{i}\n")
    (folder / "one").write_text("one\n")
    (folder / "one.csv").write_text("k,y\nk,1\n")
    (folder / "secret").write_text("00112233445566778899aabbccddeeff" * 2 + "\n")
    write_capture(folder / "packets.pcap")
    subprocess.run([TOOL, "trace", "record", "-q", "-o", "traces", "packets.pcap"], cwd=folder, check=True)


def frame(kind, payload):
    payload = bytes(payload)
    check = xxhash.xxh3_64_intdigest(payload, kind + (len(payload) << 8)) & 0xFFFFFFFF
    return struct.pack("<BI", kind, len(payload)) + payload + struct.pack("<I", check)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Process:
    """A tool; what it says on standard error comes line by line."""
    all = []

    def __init__(self, folder, words):
        self.words = words
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([TOOL, *words.split()], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.PIPE)
        Process.all.append(self.process)
        self.said = []
        self.lines = queue.Queue()
        self.memory = 0
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=self.watch, daemon=True).start()

    def listen(self):
        for line in self.process.stderr:
            self.said.append(line.decode(errors="replace").rstrip("\n"))
            self.lines.put(self.said[-1])
        self.lines.put(None)

    def watch(self):
        """The most memory so far. Not from wait4(), which counts what we had when we forked."""
        try:
            while True:
                for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().split("\n"):
                    if line.startswith("VmHWM:"):
                        self.memory = int(line.split()[1]) * 1024
                time.sleep(0.01)
        except OSError:
            pass

    def line(self):
        """The next line, or None where there is none any more."""
        try:
            return self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            self.process.kill()
            raise AssertionError(f"'{self.words}' hangs: {self.said[-3:]}") from None

    def end(self):
        """The status, and the most memory that it had, in bytes."""
        while self.line() is not None:
            pass
        return self.process.wait(PATIENCE), self.memory

    def text(self):
        self.output.seek(0)
        return self.output.read()


class Listener(Process):
    def __init__(self, folder, words):
        super().__init__(folder, words.format(listen=f"--timeout {WAIT} --listen 127.0.0.1:0"))
        first = self.line() or ""
        assert " port " in first, f"'{self.words}' does not listen: {first}"
        self.port = int(first.split()[-1])

    def expect_dropped(self, why):
        line = self.line()
        assert line is not None, f"'{self.words}' ended after {why}: {self.said[-3:]}"
        assert line.startswith("bloomery: dropped a peer"), f"'{self.words}' after {why}: {line}"


def connect(port):
    return f"--timeout {WAIT} --connect 127.0.0.1:{port}"


def dial(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def until_closed(end):
    try:
        while end.recv(65536):
            pass
    except OSError:
        pass


def finish(end):
    try:
        end.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    until_closed(end)


def read_exactly(end, count):
    got = b""
    while len(got) < count:
        more = end.recv(min(count - len(got), 1 << 20))
        if not more:
            raise OSError("closed")
        got += more
    return got


def read_message(end):
    header = read_exactly(end, 5)
    kind, length = struct.unpack("<BI", header)
    return kind, read_exactly(end, length + 4)[:-4]


class Middle:
    """Stands between the two. `alter` makes bytes of message i of a direction; None cuts the
    connection.
    """

    def __init__(self, port, alter):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.door.settimeout(PATIENCE)
        self.port = self.door.getsockname()[1]
        self.target = port
        self.alter = alter
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        client, _ = self.door.accept()
        server = dial(self.target)
        pumps = [threading.Thread(target=self.pump, args=(client, server, 0), daemon=True),
                 threading.Thread(target=self.pump, args=(server, client, 1), daemon=True)]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        for end in (client, server, self.door):
            end.close()

    def pump(self, source, target, direction):
        try:
            number = 0
            while True:
                kind, payload = read_message(source)
                altered = self.alter(direction, number, kind, payload)
                target.sendall(altered or b"")
                number += 1
                if altered is None:
                    source.shutdown(socket.SHUT_RDWR)
                    target.shutdown(socket.SHUT_RDWR)
        except (OSError, struct.error):
            pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def plain(direction, number, kind, payload):
    return frame(kind, payload)


# ---- attacks on a conversation: each makes an alter function

def cut(chance, length):
    """The connection ends after so many bytes of one direction."""
    where = chance.randrange(2)
    left = [chance.randrange(length + 1)]

    def alter(direction, number, kind, payload):
        whole = frame(kind, payload)
        if direction != where:
            return whole
        if left[0] <= 0:
            return None
        piece, left[0] = whole[:left[0]], left[0] - len(whole)
        return piece
    return alter


def changed(chance, _):
    """Some bytes of a message are others; the checksum fits."""
    where, which = chance.randrange(2), chance.randrange(5)

    def alter(direction, number, kind, payload):
        if (direction, number) == (where, which) and payload:
            payload = bytearray(payload)
            for _ in range(chance.choice([1, 1, 1, 4])):
                at = min(chance.randrange(len(payload)), chance.randrange(len(payload)))
                payload[at] = chance.choice([payload[at] ^ 1 << chance.randrange(8), 0, 0xFF, chance.randrange(256)])
        return frame(kind, payload)
    return alter


def resized(chance, _):
    where, which = chance.randrange(2), chance.randrange(5)

    def alter(direction, number, kind, payload):
        if (direction, number) == (where, which):
            size = chance.randrange(2 * len(payload) + 2)
            payload = (payload + bytes(chance.randrange(256) for _ in range(max(0, size - len(payload)))))[:size]
        return frame(kind, payload)
    return alter


def another_type(chance, _):
    where, which, other = chance.randrange(2), chance.randrange(5), chance.randrange(16)

    def alter(direction, number, kind, payload):
        return frame(other if (direction, number) == (where, which) else kind, payload)
    return alter


def repeated(chance, _):
    """A message comes twice, or again where the next one was due, or never."""
    where, which, how = chance.randrange(2), chance.randrange(5), chance.randrange(3)
    kept = []

    def alter(direction, number, kind, payload):
        whole = frame(kind, payload)
        if direction != where:
            return whole
        if number == which:
            kept.append(whole)
            return [2 * whole, whole, b""][how]
        return kept[0] + whole if how == 1 and number == which + 1 and kept else whole
    return alter


def wrong_checksum(chance, _):
    where, which = chance.randrange(2), chance.randrange(4)

    def alter(direction, number, kind, payload):
        whole = frame(kind, payload)
        return whole[:-1] + bytes([whole[-1] ^ 1]) if (direction, number) == (where, which) else whole
    return alter


def huge(chance, _):
    """A message claims more than it has."""
    where, which = chance.randrange(2), chance.randrange(4)
    claim = chance.choice([0xFFFFFFFF, 0x7FFFFFFF, 1 << 28, 1 << 24])

    def alter(direction, number, kind, payload):
        whole = frame(kind, payload)
        return whole[:1] + struct.pack("<I", claim) + whole[5:] if (direction, number) == (where, which) else whole
    return alter


CONVERSATIONS = [cut, changed, resized, another_type, repeated, wrong_checksum, huge]


# ---- strangers: what somebody does who connects to a verb that listens, or to whom a verb connects

def close_at_once(end, chance, greeting):
    pass


def garbage(end, chance, greeting):
    end.sendall(bytes(chance.randrange(256) for _ in range(chance.choice([1, 4, 5, 100, 5000]))))
    finish(end)


def other_protocol(end, chance, greeting):
    end.sendall(chance.choice([b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"EHLO x\r\n", b"*1\r\n$4\r\nPING\r\n",
                               b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]))
    until_closed(end)


def half_greeting(end, chance, greeting):
    end.sendall(greeting[:chance.randrange(len(greeting))])
    finish(end)


def silent(end, chance, greeting):
    until_closed(end)


def drop_by_drop(end, chance, greeting):
    """A byte each 20 ms, twice as long as the verb is patient: never silent, and never done in
    time.
    """
    try:
        for byte in (greeting * 100)[:100 * WAIT]:
            end.sendall(bytes([byte]))
            time.sleep(0.02)
    except OSError:
        pass


def greets_and_stalls(end, chance, greeting):
    end.sendall(greeting)
    # It does not read, and waits until the verb has had enough.
    while end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 1:  # established
        time.sleep(0.02)


QUICK = [close_at_once, garbage, other_protocol, half_greeting]
SLOW = [silent, drop_by_drop, greets_and_stalls]  # a second each


# ---- the runs

class Run:
    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        self.counts = {}
        self.most = 0

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def check_end(self, tool, allowed, limit=None):
        status, memory = tool.end()
        assert status in allowed, f"'{tool.words}' ended with {status}: {tool.said[-3:]}"
        if status == 2:
            assert tool.said and tool.said[-1].startswith("bloomery: "), f"'{tool.words}' says {tool.said[-3:]}"
        if limit and not SANITIZED:
            assert memory <= limit, f"'{tool.words}' held {memory >> 20} MiB, more than {limit >> 20}"
            self.most = max(self.most, memory)
        return status

    def record(self, serve, call):
        """The bytes that the two say to each other, and what they print."""
        said = [b"", b""]

        def alter(direction, number, kind, payload):
            said[direction] += frame(kind, payload)
            return frame(kind, payload)
        listener = Listener(self.folder, serve)
        middle = Middle(listener.port, alter)
        caller = Process(self.folder, call.format(connect=connect(middle.port)))
        self.check_end(caller, (0,))
        self.check_end(listener, (0,))
        middle.thread.join(PATIENCE)
        return said, (listener.text(), caller.text())

    def converse(self, name, serve, call, attack):
        chance = random.Random(f"{SEED} {call} {attack.__name__}")
        said, truth = self.record(serve, call)
        listener = None
        for _ in range(TIMES):
            if listener is None:
                listener = Listener(self.folder, serve)
            middle = Middle(listener.port, attack(chance, max(map(len, said))))
            caller = Process(self.folder, call.format(connect=connect(middle.port)))
            status = self.check_end(caller, (0, 1, 2), 200 * MEBIBYTE)
            middle.thread.join(PATIENCE)
            self.count("conversations")
            line = listener.line()
            if line is not None and line.startswith("bloomery: dropped"):
                continue
            # Nothing that it minded; the results are the truth then, but for rows that the peer may
            # make up.
            self.check_end(listener, (0,))
            if name == "reconcile" and status == 0:
                assert (listener.text(), caller.text()) == truth, "a wrong difference"
            listener = None
        if listener:
            self.serve_rightly(listener, call)

    def serve_rightly(self, listener, call, limit=None):
        caller = Process(self.folder, call.format(connect=connect(listener.port)))
        self.check_end(caller, (0,))
        self.check_end(listener, (0,), limit)

    def visit(self, serve, call):
        """Strangers connect to a verb that listens."""
        chance = random.Random(f"{SEED} {serve}")
        said, _ = self.record(serve, call)
        listener = Listener(self.folder, serve)
        for attack in [a for a in QUICK for _ in range(TIMES)] + SLOW:
            with dial(listener.port) as end:
                attack(end, chance, said[0])
            listener.expect_dropped(attack.__name__)
            self.count("strangers")
        self.serve_rightly(listener, call, 200 * MEBIBYTE)

    def receive(self, serve, call):
        """A verb connects to strangers."""
        chance = random.Random(f"{SEED} {call}")
        said, _ = self.record(serve, call)
        for attack in [a for a in QUICK for _ in range(max(1, TIMES // 2))] + SLOW:
            with socket.create_server(("127.0.0.1", 0)) as door:
                caller = Process(self.folder, call.format(connect=connect(door.getsockname()[1])))
                end, _ = door.accept()
                with end:
                    attack(end, chance, said[1])
                self.check_end(caller, (2,), 200 * MEBIBYTE)
            self.count("strangers")


    # ---- verbs that serve many

    def asker(self, call, port):
        (self.folder / f"routers.{port}").write_text(f"r 127.0.0.1:{port}\n")
        return Process(self.folder, call.format(wait=WAIT, port=port))

    def serve_many(self, serve, call):
        """Strangers and friends who talk strangely come; the right one is served before, between
        and after.
        """
        chance = random.Random(f"{SEED} {serve}")
        server = Process(self.folder, serve)
        first = server.line() or ""
        assert " port " in first, f"'{serve}' does not listen: {first}"
        port = int(first.split()[-1])
        said = [b"", b""]

        def recorded(direction, number, kind, payload):
            said[direction] += frame(kind, payload)
            return frame(kind, payload)
        middle = Middle(port, recorded)
        self.check_end(self.asker(call, middle.port), (0,))
        assert said[0] and said[1], f"'{call}' says nothing"
        for attack in [a for a in QUICK for _ in range(TIMES)]:
            with dial(port) as end:
                try:
                    attack(end, chance, said[0])
                except OSError:
                    pass
            self.count("strangers")
        for attack in [a for a in CONVERSATIONS for _ in range(TIMES)]:
            middle = Middle(port, attack(chance, len(said[0])))
            self.check_end(self.asker(call, middle.port), (0, 1, 2), 200 * MEBIBYTE)
            self.count("conversations")
        self.check_end(self.asker(call, port), (0,))
        assert server.process.poll() is None, f"'{serve}' ended: {server.said[-3:]}"
        assert SANITIZED or server.memory < 200 * MEBIBYTE, f"'{serve}' held {server.memory >> 20} MiB"
        server.process.kill()
        return said[1]

    def ask_strangers(self, call, greeting, allowed=(2,)):
        """A verb asks somebody who is not what it thinks."""
        chance = random.Random(f"{SEED} {call}")
        for attack in [a for a in QUICK for _ in range(TIMES)] + SLOW:
            with socket.create_server(("127.0.0.1", 0)) as door:
                asker = self.asker(call, door.getsockname()[1])
                end, _ = door.accept()
                with end:
                    try:
                        attack(end, chance, greeting)
                    except OSError:
                        pass
                self.check_end(asker, allowed, 200 * MEBIBYTE)
            self.count("strangers")

    def serve_and_ask(self, serve, call):
        # Without a key, an answer that is said again is an answer.
        self.ask_strangers(call, self.serve_many(serve, call), (0, 1, 2))

    def fetch_from_strangers(self):
        page = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Type: application/json\r\n\r\n" + b"{" * 5000
        self.ask_strangers("fetch --timeout {wait} http://127.0.0.1:{port}/filters/x -o fetched", page)
        assert not (self.folder / "fetched").exists()


# ---- few bytes that ask for much memory; the limit is 64 MiB, and 48 more are for the tool itself

LIMIT = 64 * MEBIBYTE
MOST = LIMIT + 48 * MEBIBYTE


def hello_of_reconcile(keys, key_bytes, method):
    """With many keys, a peer is the one who sends the estimator."""
    hello = frame(1, b"BLMRECON\x01" + bytes([method]) + os.urandom(8) + varint(keys) + varint(key_bytes))
    return hello + frame(11, bytes(128)) if keys else hello


def shared_prefixes(end):
    """Keys of 258 bytes in five: each shares 255 bytes with the one before."""
    end.sendall(hello_of_reconcile(1 << 30, 1 << 40, 1))
    kind, payload = read_message(end)
    while kind != 6 or payload[0] == 0:
        kind, payload = read_message(end)
    end.sendall(frame(8, b"\x00"))  # it wants none of our keys
    first = bytes([0]) + varint(258) + b"a" * 255 + bytes(3)
    number = 1
    while True:
        keys = bytearray(first)
        first = b""
        for _ in range(50_000):
            keys += b"\xff\x03" + number.to_bytes(3, "big")
            number += 1
        end.sendall(frame(4, keys))


def wanting_everything(end):
    """Asks for more symbols each time."""
    end.sendall(hello_of_reconcile(1 << 30, 1 << 40, 1))
    made = 0
    while True:
        kind, payload = read_message(end)
        if kind == 6:
            made += 4096
            if payload[0] == 1:
                end.sendall(frame(7, varint(made)))


def symbols_for_ever(end):
    """A peer with fewer keys makes the symbols: of no set, for ever."""
    end.sendall(hello_of_reconcile(0, 0, 1) + frame(2, bytes([1, 0, 0, 0, 0])))
    first = 0
    while True:
        body = b"\x00" + varint(0) + varint(first) + varint(4096) + (os.urandom(12) + b"\x00") * 4096
        first += 4096
        end.sendall(frame(6, body))


def empty_parts(end):
    """A filter of a hundred million parts without a key."""
    end.sendall(hello_of_reconcile(1 << 30, 1 << 40, 2))
    read_message(end)
    read_message(end)
    end.sendall(frame(3, varint(100_000_000) + bytes(100_000_000)))
    until_closed(end)


def join_offer(bits, rows, about, rest=b""):
    return frame(2, bytes([bits, bits]) + varint(rows) + varint(rows) + varint(99) + varint(len(about)) + about + rest)


def short_rows(end):
    """Rows of three bytes that all match."""
    read_message(end)
    end.sendall(frame(7, b"\x2a") + join_offer(0, 1 << 40, b"\x01k\x01k"))
    rows = frame(4, b"\x01k\x00" * 100_000)
    while True:
        end.sendall(rows)


def parts_of_join(end):
    read_message(end)
    end.sendall(frame(7, b"\x2a") + join_offer(1, 1 << 40, b"\x01k\x01k", varint(15_000_000) + bytes(15_000_000)))
    until_closed(end)


def one_long_part(end):
    read_message(end)
    body = varint(1) + varint(10_000_000) + bytes(10_000_000)
    end.sendall(frame(7, b"\x2a") + join_offer(1, 1 << 40, b"\x01k\x01k", body))
    until_closed(end)


def endless_columns(end):
    """About the table: fifteen million columns without a name."""
    read_message(end)
    end.sendall(frame(7, b"\x2a") + join_offer(0, 1, bytes(15_000_000)))
    until_closed(end)


def endless_fields(end):
    """One row of fifteen million empty fields."""
    read_message(end)
    end.sendall(frame(7, b"\x2a") + join_offer(0, 1, b"\x01k\x01k") +
                frame(4, b"\x01k" + varint(15_000_000) + bytes(15_000_000)) + frame(5, b"\x01"))
    until_closed(end)


BOMBS = [("reconcile --memory 64Mi {connect} one", bomb) for bomb in (shared_prefixes, wanting_everything, symbols_for_ever, empty_parts)] + \
        [("join --memory 64Mi {connect} one.csv --on k", bomb)
         for bomb in (short_rows, parts_of_join, one_long_part, endless_columns, endless_fields)]


# ---- keyword search: nodes that serve many, publishers and askers

def free_ports(number):
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    return [f"127.0.0.1:{door.getsockname()[1]}" for door in doors]


def text(value):
    return varint(len(value)) + value


def questions(nodes):
    """A message of each kind, as friends send them, to node 0."""
    listed = varint(len(nodes)) + b"".join(text(n.encode()) for n in nodes)
    number = varint(xxhash.xxh3_64_intdigest(listed + b"\x00"))
    words = varint(2) + text(b"common") + text(b"word1")
    find = b"\x01" + number + b"\x01" + b"\x00" + words + b"\x05" + b"\x00\x00\x00"
    return [(1, b""), (3, listed + b"\x00"), (5, number + varint(77) + text(b"x") + words), (6, number + words),
            (8, find), (10, number + varint(2) + varint(77) + varint(1))]


class Nodes:
    def __init__(self, run, number, memory="64Mi"):
        self.names = free_ports(number)
        self.at = ",".join(self.names)
        self.tools = [Process(run.folder, f"index --serve {name} --memory {memory} --at {self.at}") for name in self.names]
        for tool in self.tools:
            assert " port " in (tool.line() or ""), f"'{tool.words}' does not listen: {tool.said}"

    def dial(self, node=0):
        return dial(int(self.names[node].split(":")[1]))

    def end(self):
        """All live, with so much memory at most, until they are killed."""
        most = 0
        for tool in self.tools:
            assert tool.process.poll() is None, f"'{tool.words}' ended: {tool.said[-3:]}"
            time.sleep(0.03)
            most = max(most, tool.memory)
            tool.process.kill()
        return most


def strange_questions(run):
    chance = random.Random(f"{SEED} nodes")
    nodes = Nodes(run, 2)
    publish = Process(run.folder, f"index -q --at {nodes.at} docs")
    run.check_end(publish, (0,))
    asked = questions(nodes.names)
    for _ in range(60 * TIMES):
        kind, payload = chance.choice(asked)
        alter = chance.choice([changed, resized, another_type, huge, wrong_checksum])(chance, 0)
        message = b""
        while not message:
            message = alter(chance.randrange(2), chance.randrange(2), kind, payload)
        with nodes.dial() as end:
            try:
                end.sendall(message)
                finish(end)
            except OSError:
                pass
        run.count("strange questions")
    for attack in [a for a in QUICK for _ in range(TIMES)]:
        with nodes.dial() as end:
            attack(end, chance, frame(*asked[2]))
        run.count("strangers")
    # Who may publish may also take words of a document away: published again it is whole.
    publish = Process(run.folder, f"index -q --at {nodes.at} docs")
    run.check_end(publish, (0,))
    search = Process(run.folder, f"search --at {nodes.at} common word1")
    run.check_end(search, (0,))
    assert b"docs/1.txt\n" in search.text(), search.text()
    most = nodes.end()
    assert SANITIZED or most < MOST, f"a node held {most >> 20} MiB"


def publish_for_ever(run):
    """Short words of many documents, until the node is full: it says so, and still answers."""
    nodes = Nodes(run, 1)
    number = questions(nodes.names)[3][1][:-len(varint(2) + text(b"common") + text(b"word1"))]
    document = 0
    refused = False
    while not refused:
        batch = bytearray(number)
        for _ in range(5000):
            document += 1
            batch += varint(document) + b"\x00" + varint(20) + b"".join(text(b"%x" % (document * 20 + i)) for i in range(20))
        with nodes.dial() as end:
            end.sendall(frame(5, batch))
            refused = read_message(end)[0] == 12
        run.count("bombs")
    search = Process(run.folder, f"search --at {nodes.at} common")
    run.check_end(search, (1,))
    most = nodes.end()
    assert SANITIZED or most < MOST, f"a node held {most >> 20} MiB"


def strange_answers(run):
    """Who publishes or asks meets a node that lies."""
    chance = random.Random(f"{SEED} answers")
    for words in (["search --at {at} common word1", "index -q --at {at} docs"] * 4 * TIMES):
        with socket.create_server(("127.0.0.1", 0)) as door:
            door.settimeout(PATIENCE)
            at = f"127.0.0.1:{door.getsockname()[1]}"
            tool = Process(run.folder, words.format(at=at))

            def lie():
                try:
                    while tool.process.poll() is None:
                        door.settimeout(0.2)
                        end, _ = door.accept()
                        with end:
                            end.settimeout(PATIENCE)
                            kind, _ = read_message(end)
                            good = {1: (2, b"\x01" + text(at.encode()) + b"\x00"), 3: (4, b""), 5: (4, b""), 6: (7, b"\x05\x05\x05"),
                                    8: (9, b"\x00\x00\x00\x02\x05\x05"), 10: (11, b"\x01a\x01b")}.get(kind, (12, b""))
                            if chance.randrange(3) == 0:
                                good = chance.choice([(chance.randrange(14), bytes(chance.randrange(256) for _ in range(chance.randrange(40)))),
                                                      (12, b"\x09" + text(b"\x1b[31m\nforged")), (9, b"\xff" * 30)])
                            end.sendall(frame(*good))
                except OSError:
                    pass
            while tool.process.poll() is None:
                lie()
            run.check_end(tool, (0, 1, 2), 200 * MEBIBYTE)
            assert not any("\x1b" in line for line in tool.said), tool.said
        run.count("strange answers")


def bombs(run):
    for words, bomb in BOMBS:
        with socket.create_server(("127.0.0.1", 0)) as door:
            tool = Process(run.folder, words.format(connect=connect(door.getsockname()[1])))
            end, _ = door.accept()
            end.settimeout(PATIENCE)
            with end:
                try:
                    bomb(end)
                except OSError:
                    pass
            try:
                run.check_end(tool, (2,), MOST)
            except AssertionError as wrong:
                raise AssertionError(f"{bomb.__name__}: {wrong}") from None
        run.count("bombs")
    # Listeners count the same, and go on.
    listener = Listener(run.folder, "reconcile --memory 64Mi {listen} one")
    for bomb in (shared_prefixes, wanting_everything, symbols_for_ever, empty_parts):
        with dial(listener.port) as end:
            try:
                bomb(end)
            except OSError:
                pass
        listener.expect_dropped(bomb.__name__)
        run.count("bombs")
    run.serve_rightly(listener, "reconcile {connect} one", MOST)


def main():
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_files(folder)
        run = Run(folder)
        tasks = {attack.__name__: lambda a=attack: a(run)
                 for attack in (bombs, strange_questions, publish_for_ever, strange_answers)}
        for serve, call in SERVERS:
            tasks[f"many at '{serve}'"] = lambda s=serve, c=call: run.serve_and_ask(s, c)
        if FETCHES:
            tasks["strangers for fetch"] = run.fetch_from_strangers
        for name, serve, call in PAIRS:
            tasks[f"strangers at '{serve}'"] = lambda s=serve, c=call: run.visit(s, c)
            tasks[f"strangers for '{call}'"] = lambda s=serve, c=call: run.receive(s, c)
            for attack in CONVERSATIONS:
                tasks[f"{attack.__name__} in '{call}'"] = lambda n=name, s=serve, c=call, a=attack: run.converse(n, s, c, a)
        # Most of the time goes by in waiting for somebody's patience to end.
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            running = {name: pool.submit(task) for name, task in tasks.items()}
        for process in Process.all:  # those whose test has failed
            if process.poll() is None:
                process.kill()
        failed = [f"{name}: {task.exception()!r}" for name, task in running.items() if task.exception()]
    print(", ".join(f"{number} {what}" for what, number in sorted(run.counts.items())),
          f"in {time.monotonic() - started:.0f} s; most memory {run.most >> 20} MiB")
    for text in failed:
        print("FAILED:", text, file=sys.stderr)
    sys.exit(1 if failed else 0)


main()
