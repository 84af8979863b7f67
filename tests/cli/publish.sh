# A site of filters: written once, again for changes only, whole at any moment.
# Each file is synced to the disk, which is not what is tested.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Whether all that the manifests of a site name is there; all files are sound.
consistent() {
  /usr/bin/python3 -IS - "$1" <<'END' || fail "the site is not consistent"
import json, os, sys
folder = os.path.join(sys.argv[1], "filters")
for file in os.listdir(folder):
    if not file.endswith(".json") or file == "index.json":
        continue
    m = json.load(open(os.path.join(folder, file)))
    at = m["deltas"][0]["from"] if m["deltas"] else m["version"]
    for d in m["deltas"]:
        assert d["from"] == at, (file, m)
        at = d["to"]
    assert at == m["version"], (file, m)
    for part in [m["packed"], *m["deltas"]]:
        assert os.path.getsize(os.path.join(folder, part["file"])) == part["bytes"], (file, part)
END
  find "$1/filters" -type f ! -name '*.json' -exec "$BLOOMERY" verify -q {} + || fail "something is damaged"
}
state() { (cd site/filters && stat -c '%n %i %Y' -- * | sort); }
version_of() { bloomery info --json "$1" | json /dev/stdin 'd["name"]'; }

mkdir lists
seq 3000 >keys
bloomery build -q -o lists/block.bloom --keys 5000 keys
seq 7 | bloomery build -q -o "lists/a \"few\" %.bloom" -
echo "no filter" >lists/README
cp lists/block.bloom lists/.hidden

bloomery publish lists -o site >table
grep -Eq '^block.bloom +new +[0-9a-f]{16} +[0-9,]+ +[0-9,]+ +- +0$' table || fail "$(cat table)"
expect_equal "$(wc -l <table)" 3
consistent site
cmp lists/block.bloom site/filters/block.bloom || fail "another filter is there"
first=$(version_of lists/block.bloom)
bloomery unpack -q -o back "site/filters/block.bloom.$first.packed"
cmp lists/block.bloom back || fail "another packed filter is there"
expect_equal "$(json site/filters/block.bloom.json 'd["name"], d["version"], d["deltas"]')" "('block.bloom', '$first', [])"
expect_equal "$(json site/filters/index.json '[(r["name"], r["keys"], r["version"]) for r in d][1]')" \
  "('block.bloom', 3000, '$first')"
expect_equal "$(json site/filters/index.json 'd[0]["name"]')" 'a "few" %.bloom'

# Again: nothing is written.
before=$(state)
bloomery publish lists -o site | grep -Eq '^block.bloom +unchanged ' || fail "not unchanged"
expect_equal "$(state)" "$before"

# A new version: one step more, which leads there.
seq 3010 | bloomery build -q -o lists/block.bloom --keys 5000 -
second=$(version_of lists/block.bloom)
bloomery publish --json lists -o site >got
expect_equal "$(json got '[(r["outcome"], r["deltas"]) for r in d]')" "[('unchanged', 0), ('changed', 1)]"
consistent site
bloomery patch -q -o patched back "site/filters/block.bloom.$first-$second.delta"
cmp patched lists/block.bloom || fail "the step leads elsewhere"
# A client that has read the old manifest still finds its files; after the next time they go.
[[ -e site/filters/block.bloom.$first.packed ]] || fail "the packed version of before is gone at once"
bloomery publish -q lists -o site
[[ ! -e site/filters/block.bloom.$first.packed ]] || fail "the packed version of before is still there"

# As many steps as wanted.
for i in 1 2 3 4; do
  seq $((3010 + i)) | bloomery build -q -o lists/block.bloom --keys 5000 -
  bloomery publish -q --keep 3 lists -o site
  consistent site
done
expect_equal "$(json site/filters/block.bloom.json 'len(d["deltas"])')" 3
bloomery publish -q --keep-bytes 1 lists -o site
expect_equal "$(json site/filters/block.bloom.json 'len(d["deltas"])')" 0

# What is damaged is refused, its last version stays, and the others have their turn.
cp -r lists bad
at=$(($(stat -c %s bad/block.bloom) / 2))
printf "$(printf '\\x%x' $((255 - $(od -An -tu1 -j$at -N1 bad/block.bloom))))" |
  dd of=bad/block.bloom bs=1 seek=$at conv=notrunc status=none
seq 9 | bloomery build -q -o "bad/a \"few\" %.bloom" -
expect_error "bad/block.bloom" bloomery publish bad -o site
grep -Eq '^block.bloom +refused ' out || fail "$(cat out)"
grep -Eq '^a .* changed ' out || fail "$(cat out)"
expect_equal "$(json site/filters/block.bloom.json 'd["version"]')" "$(version_of lists/block.bloom)"
consistent site
# And what is damaged in the site is mended.
printf x | dd of=site/filters/block.bloom bs=1 seek=$at conv=notrunc status=none
bloomery publish lists -o site | grep -Eq '^block.bloom +repaired ' || fail "not mended"
cmp lists/block.bloom site/filters/block.bloom || fail "not mended well"

# Files that are no filters to be published are left out.
bloomery pack -q -o lists/few.packed lists/block.bloom
bloomery pack -q -o lists/kept lists/block.bloom
bloomery diff -q -o lists/some.change back lists/block.bloom
cp lists/block.bloom lists/index # its manifest would be the listing
bloomery publish --json lists -o site >got
expect_equal "$(json got '[r["name"] for r in d if r["outcome"] == "left out"]')" "['few.packed', 'index', 'some.change']"
rm lists/index
cmp site/filters/kept lists/block.bloom || fail "a packed filter is not published as it should be"

# What has gone from the folder goes when asked for.
rm lists/kept
expect_status 0 bloomery publish lists -o site
grep -q -- "--prune" err || fail "$(cat err)"
bloomery publish --prune lists -o site | grep -Eq '^kept +withdrawn$' || fail "not withdrawn"
[[ -z $(ls site/filters | grep '^kept') ]] || fail "$(ls site/filters)"
expect_equal "$(json site/filters/index.json '[r["name"] for r in d]')" "['a \"few\" %.bloom', 'block.bloom']"

# Several at once follow each other.
for i in 1 2 3; do
  cp -r lists many$i
  seq $((3100 + i)) | bloomery build -q -o many$i/block.bloom --keys 5000 -
done
for i in 1 2 3 1 2 3; do bloomery publish -q many$i -o site & done
wait
consistent site

# Killed at any moment, the site is whole, and the next one goes on.
for i in $(seq 8); do
  seq $((3200 + i)) | bloomery build -q -o lists/block.bloom --keys 5000 -
  "$BLOOMERY" publish -q lists -o site & # itself, not a shell that runs it
  sleep 0.00$i
  kill -9 $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  consistent site
done
bloomery publish -q lists -o site
consistent site
cmp lists/block.bloom site/filters/block.bloom || fail "the last version is not there"
[[ -z $(ls -A site/filters | grep '^\.') ]] || fail "left over: $(ls -A site/filters)"

expect_error "there is no filter in it" bloomery publish "$(mkdir -p empty && echo empty)" -o site
expect_error "publish from another" bloomery publish site/filters -o site
expect_error "nowhere" bloomery publish nowhere -o site
