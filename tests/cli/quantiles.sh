# Quantiles and range counts of numbers, against awk and sort.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A file of numbers of every form, some of them several times.
awk 'BEGIN { srand(7); for (i = 0; i < 20000; ++i) printf "%.3f\n", (rand() - 0.3) * exp(8 * rand()) }' >numbers
seq 5000 >>numbers
sort -g numbers >sorted
rank() { sed -n "$1p" sorted | awk '{ print $1 + 0 }'; }

bloomery quantiles numbers >out 2>err
[[ ! -s err ]] || fail "not exact: $(cat err)"
expect_equal "$(cut -f1 out | paste -sd' ')" "min p50 p90 p99 max"
expect_equal "$(cut -f2 out | awk '{ print $1 + 0 }' | paste -sd' ')" \
  "$(rank 1) $(rank 12500) $(rank 22500) $(rank 24750) $(rank 25000)"
expect_equal "$(bloomery quantiles --at 50%,0.5,p50 <numbers | cut -f2 | sort -u | wc -l)" 1
expect_equal "$(seq 100 | bloomery quantiles --at p7,0.29,57%,p99.9 | cut -f2 | paste -sd' ')" "7 29 57 100"
for range in 10..20 -5..5.5 100.. ..-3 7..7 1e3..2e3; do
  expected=$(awk -v r=$range 'BEGIN { split(r, e, /\.\./); low = e[1] == "" ? -1e99 : e[1] + 0; high = e[2] == "" ? 1e99 : e[2] + 0 }
    $1 + 0 >= low && $1 + 0 <= high { ++n } END { print n + 0 }' numbers)
  expect_equal "$(bloomery quantiles --range=$range numbers)" "$range$(printf '\t')$expected"
done
bloomery quantiles --json --at p90 --range 1..2 --range ..0 numbers >json
expect_equal "$(json json '(d["numbers"], d["exact"], d["rank_error"], len(d["quantiles"]), d["quantiles"][0]["share"], len(d["ranges"]))')" \
  "(25000, True, 0.0, 1, 0.9, 2)"

# A CR before the end of a line is a blank like others, and no reason to warn.
sed 's/$/\r/' numbers >dos
bloomery quantiles dos 2>err | cmp - <(bloomery quantiles numbers)
[[ ! -s err ]] || fail "$(cat err)"
# Numbers are doubles, as the manual says.
expect_equal "$(echo 9007199254740992 | bloomery quantiles --at max)" $'max\t9007199254740992'
expect_equal "$(echo 9007199254740993 | bloomery quantiles --at max)" $'max\t9007199254740992'

# Columns, fields, blanks and signs are read; what is no number is named and left out.
printf 'ms,path\n12.5,a\n+7,b\n -3 ,c\n' >table
expect_equal "$(bloomery quantiles --column ms --at min,p50,max table | cut -f2 | paste -sd' ')" "-3 7 12.5"
expect_equal "$(printf '{"t":1}\n{"t":2.5e1}\n{"t":"3"}\n' | bloomery quantiles --json-key t --at p50,max | cut -f2 | paste -sd' ')" "3 25"
printf '1\nmuch\n2\nnan\n0x3\ninf\n1e999\n3 4\n' >bad
expect_status 0 bloomery quantiles --at max bad
expect_equal "$(cat out)" "max$(printf '\t')2"
expect_equal "$(head -1 err)" "bloomery: bad:2: not a number; left out"
grep -q '^bloomery: 6 bad records of 8 were left out' err || fail "$(cat err)"
expect_error "bad:2: not a number" bloomery quantiles --strict bad
expect_status 1 bloomery quantiles /dev/null
[[ ! -s out ]] || fail "quantiles of nothing: $(cat out)"

for at in p101 50 -1 px "" 1.5 p50,, p-1; do
  [[ -z $at ]] || expect_error "is no quantile; write it like p99, 99% or 0.99" bloomery quantiles --at=$at numbers
done
for range in 5 a..b 1..2..3 ..x; do expect_error "is no range; write it like" bloomery quantiles --range $range numbers; done
expect_error "ends before it begins" bloomery quantiles --range 2..1 numbers
expect_error "epsilon" bloomery quantiles --epsilon 0 numbers

# More different numbers than are kept: the bound holds, and a line says what it is.
seq 1200000 | awk '{ printf "%.3f\n", $1 * 7919 % 1200007 / 8 }' >many
bloomery quantiles --epsilon 1% --at min,p10,p50,p99,max many >out 2>err
grep -q '^bloomery: 1,200,000 numbers, too many .* 12,000 ranks too low' err || fail "$(cat err)"
awk 'BEGIN { want["p10"] = 120000; want["p50"] = 600000; want["p99"] = 1188000 }
  $1 in want { rank = $2 * 8; if (rank > want[$1] + 2 || rank < want[$1] - 12000 - 10) exit 1 }' out || fail "out of bounds: $(cat out)"
expect_equal "$(bloomery quantiles -q --epsilon 1% --range 0.. many)" "0..$(printf '\t')1200000"
count=$(bloomery quantiles -q --epsilon 1% --range 1000..2000 many | cut -f2)
((count >= 8000 && count <= 8001 + 12000)) || fail "$count in the range"

# A t-digest: a few kilobytes instead of all numbers. Ranks within the weight of a centroid of
# compression 200.
bloomery quantiles --digest 200 --at min,p1,p50,p99,max numbers >out 2>err
[[ ! -s err ]] || fail "$(cat err)"
expect_equal "$(sed -n 1p out | cut -f2 | awk '{ print $1 + 0 }')" "$(rank 1)"
expect_equal "$(sed -n 5p out | cut -f2 | awk '{ print $1 + 0 }')" "$(rank 25000)"
place() { sort -g <(cat sorted) <(echo "$1") | awk -v x="$1" '$1 + 0 >= x + 0 && !found { found = NR } END { print found }'; }
for q in 2:250:25 3:12500:650 4:24750:25; do
  IFS=: read -r line at most <<<"$q"
  found=$(place "$(sed -n "${line}p" out | cut -f2)")
  ((found >= at - most && found <= at + most)) || fail "rank $found instead of $at"
done
expect_equal "$(seq 100 | bloomery quantiles --digest 100 --range 10..19 --range 100..)" "$(printf '10..19\t10\n100..\t1')"
expect_equal "$(seq 9 | bloomery quantiles --digest 100 --json >json; json json '("rank_error" in d, d["numbers"], d["exact"])')" "(False, 9, False)"
expect_error "from 1 to 100000" bloomery quantiles --digest 0 numbers
