# A store of real records: the packages of this machine and their descriptions.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export LC_ALL=C # the order of sort and comm

awk -F': ' '/^Package: / {p = $2} /^Version: / {v = $2} /^Description: / {print p "\t" v "\t" $2}' /var/lib/dpkg/status |
  LC_ALL=C sort -u -t $'\t' -k1,1 >records
n=$(wc -l <records)
((n > 100)) || fail "$n packages"
bloomery store load packages records 2>err
grep -qE "^packages: records in the base: [0-9,]+, changes in the log: 0," err || fail "$(cat err)"
cut -f1 records | bloomery store get packages | cmp - records # values have tabs
bloomery store list packages | cmp - records
expect_status 1 bloomery store get packages <(echo no-such-package)

# Changes wait in the log; a model in awk has the truth.
awk -F'\t' -v OFS='\t' 'NR % 10 == 0 {print $1, "changed " NR}' records >changes
printf 'zzz-new\tsome\tthing\n' >>changes
awk 'NR % 10 == 5' records | cut -f1 >gone
bloomery store put -q packages changes
bloomery store erase -q packages gone
awk -F'\t' 'FILENAME == "changes" {v[$1] = $0; next} FILENAME == "gone" {g[$1]; next}
  $1 in g {next} {print $1 in v ? v[$1] : $0} END {print v["zzz-new"]}' changes gone records | LC_ALL=C sort >expected
bloomery store list packages | LC_ALL=C sort | cmp - expected
cut -f1 expected gone | bloomery store get packages | LC_ALL=C sort | cmp - expected
bloomery store info --json packages >info
expect_equal "$(json info "d['records_in_base'] == $n, d['changes'] == $(cat changes gone | wc -l), d['fpr_now'] < 0.01")" "(True, True, True)"
# The filter keeps lookups of unchanged records off the log.
comm -23 <(cut -f1 records) <(cut -f1 changes gone | LC_ALL=C sort) >unchanged
bloomery store get --json packages unchanged >cost
expect_equal "$(json cost "d['found'] == d['keys'], d['wasted_searches'] <= 0.02 * d['keys'] + 5")" "(True, True)"
bloomery store get --json --fpr 100% packages unchanged >cost
expect_equal "$(json cost "d['wasted_searches'] == d['keys']")" True
bloomery store get --stats packages unchanged >/dev/null 2>err
grep -q "searches of the log: " err || fail "no numbers"

bloomery store merge packages 2>err
grep -q ", changes in the log: 0," err || fail "$(cat err)"
bloomery store list packages | cmp - <(LC_ALL=C sort -t $'\t' -k1,1 expected)
bloomery store info packages | grep -q '^  changes   0 in the log' || fail "info"

# Mistakes.
expect_error "there is no store" bloomery store get pakcages records
[[ ! -e pakcages ]] || fail "asking made a store"
expect_error "LC_ALL=C sort" bloomery store load new <(printf 'b\t1\na\t2\n')
[[ ! -e new ]] || fail "a failed load left a store"
mkdir bare
expect_error "'no tab' is no key" bloomery store load bare <(echo 'no tab')
expect_equal "$(ls bare)" ""
expect_error "'no tab' is no key" bloomery store put new <(echo 'no tab')
[[ ! -e new ]] || fail "a failed put left a store"
expect_error "packages: the store is not empty; 'bloomery store put' adds" bloomery store load packages records
! grep -q sort err || fail "a hint that does not help: $(cat err)"
expect_error ":2: 'no tab' is no key, tab and value; 1 line before it was stored" bloomery store put new <(printf 'b\t1\nno tab\n')
expect_equal "$(bloomery store list new)" $'b\t1'
expect_error "nowhere: opening failed: No such file or directory; 2 lines before it were stored" \
  bloomery store put new <(printf 'c\t1\nd\t2\n') ./nowhere
mkdir empty.d
expect_error "there is no store" bloomery store merge empty.d
printf 'b\t1\n' | bloomery store put -q made # makes the folder
expect_equal "$(bloomery store list made)" $'b\t1'
