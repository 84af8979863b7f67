# Input and surroundings at their worst: every case is one line on standard error that names the
# file, exit status 2, and no file that was not there before.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 1000 >keys
bloomery build -q -o f.bloom keys
mkdir made && cd made
ln -s ../keys ../f.bloom .

# Compressed input that is cut, followed by something else, or bent.
seq 100000 >many
gzip -k many && zstd -q many && xz -k many
for form in gz zst xz; do
  size=$(stat -c %s many.$form)
  for length in 7 20 $((size / 2)) $((size - 5)) $((size - 1)); do
    head -c $length many.$form >cut
    expect_error "cut: the compressed data ends too early" bloomery build -o x.bloom cut
  done
  (cat many.$form; echo and something else) >tail
  expect_error "tail: the" bloomery build -o x.bloom tail
  (head -c $((size / 2)) many.$form; echo XXXXXXXXXXXXXXXX; tail -c +$((size / 2 + 18)) many.$form) >bent
  expect_error "bent: the" bloomery build -o x.bloom bent
done
# What unpacks to very much is worked on as it comes.
head -c 200000000 /dev/zero | gzip -1 >bomb.gz
expect_status 1 bloomery check --null f.bloom bomb.gz

# NULs are bytes like others, and end keys only where that was asked for.
printf 'a\0b\nc\0d\n' >nul
bloomery build -q -o nul.bloom nul
expect_equal "$(printf 'a\0b\na\nc\n' | bloomery check -c nul.bloom)" 1
rm nul.bloom

# Messages about records name the file and the line.
bad_input() { # TEXT OPTIONS INPUT
  printf "$3" >bad
  expect_error "$1" bloomery build -o x.bloom $2 bad
}
bad_input "bad:3: a quote that is never closed" "--column b" 'a,b\n1,2\n3,"4\n'
bad_input "bad:1: a quote that is never closed" "--column b" '"a,b\n1,2\n'
bad_input "bad:1: a quote that is never closed" "--column 1 --header" '"a,b\n1,2\n'
bad_input "bad:3: the row has 1 column, not 2" "--column b" 'a,b\n1,2\n3\n'
bad_input "bad:1: there is no column 'c'" "--column c" 'a,b\n1,2\n'
bad_input "bad:2: not JSON" "--json-key a" '{"a":1}\n{"a":}\n'
bad_input "bad:3: the field is an object" "--json-key a" '{"a":1}\n\n{"a":[]}\n'
bad_input "bad:3: not a hexadecimal number" --hex 'ab\n\nzz\n'
bad_input "bad:2: an odd number" --hex 'ab\nabc\n'
bad_input "bad:2: not a whole number" --integers '1\n2x\n'
bad_input "bad:2: the number does not fit" --integers '1\n18446744073709551616\n'
bad_input "bad:4: as many qualities as bases" "--kmer 3" '@r\nACGT\n+\nIII\n'
bad_input "bad:3: the third line" "--kmer 3" '@r\nACGT\nIIII\n'
bad_input "bad:5: a FASTQ record begins with @" "--kmer 3" '@r\nACGT\n+\nIIII\nr\nACG\n+\nIII\n'
bad_input "bad: neither FASTA nor FASTQ" "--kmer 3" 'ACGT\n'
bad_input "bad: ends in the middle of a record" "--record-bytes 4" 'abcde'
# The second chunk of FASTQ is FASTQ, too, whatever it begins with.
for i in $(seq 9000); do printf '@r\nACGTACGT\n+\nIIIIIIII\n'; done >long.fastq
(cat long.fastq; sed 's/^@//' long.fastq) >bad.fastq
expect_error "bad.fastq:36001: a FASTQ record begins with @" bloomery build -o x.bloom --kmer 3 bad.fastq
bad_map() { # TEXT OPTIONS INPUT
  printf "$3" >bad
  expect_error "$1" bloomery map build -o x.bloom $2 bad
}
bad_map "bad:3: 'bx' is no key" "" 'a\t1\n\nbx\n'
bad_map "bad:1: 'b' is no key" "" 'b\n'
bad_map "bad: a key has two values" "" 'a\t1\na\t2\n'
bad_map "bad: the value is 500" "--value-bits 4" 'a\t1\nb\t500\n'
(seq 100000 | sed 's/$/\t1/'; echo no value) >bad
expect_error "bad:100001: 'no value' is no key" bloomery map build -o x.bloom bad

# Files that are no files of keys or no filters.
mkfifo pipe
for verb in add remove "map set" "dedup --state"; do
  expect_error "pipe: not a regular file" timeout 20 "$BLOOMERY" $verb pipe keys
done
# Others read a filter from a pipe, and stop at the first bytes that are none.
for verb in check count "map get"; do
  (yes >pipe || true) 2>/dev/null &
  expect_error "pipe: it does not begin with BLOOMERY" timeout 20 "$BLOOMERY" $verb pipe keys
  wait
done
for verb in info verify "merge -o x.bloom f.bloom" "fold -o x.bloom" "pack -o x.bloom"; do
  (yes >pipe || true) 2>/dev/null &
  expect_error "pipe: it does not begin with BLOOMERY" timeout 20 "$BLOOMERY" $verb pipe
  wait
done
expect_error ".: reading failed: Is a directory" bloomery build -o x.bloom .
expect_error "missing: there is no such file; if it is a key" bloomery dedup missing
bloomery build -q -o whole.bloom $words
for ((length = 0; length < $(stat -c %s whole.bloom); length += 4096)); do
  head -c $length whole.bloom >cut
  expect_error "cut: " bloomery check cut keys
  expect_error "cut: " bloomery add cut keys
  expect_error "cut: " bloomery verify cut
done

# No room: a limit on the size of files stops every way of writing.
limited() (ulimit -f 8; "$BLOOMERY" "$@")
limited_pipe() { cat "$1" | limited "${@:2}"; }
bloomery pack -q -o packed whole.bloom
cp whole.bloom old.bloom
too_large="writing failed: File too large"
expect_error "x.bloom: $too_large" limited build -q -o x.bloom $words
expect_error "x.bloom: $too_large" limited build -q --kind ribbon -o x.bloom $words
expect_error "x.bloom: $too_large" limited build -q --memory 20k -o x.bloom $words
expect_error "old.bloom: $too_large" limited add -q old.bloom keys
expect_error "old.bloom: $too_large" limited build -q -o old.bloom $words
expect_error "x.bloom: $too_large" limited merge -q -o x.bloom whole.bloom old.bloom
expect_error "x.bloom: $too_large" limited unpack -q -o x.bloom packed
expect_error "x.bloom: $too_large" limited pack -q -o x.bloom whole.bloom
expect_error "x.bloom: $too_large" limited dedup -q -c --state x.bloom $words
expect_error "standard output: $too_large" bash -c 'ulimit -f 8; "$BLOOMERY" dedup -q $0 >cut' $words
# Hashes of a pipe beyond 32 MB go to a temporary file.
seq 4500000 >numbers
expect_error "a temporary file in .: $too_large; it takes 8 bytes for each key, and none with --keys" \
  limited_pipe numbers build -q -o x.bloom
expect_error "a temporary file in .: $too_large; it takes 8 bytes for each key" \
  limited_pipe numbers build -q --kind fuse -o x.bloom
cmp whole.bloom old.bloom || fail "an old file was changed"
# A folder in which nobody may create files, root neither.
expect_error "/sys/x.bloom: creating failed" bloomery build -o /sys/x.bloom keys

# Standard streams that are full or closed.
for verb in --version --help "build --help" "info f.bloom" "plan --keys 5" "check f.bloom keys" "dedup -q keys" "top -q keys" \
  "explain f.bloom 5" "verify f.bloom"; do
  expect_error "standard output: writing failed" bash -c "\"\$BLOOMERY\" $verb >/dev/full"
  expect_error "standard output: writing failed" bash -c "\"\$BLOOMERY\" $verb >&-"
done
expect_error "standard input: reading failed" bash -c '"$BLOOMERY" check f.bloom <&-'
expect_status 0 bash -c '"$BLOOMERY" build --progress --stats -o x.bloom keys 2>&-'
cmp x.bloom f.bloom || fail "with standard error closed the filter differs"
expect_status 0 bash -c '"$BLOOMERY" build --progress --stats -o x.bloom keys 2>/dev/full'
expect_status 2 bash -c '"$BLOOMERY" build -o x.bloom missing 2>/dev/full'
# A file opened while standard output is closed is not written to in its place.
expect_error "standard output: writing failed" bash -c '"$BLOOMERY" build -q --json -o x.bloom keys >&-'
cmp x.bloom f.bloom || fail "with standard output closed the filter differs"
rm x.bloom

# Killed while it replaces a file: the old one or the new one.
bloomery build -q -o new.bloom --fpr 1e-6 numbers
for i in $(seq 10); do
  cp whole.bloom g.bloom
  "$BLOOMERY" build -q -o g.bloom --fpr 1e-6 numbers &
  pid=$!
  sleep "$(printf '0.%03d' $((RANDOM % 400)))"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  cmp -s g.bloom whole.bloom || cmp -s g.bloom new.bloom || fail "the file is neither the old nor the new one"
done

rm -f out err cut bent tail bad bomb.gz many* long.fastq bad.fastq nul g.bloom new.bloom numbers
expect_equal "$(ls -A | grep -v '^\.bloomery-.*\.tmp$' | tr '\n' ' ')" "f.bloom keys old.bloom packed pipe whole.bloom "
