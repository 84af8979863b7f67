# Files that ask for much more memory than they have bytes: refused by every verb, with the option
# that raises the limit.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Zeros, packed: a few kilobytes that were 270 MB.
seq 10 >keys
bloomery build -q --bytes 270M -o large.bloom keys
bloomery pack -q -o bomb.packed large.bloom
rm large.bloom
(($(stat -c %s bomb.packed) < 100000)) || fail "the bomb is no bomb"
message="the filter would take 269746176 bytes of memory, more than the limit of 268435456; --limit raises it"
for verb in "check F keys" "explain F 7" "info F" "verify F" "pack -o x F" "unpack -o x F" "fold -o x F" \
  "merge -o x F F" "intersect -o x F F" "compare F F" "diff -o x F F" "count F keys" "map get F keys" \
  "passwd check F keys" "block check F keys"; do
  expect_error "bomb.packed: $message" bloomery ${verb//F/bomb.packed}
done
[[ ! -e x ]] || fail "something was written"
if bloomery help digest >/dev/null 2>&1; then
  for verb in "info F" "ask --url http://a.example/ F" "export -o x F" "make -o x --from F"; do
    expect_error "bomb.packed: $message" bloomery digest ${verb//F/bomb.packed}
  done
  [[ ! -e x ]] || fail "something was written"

  # The filter of a digest, within a limit and above it.
  bloomery digest make -q --capacity 1M -o d.digest <<<http://a.example/
  bloomery digest export -q -o d.bloom d.digest
  bloomery pack -q -o d.packed d.bloom
  expect_error "d.packed: the filter would take" bloomery digest ask --limit 100k --url http://a.example/ d.packed
  expect_equal "$(bloomery digest ask --limit 700k --no-verify -c --url http://a.example/ d.packed)" 1
fi
if bloomery help spell >/dev/null 2>&1; then
  expect_error "bomb.packed: $message" bloomery spell --dictionary bomb.packed keys
fi
expect_error "$message" bloomery check - keys <bomb.packed
expect_error "more than the limit of 1000000; --limit raises it" bloomery check --limit 1M bomb.packed keys
expect_equal "$(bloomery check -c --limit 300M bomb.packed keys)" 10

# What grows when keys are added: the file stays as it was.
seq 20000 >many
for kind in scalable layered cuckoo; do
  bloomery build -q --kind $kind --keys 100 -o g.bloom keys
  cp g.bloom before
  expect_error "--limit raises it" bloomery add -q --limit 8k g.bloom many
  grep -q "^bloomery: g.bloom: the filter would take" err || fail "$(cat err)"
  cmp g.bloom before || fail "it was changed"
  bloomery add -q g.bloom many
  expect_equal "$(bloomery check -c g.bloom many)" 20000
done
bloomery build -q --kind scalable --keys 1000 -o a.bloom <(seq 1000)
bloomery build -q --kind scalable --keys 1000 -o b.bloom <(seq 1001 2000)
expect_error "more than the limit of 4000; --limit raises it" bloomery merge -o x --limit 4k a.bloom b.bloom
bloomery merge -q -o x a.bloom b.bloom
expect_equal "$(bloomery check -c x <(seq 2000))" 2000
bloomery dedup -q -c --state s.bloom keys >/dev/null
expect_error "--limit raises it" bloomery dedup -q -c --limit 600k --state s.bloom <(seq 500000)
expect_equal "$(bloomery check -c s.bloom keys)" 10
