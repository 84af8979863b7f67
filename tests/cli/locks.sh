# Whoever reads a file to replace it keeps others from changing it meanwhile: no key is lost.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 1 2000 >first
seq 2001 4000 >second
seq 4001 6000 >third
cat first second third >all
bloomery build -q --keys 6000 -o start.bloom first
bloomery build -q --keys 6000 -o g.bloom third
# together COMMAND -- COMMAND: runs both at once.
together() {
  local one=()
  while [[ $1 != -- ]]; do one+=("$1") && shift; done
  shift
  "$BLOOMERY" "${one[@]}" & local pid=$!
  "$BLOOMERY" "$@"
  wait $pid
}
for round in $(seq 20); do
  cp start.bloom f.bloom
  together add -q f.bloom second -- merge -q -o f.bloom f.bloom g.bloom
  expect_equal "$(bloomery check -v -c f.bloom all || true)" 0
done
# By another name, and with both in turn.
ln -s f.bloom link.bloom
for round in $(seq 5); do
  cp start.bloom f.bloom
  together merge -q -o link.bloom f.bloom g.bloom -- add -q link.bloom second
  expect_equal "$(bloomery check -v -c f.bloom all || true)" 0
done
# dedup with one state, beside itself and beside add.
for round in $(seq 5); do
  rm -f s.bloom
  bloomery dedup -q -c --state s.bloom first >/dev/null
  together dedup -q -c --state s.bloom second -- dedup -q -c --state s.bloom third >/dev/null
  expect_equal "$(bloomery check -v -c s.bloom all || true)" 0
  rm -f s.bloom
  bloomery dedup -q -c --state s.bloom first >/dev/null
  together dedup -q -c --state s.bloom second -- add -q s.bloom third >/dev/null
  expect_equal "$(bloomery check -v -c s.bloom all || true)" 0
done

# Each verb that can write to what it reads waits for a program that changes it, says so after a
# second, and fails with --no-wait. A lock of flock(1) stands for that program.
bloomery build -q --kind layered --keys 3000 -o l.bloom first
bloomery diff -q -o d.delta start.bloom start.bloom
bloomery pack -q -o p.packed start.bloom
bloomery build -q --kind counting --keys 2000 -o c.bloom first
seq 20 | sed 's/$/\t1/' >values.tsv
bloomery map build -q -o m.bloom values.tsv
mkdir texts lists
cp first texts/a
has_icu=
if bloomery help search >/dev/null 2>&1; then
  has_icu=1
  bloomery index -q -o i.bloom texts
fi
cp start.bloom lists
bloomery publish -q -o site lists
cp start.bloom f.bloom
cases=(
  "f.bloom merge -o f.bloom f.bloom g.bloom"
  "f.bloom intersect -o f.bloom g.bloom f.bloom"
  "f.bloom fold -o f.bloom f.bloom"
  "f.bloom fold -o f.bloom link.bloom"
  "f.bloom pack -o f.bloom f.bloom"
  "f.bloom patch -o f.bloom f.bloom d.delta"
  "p.packed unpack -o p.packed p.packed"
  "l.bloom compact -o l.bloom l.bloom first"
  "f.bloom add f.bloom first"
  "s.bloom dedup -c --state s.bloom first"
  "c.bloom remove c.bloom first"
  "m.bloom map set m.bloom values.tsv"
  "site/filters publish -o site lists"
)
[[ -z $has_icu ]] || cases+=("i.bloom index -o i.bloom --add texts")
for case in "${cases[@]}"; do
  read -r file command <<<"$case"
  expect_error "another program is changing it" flock $file "$BLOOMERY" $command --no-wait
done
# What only reads it, or writes elsewhere, does not wait.
for file in f.bloom p.packed l.bloom s.bloom c.bloom; do
  flock $file "$BLOOMERY" check -c $file first >/dev/null
done
flock m.bloom "$BLOOMERY" map get m.bloom first >/dev/null
[[ -z $has_icu ]] || flock i.bloom "$BLOOMERY" search i.bloom 7 >/dev/null
flock f.bloom "$BLOOMERY" merge -q --no-wait -o other.bloom f.bloom g.bloom
mkfifo held
flock f.bloom cat held >/dev/null & holder=$!
exec 5>held
until ! flock -n f.bloom true; do sleep 0.01; done
"$BLOOMERY" fold -o f.bloom f.bloom 2>said 5>&- & waiter=$!
until grep -q "waiting for another program that is changing f.bloom" said; do sleep 0.05; done
cmp f.bloom start.bloom || fail "it did not wait"
exec 5>&-
wait $holder $waiter
expect_equal "$(bloomery check -v -c f.bloom first || true)" 0
