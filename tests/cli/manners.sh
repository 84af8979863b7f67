# Manners: what a shell user expects of every verb, whatever it does.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# The table of plan fits a terminal of 80 columns, with small numbers and with large ones.
for size in "--fpr 50%" "--fpr 1%" "--fpr 1e-7" "--fpr 1e-12" "--bytes 64" "--bytes 8T"; do
  for keys in 1 100 104334 1e9 1e12; do
    bloomery plan --keys $keys $size >text 2>err || continue
    grep -E '^.{81}' text && fail "more than 80 columns with --keys $keys $size"
    grep -q '^lower bound of any filter  *[0-9]' text || fail "no table: $(cat text)"
  done
done

seq 1000 >keys
bloomery build -q -o f.bloom keys

# Whole numbers are what they say, in every option that takes one.
for value in -1 18446744073709551616 1e3 0x10 " 1" 1.5; do
  expect_error "no whole number from 0 to 18446744073709551615" bloomery build -o x.bloom --seed "$value" keys
  expect_error "no whole number from 0 to 18446744073709551615" bloomery map build -o x.bloom --seed "$value" keys
  expect_error "no whole number from 0 to 4294967295" bloomery build -o x.bloom --probes "$value" keys
  expect_error "no whole number from 1 to 1024" bloomery build -o x.bloom --threads "$value" keys
  expect_error "no whole number from 1 to 1048576" bloomery top -k "$value" keys
  expect_error "no whole number" bloomery fold --by "$value" -o x.bloom f.bloom
  expect_error "no whole number from 1 to 63" bloomery build -o x.bloom --kind windowed --generations "$value" keys
  expect_error "no whole number" bloomery check -m "$value" f.bloom keys
done
expect_error "no whole number from 0 to 4294967295" bloomery build -o x.bloom --probes 4294967296 keys
bloomery build -q --seed 010 -o ten.bloom keys
bloomery build -q --seed 10 -o x.bloom keys
cmp ten.bloom x.bloom || fail "010 is not ten"

# M is a million of everything, and Mi is 2^20.
size() { bloomery plan --keys 1k --bytes $1 --json | json /dev/stdin 'max(r["bytes"] for r in d["rows"])'; }
expect_equal "$(size 10M)" "$(size 10000000)"
expect_equal "$(size 10MB)" "$(size 10000000)"
expect_equal "$(size 10Mi)" "$(size 10485760)"
expect_equal "$(size 10MiB)" "$(size 10485760)"
expect_equal "$(size 64k)" "$(size 64000)"
keys_of() { bloomery plan --keys $1 --json | json /dev/stdin 'd["keys"]'; }
expect_equal "$(keys_of 2M)" 2000000
expect_equal "$(keys_of 2Mi)" 2097152
expect_equal "$(keys_of 1.5Ki)" 1536
# Numbers may have the commas with which they are printed, but a comma is no decimal point.
expect_equal "$(keys_of 1,000)" 1000
expect_equal "$(keys_of 12,345,678)" 12345678
expect_equal "$(keys_of 1,000k)" 1000000
expect_equal "$(size 10,000,000)" "$(size 10000000)"
for text in 1,5 1,5k 1,00 1,0000 ,100 1000,000 1,000, 1,,000 1,000.5,0; do
  expect_error "'$text' is not a count" bloomery plan --keys $text
done

# plan names the kind that is the smallest, or that has the lowest rate in a size, and no other.
best() { bloomery plan "$@" | tr '\n' ' ' | grep -o "add '--kind [^.;]*"; }
expect_equal "$(best --keys 10)" "add '--kind classic' for the smallest"
expect_equal "$(best --keys 1M)" "add '--kind ribbon' for the smallest if the keys never change"
expect_equal "$(best --keys 1M --bytes 2M)" "add '--kind ribbon' for the lowest rate if the keys never change"

# The numbers at the end are of work that is done: nothing is left.
bloomery build --stats -o x.bloom keys 2>err
grep -q 'building 100 %' err || fail "$(cat err)"
! grep -q left err || fail "$(cat err)"
for text in 10X 10Mb 10iM 10MBB -1; do
  expect_error "'$text' is not a number of bytes" bloomery plan --keys 1k --bytes $text
  expect_error "'$text' is not a count" bloomery plan --keys $text
done
for text in 1e30 18446744073709551616 18446744073709551615k; do
  expect_error "'$text' is too large" bloomery plan --keys 1k --bytes $text
  expect_error "'$text' is too large" bloomery plan --keys $text
done

# check -q says nothing and ends with the first line that is selected, also where more is to come.
expect_status 0 bloomery check -q f.bloom keys
[[ ! -s out && ! -s err ]] || fail "not quiet: $(cat out err)"
expect_status 0 bloomery check -q -c f.bloom keys
[[ ! -s out ]] || fail "not quiet: $(cat out)"
expect_status 1 bloomery check -qv f.bloom keys
mkfifo endless
(echo no such key; echo 7; exec sleep 120) >endless &
writer=$!
expect_status 0 timeout 60 "$BLOOMERY" check -q f.bloom endless
(echo no such key; echo 7; exec sleep 120) >endless &
expect_status 0 timeout 60 "$BLOOMERY" check -m 1 --threads 4 f.bloom endless
expect_equal "$(cat out)" 7
kill $writer $! 2>/dev/null || true

# So it is with every verb whose exit status is the answer.
quiet() {  # quiet STATUS COMMAND...: prints nothing at all
  expect_status "$@"
  [[ ! -s out && ! -s err ]] || fail "not quiet: $* printed $(cat out err)"
}
printf '10.1.0.0/16\n' >blocked
bloomery block build -q -o blocked.bloom blocked
for options in -q -qc -qv "-q --only" "-q --top 1"; do
  quiet 0 bloomery block check $options blocked.bloom <(printf '10.1.2.3 x\n10.2.2.3 y\n')
done
quiet 1 bloomery block check -q blocked.bloom keys
bloomery passwd build -q -o forbidden.bloom keys
quiet 0 bloomery passwd check -q forbidden.bloom keys
quiet 0 bloomery passwd check -qc forbidden.bloom <keys
quiet 1 bloomery passwd check -qc forbidden.bloom /dev/null
quiet 0 bloomery explain -q f.bloom 7
quiet 1 bloomery explain -q f.bloom seven
if bloomery help search >/dev/null 2>&1; then  # where the tool has ICU
  bloomery index -q -o index.bloom keys
  quiet 0 bloomery search -q index.bloom 7
  quiet 0 bloomery search -qc --verify index.bloom 7
  quiet 1 bloomery search -q --verify index.bloom nosuchword
  quiet 0 bloomery spell -q -d "$words" <(echo brwon)
  quiet 0 bloomery spell -qc -d "$words" <(echo brwon)
  quiet 1 bloomery spell -q -d "$words" <(echo brown)
fi
if bloomery help share >/dev/null 2>&1; then  # and libsodium
  seq 32 | sha256sum | cut -c1-64 >secret
  chmod 600 secret
  bloomery share make -q --key-file secret --for bert -o bert keys
  quiet 0 bloomery share ask -q bert keys
  quiet 1 bloomery share ask -q bert /dev/null
fi
# The first selected line is the end, also where more is to come.
for verb in "block check -q blocked.bloom" "passwd check -q forbidden.bloom"; do
  (echo none; echo 7 10.1.2.3; echo 7; exec sleep 120) >endless &
  expect_status 0 timeout 60 "$BLOOMERY" $verb endless
  kill $! 2>/dev/null || true
done

# "--" ends the options of every verb, whatever stands before it.
seq 5 8 >./-n
for verb in top "count counts.bloom" dedup "check f.bloom"; do
  [[ $verb != count* ]] || bloomery build -q --kind count-min -o counts.bloom keys
  bloomery $verb -- -n >got 2>err || fail "$verb -- -n: $(cat err)"
  cmp got <(bloomery $verb ./-n 2>err) || fail "$verb -- -n printed $(cat got)"
done
for verb in top "count counts.bloom" dedup; do
  bloomery $verb keys -- -n >got 2>err || fail "$verb keys -- -n: $(cat err)"
  cmp got <(bloomery $verb keys ./-n 2>err) || fail "$verb keys -- -n printed $(cat got)"
done
bloomery build -q -o x.bloom keys -- -n
bloomery merge -q -o y.bloom f.bloom -- x.bloom || fail "merge"
cp f.bloom ./-f
bloomery verify -q f.bloom -- -f || fail "verify"
bloomery info f.bloom -- -f | grep -q '^-f: blocked filter' || fail "info"
expect_status 1 bloomery explain f.bloom -- -9
grep -q "^key      -9 (2 bytes)$" out || fail "$(cat out)"
expect_error "--no-such-file: there is no such file" bloomery top keys -- --no-such-file
expect_error "one argument too many: -7;" bloomery explain f.bloom 7 -- -7
expect_error "there is no option -n; see" bloomery top -n 5 keys

# One of a thing is one thing.
printf 'id,a\n7,1\n' >a.csv
printf 'id,b\n7,2\n' >b.csv
bloomery join a.csv b.csv --on id >out 2>err
grep -qE '^1 of 1 row of A sent: ' err || fail "$(cat err)"
! grep -q '%' err || fail "a share of more than all: $(cat err)"
expect_status 0 bloomery block check blocked.bloom <(echo 10.1.2.3)
grep -qE '^1 line, 1 blocked; ([2-9]|[0-9,]{2,}) lines per second$|1 line per second$' err || fail "$(cat err)"
expect_status 0 bloomery dedup <(echo 7)
grep -q '^bloomery: 1 line, 1 printed' err || fail "$(cat err)"

# grep's options mean what they mean in grep.
printf 'no such line\n\n7\nnor this\n8\n' >one
printf '9\n' >two
for options in -n -H -nH -m1 "-m 2 -n" -c "-v -n" "-vm1" "--line-buffered -n" "-m0"; do
  { grep -xFf keys $options one || true; } >expected
  { bloomery check $options f.bloom one || true; } >got
  cmp got expected || fail "check $options: $(cat got), not $(cat expected)"
done
expect_equal "$(bloomery check -H -n f.bloom one two | tr '\n' ' ')" "one:3:7 one:5:8 two:1:9 "
# -m is of each input, also where an input has many chunks; the rest of a pipe is not waited for.
seq 300000 >long
bloomery build -q --fpr 1e-9 -o exact.bloom keys
for options in "-H -m1" "-H -n -m2" "-H -c -m1" "-H -v -m1" "-H -n -vm 150000" "-H -m0"; do
  for threads in 1 4; do
    { grep -xFf keys $options one long two || true; } >expected
    { bloomery check --threads $threads $options exact.bloom one long two || true; } >got
    cmp got expected || fail "check $options: $(head got), not $(head expected)"
  done
done
expect_equal "$(bloomery check -qm1 f.bloom one two && echo found)" found
expect_equal "$(bloomery check -cm1 f.bloom one long two)" 3
(echo no such key; echo 7; exec sleep 120) >endless &
expect_status 0 timeout 60 "$BLOOMERY" check -m 1 --threads 4 f.bloom endless two
expect_equal "$(tr '\n' ' ' <out)" "7 9 "
kill $! 2>/dev/null || true
seq 100000 >many
expect_equal "$(bloomery check -n --threads 3 f.bloom many | awk -F: '$1 != $2' | wc -l)" 0
printf 'name,id\nx,7\ny,none\nz,8\n' >table
expect_equal "$(bloomery check -n --column id f.bloom table | grep -c '^[24]:')" 2
printf '7\0none\0008\0' | bloomery check -0n f.bloom | tr '\0' ' ' >got
expect_equal "$(cat got)" "1:7 3:8 "
bloomery build -q --record-bytes 1 -o bytes.bloom one
expect_error "only lines have numbers" bloomery check -n --record-bytes 1 bytes.bloom one

# A word is no file. Several filters say which of them have the line.
expect_error "if it is a key, give it to standard input" bloomery check f.bloom apples
seq 500 >low
seq 400 900 >high
bloomery build -q --fpr 1e-6 -o low.bloom low
bloomery build -q --fpr 1e-6 -o high.bloom high
printf '100\n450\n800\nnone\n' >asked
expect_equal "$(bloomery check low.bloom high.bloom -- asked | tr '\n\t' ';=')" \
  "low.bloom=100;low.bloom,high.bloom=450;high.bloom=800;"
expect_equal "$(bloomery check low.bloom high.bloom -- <asked | wc -l)" 3
expect_equal "$(bloomery check -v low.bloom high.bloom -- asked)" none
expect_equal "$(bloomery check --annotate low.bloom high.bloom -- asked | tr '\n\t' ';=')" "+-=100;++=450;-+=800;--=none;"
expect_equal "$(bloomery check -c low.bloom high.bloom -- asked | tr '\n' ' ')" "low.bloom:2 high.bloom:2 "
bloomery check --json low.bloom high.bloom -- asked >got
expect_equal "$(json got '(d["keys"], d["matched"], [f["matched"] for f in d["filters"]])')" "(4, 3, [2, 2])"
expect_equal "$(bloomery check -c -- f.bloom keys)" 1000
expect_equal "$(bloomery check -c f.bloom -- keys)" 1000
cp keys ./-keys
expect_equal "$(bloomery check -c f.bloom -- -keys)" 1000
bloomery info low.bloom high.bloom | grep -c ': blocked filter' | grep -qx 2 || fail "info of two"
bloomery info --json low.bloom high.bloom | grep -c '"file"' | grep -qx 2 || fail "info --json of two"
head -c 300 low.bloom >cut.bloom
expect_status 2 bloomery verify low.bloom cut.bloom high.bloom
expect_equal "$(wc -l <out) $(wc -l <err)" "2 1"
expect_status 2 bloomery verify --json cut.bloom
expect_equal "$(json out '(d["file"], d["sound"], "cut.bloom" in d["error"])')" "('cut.bloom', False, True)"
expect_error "missing" bloomery verify --json missing
expect_equal "$(json out 'd["sound"]')" False
# info has the same object, and the sound ones have theirs.
expect_status 2 bloomery info --json cut.bloom
expect_equal "$(json out '(d["file"], d["sound"], "cut.bloom" in d["error"])')" "('cut.bloom', False, True)"
expect_status 2 bloomery info --json low.bloom cut.bloom high.bloom
expect_equal "$(grep -c '"sound": false' out) $(grep -c '"kind": "blocked"' out) $(grep -c '"file"' out)" "1 2 3"
expect_error "cut.bloom: " bloomery info cut.bloom
[[ ! -s out ]] || fail "an object without --json: $(cat out)"

# --confirm makes the answer exact: a filter with many false positives, and grep for the truth.
bloomery build -q --fpr 30% -o rough.bloom keys
bloomery check -c rough.bloom many | grep -qx 1000 && fail "no false positives to confirm"
bloomery check --confirm keys rough.bloom many | cmp - keys
expect_equal "$(bloomery check -vc --confirm keys rough.bloom many)" 99000
expect_error "reads the input twice" bash -c 'cat many | "$BLOOMERY" check --confirm keys rough.bloom'

# compare takes two, and says in words what it found.
expect_error "takes two filters, not 3" bloomery compare f.bloom f.bloom f.bloom
expect_error "takes two filters, not 1" bloomery compare f.bloom
bloomery build -q --keys 2000 -o all.bloom keys
bloomery build -q --keys 2000 -o some.bloom low
bloomery build -q --keys 2000 -o else.bloom <(seq 900 1500)
bloomery compare some.bloom all.bloom | grep -q 'A is probably a subset of B' || fail "no subset"
bloomery compare all.bloom some.bloom | grep -q 'B is probably a subset of A' || fail "no subset"
bloomery compare all.bloom all.bloom | grep -q 'probably the same keys' || fail "not the same"
bloomery compare all.bloom else.bloom | grep -q 'neither is a subset of the other, for sure' || fail "a subset"
bloomery compare all.bloom else.bloom | grep -q '_' && fail "raw names"
bloomery compare --json some.bloom all.bloom >got
expect_equal "$(json got '(d["a_may_be_in_b"], d["b_may_be_in_a"])')" "(True, False)"

# Nothing where something was meant is worth a word.
warns() { # TEXT COMMAND...
  expect_status 0 "${@:2}"
  grep -q "warning: .*$1" err || fail "no warning from ${*:2}: $(cat err)"
}
: >empty
warns "no keys in the input" bloomery build -o x.bloom empty
warns "no keys in the input" bloomery build --kind ribbon -o x.bloom empty
warns "no keys in the input" bloomery add f.bloom empty
warns "no keys in the input" bloomery map build -o x.bloom empty
warns "no keys in the input" bloomery passwd build -o x.bloom empty
warns "no keys in the input" bloomery block build -o x.bloom empty
warns "no keys in the input" bloomery spell build -o x.bloom empty
warns "--keys is 0" bloomery build --keys 0 -o x.bloom keys
echo '{"mail": "a"}' >lines.json
warns "field 'mial'" bloomery build --json-key mial -o x.bloom lines.json

# Who waits for a server says so after a second; nobody listens on port 1.
if bloomery help push >/dev/null 2>&1; then
  expect_status 2 bloomery push --timeout 2 f.bloom redis://127.0.0.1:1/f
  grep -q '^bloomery: 127.0.0.1:1: .*refused.*; trying again, for 2 seconds in all' err || fail "silent: $(cat err)"
  expect_error "given up after" bloomery push -q --timeout 1 f.bloom redis://127.0.0.1:1/f
fi

# Messages: one thing is one thing, and nothing is said twice.
echo alone >single
bloomery build -o x.bloom single 2>err
grep -q 'filter of 1 key,' err || fail "$(cat err)"
expect_error "f.bloom: a blocked filter cannot have keys removed" bloomery remove f.bloom keys
grep -q 'f.bloom: f.bloom' err && fail "said twice: $(cat err)"
bloomery pack -o x.packed x.bloom 2>err
grep -Eq '[0-9]{3,}\.[0-9]+ %' err && fail "more than all of it: $(cat err)"
grep -q ' times the ' err || fail "$(cat err)"
bloomery build -q --kind windowed --window 1h --keys 1000 -o hour.bloom keys
bloomery info hour.bloom | grep -qx '  window    the keys of the last 1 h at least' || fail "$(bloomery info hour.bloom)"
expect_error "'bloomery map' needs a verb: build, get or set; see" bloomery map
expect_error "F is missing: The filter file" bloomery check
expect_error "--output F is missing: The filter file to write" bloomery build keys
expect_error "--seed needs a value" bloomery build -o x.bloom keys --seed
expect_error "one argument too many: extra" bloomery plan --keys 5 extra
bloomery explain f.bloom $'a\tb\e[31m\n' >got || true
grep -qF 'key      a\tb\x1b[31m\n (9 bytes)' got || fail "$(cat -v got)"
! grep -q $'\e' got || fail "control characters: $(cat -v got)"
# So are those of ISO 6429 in UTF-8, and what is no UTF-8; letters stay.
bloomery explain f.bloom $'caf\xc3\xa9 \xc2\x9b31m\xff' >got || true
grep -qF $'key      caf\xc3\xa9 \\xc2\\x9b31m\\xff (12 bytes)' got || fail "$(cat -v got)"
# And what messages quote: names of columns, of files, and what is given to options.
printf 'a\e[31m,b\xc2\x9b\n1,2\n' >t.csv
expect_error 'a\x1b[31m, b\xc2\x9b' bloomery build -o x3.bloom --column none t.csv
! grep -q $'\e\|\xc2' err || fail "control characters: $(cat -v err)"
expect_error 'no\x1b[31mfile: opening failed' bloomery info $'no\e[31mfile'
expect_error '\x1b[31m' bloomery plan --keys $'\e[31m'
cp f.bloom $'n\e.bloom'
expect_status 0 bloomery pack -o p.bloom $'n\e.bloom'
expect_status 0 bloomery pack -o $'p\e.bloom' f.bloom
grep -q '^p\\x1b.bloom: ' err || fail "$(cat -v err)"
printf '10.0.0.1\n\e[31m no\xfe\n' >hosts
expect_status 0 bloomery block build -o hosts.bloom hosts
grep -qF '[31m no\xfe' err || fail "$(cat -v err)"
! grep -q $'\e' err || fail "control characters: $(cat -v err)"

# What is one is not told of as several.
echo 1 | bloomery build -q --kind classic -o one.bloom
bloomery info one.bloom | grep -qx ' *about 1 different one by what is in it' || fail "$(bloomery info one.bloom)"
expect_error "for a blocked filter with 1 probe" bloomery build -o x3.bloom --bytes 10 --probes 1 keys
# A word may be a key where keys are asked; a list, a text, a dictionary is a file.
expect_error "nofile: opening failed: No such file or directory" bloomery check --confirm nofile f.bloom keys
echo word >dictionary
bloomery spell build -q -o dictionary.bloom dictionary
expect_error "nofile: opening failed: No such file or directory" bloomery spell -d dictionary.bloom nofile
expect_error "nofile: opening failed: No such file or directory" bloomery block build -o x3.bloom nofile
# The name of a picture is easily forgotten.
expect_error "F is missing" bloomery info --plot f.bloom
grep -q 'plot took f.bloom as the name of the picture' err || fail "$(cat err)"
# Nothing to say is said.
for verb in top quantiles; do
  expect_status 1 bloomery $verb /dev/null
  [[ ! -s out ]] || fail "$verb of nothing: $(cat out)"
  grep -qx 'bloomery: no \(keys\|numbers\) were read' err || fail "$verb is silent: $(cat err)"
  expect_status 1 bloomery $verb -q /dev/null
  [[ ! -s err ]] || fail "$verb is not quiet: $(cat err)"
done

# As grep has it: an input that cannot be read is told of, the others have their turn, and the
# status is 2.
mkdir -p a_folder
seq 3 >three
: >nothing
expect_status 2 bloomery check f.bloom three nosuch.txt a_folder three
expect_equal "$(cat out)" "$(cat three three)"
expect_equal "$(sed 's/: .*//' err | tr '\n' ' ')" "bloomery bloomery "
grep -q 'nosuch.txt: opening failed' err && grep -q 'a_folder: reading failed' err || fail "$(cat err)"
expect_status 2 bloomery check -c f.bloom nosuch.txt three
expect_equal "$(cat out)" 3
expect_status 0 bloomery check -q f.bloom nosuch.txt three
expect_status 2 bloomery check -qv f.bloom nosuch.txt three
expect_status 2 bloomery check -c f.bloom nosuch.txt
[[ ! -s out ]] || fail "a count of nothing: $(cat out)"
# A count for each input with -H, also of empty ones, and for each filter.
expect_status 0 bloomery check -cH f.bloom three nothing keys three
expect_equal "$(cat out)" $'three:3\nnothing:0\nkeys:1000\nthree:3'
expect_status 2 bloomery check -cH f.bloom nosuch.txt nothing three
expect_equal "$(cat out)" $'nothing:0\nthree:3'
expect_status 0 bloomery check -cH f.bloom <three
expect_equal "$(cat out)" "standard input:3"
bloomery build -q -o g.bloom three
expect_status 0 bloomery check -cH --confirm keys f.bloom g.bloom -- three
expect_equal "$(cat out)" $'f.bloom:three:3\ng.bloom:three:3'
# Verbs that write a filter do not go on: it would lack keys.
expect_error "nosuch.txt" bloomery build -o x2.bloom three nosuch.txt
[[ ! -e x2.bloom ]] || fail "a filter without some of its keys"

# What is wrong with options or the output is said before the input is read: here it never ends.
mkfifo no_end
sleep 1000 >no_end & no_end=$!
for wrong in '--fpr 101%' '--probes 0' '--bits-per-key 0'; do
  expect_error 'must be' timeout 60 "$BLOOMERY" build $wrong -o never.bloom no_end
done
kill $no_end
expect_error ". is a folder; name a file in it" bloomery build -o . keys
expect_error "nowhere/x: there is no folder nowhere" bloomery build -o nowhere/x keys

# What is printed for people has no control characters of names, and one line for each file.
odd=$'f\a\e[31m\nkeys: sound, 1 byte'
cp f.bloom "$odd"
for verb in info verify explain compare; do
  second=()
  [[ $verb != explain ]] || second=(7)
  [[ $verb != compare ]] || second=(f.bloom)
  bloomery $verb "$odd" "${second[@]}" >out
  ! grep -qE $'\a|\e|^keys: sound' out || fail "$verb: $(cat -v out)"
done
