# Nodes as processes: 40 of them find everything from everywhere, in each mode, while some are
# killed and come back; keys and strangers; what a node tells of itself.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >network.py <<'P'
import os, random, signal, socket, subprocess, sys, time

TOOL = os.environ["BLOOMERY"]
NODES = int(sys.argv[2])


def free_ports(count):
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [d.getsockname()[1] for d in doors]
    for d in doors:
        d.close()
    return ports


class Network:
    def __init__(self, mode, count, extra=()):
        self.mode, self.count, self.extra = mode, count, list(extra)
        self.ports = free_ports(count)
        self.random = random.Random(5)
        self.links = [[] for _ in range(count)]
        for i in range(1, count):  # a tree, and half as many more
            self.links[i].append(self.random.randrange(i))
            if i % 2 and i > 4:
                self.links[i].append(self.random.randrange(i))
        self.keys = {i: [f"key-{i}-{j}" for j in range(3)] for i in range(count)}
        self.running = {}
        for i in range(count):
            self.start(i)

    def address(self, i):
        return f"127.0.0.1:{self.ports[i]}"

    def write(self, i):
        with open(f"keys{i}.new", "w") as out:
            out.write("".join(k + "\n" for k in self.keys[i]))
        os.rename(f"keys{i}.new", f"keys{i}")

    def start(self, i):
        self.write(i)
        words = [TOOL, "node", "--quiet", "--listen", self.address(i), "--name", f"n{i}",
                 "--have", f"keys{i}", "--mode", self.mode, "--beat", "150", "--keys", "500"]
        for to in self.links[i]:
            words += ["--peer", self.address(to)]
        self.running[i] = subprocess.Popen(words + self.extra, stderr=open(f"err{i}", "w"))

    def kill(self, i):
        node = self.running.pop(i)
        node.send_signal(signal.SIGKILL)
        node.wait()

    def find(self, at, keys, *options):
        run = subprocess.run([TOOL, "find", "--node", self.address(at), *options, *keys],
                             capture_output=True, text=True, timeout=60)
        return run.returncode, set(run.stdout.split("\n")) - {""}

    def missing(self, at):
        """What the node `at` does not find of one key of each other node."""
        wanted = {f"{self.keys[i][at % len(self.keys[i])]}\tn{i}" for i in self.running}
        status, found = self.find(at, [line.split("\t")[0] for line in wanted])
        return wanted - found

    def converge(self, when, longest=60):
        """Waits until every node finds everything; a bound, since a machine may be slow."""
        start = time.monotonic()
        left = sorted(self.running)
        while left:
            missing = self.missing(left[0])
            if not missing:
                left.pop(0)
            elif time.monotonic() - start > longest:
                sys.exit(f"{self.mode}, {when}: n{left[0]} misses {sorted(missing)[:5]}")
            else:
                time.sleep(0.2)
        print(f"{self.mode}, {self.count} nodes, {when}: everything is found from everywhere "
              f"after {time.monotonic() - start:.1f} s")

    def stop(self):
        for node in self.running.values():
            node.terminate()
        for i, node in self.running.items():
            if node.wait(30) != 0:
                sys.exit(f"{self.mode}: n{i} ended with {node.returncode}: {open(f'err{i}').read()}")


network = Network(sys.argv[1], NODES)
try:
    network.converge("at first")
    # Resources come and go; nothing that is gone is found, nothing else is lost.
    network.keys[3] = ["key-3-1", "another"]
    network.write(3)
    network.converge("with a new key")
    at = NODES - 1
    for _ in range(100):
        status, found = network.find(at, ["key-3-0"])
        if status == 1:
            break
        time.sleep(0.1)
    assert (status, found) == (1, set()), (status, found)
    # Three die, one of them with many neighbours. Every question ends while that is noticed.
    for i in (0, 7, 11):
        network.kill(i)
    for at in (1, 2, 5, 9):
        network.find(at, ["key-2-0", "key-0-0"], "--timeout", "2")
    for i in (0, 7, 11):
        network.keys[i] = [f"reborn-{i}"]
        network.start(i)
    network.converge("after deaths")
    status, found = network.find(5, ["reborn-7"], "--nearest")
    assert (status, found) == (0, {"reborn-7\tn7"}), (status, found)
finally:
    network.stop()
P
# One of the modes has all 40; the others are the same code in the unit tests, and fewer here.
[[ ${BLOOMERY_SANITIZED:-} ]] && nodes=12 || nodes=40
/usr/bin/python3 network.py tree $nodes
for mode in attenuated gossip flood; do /usr/bin/python3 network.py $mode 12; done

# ---- keys, names and what is told ----------------------------------------------------------------
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT
IFS=, read -r one two status < <(/usr/bin/python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(",".join(f"127.0.0.1:{d.getsockname()[1]}" for d in s))')
mkdir -p files/inner
echo content >files/report.txt
echo more >files/inner/deep.txt
head -c 32 /dev/urandom >secret
head -c 32 /dev/urandom >other
"$BLOOMERY" node --listen "$one" --name first --have files --sha256 --key-file secret --beat 100 --status "$status" 2>node1 &
pids+=($!)
"$BLOOMERY" node --listen "$two" --name second --have files --key-file secret --beat 100 --peer "$one" 2>node2 &
pids+=($!)
until_found() { # ARGUMENTS of find: waits until it finds something
  for _ in $(seq 200); do bloomery find "$@" >out 2>err && return; sleep 0.1; done
  fail "not found: $* ($(cat err))"
}
until_found --node "$one" --key-file secret inner/deep.txt
expect_equal "$(cat out)" $'inner/deep.txt\tsecond'
digest=$(sha256sum files/report.txt | cut -d' ' -f1)
until_found --node "$two" --key-file secret --path "$digest"
expect_equal "$(cat out)" "$digest"$'\tfirst\tsecond > first'
grep -qE '^1 question, 1 holder found; 2 messages and [0-9]+ bytes between nodes$' err || fail "$(cat err)"
bloomery find --node "$two" --key-file secret --json "$digest" report.txt nothing >json
expect_equal "$(json json "[[h['node'] for h in k['holders']] for k in d['keys']], d['messages'] >= 2")" "([['first'], ['second'], []], True)"
# A file that changes is another key; one that comes in a new folder is there.
echo changed >files/report.txt
mkdir files/new
echo x >files/new/file
until_found --node "$two" --key-file secret "$(sha256sum files/report.txt | cut -d' ' -f1)"
until_found --node "$one" --key-file secret new/file
expect_status 1 bloomery find --node "$two" --key-file secret -q "$digest"
expect_status 0 bloomery find --node "$two" --key-file secret -q new/file
[[ ! -s out && ! -s err ]] || fail "-q prints"
until_found --node "$one" --key-file secret --together report.txt new/file
expect_equal "$(cat out)" $'report.txt new/file\tsecond'

expect_status 0 bloomery find --timeout 60 --node "$one" --key-file secret - nothing <<<$'new/file\n\nreport.txt'
expect_equal "$(sort out)" $'new/file\tsecond\nreport.txt\tsecond'
expect_error "there is no key on standard input" bloomery find --node "$one" - </dev/null

# Another key, or none.
expect_error "$one: " bloomery find --node "$one" --key-file other report.txt
expect_error "the node wants a key: --key-file" bloomery find --node "$one" report.txt
expect_error "without a key a node listens on this host alone" bloomery node --listen 0.0.0.0:0
expect_error "is no address" bloomery node --listen nowhere
expect_error "there is no such file or folder" bloomery node --listen 127.0.0.1:0 --have nothing
expect_error "--group is for --mode gossip" bloomery node --listen 127.0.0.1:0 --group x
expect_error "connecting failed" bloomery find --node 127.0.0.1:1 key
expect_error "--timeout is a number of seconds" bloomery find --node "$one" --timeout 0 key

# Of two nodes with one name the first stays, and the second hears why.
"$BLOOMERY" node --listen 127.0.0.1:0 --name second --key-file secret --beat 100 --peer "$one" 2>node3 &
pids+=($!)
told="refused: another node, at $two, has the name 'second'; give each its own"
for _ in $(seq 200); do grep -qF "$told" node3 && break; sleep 0.1; done
grep -qF "$told" node3 || fail "$(cat node3)"
kill "${pids[2]}"
wait "${pids[2]}" || fail "status $? after SIGTERM"
! grep -q 'replaces it' node1 || fail "$(cat node1)"
expect_equal "$(bloomery find --node "$one" --key-file secret new/file 2>/dev/null)" $'new/file\tsecond'

# Lines that end with CR LF: a warning, and --crlf.
printf 'uno\r\ndue\r\n' >dos
"$BLOOMERY" node --listen 127.0.0.1:0 --have dos 2>node4 &
pids+=($!)
"$BLOOMERY" node --listen 127.0.0.1:0 --have dos --crlf 2>node5 &
pids+=($!)
for i in 4 5; do
  for _ in $(seq 200); do grep -q 'listening on port' node$i && break; sleep 0.1; done
done
grep -q '^bloomery: warning: dos: lines end with CR LF, and the CR is part of the keys; --crlf leaves it out$' node4 || fail "$(cat node4)"
! grep -q warning node5 || fail "$(cat node5)"
until_found --node "127.0.0.1:$(grep -o '[0-9]*$' node5)" uno

# Who wants the nearest and finds nothing within the depth hears that the tree was asked.
echo distant >distant
echo own >own
listening() { # NAME: its port, once it listens
  for _ in $(seq 200); do grep -q 'listening on port' $1.err && break; sleep 0.1; done
  grep -o '[0-9]*$' $1.err | head -1
}
peer=()
for name in far middle near; do
  have=own
  [[ $name == far ]] && have=distant
  "$BLOOMERY" node --listen 127.0.0.1:0 --name $name --have $have --mode attenuated --depth 1 --beat 100 "${peer[@]}" 2>$name.err &
  pids+=($!)
  at=127.0.0.1:$(listening $name)
  peer=(--peer $at)
done
until_found --node $at --nearest distant
expect_equal "$(cat out)" $'distant\tfar'
told="1 question found nothing within the depth and went on by the tree"
grep -qxF "$told" err || fail "$(cat err)"
until_found --node $at --nearest own
! grep -qF "$told" err || fail "$(cat err)"

# Strangers: noise, silence, another protocol, a claim of a huge message.
IFS=: read -r host port <<<"$one"
for _ in 1 2 3; do
  exec {silent}<>"/dev/tcp/$host/$port"
  { head -c 5000 /dev/urandom >"/dev/tcp/$host/$port"; } 2>/dev/null || true
  { printf 'GET / HTTP/1.0\r\n\r\n' >"/dev/tcp/$host/$port"; } 2>/dev/null || true
  { printf '\001\377\377\377\377' >"/dev/tcp/$host/$port"; } 2>/dev/null || true
done
until_found --node "$two" --key-file secret new/file

# Its state, by HTTP.
get() { /usr/bin/python3 -c 'import sys, urllib.request as u; print(u.urlopen("http://" + sys.argv[1]).read().decode(), end="")' "$status$1"; }
sleep 0.3
get /status >json
expect_equal "$(json json "d['name'], d['mode'], d['keys'], d['links'][0]['name'], d['questions'] > 0")" "('first', 'tree', 3, 'second', True)"
get /metrics >metrics
grep -qx 'bloomery_node_neighbours 1' metrics || fail "$(cat metrics)"
grep -qx '# TYPE bloomery_node_questions_total counter' metrics || fail "$(cat metrics)"
expect_equal "$(get /healthz)" ok
get /nothing 2>err && fail "there is nothing"

# A signal ends it well.
kill -TERM "${pids[0]}"
wait "${pids[0]}" || fail "status $? after SIGTERM"
