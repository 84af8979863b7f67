# Packed filters and deltas: smaller, the same, and refused when damaged.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

n=$(wc -l <$words)
bloomery build -q -o w.bloom --bits-per-key 48 --probes 3 --kind classic $words
bloomery pack -q -o w.packed w.bloom
(($(stat -c %s w.packed) * 5 < $(stat -c %s w.bloom) * 2)) || fail "48 bits a key with a fill of 6 % pack to a third"
bloomery unpack -q -o back.bloom w.packed
cmp w.bloom back.bloom || fail "unpacked differs"
# Packed files answer as they are.
expect_equal "$(bloomery check -c w.packed $words)" "$n"
bloomery info --json w.packed >packed_info
bloomery info --json w.bloom >plain_info
expect_equal "$(json packed_info 'd["kind"], d["keys"], d["fpr_now"], d["bits"]')" \
  "$(json plain_info 'd["kind"], d["keys"], d["fpr_now"], d["bits"]')"
expect_equal "$(json packed_info 'd["bytes"]')" "$(stat -c %s w.packed)"
bloomery verify -q w.packed
expect_equal "$(json packed_info 'd["packed"]') $(json plain_info 'd["packed"]')" "True False"
expect_equal "$(json packed_info 'd["name"]')" "$(json plain_info 'd["name"]')"
# The sizes agree with each other, packed and not.
bloomery info w.packed >text
share=$(awk -v b=$(stat -c %s w.packed) -v n=$n 'BEGIN {printf "%.2f", 8 * b / n}')
grep -q "size  .* bytes packed, $share bits a key; unpacked .* bytes, 48.0[0-9] bits a key$" text || fail "$(cat text)"
expect_error "unpack it first" bloomery add w.packed $words

# The published configurations: bits sent for a key.
seq 100000 >keys
while read -r bits probes sent; do
  bloomery build -q -o m.bloom --kind classic --bits-per-key $bits --probes $probes keys
  bloomery pack -q -o m.packed m.bloom
  got=$(($(stat -c %s m.packed) * 8))
  /usr/bin/python3 -c "import sys; sys.exit(not abs($got / 100000 - $sent) < 0.006 * $sent + 0.02)" ||
    fail "$bits bits, $probes probes: $got bits for 100,000 keys, not $sent a key"
done <<END
16 11 16
28 4 15.846
48 3 15.829
8 6 8
14 2 7.923
92 1 7.923
END

# From one version to the next: after 1 % more keys a few percent of the file.
seq 101000 >more
bloomery build -q -o old.bloom --keys 101000 keys
bloomery build -q -o new.bloom --keys 101000 more
bloomery diff -q -o change.delta old.bloom new.bloom
(($(stat -c %s change.delta) * 20 < $(stat -c %s new.bloom))) || fail "a large delta"
bloomery patch -q -o patched.bloom old.bloom change.delta
cmp patched.bloom new.bloom || fail "patched differs"
bloomery diff -q -o back.delta new.bloom old.bloom
bloomery patch -q -o patched.bloom new.bloom back.delta
cmp patched.bloom old.bloom || fail "patched back differs"
bloomery pack -q -o old.packed old.bloom
bloomery patch -q -o patched.bloom old.packed change.delta
cmp patched.bloom new.bloom || fail "a packed version patches differently"
# A delta can be looked at: where it starts, where it leads to, and what it holds.
bloomery info --json change.delta >got
expect_equal "$(json got 'd["kind"], d["of"], d["keys"], d["content"], d["bytes"]')" \
  "('delta', 'blocked', 101000, 'changes', $(stat -c %s change.delta))"
for version in old:from new:to; do
  bloomery info --json ${version%:*}.bloom >one
  expect_equal "$(json got "d['${version#*:}']")" "$(json one 'd["name"]')"
  bloomery info change.delta | grep -q "$(json one 'd["name"]')" || fail "$(bloomery info change.delta)"
done
bloomery diff -q -o whole.delta w.bloom old.bloom
expect_equal "$(bloomery info --json - <whole.delta | json /dev/stdin 'd["of"], d["keys"], d["content"]')" \
  "('blocked', 100000, 'whole')"
expect_equal "$(bloomery verify change.delta)" "change.delta: sound, $(stat -c %s change.delta | sed 's,\([0-9]\)\([0-9]\{3\}\)$,\1\,\2,') bytes"
expect_error "a delta has no picture" bloomery info --plot - change.delta
expect_error "change.delta: the delta starts from another version" bloomery patch -o x new.bloom change.delta
expect_error "delta between two filters" bloomery check change.delta keys
expect_error "no packed filter" bloomery unpack -o x old.bloom
expect_error "no delta" bloomery patch -o x old.bloom old.packed
expect_error "more than the limit" bloomery unpack --limit 1K -o x w.packed

# Damage anywhere is found.
for file in w.packed change.delta; do
  size=$(stat -c %s $file)
  for at in 0 8 10 12 15 40 60 $((size / 2)) $((size - 1)); do
    cp $file bad
    printf "$(printf '\\x%x' $((255 - $(od -An -tu1 -j$at -N1 $file))))" |
      dd of=bad bs=1 seek=$at conv=notrunc status=none
    if [[ $file == w.packed ]]; then
      expect_error bad bloomery unpack -o x bad
      expect_error bad bloomery check bad keys
    else
      expect_error bad bloomery patch -o x old.bloom bad
    fi
  done
  head -c $((size / 3)) $file >bad
  expect_status 2 bloomery info bad
done
[[ ! -e x ]] || fail "a file was left"
