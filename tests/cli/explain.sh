# explain shows a key's hash, positions and bits, and gives the answer of check.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

for kind in blocked split-block classic partitioned counting fuse ribbon cuckoo scalable layered windowed count-min; do
  bloomery build -q --kind $kind --keys 200k -o f.bloom $words 2>/dev/null || bloomery build -q --kind $kind -o f.bloom $words
  expect_status 0 bloomery explain f.bloom mango
  grep -q "verdict  probably in the set" out || fail "$kind: $(cat out)"
  expect_status 1 bloomery explain f.bloom 'no such word, and no other'
  grep -q "verdict  surely not in the set" out || fail "$kind: $(cat out)"
  expect_status 0 bloomery explain --json f.bloom mango
  expect_equal "$(json out 'd["contained"], d["kind"], len(d["hash"])')" "(True, '$kind', 16)"
done
bloomery build -q -o f.bloom $words
bloomery explain --json f.bloom mango >out
expect_equal "$(json out 'len(d["places"]), {p["value"] for p in d["places"]}')" "(6, {1})"
# The positions are those of the second reader: all in the block that the hash names.
expect_equal "$(json out 'len({p["position"] // 512 for p in d["places"]})')" 1
bloomery info --json f.bloom >info
blocks=$(json info 'd["bits"] // 512')
expect_equal "$(json out "(int(d['hash'], 16) * $blocks) >> 64")" "$(json out 'd["places"][0]["position"] // 512')"
bloomery explain f.bloom mango >out
expect_equal "$(grep -o █ out | wc -l)" 7 # six bits and the legend
# A split block is half a line: eight lanes, and a bit in each.
bloomery build -q --kind split-block -o s.bloom $words
bloomery explain --json s.bloom mango >out
expect_equal "$(json out '[p["position"] % 256 // 32 for p in d["places"]], len({p["position"] // 256 for p in d["places"]})')" \
  "([0, 1, 2, 3, 4, 5, 6, 7], 1)"
bloomery info --json s.bloom >info
blocks=$(json info 'd["bits"] // 256')
expect_equal "$(json out "(int(d['hash'], 16) * $blocks) >> 64")" "$(json out 'd["places"][0]["position"] // 256')"
bloomery explain s.bloom mango >out
expect_equal "$(grep -o █ out | wc -l) $(grep -c '^  lane' out)" "9 8" # eight bits and the legend
seq 100 | bloomery build -q --integers -o i.bloom
expect_status 0 bloomery explain --integers i.bloom 42
expect_error "not a whole number" bloomery explain --integers i.bloom 4x2
bloomery build -q --kind classic --hash md5 -o m.bloom $words
expect_status 0 bloomery explain m.bloom mango

# Each kind says how it comes to its answer, and the numbers agree with the other verbs.
shuf -n 3000 --random-source=$words $words >some
(cat some; head -1000 some; head -10 some) >stream
printf '%s\n' "$(head -1 some)" "$(sed -n 2500p some)" 'absent one' 'absent two' >asked
while read -r key; do
  # explain_json KIND: asks f.bloom for the key; the answer is that of check.
  explain_json() {
    local status=0
    bloomery explain --json f.bloom "$key" >out || status=$?
    expect_equal "$(json out 'd["contained"]')" "$([[ $status == 0 ]] && echo True || echo False)"
    expect_equal "$(printf '%s\n' "$key" | bloomery check -c f.bloom)" $((1 - status))
  }
  bloomery build -q --kind scalable --keys 500 -o f.bloom some
  explain_json
  expect_equal "$(json out '(d["cells_fitting"] > 0 or d["stashed"]) == d["contained"]')" True
  bloomery build -q --kind layered --keys 500 -o f.bloom some
  explain_json
  expect_equal "$(json out 'any(l["contains"] for l in d["layers"]) == d["contained"]')" True
  expect_equal "$(json out 'len(d["layers"])')" "$(bloomery info --json f.bloom | json /dev/stdin 'd["layers"]')"
  bloomery build -q --kind windowed --keys 2000 -o f.bloom some
  explain_json
  expect_equal "$(json out 'any(g["contains"] for g in d["generations"]) == d["contained"]')" True
  expect_equal "$(json out 'sum(g["keys"] for g in d["generations"])')" "$(bloomery info --json f.bloom | json /dev/stdin 'd["keys"]')"
  bloomery build -q --kind cuckoo -o f.bloom stream
  explain_json
  expect_equal "$(json out 'sum(b["cells"].count(d["fingerprint"]) for b in d["buckets"]) == d["count"]')" True
  expect_equal "$(json out 'd["count"]')" "$(printf '%s\n' "$key" | bloomery count f.bloom | cut -f2)"
  for kind in fuse ribbon; do
    bloomery build -q --kind $kind -o f.bloom some
    explain_json
    expect_equal "$(json out '(d["found"] == d["fingerprint"]) == d["contained"]')" True
  done
  bloomery build -q --kind fuse -o f.bloom some
  bloomery explain --json f.bloom "$key" >out || true
  expect_equal "$(json out '__import__("functools").reduce(lambda a, p: a ^ p["value"], d["places"], 0) == d["found"]')" True
  awk '{ print $0 "\t" NR }' some >pairs
  bloomery map build -q -o f.bloom pairs
  explain_json
  expect_equal "$(json out 'd.get("value", "")')" "$(printf '%s\n' "$key" | bloomery map get f.bloom | cut -f2)"
  for kind in count-min spectral; do
    bloomery build -q --kind $kind -o f.bloom stream
    explain_json
    expect_equal "$(json out 'min(p["value"] for p in d["places"]) == d["least"] == d["count"]')" True
    expect_equal "$(json out 'd["count"]')" "$(printf '%s\n' "$key" | bloomery count f.bloom | cut -f2)"
  done
  bloomery build -q --kind top-k --keys 50 -o f.bloom stream
  explain_json
  expect_equal "$(json out 'd["count"]')" "$(printf '%s\n' "$key" | bloomery count f.bloom | cut -f2)"
  expect_equal "$(json out '("rank" in d) == d["contained"]')" True
done <asked

# The array before and after a key is added; the file stays as it is.
export LC_ALL=C.UTF-8
printf '%s\n' apples plums >fruit
bloomery build -q --kind classic --bytes 8 --probes 3 -o small.bloom fruit
cp small.bloom copy
expect_status 1 bloomery explain --before --plot mango.svg small.bloom mango
cmp small.bloom copy || fail "explain changed the file"
# drawn WORD: the numbers of the cells that are set in the line of this name.
drawn() { /usr/bin/python3 -c '
import sys
line = next(l for l in open("out", encoding="utf-8") if l.startswith(sys.argv[1]))[9:].rstrip("\n")
print(*[i for i, c in enumerate(line) if c == "▪"])' "$1"; }
before=$(drawn before)
after=$(drawn after)
bloomery explain --json --before small.bloom mango >json || true
expect_equal "$(json json 'sorted(p["position"] for p in d["places"]) == [c["position"] for c in d["cells_of_key"]]')" True
expect_equal "$(json json 'all(c["after"] == 1 for c in d["cells_of_key"])')" True
# What is drawn as the array after it is the array of the filter with the key, and the picture shows
# the same.
bloomery add -q small.bloom <(echo mango)
expect_status 0 bloomery explain --before small.bloom mango
expect_equal "$(drawn before)" "$after"
expect_equal "$(drawn after)" "$after"
[[ $before != "$after" ]] || fail "mango changed nothing"
/usr/bin/python3 - "$before" "$after" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse("mango.svg").getroot()
texts = [(float(e.get("x")), float(e.get("y")), e.text) for e in root.iter() if e.tag.endswith("text")]
assert any(t == '64 bits before and after adding "mango"' for _, _, t in texts), texts
ones = sorted((y, x) for x, y, t in texts if t == "1")
rows = sorted({y for y, _ in ones})
assert len(rows) == 2, rows
left = 20 + 60
for row, want in zip(rows, sys.argv[1:]):
    got = [int((x - left) // 15) for y, x in ones if y == row]
    assert got == [int(w) for w in want.split()], (got, want)
lines = [e for e in root.iter() if e.tag.endswith("path") and e.get("class") == "s2"]
assert len(lines) == 3, lines  # from the key to each of its bits
END
for kind in blocked split-block partitioned counting spectral count-min; do
  bloomery build -q --kind $kind -o f.bloom fruit
  expect_status 1 bloomery explain --json --before f.bloom mango
  cp out json
  bloomery add -q f.bloom <(echo mango)
  bloomery explain --json f.bloom mango >after
  /usr/bin/python3 - <<'END'
import json
a, b = json.load(open("json")), json.load(open("after"))
assert {c["position"]: c["after"] for c in a["cells_of_key"]} == {p["position"]: p["value"] for p in b["places"]}, (a, b)
assert {c["position"]: c["before"] for c in a["cells_of_key"]} == {p["position"]: p["value"] for p in a["places"]}, a
END
done
# Only the rows of the key in a large array; keys of any bytes; kinds without such an array are
# refused.
bloomery build -q -o f.bloom $words
expect_status 1 bloomery explain --before f.bloom 'no such word, and no other'
expect_equal "$(($(grep -c '^before' out) <= 6))" 1
expect_equal "$(($(wc -L <out) <= 140))" 1
bloomery explain --plot odd.svg f.bloom $'<\xff&\x01">' >/dev/null || true
/usr/bin/python3 -c 'import xml.etree.ElementTree as t; t.parse("odd.svg")'
bloomery build -q --kind fuse -o s.bloom fruit
expect_error "s.bloom: a fuse filter has no array of bits or counters that a key changes" bloomery explain --before s.bloom mango
