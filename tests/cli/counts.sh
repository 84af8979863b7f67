# Counts, heavy keys and values.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A stream in which key i comes 1000/i times.
python3 - <<'P' >stream
import random
keys = [f"key {i}" for i in range(1, 1001) for _ in range(1000 // i)]
random.Random(1).shuffle(keys)
print("\n".join(keys))
P
sort stream | uniq -c | sort -k1,1nr -k2 | awk '{print $2" "$3"\t"$1}' >exact

# The ten largest, as sort and uniq have them.
bloomery top -k 10 -o top.bloom stream >top
expect_equal "$(cut -f1 top | sort)" "$(head -10 exact | cut -f1 | sort)"
expect_equal "$(head -1 top)" "$(printf 'key 1\t1000')"
expect_equal "$(bloomery top -k 10 --threads 1 stream)" "$(cat top)"
expect_equal "$(bloomery top --json -k 3 stream | python3 -c 'import json,sys; print(json.load(sys.stdin)["top"][0]["key"])')" "key 1"
expect_equal "$(echo 'key 1' | bloomery count top.bloom)" "$(printf 'key 1\t1000')"
expect_equal "$(bloomery info --json top.bloom | python3 -c 'import json,sys; print(json.load(sys.stdin)["kind"])')" top-k
bloomery verify -q top.bloom
# A sorted list, at the defaults: the order in which a sketch of kilobytes forgets most.
cut -c1-3 $words | bloomery top | sort >got
cut -c1-3 $words | sort | uniq -c | sort -k1,1nr | awk 'NR <= 10 {print $2"\t"$1}' | sort >want
cmp got want || fail "not the ten most frequent: $(diff got want)"
# More keys than there is room for: every count within its bounds, and who is certain is right.
python3 - <<'P' >flat
import random
keys = [*range(400000), *range(0, 200000, 3), *(f"heavy {i}" for i in range(1, 6) for _ in range(50 * i))]
random.Random(1).shuffle(keys)
print(*keys, sep="\n")
P
expect_status 0 bloomery top -k 7 flat
expect_equal "$(head -5 out)" "$(for i in 5 4 3 2 1; do printf 'heavy %d\t%d\n' $i $((i * 50)); done)"
grep -q '^bloomery: 5 of these 7 ranks are certain' err || fail "$(cat err)"
tail -2 out | awk -F'\t' '$3 < 1 || $2 - $3 > 2 {exit 1}' || fail "no bounds: $(cat out)"
expect_equal "$(bloomery top -k 7 --json flat | python3 -c 'import json,sys; print([(r["count"], r["error"], r["certain"]) for r in json.load(sys.stdin)["top"]][3:5])')" \
  "[(100, 0, True), (50, 0, True)]"
expect_status 0 bloomery top -q -k 7 flat
[[ ! -s err ]] || fail "not quiet: $(cat err)"
# A line longer than any name is a key like others.
{ head -c 300000 /dev/zero | tr '\0' x; echo; echo y; echo y; } | bloomery top >long
expect_equal "$(head -1 long) $(wc -l <long)" "$(printf 'y\t2 2')"
# Fewer different keys than asked for: exactly what uniq says.
expect_equal "$(printf 'a\nb\na\n' | bloomery top -k 5)" "$(printf 'a\t2\nb\t1')"
status=0; bloomery top </dev/null >out || status=$?
expect_equal $status 1
expect_equal "$(cat out)" ""

# Counts are never too low, and exact where there is room.
cut -f1 exact >keys
for kind in counting count-min spectral cuckoo; do
  options=
  [ $kind = counting ] && options="--cell-bits 16"
  # A cuckoo filter holds each copy by itself, 256 at most.
  [ $kind = cuckoo ] && awk 'seen[$0]++ < 200' stream >limited || cp stream limited
  bloomery build -q --kind $kind $options --fpr 1e-4 -o c.bloom limited
  bloomery count c.bloom keys >got
  paste got exact | awk -F'\t' -v most=$([ $kind = cuckoo ] && echo 200 || echo 9999) \
    '$2 < ($4 < most ? $4 : most) {print; bad = 1} END {exit bad}' || fail "$kind counts too low"
  expect_equal "$(echo nothing | bloomery count c.bloom || true)" "$(printf 'nothing\t0')"
done
expect_error "copies of one key already; add each key once" bloomery build --kind cuckoo --fpr 1e-4 -o x.bloom stream
# More than 16 bits hold: counters have 32 by default. Smaller ones say "at least" when they are
# full.
awk 'BEGIN {for (i = 0; i < 70000; ++i) print "often"; print "once"}' >many
for kind in count-min spectral; do
  bloomery build -q --kind $kind -o c.bloom --keys 100 many
  expect_equal "$(echo often | bloomery count c.bloom)" "$(printf 'often\t70000')"
  expect_equal "$(bloomery info --json c.bloom | python3 -c 'import json,sys; print(json.load(sys.stdin)["saturated"])')" 0
done
for options in "count-min --cell-bits 16 65535" "spectral --cell-bits 16 65535" "counting --cell-bits 4 15"; do
  set -- $options
  bloomery build -q --kind $1 $2 $3 -o c.bloom --keys 100 --fpr 1e-4 many
  expect_status 0 bloomery count c.bloom <(printf 'often\nonce\n')
  expect_equal "$(cat out)" "$(printf 'often\t%d\tat least\nonce\t1' $4)"
  grep -q "c.bloom end at .*: 1 count is at least that" err || fail "$(cat err)"
  expect_equal "$(echo often | bloomery count --json c.bloom | python3 -c 'import json,sys; print(json.load(sys.stdin)["saturated"])')" 1
  bloomery info c.bloom | grep -q 'saturated [1-9][0-9]* counters: counts' || fail "$(bloomery info c.bloom)"
done
# The chance of that for different keys: the union bound over m counters of 4 bits, here with the
# Binomial tail from 15 on summed in Python.
seq 2000 | bloomery build -q --kind counting --layout classic -o c.bloom
bloomery info --json c.bloom >info
expect_equal "$(/usr/bin/python3 - info <<'P'
import json, math, sys
d = json.load(open(sys.argv[1]))
m, n, k = d["bits"] // 4, min(d["keys"], d["keys_estimated"]), d["probes"]
p = 1 - (1 - 1 / m) ** k
tail = sum(math.comb(n, j) * p ** j * (1 - p) ** (n - j) for j in range(15, 60))
print(abs(d["overflow_bound"] / (m * tail) - 1) < 1e-3, d["overflow_bound"] < 1.37e-15 * 16 ** 2 * m)
P
)" "True True"
# Sized by a guarantee: no count is further off than the promise allows, and info has it.
bloomery build -q --kind count-min --epsilon 1% --delta 1% -o e.bloom stream
expect_equal "$(bloomery info --json e.bloom | python3 -c 'import json,sys; d=json.load(sys.stdin); print(0 < d["epsilon"] <= 0.01, 0 < d["delta"] <= 0.01)')" "True True"
bloomery info e.bloom | grep -q 'counts *too high by more than .* of the total in at most .* of all cases' || fail "$(bloomery info e.bloom)"
bloomery count e.bloom keys | paste - exact | awk -F'\t' -v n="$(wc -l <stream)" \
  '$2 < $4 {exit 1} $2 > $4 + 0.01 * n {++far} END {exit far > 0.01 * NR}' || fail "the guarantee is not kept"
expect_error "for filters of kind count-min" bloomery build --epsilon 1% -o x.bloom stream
expect_error "--epsilon" bloomery build --kind count-min --delta 1% -o x.bloom stream
expect_error "epsilon" bloomery build --kind count-min --epsilon 1% --fpr 1% -o x.bloom stream
# The rows of a pairwise independent family: chosen by the seed, kept in the file.
for seed in 1 2; do bloomery build -q --kind count-min --epsilon 1% --hash pairwise --seed $seed -o p$seed.bloom stream; done
expect_equal "$(bloomery info --json p1.bloom | python3 -c 'import json,sys; print(json.load(sys.stdin)["rows"])')" pairwise
bloomery count p1.bloom keys | paste - exact | awk -F'\t' '$2 < $4 {exit 1}' || fail "pairwise rows count too low"
expect_error "seeds differ" bloomery merge -o x.bloom p1.bloom p2.bloom
expect_error "for filters of kind count-min" bloomery build --hash pairwise -o x.bloom stream
# The counters of a key in one line: the same guarantee in more memory.
for update in plain conservative; do
  bloomery build -q --kind count-min --layout line --update $update --epsilon 1% --delta 5% -o l$update.bloom stream
  bloomery count l$update.bloom keys | paste - exact | awk -F'\t' -v n="$(wc -l <stream)" \
    '$2 < $4 {exit 1} $2 > $4 + 0.01 * n {++far} END {exit far > 0.05 * NR}' || fail "the guarantee is not kept in lines"
done
bloomery info --json lplain.bloom >got
expect_equal "$(json got "d['rows'], d['epsilon'] <= 0.01, d['delta'] <= 0.05")" "('in one line', True, True)"
bloomery info lplain.bloom | grep -q 'rows *in one line' || fail "$(bloomery info lplain.bloom)"
bloomery merge -q -o twice.bloom lplain.bloom lplain.bloom
expect_equal "$(echo 'key 1' | bloomery count twice.bloom | cut -f2)" \
  "$((2 * $(echo 'key 1' | bloomery count lplain.bloom | cut -f2)))"
expect_error "cannot be combined: their layouts differ" bloomery merge -o x.bloom lplain.bloom lconservative.bloom
expect_error "have no inner product" bloomery compare lplain.bloom lplain.bloom
expect_error "a line has room for 8 of counters of 32 bits" \
  bloomery build --kind count-min --layout line --epsilon 1% --delta 1e-4 -o x.bloom stream
expect_error "cannot be pairwise" bloomery build --kind count-min --layout line --hash pairwise -o x.bloom stream
# The inner product of two streams: the sum of products of the exact counts, and the promise above
# it.
head -3000 stream >half
bloomery build -q --kind count-min --epsilon 1% -o h.bloom half
bloomery compare --json e.bloom h.bloom >got
truth=$(sort half | uniq -c | awk 'NR == FNR {split($0, part, "\t"); n[part[1]] = part[2]; next}
  {c = $1; sub(/^ *[0-9]+ /, ""); sum += c * n[$0]} END {print sum}' exact -)
expect_equal "$(json got "$truth <= d['inner_product'] <= $truth + d['inner_product_error']")" True
bloomery compare e.bloom h.bloom | grep -q 'inner product' || fail "no inner product"
bloomery build -q --kind count-min --epsilon 1% --update conservative -o k.bloom half
expect_error "no inner product" bloomery compare k.bloom k.bloom
for update in plain conservative; do
  bloomery build -q --kind count-min --update $update --keys 300 --fpr 10% -o $update.bloom stream
  bloomery count $update.bloom keys | cut -f2 >$update
done
paste plain conservative | awk '$1 < $2 {exit 1} {a += $1; b += $2} END {exit b >= a}' || fail "conservative update is not better"
bloomery build -q -o plain.bloom keys
expect_error "cannot count" bloomery count plain.bloom keys

# Values.
awk '{print "name " NR "\t" NR * 7}' keys >pairs
bloomery map build -q -o m.bloom pairs
cut -f1 pairs | bloomery map get m.bloom >got
cmp -s got pairs || fail "the map has other values"
seq 100000 >absent
found=$(bloomery map get m.bloom absent | wc -l || true)
# 1 % and four standard deviations
((found <= 1126)) || fail "$found of 100,000 absent keys have a value"
echo $'name 5\t1' | bloomery map set -q m.bloom
expect_equal "$(echo 'name 5' | bloomery map get m.bloom)" $'name 5\t1'
expect_equal "$(cut -f1 pairs | bloomery map get m.bloom | diff - pairs | grep -c '^[<>]')" 2
expect_error "below 2^13" bloomery map set m.bloom <(echo $'name 5\t99999999')
expect_error "is no key, tab and value" bloomery map build -o x.bloom <(echo no value)
expect_error "values" bloomery map build -o x.bloom <(printf 'a\t1\na\t2\n')
expect_error "plain.bloom: a blocked filter has no values" bloomery map get plain.bloom keys
[ ! -e x.bloom ] || fail "a refused map left a file"
printf 'big\t18446744073709551615\n' | bloomery map build -q -o big.bloom
expect_equal "$(echo big | bloomery map get big.bloom)" $'big\t18446744073709551615'

# Counters can be as large as a number can be. A sum of counts stays there, too.
echo often | bloomery build -q --kind count-min --cell-bits 64 --epsilon 10% -o often.bloom
echo once | bloomery build -q --kind count-min --cell-bits 64 --epsilon 10% -o once.bloom
for i in $(seq 64); do bloomery merge -q -o often.bloom often.bloom often.bloom; done
bloomery merge -q -o both.bloom often.bloom once.bloom
expect_equal "$(printf 'often\nonce\n' | bloomery count -q both.bloom)" $'often\t18446744073709551615\tat least\nonce\t1'
printf 'often\nonce\n' | bloomery count --json both.bloom >got
expect_equal "$(json got 'd["sum"], d["saturated"]')" "(18446744073709551615, 1)"
bloomery info --json both.bloom >got
expect_equal "$(json got 'd["total"]')" 18446744073709551615

# Empty lines are left out by verbs that read, too, and they say so.
printf 'a\n\nb\n\n' >gaps
bloomery build -q --kind count-min -o gaps.bloom gaps
for verb in top "count gaps.bloom"; do
  bloomery $verb gaps >got 2>err
  expect_equal "$(wc -l <got)" 2
  grep -q "2 empty lines were left out; with --keep-empty" err || fail "$verb says: $(cat err)"
  bloomery $verb --keep-empty gaps >got 2>err
  [ ! -s err ] || fail "$verb says: $(cat err)"
  expect_equal "$(bloomery $verb -q gaps 2>&1 | wc -l)" 2
done

# A list that was saved is printed as it was.
awk 'BEGIN {for (i = 1; i <= 20; ++i) for (j = 0; j < i; ++j) printf "word%02d\n", i}' >stream20
bloomery top -k 5 -o saved.top stream20 >direct
bloomery top saved.top | cmp - direct
expect_equal "$(bloomery top -k 2 --json saved.top | json /dev/stdin "[(e['key'], e['count']) for e in d['top']], d['keys']")" "([('word20', 20), ('word19', 19)], 210)"
expect_error "is such a sketch already" bloomery top -o again.top saved.top
seq 100 | bloomery build -q --kind top-k --integers --keys 100 -o numbers.top
expect_error "give --integers" bloomery top numbers.top
expect_status 0 bloomery top --integers numbers.top
expect_error "is a filter, not a list of keys" bloomery top c.bloom
