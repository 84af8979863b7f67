# Maps whose values are strings.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# A country for each of 20,000 names; an awk program knows the truth.
awk 'NR <= 20000 {split("Norway,Côte d’Ivoire,Peru,a b,New Zealand", c, ","); print $0 "\t" c[NR % 5 + 1]}' $words >countries
bloomery map build -o c.bloom countries 2>err
grep -qE '^c.bloom: map of 20,000 keys to 5 different strings, [0-9.]+ kB, fpr 0.[0-9]+ %$' err || fail "$(cat err)"
cut -f1 countries | bloomery map get c.bloom | cmp - countries
# 20,000 strings of ten bytes would be 200 kB.
(($(stat -c %s c.bloom) < 60000)) || fail "$(stat -c %s c.bloom) bytes"
seq 100000 >absent
found=$(bloomery map get c.bloom absent | wc -l || true)
# 1 % and four standard deviations.
((found > 100 && found <= 1126)) || fail "$found of 100,000 absent keys have a value"
expect_status 1 bloomery map get c.bloom /dev/null
shuf --random-source=$words countries | bloomery map build -q --threads 1 -o shuffled.bloom
cmp c.bloom shuffled.bloom || fail "the order of the lines shows"

# What was given comes back, also where it looks like a number.
printf 'a\t007\nb\t7\nc\t18446744073709551616\nd\t-1\ne\t\nf g\th\ti\n' >odd
bloomery map build -q -o odd.bloom odd
printf 'a\nb\nc\nd\ne\nf g\n' | bloomery map get odd.bloom | cmp - odd
printf 'a\t1\nb\t2\n' >numbers
bloomery map build -q -o n.bloom numbers
expect_equal "$(bloomery info --json n.bloom | grep -c strings || true)" 0
bloomery map build -q --strings -o n.bloom numbers
bloomery info --json n.bloom >info
expect_equal "$(json info 'd["kind"], d["keys"], d["strings"], d["string_bytes"], d["fpr_now"] <= 0.01')" "('bloomier', 2, 2, 2, True)"
bloomery info n.bloom | grep -qE '^  strings +2$' || fail "info"
bloomery map build -q --json -o n.bloom --strings numbers | cmp - info
# A number later in a file than strings, and strings later than many numbers.
(seq 200000 | awk '{print "k" $1 "\t" $1 % 3}'; printf 'last\tword\n') >late
bloomery map build -q -o late.bloom late
cut -f1 late | bloomery map get late.bloom | cmp - late

# Other strings, and how many there is room for.
printf 'a\tone\nb\ttwo\n' | bloomery map set -q odd.bloom
expect_equal "$(printf 'a\nb\nd\n' | bloomery map get odd.bloom)" $'a\tone\nb\ttwo\nd\t-1'
expect_error "no room for another string than its 8 different ones" bloomery map set odd.bloom <(printf 'a\tx\n')
expect_equal "$(echo a | bloomery map get odd.bloom)" $'a\tone'
expect_status 1 bloomery map set odd.bloom <(printf 'nobody\tone\n')
bloomery map build -q --value-bits 8 -o odd.bloom odd
awk 'BEGIN {for (i = 0; i < 250; ++i) print "a\tnew " i}' | bloomery map set -q odd.bloom
expect_equal "$(echo a | bloomery map get odd.bloom)" $'a\tnew 249'
bloomery map build -q -o numbers.bloom numbers
expect_error "values of this map are whole numbers" bloomery map set numbers.bloom <(printf 'a\tx\n')
expect_error "at least 3" bloomery map build --value-bits 2 -o x.bloom odd
expect_error "values" bloomery map build -o x.bloom <(printf 'a\tx\na\ty\n')
# The first tab ends the key, as in a store.
printf 'k\t1\t2\nl\t3\n' | bloomery map build -q -o tabs.bloom
expect_equal "$(printf 'k\nl\n' | bloomery map get tabs.bloom)" $'k\t1\t2\nl\t3'
expect_error "late:200002: 'no tab' is no key, tab and value" bash -c "echo 'no tab' >>late; '$BLOOMERY' map build -o x.bloom late"
[[ ! -e x.bloom ]] || fail "a refused map left a file"

# Only the key is spelled as the options say.
printf '7\t70\n-1\t5\n0x10\tff\n' | bloomery map build -q --integers -o i.bloom
expect_equal "$(printf '7\n16\n18446744073709551615\n' | bloomery map get --integers i.bloom)" \
  $'7\t70\n16\tff\n18446744073709551615\t5'
printf '7\t71\n' | bloomery map set -q --integers i.bloom
expect_equal "$(echo 7 | bloomery map get --integers i.bloom)" $'7\t71'
expect_error "its keys are integers; give --integers" bloomery map get i.bloom absent
printf '6261\t12\n00ff\t13\n' >hex
bloomery map build -q --hex -o h.bloom hex
expect_equal "$(cut -f1 hex | bloomery map get --hex h.bloom)" "$(cat hex)"
expect_error "hex:3: an odd number of hexadecimal digits" bash -c "echo $'123\t1' >>hex; '$BLOOMERY' map build --hex -o x.bloom hex"
expect_error "standard input:2: not a whole number" bloomery map build --integers -o x.bloom < <(printf '1\t2\nx\t3\n')
expect_error "is no key, tab and value" bloomery map build --integers -o x.bloom < <(printf '1\n')
expect_error "--hex" bloomery map build --integers --hex -o x.bloom hex

# Other verbs know what it is; damage is found.
bloomery verify -q c.bloom
expect_error "map of strings, not a filter; ask it with 'map get'" bloomery check c.bloom absent
expect_error "map of strings" bloomery pack -o x.bloom c.bloom
for at in 70 400 $(($(stat -c %s c.bloom) - 20)); do
  cp c.bloom bad.bloom
  printf '\377' | dd of=bad.bloom bs=1 seek=$at conv=notrunc status=none
  expect_error "bad.bloom: the " bloomery verify bad.bloom
done
head -c 500 c.bloom >bad.bloom
expect_error "bad.bloom: the map of strings is damaged" bloomery map get bad.bloom absent
