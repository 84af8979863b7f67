# The measurement of the machine: its fields, every kind, rates; never its times.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bloomery bench --keys 3000 --json >all
expect_equal "$(json all 'sorted(d)')" \
  "['floor_bytes', 'floor_ns', 'floor_pipeline', 'fpr_target', 'keys', 'machine', 'repetitions', 'rows', 'threads']"
expect_equal "$(json all 'sorted(d["machine"])')" "['cores', 'cpu', 'kernel']"
expect_equal "$(json all 'd["keys"], d["threads"], d["fpr_target"]')" "(3000, 1, 0.01)"
expect_equal "$(json all 'sorted(d["floor_ns"])')" "['read', 'write']"
expect_equal "$(json all 'all(ns > 0 for ns in d["floor_ns"].values())')" True
expect_equal "$(json all 'd["repetitions"] >= 5')" True
expect_equal "$(json all 'sorted(r["kind"] for r in d["rows"])')" \
  "['blocked', 'bloomier', 'classic', 'count-min', 'counting', 'cuckoo', 'fuse', 'layered', 'partitioned', 'ribbon', 'scalable', 'spectral', 'split-block', 'top-k', 'windowed']"
expect_equal "$(json all 'all(set(r) == {"kind","keys","add_ns","add_bulk_ns","add_lines","add_floor_ns","contains_ns","contains_bulk_ns","lines","contains_floor_ns","bits_per_key","fpr"} for r in d["rows"])')" True
expect_equal "$(json all 'all(r[t] > 0 for r in d["rows"] for t in ("add_bulk_ns","contains_ns","contains_bulk_ns","bits_per_key"))')" True
# Static kinds cannot be added to.
expect_equal "$(json all 'sorted(r["kind"] for r in d["rows"] if r["add_ns"] is None)')" "['bloomier', 'fuse', 'ribbon']"
# Each kind has its own floor: that of one line, times its lines, which are those of plan.
expect_equal "$(json all 'all(abs(r["contains_floor_ns"] - r["lines"] * d["floor_ns"]["read"]) < 1e-6 for r in d["rows"])')" True
expect_equal "$(json all 'all(abs(r["add_floor_ns"] - r["add_lines"] * d["floor_ns"]["write"]) < 1e-6 for r in d["rows"] if r["add_lines"])')" True
expect_equal "$(json all 'sorted(r["kind"] for r in d["rows"] if r["add_floor_ns"] is None)')" "['bloomier', 'fuse', 'ribbon']"
expect_equal "$(json all '{r["kind"]: (r["lines"], r["add_lines"]) for r in d["rows"] if r["lines"] != r["add_lines"]}')" \
  "{'fuse': (3, 0), 'ribbon': (3, 0), 'bloomier': (4, 0)}"
# The filters are those of plan, and keep to the rate. Of a million absent keys, with 3,000 in the
# filter: the target and a tenth, since a small filter is one draw from its model; scripts with more
# keys would take long under sanitizers.
expect_equal "$(json all 'all(r["fpr"] <= 0.011 for r in d["rows"])')" True
expect_equal "$(json all 'all(r["fpr"] > 0 for r in d["rows"] if r["kind"] != "top-k")')" True
bloomery plan --keys 3000 --json >plan
for kind in $(json plan '" ".join(r["kind"] for r in d["rows"])'); do
  expect_equal "$(json all "[r['lines'] for r in d['rows'] if r['kind'] == '$kind']")" \
    "$(json plan "[r['lines'] for r in d['rows'] if r['kind'] == '$kind']")"
done
for kind in blocked classic counting windowed count-min; do
  expect_equal "$(json all "['%.3f' % r['bits_per_key'] for r in d['rows'] if r['kind'] == '$kind']")" \
    "$(json plan "['%.3f' % r['bits_per_key'] for r in d['rows'] if r['kind'] == '$kind']")"
done

# Several threads: rates of all together, adding where the kind can.
for kind in blocked fuse; do
  bloomery bench --keys 2k --kind $kind --threads 2 --json >one
  expect_equal "$(json one '[r["kind"] for r in d["rows"]]')" "['$kind']"
  expect_equal "$(json one 'd["threads"], d["rows"][0]["threads_contains_mkeys_per_s"] > 0')" "(2, True)"
done
expect_equal "$(json one 'd["rows"][0]["threads_add_mkeys_per_s"]')" None

# The text: the machine, the floor, the table, a bar for each; no wider than 80 columns, no colours.
LC_ALL=C bloomery bench --keys 2000 --kind blocked --threads 2 >text 2>err
[[ ! -s err ]] || fail "said $(cat err)"
grep -q 'cores, .* kernels$' text || fail "$(cat text)"
grep -q '^  floor: ' text || fail "$(cat text)"
grep -qE '^  blocked +[0-9]+\.[0-9]{2} ' text || fail "$(cat text)"
grep -qE 'fpr +lines +in bulk +floors +by one' text || fail "$(cat text)"
grep -qE "own floor is the floor times its lines" text || fail "$(cat text)"
expect_equal "$(grep -cE '^  (floor|blocked) +#+ [0-9]+$' text)" 2
expect_equal "$(grep -c '2 threads at the same time' text)" 1
(($(wc -L <text) <= 80)) || fail "$(wc -L <text) columns"
! grep -q $'\x1b' text || fail "colours in a file"
# A kind of several lines, and one whose adds need fewer than its lookups.
bloomery bench --keys 2000 --kind cuckoo >text
grep -qE '^  cuckoo +[0-9.]+ +[0-9.]+ % +2 ' text || fail "$(cat text)"
bloomery bench --keys 2000 --kind windowed >text
grep -qE '^  windowed +[0-9.]+ +[0-9.]+ % +1 ' text || fail "$(cat text)"
LC_ALL=C.UTF-8 bloomery bench --keys 2000 --kind blocked | grep -q '█' || fail "no blocks"

expect_error "at least 1000" bloomery bench --keys 999
expect_error "'lots'" bloomery bench --keys lots
expect_error "square" bloomery bench --kind square
expect_error "--threads" bloomery bench --threads 0
expect_error "--threads" bloomery bench --threads 2000
expect_error "2^48" bloomery bench --keys 1e15
expect_error "'bloomery bench --help'" bloomery bench file
expect_error "standard output" bash -c '"$BLOOMERY" bench --keys 1000 --kind blocked >/dev/full'
