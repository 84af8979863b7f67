#!/usr/bin/python3
"""A real Squid on loopback caches objects; its digest, read by the tool, has every one of them, and
so has the digest that the tool makes of its log and of its directory. It takes a digest that the
tool made, and asks the sibling that has it for what is in it. And a real nginx, where there is one,
with a cache of its own.

$BLOOMERY is the tool. Skipped, with 77, without Squid.
"""

import contextlib
import grp
import http.client
import http.server
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

TOOL = os.environ["BLOOMERY"]
SQUID = shutil.which("squid", path=os.environ.get("PATH", "") + ":/usr/sbin")
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
OBJECTS = 100


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = self.path.encode() * 20
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Sibling(http.server.BaseHTTPRequestHandler):
    """What a sibling of Squid answers. The mask follows the control block a moment later, because
    Squid 5.7 spoils a mask of more than 128 bytes that arrives together with it (its bug 5510).
    """

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path.endswith("/squid-internal-periodic/store_digest"):
            body = self.server.digest
            self.answer(200, "application/cache-digest", len(body))
            self.wfile.write(body[:128])
            self.wfile.flush()
            time.sleep(0.3)
            self.wfile.write(body[128:])
        elif self.path in self.server.documents:
            self.answer(200, "text/plain", 7)
            self.wfile.write(b"sibling")
        else:
            self.server.in_vain += 1
            self.answer(504, "text/plain", 0)

    def answer(self, status, kind, length):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, check, seconds=60):
    """Until check() returns something; it may raise what a server that is not ready yet causes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if result := check():
                return result
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s for {what}")


def get(port, target, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", target, headers={"Host": host or f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()
    finally:
        connection.close()


def tool(*arguments, text=None):
    done = subprocess.run([TOOL, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return done


class WithServers(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="bloomery-squid-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # Servers that are started as root go on as somebody else.
        self.folder.chmod(0o755)
        self.origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
        threading.Thread(target=self.origin.serve_forever, daemon=True).start()
        self.addCleanup(self.origin.server_close)
        self.addCleanup(self.origin.shutdown)

    def owned(self, name, user):
        path = self.folder / name
        path.mkdir()
        if os.getuid() == 0:
            entry = pwd.getpwnam(user)
            os.chown(path, entry.pw_uid, entry.pw_gid)
        return path

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def stop():
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.addCleanup(stop)
        return process


class SquidTest(WithServers):
    def setUp(self):
        super().setUp()
        self.sibling = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sibling)
        self.sibling.documents, self.sibling.in_vain = set(), 0
        self.sibling.digest = b""
        threading.Thread(target=self.sibling.serve_forever, daemon=True).start()
        self.addCleanup(self.sibling.server_close)
        self.addCleanup(self.sibling.shutdown)
        self.state = self.owned("state", "proxy")
        self.port = free_port()
        # Its segments of shared memory have the name of the service, and so does nobody else's.
        self.service = f"bloomery{os.getpid()}"
        self.addCleanup(self.forget_segments)
        conf = self.folder / "squid.conf"
        conf.write_text(f"""
            http_port 127.0.0.1:{self.port}
            cache_dir ufs {self.state}/cache 20 4 4
            access_log stdio:{self.state}/access.log
            strip_query_terms off
            cache_log {self.state}/cache.log
            pid_filename {self.state}/squid.pid
            coredump_dir {self.state}
            netdb_filename none
            pinger_enable off
            visible_hostname localhost
            shutdown_lifetime 0 seconds
            http_access allow all
            cache_peer 127.0.0.1 sibling {self.sibling.server_port} 0 no-query no-netdb-exchange
            minimum_direct_rtt 0
            minimum_direct_hops 0
            digest_generation on
            digest_rebuild_period 1 second
            digest_rewrite_period 1 second
        """)
        self.squid = [SQUID, "-N", "-n", self.service, "-f", str(conf)]
        subprocess.run([*self.squid, "-z"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=60)

    def forget_segments(self):
        for path in Path("/dev/shm").glob(f"{self.service}-*"):
            path.unlink(missing_ok=True)

    def count(self, digest, urls):
        return int(tool("digest", "ask", "-c", digest, text="\n".join(urls) + "\n").stdout)

    def test_it_asks_us_for_what_is_in_our_digest(self):
        site = f"http://127.0.0.1:{self.origin.server_port}"
        ours = [f"{site}/ours/{i}" for i in range(OBJECTS)]
        tries = [f"{site}/try/{i}" for i in range(600)]
        others = [f"{site}/others/{i}" for i in range(OBJECTS)]
        made = self.folder / "ours.digest"
        subprocess.run([TOOL, "digest", "make", "-q", "-o", made, "--bits-per-entry", "16"], check=True, text=True,
                       input="\n".join(ours + tries) + "\n", timeout=60)
        self.sibling.digest = made.read_bytes()
        self.assertEqual(len(self.sibling.digest), 128 + 2 * len(ours + tries))
        self.sibling.documents = set(ours + tries)
        self.start(self.squid)
        # Squid fetches the digest when it first misses something. Until then it goes to the origin,
        # and keeps what it gets; so there are documents to try it with.
        untried = iter(tries)
        wait_for("a Squid with our digest", lambda: get(self.port, next(untried))[2] == b"sibling")
        got = [get(self.port, url)[2] for url in ours]
        self.assertEqual([url for url, body in zip(ours, got) if body != b"sibling"], [])
        before = self.sibling.in_vain
        for url in others:
            self.assertEqual(get(self.port, url)[0], 200)
        # .0024 of them by chance: 0.4 are expected, and ten are less likely than 1 in 10^10.
        self.assertLess(self.sibling.in_vain - before, 10)
        log = (self.state / "access.log").read_text()
        self.assertGreaterEqual(log.count("CD_SIBLING_HIT"), OBJECTS)

    def test_every_cached_object_is_in_its_digest(self):
        self.start(self.squid)
        site = f"http://127.0.0.1:{self.origin.server_port}"
        cached = [f"{site}/o{i}?q={i}" for i in range(OBJECTS)]
        others = [f"{site}/x{i}" for i in range(2000)]
        wait_for("Squid", lambda: get(self.port, cached[0])[0] == 200)
        for url in cached:
            self.assertEqual(get(self.port, url)[0], 200)

        digest = self.folder / "squid.digest"

        def has_all():
            status, kind, body = get(self.port, "/squid-internal-periodic/store_digest")
            if status != 200:
                return False
            self.assertEqual(kind, "application/cache-digest")
            digest.write_bytes(body)
            return self.count(digest, cached) == OBJECTS

        wait_for("a digest with all objects", has_all)
        info = json.loads(tool("digest", "info", "--json", digest).stdout)
        self.assertEqual((info["version"], info["required_version"], info["bits_per_entry"]), (5, 3, 5))
        self.assertGreaterEqual(info["entries"], OBJECTS)
        # Bernoulli at the rate of its bits, five standard deviations.
        rate = info["fpr_now"]
        self.assertLess(abs(self.count(digest, others) / 2000 - rate), 5 * (rate * (1 - rate) / 2000) ** 0.5)

        # What we make of its log and of its directory has them, too, and with many bits hardly
        # anything else: of 2000 others 0.002 are expected, and four are less likely than 1 in
        # 10^12.
        sharp = ["--bits-per-entry", 127]
        tool("digest", "make", "-o", self.folder / "log", *sharp, "--log", self.state / "access.log")

        def made_of_directory():
            tool("digest", "make", "-o", self.folder / "dir", *sharp, "--squid", self.state / "cache")
            return self.count(self.folder / "dir", cached) == OBJECTS

        wait_for("swap.state", made_of_directory)
        (self.folder / "objects").mkdir()
        for folder in (self.state / "cache").iterdir():
            if folder.is_dir():
                shutil.copytree(folder, self.folder / "objects" / folder.name)
        tool("digest", "make", "-o", self.folder / "files", *sharp, "--squid", self.folder / "objects")
        for name in "log", "dir", "files":
            self.assertEqual(self.count(self.folder / name, cached), OBJECTS, name)
            self.assertLess(self.count(self.folder / name, others), 4, name)

        # A digest of the same URLs and numbers as Squid's has the bits of it: those of ours are all
        # in it.
        (self.folder / "urls").write_text("\n".join(cached) + "\n")
        capacity = max(info["capacity"], OBJECTS)
        tool("digest", "make", "-o", self.folder / "ours", "--capacity", capacity, self.folder / "urls")
        if info["capacity"] >= OBJECTS:
            ours = (self.folder / "ours").read_bytes()[128:]
            theirs = digest.read_bytes()[128:]
            self.assertEqual(len(ours), len(theirs))
            self.assertEqual([a & ~b for a, b in zip(ours, theirs) if a & ~b], [])


class NginxTest(WithServers):
    @unittest.skipUnless(NGINX, "no nginx")
    def test_every_cached_object_is_found_in_its_directory(self):
        state = self.owned("state", "nobody")
        port = free_port()
        group = grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name
        user = f"user nobody {group};" if os.getuid() == 0 else ""
        conf = self.folder / "nginx.conf"
        conf.write_text(f"""
            {user}
            daemon off;
            pid {state}/pid;
            error_log {state}/error.log;
            events {{}}
            http {{
              access_log {state}/access.log combined;
              proxy_cache_path {state}/cache levels=1:2 keys_zone=z:1m;
              client_body_temp_path {state}/body;
              proxy_temp_path {state}/proxy;
              fastcgi_temp_path {state}/fastcgi;
              uwsgi_temp_path {state}/uwsgi;
              scgi_temp_path {state}/scgi;
              server {{
                listen 127.0.0.1:{port};
                location / {{
                  proxy_pass http://127.0.0.1:{self.origin.server_port};
                  proxy_cache z;
                }}
              }}
            }}
        """)
        self.start([NGINX, "-p", str(state), "-c", str(conf)])
        paths = [f"/o{i}?q={i}" for i in range(30)]
        wait_for("nginx", lambda: get(port, paths[0])[0] == 200)
        for path in paths:
            self.assertEqual(get(port, path)[0], 200)
        site = "http://mirror.example"
        urls = "\n".join(site + path for path in paths) + "\n"
        base = ["-q", "--bits-per-entry", "127", "--base", site]
        for name, source in ("dir", ["--nginx", state / "cache"]), ("log", ["--log", state / "access.log"]):
            def all_found():
                tool("digest", "make", "-o", self.folder / name, *base, *source)
                return tool("digest", "ask", "-c", self.folder / name, text=urls).stdout == "30\n"

            wait_for(f"all objects in the {name} of nginx", all_found)
        # Without a base the keys have nginx's upstream.
        tool("digest", "make", "-q", "-o", self.folder / "up", "--nginx", state / "cache")
        upstream = f"http://127.0.0.1:{self.origin.server_port}"
        asked = "\n".join(upstream + path for path in paths) + "\n"
        self.assertEqual(tool("digest", "ask", "-c", self.folder / "up", text=asked).stdout, "30\n")


if __name__ == "__main__":
    if SQUID is None:
        print("skipped: no squid")
        sys.exit(77)
    unittest.main()
