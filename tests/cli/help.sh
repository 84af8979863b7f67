# Help: the verbs by task, one verb, and what was meant when a name is wrong.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

expect_status 0 bloomery help
cp out help
grep -q '^Make and change filters:$' help || fail "no tasks: $(cat help)"
expect_status 0 bloomery --help
cmp out help
# Nothing was done, so it is no success; and a script does not take it for a result.
expect_status 2 bloomery
cmp err help
[[ ! -s out ]] || fail "help on standard output"

for words in build "map get" completion; do
  expect_status 0 bloomery help $words
  cp out help
  expect_status 0 bloomery $words --help
  cmp out help
done
bloomery help map | grep -q '^  set ' || fail "no verbs of map"
for verb in "" $(bloomery help | sed -n 's/^  \([a-z]\+\) .*/\1/p') "map build" "map get" "map set"; do
  bloomery help $verb | grep -v '^  [a-z]* *|* *bloomery ' | grep -E '^.{80}' && fail "long lines in the help of '$verb'"
done

expect_error "no verb 'biuld', did you mean 'build'?" bloomery biuld -o x.bloom $words
expect_error "no verb 'inter', did you mean 'intersect'?" bloomery inter
expect_error "no verb 'chekc', did you mean 'check'?" bloomery help chekc
expect_error "no verb 'map gte', did you mean 'get'? see 'bloomery help map'" bloomery map gte
expect_error "no verb 'nonsense'; see 'bloomery help'" bloomery nonsense
expect_error "no option --kidn, did you mean '--kind'?" bloomery build --kidn classic
expect_error "no option --fp, did you mean '--fpr'?" bloomery plan --keys 10 --fp=1%
expect_error "no option --nonsense; see 'bloomery map get --help'" bloomery map get --nonsense x
