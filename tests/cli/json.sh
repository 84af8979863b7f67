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
  "['blocked', 'bloomier', 'classic', 'count-min', 'counting', 'cuckoo', 'fuse', 'partitioned', 'ribbon', 'scalable', 'spectral', 'windowed']"
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
bloomery plan --keys 1e9 --fpr 0.1% >text
grep -q '1.95 GB' text || fail "$(cat text)"
