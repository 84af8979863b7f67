# Twelve routers with real forwarding, one packet with a forged source address: trace path finds
# where it came in.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
need_namespaces
"$BLOOMERY" trace path --help >/dev/null 2>&1 || skip "this build has no trace path (libsodium is missing)"

# The victim is behind r1, the attacker behind r11. Each router sends what is for the victim to its
# parent.
#
#   victim - r1 - r2 - r3 - r5 - r6 - r11 - attacker
#             |    |    |    `- r10
#             |    |    `- r8 - r12 - other
#             |    `- r7 - r9
#             `- r4
parents=([2]=1 [3]=2 [4]=1 [5]=3 [6]=5 [7]=2 [8]=3 [9]=7 [10]=5 [11]=6 [12]=8)
for r in $(seq 12); do space r$r; done
for host in victim attacker other; do space $host; done
for r in $(seq 2 12); do
  link $r r${parents[r]} r$r
  ip -n $net-r$r route add default via 10.50.$r.1
done
link 101 r1 victim
link 111 r11 attacker
link 112 r12 other
ip -n $net-victim route add default via 10.50.101.1
ip -n $net-attacker route add default via 10.50.111.1
ip -n $net-other route add default via 10.50.112.1
# From the other side of the tree towards the victim; r1 has it on a link of its own.

# One process watches all routers: a socket in each namespace, as a tap has it. Then packets are
# sent: twenty honest ones from `other`, and the forged one, which claims to come from there too.
/usr/bin/python3 - $net <<'P'
import ctypes, os, socket, struct, sys, time
net = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
def enter(name):
    with open(f"/run/netns/{net}-{name}") as f:
        if libc.setns(f.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
names = [f"r{i}" for i in range(1, 13)] + ["victim"]
taps = {}
for name in names:
    enter(name)
    taps[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    taps[name].setblocking(False)
def udp(source, number):
    data = b"payload %d" % number
    u = struct.pack(">HHHH", 5353, 9999, 8 + len(data), 0) + data
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(u), number, 0, 64, 17, 0, socket.inet_aton(source),
                       socket.inet_aton("10.50.101.2")) + u
def send(name, packet):
    enter(name)
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    s.sendto(packet, ("10.50.101.2", 0))
for n in range(20):
    send("other", udp("10.50.112.2", 1000 + n))
send("attacker", udp("10.50.112.2", 4242))
end = time.time() + 10
seen = {name: [] for name in names}
def drain():
    for name, tap in taps.items():
        while True:
            try:
                seen[name].append((time.time(), tap.recv(2000)))
            except BlockingIOError:
                break
forged = lambda frame: frame[18:20] == struct.pack(">H", 4242)
while time.time() < end and not any(forged(f) for _, f in seen["victim"]):
    drain()
    time.sleep(0.05)
time.sleep(0.1)
drain()
def write(path, packets):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for at, frame in packets:
            f.write(struct.pack("<IIII", int(at), int(at % 1 * 1e6), len(frame), len(frame)) + frame)
for name in names:
    write(name + ".pcap", seen[name])
arrived = [p for p in seen["victim"] if forged(p[1])]
assert arrived, "the forged packet did not arrive"
assert arrived[0][1][22] < 64 - 5, "it did not come through the routers"
write("forged.pcap", arrived[:1])
open("hex", "w").write(udp("10.50.112.2", 4243).hex())
write("honest.pcap", [p for p in seen["victim"] if p[1][18:20] == struct.pack(">H", 1007)][:1])
P

openssl rand -hex 32 >key 2>/dev/null || head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >key
: >topology
for r in $(seq 12); do
  "$BLOOMERY" trace record -q -o t$r r$r.pcap
  "$BLOOMERY" trace serve t$r --listen 127.0.0.1:0 --key-file key 2>s$r &
  pids+=($!)
done
for r in $(seq 12); do
  wait_for s$r listening
  echo "r$r 127.0.0.1:$(grep -o '[0-9]*$' s$r | head -1) ${parents[r]:+r${parents[r]}}" >>topology
done

bloomery trace path --json --topology topology --from r1 --key-file key forged.pcap >json
expect_equal "$(json json "d['path'], d['entries']")" "(['r1', 'r2', 'r3', 'r5', 'r6', 'r11'], ['r11'])"
bloomery trace path --topology topology --from r1 --key-file key --plot way.svg forged.pcap >out 2>err
expect_equal "$(cut -f1 out | paste -sd' ')" "r1 r2 r3 r5 r6 r11"
grep -q '^it came in at r11; ' err || fail "$(cat err)"
grep -q '>r11<' way.svg || fail "the picture does not name r11"
# The honest packet, which has the same addresses, came from where they say.
bloomery trace path --json --topology topology --from r1 --key-file key honest.pcap >json
expect_equal "$(json json "d['path'], d['entries']")" "(['r1', 'r2', 'r3', 'r8', 'r12'], ['r12'])"
# A router that is down ends the way before it, and is told of.
kill "${pids[5]}"
wait "${pids[5]}" 2>/dev/null || true
bloomery trace path --json --topology topology --from r1 --key-file key --timeout 1s forged.pcap >json 2>/dev/null
expect_equal "$(json json "d['path'], d['open_end']")" "(['r1', 'r2', 'r3', 'r5'], True)"

# A router that listens to its link itself, while the attacker sends, until a signal ends it.
if ! timeout 20 "$BLOOMERY" trace record -o none --interface nosuch0 --for 1ms 2>&1 | grep -q "without libpcap"; then
  expect_error nosuch0 in_space r6 "$BLOOMERY" trace record -o none --interface nosuch0 --for 1ms
  become_in_space attacker /usr/bin/python3 -c 'import socket, time
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
while True:
    raw.sendto(bytes.fromhex(open("hex").read()), ("10.50.101.2", 0))
    time.sleep(0.02)' &
  sender=$!
  become_in_space r6 "$BLOOMERY" trace record --json --interface e11 --slice 100ms -o live >json 2>live.err &
  listener=$!
  pids+=($sender $listener)
  for _ in $(seq 400); do compgen -G 'live/*.bloom' >slices && break; sleep 0.05; done
  kill -TERM $listener
  wait $listener || fail "status $? after SIGTERM: $(cat live.err)"
  kill $sender
  expect_equal "$(json json "d['packets'] > 0, d['slices_written'] > 0, d['packets_lost']")" "(True, True, 0)"
  bloomery verify -q live/*
  bloomery trace ask -q live --hex "$(cat hex)" || fail "the interface was not recorded"
else
  echo "not tried: a live interface (no libpcap)" >&2
fi
