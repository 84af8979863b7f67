# Heavy flows of captures, against exact counts made in Python; cut, damaged and odd captures; and,
# where a namespace can be made, a live interface.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# 60,000 packets of 5,000 flows with Zipf's sizes, in order of time, and what is no IP between them.
/usr/bin/python3 -IS - <<'PY'
import json, random, struct
random.seed(5)
exact, out = {}, [struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)]
ng = [struct.pack('<IIIHHqI', 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, -1, 28), struct.pack('<IIHHII', 1, 20, 1, 0, 0, 20)]
total = 0
for i in range(60000):
    flow = int(5000 ** random.random()) - 1
    size = 60 + random.randrange(1400)
    if i % 100 == 0:
        frame = b'\2' * 12 + b'\x08\x06' + bytes(46)
        size = 60
    else:
        protocol = 6 if flow % 3 else 17
        source, destination = f'10.0.{flow >> 8}.{flow & 255}', f'192.0.2.{flow % 7}'
        frame = (b'\2' * 12 + b'\x08\x00' + struct.pack('>BBHHHBBH', 0x45, 0, size - 14, i & 65535, 0, 64, protocol, 0)
                 + bytes(map(int, source.split('.'))) + bytes(map(int, destination.split('.')))
                 + struct.pack('>HH', 1024 + flow % 60000, 53) + bytes(16))
        name = f"{source}:{1024 + flow % 60000} > {destination}:53 {'TCP' if flow % 3 else 'UDP'}"
        exact.setdefault(name, [0, 0])
        exact[name][0] += size
        exact[name][1] += 1
    total += size
    out.append(struct.pack('<IIII', 1000 + i // 10000, i % 10000, len(frame), size) + frame)
    padded = frame + bytes(-len(frame) % 4)
    length = 32 + len(padded)
    stamp = (1000 + i // 10000) * 1000000 + i % 10000
    ng.append(struct.pack('<IIIIIII', 6, length, 0, stamp >> 32, stamp & 0xffffffff, len(frame), size)
              + padded + struct.pack('<I', length))
open('a.pcap', 'wb').write(b''.join(out))
open('a.pcapng', 'wb').write(b''.join(ng))
json.dump({'total': total, 'flows': exact}, open('exact.json', 'w'))
PY

# All flows, where they fit into memory, in every form of input.
bloomery flows --memory 8MB --top 10000 a.pcap >all 2>err
/usr/bin/python3 -IS - <<'PY' || fail "counts that are not exact"
import json
exact = json.load(open('exact.json'))['flows']
rows = [line.rstrip('\n').split('\t') for line in open('all')]
assert len(rows) == len(exact), len(rows)
assert all([int(r[1]), int(r[2])] == exact[r[0]] and r[4] == '0' for r in rows)
assert [int(r[1]) for r in rows] == sorted((b for b, _ in exact.values()), reverse=True)
PY
grep -qF "60,000 packets" err && grep -qF "600 are not IP" err || fail "no summary: $(cat err)"
gzip -k a.pcap
zstd -q a.pcapng
for input in a.pcapng a.pcap.gz a.pcapng.zst - /dev/stdin; do
  bloomery flows --memory 8MB --top 10000 -q $input <a.pcap >other
  cmp -s all other || fail "$input gives other flows"
done

# Ten times the packets through a pipe, 38 MB more, take no more memory.
peak() { # of a program, in kB
  /usr/bin/python3 -IS -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
once=$(cat a.pcap | peak "$BLOOMERY" flows -q -)
tenfold=$({ cat a.pcap; for _ in {1..9}; do tail -c +25 a.pcap; done; } | peak "$BLOOMERY" flows -q -)
[[ -n ${BLOOMERY_SANITIZED-} ]] || ((tenfold - once < 4000)) || fail "$once kB, and $tenfold kB of ten times as many packets"

# In memory for a tenth of them: nothing heavy is missing, nothing too low, nothing higher than it
# says.
for options in "" "--serial" "--stages 2" "--seed 7"; do
  bloomery flows --memory 64k --above 0.3% --json $options a.pcap >j 2>/dev/null
  /usr/bin/python3 -IS - "$options" <<'PY' || fail "wrong with '$options'"
import json, sys
d, exact = json.load(open('j')), json.load(open('exact.json'))
assert d['complete'] and not d['exact'] and d['bytes'] == exact['total'] and d['not_ip'] == 600, d
rows = {r['flow']: r for r in d['rows']}
for flow, (size, packets) in exact['flows'].items():
    if size >= 0.003 * exact['total']:
        assert flow in rows, flow
for flow, r in rows.items():
    size, packets = exact['flows'][flow]
    assert size <= r['bytes'] <= size + r['error_bytes'] and r['packets'] <= packets, r
    assert abs(r['share'] - r['bytes'] / exact['total']) < 1e-9
assert len(rows) >= 10
PY
done
bloomery flows --memory 20k --above 0.01% a.pcap >out 2>err
grep -qF "memory is short" err || fail "missing flows are not told: $(cat err)"

# By other parts of the packet.
expect_equal "$(bloomery flows -q --by port a.pcap | cut -f1 | sort | paste -sd,)" "TCP 53,UDP 53"
expect_equal "$(bloomery flows -q --by dst a.pcap | wc -l)" 7
expect_equal "$(bloomery flows -q --by prefix 8 a.pcap | cut -f1,3)" "10.0.0.0/8$(printf '\t')59400"
expect_equal "$(bloomery flows -q a.pcap --by prefix 16 --memory 4MB | cut -f1)" "10.0.0.0/16"
expect_equal "$(bloomery flows -q --by pair --top 1 a.pcap | cut -f1)" "10.0.0.0 > 192.0.2.0"
expect_equal "$(bloomery flows -q --by dst --distinct src --memory 1MB a.pcap | awk -F'\t' '$2 > 600 && $2 < 760' | wc -l)" 7
expect_equal "$(bloomery flows -q --by src --distinct port --memory 8MB --top 1 --json a.pcap >j; json j 'd["rows"][0]["distinct"]')" 1

# A limit in bytes chooses what is listed, and not how it is counted.
bloomery flows -q --csv --top 5 a.pcap >five
bloomery flows -q --csv --above "$(tail -n 1 five | cut -d, -f2)" a.pcap | cmp - five

# Intervals of a second, by the packets' times.
bloomery flows -q --interval 1s --top 1 a.pcap >out
expect_equal "$(cut -f1 out | paste -sd' ')" \
  "1970-01-01T00:16:40.000Z 1970-01-01T00:16:41.000Z 1970-01-01T00:16:42.000Z 1970-01-01T00:16:43.000Z 1970-01-01T00:16:44.000Z 1970-01-01T00:16:45.000Z"
bloomery flows -q --interval 2s --json a.pcap >lines
expect_equal "$(wc -l <lines)" 3
expect_equal "$(bloomery flows -q --interval 1s --csv a.pcap | head -n 1)" "start,flow,bytes,packets,share,error_bytes"
cmp <(bloomery flows -q --interval 1min --csv a.pcap) <(bloomery flows -q --interval 60s --csv a.pcap)
bloomery flows -q --interval 1s --above 1% --link 100mbit a.pcap >out
[[ $(cut -f3 out | sort -n | head -n 1) -ge 125000 ]] || fail "a flow below 1 % of the link: $(cat out)"
bloomery flows -q --plot p.svg a.pcap >/dev/null && grep -q '<svg' p.svg || fail "no picture"
bloomery flows -q --interval 1s --plot - a.pcap | grep -q "over time" || fail "no picture over time"
# Time that runs backwards: every packet is counted. By an interval at most they are counted as
# late, further back another interval begins.
{ cat a.pcap; tail -c +25 a.pcap; } >twice.pcap
for interval in 5s 1s; do
  bloomery flows --interval $interval --json -q twice.pcap >lines
  /usr/bin/python3 -IS -c '
import json; d = [json.loads(l) for l in open("lines")]; print(len(d), sum(x["packets"] for x in d), sum(x["late"] for x in d))'
done >counts
expect_equal "$(paste -sd, counts)" "2 120000 50000,12 120000 0"

# What is cut or damaged: all before it is counted, and the status says so.
head -c 50000 a.pcap >cut.pcap
expect_status 2 bloomery flows --top 1 cut.pcap
grep -qF "cut.pcap: the capture was cut at byte 50000" err || fail "$(cat err)"
[[ -s out ]] || fail "nothing of a capture that was cut"
{ head -c 24 a.pcap; head -c 100 a.pcap | tail -c 76; printf '\0\0\0\0\0\0\0\0\377\377\377\377AAAA'; } >bad.pcap
expect_status 2 bloomery flows bad.pcap
grep -qF "bad.pcap: at byte 100: a packet of more than 262,144 captured bytes" err || fail "$(cat err)"
expect_status 0 bloomery flows -q a.pcap a.pcapng
expect_error "neither a pcap nor a pcapng file" bloomery flows "$BLOOMERY"
expect_error "ends before the header" bloomery flows /dev/null
expect_error "no/such.pcap" bloomery flows no/such.pcap
head -c 1000 a.pcap.gz >cut.gz
expect_status 2 bloomery flows cut.gz
grep -qF "cut.gz: the compressed data ends too early" err || fail "$(cat err)"
head -c 24 a.pcap >empty.pcap
expect_status 1 bloomery flows empty.pcap
expect_status 1 bloomery flows --above 99% a.pcap
expect_error "--above 200%" bloomery flows --above 200% a.pcap
expect_error "needs an --interval" bloomery flows --above 1% --link 1gbit a.pcap
expect_error "--top 100000: --memory 20k has room for" bloomery flows --top 100000 --memory 20k a.pcap
expect_error "at least 16384" bloomery flows --memory 1k a.pcap
expect_error "an interval is" bloomery flows --interval 0s a.pcap
expect_error "128 bits" bloomery flows --by prefix 129 a.pcap
expect_error "--for is for --interface" bloomery flows --for 1s a.pcap

# A live interface, in a network of its own.
if unshare -n true 2>/dev/null && ! timeout 20 "$BLOOMERY" flows --interface lo --for 1ms 2>&1 | grep -q "without libpcap"; then
  expect_error "nosuch0" bloomery flows --interface nosuch0 --for 1ms
  # Somebody sends all the time; a signal ends the listening, with a whole report.
  unshare -n bash -c 'ip link set lo up
    while sleep 0.05; do echo hello >/dev/udp/127.0.0.1/4711; done & sender=$!
    "$BLOOMERY" flows --interface lo --for 2s --by port --json -q >live
    "$BLOOMERY" flows --interface lo --by port --json -q >signalled & listener=$!
    # It listens once it catches SIGTERM.
    until grep -qE "^SigCgt:.*[4-7c-f][0-9a-f]{3}$" /proc/$listener/status; do sleep 0.1; done
    sleep 1; kill -TERM $listener; wait $listener; kill $sender'
  for report in live signalled; do
    expect_equal "$(json $report '[r["packets"] > 0 for r in d["rows"] if r["flow"] == "UDP 4711"]')" "[True]"
  done
  # On a terminal the table is drawn again and again, and never longer than the terminal.
  cat >screens.py <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 100, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
try:
    while data := os.read(fd, 65536):
        shown += data
except OSError:
    pass
os.waitpid(pid, 0)
screens = shown.split(b"\x1b[H\x1b[J")[1:]
print(len(screens) > 0, [screen.decode() for screen in screens if screen.count(b"\n") > 11])
PY
  unshare -n bash -c 'ip link set lo up
    while sleep 0.05; do for port in {4701..4730}; do echo hello >/dev/udp/127.0.0.1/$port; done; done 2>/dev/null & sender=$!
    /usr/bin/python3 -IS screens.py "$BLOOMERY" flows --interface lo --for 1s --by port --top 100 -q >screens; kill $sender'
  expect_equal "$(cat screens)" "True []"
else
  echo "not tried: a live interface (no network namespace, or no libpcap)" >&2
fi
