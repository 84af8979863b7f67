# Filters through pipes, and output that destroys nothing.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 1000 >keys
seq 500 1500 >other
cp keys saved
bloomery build -q --keys 2000 -o a.bloom keys
bloomery build -q --keys 2000 -o b.bloom other

# Every verb that writes a file writes the same bytes to standard output, and to a pipe.
same() { # WHAT COMMAND... with FILE for the output
  local what=$1
  shift
  "$BLOOMERY" "${@/FILE/expected}" -q || fail "$what to a file"
  "$BLOOMERY" "${@/FILE/-}" -q | cmp - expected || fail "$what to standard output"
  cmp <("$BLOOMERY" "${@/FILE//dev/stdout}" -q | cat) expected || fail "$what to /dev/stdout"
  rm -f got
  echo before >got
  "$BLOOMERY" "${@/FILE/-}" -q >>got
  (echo before; cat expected) | cmp - got || fail "$what is not appended"
}
for kind in blocked classic counting scalable ribbon fuse count-min; do
  same "build of $kind" build --kind $kind -o FILE keys
done
same "build in slices" build --memory 20k --keys 1M -o FILE keys
bloomery build -q --kind scalable --keys 100 -o s.bloom keys
same compact compact -o FILE s.bloom keys
sed 's/$/\t7/' keys >pairs
same "map build" map build -o FILE pairs
same "passwd build" passwd build -o FILE keys
printf '10.0.0.0/8\nads.example\n' >list
same "block build" block build -o FILE list
same "spell build" spell build -o FILE $words
same index index -o FILE list
same merge merge -o FILE a.bloom b.bloom
same intersect intersect -o FILE a.bloom b.bloom
bloomery build -q --kind classic --bytes 4096 -o c.bloom keys
same fold fold -o FILE c.bloom
same pack pack -o FILE a.bloom
bloomery pack -q -o a.packed a.bloom
same unpack unpack -o FILE a.packed
same diff diff -o FILE a.bloom b.bloom
bloomery diff -q -o ab.delta a.bloom b.bloom
same patch patch -o FILE a.bloom ab.delta
[[ ! -e - ]] || fail "a file named -"

# Every verb that reads a filter reads it from standard input, and from a pipe.
reads() { # STATUS FILE COMMAND... with FILE for the filter
  local status=$1 file=$2
  shift 2
  expect_status $status bloomery "${@/FILE/$file}"
  cp out expected
  cat $file >through
  expect_status $status bash -c 'cat through | "$BLOOMERY" "$@"' - "${@/FILE/-}"
  sed "s/standard input/$file/" out | cmp - expected || fail "$* from standard input: $(cat out)"
  expect_status $status bash -c '"$BLOOMERY" "$@" <through' - "${@/FILE/-}"
  sed "s/standard input/$file/" out | cmp - expected || fail "$* from a redirected file"
  expect_status $status bash -c '"$BLOOMERY" "${@/FILE//dev/fd/9}" 9< <(cat through)' - "$@"
  sed "s|/dev/fd/9|$file|" out | cmp - expected || fail "$* from a pipe: $(cat out)"
}
reads 0 a.bloom check FILE other
reads 0 a.packed check FILE other
reads 0 a.bloom info FILE
reads 0 a.packed info --json FILE
reads 0 a.bloom verify FILE
reads 0 a.bloom explain FILE 7
reads 0 a.bloom compare b.bloom FILE
bloomery build -q --kind counting -o n.bloom keys
reads 0 n.bloom count FILE other
bloomery map build -q -o m.bloom pairs
reads 0 m.bloom map get FILE keys
bloomery passwd build -q -o p.bloom keys
reads 0 p.bloom passwd check FILE other
bloomery block build -q -o l.bloom list
echo 'see ads.example' >log
reads 0 l.bloom block check -q FILE log
bloomery spell build -q -o w.bloom $words
echo 'wrod' >text
reads 0 w.bloom spell -d FILE text
bloomery index -q -o i.bloom list
reads 0 i.bloom search FILE ads
reads 0 i.bloom info FILE
from_pipe() { cat "$1" | "$BLOOMERY" "${@:2}"; }
from_pipe b.bloom merge -q -o got a.bloom - && bloomery merge -q -o expected a.bloom b.bloom && cmp got expected
from_pipe a.bloom pack -q -o got - && cmp got a.packed
from_pipe a.packed unpack -q -o got - && cmp got a.bloom
from_pipe b.bloom diff -q -o got a.bloom - && cmp got ab.delta
from_pipe ab.delta patch -q -o got a.bloom - && cmp got b.bloom
from_pipe a.bloom fold -q -o - - | bloomery verify - >/dev/null
from_pipe s.bloom compact -q -o got - keys && bloomery verify -q got
# A chain without any file.
bloomery build -q -o - keys | bloomery pack -q -o - - | bloomery unpack -q -o - - | bloomery check -c - keys >got
expect_equal "$(cat got)" 1000

# What cannot be is refused: a terminal, JSON beside the filter, one stream for two things, other
# bytes.
script -qec "'$BLOOMERY' build -o - keys 2>err" /dev/null >/dev/null || true
grep -q "not written to a terminal" err || fail "$(cat err)"
script -qec "'$BLOOMERY' build -o /dev/tty keys 2>err" /dev/null >/dev/null || true
grep -q "not written to a terminal" err || fail "$(cat err)"
expect_error "--json and -o -" bloomery build --json -o - keys
expect_error "standard input is the filter already" from_pipe a.bloom check -
expect_error "standard input is the filter already" from_pipe a.bloom check - -
expect_error "one filter, not several" from_pipe a.bloom compare - -
expect_error "standard input: it does not begin with BLOOMERY" bash -c 'yes | "$BLOOMERY" info -'
expect_error "/dev/zero: it does not begin with BLOOMERY" bloomery check /dev/zero keys
expect_error "standard input: there is nothing in it" bloomery verify - </dev/null
head -c 200 a.bloom >cut
expect_error "standard input: " from_pipe cut check - keys
for verb in add remove "map set"; do expect_error "changed where it is" bloomery $verb - keys; done
expect_error "standard output; give -o a file" bloomery top -o - keys
expect_error "standard output; give -o a file" bloomery reconcile -o - keys other
expect_error "/dev/full: writing failed" bloomery merge -q -o /dev/full a.bloom b.bloom
# A reader that goes away leaves nothing in the folder for temporary files.
mkdir tmp
(TMPDIR=$PWD/tmp bloomery build -q --bytes 4M -o - keys || true) | head -c 10 >/dev/null
expect_equal "$(ls -A tmp)" ""

# An input is never the output, by whatever name.
ln keys hard
ln -s keys soft
for name in keys hard soft ./keys; do
  for input in keys hard; do
    expect_error "would destroy it" bloomery build -o $name $input
    expect_error "would destroy it" bloomery build --kind ribbon -o $name other $input
    expect_error "would destroy it" bloomery map build -o $name $input
    expect_error "would destroy it" bloomery passwd build -o $name $input
    expect_error "would destroy it" bloomery block build -o $name $input
    expect_error "would destroy it" bloomery spell build -o $name $input
    expect_error "would destroy it" bloomery top -o $name $input
    expect_error "would destroy it" bloomery compact -o $name s.bloom $input
    expect_error "would destroy it" bloomery index -o $name $input
  done
done
expect_error "would destroy it" bash -c '"$BLOOMERY" build -o - keys >>keys'
head -c 16 /dev/urandom >secret
expect_error "would destroy it" bloomery build --hash siphash --key-file secret -o secret keys
expect_error "would destroy it" bloomery diff -o a.bloom a.bloom b.bloom
expect_error "would destroy it" bloomery diff -o b.bloom a.bloom b.bloom
expect_error "would destroy it" bloomery patch -o ab.delta a.bloom ab.delta
cmp keys saved || fail "the keys were changed"
# What becomes the same thing again may be replaced: the inputs are complete until the output is.
cp a.bloom c
bloomery merge -q -o c c b.bloom
bloomery merge -q -o expected a.bloom b.bloom
cmp c expected
cp a.bloom c
bloomery patch -q -o c c ab.delta
cmp c b.bloom
bloomery index -q -o i.bloom list i.bloom
bloomery verify -q i.bloom

# There must be room. The numbers say how much.
expect_error "12.5 TB, but . has only" bloomery build --keys 1e13 -o x.bloom keys
expect_error "--force" bloomery build --keys 1e13 -o - keys
expect_error "--force" bloomery build --kind counting --keys 1e12 -o /dev/null keys
memory=$(awk '/^MemAvailable/ { printf "%.0f", $2 * 1024 + 2e9 }' /proc/meminfo)
if (($(df --output=avail -B1 . | tail -1) > memory + 2000000000)); then
  expect_error "of memory, but only" bloomery build --kind counting --bytes $memory -o x.bloom keys
fi
[[ ! -e x.bloom ]] || fail "a file was left"

# Files that are not to be written are not replaced. (Root may do everything, and is asked the
# same.)
cp a.bloom r.bloom
chmod 0444 r.bloom
cp r.bloom before
for verb in "add r.bloom other" "build -o r.bloom keys" "merge -o r.bloom a.bloom b.bloom" "pack -o r.bloom a.bloom" \
  "index -o r.bloom list" "top -o r.bloom keys" "reconcile -o r.bloom keys other"; do
  expect_error "r.bloom: it is read-only (mode 0444); 'chmod u+w' changes that" bloomery $verb
  cmp r.bloom before
  expect_equal "$(stat -c %a r.bloom)" 444
done
echo saved >r.svg
chmod 0444 r.svg
expect_error "r.svg: it is read-only (mode 0444)" bloomery plan --keys 1k --plot r.svg
expect_equal "$(cat r.svg)" saved
chmod u+w r.bloom
bloomery add -q r.bloom other
expect_equal "$(stat -c %a r.bloom)" 644
if [[ $(id -u) == 0 ]]; then
  as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
  mkdir shared
  cp a.bloom shared
  cp "$BLOOMERY" shared/bloomery
  cp other shared
  chmod 777 shared .
  chmod 755 "$folder"
  for verb in "add shared/a.bloom shared/other" "build -o shared/a.bloom shared/other" \
    "merge -o shared/a.bloom shared/a.bloom shared/a.bloom" "pack -o shared/a.bloom shared/a.bloom"; do
    expect_error "it is read-only (mode 0644, and not yours); ask its owner, or use a file of your own" \
      as_nobody shared/bloomery $verb
    expect_equal "$(stat -c %u shared/a.bloom)" 0
    cmp a.bloom shared/a.bloom
  done
  # Who may write to it may replace it, and it is said that this takes it over.
  for verb in "add shared/a.bloom shared/other" "build -o shared/a.bloom shared/other" \
    "merge -o shared/a.bloom shared/a.bloom shared/a.bloom" "pack -o shared/a.bloom shared/a.bloom"; do
    rm -f shared/a.bloom
    cp a.bloom shared
    chmod 666 shared/a.bloom
    expect_status 0 as_nobody shared/bloomery $verb
    grep -q "warning: shared/a.bloom belonged to another user and is yours now" err || fail "$verb: $(cat err)"
    expect_equal "$(stat -c %u shared/a.bloom)" 65534
  done
fi

# Who waits says for what, and need not wait.
cp a.bloom locked.bloom
exec 8<locked.bloom
flock 8
expect_error "locked.bloom: another program is changing it" bloomery add --no-wait locked.bloom other
"$BLOOMERY" add locked.bloom other 2>waited 8<&- &
pid=$!
for _ in $(seq 100); do
  grep -q "^bloomery: waiting for another program that is changing locked.bloom$" waited && break
  sleep 0.1
done
grep -q "^bloomery: waiting for another program that is changing locked.bloom$" waited || fail "silent: $(cat waited)"
exec 8<&-
wait $pid
expect_equal "$(bloomery check -c locked.bloom other)" 1001
exit 0
