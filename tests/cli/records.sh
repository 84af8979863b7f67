# No record vanishes: headers, records without a key and bad ones, byte-order marks, lists that are
# none.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# The row of column names is printed once, before the others; so are rows without a key where they
# belong.
printf 'id,mail\n1,a\n2,b\n3,\n4,a\n' >m.csv
printf 'id,mail\n5,c\n6,a\n' >more.csv
bloomery build -q -o a.bloom --fpr 1e-6 <<<a
lines() { printf '%s\n' "$@"; }
expect_equal "$(bloomery check --column mail a.bloom m.csv more.csv)" "$(lines id,mail 1,a 4,a 6,a)"
expect_equal "$(bloomery check -v --column mail a.bloom m.csv more.csv)" "$(lines id,mail 2,b 3, 5,c)"
expect_equal "$(bloomery check --column 2 --header a.bloom m.csv)" "$(lines id,mail 1,a 4,a)"
expect_equal "$(bloomery check --column 2 a.bloom m.csv)" "$(lines 1,a 4,a)"
expect_equal "$(bloomery check --no-header --column mail a.bloom m.csv)" "$(lines 1,a 4,a)"
expect_equal "$(bloomery check --annotate --column mail a.bloom m.csv)" \
  "$(printf '\tid,mail\n+\t1,a\n-\t2,b\n-\t3,\n+\t4,a\n')"
expect_equal "$(bloomery check --only-keys -v --column mail a.bloom m.csv)" b
expect_equal "$(bloomery check -c --column mail a.bloom m.csv)" 2
expect_equal "$(bloomery check -v -c --column mail a.bloom m.csv)" 2
expect_status 1 bloomery check --column mail a.bloom <<<$'id,mail\n1,x'
expect_equal "$(cat out)" id,mail
# A column whose name looks like a number is named in quotes.
printf 'id,2024\n1,a\n2,b\n' >years.csv
expect_equal "$(bloomery check --column '"2024"' a.bloom years.csv)" "$(lines id,2024 1,a)"
expect_error "no column '7' among id, 2024" bloomery check --column '"7"' a.bloom years.csv
expect_equal "$(bloomery dedup -q --column mail m.csv more.csv)" "$(lines id,mail 1,a 2,b 3, 5,c)"
expect_equal "$(bloomery dedup -q --no-header --column mail m.csv)" "$(lines 1,a 2,b 3,)"
expect_status 0 bloomery check --column mail a.bloom m.csv
grep -q "^bloomery: 1 of 4 records without a key in column 'mail'$" err || fail "$(cat err)"
# As the help has it: day by day into one file.
printf 'id,mail\n7,a\n8,d\n' >tuesday.csv
bloomery dedup -q --column mail --state seen.bloom more.csv >new.csv
bloomery dedup -q --column mail --state seen.bloom --no-header tuesday.csv >>new.csv
expect_equal "$(cat new.csv)" "$(lines id,mail 5,c 6,a 8,d)"
# A header that is longer than a line, and one without rows.
printf '"the\nid",mail\n1,a' >odd.csv
expect_equal "$(bloomery check --column mail a.bloom odd.csv)" "$(printf '"the\nid",mail\n1,a')"
expect_equal "$(printf 'id,mail' | bloomery dedup -q --column mail)" id,mail

# JSON: what check does not print, check -v does, and nothing else.
printf '{"k":"a"}\n{"z":1}\n{"k":null}\n{"k":"b"}\n[1]\n' >k.json
bloomery check --json-key k a.bloom k.json >in
bloomery check -v --json-key k a.bloom k.json >out_of
expect_equal "$(cat in)" '{"k":"a"}'
expect_equal "$(cat out_of)" "$(tail -n +2 k.json)"
expect_equal "$(bloomery dedup -q --json-key k k.json k.json)" "$(cat k.json; grep -v '"k":"' k.json)"
expect_status 0 bloomery check --json --json-key k a.bloom k.json
expect_equal "$(json out '(d["keys"], d["matched"], d["keyless"], d["bad"])')" "(2, 1, 3, 0)"
expect_status 0 bloomery build -o x --json-key no k.json
grep -q "^bloomery: warning: none of 5 records has a field 'no'$" err || fail "$(cat err)"

# A number in JSON is the key that is written there, as in a line or a column; long ones stay
# different.
lines 20000000000000000001 20000000000000000002 1e3 1000.0 1000 -0 0 1.50 1.5 -9223372036854775808 -9223372036854775809 \
  0.1234567890123456789012 true false >numbers
sed 's/.*/{"z":{"n":7},"n":&}/' numbers >numbers.json
bloomery dedup -q --json-key n numbers.json | cmp - numbers.json
bloomery build -q -o lines.bloom numbers
bloomery build -q -o fields.bloom --json-key n numbers.json
cmp lines.bloom fields.bloom
printf '{"n":1e999}\n' >bad.json
expect_error "bad.json:1: a number that is too large" bloomery build -o x.bloom --json-key n bad.json
# The field is that of the path and no other; of repeated names the last one counts.
printf '%s\n' '{"a":{"b":1},"a":2}' '{"a":{"c":{"b":3},"d":[{"b":4}],"b":5}}' '[{"a":{"b":6}}]' '{"a":[{"b":7}]}' \
  '{"b":8,"a":{"b":9,"b":"x"}}' >paths.json
bloomery check -v --only-keys --json-key a.b a.bloom paths.json >out 2>err
expect_equal "$(cat out)" "$(lines 5 x)"

# Bad records: verbs that read name them and go on, verbs that write a filter stop, and the options
# choose.
printf '{"k":"a"}\nnot json\n{"k":[1]}\n{}\n{"k":"b"}\n' >bad.json
expect_status 0 bloomery check --json-key k a.bloom bad.json
expect_equal "$(cat out)" '{"k":"a"}'
expect_equal "$(cat err)" "$(lines 'bloomery: bad.json:2: not JSON; left out' \
  'bloomery: bad.json:3: the field is an object or an array, not a key; left out' \
  "bloomery: 1 of 5 records without a field 'k'")"
for verb in "check a.bloom" "dedup" "top" "check -c a.bloom"; do
  expect_status 0 bloomery $verb --json-key k bad.json
  expect_equal "$(grep -c 'left out' err)" 2
  expect_error "bad.json:2: not JSON" bloomery $verb --strict --json-key k bad.json
done
expect_error "bad.json:2: not JSON" bloomery build -o x.bloom --json-key k bad.json
cp a.bloom a.copy
expect_error "bad.json:2: not JSON" bloomery add a.bloom --json-key k bad.json
cmp a.bloom a.copy
[[ ! -e x.bloom ]] || fail "a filter of a bad list"
expect_status 0 bloomery build -o x.bloom --fpr 1e-6 --skip-bad --json-key k bad.json
expect_equal "$(grep -c 'left out' err)" 2 # and not once for each time that a file is read
expect_equal "$(lines a b c | bloomery check x.bloom)" "$(lines a b)"
expect_status 0 bloomery build -o x.bloom --skip-bad --json-key k <bad.json
expect_equal "$(grep -c 'left out' err)" 2
expect_status 0 bloomery build -q -o x.bloom --skip-bad --json-key k bad.json
expect_equal "$(cat err)" ""
printf '{"k":"a"}\n\n{}\n' >hole.json
expect_error "hole.json:3: no field 'k'" bloomery build -o y.bloom --strict --json-key k hole.json
expect_error "m.csv:4: no key in column 'mail'" bloomery check --strict --column mail a.bloom m.csv
expect_error "excludes" bloomery check --strict --skip-bad a.bloom m.csv

# Rows that are too short, quotes that do not end, keys that are not spelled as they should.
printf 'k,n\na,1\nb\n"c,2\na,4\n' >bad.csv
expect_status 1 bloomery check --column 2 --header a.bloom bad.csv
expect_equal "$(grep left err)" "$(lines 'bloomery: bad.csv:3: the row has 1 column, not 2; left out' \
  'bloomery: bad.csv:4: a quote that is never closed; left out')"
expect_equal "$(bloomery dedup -q --column n bad.csv)" "$(lines k,n a,1 a,4)"
# What stands behind a closing quote is no part of a key that anybody can know; nor is a column of
# two.
printf 'a,b\n1,"x"y\n2,"x"z\n3,"x"\r\n4,""\n"5"t,w\n6,"q""r"\n' >tail.csv
expect_status 0 bloomery dedup --column b tail.csv
expect_equal "$(cat out)" "$(printf 'a,b\n3,"x"\r\n4,""\n6,"q""r"')"
expect_equal "$(grep left err)" "$(for i in 2 3 6; do echo "bloomery: tail.csv:$i: text behind a closing quote; left out"; done)"
expect_error "tail.csv:2: text behind a closing quote" bloomery dedup --strict --column b tail.csv
expect_error "tail.csv:2: text behind a closing quote" bloomery build -o x.bloom --column 2 --header tail.csv
printf 'a,b,a\n1,2,3\n' >twice.csv
expect_error "twice.csv:1: two columns are called 'a'" bloomery check a.bloom --column a twice.csv
expect_equal "$(bloomery dedup -q --no-header --column b twice.csv)" 1,2,3
printf '1\nx\n3\n99999999999999999999\n' >bad.int
bloomery build -q --integers -o i.bloom --skip-bad bad.int
expect_equal "$(lines 1 2 3 | bloomery check --integers i.bloom)" "$(lines 1 3)"
printf 'n,k\n1,1\n2,\n3,x\n4,\n5,3\n' >bad.csv
expect_equal "$(bloomery check -v --integers --column k i.bloom bad.csv)" "$(lines n,k 2, 4,)"
expect_equal "$(bloomery check --annotate --integers --column k i.bloom bad.csv | tr -d '\t')" \
  "$(lines n,k +1,1 -2, -4, +5,3)"
printf '00\n0\nzz\n01\n' >bad.hex
expect_equal "$(bloomery dedup -q --hex bad.hex)" "$(lines 00 01)"

# Only the first five are named, those of the file's beginning, whatever the threads do.
seq 300000 | awk '{ print $1 % 3 == 0 ? "x" $1 : $1 }' >many
for threads in 1 7; do
  expect_status 0 bloomery check -c --threads $threads --integers i.bloom many
  expect_equal "$(head -5 err | cut -d: -f3 | tr -d '\n')" 3691215
  expect_equal "$(tail -n +6 err)" "bloomery: 100,000 bad records of 300,000 were left out, these are the first 5"
done

# A byte-order mark is no part of the first key, in lines, columns, JSON and tables; of binary
# records it is.
mark=$'\xef\xbb\xbf'
{ printf %s "$mark"; head -500 $words; } >marked
head -500 $words >plain
bloomery build -q -o marked.bloom marked
bloomery build -q -o plain.bloom plain
cmp marked.bloom plain.bloom
gzip -c marked | bloomery build -q -o marked.bloom
cmp marked.bloom plain.bloom
bloomery build -q -o marked.bloom <(printf '\xef'; sleep 0.1; tail -c +2 marked)
cmp marked.bloom plain.bloom
expect_equal "$(bloomery check -vc plain.bloom marked marked || true)" 0
expect_equal "$( (printf %s "$mark"; cat m.csv) | bloomery check --no-header --column id a.bloom || true)" ""
expect_equal "$( (printf '%s"id",mail\n1,a\n' "$mark") | bloomery check --column mail a.bloom)" "$(lines '"id",mail' 1,a)"
expect_equal "$( (printf %s "$mark"; cat k.json) | bloomery check --json-key k a.bloom)" '{"k":"a"}'
(printf '%s"id,",x\n1,2\n' "$mark") >left.csv
(printf '%s"id,",y\n1,3\n' "$mark") >right.csv
expect_equal "$(bloomery join -q --on id, left.csv right.csv)" "$(lines '"id,",x,y' 1,2,3)"
printf %s "$mark" | bloomery build -q --json -o x.bloom >out
expect_equal "$(json out 'd["keys"]')" 0
printf '\xef\n' | bloomery build -q --json -o x.bloom >out
expect_equal "$(json out 'd["keys"]')" 1
expect_equal "$(printf %s "$mark" | bloomery build -q --json -o x.bloom --record-bytes 3 | grep '"keys"')" '  "keys": 1,'

# Filters and archives are no lists; a word that looks like the beginning of one is a word.
hint="this is a filter, not a list of keys; 'bloomery merge' joins filters"
expect_error "plain.bloom: $hint" bloomery build -o x.bloom plain.bloom
expect_error "standard input: $hint" bloomery check plain.bloom - <plain.bloom
expect_error "plain.bloom: $hint" bloomery dedup plain.bloom
bloomery pack -q -o packed plain.bloom
expect_error "packed: $hint" bloomery add a.bloom packed
printf 'PK\3\4and so on' >a.zip
expect_error "a.zip: this is a ZIP archive" bloomery build -o x.bloom a.zip
tar -cf a.tar plain
tar -czf a.tgz plain
gzip -c plain.bloom >filter.gz
printf '\x04\x22\x4d\x18 and so on' >a.lz4
{ printf '\xff\xfe'; sed 's/./&\x0/g; s/$/\x0d\x0/' plain; } >utf16
for file in a.tar a.tgz; do expect_error "$file: this is a tar archive" bloomery build -o x.bloom $file; done
expect_error "filter.gz: $hint" bloomery check plain.bloom filter.gz
expect_error "a.lz4: this is packed with lz4" bloomery dedup a.lz4
expect_error "utf16: this is UTF-16, not UTF-8; convert it with 'iconv -f UTF-16" bloomery build -o x.bloom utf16
for form in '\xff\xfe\0\0a\0\0\0' '\0\0\xfe\xff\0\0\0a'; do
  printf "$form" >utf32
  expect_error "utf32: this is UTF-32, not UTF-8; convert it with 'iconv -f UTF-32" bloomery build -o x.bloom utf32
done
bloomery build -q --record-bytes 1 -o x.bloom utf16 # bytes are bytes
# Binary data and line ends of another system: a warning, once, and none where they are expected.
expect_status 0 bloomery build -o x.bloom "$BLOOMERY"
grep -q 'warning: .*: has NUL bytes' err || fail "$(cat err)"
sed 's/$/\r/' plain >dos
expect_status 0 bloomery build -o dos.bloom dos dos
expect_equal "$(grep CR err)" "bloomery: warning: dos: lines end with CR LF, and the CR is part of the keys; --crlf leaves it out"
for verb in "add x.bloom" "check plain.bloom" "dedup" "passwd build -o p.bloom" "top" "remove x.bloom"; do
  [[ $verb != remove* ]] || bloomery build -q --kind counting -o x.bloom dos
  bloomery $verb dos >out 2>err || true
  grep -q 'CR is part' err || fail "$verb: $(cat err)"
  bloomery $verb -q dos >out 2>err || true
  expect_equal "$(cat err)" ""
done
for verb in "build --crlf -o x.bloom" "passwd build --crlf -o p.bloom" "block build -o b.bloom" "build --column 1 -o x.bloom" "build -0 -o x.bloom"; do
  bloomery $verb dos >out 2>err || true
  ! grep -q "CR\|NUL" err || fail "$verb: $(cat err)"
done

# Empty lines: lines like others for what prints lines; what writes a filter says how many it leaves
# out.
printf 'a\n\nb\n\na\n' >holes
cmp <(bloomery dedup -q holes) <(awk '!seen[$0]++' holes)
expect_equal "$(bloomery check -vc a.bloom holes)" 3
expect_equal "$(bloomery check -c a.bloom holes)" 2
expect_equal "$(bloomery check --annotate -n a.bloom holes | cut -f2 | paste -sd' ')" "1:a 2: 3:b 4: 5:a"
cmp <(bloomery dedup -q --crlf <(sed 's/$/\r/' holes)) <(sed 's/$/\r/' holes | awk '!seen[$0]++')
expect_status 0 bloomery build -o x.bloom holes
grep -q "^bloomery: 2 empty lines were left out; with --keep-empty an empty line is a key$" err || fail "$(cat err)"
expect_status 0 bloomery build -o x.bloom <holes
expect_equal "$(grep -c '2 empty lines' err)" 1
expect_status 0 bloomery build --keep-empty -o x.bloom holes
! grep empty err || fail "nothing was left out"
expect_equal "$(bloomery check -c x.bloom holes)" 5
printf '\n7\n' | bloomery dedup -q --integers | cmp - <(echo 7)

# Files of other columns under one row of names.
printf 'id,mail\n1,a\n' >one.csv
printf 'mail,id\nb,2\n' >other.csv
printf 'id,mail\r\n3,c\r\n' >same.csv
for verb in "dedup" "check -v a.bloom"; do
  expect_status 0 bloomery $verb --column mail one.csv other.csv other.csv
  expect_equal "$(grep -c "warning: other.csv has other columns than one.csv" err)" 1
  expect_status 0 bloomery $verb --column id one.csv same.csv
  ! grep -q columns err || fail "$(cat err)"
done
expect_equal "$(lines BLOOMERY | bloomery dedup -q)" BLOOMERY
expect_equal "$(lines BZh9 BZhang | bloomery dedup -q)" "$(lines BZh9 BZhang)"
expect_equal "$(printf BZh91AY | bloomery dedup -q)" BZh91AY
bzip2 -c </dev/null | bloomery build -q --json -o x.bloom >out
expect_equal "$(json out 'd["keys"]')" 0
