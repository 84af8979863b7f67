# The tool among others: pipes that close, empty input, bytes of all sorts, terminals, locales.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bloomery build -q -o w.bloom $words
bloomery build -q --kind count-min -o c.bloom $words
awk '{ print $0 "\t" NR }' $words | bloomery map build -q -o m.bloom

# A reader that goes away: the end comes at once and without a word.
pipes() { # INPUT COMMAND...
  local input=$1
  shift
  yes "$input" | "$BLOOMERY" "$@" 2>err | head -1 >out || true
  [[ $(wc -l <out) == 1 && ! -s err ]] || fail "$* into a closed pipe: $(cat out err)"
}
pipes apples check w.bloom
pipes apples check --annotate w.bloom
pipes apples count c.bloom
pipes apples map get m.bloom
seq 3000000 | bloomery dedup 2>err | head -1 >out || true
expect_equal "$(cat out err)" 1
bloomery completion bash 2>err | head -0 || true
bloomery help 2>>err | head -0 || true
[[ ! -s err ]] || fail "$(cat err)"

# No input at all.
for verb in check count "map get"; do
  file=w.bloom
  [[ $verb == count ]] && file=c.bloom
  [[ $verb == "map get" ]] && file=m.bloom
  expect_status 1 bloomery $verb $file /dev/null
  [[ ! -s out ]] || fail "$verb prints $(cat out)"
done
expect_status 1 bloomery top /dev/null
expect_status 0 bloomery dedup -q /dev/null
expect_status 0 bloomery add -q w.bloom /dev/null
expect_status 0 bloomery build -q -o none.bloom /dev/null
for kind in classic counting scalable layered windowed cuckoo fuse ribbon count-min spectral; do
  expect_status 0 bloomery build -q --kind $kind -o none.bloom /dev/null
  expect_status 0 bloomery info none.bloom
  expect_status 1 bloomery check none.bloom $words
done
expect_status 0 bloomery map build -q -o none.bloom /dev/null
expect_status 1 bloomery map get none.bloom $words

# Any bytes, and ends of lines: a CR belongs to the key unless --crlf says that it does not.
/usr/bin/python3 -c 'import random, sys
random.seed(1)
sys.stdout.buffer.write(b"\n".join(random.randbytes(97).replace(b"\n", b"") for _ in range(1000)))' >bytes
bloomery build -q -o b.bloom bytes
bloomery check b.bloom bytes | cmp - <(cat bytes; echo)
bloomery dedup -q bytes | cmp - <(cat bytes; echo)
printf 'one\r\ntwo\r\n' >crlf
bloomery build -q --crlf -o crlf.bloom crlf
expect_equal "$(printf 'one\ntwo\nthree\n' | bloomery check -c crlf.bloom)" 2
expect_equal "$(bloomery check crlf.bloom crlf | wc -l)" 0
expect_equal "$(bloomery check --crlf crlf.bloom crlf | od -c | head -1)" "$(od -c crlf | head -1)"
expect_equal "$(bloomery top --crlf crlf | grep -c $'\r')" 0

# Keys that are numbers are printed as numbers; keys that end with NUL end so again.
printf '10\n-1\n0x10\n' >numbers
bloomery build -q --integers --kind count-min -o n.bloom numbers
expect_equal "$(bloomery count --integers n.bloom numbers)" $'10\t1\n18446744073709551615\t1\n16\t1'
expect_equal "$(bloomery top --integers numbers | sort)" $'10\t1\n16\t1\n18446744073709551615\t1'
printf 'Ab01\n' >hex
bloomery build -q --hex --kind count-min -o h.bloom hex
expect_equal "$(bloomery count --hex h.bloom hex)" $'ab01\t1'
expect_equal "$(bloomery top --hex hex)" $'ab01\t1'
printf 'a\nb\0' >null
bloomery build -q --null --kind count-min -o z.bloom null
printf 'a\nb\t1\0' | cmp - <(bloomery count --null z.bloom null)
printf 'a\nb\t1\0' | cmp - <(bloomery top --null null)

# Every verb takes --quiet, and says nothing on standard error then.
verbs=$(bloomery help | sed -n '/^This tool/q; s/^  \([a-z]\+\) .*/\1/p' | grep -vx 'map\|passwd\|block\|redis\|store\|share\|trace\|digest')
while read -r verb; do
  bloomery help $verb | grep -q -- '-q, --quiet' || fail "$verb has no --quiet"
  # These two print no result; what they do is at --status and /metrics.
  [[ $verb == node || $verb == serve ]] ||
    bloomery help $verb | grep -q -- '^  --json ' || fail "$verb has no --json"
done <<<"$verbs
trace record
trace ask
trace path
digest make
digest info
digest ask
digest export
map build
map get
map set
passwd build
passwd check
block build
block check
redis add
redis check"
bloomery build --keys 10 -q -o full.bloom $words 2>err
[[ ! -s err ]] || fail "not quiet: $(cat err)"

# Nothing is coloured, so there is nothing that NO_COLOR could forbid; a terminal that cannot erase
# a line sees no progress.
make_feed
: >terminal
TERM=xterm script -qefc "bash feed terminal | '$BLOOMERY' build -o p.bloom" terminal >/dev/null
grep -q 'keys/s' terminal || fail "no progress: $(cat -v terminal)"
grep -q $'\e\\[[0-9;]*m' terminal && fail "colours: $(cat -v terminal)"
slow="(head -1000 $words; sleep 0.7; cat $words; sleep 0.3; head -10 $words) | '$BLOOMERY' build -o p.bloom"
TERM=dumb script -qec "$slow" terminal >/dev/null
grep -q $'\e' terminal && fail "escapes on a dumb terminal: $(cat -v terminal)"

# Numbers are the same in every locale: here one with a decimal comma.
localedef -c -i de_DE -f UTF-8 "$folder/de_DE.UTF-8"
export LOCPATH=$folder
expect_equal "$(LC_ALL=de_DE.UTF-8 /usr/bin/printf %.1f 0,5)" "0,5"
for command in "plan --keys 1e6 --fpr 0.1%" "plan --keys 1e6 --json" "info w.bloom" "info --json w.bloom" \
  "compare w.bloom w.bloom" "explain w.bloom apples"; do
  cmp <(bloomery $command) <(LC_ALL=de_DE.UTF-8 "$BLOOMERY" $command) ||
    fail "'$command' depends on the locale"
done
exit 0
