# Block lists in every form, and logs of any text against them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >drop.txt <<'END'
; Spamhaus-like
10.1.0.0/16 ; SBL1
192.0.2.7
2001:db8::/32 ; SBL2
198.51.100.10-198.51.100.19
END
printf '127.0.0.1 localhost\r\n0.0.0.0 host.example\r\n\r\n# end\r\n' >hosts
cat >adblock.txt <<'END'
[Adblock Plus 2.0]
! comment
||ads.example^
||cdn.example/banners/
|http://one.example/page|
@@||good.example^
news.example##.banner
||tracker.example^$third-party
/banner[0-9]+/
END
printf 'plain.example # why\nhttp://url.example/bad\n' >plain.txt

bloomery block build -o all.bloom drop.txt hosts adblock.txt plain.txt 2>err
grep -q '^all.bloom: 12 entries, ' err || fail "$(cat err)"
grep -q '^left out: 1 exception, 1 hiding rule, 1 rule with options, 1 pattern$' err || fail "$(cat err)"
expect_equal "$(wc -l <err)" 2

cat >log <<'END'
10.1.2.3 - - "GET / HTTP/1.1" 200
10.2.2.3 - - "GET / HTTP/1.1" 200
client [2001:db8::5]:443 and ::ffff:192.0.2.7
range 198.51.100.19 and 198.51.100.20
host.example
www.host.example
mail to a.b@x.ads.example
"https://www.cdn.example/banners/1.gif"	"tab"
"https://www.cdn.example/other" http://one.example/page/2
http://one.example/page#x
sub.plain.example:443
see http://URL.example:80/%62ad/x?y.
nothing here
END
tab=$'\t'
expect_status 0 bloomery block check all.bloom log
cat >expected <<END
10.1.2.3${tab}10.1.0.0/16${tab}10.1.2.3 - - "GET / HTTP/1.1" 200
2001:db8::5${tab}2001:db8::/32${tab}client [2001:db8::5]:443 and ::ffff:192.0.2.7
198.51.100.19${tab}198.51.100.16/30${tab}range 198.51.100.19 and 198.51.100.20
host.example${tab}host.example${tab}host.example
x.ads.example${tab}.ads.example${tab}mail to a.b@x.ads.example
https://www.cdn.example/banners/1.gif${tab}.cdn.example/banners${tab}"https://www.cdn.example/banners/1.gif"${tab}"tab"
http://one.example/page#x${tab}|one.example/page|${tab}http://one.example/page#x
sub.plain.example${tab}.plain.example${tab}sub.plain.example:443
http://URL.example:80/%62ad/x?y${tab}url.example/bad${tab}see http://URL.example:80/%62ad/x?y.
END
diff expected out || fail "other lines"
grep -qE '^13 lines, 9 blocked; [0-9,]+ lines per second$' err || fail "$(cat err)"
expect_equal "$(bloomery block check -c all.bloom <log 2>err)" 9
expect_equal "$(bloomery block check -v -c all.bloom log 2>err)" 4
expect_equal "$(bloomery block check -v all.bloom log 2>err | head -1)" '10.2.2.3 - - "GET / HTTP/1.1" 200'
expect_equal "$(bloomery block check --only all.bloom log 2>err | sed -n 2,3p)" "$(printf '2001:db8::5\n::ffff:192.0.2.7')"
expect_equal "$(bloomery block check -c all.bloom log hosts 2>err)" 10
expect_status 1 bloomery block check -q all.bloom /dev/null
bloomery block check -q --json all.bloom log >json
expect_equal "$(json json '(d["lines"], d["selected"], d["blocked_things"])')" "(13, 9, 10)"
printf '10.1.2.3 x\r\n' | bloomery block check --only all.bloom >out 2>err
expect_equal "$(cat out)" 10.1.2.3

# A filter that is nearly always wrong, and what the lists say: no line too many, none too few, at
# any number of threads.
for i in $(seq 4000); do echo "10.$((i % 5)).$((i % 250)).1 asked for h$i.example"; done >long
seq 3000 | sed 's/.*/d&.test/' >>adblock.txt  # a filter of a few entries has bits to spare
bloomery block build -q --fpr 60% -o vague.bloom drop.txt adblock.txt
bloomery block check -c vague.bloom long >vague 2>err
expect_equal "$(($(cat vague) > 1000))" 1
grep '^10\.1\.' long >expected
for threads in 1 4; do
  bloomery block check --threads $threads --confirm drop.txt --confirm adblock.txt vague.bloom long 2>err | cut -f3- >out
  cmp expected out || fail "other lines confirmed"
  grep -qE ' 800 blocked, [0-9,]+ false alarms removed;' err || fail "$(cat err)"
done
bloomery block check --confirm drop.txt -v vague.bloom long 2>err | diff - <(grep -v '^10\.1\.' long) || fail "-v"
expect_error "--confirm reads the log twice" bloomery block check --confirm drop.txt vague.bloom < <(cat long)

# Who floods: the first address of each line.
(for i in $(seq 300); do echo "192.0.2.9 10.0.0.1"; done; for i in $(seq 50); do echo "from ::1 and 192.0.2.9"; done; seq 9 | sed 's/^/10.0.0./') >flood
bloomery block check -c --top 2 all.bloom flood >out 2>err || true
expect_equal "$(head -n 2 err)" "$(printf '192.0.2.9\t300\n::1\t50')"
bloomery block check -q --json --top 1 all.bloom flood >json || true
expect_equal "$(json json 'd["top"]')" "[{'error': 0, 'lines': 300, 'source': '192.0.2.9'}]"

# Lists with room merge; others are refused.
bloomery block build -q --entries 100 -o a.bloom drop.txt
bloomery block build -q --entries 100 -o b.bloom hosts
bloomery merge -q -o both.bloom a.bloom b.bloom
expect_equal "$(bloomery block check -c both.bloom log 2>err)" 4
expect_error "there are 3012 entries, and room for 5" bloomery block build --entries 5 -o c.bloom drop.txt hosts adblock.txt plain.txt
[[ ! -e c.bloom ]] || fail "a file of an error"

# Lines that are nothing: counted, the first named; or an error.
printf '1.2.3.4\nwhat is this\n\x01\x02\n' >odd
bloomery block build -o odd.bloom odd 2>err
grep -qF "warning: 2 lines are no entry of a block list; the first is odd:2: 'what is this'" err || fail "$(cat err)"
expect_error "odd:2: 'what is this' is no address, domain, URL or rule" bloomery block build --strict -o x.bloom odd
printf '\x01\x02\n' >odd2
expect_error "odd2:1: '??' is no entry of a block list, nor is any other line" bloomery block build -o x.bloom odd2
[[ ! -e x.bloom ]] || fail "a file of an error"
bloomery block build -q -o empty.bloom /dev/null
expect_status 1 bloomery block check -q empty.bloom log

# The file says what it is.
expect_error "all.bloom: it is a filter of a block list; ask it with 'bloomery block check'" bloomery check all.bloom log
bloomery build -q -o words.bloom log
expect_error "words.bloom: it is a filter of plain keys, not of a block list" bloomery block check words.bloom log
expect_error "nowhere" bloomery block build -o nowhere/x drop.txt
expect_error "missing" bloomery block build -o x.bloom missing
