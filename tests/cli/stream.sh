# check answers when its input pauses, and shows progress on a terminal only.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bloomery build -q -o w.bloom $words

mkfifo in
exec 3<>in
"$BLOOMERY" check w.bloom in >answers 3>&- &
pid=$!
ask() {
  printf '%s' "$1" >&3
  for _ in $(seq 200); do
    [[ $(wc -l <answers) -ge $2 ]] && return
    sleep 0.02
  done
  fail "no answer to '$1'"
}
ask $'apples\nno such word\n' 1
ask $'plu' 1
ask $'ms\nmangoes\nzebr' 3
ask $'a\n' 4
printf 'last' >&3
exec 3>&-
wait $pid
printf 'apples\nplums\nmangoes\nzebra\nlast\n' | cmp - answers

# The reader goes away: the tool ends quietly, like every filter.
yes apples | head -3000000 | bloomery check w.bloom 2>err | head -1 >out || true
expect_equal "$(cat out)" apples
[[ ! -s err ]] || fail "$(cat err)"

# A pipe sees no progress ...
slow() { head -1000 $words; sleep 0.7; cat $words; sleep 0.3; head -10 $words; }
slow | bloomery build -o p.bloom 2>err
[[ $(wc -l <err) == 1 ]] || fail "more than the summary: $(cat err)"
grep -q $'\r' err && fail "progress on a pipe"
# ... a terminal does, unless quiet.
make_feed
: >terminal
script -qefc "bash feed terminal | '$BLOOMERY' build -o p.bloom" terminal >/dev/null
grep -q 'keys/s' terminal || fail "no progress on a terminal: $(cat -v terminal)"
script -qec "(head -1000 $words; sleep 0.7; cat $words; sleep 0.3; head -10 $words) | '$BLOOMERY' build -q -o p.bloom" terminal >/dev/null
grep -q 'keys/s' terminal && fail "progress although quiet"
: >err
bash feed err | bloomery build -q --progress -o p.bloom 2>err
grep -q 'keys/s' err || fail "no progress although asked for"
bloomery build -q --stats -o p.bloom $words 2>err
grep -q "^building 100 %  .*$(wc -l <$words | sed 's/...$/,&/') keys" err || fail "no stats: $(cat err)"

# A signal asks where it stands, also while it waits for input; another ends it, and nothing is
# left.
mkfifo wait
"$BLOOMERY" build -q --threads 3 -o half.bloom --keys 1000 wait 2>state &
pid=$!
exec 4>wait
printf 'one\ntwo\n' >&4
for _ in $(seq 100); do
  kill -USR1 $pid
  grep -q "^building  8 bytes  2 keys" state && break # before it may stand "8 bytes  0 keys"
  sleep 0.1
done
grep -q "^building  8 bytes  2 keys" state || fail "no state: $(cat state)"
kill -TERM $pid # a script cannot send SIGINT to what runs in its background
exec 4>&-
wait $pid && fail "not interrupted"
[[ $(ls -A | grep -c half) == 0 ]] || fail "something half is left"
exit 0
