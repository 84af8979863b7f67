# The fields that other programs read.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

n=$(wc -l <$words)
bloomery build -o w.bloom --seed 18446744073709551615 --json $words >info 2>err
bloomery info --json w.bloom | cmp - info || fail "build --json differs from info --json"
expect_equal "$(json info 'd["kind"]')" blocked
expect_equal "$(json info 'd["keys"]')" "$n"
expect_equal "$(json info 'd["bytes"]')" "$(stat -c %s w.bloom)"
expect_equal "$(json info 'd["bits"] % 512')" 0
expect_equal "$(json info "d['bits'] / $n <= 10.0")" True
expect_equal "$(json info 'd["probes"]')" 6
expect_equal "$(json info 'd["fpr_target"]')" 0.01
expect_equal "$(json info '0.009 < d["fpr_now"] <= 0.0101')" True
expect_equal "$(json info '0.4 < d["fill"] < 0.5')" True
# The estimate is within 5 standard errors (0.06 % for this shape, by simulation) of the truth.
expect_equal "$(json info "abs(d['keys_estimated'] - $n) < 0.003 * $n")" True
expect_equal "$(json info 'd["hash"]')" xxh3
expect_equal "$(json info 'd["seed"]')" 18446744073709551615
expect_equal "$(json info 'd["format_version"]')" 1

bloomery check --json w.bloom $words >got
expect_equal "$(json got 'd["matched"] == d["keys"]')" True
bloomery verify --json w.bloom >got
expect_equal "$(json got 'd["sound"]')" True

bloomery plan --json --keys 1000000 >plan
expect_equal "$(json plan 'sorted(r["kind"] for r in d["rows"])')" \
  "['blocked', 'bloomier', 'classic', 'count-min', 'counting', 'cuckoo', 'fuse', 'layered', 'partitioned', 'ribbon', 'scalable', 'spectral', 'windowed']"
expect_equal "$(json plan 'all(set(r) == {"kind","bits_per_key","bytes","probes","fpr","times_lower_bound","lines","add","remove","count","value","merge","grow","forget"} for r in d["rows"])')" True
expect_equal "$(json plan 'all(r["fpr"] <= 0.01 for r in d["rows"])')" True
expect_equal "$(json plan '[round(r["times_lower_bound"], 2) for r in d["rows"] if r["kind"] == "classic"]')" "[1.44]"
expect_equal "$(json plan '[r["bits_per_key"] <= 10.0 for r in d["rows"] if r["kind"] == "blocked"]')" "[True]"
expect_equal "$(json plan 'round(d["lower_bound"]["bits_per_key"], 3)')" 6.644
bloomery plan --json --keys 1e6 --bytes 1M >plan
expect_equal "$(json plan 'all(850000 < r["bytes"] <= 1048576 for r in d["rows"])')" True
# What the planner says is what build makes.
seq 1000000 | bloomery build -q --json -o m.bloom >info
bloomery plan --json --keys 1000000 >plan
expect_equal "$(json info 'd["bits"] // 8')" "$(json plan '[r["bytes"] for r in d["rows"] if r["kind"] == "blocked"][0]')"
# Below 1e-9 only some kinds can do it.
bloomery plan --json --keys 1000 --fpr 1e-12 >plan
expect_equal "$(json plan 'sorted(r["kind"] for r in d["rows"])')" \
  "['classic', 'count-min', 'counting', 'partitioned', 'spectral']"

# Text forms have the same numbers.
bloomery info w.bloom >text
grep -q "$(printf "%'d" "$n" 2>/dev/null || echo "$n")\|104,334" text || fail "$(cat text)"
# With a size, the first line has the rates of the rows below it.
bloomery plan --keys 7M --bytes 8M >text
for kind in blocked classic ribbon; do
  rate=$(awk -v k=$kind '$1 == k {print $6, $7}' text)
  head -2 text | tr '\n' ' ' | grep -q "$kind[a-z )]* $rate" || fail "no $kind at $rate: $(head -2 text)"
done
bloomery plan --keys 1e9 --fpr 0.1% >text
grep -q '1.95 GB' text || fail "$(cat text)"

# Verbs that write a filter print what info would.
seq 1000 >a
seq 500 2000 >b
bloomery build -q --keys 2000 -o a.bloom a
bloomery build -q --keys 2000 -o b.bloom b
as_info() { # FILE COMMAND...
  local file=$1
  shift
  bloomery "$@" --json -q >got
  bloomery info --json "$file" | cmp - got || fail "$* --json differs from info --json"
}
as_info m.bloom merge -o m.bloom a.bloom b.bloom
as_info i.bloom intersect -o i.bloom a.bloom b.bloom
bloomery build -q --kind classic --bytes 4096 -o c.bloom a
as_info f.bloom fold -o f.bloom c.bloom
as_info a.bloom add a.bloom b
bloomery build -q --kind scalable --keys 100 -o s.bloom a
as_info o.bloom compact -o o.bloom s.bloom a
seq 100 | awk '{ print $1 "\t" $1 }' >pairs
as_info v.bloom map build -o v.bloom pairs
bloomery pack -q --json -o a.packed b.bloom >got
expect_equal "$(json got 'sorted(d)')" "['bytes', 'bytes_unpacked', 'keys', 'kind']"
expect_equal "$(json got 'd["bytes"]')" "$(stat -c %s a.packed)"
as_info u.bloom unpack -o u.bloom a.packed
cp b.bloom new.bloom
echo more | bloomery add -q new.bloom
bloomery diff -q --json -o d b.bloom new.bloom >got
expect_equal "$(json got '(d["keys_old"], d["keys_new"], d["bytes"])')" "(1501, 1502, $(stat -c %s d))"
as_info p.bloom patch -o p.bloom b.bloom d

# Verbs that ask print how many.
expect_status 1 bloomery check --json i.bloom /dev/null
expect_equal "$(json out '(d["keys"], d["matched"])')" "(0, 0)"
bloomery build -q --kind counting -o n.bloom a
seq 990 1010 | bloomery remove -q --json n.bloom >got
expect_equal "$(json got '(d["asked"], 11 <= d["removed"] <= 12, d["keys"] == 1000 - d["removed"])')" "(21, True, True)"
expect_status 0 bloomery count --json n.bloom b
expect_equal "$(json out 'sorted(d)')" "['found', 'keys', 'sum']"
expect_status 0 bloomery map get --json v.bloom a
expect_equal "$(json out '(d["keys"], d["found"] >= 100)')" "(1000, True)"
expect_status 0 bloomery map set -q --json v.bloom pairs
expect_equal "$(json out '(d["keys"], d["found"])')" "(100, 100)"
cat a b | bloomery dedup -q --json >got
expect_equal "$(json got '(d["lines"], d["printed"])')" "(2501, 2000)"
bloomery top -k 3 --json a >got
expect_equal "$(json got '(d["keys"], len(d["top"]))')" "(1000, 3)"
bloomery compare --json a.bloom b.bloom >got
expect_equal "$(json got '{"keys_a","keys_b","keys_union","keys_intersection","jaccard","shared_bits"} <= set(d)')" True
bloomery explain --json a.bloom 7 >got
expect_equal "$(json got '(d["contained"], d["key"])')" "(True, '7')"
# JSON has no bytes that are no UTF-8.
printf '\xff\n' | bloomery top --json >got
expect_equal "$(json got 'ascii(d["top"][0]["key"])')" "'\\ufffd'"
