# explain shows a key's hash, positions and bits, and gives the answer of check.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

for kind in blocked classic partitioned counting fuse ribbon cuckoo scalable windowed count-min; do
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
seq 100 | bloomery build -q --integers -o i.bloom
expect_status 0 bloomery explain --integers i.bloom 42
expect_error "not a whole number" bloomery explain --integers i.bloom 4x2
bloomery build -q --kind classic --hash md5 -o m.bloom $words
expect_status 0 bloomery explain m.bloom mango
