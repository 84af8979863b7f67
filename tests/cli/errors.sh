# Errors: one line, exit status 2, the file's name in it, and nothing left behind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bloomery build -q -o w.bloom $words

expect_error missing bloomery check w.bloom missing
expect_error missing bloomery check missing $words
expect_error missing bloomery build -o x.bloom missing
expect_error missing bloomery add missing $words
expect_error missing bloomery info missing
expect_error missing bloomery verify missing
expect_error "'bloomery build --help'" bloomery build $words
expect_error "1.5" bloomery build -o x.bloom --fpr 1.5 $words
expect_error "0" bloomery build -o x.bloom --fpr 0 $words
expect_error "nan" bloomery build -o x.bloom --fpr nan $words
expect_error "'lots'" bloomery build -o x.bloom --keys lots $words
expect_error "at least 1" bloomery plan --keys 0
expect_error "2^48" bloomery plan --keys 1e15
expect_error "--keys is missing" bloomery plan
expect_error "more keys must be possible" bloomery plan --keys 1M --universe 1M
expect_error "'2^x' is not a number of possible keys" bloomery plan --keys 1M --universe 2^x
expect_error "'5 h' is not a time" bloomery plan --keys 1M --lookup-time '5 h' --present 1 --absent 1
expect_error "--present" bloomery plan --keys 1M --lookup-time 5ms
expect_error "--lookup-time" bloomery plan --keys 1M --present 5
expect_error "at least 9.59" bloomery plan --keys 1M --packed 9
expect_error "from 1 to 2^32" bloomery plan --keys 1M --key-bytes 0
expect_error "2^60" bloomery plan --keys 1e18
expect_error "at least 64" bloomery build -o x.bloom --bytes 10 $words
expect_error "from 1 to 16 in a blocked filter" bloomery build -o x.bloom --probes 17 $words
expect_error "from 1 to 16 in a counting (in lines) filter" bloomery build -o x.bloom --kind counting --probes 17 $words
expect_error "from 1 to 64 in a classic filter" bloomery build -o x.bloom --kind classic --probes 65 $words
expect_error "at least 4 seconds" bloomery dedup --window 1s --keys 10 $words
expect_error "--bytes" bloomery build -o x.bloom --bytes 10K --fpr 1% $words
expect_error "1e-9" bloomery build -o x.bloom --fpr 1e-10 $words
expect_error "'square' is none of blocked, classic" bloomery build -o x.bloom --kind square $words
expect_error "there is no 'clasic', did you mean 'classic'?" bloomery build -o x.bloom --kind clasic $words
expect_error "none/x.bloom" bloomery build -o none/x.bloom $words
mkdir folder
expect_error folder bloomery build -o folder $words
expect_error folder bloomery build -o x.bloom folder
expect_error folder bloomery check folder $words
expect_error "standard output" bash -c '"$BLOOMERY" check w.bloom '$words' >/dev/full'
expect_error "/dev/full" bloomery build -q -o /dev/full $words
[[ -c /dev/full ]] || fail "/dev/full was replaced"
# What was not written whole is not told of as made.
seq 100 >few
seq 100 | awk '{print $1 "\t" $1}' >pairs
seq 100 | sed 's/$/.example.org/' >hosts
bloomery build -q -o few.bloom few
for verb in "build few" "build --kind fuse few" "merge few.bloom few.bloom" "fold few.bloom" "pack few.bloom" \
  "diff few.bloom few.bloom" "passwd build few" "block build hosts" "map build pairs" "index few"; do
  expect_error "/dev/full: writing failed" bloomery $verb -o /dev/full
done
rm few few.bloom hosts pairs

# Damaged and foreign files.
expect_error "BLOOMERY" bloomery check $words $words
: >empty
expect_error "empty" bloomery info empty
for cut in 1 8 100 255 256 300 100000; do
  head -c $cut w.bloom >cut
  expect_error "cut" bloomery check cut $words
  expect_error "cut" bloomery verify cut
done
cp w.bloom longer
echo >>longer
expect_error "longer" bloomery check longer $words
for at in 0 9 12 30 100 200 255 256 5000 100000 $(($(stat -c %s w.bloom) - 1)); do
  cp w.bloom bad
  printf "$(printf '\\x%x' $((255 - $(od -An -tu1 -j$at -N1 w.bloom))))" |
    dd of=bad bs=1 seek=$at conv=notrunc status=none
  expect_error "bad" bloomery check bad $words
  expect_error "bad" bloomery verify bad
  expect_error "bad" bloomery add bad $words
done

# A large file is refused too, unless its checksums are not to be compared.
bloomery build -q -o big.bloom --bytes 8M $words
printf '\xff' | dd of=big.bloom bs=1 seek=5000000 conv=notrunc status=none
expect_error "chunk 5 of 8" bloomery check big.bloom $words
expect_status 0 bloomery check --no-verify big.bloom $words
expect_error "chunk 5 of 8" bloomery verify big.bloom
expect_error "chunk 5 of 8" bloomery info big.bloom
expect_error "chunk 5 of 8" bloomery add big.bloom $words

rm -rf folder out err
expect_equal "$(ls -A | tr '\n' ' ')" "bad big.bloom cut empty longer w.bloom "
