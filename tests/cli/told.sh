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
