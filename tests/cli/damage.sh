# A damaged file is refused by every verb before it answers, wherever the damage is; so is one that
# shrinks meanwhile.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# bend FILE OFFSET: changes 4 KiB from there on.
bend() {
  /usr/bin/python3 -IS -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); old = f.read(4096)
    f.seek(int(sys.argv[2])); f.write(bytes(b ^ 0xff for b in old))' "$1" "$2"
}
# refuses FILE VERB...: with damage in each MiB the verb, which succeeds on the whole file, names
# the chunk and prints no answer.
refuses() {
  local file=$1 at size
  shift
  cp "$file" whole
  expect_status 0 bloomery "$@"
  size=$(stat -c %s "$file")
  ((size > 2 << 20)) || fail "$file has only $size bytes"
  for ((at = 500000; at < size - 10000; at += 1 << 20)); do
    cp whole "$file"
    bend "$file" $at
    expect_error "damaged" bloomery "$@"
    [[ ! -s out ]] || fail "answers of a damaged file: $(head -c 300 out)"
  done
  cp whole "$file"
}

seq 1000 >keys
bloomery build -q --bytes 3M -o f.bloom keys
refuses f.bloom check f.bloom keys
refuses f.bloom check -c f.bloom keys
refuses f.bloom check --annotate f.bloom keys
refuses f.bloom explain f.bloom 7
refuses f.bloom compare f.bloom f.bloom
refuses f.bloom merge -q -o x f.bloom f.bloom
refuses f.bloom intersect -q -o x f.bloom f.bloom
refuses f.bloom fold -q -o x f.bloom
refuses f.bloom pack -q -o x f.bloom
refuses f.bloom diff -q -o x f.bloom f.bloom
cp f.bloom g.bloom
bloomery diff -q -o d f.bloom f.bloom
refuses f.bloom patch -q -o x f.bloom d
refuses f.bloom info f.bloom
refuses f.bloom verify f.bloom
refuses f.bloom add -q f.bloom keys
# Standard input, and one of several filters.
cp g.bloom f.bloom
bend f.bloom 2500000
expect_error damaged bloomery check - keys <f.bloom
expect_error "f.bloom: the filter is damaged: the checksum of chunk 3 of 3 is wrong" \
  bloomery check g.bloom f.bloom -- keys
# Who knows better may ask at once.
expect_status 0 bloomery check --no-verify f.bloom keys

bloomery build -q --kind count-min --bytes 3M -o c.bloom keys
refuses c.bloom count c.bloom keys
refuses c.bloom explain c.bloom 7
bloomery build -q --kind counting --bytes 3M -o n.bloom keys
refuses n.bloom count n.bloom keys
refuses n.bloom remove -q n.bloom keys
awk 'BEGIN { for (i = 0; i < 700000; ++i) print i "\t" i * 7919 % 1000003 }' >pairs
bloomery map build -q --fpr 1e-9 -o m.bloom pairs
refuses m.bloom map get m.bloom keys
refuses m.bloom map set -q m.bloom pairs
head -150000 pairs | awk '{ print $1 "\tvalue" $2 }' >strings
bloomery map build -q --fpr 1e-9 -o s.bloom strings
refuses s.bloom map get s.bloom keys
cut -f1 pairs >many
bloomery passwd build -q --fpr 1e-8 -o p.bloom many
refuses p.bloom passwd check p.bloom keys
pam() { echo -n nothing | bloomery passwd pam "$1"; }
expect_status 0 pam p.bloom
bend p.bloom 2000000
expect_error damaged pam p.bloom
printf '1.2.3.4\nexample.com\n' >hosts
bloomery block build -q --entries 1M -o b.bloom hosts
refuses b.bloom block check b.bloom hosts
bloomery dedup -q --keys 2M --state t.bloom keys >/dev/null
refuses t.bloom dedup -q -c --state t.bloom keys
bloomery build -q --kind layered --keys 2M -o l.bloom keys
refuses l.bloom compact -q -o x l.bloom keys
if bloomery help index >/dev/null 2>&1; then
  mkdir texts
  for i in $(seq 8); do seq -f "w%.0f" $((i * 10000)) $((i * 10000 + 60000)) >texts/$i; done
  bloomery index -q --fpr 1e-9 -o i.bloom texts
  refuses i.bloom search i.bloom w50000
  refuses i.bloom info i.bloom
  seq -f "w%.0f" 700000 >list
  bloomery spell build -q --fpr 1e-8 -o w.bloom list
  echo zzqq >text
  refuses w.bloom spell --dictionary w.bloom text
fi

# A file that is cut while it is asked: nothing but the answers before, one line, and exit status 2.
mkfifo stream
for verb in "check" "count"; do
  cp n.bloom short.bloom
  "$BLOOMERY" $verb short.bloom <stream >out 2>err & reader=$!
  exec 5>stream
  echo 1 >&5
  until [[ -s out ]]; do sleep 0.02; done
  truncate -s 4096 short.bloom
  # Writing fails once the reader has gone.
  (seq 100000 >&5) 2>/dev/null || true
  exec 5>&-
  mv err said
  expect_status 2 wait $reader
  expect_equal "$(cat said)" "bloomery: $PWD/short.bloom: it became shorter while it was read, or its disk failed; start again"
done
