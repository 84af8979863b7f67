# Lines that all have one hash under XXH3 with seed 0: the first eight bytes are those of its public
# secret, so that the eight after them are multiplied by zero. What lives in one process takes them
# apart; files need a key.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

for i in $(seq 10000000 10000999); do printf '\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe%d0123456789abcdef\n' "$i"; done >lines
head -1 lines >one
expect_equal "$(bloomery dedup -q -c --hash xxh3 lines)" 1
printf '000102030405060708090a0b0c0d0e0f\n' >key
printf 'ff0102030405060708090a0b0c0d0e0f\n' >wrong

# dedup and top draw a secret; with a state it is in the file, and the next run goes on with it.
expect_equal "$(bloomery dedup -q -c lines)" 1000
bloomery dedup -q --hash siphash --key-file key lines >out
cmp lines out
for state in a b; do bloomery dedup -q --state $state.bloom lines >out; cmp lines out; done
expect_equal "$(bloomery dedup -q -c --state a.bloom lines)" 0
for state in a b; do bloomery info --json $state.bloom >$state.json; done
expect_equal "$(json a.json 'd["hash"]')" xxh3-secret
[[ $(json a.json 'd["seed"]') != $(json b.json 'd["seed"]') ]] || fail "two runs have one secret"
expect_error "seeds differ" bloomery merge -o x.bloom a.bloom b.bloom
for state in c d; do bloomery dedup -q --seed 7 --state $state.bloom lines >out; done
cmp c.bloom d.bloom || fail "--seed does not fix the secret"
bloomery dedup -q --seed 7 --state c.bloom lines >out
expect_error "begun with --hash xxh3-secret --seed 7" bloomery dedup --seed 8 --state c.bloom lines
expect_error "begun with --hash xxh3-secret --seed 7" bloomery dedup --hash xxh3 --state c.bloom lines
expect_error "xxh3-secret takes no --key-file" bloomery dedup --key-file key --state c.bloom lines
bloomery dedup -q --state keyed.bloom --hash siphash --key-file key one >out
expect_error "--key-file" bloomery dedup --state keyed.bloom lines
expect_error "another secret key" bloomery dedup --key-file wrong --state keyed.bloom lines
expect_equal "$(bloomery dedup -q -c --key-file key --state keyed.bloom lines)" 999
bloomery build -q -o built.bloom --kind scalable --fpr 1e-6 one   # a state has its own hash
expect_equal "$(bloomery dedup -q -c --state built.bloom lines)" 0

expect_equal "$(bloomery top -q -k 2000 --hash xxh3 lines | wc -l)" 1
expect_equal "$(cat lines lines | bloomery top -q -k 2000 | cut -f2 | sort | uniq -c | tr -s ' ')" " 1000 2"
bloomery top -q -k 1000 --key-file key -o top.bloom lines >out
expect_equal "$(bloomery count --key-file key top.bloom lines | cut -f2 | sort -u)" 1
expect_error "--key-file" bloomery count top.bloom lines
bloomery top -q -k 1000 -o top.bloom lines >out
expect_equal "$(bloomery count top.bloom lines | cut -f2 | sort -u)" 1
expect_error "key is an input" bloomery top -o key --key-file key lines

# 256 addresses of one network have one hash under seed 0.
for i in $(seq 0 255); do printf 'ded4:6de9:8390:97db::%x\n' "$i"; done >addresses
printf 'ded4:6de9::/32\n' | bloomery block build -q -o block.bloom
bloomery block check -q --json --top 300 block.bloom addresses >out
expect_equal "$(json out 'len(d["top"])')" 256

# build gives the same bytes each time, so that its hash is known: a key is needed to keep such
# lines apart.
bloomery build -q -o x.bloom --fpr 1e-9 one
bloomery build -q -o y.bloom --fpr 1e-9 one
cmp x.bloom y.bloom
expect_equal "$(bloomery check -c x.bloom lines)" 1000
for hash in "siphash --key-file key" "xxh3-secret" "xxh3-secret --seed 3"; do
  bloomery build -q -o x.bloom --fpr 1e-9 --hash $hash one
  option=; [[ $hash != siphash* ]] || option="--key-file key"
  expect_equal "$(bloomery check -c $option x.bloom lines)" 1
  bloomery build -q -o y.bloom --fpr 1e-9 --hash $hash one
  status=0; cmp -s x.bloom y.bloom || status=$?
  expect_equal $status "$([[ $hash == xxh3-secret ]] && echo 1 || echo 0)"
done

# A map: two keys with one hash and two values cannot be told apart.
awk '{ printf "%s\t%d\n", $0, NR }' lines >pairs
expect_status 2 bloomery map build -o map.bloom pairs
for hash in "--hash siphash --key-file key" "--key-file key" "--hash xxh3-secret"; do
  for strings in "" --strings; do
    bloomery map build -q $strings -o map.bloom $hash pairs
    option=; [[ $hash != *key-file* ]] || option="--key-file key"
    bloomery map get $option map.bloom lines >out
    cmp pairs out
    sed -n '5s/\t5$/\t6/p' pairs | bloomery map set -q $option map.bloom
    expect_equal "$(sed -n 5p lines | bloomery map get $option map.bloom | cut -f2)" 6
    [[ -z $option ]] || expect_error "--key-file" bloomery map get map.bloom lines
    [[ -z $option ]] || expect_error "--key-file" bloomery map set map.bloom pairs
    [[ -z $option ]] || expect_error "another secret key" bloomery map get --key-file wrong map.bloom lines
  done
done
expect_error "key is an input" bloomery map build -o key --key-file key pairs
