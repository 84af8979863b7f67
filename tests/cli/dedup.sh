# dedup prints what awk '!seen[$0]++' does, in the order of the input, and goes on where it stopped.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

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
bloomery dedup -q --json lines.txt >out
expect_equal "$(json out 'd["lines"] - d["printed"] - d["dropped"]')" 0
expect_equal "$(json out 'd["expected_lost"] < 0.2')" True

# In two parts, with the filter kept in between.
head -70000 lines.txt | bloomery dedup -q --save seen.bloom >out
tail -n +70001 lines.txt | bloomery dedup -q --resume seen.bloom --save seen.bloom >>out
cmp expected out
expect_equal "$(bloomery check -v seen.bloom lines.txt | wc -l)" 0

# A high rate loses lines, and says how many.
bloomery dedup --keys 100k --fpr 10% --json -q $words >out
expect_equal "$(json out '0.5 < d["expected_lost"] / d["dropped"] < 2')" True
bloomery dedup --keys 1000 $words >out 2>err
grep -q "warning: .* different lines, but --keys was 1,000" err || fail "no warning: $(cat err)"

# A window of lines forgets: at least that many are remembered, and no more than a quarter over.
(echo again; seq 1000; echo again; seq 1001 3000; echo again) | bloomery dedup -q --window 1100 >out
expect_equal "$(grep -c again out)" 2

# Rows by a column, whole.
printf 'id,mail\n1,a\n2,b\n3,a\n' >m.csv
expect_equal "$(bloomery dedup -q --column mail m.csv)" "$(printf 'id,mail\n1,a\n2,b')"
expect_equal "$(bloomery dedup -q </dev/null)" ""

expect_error "--resume goes on with a filter as it is" bloomery dedup --resume seen.bloom --keys 5 lines.txt
expect_error "with a --window of time" bloomery dedup --window 1h lines.txt
bloomery build -q --kind fuse -o fixed.bloom $words
expect_error "fixed.bloom: a fuse filter cannot take more lines" bloomery dedup --resume fixed.bloom lines.txt
expect_error "nowhere" bloomery dedup --save nowhere/x lines.txt
