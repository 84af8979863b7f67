# What two sets of lines do not have in common: against comm, on real lists of files; over TCP; with
# peers that break.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Two "suites": files of the installed packages, and all but some of them, with other names for a
# few.
cat /var/lib/dpkg/info/*.list | LC_ALL=C sort -u | awk 'NR % 5 == 0' >old
(grep -v '^/usr/share/man/.*/[a-e]' old; sed -n 's|^/usr/share/doc/\([a-c].*\)|/usr/share/doc-new/\1|p' old) >new
[[ $(wc -l <old) -gt 3000 ]] || fail "the list of files is short"
only() { LC_ALL=C comm "$1" <(LC_ALL=C sort -u "$2") <(LC_ALL=C sort -u "$3"); }

expect_comm() { # A B: the lines that are printed are those that comm finds
  only -23 "$1" "$2" | sed 's/^/< /' >expected
  only -13 "$1" "$2" | sed 's/^/> /' >>expected
  bloomery reconcile -q "${@:3}" "$1" "$2" >found
  diff expected <(grep -a '^<' found | LC_ALL=C sort; grep -a '^>' found | LC_ALL=C sort) >/dev/null || fail "$* differs from comm"
}
for method in auto sketch filter full; do
  expect_comm old new --method $method
  expect_comm new old --method $method
done
# In the order of the input, first A's.
shuf --random-source=<(yes) new >mixed
bloomery reconcile -q old mixed >found
# first_only A B: the lines of A that B lacks, in A's order.
first_only() { awk 'NR == FNR { seen[$0]; next } !($0 in seen)' "$2" "$1"; }
cmp found <(first_only old new | sed 's/^/< /'; first_only mixed old | sed 's/^/> /') || fail "another order"

# A few lines of many cost a few bytes: told on standard error, and as JSON.
(sed '100,104d' old; seq 5 | sed 's/^/added /') >near
bloomery reconcile old near >found 2>err
expect_equal "$(wc -l <found)" 10
grep -qE '^bloomery: two hosts would exchange [0-9.]+ (B|bytes|kB) \(sketch, [0-9] round trips\); sending everything takes ' err || fail "$(cat err)"
bloomery reconcile -q --json old near >json
expect_equal "$(json json '(d["only_here"], d["only_there"], d["method"], d["rounds"])')" "(5, 5, 'sketch', 1)"
expect_equal "$(json json 'd["bytes"] < 2000 and d["bytes"] == d["bytes_sent"] + d["bytes_received"]')" True
expect_equal "$(json json 'sum(p["sent"] for p in d["phases"].values()) == d["bytes_sent"]')" True
expect_equal "$(json json 'd["everything_bytes"]')" "$(cat old near | wc -c)"
expect_equal "$(json json 'd["smaller_bytes"]')" "$(wc -c <near)"

# Equal, empty, disjoint; repeated lines count once; the last line needs no end; any byte; packed
# files; standard input.
expect_status 0 bloomery reconcile old old
[[ ! -s out ]] || fail "equal files differ"
: >empty
printf 'a\nb\na\nb' >twice
printf 'b\nc\n' >bc
printf 'x\x00y\n\xff\xfe\n\n\r\n' >binary
for pair in "old empty" "empty old" "empty empty" "twice bc" "binary empty" "binary twice" "empty twice"; do
  read -r a b <<<"$pair"
  bloomery reconcile -q --keep-empty $a $b | LC_ALL=C sort >found
  (only -23 $a $b | sed 's/^/< /'; only -13 $a $b | sed 's/^/> /') | LC_ALL=C sort >expected
  cmp found expected || fail "$pair"
done
expect_equal "$(bloomery reconcile -q twice bc)" $'< a\n> c'
gzip -k old
expect_equal "$(bloomery reconcile -q old.gz - <old)" ""
printf 'a\nb\0c\0' >null_a
printf 'c\0a\nb\0d' >null_b
printf '> d\0' | cmp - <(bloomery reconcile -q -0 null_a null_b)
expect_equal "$(bloomery reconcile -q --crlf <(printf 'a\r\nb\r\n') <(printf 'b\nc\n'))" $'< a\n> c'
bloomery reconcile -q -o union twice bc >/dev/null
expect_equal "$(cat union)" $'a\nb\na\nb\nc'

expect_error "two files are compared" bloomery reconcile old
expect_error "no-such-file" bloomery reconcile old no-such-file
expect_error "there is one file here" bloomery reconcile --connect 127.0.0.1:1 old new
expect_error "127.0.0.1:1: connecting failed" bloomery reconcile --connect 127.0.0.1:1 old
expect_error "is no address" bloomery reconcile --listen here old
expect_error "seconds above 0" bloomery reconcile --timeout 0 old new
head -c 17000000 /dev/zero | tr '\0' x >long
expect_error "long: a line of 17,000,000 bytes; at most 16,777,216" bloomery reconcile old long

# ---- two processes

# listen NAME OPTION...: starts a side; its port in $port, its process in $side, what it prints in
# NAME.out.
mkfifo door
listen() {
  local name=$1
  shift
  "$BLOOMERY" reconcile --listen 127.0.0.1:0 "$@" >$name.out 2>door &
  side=$!
  exec 3<door
  read -r line <&3
  port=${line##* }
}
# ends STATUS: that of the listening side; what it said further is in side.err.
ends() {
  local status=0
  cat <&3 >side.err
  wait $side || status=$?
  [[ $status == "$1" ]] || fail "status $status: $(cat side.err)"
}
for method in auto filter full; do
  listen here -o union.here --method $method old
  bloomery reconcile --connect localhost:$port -o union.there new >there.out 2>there.err
  ends 0
  only -23 old new >lost
  only -13 old new >gained
  (sed 's/^/< /' lost; sed 's/^/> /' gained) | cmp - here.out || fail "here"
  (only -13 old new | sed 's/^/< /'; sed 's/^/> /' lost) | LC_ALL=C sort | cmp - <(LC_ALL=C sort there.out) || fail "there"
  cmp <(LC_ALL=C sort union.here) <(LC_ALL=C sort union.there) || fail "two unions"
  cmp <(LC_ALL=C sort -u old new) <(LC_ALL=C sort union.here) || fail "not the union"
  grep -q 'bloomery: exchanged ' there.err || fail "$(cat there.err)"
done

# Peers that break. Whatever happens: one line, and who listens goes on until somebody reconciles.
cat >peer.py <<'END'
"""A bad peer: connects to the port and does what it is told. Or a proxy that after N bytes cuts the connection, or stalls."""
import socket, sys, threading
what, port = sys.argv[1], int(sys.argv[2])
if what in ("cut", "stall"):
    limit = int(sys.argv[3])
    door = socket.create_server(("127.0.0.1", 0))
    print(door.getsockname()[1], flush=True)
    client, _ = door.accept()
    server = socket.create_connection(("127.0.0.1", port))
    def pump(source, target, left, stall=False):
        try:
            while left > 0:
                data = source.recv(min(left, 4096))
                if not data:
                    break
                left -= len(data)
                target.sendall(data)
        except OSError:
            pass
        if stall:
            print("stalled", flush=True)
            return
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
    other = threading.Thread(target=pump, args=(client, server, 1 << 40))
    other.start()
    pump(server, client, limit, what == "stall")
    other.join()
    sys.exit()
peer = socket.create_connection(("127.0.0.1", port))
if what == "garbage":
    peer.sendall(bytes(range(256)) * 100)
elif what == "http":
    peer.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
elif what == "huge":
    peer.sendall(b"\x01\xff\xff\xff\xff" + b"x" * 1000)
elif what == "half":
    peer.sendall(b"\x01\x20\x00\x00\x00BLMRECON")
    peer.shutdown(socket.SHUT_WR)
elif what == "slow":
    peer.sendall(b"\x01\x20\x00\x00\x00BLM")
elif what == "gone":
    sys.exit()
try:
    while peer.recv(65536):  # until we are thrown out
        pass
except OSError:
    pass
END
python=/usr/bin/python3
echo before >union.bad
# One listener for all of them, and in the end a peer: strangers leave nothing behind but a line
# each.
expect_dropped() { # TEXT: the next line of the listener
  read -r line <&3
  [[ $line == "bloomery: dropped a peer and listen on: "*"$1"* ]] || fail "not '$1': $line"
  [[ ! -s bad.out && $(cat union.bad) == before ]] || fail "$1: output"
}
listen bad --timeout 0.5 -o union.bad old
for case in slow nothing; do
  $python peer.py $case $port
  expect_dropped "the peer is"
done
kill $side
wait $side || true
# For the others the time is long: a machine that is busy is no slow peer.
listen bad --timeout 60 -o union.bad old
for case in "garbage:announces a message" "http:announces a message" "huge:announces a message of 4294967295 bytes" \
  "half:in the middle of a message" "gone:closed the connection"; do
  $python peer.py ${case%%:*} $port
  expect_dropped "${case#*:}"
done
# Cut after so many bytes, in every phase; by every method. Who connects ends with status 2.
for method in sketch filter full; do
  for bytes in 0 400 2000; do
    coproc proxy { exec $python peer.py cut $port $bytes; }
    proxy_id=$proxy_PID
    read -r through <&${proxy[0]}
    expect_status 2 bloomery reconcile --timeout 60 --method $method --connect 127.0.0.1:$through -o union.bad new
    grep -qE 'closed the connection' err || fail "$method $bytes: $(cat err)"
    expect_dropped 'closed the connection'
    wait $proxy_id || true
  done
done
# Killed in the middle, where a proxy holds it.
coproc proxy { exec $python peer.py stall $port 700; }
proxy_id=$proxy_PID
exec 5<&${proxy[0]}
read -r through <&5
"$BLOOMERY" reconcile -q --method sketch --connect 127.0.0.1:$through new >/dev/null 2>&1 &
victim=$!
read -r stalled <&5
expect_equal "$stalled" stalled
kill -9 $victim
wait $victim 2>/dev/null || true
expect_dropped 'closed the connection'
wait $proxy_id || true
# A line with a line end in it would come out as two, of which one is forged.
printf 'one\n> forged\0' >forged
bloomery reconcile -q -0 --connect 127.0.0.1:$port forged >/dev/null
expect_dropped 'the peer has a line with a line end in it'
"$BLOOMERY" reconcile -q --connect 127.0.0.1:$port new >there.out
ends 0
cmp <(LC_ALL=C sort -u old new) <(LC_ALL=C sort union.bad) || fail "not the union"
# With -0 on both sides any line is one.
listen null -0 empty
bloomery reconcile -q -0 --connect 127.0.0.1:$port forged >/dev/null
ends 0
printf '> one\n> forged\0' | cmp - null.out

# What a peer makes us hold is bounded, and the bound is named.
seq 100000 >many
listen bad --memory 1M empty
bloomery reconcile -q --connect 127.0.0.1:$port many >/dev/null 2>&1 || true
read -r line <&3
[[ $line == *"hold more than the limit of 1000000 bytes; --memory raises it" ]] || fail "$line"
bloomery reconcile -q --connect 127.0.0.1:$port twice >/dev/null
ends 0

# Between two files the side that is short of memory says so, not the one that loses its peer. What
# is kept of a million lines is more than this; what the tool is without them is less. Not under
# sanitizers, which reserve more.
if [[ -z ${BLOOMERY_SANITIZED-} ]]; then
  seq 1000000 >many
  echo 1 >single
  expect_status 2 bash -c "ulimit -v 140000; exec '$BLOOMERY' reconcile -q single many"
  ! grep -q peer err || fail "$(cat err)"
fi
exit 0
