"""bloomery fetch against web servers: plain files, a stand-in for a server of ours, and hostile
ones.

Whatever a server does, the file is the new version, or it is as it was and an error says why, in
one line.
"""
import functools
import http.server
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

TOOL = os.environ["BLOOMERY"]
FOLDER = pathlib.Path(sys.argv[1])
# Keys of the list that is followed for 50 versions.
FOLLOW_KEYS = int(os.environ.get("BLOOMERY_FOLLOW_KEYS", "3000"))
PATIENCE = 60 + FOLLOW_KEYS // 100_000  # seconds for anything at all
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


def tool(*words, status=0, **more):
    done = subprocess.run([TOOL, *map(str, words)], cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE,
                          env={**ENVIRONMENT, **more})
    assert done.returncode == status, (words, done)
    return done


def wait_until(condition, why):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, why
        time.sleep(0.02)


def as_lines(keys):
    return "".join(f"{k}\n" for k in keys)


def build(path, keys):
    build_of_lines(path, as_lines(keys), 5000)


def build_of_lines(path, text, room):
    subprocess.run([TOOL, "build", "-q", "--threads", "1", "--keys", str(room), "-o", path], cwd=FOLDER, check=True,
                   input=text, text=True)


def version(path):
    return json.loads(tool("info", "--json", path).stdout)["name"]


class Server:
    """Serves a folder as any web server does; `rules` are tried first: (regular expression,
    function of the handler), which returns False when it leaves the request to the next.
    """

    def __init__(self, folder, certificate=None):
        self.rules = []
        self.requests = []
        self.sent = 0
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path.startswith("http://"):  # as a proxy is asked
                    self.path = urllib.parse.urlsplit(self.path)._replace(scheme="", netloc="").geturl()
                outer.requests.append(self.path)
                for pattern, rule in outer.rules:
                    if re.search(pattern, self.path) and rule(self) is not False:
                        return
                super().do_GET()

            def reply(self, status, body=b"", length=None, **headers):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()
                self.close_connection = True

            def log_message(self, *words):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a client that goes away is no error of ours
                pass

        self.server = Quiet(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name="list"):
        return f"{self.scheme}://127.0.0.1:{self.port}/filters/{name}"


def publish(keys, name="list"):
    publish_lines(as_lines(keys), 5000, name)


def publish_lines(text, room, name="list"):
    build_of_lines(f"lists/{name}", text, room)
    tool("publish", "-q", "--threads", "1", "lists", "-o", "site")


def same(a, b):
    return (FOLDER / a).read_bytes() == (FOLDER / b).read_bytes()


def fetch(server, *words, status=0, **more):
    return tool("fetch", server.url(), "-o", "copy", *words, status=status, **more)


def follows_a_list_on_plain_hosting(server):
    """50 versions, each with the same bytes, and after the first by deltas alone."""
    always = as_lines(range(FOLLOW_KEYS))

    def publish_with(extra):  # of 3,000 keys
        more = as_lines(range(2 * FOLLOW_KEYS, 2 * FOLLOW_KEYS + extra * FOLLOW_KEYS // 3000))
        publish_lines(always + more, FOLLOW_KEYS * 5 // 3)

    for i in range(50):
        publish_with((7 * i) % 200 + i)
        got = json.loads(fetch(server, "--json", "-q").stdout)
        assert same("copy", "lists/list"), i
        assert got["changed"] and got["whole"] == (i == 0), got
    said = fetch(server)
    assert "copy: unchanged, version" in said.stderr and not said.stdout, said
    assert json.loads(fetch(server, "--json").stdout)["changed"] is False
    # Who was away for some versions takes several steps at once; who was away for too long, all of
    # it.
    old = (FOLDER / "copy").read_bytes()
    for i in range(4):
        publish_with(i)
    assert json.loads(fetch(server, "--json", "-q").stdout)["deltas"] == 4
    assert same("copy", "lists/list")
    (FOLDER / "copy").write_bytes(old)
    tool("publish", "-q", "--keep", "2", "lists", "-o", "site")
    assert json.loads(fetch(server, "--json", "-q").stdout)["whole"]
    assert same("copy", "lists/list")


def server_of_ours(server):
    """A stand-in for `bloomery serve`: the routes of a filter, without plain files beside them."""
    kept = FOLDER / "kept"
    kept.mkdir()

    def add(keys):
        build("now", keys)
        name = version("now")
        (kept / name).write_bytes((FOLDER / "now").read_bytes())
        return name

    state = {"now": add(range(3000))}

    def delta(h):
        start = urllib.parse.parse_qs(urllib.parse.urlsplit(h.path).query)["from"][0]
        if start == state["now"]:
            return h.reply(204)
        if not (kept / start).exists():
            return h.reply(303, Location="/filters/ours")
        tool("diff", "-q", "-o", "d", kept / start, kept / state["now"])
        body = bytearray((FOLDER / "d").read_bytes())
        body[len(body) // 2] ^= state.get("damage", 0)
        return h.reply(200, body, Content_Type="application/vnd.bloomery.delta",
                       Bloomery_Version=state.get("lie", state["now"]))

    def whole(h):
        assert "application/vnd.bloomery.packed" in h.headers["Accept"], h.headers
        tool("pack", "-q", "-o", "p", kept / state["now"])
        return h.reply(200, (FOLDER / "p").read_bytes(), Content_Type="application/vnd.bloomery.packed",
                       ETag=f'"{state.get("lie", state["now"])}-packed"', Vary="Accept")

    server.rules = [(r"^/filters/ours/delta\?", delta), (r"^/filters/ours$", whole)]

    def get(status=0):
        return tool("fetch", "--json", server.url("ours"), "-o", "ours", status=status)

    assert json.loads(get().stdout)["whole"]
    assert same("ours", "now")
    assert not json.loads(get().stdout)["changed"]
    for i in range(3):
        state["now"] = add(range(3001 + i))
        got = json.loads(get().stdout)
        assert got["changed"] and got["deltas"] == 1, got
        assert same("ours", "now")
    # A damaged delta: all of it.
    state["now"] = add(range(3010))
    state["damage"] = 1
    said = get()
    assert json.loads(said.stdout)["whole"] and "; the filter is fetched without it" in said.stderr, said
    assert same("ours", "now")
    del state["damage"]
    # A version that is not kept any more: all of it.
    last = version("ours")
    state["now"] = add(range(50))
    (kept / last).unlink()
    assert json.loads(get().stdout)["whole"]
    assert same("ours", "now")
    # What is announced is what has to come.
    state["lie"] = last
    state["now"] = add(range(60))
    before = (FOLDER / "ours").read_bytes()
    assert "not the version that the server announces" in get(2).stderr
    assert (FOLDER / "ours").read_bytes() == before
    (FOLDER / "ours").unlink()
    assert "not the version that the server announces" in get(2).stderr
    assert not (FOLDER / "ours").exists()
    server.rules = []


def hostile_servers(server):
    publish(range(3000))
    fetch(server)
    old = (FOLDER / "copy").read_bytes()
    publish(range(3100))
    site = FOLDER / "site/filters"
    manifest = json.loads((site / "list.json").read_text())
    step = (site / manifest["deltas"][-1]["file"]).read_bytes()
    packed = (site / manifest["packed"]["file"]).read_bytes()
    build("else", range(70))
    tool("pack", "-q", "-o", "else.packed", "else")
    tool("diff", "-q", "-o", "else.delta", "copy", "else")
    other = (FOLDER / "else.packed").read_bytes()
    other_step = (FOLDER / "else.delta").read_bytes()
    quiet = threading.Event()

    def stall(h):
        h.send_response(200)
        h.send_header("Content-Length", str(len(step)))
        h.end_headers()
        h.wfile.write(step[:5])
        h.wfile.flush()
        quiet.wait(PATIENCE)

    def endless(h):
        h.send_response(200)
        h.end_headers()
        h.close_connection = True
        while True:
            h.wfile.write(b"BLOOMERY" * 10_000)

    def cut_chunks(h):
        h.send_response(200)
        h.send_header("Transfer-Encoding", "chunked")
        h.end_headers()
        h.wfile.write(b"%x\r\n%s\r\n" % (len(step) // 2, step[:len(step) // 2]))
        h.close_connection = True

    def says(**changes):
        text = json.dumps({**manifest, **changes}).encode()
        return lambda h: h.reply(200, text)

    def silent(h):
        quiet.wait(PATIENCE)

    bad = bytes([*step[:len(step) // 2], step[len(step) // 2] ^ 1, *step[len(step) // 2 + 1:]])
    delta = r"\.delta$"
    # A delta that is broken is told of, and all of the filter comes instead.
    for name, pattern, rule, text in [
            ("longer than announced", delta, lambda h: h.reply(200, step + b"x"), "more than the manifest announces"),
            ("shorter than announced", delta, lambda h: h.reply(200, step[:-1]), "but the manifest announces"),
            ("a changed bit", delta, lambda h: h.reply(200, bad), "damaged"),
            ("another file", delta, lambda h: h.reply(200, b"x" * len(step)), "127.0.0.1"),
            ("a huge claim", delta, lambda h: h.reply(200, step, 10**15), "more than the manifest announces"),
            ("without end", delta, endless, "more than the manifest announces"),
            ("gone", delta, lambda h: h.reply(404), "status 404"),
            ("a stranger", r"/delta\?", lambda h: h.reply(200, other_step[:-1]), "127.0.0.1")]:
        server.rules = [(pattern, rule)]
        said = fetch(server)
        lines = said.stderr.splitlines()
        assert len(lines) == 2 and text in lines[0] and "; the filter is fetched without it" in lines[0], (name, said)
        assert ("all of it" in lines[1]) == (pattern == delta), (name, said)
        assert same("copy", "lists/list"), name
        (FOLDER / "copy").write_bytes(old)
    server.rules = [(delta, lambda h: h.reply(200, bad)), (r"\.packed$", lambda h: h.reply(200, packed[:-1] + b"x"))]
    assert "damaged" in fetch(server, status=2).stderr.splitlines()[1]
    assert (FOLDER / "copy").read_bytes() == old

    # What a server does, to which file, and a part of what is said about it.
    attacks = [
        ("cut", delta, lambda h: h.reply(200, step[:40], len(step)), "remaining to read"),
        ("cut chunks", delta, cut_chunks, "127.0.0.1"),
        ("a stall", delta, stall, "127.0.0.1"),
        ("an error", delta, lambda h: h.reply(500, b'{"error": "no\x1b[31m luck"}'), "status 500"),
        ("in circles", delta, lambda h: h.reply(302, Location=h.path), "more than 5 redirects"),
        ("to a local file", delta, lambda h: h.reply(302, Location="file:///etc/passwd"), "redirects to file:"),
        ("a manifest without end", r"\.json$", endless, "more than a manifest may have"),
        ("a manifest of a huge claim", r"\.json$", lambda h: h.reply(200, b"{}", 10**15), "more than a manifest may"),
        ("no manifest", r"\.json$", lambda h: h.reply(200, b"<html>"), "the manifest is damaged"),
        ("a path", r"\.json$", says(packed={"file": "../../secret", "bytes": 9}, deltas=[]), "no such name"),
        ("a filter of terabytes", r"\.json$", says(bytes=10**14), "more than the limit of"),
        ("silence", r"/delta\?", silent, "127.0.0.1"),
    ]
    names = sorted(os.listdir(FOLDER))
    for name, pattern, rule, text in attacks:
        server.rules = [(pattern, rule)]
        said = fetch(server, "--timeout", "1", status=2)
        assert text in said.stderr and said.stderr.count("\n") == 1, (name, said)
        assert "\x1b" not in said.stderr, (name, said)
        assert (FOLDER / "copy").read_bytes() == old, name
        assert sorted(os.listdir(FOLDER)) == names, name
    server.rules = [(r"\.json$", says(version="0" * 16, deltas=[{**manifest["deltas"][-1], "to": "0" * 16}]))]
    lines = fetch(server, status=2).stderr.splitlines()
    assert "another step than the manifest announces" in lines[0] and "not the version" in lines[1], lines
    assert (FOLDER / "copy").read_bytes() == old

    # The whole: another version under the right name, and claims.
    (FOLDER / "copy").rename(FOLDER / "aside")
    for name, rule, text in [
            ("another version", lambda h: h.reply(200, other), "announces"),
            ("another version of its length", lambda h: h.reply(200, packed[:-1] + b"x"), "damaged"),
            ("a plain file", lambda h: h.reply(200, (FOLDER / "lists/list").read_bytes()[:len(packed)]), "127.0.0.1")]:
        server.rules = [(r"\.packed$", rule)]
        said = fetch(server, status=2)
        assert text in said.stderr and said.stderr.count("\n") == 1, (name, said)
        assert not (FOLDER / "copy").exists(), name
    text = json.dumps({**manifest, "packed": {"file": "other", "bytes": len(other)}, "deltas": []}).encode()
    server.rules = [(r"\.json$", lambda h: h.reply(200, text)), (r"/other$", lambda h: h.reply(200, other))]
    assert "not the version that the server announces" in fetch(server, status=2).stderr
    server.rules = []
    assert "--limit raises it" in fetch(server, "--limit", "1K", status=2).stderr
    server.rules = [(r".", lambda h: h.reply(404))]
    assert "status 404" in fetch(server, status=2).stderr
    server.rules = [(r"\.json$", lambda h: h.reply(404)), (r"/list$", lambda h: h.reply(200, b"", 10**15))]
    assert "--limit raises it" in fetch(server, status=2).stderr
    assert not (FOLDER / "copy").exists()
    (FOLDER / "aside").rename(FOLDER / "copy")

    # A manifest that is replaced while it is followed: its files are gone, and the new one is read.
    once = []

    def old_manifest(h):
        if once:
            return False
        once.append(1)
        gone = [{**d, "file": "gone.delta"} for d in manifest["deltas"]]
        return h.reply(200, json.dumps({**manifest, "deltas": gone}).encode())

    server.rules = [(r"\.json$", old_manifest)]
    fetch(server)
    assert same("copy", "lists/list") and once
    # A redirect that leads somewhere is followed.
    (FOLDER / "copy").write_bytes(old)
    server.rules = [(r"^/filters/", lambda h: h.reply(307, Location=h.path.replace("/filters/", "/moved/", 1))),
                    (r"^/moved/", lambda h: setattr(h, "path", h.path.replace("/moved/", "/filters/", 1)) or False)]
    fetch(server)
    assert same("copy", "lists/list")
    server.rules = []
    quiet.set()


def other_files(server):
    """What is there already, and where it goes."""
    publish(range(3000))
    # A plain file somewhere, without a manifest.
    (FOLDER / "site/filters/alone").write_bytes((FOLDER / "lists/list").read_bytes())
    for changed in [True, False]:
        got = json.loads(tool("fetch", "--json", "-q", server.url("alone"), "-o", "alone").stdout)
        assert got["changed"] is changed and same("alone", "lists/list")
    # A damaged copy is replaced by a sound one; something else is not touched.
    bad = bytearray((FOLDER / "lists/list").read_bytes())
    bad[len(bad) // 2] ^= 1
    (FOLDER / "copy").write_bytes(bad)
    said = fetch(server)
    assert "fetched anew" in said.stderr and same("copy", "lists/list"), said
    (FOLDER / "copy").write_text("my letters to Aunt Jane\n")
    fetch(server, status=2)
    assert (FOLDER / "copy").read_text() == "my letters to Aunt Jane\n"
    (FOLDER / "copy").unlink()
    # A pipe gets the whole filter.
    done = subprocess.run([TOOL, "fetch", "-q", server.url(), "-o", "-"], capture_output=True, env=ENVIRONMENT,
                          timeout=PATIENCE, check=True)
    assert done.stdout == (FOLDER / "lists/list").read_bytes()
    # A packed copy is one version like any other.
    tool("pack", "-q", "-o", "copy", "lists/list")
    assert "unchanged" in fetch(server).stderr
    # Two at once.
    publish(range(3001))
    both = [subprocess.Popen([TOOL, "fetch", "-q", server.url(), "-o", "copy"], cwd=FOLDER, env=ENVIRONMENT)
            for _ in range(3)]
    assert [p.wait(PATIENCE) for p in both] == [0, 0, 0]
    assert same("copy", "lists/list")
    # A name with everything that a URL has a meaning for.
    publish(range(10), 'a "few" %41?#.bloom')
    name = urllib.parse.quote('a "few" %41?#.bloom')
    for keys in [range(10), range(11)]:
        publish(keys, 'a "few" %41?#.bloom')
        tool("fetch", server.url(name), "-o", "few")
        assert same("few", 'lists/a "few" %41?#.bloom')
    # Mistakes of the one who calls.
    for url in ["ftp://127.0.0.1/filters/x", "file:///etc/passwd", "x", "http://", "http://127.0.0.1/"]:
        assert "no URL such as" in tool("fetch", url, "-o", "x", status=2).stderr, url
    for url in [server.url(""), server.url("")[:-1]]:
        said = tool("fetch", url, "-o", "x", status=2).stderr
        assert said.endswith("/filters: this is a folder; the URL of a filter ends with its name, as in "
                             f"{server.url('NAME')}\n"), said
    assert "nowhere" in tool("fetch", server.url(), "-o", "nowhere/x", status=2).stderr
    assert "--follow" in tool("fetch", "--follow", "0s", server.url(), "-o", "x", status=2).stderr
    said = tool("fetch", f"http://user:secret@127.0.0.1:{server.port}/filters/none", "-o", "x", status=2).stderr
    assert "secret" not in said and "status 404" in said, said
    assert not (FOLDER / "x").exists()


def through_a_proxy(server):
    (FOLDER / "copy").unlink()
    tool("fetch", "http://filters.invalid/filters/list", "-o", "copy", http_proxy=f"http://127.0.0.1:{server.port}")
    assert same("copy", "lists/list")


def over_tls(server):
    (FOLDER / "copy").unlink()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1"], cwd=FOLDER, check=True, capture_output=True)
    safe = Server(FOLDER / "site", (FOLDER / "cert.pem", FOLDER / "key.pem"))
    assert "certificate" in fetch(safe, status=2).stderr
    assert not (FOLDER / "copy").exists()
    fetch(safe, "--cacert", "cert.pem")
    assert same("copy", "lists/list")
    publish(range(3002))
    safe.rules = [(r"\.delta$", lambda h: h.reply(302, Location=server.url("x")))]
    before = len(server.requests)
    assert "not as safe" in fetch(safe, "--cacert", "cert.pem", status=2).stderr
    assert len(server.requests) == before
    # But the other way round.
    server.rules = [(r".", lambda h: h.reply(301, Location=f"https://127.0.0.1:{safe.port}{h.path}"))]
    safe.rules = []
    fetch(server, "--cacert", "cert.pem")
    assert same("copy", "lists/list")
    server.rules = []


def stays_and_follows(server):
    publish(range(3000))
    follower = subprocess.Popen([TOOL, "fetch", "--json", "--follow", "1s", server.url(), "-o", "followed"], cwd=FOLDER,
                                env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        path = FOLDER / "followed"
        wait_until(path.exists, "nothing was fetched")
        for i in range(2):
            publish(range(4000 + i))
            wait_until(lambda: same("followed", "lists/list"), "a version was not followed")
        # While the server fails it stays; afterwards it goes on.
        failures = []
        server.rules = [(r".", lambda h: failures.append(h.path) or h.reply(503, Retry_After="1"))]
        publish(range(4100))
        wait_until(lambda: failures, "it does not ask")
        server.rules = []
        wait_until(lambda: same("followed", "lists/list"), "it did not recover")
        follower.send_signal(signal.SIGTERM)
        out, err = follower.communicate(timeout=PATIENCE)
    finally:
        follower.kill()
    assert follower.returncode == 0, (out, err)
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 4 and all(line["changed"] for line in lines), lines
    assert [line["whole"] for line in lines] == [True, False, False, False], lines
    assert "status 503" in err and "trying again in" in err, err
    # A signal ends it in the middle of a transfer, too.
    reached = threading.Event()
    quiet = threading.Event()
    server.rules = [(r".", lambda h: reached.set() or quiet.wait(PATIENCE))]
    follower = subprocess.Popen([TOOL, "fetch", "--follow", "1h", server.url(), "-o", "followed"], cwd=FOLDER,
                                env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    assert reached.wait(PATIENCE)
    follower.terminate()
    assert follower.wait(PATIENCE) == 0
    quiet.set()
    server.rules = []
    assert same("followed", "lists/list")


def main():
    (FOLDER / "lists").mkdir()
    server = Server(FOLDER / "site")
    tests = {"sources": [server_of_ours, hostile_servers, other_files, through_a_proxy, over_tls],
             "versions": [follows_a_list_on_plain_hosting, stays_and_follows]}
    for test in tests[sys.argv[2]]:
        start = time.monotonic()
        test(server)
        print(f"{test.__name__}: {time.monotonic() - start:.1f} s", flush=True)


main()
