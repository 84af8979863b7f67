# Killed at any moment, a verb leaves the old file or the new one, whole, and nothing beside it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 400000 >keys
bloomery build -q -o old.bloom --keys 400000 --fpr 1e-6 <(head -200000 keys)
cp old.bloom f.bloom
bloomery build -q -o new.bloom --keys 400000 --fpr 1e-6 keys
tail -n +200001 keys >more

old=0 new=0
for i in $(seq 40); do
  cp old.bloom f.bloom
  "$BLOOMERY" add -q f.bloom more &
  pid=$!
  # From 0 to 60 ms: before, while and after it writes.
  sleep "$(printf '0.%03d' $((RANDOM % 60)))"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  if cmp -s f.bloom old.bloom; then
    old=$((old + 1))
  elif cmp -s f.bloom new.bloom; then
    new=$((new + 1))
  else
    fail "the file is neither the old nor the new one"
  fi
  bloomery verify -q f.bloom
done
echo "old file $old times, new file $new times"

for i in $(seq 20); do
  rm -f g.bloom
  "$BLOOMERY" build -q -o g.bloom --fpr 1e-6 keys &
  pid=$!
  sleep "$(printf '0.%03d' $((RANDOM % 60)))"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  [[ ! -e g.bloom ]] || bloomery verify -q g.bloom
done

# Between naming and renaming there are microseconds in which a complete file has a hidden name.
for left in .*.tmp; do
  [[ ! -e $left ]] || bloomery verify -q "$left"
done

# A limit on the size of files stops it in the middle of writing.
(ulimit -f 10; "$BLOOMERY" build -q -o h.bloom --bytes 1M keys) 2>/dev/null && fail "the limit did not work"
[[ ! -e h.bloom ]] || fail "half a file was left"
