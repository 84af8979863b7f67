# Traceback: slices of captures in a folder, questions to it, and routers that answer each other.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; umount "$folder/small" 2>/dev/null || true; rm -rf "$folder"' EXIT

# 3,000 UDP packets in three seconds, raw IP; number 1500 alone, as it is after four hops, and
# quoted by an ICMP error.
/usr/bin/python3 - <<'P'
import struct, socket
def packet(n, ttl=64, size=64):
    data = struct.pack(">I", n) * (size // 4)
    u = struct.pack(">HHHH", n & 0xffff, 53, 8 + len(data), 0) + data
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(u), n & 0xffff, 0, ttl, 17, ttl, socket.inet_aton("192.0.2.7"),
                       socket.inet_aton("198.51.100.9")) + u
def capture(name, packets, link=101):
    with open(name, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link))
        for ms, p, *wire in packets:
            f.write(struct.pack("<IIII", 1762345678 + ms // 1000, ms % 1000 * 1000, len(p), wire[0] if wire else len(p)) + p)
capture("all.pcap", [(n, packet(n)) for n in range(3000)])
capture("one.pcap", [(1500, packet(1500, ttl=60))])
capture("none.pcap", [(1500, packet(60000))])
icmp = struct.pack(">BBHI", 11, 0, 0, 0) + packet(1500, ttl=1)[:28]
capture("icmp.pcap", [(1600, struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp), 1, 0, 64, 1, 0,
        socket.inet_aton("203.0.113.1"), socket.inet_aton("192.0.2.7")) + icmp)])
open("hex", "w").write(packet(1500).hex())
# Snapped, of another protocol, with lengths that lie, 64 KiB long, and back in time.
odd = [(5000, packet(1)[:27], 92), (5000, packet(2)[:28], 92), (5001, b"\x60" + bytes(10)), (5002, packet(3)[:2] + b"\0\x0a" + packet(3)[4:]),
       (5003, packet(4, size=65500)), (3000, packet(5)), (9000, packet(6)), (0, packet(7))]
capture("odd.pcap", odd)
capture("odd4.pcap", [(5003, packet(4, size=65500))])
capture("odd7.pcap", [(0, packet(7))])
P

bloomery trace record -o traces --json all.pcap >json 2>err
expect_equal "$(json json "d['packets'], d['slices'], d['slices_written'], d['left_out']")" "(3000, 3, 3, 0)"
grep -q '^traces: 3,000 packets in 3 slices; 3 slices with ' err || fail "$(cat err)"
expect_equal "$(ls traces | head -1)" 1762345678.000000000_1762345678.999000000.bloom
bloomery verify -q traces/* || fail "slices are ordinary filters"

# The packet was here, whatever its TTL is now; as digits, and as an ICMP error quotes it.
bloomery trace ask traces --within 0s one.pcap >out 2>err
expect_equal "$(cat out)" $'1\t2025-11-05T12:27:59.000000000Z\t2025-11-05T12:27:59.999000000Z'
grep -qE '^1 of 1 packet seen; 0\.00[0-9]+ wrong slices' err || fail "$(cat err)"
for question in "--hex $(cat hex)" "--quoted icmp.pcap" "--at 1762345679.5 --hex $(cat hex)" "--at 2025-11-05T12:27:59.5Z one.pcap"; do
  bloomery trace ask -q traces $question || fail "$question"
done
expect_status 1 bloomery trace ask traces --at 2025-11-05T12:27:58.5Z --within 100ms one.pcap
bloomery trace ask --json traces --within 0s none.pcap >json && status=0 || status=$?
expect_equal "$status $(json json "d['seen'], d['packets'][0]['seen'], d['packets'][0]['slices_asked']")" "1 (0, False, 1)"
# From a pipe.
bloomery trace record -q -o piped - <all.pcap
bloomery trace ask -q piped one.pcap || fail "from a pipe"

# The sizes of the literature; static kinds are smaller.
bloomery trace record -q -o five --kind classic --bits-per-packet 5 --probes 3 all.pcap
expect_equal "$(bloomery info --json "five/$(ls five | head -1)" | json /dev/stdin "d['probes'], d['keys'], d['bits']")" "(3, 1000, 5056)"
bloomery trace record -q -o ribbon --kind ribbon all.pcap
(($(cat ribbon/* | wc -c) < $(cat traces/* | wc -c))) || fail "ribbon is not smaller"

# Old slices go, by age and by size.
bloomery trace record -q -o aged --slice 100ms --keep 1s all.pcap
expect_equal "$(ls aged | wc -l)" 11
bloomery trace record -o sized --slice 100ms --bytes 2000 all.pcap 2>err
expect_equal "$(($(cat sized/* | wc -c) <= 2000))" 1
grep -q '^dropped: [0-9]* old slices by age or size' err || fail "$(cat err)"

# Odd packets are counted, and times may run backwards.
bloomery trace record -o odd --json odd.pcap >json 2>/dev/null
expect_equal "$(json json "d['packets'], d['left_out']")" "(5, 3)"
bloomery trace ask -q odd --within 0s odd4.pcap || fail "64 KiB"
bloomery trace ask -q odd --within 0s odd7.pcap || fail "back in time"

# A capture that is cut: what came before is recorded, and the exit status tells.
head -c 100000 all.pcap >cut.pcap
expect_status 2 bloomery trace record -q -o cut cut.pcap
(($(ls cut | wc -l) >= 1)) || fail "nothing of a cut capture was recorded"
expect_status 2 bloomery trace record -o no hex
expect_status 2 bloomery trace record -o no nosuch.pcap

# A damaged slice: the answer is given, and that it is not certain.
cp -r traces damaged
printf x | dd of="damaged/$(ls damaged | head -1)" bs=1 seek=300 conv=notrunc 2>/dev/null
expect_status 2 bloomery trace ask damaged one.pcap
grep -q '^1	' out || fail "$(cat out)"
grep -q '1 slice could not be asked, so "not seen" is not certain: ' err || fail "$(cat err)"

# A full disk: the newest slices stay.
mkdir small
if [[ $(id -u) == 0 ]] && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
  bloomery trace record -o small/t --slice 10ms all.pcap 2>err
  grep -q 'small/t: the disk is full; the oldest slices make room for new ones' err || fail "$(cat err)"
  grep -qE '^dropped: [0-9]+ old slices because the disk was full' err || fail "$(cat err)"
  expect_equal "$(ls small/t | tail -1)" 1762345680.990000000_1762345680.999000000.bloom
  bloomery verify -q small/t/*
  umount small
  # The same when there are bytes, but no room for the name of another file.
  if mount -t tmpfs -o size=10m,nr_inodes=20 tmpfs small 2>/dev/null; then
    bloomery trace record -o small/t --slice 10ms all.pcap 2>err || fail "out of names: $(cat err)"
    grep -qE '^dropped: [0-9]+ old slices because the disk was full' err || fail "$(cat err)"
    expect_equal "$(ls small/t | tail -1)" 1762345680.990000000_1762345680.999000000.bloom
    umount small
  else
    echo "not tested: a disk that is out of names, which this system does not make"
  fi
else
  echo "not tested: a full disk, which needs root"
fi

# Mistakes.
expect_error "no packet to ask about" bloomery trace ask traces
expect_error "are no bytes" bloomery trace ask traces --hex 45zz
expect_error "is no IP packet" bloomery trace ask traces --hex 00
expect_error "--within needs a time" bloomery trace ask traces --within 1s --hex "$(cat hex)"
expect_error "no packet is an ICMP error" bloomery trace ask traces --quoted one.pcap
expect_error "more than 256 packets" bloomery trace ask traces all.pcap
expect_error "is no time" bloomery trace ask traces --at noon one.pcap
expect_error "reading the folder failed" bloomery trace ask nowhere one.pcap
expect_error "no slices are here" bloomery trace ask small one.pcap
expect_error "is no kind for slices" bloomery trace record -o x --kind bloomier all.pcap
expect_error "there is no kind 'bloom'" bloomery trace record -o x --kind bloom all.pcap

# ---- other hosts
bloomery trace serve --help >/dev/null 2>&1 || exit 0 # a build without libsodium
printf '%064d' 7 >key
printf '%064d' 8 >other.key
declare -A port
serve() { # NAME FOLDER
  "$BLOOMERY" trace serve "$2" --listen 127.0.0.1:0 --key-file key 2>"$1.log" &
  pids+=($!)
  for _ in $(seq 200); do grep -q listening "$1.log" && break; sleep 0.05; done
  port[$1]=$(grep -o '[0-9]*$' "$1.log" | head -1)
}
serve near traces
serve far piped
serve aside five
mkdir empty
serve idle empty
bloomery trace record -q -o elsewhere none.pcap
serve wrong elsewhere
cat >routers <<R
near  127.0.0.1:${port[near]}   far wrong idle  # where we are
far   127.0.0.1:${port[far]}
wrong 127.0.0.1:${port[wrong]}
idle  127.0.0.1:${port[idle]}
gone  127.0.0.1:1               far
R
path() { bloomery trace path --topology routers --key-file key "$@"; }
path --from near one.pcap >out 2>err
expect_equal "$(cut -f1-3 out)" $'near\t0\t-\nfar\t1\tnear'
grep -q '^bloomery: idle has no record of that time' err || fail "$(cat err)"
grep -qE '^bloomery: gone: ' err || fail "$(cat err)"
grep -q '^it came in at far; 5 routers asked, ' err || fail "$(cat err)"
path --from near --json --quiet --hex "$(cat hex)" --at 1762345679.5 >json
expect_equal "$(json json "d['path'], d['entries'], d['open_end'], d['asked']")" "(['near', 'far'], ['far'], True, 5)"
expect_equal "$(json json "{r['router']: r['state'] for r in d['routers']}")" \
  "{'near': 'seen', 'far': 'seen', 'wrong': 'not seen', 'idle': 'no record', 'gone': 'silent'}"
sed -i "s/^wrong.*/&  aside/; \$a aside 127.0.0.1:${port[aside]} near" routers
path --from near --json --quiet one.pcap >json
expect_equal "$(json json "d['one_path'], d['path'], sorted(d['entries'])")" "(False, [], ['aside', 'far'])"
path --from near --quiet --plot way.svg one.pcap >/dev/null
grep -q '>aside<' way.svg || fail "the picture does not name a router"
expect_status 1 path --from wrong one.pcap

# Another key is refused on both sides; garbage and silence end nothing.
expect_error "near: the host refuses: whoever asks has another key" bloomery trace path --topology routers --from near --key-file other.key one.pcap
for i in $(seq 40); do exec {silent}<>"/dev/tcp/127.0.0.1/${port[near]}"; done
for i in 1 2 3; do
  { head -c 5000 /dev/urandom >"/dev/tcp/127.0.0.1/${port[near]}"; } 2>/dev/null || true
done
path --from near --quiet one.pcap >/dev/null || fail "strangers stop the server"
grep -q '^bloomery: dropped a peer and listen on: ' near.log || fail "$(cat near.log)"
# What is recorded meanwhile is answered.
bloomery trace record -q -o empty all.pcap
path --from idle --quiet one.pcap >/dev/null || fail "a new slice is not seen"

expect_error "line 1: no router is called r9" bloomery trace path --topology <(echo r1 a:1 r9) --from r1 --key-file key one.pcap
expect_error "no router is called r9" path --from r9 one.pcap
expect_error "one packet can be found at a time, not of 8" bloomery trace path --topology routers --from near --key-file key --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)" --hex "$(cat hex)"
expect_error "reading the folder failed" bloomery trace serve nowhere --listen 127.0.0.1:0 --key-file key
expect_error "nokey" bloomery trace serve traces --listen 127.0.0.1:0 --key-file nokey

# A signal ends it well, whoever holds a connection.
for signal in TERM INT; do
  kill -$signal "${pids[0]}"
  wait "${pids[0]}" || fail "status $? after SIG$signal"
  pids=("${pids[@]:1}")
done
