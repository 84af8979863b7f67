# Values of options: one that is missing or empty is an error, and never the next argument; an
# option that is given twice is one, too.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 10 >list
cp list kept

# What `OUT=; bloomery build --output=$OUT list` asks for.
for verb in build pack merge "passwd build" "block build" "map build"; do
  expect_error "--output needs a value" bloomery $verb --output= list list
  expect_error "--output needs a value" bloomery $verb --output '' list
  expect_error "--output needs a value" bloomery $verb -o '' list
  cmp list kept
done
expect_error "--output needs a value" bloomery build list -o
expect_error "--output needs a value" bloomery build list --output=
rm out err
expect_equal "$(ls | tr '\n' ' ')" "kept list "

# Every option of every verb, as the help lists them; lines that are alike are of one function.
declare -A walked=()
walk() {
  local line option said status
  while read -r line; do
    [[ ${walked[$line]-} ]] && continue
    walked[$line]=1
    option=${line%% [!-]*}
    option=${option#-?, }
    status=0
    said=$(bloomery "$@" $option= list 2>&1) || status=$?
    [[ $status == 2 && $said == "bloomery: $option needs a value; see "* ]] || fail "$* $option=: status $status, $said"
  done < <(bloomery help "$@" | grep -E '^  (-[a-zA-Z0-9], )?--[a-z-]+ [^ ]')
}
for verb in $(bloomery help | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
  inner=$(bloomery help $verb | sed -n '/^Verbs:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
  if [[ $inner ]]; then
    for second in $inner; do walk $verb $second; done
  else
    walk $verb
  fi
done
((${#walked[@]} > 100)) || fail "only ${#walked[@]} options were found"

# Without them a filter would be public, and keys would be whole lines.
for line in "serve --read-token-file" "serve --user" "serve --certificate" "serve --certificate-key" "node --key-file" \
  "build --column" "build --json-key" "build --delimiter" "build --fpr" "build --seed" "build --bits-per-key" "dedup --state"; do
  read -r verb option <<<"$line"
  bloomery help | grep "^  $verb " >verbs || continue
  expect_error "bloomery: $option needs a value" bloomery $verb $option '' list
done

# Arguments may be empty, a value may look like such an option, and a value may end with "=".
bloomery build -q --keep-empty -o a.bloom list
expect_status 1 bloomery explain a.bloom ''
printf 'a\t--x=\n1\t2\n' >columns.tsv
bloomery build -q -o b.bloom --column --x= --delimiter '\t' columns.tsv
expect_equal "$(echo 2 | bloomery check b.bloom)" 2
expect_error "--quiet" bloomery build --quiet= -o c.bloom list
expect_error "no option --nonsense;" bloomery build --nonsense= -o c.bloom list

# An option that is given twice; some may be.
expect_error "bloomery: --fpr is given twice; see" bloomery build -o c.bloom --fpr 1% --fpr 0.1% list
expect_error "bloomery: --output is given twice; see" bloomery build -o c.bloom -o d.bloom list
expect_error "bloomery: --threads is given twice; see" bloomery build -o c.bloom --threads 1 --threads 1 list
expect_status 0 bloomery check --confirm list --confirm list a.bloom list
cmp out kept

# No numbers.
expect_error "--bits-per-key: 'ten' is no number" bloomery build -o c.bloom --bits-per-key ten list
expect_error "--bits-per-key: '8,5' is no number" bloomery build -o c.bloom --bits-per-key 8,5 list
bloomery build -q -o c.bloom --bits-per-key 12.5 list
