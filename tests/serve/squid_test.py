"""Debian's Squid as a reader of our cache digest and a sibling of our mirror, on loopback.

Its own digests reach it damaged (bug 5510), so that it finds a part of what a sibling has. Ours,
sent with a pause after the control block, reach it whole: every one of 200 files comes through us.
"""
import hashlib
import http.server
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

TOOL = os.environ["BLOOMERY"]
SQUID = shutil.which("squid", path="/usr/sbin:/usr/bin:" + os.environ.get("PATH", ""))
if not SQUID or os.getuid() != 0:  # it becomes the user proxy, which root alone can
    sys.exit(77)
FILES = 200


def digest_of(urls, bits_per_entry=5):
    capacity = len(urls)
    size = (capacity * bits_per_entry + 7) // 8
    mask = bytearray(size)
    for url in urls:
        key = hashlib.md5(b"\x01" + url.encode()).digest()
        for word in struct.unpack(">4I", key):
            bit = word % (size * 8)
            mask[bit >> 3] |= 1 << (bit & 7)
    head = struct.pack(">hhiiiiBBh", 5, 3, capacity, len(urls), 0, size, bits_per_entry, 4, 0)
    return head.ljust(128, b"\0") + bytes(mask)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Origin(http.server.BaseHTTPRequestHandler):
    """Where Squid goes when the sibling does not have it."""
    asked = 0

    def do_GET(self):
        Origin.asked += 1
        body = b"from the origin\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
threading.Thread(target=origin.serve_forever, daemon=True).start()
BASE = f"http://mirror.test:{origin.server_port}/pool/"
folder = tempfile.mkdtemp()
os.chmod(folder, 0o755)
os.chdir(folder)
os.makedirs("mirror/sub")
os.mkdir("dir")
names = [f"sub/package-{i}_1.0.deb" for i in range(FILES)]
probes = [f"probe-{i}" for i in range(300)]  # asked until the digest has come
for name in names + probes:
    with open("mirror/" + name, "w") as f:
        f.write("file " + name + "\n")
# Some that the digest promises and the folder lacks: false positives.
ghosts = [f"ghost-{i}" for i in range(10)]
with open("mirror.digest", "wb") as f:
    f.write(digest_of([BASE + n for n in names + ghosts + probes]))

server = subprocess.Popen([TOOL, "serve", "dir", "--listen", "127.0.0.1:0", "--squid", "m=mirror.digest",
                           "--mirror", BASE + "=mirror"], stderr=open("server.err", "w"))
squid = None
try:
    for _ in range(600):
        told = open("server.err").read()
        if " at http://" in told:
            break
        assert server.poll() is None, told
        time.sleep(0.05)
    port = int(told.split("127.0.0.1:")[1].split()[0])

    # As others see it first: the digest whole, in two parts; and what is not a part of the mirror.
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"GET /squid-internal-periodic/store_digest HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        first = s.recv(65536)
        body = first.split(b"\r\n\r\n", 1)[1]
        assert len(body) <= 128, "the mask came with the control block"
        while data := s.recv(65536):
            body += data
    assert body == open("mirror.digest", "rb").read()
    assert b"application/cache-digest" in first, first

    def ask(target):
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nCache-Control: only-if-cached\r\nConnection: close\r\n\r\n".encode())
            got = b""
            while data := s.recv(65536):
                got += data
        return int(got[9:12]), got.split(b"\r\n\r\n", 1)[1]

    assert ask(BASE + names[0]) == (200, f"file {names[0]}\n".encode())
    for lacking in (BASE + "ghost-1", BASE, BASE + "sub", BASE + "../dir", BASE + "%2e%2e/server.err",
                    "http://other.test/x", BASE + names[0] + "?x"):
        assert ask(lacking)[0] == 504, (lacking, ask(lacking))
    # One whose mask is cut off is not sent at all.
    whole = open("mirror.digest", "rb").read()
    for content, wanted in ((whole[:-1], 503), (whole[:100], 503), (whole, 200)):
        with open("new", "wb") as f:
            f.write(content)
        os.rename("new", "mirror.digest")
        assert ask("/digests/m")[0] == wanted
    assert ask("/digests/other")[0] == 404

    # Squid: misses go to the origin, unless the sibling has it.
    squid_port = free_port()
    with open("squid.conf", "w") as f:
        f.write(f"""
http_port 127.0.0.1:{squid_port}
pid_filename {folder}/squid.pid
access_log stdio:{folder}/squid/access.log
cache_log {folder}/squid/cache.log
coredump_dir {folder}/squid
visible_hostname test
shutdown_lifetime 0 seconds
cache_mem 8 MB
http_access allow all
hosts_file {folder}/hosts
cache_peer 127.0.0.1 sibling {port} 0 no-query no-netdb-exchange
minimum_direct_rtt 0
minimum_direct_hops 0
""")
    os.mkdir("squid")
    shutil.chown("squid", "proxy")
    with open("hosts", "w") as f:
        f.write("127.0.0.1 mirror.test\n")
    squid = subprocess.Popen([SQUID, "-N", "-n", f"bloomery{os.getpid()}", "-f", "squid.conf"], stdout=open("squid.out", "w"), stderr=subprocess.STDOUT)
    proxy = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{squid_port}"}))

    def through_squid(name):
        return proxy.open(BASE + name, timeout=60).read().decode()

    for _ in range(600):
        assert squid.poll() is None, open("squid.out").read()
        try:
            through_squid("first")
            break
        except OSError:
            time.sleep(0.1)
    # It fetches the digest after its first miss; each probe only once, since it keeps what it got.
    for probe in probes:
        if through_squid(probe) == f"file {probe}\n":
            break
        time.sleep(0.1)
    else:
        sys.exit("no probe came from the sibling: " + open("squid/cache.log").read())
    for name in names:
        assert through_squid(name) == f"file {name}\n", name
    for name in ghosts:
        assert through_squid(name) == "from the origin\n", name
    log = open("squid/access.log").read()
    hits = {line.split()[6] for line in log.split("\n") if "CD_SIBLING_HIT" in line}
    assert len(hits & {BASE + n for n in names}) == FILES, (len(hits), log[-1000:])
    print(f"{len(hits & {BASE + n for n in names})} of {FILES} found through the digest")
finally:
    for process in (squid, server):
        if process:
            process.terminate()
            process.wait(60)
    os.chdir("/")
    shutil.rmtree(folder)
