# Twelve nodes in network namespaces of their own, with delays, through real forwarding: a chain of
# three routers with four nodes each. Links are cut and healed. Needs root, iproute2 and TUN.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

prefix=blm$$
if [[ $(id -u) != 0 ]] || ! command -v ip >/dev/null || ! ip netns add ${prefix}t 2>/dev/null; then
  echo "skipped: network namespaces need root and iproute2"
  exit 77
fi
trap 'ip netns del ${prefix}t; rm -rf "$folder"' EXIT
if ! ip -n ${prefix}t tuntap add dev try0 mode tun 2>/dev/null; then
  echo "skipped: this machine makes no TUN devices"
  exit 77
fi
ip netns del ${prefix}t
spaces=()
pids=()
clean() {
  kill -9 "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  for s in "${spaces[@]}"; do ip netns del "$s" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean EXIT
space() {
  ip netns add "$1"
  spaces+=("$1")
  ip -n "$1" link set lo up
}
# wire A ADDRESS B ADDRESS: a pair of TUN devices in two namespaces. What one of them sends, the
# other gets 5 ms later, by the program below: not every kernel has netem.
number=0
wires=()
wire() {
  local a=v$((++number)) b=v$((++number))
  ip -n "$1" tuntap add dev $a mode tun
  ip -n "$3" tuntap add dev $b mode tun
  ip -n "$1" addr add "$2" dev $a && ip -n "$1" link set $a up
  ip -n "$3" addr add "$4" dev $b && ip -n "$3" link set $b up
  wires+=("$1" $a "$3" $b)
}
cat >delay.py <<'P'
import collections, contextlib, ctypes, fcntl, os, select, struct, sys, time

libc = ctypes.CDLL(None, use_errno=True)


def device(space, name):
    with open(f"/run/netns/{space}") as f:
        if libc.setns(f.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1001))
    return fd


other, waiting, held = {}, select.poll(), collections.deque()
for i in range(1, len(sys.argv), 4):
    a, b = device(*sys.argv[i:i + 2]), device(*sys.argv[i + 2:i + 4])
    other[a], other[b] = b, a
    waiting.register(a, select.POLLIN)
    waiting.register(b, select.POLLIN)
open("wired", "w").close()
while True:
    left = max(held[0][0] - time.monotonic(), 0) * 1000 if held else None
    for fd, _ in waiting.poll(left):
        with contextlib.suppress(OSError):  # the wire was cut
            held.append((time.monotonic() + 0.005, other[fd], os.read(fd, 65536)))
    while held and held[0][0] <= time.monotonic():
        _, fd, packet = held.popleft()
        with contextlib.suppress(OSError):
            os.write(fd, packet)
P
for r in 0 1 2; do
  space ${prefix}r$r
  ip netns exec ${prefix}r$r sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
done
wire ${prefix}r0 10.9.100.1/30 ${prefix}r1 10.9.100.2/30
between=v$number
wire ${prefix}r1 10.9.101.1/30 ${prefix}r2 10.9.101.2/30
ip -n ${prefix}r0 route add 10.9.0.0/16 via 10.9.100.2
ip -n ${prefix}r1 route add 10.9.0.0/24 via 10.9.100.1
ip -n ${prefix}r1 route add 10.9.2.0/24 via 10.9.101.2
ip -n ${prefix}r2 route add 10.9.0.0/16 via 10.9.101.1
head -c 32 /dev/urandom >secret
for i in $(seq 0 11); do
  space ${prefix}n$i
  r=$((i / 4)) j=$((i % 4))
  wire ${prefix}r$r 10.9.$r.$((4 * j + 1))/30 ${prefix}n$i 10.9.$r.$((4 * j + 2))/30
  ip -n ${prefix}n$i route add default via 10.9.$r.$((4 * j + 1))
done
/usr/bin/python3 delay.py "${wires[@]}" &
pids[12]=$!
for _ in $(seq 1200); do [[ -e wired ]] && break; sleep 0.05; done
[[ -e wired ]] || fail "the relay of the wires does not start"
# There and back over four wires, as a refused connection does, takes 40 ms at least.
ip netns exec ${prefix}n0 /usr/bin/python3 - <<'P' || fail "no delays"
import errno, socket, time
s = socket.socket()
start = time.monotonic()
assert s.connect_ex(("10.9.2.14", 9)) == errno.ECONNREFUSED
assert time.monotonic() - start >= 0.04
P
address() { echo 10.9.$(($1 / 4)).$((4 * ($1 % 4) + 2)):4711; }
start() { # I MODE: each node has the one before as a peer, and some a second one
  local peers=()
  (($1 > 0)) && peers+=(--peer "$(address $(($1 - 1)))")
  (($1 > 4)) && peers+=(--peer "$(address $(($1 - 5)))")
  printf 'key-%s\nshared\n' "$1" >keys$1
  ip netns exec ${prefix}n$1 "$BLOOMERY" node --quiet --listen "$(address $1)" --name n$1 --mode $2 \
    --have keys$1 --key-file secret --beat 200 --keys 200 "${peers[@]}" 2>err$1 &
  pids[$1]=$!
}
# finds FROM TO: whether it does, within a minute.
finds() {
  for _ in $(seq 120); do
    ip netns exec ${prefix}n$1 "$BLOOMERY" find --node "$(address $1)" --key-file secret --timeout 3 key-$2 \
      >out 2>err && grep -qxF "key-$2"$'\tn'"$2" out && return
    sleep 0.5
  done
  fail "n$1 does not find n$2: $(cat err)"
}
for mode in tree gossip attenuated; do
  for i in $(seq 0 11); do start $i $mode; done
  for i in $(seq 0 11); do finds $i $(((i + 5) % 12)); done
  finds 0 11
  # The wire between the first two routers is cut: a question ends, and what is near is found.
  ip -n ${prefix}r1 link set $between down
  status=0
  timeout 30 ip netns exec ${prefix}n0 "$BLOOMERY" find -q --node "$(address 0)" --key-file secret --timeout 2 key-11 2>err || status=$?
  ((status <= 2)) || fail "a question across the cut did not end: status $status, $(cat err)"
  finds 0 3
  finds 5 11
  ip -n ${prefix}r1 link set $between up
  ip -n ${prefix}r1 route replace 10.9.0.0/24 via 10.9.100.1
  kill -9 ${pids[6]}
  wait ${pids[6]} 2>/dev/null || true
  start 6 $mode
  for i in 0 3 6 11; do finds $i $(((i + 6) % 12)); done
  finds 2 6
  for i in $(seq 0 11); do kill ${pids[i]}; done
  for i in $(seq 0 11); do wait ${pids[i]} || fail "n$i: $(cat err$i)"; done
done
