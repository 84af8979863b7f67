# Hyphens in texts, by patterns and a list of exceptions behind a filter.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export LC_ALL=C.UTF-8

printf 'Hyphenation, by COMPUTER.\nIt isn’t approximate; see computer2 and Überraschung\n' >text
expect_equal "$(bloomery hyphenate text)" \
  $'Hy-phen-ation, by COM-PUTER.\nIt isn’t ap-prox-i-mate; see com-puter2 and Über-raschung'
expect_equal "$(bloomery hyphenate --soft text | sed 's/\xc2\xad//g')" "$(cat text)"
expect_equal "$(bloomery hyphenate --soft text | grep -o $'\u00ad' | wc -l)" 8
# What is no UTF-8 stays as it is, and so does the end of a text without a line end.
printf 'a\xff\xfecomputer\r\n\0computer' | bloomery hyphenate | cmp - <(printf 'a\xff\xfecom-puter\r\n\0com-puter')
head -c 300000 /dev/zero | tr '\0' a >long
expect_equal "$(bloomery hyphenate long | tr -d - | cmp - long && echo same)" same

# The user's own exceptions, in any case and order.
printf 'com-pu-ter\r\n\n Über-ra-schung\n' >mine
expect_equal "$(bloomery hyphenate --exceptions mine text | grep -o 'COM-[^.]*')" COM-PU-TER
expect_equal "$(bloomery hyphenate --exceptions mine text | grep -o 'Ü.*')" Über-ra-schung
printf 'a word\n' >bad
expect_error "bad:1: an entry is a word of letters with hyphens inside" bloomery hyphenate --exceptions bad text
# The list, and the patterns, may be pipes.
expect_equal "$(bloomery hyphenate --exceptions <(cat mine) --patterns <(cat /usr/share/hyphen/hyph_en_US.dic) text | \
  grep -o 'COM-[^.]*')" COM-PU-TER
expect_error "nosuch" bloomery hyphenate --patterns nosuch text
expect_error "is not UTF-8" bloomery hyphenate --patterns text text

# Bloom's way: simple rules, and a list of the words for which they are wrong, made by comparing the
# two.
grep -x '[a-z]*' $words | awk 'NR % 3 == 0' >small
bloomery hyphenate --longest-pattern 4 small >simple
bloomery hyphenate small >right
comm -13 <(sort simple) <(sort right) >exceptions
share=$(($(wc -l <exceptions) * 100 / $(wc -l <small)))
((share >= 5 && share <= 20)) || fail "$share % exceptions"
bloomery hyphenate --longest-pattern 4 --exceptions exceptions small | cmp - right
bloomery hyphenate --longest-pattern 4 --exceptions exceptions --fpr 2% --json small >counts
expect_equal "$(json counts "d['words'] == $(wc -l <small), d['exceptions'] == $(wc -l <exceptions), \
d['lookups'] - d['exceptions'] <= 0.025 * (d['words'] - d['exceptions'])")" "(True, True, True)"
bloomery hyphenate --stats --exceptions exceptions small >/dev/null 2>err
grep -q 'looked up in the list: ' err || fail "no numbers"
