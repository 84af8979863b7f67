# add changes a file at once or not at all, and two at the same time lose nothing.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

head -50000 $words >a
tail -n +50001 $words >b
n=$(wc -l <$words)
bloomery build -q -o whole.bloom --keys $n $words
bloomery build -q -o f.bloom --keys $n a
expect_equal "$(bloomery check -c f.bloom a)" 50000
bloomery add -q f.bloom b
cmp f.bloom whole.bloom || fail "built in two steps, the file differs"

# The file keeps its mode, and a link keeps being a link.
chmod 640 f.bloom
ln -s f.bloom link.bloom
echo 'one more' | bloomery add -q link.bloom
[[ -L link.bloom ]] || fail "the link was replaced"
expect_equal "$(stat -c %a f.bloom)" 640
expect_status 0 bloomery check f.bloom <<<'one more'

# Keys that are there already, and a few more than planned, change no rate: no warning. The rate in
# the summary is that of the bits, which info has too.
for kind in blocked split-block classic partitioned counting; do
  bloomery build -q --kind $kind -o twice.bloom $words
  expect_status 0 bloomery add twice.bloom $words
  ! grep -q warning err || fail "a false alarm: $(cat err)"
  bloomery info twice.bloom >info
  expect_equal "$(grep -o 'fpr [0-9.e-]* %' err)" "$(sed -n 's/.*fpr *\([0-9.]* %\) now.*/fpr \1/p' info)"
  expect_equal "$(grep -o '[0-9.]* bits a key' err)" "$(grep -o '[0-9.]* bits a key' info)"
  grep -q '208,668 keys (about 10[0-9],... different)' err || fail "$(cat err)"
done

# A warning when there are more keys than planned; quiet suppresses it.
bloomery build -q -o small.bloom --keys 1000 <(head -1000 $words)
expect_status 0 bloomery add small.bloom b
grep -q 'warning: the fpr of small.bloom is 100.0 % now, above the 1.00 % asked for; it holds 55,334 keys and was planned for 1,000' err ||
  fail "$(cat err)"
expect_status 0 bloomery add -q small.bloom <<<x
[[ ! -s err ]] || fail "not quiet: $(cat err)"
expect_status 0 bloomery build --keys 10 -o small.bloom $words
grep -q warning err || fail "no warning from build"

# Nothing added: the file is not even touched.
before=$(stat -c %i.%Y f.bloom)
bloomery add -q f.bloom </dev/null
expect_equal "$(stat -c %i.%Y f.bloom)" "$before"

# An input that fails in the middle changes nothing.
cp f.bloom copy.bloom
expect_error missing bloomery add f.bloom a missing
cmp f.bloom copy.bloom

# Sixteen at once.
bloomery build -q -o shared.bloom --keys $n /dev/null
split -n l/16 $words part.
for part in part.*; do bloomery add -q --threads 1 shared.bloom $part & done
wait
cmp shared.bloom whole.bloom || fail "two at once lost keys"
expect_equal "$(find . -name '.*' -type f | wc -l)" 0
