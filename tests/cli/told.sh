# What is left out is told: all lines of a bad row, inputs that are no lists, empty lines, and lines
# that only a state has seen. What is refused names what the caller can change.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
lines() { printf '%s\n' "$@"; }
bloomery build -q -o a.bloom --fpr 1e-6 <<<a

# A quote that nobody closes ends at the next one, lines later: all of them are named.
printf 'id,name\n4,"unterminated\n5,a\n6,"x"\n7,b\n' >torn.csv
torn="torn.csv:2: text behind a closing quote, in the row of lines 2 to 4"
expect_status 0 bloomery dedup --column id torn.csv
expect_equal "$(cat out)" "$(lines id,name 7,b)"
expect_equal "$(grep left err)" "bloomery: $torn; left out"
expect_status 1 bloomery check --column id a.bloom torn.csv
expect_equal "$(grep left err)" "bloomery: $torn; left out"
expect_error "$torn" bloomery build -o x.bloom --column id torn.csv
expect_error "$torn" bloomery join --on id torn.csv torn.csv
printf 'a\n"1\n2"\n' >short.csv
expect_error "short.csv:2: the row has 1 column, not 2, in the row of lines 2 to 3" \
  bloomery build -o x.bloom --column 2 --header short.csv

# Inputs of check that are no lists are told of like missing ones, and the others have their turn.
lines a b >list
printf 'PK\3\4and so on' >a.zip
gzip -c a.bloom >filter.gz
printf '\xff\xfea\0\n\0' >utf16
for bad in a.zip a.bloom filter.gz utf16; do
  expect_status 2 bloomery check a.bloom list $bad list
  expect_equal "$(cat out)" "$(lines a a)"
  expect_equal "$(grep -c "^bloomery: $bad: this is " err)" 1
  expect_status 0 bloomery check -q a.bloom $bad list
  expect_status 2 bloomery check -cH a.bloom $bad list
  expect_equal "$(cat out)" list:1
  expect_error "$bad: this is " bloomery check a.bloom $bad
  expect_error "$bad: this is " bloomery build -o x.bloom list $bad
done
printf 'x\na\n' >other.csv
printf 'k\na\n' >right.csv
expect_status 2 bloomery check --column k a.bloom other.csv right.csv
expect_equal "$(cat out)" "$(lines k a)"
grep -q "^bloomery: other.csv:1: there is no column 'k' among x" err || fail "$(cat err)"
seq 100000 | sed 's/^/"/; s/$/",/' >more.csv # in several pieces
sed -i '1s/.*/k,/' more.csv
expect_status 2 bloomery check -v -c --column k --threads 4 a.bloom more.csv other.csv more.csv
expect_equal "$(cat out)" 199998

# Empty lines of reconcile.
printf 'x\n\ny\n\n' >a
printf 'y\nz\n' >b
expect_status 0 bloomery reconcile -o union a b
expect_equal "$(cat union)" "$(lines x y z)"
grep -qF 'bloomery: a: 2 empty lines were left out; with --keep-empty an empty line is a line too' err || fail "$(cat err)"
! grep -q 'b: ' err || fail "$(cat err)"
expect_status 0 bloomery reconcile --keep-empty -o union a b
expect_equal "$(cat union)" "$(lines x '' y '' z)"
! grep -q 'empty' err || fail "$(cat err)"
expect_status 0 bloomery reconcile -q a b
[[ ! -s err ]] || fail "$(cat err)"

# A state has seen what was only counted.
for numbers in -c --json; do
  rm -f s.bloom
  expect_status 0 bloomery dedup $numbers --state s.bloom list
  grep -qF 'warning: no line was printed, but s.bloom has seen' err || fail "$(cat err)"
  expect_status 0 bloomery dedup $numbers --state s.bloom list
  ! grep -q warning err || fail "$(cat err)" # nothing new
done
expect_status 0 bloomery dedup -c list
! grep -q warning err || fail "$(cat err)"

# A list without an entry, and addresses with a prefix that is none.
printf '10.0.0.0/33\n' >prefix
expect_error "prefix:1: '10.0.0.0/33' is no address, domain, URL" bloomery block build --strict -o x.bloom prefix
expect_error "prefix:1: '10.0.0.0/33' is no entry of a block list, nor is any other line" \
  bloomery block build -o x.bloom prefix
printf '/banner/\n@@||a.example^\n' >rules
expect_error "rules: no line is an entry that a filter can hold: 1 exception, 0 hiding rules, 0 rules with options, 1 pattern" \
  bloomery block build -o x.bloom rules
[[ ! -e x.bloom ]] || fail "a filter of nothing"

# With both files here, nobody is hostile.
seq 20000 >many
seq 10000 30000 >others
expect_error "--memory 100k is too little for these two files" bloomery reconcile -q --memory 100k many others
(echo k,x; sed 's/$/,1/' many) >many.csv
(echo k,y; sed 's/$/,2/' others) >others.csv
expect_error "--memory 100k is too little for these two files" bloomery join -q --on k --memory 100k many.csv others.csv

# Texts in UTF-16, as lists: no words would be found in them. An index has the others.
bloomery help search >/dev/null 2>&1 || exit 0 # where the tool has no ICU
printf 'UTF-8\na1b\n' >patterns
for verb in "spell -d list" "hyphenate --patterns patterns" "spell build -o x.bloom"; do
  expect_error "utf16: this is UTF-16, not UTF-8; convert it with 'iconv" bloomery $verb utf16
done
expect_error "standard input: this is UTF-16" bloomery spell -d list <utf16
mkdir texts
cp utf16 list texts
expect_status 2 bloomery index -o i.bloom texts
grep -q '^bloomery: texts/utf16: this is UTF-16' err || fail "$(cat err)"
grep -q '^i.bloom: 1 document, 2 words, each counted once a document, ' err || fail "$(cat err)"
expect_equal "$(bloomery search i.bloom a)" texts/list
expect_status 0 bloomery index -I -o i.bloom texts
