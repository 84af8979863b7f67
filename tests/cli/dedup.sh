# dedup prints what awk '!seen[$0]++' does, in the order of the input, and goes on where it stopped.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# Lines that are lost by chance are the same ones each time.
bloomery() { if [[ $1 == dedup ]]; then "$BLOOMERY" dedup --seed 1 "${@:2}"; else "$BLOOMERY" "$@"; fi; }

(shuf -n 60000 --random-source=$words $words; shuf -n 60000 --random-source="$BLOOMERY" $words; head -3000 $words) >lines.txt
awk '!seen[$0]++' lines.txt >expected
for options in "" "--keys 200k" "--threads 1" "--threads 7" "--window 1M"; do
  bloomery dedup $options lines.txt >out 2>err || fail "$options"
  cmp expected out || fail "other lines with '$options'"
  grep -q "$(wc -l <lines.txt | sed 's/...$/,&/') lines, " err || fail "no summary: $(cat err)"
done
bloomery dedup -q <lines.txt >out 2>err
cmp expected out
[[ ! -s err ]] || fail "not quiet"
expect_equal "$(bloomery dedup -q -c lines.txt)" "$(wc -l <expected)"
for threads in 1 7; do  # nobody waits for the turn of one that cannot print
  expect_error "standard output" bash -c "'$BLOOMERY' dedup --threads $threads lines.txt >/dev/full"
done
bloomery dedup -q --json lines.txt >out
expect_equal "$(json out 'd["lines"] - d["printed"] - d["dropped"]')" 0
expect_equal "$(json out 'd["expected_lost"] < 0.2')" True

# Records without a key are printed, and told of.
printf '{"a":1}\n{"b":1}\n{"b":1}\n{"a":1}\n' | bloomery dedup --json-key a >out 2>err
expect_equal "$(cat out)" $'{"a":1}\n{"b":1}\n{"b":1}'
grep -q '2 lines, 1 printed, 1 dropped' err && grep -q '2 records without a key, printed besides' err || fail "$(cat err)"
expect_equal "$(seq 1000 | bloomery dedup -q -c --fpr '1 %')" "$(seq 1000 | bloomery dedup -q -c --fpr 1%)"
expect_error "'1e30' is too large" bloomery dedup --keys 1e30 lines.txt

# The number of lost lines is the truth, in every mode, also when the filter has far too many lines.
# The input has no repetition, so all that is missing was lost.
lost() {  # OPTIONS LINES
  seq "$2" | bloomery dedup -q --json $1 >out
  json out "\"{} {:.0f}\".format(d['dropped'], d['expected_lost'])"
}
close() {  # LOST EXPECTED: a tenth, and five standard deviations of the number itself
  (( 10 * ($1 > $2 ? $1 - $2 : $2 - $1) <= $2 + 50 * $(awk "BEGIN { print int(sqrt($2)) + 1 }") )) ||
    fail "$3: $1 lines are lost, not $2"
}
for options in "--keys 20k --fpr 1%" "--keys 20k" "--keys 2000 --fpr 20%" "--fpr 1%" "--fpr 10%" "--window 20k --fpr 1%" \
    "--window 3000 --fpr 10%" "--window 1h --keys 20k --fpr 1%" "--window 1w --keys 1000 --fpr 0.1%"; do
  read -r truth told <<<"$(lost "$options" 100000)"
  close "$truth" "$told" "$options"
done
read -r truth told <<<"$(lost "--keys 20k --fpr 1%" 20000)"
close "$truth" "$told" "as planned"
(( truth <= 200 )) || fail "$truth of 20000 lines are lost at 1 %"
bloomery dedup --keys 1000 $words >out 2>err
grep -q "warning: .* different lines, but the filter was planned for 1,000; it has grown" err || fail "no warning: $(cat err)"

# Lines that come faster than planned: a window of time keeps its rate, forgets sooner, and says so.
# 2,500 lines at a time, five generations of them: what an exact program with as much memory prints.
(seq 20000; seq 12000 20000; seq 100) >fast
awk '{ for (i = made; i > made - 5; --i) if ((i, $0) in seen) next
       if (count == 2500) { ++made; count = 0 }
       seen[made, $0]; ++count; print }' fast >expected-fast
for options in "--window 1h --keys 10k" "--window 10k"; do
  bloomery dedup $options fast >out 2>err
  cmp expected-fast out || fail "other lines with $options"
done
bloomery dedup --window 1h --keys 10k fast 2>err >out
grep -q 'warning: there were times with more different lines than --keys 10,000 in 1 h' err || fail "no warning: $(cat err)"
bloomery dedup --window 1h --keys 100k fast 2>err >out
! grep -q warning err || fail "a warning for nothing: $(cat err)"
cmp out <(awk '!seen[$0]++' fast)

# A window is of lines that were printed: a repetition that is dropped is not remembered anew.
expect_equal "$( (echo a; seq 1 8; echo a; seq 11 18; echo a) | bloomery dedup -q --window 10 | grep -c a)" 2
expect_equal "$( (echo a; seq 1 8; echo a; echo a) | bloomery dedup -q --window 10 | grep -c a)" 1

# With a state it goes on where it stopped. The file is made, and is a filter like others.
head -70000 lines.txt | bloomery dedup -q --state seen.bloom >out
tail -n +70001 lines.txt | bloomery dedup -q --state seen.bloom >>out
cmp expected out
expect_equal "$(bloomery check -v seen.bloom lines.txt | wc -l)" 0
expect_equal "$(bloomery dedup -q --state seen.bloom -c lines.txt)" 0
# The same options again are the same state, others are not.
for _ in 1 2; do seq 10 | bloomery dedup -q --state w.bloom --window 1h --keys 1k --fpr 1%; done >out
expect_equal "$(cat out)" "$(seq 10)"
for options in "--keys 5" "--window 1h --keys 1k"; do
  expect_error "seen.bloom: it was begun with other values of --keys or --window" bloomery dedup --state seen.bloom $options lines.txt
done
expect_error "a layered filter keeps others, and --keys N makes one here" bloomery dedup --fpr 1e-8 lines.txt
expect_status 0 bloomery dedup -q --fpr 1e-8 --keys 1k lines.txt
expect_error "seen.bloom: it was begun with --fpr 1e-06, not 0.01" bloomery dedup --state seen.bloom --fpr 1% lines.txt
# A filter that was built is no state by mistake: one size is soon full, and 1 % are lost without a
# word.
seq 100 | bloomery build -q -o built.bloom
expect_error "built.bloom: a blocked filter neither grows nor forgets" bloomery dedup --state built.bloom lines.txt
seq 100 | bloomery build -q --kind scalable -o built.bloom
expect_error "built.bloom: it was begun with --fpr 0.01, not 1e-06; give that" bloomery dedup --state built.bloom lines.txt
expect_equal "$(seq 99 101 | "$BLOOMERY" dedup -q --fpr 1% --state built.bloom)" 101
# What cannot be written is said before anything is printed, and nothing is left behind.
expect_error "nowhere/x: opening failed" bloomery dedup --state nowhere/x lines.txt
expect_error ".: opening failed: Is a directory" bloomery dedup --state . lines.txt
expect_error "with a --window of time" bloomery dedup --state new.bloom --window 1h lines.txt
[[ ! -e new.bloom ]] || fail "a file is left"
# Two at once wait for each other: nothing is lost.
seq 1 40000 >one; seq 30001 70000 >two
"$BLOOMERY" dedup --seed 1 -q --state both.bloom one >out1 & bloomery dedup -q --state both.bloom two >out2
wait $!
expect_equal "$(sort -n out1 out2 | cmp - <(seq 70000) && bloomery check -c both.bloom one two)" 80000

# A window of lines forgets: at least that many are remembered, and no more than a quarter over.
(echo again; seq 1000; echo again; seq 1001 3000; echo again) | bloomery dedup -q --window 1100 >out
expect_equal "$(grep -c again out)" 2

# Rows by a column, whole.
printf 'id,mail\n1,a\n2,b\n3,a\n' >m.csv
expect_equal "$(bloomery dedup -q --column mail m.csv)" "$(printf 'id,mail\n1,a\n2,b')"
expect_equal "$(bloomery dedup -q </dev/null)" ""

expect_error "with a --window of time" bloomery dedup --window 1h lines.txt
for window in 0 0s 1x 1.5z; do
  expect_error "--window takes a number of lines, such as 10M, or a time, such as 1h: '$window'" \
    bloomery dedup --window=$window lines.txt
done
bloomery build -q --kind fuse -o fixed.bloom $words
expect_error "fixed.bloom: a fuse filter cannot take more lines" bloomery dedup --state fixed.bloom lines.txt
