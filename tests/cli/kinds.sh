# Every kind from the shell: built from a file and from a pipe, with any number of threads, asked,
# changed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq -f 'present %.0f' 30000 >in
seq -f 'absent %.0f' 100000 >other
for kind in blocked split-block classic partitioned counting cuckoo scalable layered windowed fuse ribbon count-min spectral; do
  bloomery build -q --kind $kind --threads 1 -o $kind.bloom in
  bloomery build -q --kind $kind --threads 4 -o again.bloom in
  cmp -s $kind.bloom again.bloom || fail "$kind depends on the number of threads"
  expect_equal "$(bloomery check -c $kind.bloom in)" 30000
  passed=$(bloomery check -c $kind.bloom other)
  # 1 % and four standard deviations
  ((passed <= 1126)) || fail "$kind: $passed of 100,000 others passed"
  bloomery verify -q $kind.bloom
  bloomery info --json $kind.bloom >info
  expect_equal "$(json info 'd["kind"]')" $kind
  expect_equal "$(json info 'd["keys"]')" 30000
  expect_equal "$(json info 'd["bits"] == (d["bytes"] - 256) // 8 * 64 - 64 * ((d["bits"] + 8388607) // 8388608)')" True
  bloomery pack -q -o packed $kind.bloom
  bloomery unpack -q -o unpacked packed
  cmp -s $kind.bloom unpacked || fail "$kind changes when packed"
done
# From a pipe: the same size, but for a filter that grows.
for kind in counting cuckoo windowed fuse ribbon count-min spectral; do
  bloomery build -q --kind $kind -o piped.bloom <in
  cmp -s $kind.bloom piped.bloom || fail "$kind from a pipe differs"
done
for kind in scalable layered; do
  bloomery build -q --kind $kind -o piped.bloom <in
  expect_equal "$(bloomery check -c piped.bloom in)" 30000
done

# Static filters larger than the memory that they may take are built shard by shard, to the same
# bytes.
for kind in fuse ribbon; do
  bloomery build -q --kind $kind --memory 100K -o small.bloom in
  cmp -s $kind.bloom small.bloom || fail "$kind in shards differs"
  expect_error "cannot be added to" bloomery add $kind.bloom other
done

# Growth: from 100 keys to 30,000 at the same rate, in lines that double and in few layers;
# compacted to the size that was right.
bloomery build -q --kind scalable --keys 100 -o grown.bloom in
expect_equal "$(bloomery check -c grown.bloom in)" 30000
passed=$(bloomery check -c grown.bloom other)
((passed <= 1126)) || fail "$passed of 100,000 others passed the filter that doubled"
bloomery info --json grown.bloom >info
expect_equal "$(json info 'd["doublings"]')" 7
# 2 to 4 times the 10 bits of the filter that knew its keys
expect_equal "$(json info '19 * 30000 < d["bits"] < 40 * 30000')" True
# Two that were planned alike and have grown apart become one.
bloomery build -q --kind scalable --keys 100 -o more.bloom other
bloomery merge -q -o both.bloom grown.bloom more.bloom
expect_equal "$(bloomery check -c both.bloom in other)" 130000
bloomery build -q --kind scalable --keys 5000 -o unlike.bloom in
expect_error "grown.bloom and unlike.bloom: the filters were not planned alike" bloomery merge -q -o x.bloom grown.bloom unlike.bloom
[ ! -e x.bloom ] || fail "a refused union left a file"
# Every rate from 10 % on has its cells; others are refused.
for fpr in 10% 5% 0.1% 0.01% 0.001%; do
  bloomery build -q --kind scalable --fpr $fpr --keys 100 -o rate.bloom in
  expect_equal "$(bloomery check -c rate.bloom in)" 30000
  expect_equal "$(bloomery info --json rate.bloom | json /dev/stdin 'd["fpr_now"] <= d["fpr_target"]')" True
done
expect_error "from 1e-07 to 0.1, not 0.2; a layered filter" bloomery build -q --kind scalable --fpr 20% -o x.bloom in
expect_error "an fpr alone" bloomery build -q --kind scalable --bytes 1M -o x.bloom in
expect_error "--growth is for filters of kind layered" bloomery build -q --kind scalable --growth 2 -o x.bloom in
bloomery compact -q -o one.bloom grown.bloom in
expect_equal "$(bloomery check -c one.bloom in)" 30000
# Fewer keys lack than the filter took for known ones, and as many others are read twice.
head -29995 in >lacking
head -20 in >>lacking
expect_error "that grown.bloom holds: it must have all of them" \
  bloomery compact -o x.bloom grown.bloom lacking
bloomery build -q --kind layered --growth 2 --keys 1000 -o grown.bloom in
expect_equal "$(bloomery check -c grown.bloom in)" 30000
passed=$(bloomery check -c grown.bloom other)
((passed <= 1126)) || fail "$passed of 100,000 others passed the grown filter"
bloomery info --json grown.bloom >info
expect_equal "$(json info '4 < d["layers"] < 8')" True
bloomery compact -q -o one.bloom grown.bloom in
expect_equal "$(bloomery check -c one.bloom in)" 30000
passed=$(bloomery check -c one.bloom other)
((passed <= 1126)) || fail "$passed of 100,000 others passed the compacted filter"
(($(stat -c %s one.bloom) * 18 < $(stat -c %s grown.bloom) * 10)) || fail "compacting saved too little"
expect_error "the input lacks at least" bloomery compact -o x.bloom grown.bloom lacking
head -1000 in >few
expect_error "must have all" bloomery compact -o x.bloom grown.bloom few
expect_error "does not contain" bloomery compact -o x.bloom grown.bloom other
expect_error "only filters that grow" bloomery compact -o x.bloom blocked.bloom in
[ ! -e x.bloom ] || fail "a refused compaction left a file"

# Removal: half of the keys go, the others stay, and the rate falls to theirs.
head -15000 in >half
tail -15000 in >rest
for kind in counting cuckoo count-min spectral; do
  bloomery remove -q $kind.bloom half
  expect_equal "$(bloomery check -c $kind.bloom rest)" 15000
  bloomery info --json $kind.bloom >info
  expect_equal "$(json info 'd["keys"]')" 15000
  passed=$(bloomery check -c $kind.bloom half || true)
  ((passed <= 500)) || fail "$kind: $passed of the removed keys are still there"
done
before=$(sha256sum counting.bloom)
status=0
bloomery remove -q counting.bloom other >out 2>err || status=$?
((status == 0 || status == 1)) || fail "removing others exits with $status"
expect_error "have keys removed" bloomery remove blocked.bloom half
expect_error "have keys removed" bloomery remove fuse.bloom half
expect_error "fuse.bloom: a fuse filter cannot have keys removed" bloomery remove fuse.bloom /dev/null

# Merging counters: three times, twice plus once.
printf 'a\na\nb\n' | bloomery build -q --kind counting --keys 100 -o x.bloom
printf 'a\nc\n' | bloomery build -q --kind counting --keys 100 -o y.bloom
bloomery merge -q -o z.bloom x.bloom y.bloom
expect_equal "$(printf 'a\nb\nc\nd\n' | bloomery count z.bloom | tr '\t\n' ' ,')" "a 3,b 1,c 1,d 0,"
expect_error "cannot be intersected" bloomery intersect -o q.bloom x.bloom y.bloom
expect_error "cannot be folded" bloomery fold -o q.bloom x.bloom
expect_error "has no bits to compare" bloomery compare x.bloom y.bloom
expect_error "cannot be combined" bloomery merge -o q.bloom cuckoo.bloom cuckoo.bloom

# Forgetting: by keys, and by time.
bloomery build -q --kind windowed --keys 1000 --fpr 1e-6 -o last.bloom in
expect_equal "$(tail -1000 in | bloomery check -c last.bloom)" 1000
expect_equal "$(head -28000 in | bloomery check -c last.bloom || true)" 0
echo now | bloomery build -q --kind windowed --window 2s --generations 2 --keys 1000 --fpr 1e-6 -o second.bloom
expect_equal "$(echo now | bloomery check -c second.bloom)" 1
sleep 4
expect_equal "$(echo now | bloomery check -c second.bloom || true)" 0
echo later | bloomery add -q second.bloom
expect_equal "$(printf 'now\nlater\n' | bloomery check second.bloom)" later

# Options that mean nothing to the kind are mistakes.
# Keys that come all at once are remembered for less than a second, unless the machine is very slow.
seq 5000 | bloomery build --kind windowed --window 1h --keys 10 -o all.bloom 2>err
covers='it covers only \(less than a second\|the last [1-9][0-9]* s\)'
grep -q "of its window of 1 h $covers$" err || fail "$(cat err)"
bloomery info all.bloom | grep -q "^  window    1 h, but $covers: keys came faster" || fail "$(bloomery info all.bloom)"
expect_error "--window is for filters of kind windowed" bloomery build -o x.bloom --window 1h in
expect_error "--bucket is for" bloomery build -o x.bloom --kind fuse --bucket 2 in
expect_error "map build" bloomery build -o x.bloom --kind bloomier in
expect_error "must be one of plain" bloomery build -o x.bloom --kind count-min --update recurring in
expect_error "span of time" bloomery build -o x.bloom --kind windowed --keys 5 --window soon in
expect_error "with --window, say with --keys how many keys may come in that time" bloomery build -o x.bloom --kind windowed --window 1h in
bloomery build -q --kind cuckoo --bucket 2 --cell-bits 12 -o c.bloom in
expect_equal "$(bloomery check -c c.bloom in)" 30000
bloomery build -q --kind counting --layout classic --cell-bits 8 -o c.bloom in
expect_equal "$(bloomery check -c c.bloom in)" 30000
bloomery build -q --kind spectral --update recurring -o c.bloom in
expect_equal "$(bloomery check -c c.bloom in)" 30000

# A file that says another kind than it holds, or is cut, is refused.
for kind in scalable layered cuckoo windowed fuse ribbon; do
  head -c 1000 $kind.bloom >cut
  expect_error "damaged" bloomery check cut in
done

# ---- the table of kinds in README.md has the planner's sizes -------------------------------------

for fpr in 1 0.1 0.01; do bloomery plan --keys 1G --fpr $fpr% --json >plan.$fpr; done
/usr/bin/python3 - "$project/README.md" <<'END' || fail "README.md: the table of kinds is old"
import json, re, sys
plans = [{row["kind"]: row["bits_per_key"] for row in json.load(open("plan." + fpr))["rows"]} for fpr in ("1", "0.1", "0.01")]
table = re.findall(r"^\| `([\w-]+)`[^|]*\| ([\d.]+) / ([\d.]+) / ([\d.]+) \|", open(sys.argv[1]).read(), re.MULTILINE)
assert len(table) >= 9, table
for kind, *numbers in table:
    for number, plan in zip(numbers, plans):
        last_digit = 10.0 ** -len(number.partition(".")[2])
        assert abs(float(number) - plan[kind]) <= last_digit, (kind, number, plan[kind])
END
