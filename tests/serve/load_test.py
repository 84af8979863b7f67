"""The server under load of a client that is not ours, wrk with kept connections, while files of its
folder are renamed: every answer is good and no connection breaks.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

TOOL = os.environ["BLOOMERY"]
WRK = shutil.which("wrk")
if not WRK:
    print("wrk is not there")
    sys.exit(77)

# Each connection asks for all of these in turn.
ROUTES = """
function init()
  requests = {
    wrk.format("GET", "/filters/words/check?key=key1"),
    wrk.format("GET", "/filters/words"),
    wrk.format("POST", "/filters/words/check", nil, "key1\\nnokey\\nkey2000\\n"),
    wrk.format("GET", "/filters"),
    wrk.format("GET", "/healthz"),
  }
  last = 0
end

function request()
  last = last % #requests + 1
  return requests[last]
end
"""

folder = tempfile.mkdtemp()
os.chdir(folder)
os.mkdir("dir")
for i in range(3):
    keys = "".join(f"key{k}\n" for k in range(2001)) + f"version{i}\n"
    subprocess.run([TOOL, "build", "-q", "--keys", "10k", "-o", f"words.{i}"], input=keys, text=True, check=True)
shutil.copy("words.0", "dir/words")
with open("routes.lua", "w") as f:
    f.write(ROUTES)

server = subprocess.Popen([TOOL, "serve", "dir", "--listen", "127.0.0.1:0", "--threads", "2"],
                          stderr=subprocess.PIPE, text=True)
try:
    url = re.search(r" at (http://\S+)", next(line for line in server.stderr if " at http://" in line))[1]
    # Its own limit for an answer is not what is tested.
    wrk = subprocess.Popen([WRK, "-t", "2", "-c", "6", "-d", "2s", "--timeout", "60s", "-s", "routes.lua", url],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    renamed = 0
    while wrk.poll() is None:
        renamed += 1
        shutil.copy(f"words.{renamed % 3}", "new")
        os.rename("new", "dir/words")
    told = wrk.stdout.read()
    assert wrk.returncode == 0, told
    assert int(re.search(r"(\d+) requests in", told)[1]) > 0, told
    assert "Non-2xx" not in told and "Socket errors" not in told, told
    swaps = 0
    deadline = time.monotonic() + 60
    while swaps == 0 and time.monotonic() < deadline:  # a busy machine may notice late
        metrics = urllib.request.urlopen(url + "/metrics").read().decode()
        swaps = int(re.search(r"^bloomery_serve_swaps_total (\d+)$", metrics, re.M)[1])
    assert renamed > 0 and swaps > 0, metrics
    print(f"{renamed} renamed, {swaps} swapped; {told}")
    server.terminate()
    assert server.wait(60) == 0, server.stderr.read()
finally:
    if server.poll() is None:
        server.kill()
    os.chdir("/")
    shutil.rmtree(folder)
