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
  "['blocked', 'bloomier', 'classic', 'count-min', 'counting', 'cuckoo', 'fuse', 'layered', 'partitioned', 'ribbon', 'scalable', 'spectral', 'split-block', 'windowed']"
expect_equal "$(json plan 'all(set(r) == {"kind","bits_per_key","bytes","probes","fpr","times_lower_bound","lines","add","remove","count","value","merge","grow","forget"} for r in d["rows"])')" True
expect_equal "$(json plan 'all(r["fpr"] <= 0.01 for r in d["rows"])')" True
expect_equal "$(json plan '[round(r["times_lower_bound"], 2) for r in d["rows"] if r["kind"] == "classic"]')" "[1.44]"
expect_equal "$(json plan '[r["bits_per_key"] <= 10.0 for r in d["rows"] if r["kind"] == "blocked"]')" "[True]"
expect_equal "$(json plan 'round(d["lower_bound"]["bits_per_key"], 3)')" 6.644
bloomery plan --json --keys 1e6 --bytes 1M >plan
expect_equal "$(json plan 'all(850000 < r["bytes"] <= 1000000 for r in d["rows"])')" True
# What the planner says is what build makes.
seq 1000000 | bloomery build -q --json -o m.bloom >info
bloomery plan --json --keys 1000000 >plan
expect_equal "$(json info 'd["bits"] // 8')" "$(json plan '[r["bytes"] for r in d["rows"] if r["kind"] == "blocked"][0]')"
# Below 1e-9 only some kinds can do it.
bloomery plan --json --keys 1000 --fpr 1e-12 >plan
expect_equal "$(json plan 'sorted(r["kind"] for r in d["rows"])')" \
  "['classic', 'count-min', 'counting', 'partitioned', 'spectral']"

# The documents' numbers. The lecture: 200 MB of URLs, a filter of less than 10 MB, 25.51 ms a
# lookup.
bloomery plan --json --keys 5M --fpr 1.28% --probes 30 --key-bytes 40 >plan
expect_equal "$(json plan '[a["bytes"] for a in d["alternatives"] if a["name"] == "list of 40-byte keys"]')" "[200000000]"
expect_equal "$(json plan '[a["bytes"] > 2e8 for a in d["alternatives"] if a["name"] == "hash table of 40-byte keys"]')" "[True]"
expect_equal "$(json plan '[9.3e6 < r["bytes"] < 9.5e6 for r in d["rows"] if r["kind"] == "partitioned"]')" "[True]"
expect_equal "$(json plan '{r["probes"] for r in d["rows"]}')" "{30}"
bloomery plan --json --keys 5M --fpr 3% --lookup-time 0.5s --filter-time 1ms --present 2000 --absent 100k >plan
expect_equal "$(json plan 'round(d["guarded_lookup"]["mean_seconds"] * 1000, 2)')" 25.51
bloomery plan --keys 5M --fpr 3% --lookup-time 500000us --filter-time 1000000ns --present 2000 --absent 100k >text
grep -q 'takes 25.51 ms in the mean instead of 500 ms' text || fail "$(cat text)"
# The survey: 8 bits a key give just over 2 %; with 2 log2 n bits a sorted list has 1/n.
bloomery plan --json --keys 1M --bits-per-key 8 --universe 2^32 --deviation 0.001 >plan
expect_equal "$(json plan '[0.0215 < r["fpr"] < 0.0217 for r in d["rows"] if r["kind"] == "classic"]')" "[True]"
expect_equal "$(json plan '[(a["bits_per_key"], a["fpr"] < 1e-6) for a in d["alternatives"] if "2 log2 n" in a["name"]]')" "[(40.0, True)]"
expect_equal "$(json plan '[a["bytes"] for a in d["alternatives"] if "bitmap" in a["name"]]')" "[536870912]"
/usr/bin/python3 - <<'END'
import json, math
d = json.load(open("plan"))
n, u, f = 10**6, 2**32, d["fpr"]
def log_choose(a, b):
    return math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)
bound = (log_choose(u, n) - log_choose(n + f * (u - n), n)) / math.log(2) / n
assert abs(d["lower_bound"]["bits_per_key"] - bound) < 1e-4, (d["lower_bound"], bound)
assert bound < -math.log2(f)
c = d["concentration"]
expected = 2 * math.exp(-2 * 0.001**2 * c["bits"]**2 / (n * c["probes"]))
assert abs(c["probability"] / expected - 1) < 1e-9, (c, expected)
END
# Table 1 of the survey: at most 16 bits sent and 48 in memory.
bloomery plan --json --keys 1M --bits-per-key 16 --packed 48 >plan
expect_equal "$(json plan 'd["packed"]["probes"], round(d["packed"]["sent_bits_per_key"], 2), round(d["packed"]["fpr"], 6)')" \
  "(3, 15.83, 0.000222)"
bloomery plan --json --keys 1M --fpr 0.0222% --packed 48.1 >plan
expect_equal "$(json plan 'd["packed"]["probes"], round(d["packed"]["sent_bits_per_key"], 1)')" "(3, 15.8)"
# The table of the literature, and its text.
bloomery plan --table --json >table
expect_equal "$(json table '[r["best_probes"] for r in d["table"] if r["bits_per_key"] == 32]')" "[22]"
for cell in "8 6 .0216" "16 11 .000459" "8 4 .0240" "16 4 .0024" "32 4 .00019" "5 3 .0918"; do
  read -r bits probes rate <<<"$cell"
  expect_equal "$(json table "[abs(r['fpr'][$probes - 1] - $rate) < 0.006 * $rate for r in d['table'] if r['bits_per_key'] == $bits]")" "[True]"
done
bloomery plan --table >text
grep -q '^   8  6   5.55   0.118  0.0489  0.0306   0.024  0.0217  0.0216  0.0229$' text || fail "$(cat text)"
expect_equal "$(($(wc -L <text) <= 80))" 1
# One truth about a hash table: what docs/when-to-use.md measured.
measured=$(sed -n 's/^| std::unordered_set of strings | \([0-9.]*\) .*/\1/p' "$project/docs/when-to-use.md")
bloomery plan --json --keys 10M >plan
expect_equal "$(json plan "[abs(a['bits_per_key'] / $measured - 1) < 0.001 for a in d['alternatives'] if a['name'] == 'hash table of 20-byte keys']")" "[True]"

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
expect_equal "$(json out 'sorted(d)')" "['found', 'keys', 'saturated', 'sum']"
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
