"""What the server costs: the table of docs/serve.md.

    /usr/bin/python3 bench/serve/bench.py build/release/bloomery [SECONDS]

Ratios of what runs in turn on the same machine, medians of five: requests a second for one key
against a bare reply of the same server and of nginx (wrk); a batch of 10,000 keys against the
library's own time for these lines and a bare echo of the same bytes; memory of 10,000 idle
connections; the bytes of following a list; and the longest that a request waits while a filter of 1
GB is swapped. Needs wrk and nginx; leave the machine alone meanwhile.
"""
import http.client
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOOL = os.path.abspath(sys.argv[1])
SECONDS = sys.argv[2] if len(sys.argv) > 2 else "2"
ROUNDS = 5
folder = tempfile.mkdtemp(dir="/var/tmp")
os.chdir(folder)
os.mkdir("dir")
servers = []


def tool(*words, **more):
    subprocess.run([TOOL, *words], check=True, **more)


def serve(*options):
    number = len(servers)
    p = subprocess.Popen([TOOL, "serve", "dir", "--listen", "127.0.0.1:0", *options], stderr=open(f"err{number}", "w"))
    servers.append(p)
    while " at http://" not in (told := open(f"err{number}").read()):
        assert p.poll() is None, told
        time.sleep(0.05)
    return p, int(told.split("127.0.0.1:")[1].split()[0])


def wrk(port, path):
    out = subprocess.run(["wrk", "-t1", "-c32", f"-d{SECONDS}s", f"http://127.0.0.1:{port}{path}"], check=True,
                         capture_output=True, text=True).stdout
    assert "Non-2xx" not in out, out
    return float(out.split("Requests/sec:")[1].split()[0])


def median(values):
    return statistics.median(values)


def single_keys():
    with open("nginx.conf", "w") as f:
        f.write("""daemon off; worker_processes 1; pid nginx.pid; error_log stderr;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000;
  server { listen 127.0.0.1:18080; location / { default_type application/json; return 200 '{"found":true}\\n'; } } }
""")
    nginx = subprocess.Popen(["/usr/sbin/nginx", "-p", folder, "-c", "nginx.conf"], stderr=subprocess.DEVNULL)
    servers.append(nginx)
    _, port = serve("--threads", "1")
    time.sleep(0.5)
    check, bare, other = [], [], []
    for _ in range(ROUNDS):
        check.append(wrk(port, "/filters/words/check?key=key77"))
        bare.append(wrk(port, "/healthz"))
        other.append(wrk(18080, "/"))
    print(f"one key: {median(check):,.0f} requests/s; of a bare reply {median(c / b for c, b in zip(check, bare)):.2f};"
          f" of nginx {median(c / o for c, o in zip(check, other)):.2f}", flush=True)


def batches():
    """A POST of 10,000 lines, the tool's own loop over them, and an echo server of the same bytes.
    """
    lines = "".join(f"key{i * 37}\n" for i in range(10_000)).encode()
    server, port = serve("--threads", "1")
    c = http.client.HTTPConnection("127.0.0.1", port)

    def post():
        c.request("POST", "/filters/words/check", lines, {"Accept": "application/octet-stream"})
        r = c.getresponse()
        assert r.status == 200 and len(r.read()) == 1250

    door = socket.create_server(("127.0.0.1", 0))

    def echo():
        s, _ = door.accept()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        buffer = bytearray(65536)
        left = len(lines)
        while True:
            n = s.recv_into(buffer)
            if n == 0:
                return
            left -= n
            if left == 0:
                s.sendall(bytes(1250))
                left = len(lines)

    echoing = os.fork()
    if echoing == 0:
        echo()
        os._exit(0)
    e = socket.create_connection(door.getsockname())
    e.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def bounce():
        e.sendall(lines)
        left = 1250
        while left:
            left -= len(e.recv(left))

    # The library's time: the tool on a hundred times these lines, without its start.
    with open("lines", "wb") as f:
        f.write(lines * 100)
    open("none", "w").close()

    # Processor time, which a busy machine changes less than it does waiting.
    def own_seconds(path):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([TOOL, "check", "-c", "--threads", "1", "dir/words", path], stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def spent(pid):
        with open(f"/proc/{pid}/schedstat") as f:
            return int(f.read().split()[0]) / 1e9

    def cost(pid, what, times):
        before = spent(pid)
        for _ in range(times):
            what()
        return (spent(pid) - before) / times

    ratios, posts = [], []
    for _ in range(ROUNDS):
        p = cost(server.pid, post, 300)
        b = cost(echoing, bounce, 300)
        own = (own_seconds("lines") - own_seconds("none")) / 100
        posts.append(p)
        ratios.append(p / (own + b))
    e.close()
    print(f"10,000 keys by POST: {median(posts) * 1e6:.0f} us of the server's processor, {median(ratios):.2f} of the "
          "library's time and a bare echo of the same bytes", flush=True)


def idle_connections(count=10_000):
    p, port = serve("--threads", "1", "--connections", "20000", "--idle-time", "600", "--header-time", "600")

    def resident():
        with open(f"/proc/{p.pid}/status") as f:
            return int(f.read().split("VmRSS:")[1].split()[0]) / 1024

    before = resident()
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 500,) * 2)
    held = []
    for i in range(count):
        s = socket.create_connection(("127.0.0.1", port))
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        held.append(s)
    for s in held:
        assert s.recv(1000).startswith(b"HTTP/1.1 200")
    print(f"{count:,} idle connections: {resident():.0f} MB ({before:.0f} MB without them)", flush=True)
    for s in held:
        s.close()


def following(days=10):
    """A list of 10 M keys of which 0.1 % change each day: bytes that a client takes, and the
    deltas' own.
    """
    tool("build", "-q", "--kind", "classic", "--keys", "10M", "-o", "list",
         stdin=subprocess.Popen(["seq", "10000000"], stdout=subprocess.PIPE).stdout)
    shutil.copy("list", "dir/list")
    _, port = serve("--threads", "1")
    c = http.client.HTTPConnection("127.0.0.1", port)

    def version():
        c.request("HEAD", "/filters/list")
        r = c.getresponse()
        r.read()
        return r.getheader("ETag").strip('"')

    took = own = 0
    for day in range(days):
        old = version()
        shutil.copy("dir/list", "old")
        shutil.copy("dir/list", "new")
        tool("add", "-q", "new", input="".join(f"new{day}-{i}\n" for i in range(10_000)), text=True)
        os.rename("new", "dir/list")
        while version() == old:
            time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", port)) as s:
            request = f"GET /filters/list/delta?from={old} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()
            s.sendall(request)
            got = b""
            while piece := s.recv(1 << 20):
                got += piece
        took += len(request) + len(got)
        with open("delta", "wb") as f:
            f.write(got.split(b"\r\n\r\n", 1)[1])
        tool("patch", "-q", "-o", "patched", "old", "delta")
        assert open("patched", "rb").read() == open("dir/list", "rb").read()
        tool("diff", "-q", "-o", "own", "old", "dir/list")
        own += os.path.getsize("own")
    print(f"following 10 M keys, 0.1 % a day: {took / days:,.0f} bytes a day, {took / own:.3f} of the deltas' own",
          flush=True)


def swap(keys="800M"):
    """The longest wait of a client that asks all the time, while 1 GB is swapped, and without."""
    tool("build", "-q", "--keys", keys, "-o", "dir/large", input="a\n", text=True)
    size = os.path.getsize("dir/large")
    _, port = serve("--threads", "1")
    waits = []
    stop = threading.Event()

    def client():
        c = http.client.HTTPConnection("127.0.0.1", port)
        while not stop.is_set():
            start = time.perf_counter()
            c.request("GET", "/filters/large/check?key=a")
            assert b"true" in c.getresponse().read()
            waits.append(time.perf_counter() - start)
            time.sleep(0.0005)

    asking = threading.Thread(target=client)
    asking.start()
    time.sleep(4)
    calm = max(waits)
    waits.clear()
    tool("build", "-q", "--keys", keys, "-o", "new", input="a\nb\n", text=True)
    made = max(waits)
    waits.clear()
    os.rename("new", "dir/large")
    c = http.client.HTTPConnection("127.0.0.1", port)
    while True:
        c.request("GET", "/filters/large/check?key=b")
        if b"true" in c.getresponse().read():
            break
        time.sleep(0.01)
    time.sleep(1)
    stop.set()
    asking.join()
    print(f"a swap of {size / 1e9:.2f} GB: longest wait {max(waits) * 1e3:.1f} ms; {calm * 1e3:.1f} ms without, "
          f"{made * 1e3:.1f} ms while the file was made", flush=True)
    os.remove("dir/large")


try:
    tool("build", "-q", "-o", "dir/words", input="".join(f"key{i}\n" for i in range(1_000_000)), text=True)
    for part in sys.argv[3].split(",") if len(sys.argv) > 3 else (
            "single_keys", "batches", "idle_connections", "following", "swap"):
        globals()[part]()
finally:
    for p in servers:
        p.terminate()  # a killed nginx leaves its worker behind
        p.wait()
    os.chdir("/")
    shutil.rmtree(folder)
