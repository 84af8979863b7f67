# dedup, stopped in the middle of a stream. Not under the thread sanitizer, which keeps a signal
# back until the read that it should interrupt has ended.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A stream that never ends: a signal leaves the state with what was printed, and ends the program.
mkfifo stream
begin() {  # OPTIONS: reads lines from what is written to 5
  "$BLOOMERY" dedup -q $1 <stream >printed & reader=$!
  exec 5>stream
}
printed() { until [[ $(wc -l <printed) -ge $1 ]]; do sleep 0.02; done; }  # LINES: waits for them
set -m  # or background jobs would ignore SIGINT
for signal in TERM INT HUP; do
  rm -f s.bloom
  begin "--state s.bloom"
  seq 1000 >&5
  printed 1000
  kill -$signal $reader
  expect_status $((128 + $(kill -l $signal))) wait $reader
  exec 5>&-
  expect_equal "$(seq 900 1100 | bloomery dedup -q --state s.bloom)" "$(seq 1001 1100)"
done
# Several signals for one wish, as timeout sends them, are one: the state, which takes a while to
# write, is whole.
rm -f s.bloom
begin "--state s.bloom --keys 20M"
seq 1000 >&5
printed 1000
kill -INT $reader
for _ in $(seq 20); do kill -INT $reader 2>/dev/null || break; done
expect_status 130 wait $reader
exec 5>&-
expect_equal "$(seq 900 1100 | bloomery dedup -q --state s.bloom)" "$(seq 1001 1100)"
set +m
# A crash leaves the last checkpoint, whole.
rm s.bloom
begin "--state s.bloom --checkpoint 1s"
seq 1000 >&5
until [[ $(seq 1000 | bloomery check -c s.bloom) == 1000 ]]; do sleep 0.1; done
seq 1001 1500 >&5
printed 1500
kill -9 $reader
expect_status 137 wait $reader
exec 5>&-
bloomery verify -q s.bloom
expect_equal "$(seq 1 1000 | bloomery dedup -q --state s.bloom)" ""
expect_equal "$(ls -A | grep -c '\.tmp$' || true)" 0
