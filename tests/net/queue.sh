# Ten TCP flows and a UDP flood at ten times the link, through bloomery queue: the flows keep their
# share, where a plain queue of the same program leaves them little. BLOOMERY_QUEUE_SECONDS is how
# long each is measured, in ./test --long; without it the flood meets its penalty, and nothing is
# compared.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
need_namespaces iperf3 iptables
"$BLOOMERY" queue --help >/dev/null 2>&1 || skip "this build has no queue (libnetfilter_queue is missing)"
seconds=${BLOOMERY_QUEUE_SECONDS:-2}

space a
space router
space b
link 1 a router
link 2 router b
ip -n $net-a route add default via 10.50.1.2
ip -n $net-b route add default via 10.50.2.1
# Both ends of TCP take marks for drops.
for host in a b; do in_space $host sysctl -qw net.ipv4.tcp_ecn=1; done
in_space router iptables -A FORWARD -o e2 -j NFQUEUE --queue-num 5 --queue-bypass 2>/dev/null ||
  skip "this kernel has no NFQUEUE"

# Mistakes are said in one line.
expect_error "'ten' is no rate" in_space router "$BLOOMERY" queue --nfqueue 5 --rate ten
expect_error "'0mbit' is no rate" in_space router "$BLOOMERY" queue --nfqueue 5 --rate 0mbit

# A row for each second, the last one too.
in_space router "$BLOOMERY" queue --nfqueue 5 --rate 10mbit --for 1s >rows 2>/dev/null
expect_equal "$(grep -cE '^ *[0-9]' rows)" 1

# measure OPTION...: sets `measured`, the megabits a second of TCP, mean over the time of the flood,
# as the receiver counts them. TCP begins before the flood, because its first packets cross the same
# link, and the flood lasts until TCP has ended.
measure() {
  local udp
  : >queue.err >tcp.out >udp.client # what the run before said is not this one's
  become_in_space router "$BLOOMERY" queue --nfqueue 5 --rate 10mbit --json "$@" >queue.json 2>queue.err &
  local queue=$!
  pids+=($queue)
  wait_for queue.err 'queue 5 at'
  become_in_space b iperf3 -s -1 -p 5201 -i 1 -f k --forceflush >tcp.out 2>&1 &
  local server=$!
  become_in_space b iperf3 -s -1 -p 5202 >/dev/null 2>&1 &
  local sink=$!
  pids+=($server $sink)
  sleep 0.3
  become_in_space a iperf3 -c 10.50.2.2 -p 5201 -C cubic -P 10 -t $((seconds + 60)) >tcp.client 2>&1 &
  local client=$!
  pids+=($client)
  wait_for tcp.out SUM
  become_in_space a iperf3 -c 10.50.2.2 -p 5202 -u -b 100M -l 1400 -t $((seconds + 60)) --forceflush >udp.client 2>&1 &
  udp=$!
  pids+=($udp)
  wait_for udp.client sec # the flood has begun a second ago
  # The first two seconds of it are the beginning.
  local from=$(($(grep -c '^.SUM.' tcp.out) + 2))
  for _ in $(seq $((seconds * 20 + 400))); do
    (($(grep -c '^.SUM.' tcp.out) >= seconds + from)) && break
    sleep 0.1
  done
  kill $udp $client $server $sink 2>/dev/null || true
  kill $queue
  wait $queue || fail "the queue ended with $?: $(cat queue.err)"
  wait $udp $client $server $sink 2>/dev/null || true
  measured=$(awk -v n="$seconds" -v from="$from" '/^.SUM./ && ++line > from && line <= n + from { sum += $(NF - 1) } END { printf "%.2f", sum / n / 1000 }' tcp.out)
}
measure
# A machine that stood still for a second has lost packets: it has another try.
[[ $(json queue.json "d['lost_by_kernel']") == 0 ]] || measure
fair=$measured
expect_equal "$(json queue.json "d['fair'], d['dropped_penalty'] > 1000, d['lost_by_kernel']")" "(True, True, 0)"
# TCP has promised to take a mark for a drop, and got some.
expect_equal "$(json queue.json "d['marked'] > 0")" True
if [[ -n ${BLOOMERY_QUEUE_SECONDS-} ]]; then
  measure --fifo
  plain=$measured
  expect_equal "$(json queue.json "d['fair'], d['dropped_overflow'] > 1000")" "(False, True)"
  echo "TCP of 10 Mbit/s under a flood of 100: $fair fair, $plain plain, over $seconds s"
  awk -v f="$fair" -v p="$plain" 'BEGIN { exit !(f >= 8 && p <= 2) }' ||
    fail "fair $fair (at least 8), plain $plain (at most 2)"
fi
# Without the program packets pass, because of --queue-bypass.
in_space a ping -c 1 -W 2 10.50.2.2 >/dev/null 2>&1 || ! command -v ping >/dev/null || fail "traffic is blocked"
