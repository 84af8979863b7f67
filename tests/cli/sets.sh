# Filters as sets: merge, intersect, fold, compare.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

n=$(wc -l <$words)
head -60000 $words >a
tail -n +40001 $words >b
sort -u a b >union
for kind in blocked split-block classic partitioned; do
  options="--kind $kind --keys $n --bytes 256K"
  bloomery build -q -o whole.bloom $options $words
  # N parts, built apart, merge to the file that one machine would have built.
  split -n l/5 $words part.
  for part in part.a?; do bloomery build -q -o $part.bloom $options $part; done
  bloomery merge -q -o merged.bloom part.a?.bloom
  cmp merged.bloom whole.bloom || fail "$kind: the merged file differs"
  # Folding and merging commute.
  bloomery fold -q -o small.bloom whole.bloom
  for part in part.a?; do bloomery fold -q --by 2 -o $part.folded $part.bloom; done
  bloomery merge -q -o merged.bloom part.a?.folded
  cmp merged.bloom small.bloom || fail "$kind: fold and merge do not commute"
  expect_equal "$(bloomery check -c small.bloom $words)" "$n"
  bloomery fold -q -o again.bloom small.bloom
  bloomery fold -q --by 4 -o four.bloom whole.bloom
  cmp again.bloom four.bloom || fail "$kind: folding twice is not folding by four"
  # The estimates are within 5 of their standard errors.
  bloomery build -q -o a.bloom $options a
  bloomery build -q -o b.bloom $options b
  bloomery compare --json a.bloom b.bloom >got
  for pair in "keys_a 60000" "keys_b $(wc -l <b)" "keys_union $(wc -l <union)" "keys_intersection 20000"; do
    set -- $pair
    expect_equal "$(json got "abs(d['$1'] - $2) < 5 * d['$1_standard_error']")" True
  done
  expect_equal "$(json got '0 < d["jaccard"] < 1 and d["shared_bits"] > 0')" True
  bloomery compare a.bloom b.bloom | grep -q "keys in both"
  bloomery intersect -q -o both.bloom a.bloom b.bloom
  tail -n +40001 a >shared
  expect_equal "$(bloomery check -c both.bloom shared)" 20000
  # The number of keys is what the parts have in common, and the rate that of the bits, in every
  # report: 5 standard errors, as above.
  expect_status 0 bloomery intersect --json -o both.bloom a.bloom b.bloom
  expect_equal "$(json out 'abs(d["keys"] - 20000)' | awk -v e="$(json got 'd["keys_intersection_standard_error"]')" '{print $1 < 5 * e}')" 1
  expect_equal "$(grep -o 'fpr .*' err)" "$(bloomery info both.bloom | sed -n 's/.*fpr *\(.*\) now.*/fpr \1/p')"
  bloomery info both.bloom | grep -q 'in common' || fail "$(bloomery info both.bloom)"
  rm -f part.*
done

# What differs is refused and named; nothing is written.
bloomery build -q -o seed.bloom --seed 1 --kind partitioned --keys $n --bytes 256K a
expect_error "a.bloom and seed.bloom: the filters cannot be combined: their seeds differ" \
  bloomery merge -o x.bloom a.bloom seed.bloom
bloomery build -q -o kind.bloom --keys $n a
expect_error "their kinds differ, partitioned and blocked" bloomery intersect -o x.bloom a.bloom kind.bloom
expect_error "divisor" bloomery fold --by 1000003 -o x.bloom a.bloom
# 104,334 keys at 1 % have 2,034 blocks, which is no multiple of 4; whoever wants to fold plans for
# it.
bloomery build -q -o odd.bloom $words
expect_error "2034, the number of blocks, such as 2, 3, 6, 9, 18, 113, 226 and 339" \
  bloomery fold --by 4 -o x.bloom odd.bloom
bloomery build -q --shards 4 -o even.bloom $words
bloomery fold -q --by 4 -o quarter.bloom even.bloom
expect_equal "$(bloomery check -c quarter.bloom $words)" "$n"
# Filters planned apart: the cure is named, also where each grew by itself.
head -1000 $words >few
for kind in blocked scalable counting; do
  bloomery build -q --kind $kind -o few.bloom few
  bloomery build -q --kind $kind -o many.bloom a
  expect_error "; build both with the same --keys and --fpr" bloomery merge -o x.bloom few.bloom many.bloom
done
for options in "--hash pairwise" "--update conservative" "--layout line"; do
  bloomery build -q --kind count-min --keys 1k -o few.bloom few
  bloomery build -q --kind count-min --keys 1k $options -o many.bloom few
  for verb in "merge -o x.bloom" compare; do
    expect_error "; build both with the same ${options%% *}" bloomery $verb few.bloom many.bloom
    ! grep -q -- --keys err || fail "$(cat err)"
  done
done
expect_error "missing" bloomery merge -o x.bloom a.bloom missing
[[ ! -e x.bloom ]] || fail "a file was left"
# Overlapping filters: the union has as many keys as planned, whatever the sum is.
bloomery build -q -o p.bloom --keys $n a
bloomery build -q -o q.bloom --keys $n $words
expect_status 0 bloomery merge -o pq.bloom p.bloom q.bloom
! grep -q warning err || fail "a false alarm: $(cat err)"
# fold says once what became of the rate.
expect_status 0 bloomery fold -o small.bloom q.bloom
expect_equal "$(grep -c warning err)" 1
# One input alone replaces another filter by a copy, which is said.
bloomery merge -q -o copy.bloom p.bloom
expect_status 0 bloomery merge -o copy.bloom q.bloom
grep -q "'merge -o copy.bloom copy.bloom q.bloom' has both" err || fail "a copy: $(cat err)"
cmp copy.bloom q.bloom
expect_status 0 bloomery merge -o copy.bloom q.bloom p.bloom
! grep -q "becomes a copy" err || fail "two inputs: $(cat err)"
bloomery merge -q -o copy.bloom q.bloom
bloomery merge -q -o copy.bloom ./copy.bloom
bloomery merge -q -o copy.bloom copy.bloom p.bloom
cmp copy.bloom pq.bloom
rm copy.bloom
# A merge that is fuller than planned warns, and the rate is the truth.
bloomery build -q -o p.bloom --keys 50000 --kind blocked --seed 2 a
bloomery build -q -o q.bloom --keys 50000 --kind blocked --seed 2 b
expect_status 0 bloomery merge -o pq.bloom p.bloom q.bloom
grep -q 'warning: the fpr of pq.bloom is' err || fail "no warning: $(cat err)"

# Numbers for people have commas.
bloomery compare p.bloom q.bloom | grep -qE '^  keys in A +(59|60),[0-9]{3} \+- [0-9]+$' || fail "no commas: $(bloomery compare p.bloom q.bloom)"
