# A filter is sized for the different keys of its input, however often they are repeated, and says
# both numbers.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

n=$(wc -l <$words)
field() { json info "d[\"$1\"]"; }
build() { bloomery build --json "$@" >info 2>err; }

# A list three times over is planned like the list: for what its four standard errors of 1.04 / 256
# allow, 1.6 % more.
cat $words $words $words >thrice
build -o once.bloom $words
expect_equal "$(field keys_planned)" "$n"
expect_equal "$(grep -c different err || true)" 0
build -o f.bloom thrice
expect_equal "$(field keys)" $((3 * n))
planned=$(field keys_planned)
((planned >= n && planned <= n * 1034 / 1000)) || fail "planned for $planned, not for $n"
said=$(sed -n 's/.* filter of 313,002 keys (about \([0-9,]*\) different), .*/\1/p' err | tr -d ,)
((said >= n * 983 / 1000 && said <= n * 1017 / 1000)) || fail "$(cat err)"
(($(stat -c %s f.bloom) <= $(stat -c %s once.bloom) * 104 / 100)) || fail "too large"
seq -f 'no word %.0f' 200000 >others # 5 standard errors of 200,000 queries are 0.11 %
(($(bloomery check -c f.bloom others) <= 2220)) || fail "the rate does not hold"
expect_equal "$(bloomery check -c f.bloom $words)" "$n"

# A file, a pipe, any number of threads, and no room for the hashes: the same bytes.
for options in "--threads 1" "--threads 7" "--memory 300K"; do
  bloomery build -q $options -o same.bloom thrice
  cmp f.bloom same.bloom || fail "other bytes with $options"
  bloomery build -q $options -o same.bloom < <(cat thrice)
  cmp f.bloom same.bloom || fail "other bytes with $options from a pipe"
done

# Few different keys are counted exactly: 3,048 in two million lines are no 77 MB.
awk 'BEGIN { for (i = 0; i < 2000000; ++i) print "key " (i * 7919) % 3048 }' >repeated
for kind in count-min spectral counting classic layered; do
  build --kind $kind -o few.bloom repeated
  expect_equal "$kind $(field keys_planned)" "$kind 3048"
  grep -q '2,000,000 keys (3,048 different)' err || fail "$(cat err)"
  (($(stat -c %s few.bloom) < 500000)) || fail "$kind has $(stat -c %s few.bloom) bytes"
done
build --kind count-min -o few.bloom < <(cat repeated)
expect_equal "$(field keys_planned)" 3048
bloomery build -q --kind count-min --cell-bits 32 --fpr 1e-4 -o few.bloom repeated
sort repeated | uniq -c | awk '{ print $2 " " $3 "\t" $1 }' | sed -n 1,200p >exact
expect_equal "$(cut -f1 exact | bloomery count few.bloom | diff - exact | wc -l)" 0
# All different: exactly as many as there are, in long lists too.
seq 700000 >many
build -o many.bloom many
expect_equal "$(field keys_planned)" 700000

# Kinds that keep a repeated key twice are planned for all, and static ones know all their keys
# anyway.
head -20000 $words | awk '{ print; print }' >twice
for kind in cuckoo windowed; do
  build --kind $kind -o t.bloom twice
  expect_equal "$kind $(field keys_planned)" "$kind 40000"
done
build --kind ribbon -o t.bloom twice
expect_equal "$(field keys)" 20000
(($(stat -c %s t.bloom) < 20000)) || fail "a ribbon filter of repetitions"
# Functions of other programs; and lists.
build --kind classic --hash sha1 -o t.bloom <(cat repeated) --keys 5000
expect_equal "$(field keys_planned)" 5000
head -100000 repeated >some
build --kind classic --hash sha1 -o t.bloom some
expect_equal "$(field keys_planned)" 3048
seq -f 'host%.0f.example' 20000 >hosts
bloomery block build -q -o h.bloom hosts
bloomery block build -q -o h3.bloom hosts hosts hosts
(($(stat -c %s h3.bloom) <= $(stat -c %s h.bloom) * 104 / 100)) || fail "a block list of repetitions is larger"

# The largest number of keys that can be said is too large for every kind, and not taken for none.
for kind in blocked split-block classic partitioned counting cuckoo scalable layered windowed count-min spectral; do
  expect_status 2 bloomery build --kind $kind --keys 18446744073709551615 -o x.bloom /dev/null
  grep -qE "a 64-bit hash cannot honour|keys would need more than the limit of 2\^48 bits" err || fail "$kind: $(cat err)"
done
