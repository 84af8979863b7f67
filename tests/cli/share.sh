# Sets for friends, in filters that are wrong on purpose.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

openssl rand -hex 32 >mine.key
seq -f 'friend%.0f@example.org' 1000 >book
seq -f 'stranger%.0f@example.org' 100000 >strangers
bloomery share make --key-file mine.key --for bert -o bert book 2>err
grep -q '^bert: filters 1 to 5, keys: 1,000, ' err || fail "$(cat err)"
grep -q 'warning: this is no encryption. Whoever has filters and their keys can try every key there is' err || fail "no warning"
grep -qE 'of a million others (4[5-9]|5[0-5])[0-9],[0-9]{3} pass one filter, (2[0-9]|3[0-9]|4[0-2]),[0-9]{3} pass 5' err || fail "$(cat err)"
# What is said of all filters and what passes them is one number.
together=$(sed -n 's/.*these together for \([0-9.]*\) %.*/\1/p' err)
passing=$(sed -n 's/.* \([0-9,]*\) pass 5.*/\1/p' err | tr -d ,)
awk "BEGIN { d = $passing / 10000 - $together; exit !(d * d < 0.006 ^ 2) }" || fail "$together % and $passing of a million"
grep -q 'a no is always true, and the filters of one recipient add up' err || fail "no warning"
expect_equal "$(ls bert | tr '\n' ' ')" "1.bloom 2.bloom 3.bloom 4.bloom 5.bloom keys "
expect_equal "$(stat -c %a bert/keys)" 600

# Who makes more filters for the same recipient at the same time loses no key.
for n in $(seq 8); do
  bloomery share make -q --key-file mine.key --for doris -o doris --number $n --filters 1 book & makers[n]=$!
done
for n in $(seq 8); do wait ${makers[n]}; done
expect_equal "$(wc -l <doris/keys)" 8
bloomery share ask doris book 2>err | cmp - book

# Five filters at 50 % are wrong for 3 %; one for half.
bloomery share ask bert book 2>err | cmp - book
for n in 1 2 3 4 5; do
  mkdir -p some; cp bert/$n.bloom bert/keys some
  wrong=$(bloomery share ask -c some strangers 2>err)
  # (1/2)^n: 1,443 bits leave the fill 1.5 % of it off, five standard deviations for each filter; of
  # 100,000 as well.
  python3 -c "import sys, math; e = 100000 / 2**$n; sys.exit(abs($wrong - e) > 5 * (e * 0.015 * math.sqrt($n) + math.sqrt(e)))" ||
    fail "$n filters are wrong for $wrong of 100,000"
done
((wrong > 2500 && wrong < 3800)) || fail "$wrong of 100,000 pass five filters"
expect_equal "$(bloomery share ask -v -c bert strangers 2>err)" $((100000 - wrong))
bloomery share ask --json -q bert strangers >json
expect_equal "$(json json "d['matched'] == $wrong, d['filters'], 0.025 < d['fpr_together'] < 0.038")" "(True, 5, True)"
expect_status 1 bloomery share ask -q -v bert book
# Each filter is a file that other verbs know; it has one bit for a key and no more bits than that.
bloomery info --json bert/1.bloom >info
expect_equal "$(json info "d['kind'], d['probes'], d['hash'], d['bits'] <= 1472, 0.45 < d['fpr_now'] < 0.55")" "('classic', 1, 'siphash', True, True)"

# Another recipient has other keys, and filters without their key say nothing.
bloomery share make -q --key-file mine.key --for clara -o clara book
expect_equal "$(cat bert/keys clara/keys | sort -u | wc -l)" 10
cp clara/1.bloom some/6.bloom
expect_error "6.bloom: some/keys has no key for it" bloomery share ask some book
mv some/keys kept
expect_error "some/keys: opening the file of keys failed: No such file or directory" bloomery share ask some book
mv kept some/keys
rm some/6.bloom
# More filters later; what was sent is not replaced by another version with the same key.
expect_error "two versions with one key" bloomery share make --key-file mine.key --for bert -o bert book
bloomery share make -q --key-file mine.key --for bert -o bert --number 6 --filters 2 --json book >json
expect_equal "$(json json "d['keys'], d['filters'], d['first']")" "(1000, 2, 6)"
expect_equal "$(wc -l <bert/keys)" 7
bloomery share ask bert book 2>err | cmp - book
# 781 expected.
(($(bloomery share ask -c bert strangers 2>err) < 1200)) || fail "seven filters are no better"

# Two books of which 300 lines are in common; neither shows its lines.
openssl rand -hex 32 >agreed.key
(sed -n 1,300p book; seq -f 'other%.0f@example.org' 700) >yours
for who in book yours; do
  bloomery share make -q --key-file agreed.key --for both --keys 1000 -o $who.d $who
done
rm yours.d/keys # bits are enough
bloomery share overlap --json book.d yours.d >json
expect_equal "$(json json "d['filters'], abs(d['keys_intersection'] - 300) < 5 * d['keys_intersection_error'], d['keys_intersection_error'] < 30, \
abs(d['keys_union'] - 1700) < 5 * d['keys_union_error']")" "(5, True, True, True)"
bloomery share overlap book.d yours.d | grep -qE '^in common  [23][0-9]{2} \+- [12][0-9]$' || fail "$(bloomery share overlap book.d yours.d)"
expect_error "no key in common" bloomery share overlap book.d clara
bloomery share make -q --key-file agreed.key --for both --keys 900 -o smaller book
expect_error "make both with the same --keys" bloomery share overlap book.d smaller

# A line that comes twice is one key: otherwise the filters would be sharper than asked for.
cat book book | bloomery share make -q --json --key-file mine.key --for dora -o dora >json
expect_equal "$(json json "d['keys'], d['bits']")" "(1000, 1443)"

# Mistakes.
expect_error "64 hexadecimal digits or 32 raw bytes; make one with: openssl rand -hex 32" bloomery share make --key-file book --for x -o x book
expect_error "there is no key to share" bloomery share make --key-file mine.key --for x -o x /dev/null
[[ ! -e x ]] || fail "a refused share left a folder"
expect_error "there is no filter in it" bash -c "mkdir none; touch none/keys; '$BLOOMERY' share ask none book"
echo nonsense >some/keys
expect_error "some/keys:1: a key has 32 hexadecimal digits" bloomery share ask some book
printf 'BLOOMERY junk' >bert/9.bloom
expect_error "bert/9.bloom: " bloomery share ask bert book
