# import: filters from the database file of another Redis module, without a server.
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../foreign/redisbloom" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
dump=$data/dump.rdb

bloomery import --from redisbloom "$dump" >out
expect_equal "$(wc -l <out)" 10
expect_equal "$(grep '^bf:growing' out)" "$(printf 'bf:growing\tBloom filter\t2982')"

bloomery import --from redisbloom -o filters "$dump" >out 2>err
grep -q '^bloomery: 4 keys without a file' err || fail "$(cat err)"
expect_equal "$(ls filters | wc -l)" 11
# Every item that the module found is found, in one of the layers, and no other.
answers() { python3 -c 'import json, sys
for i, a in enumerate(json.load(open(sys.argv[1]))[sys.argv[2]]): a == "1" and print(f"item-{i + 1}")' "$data/answers.json" "$1"; }
for key in bf:growing bf:fixed bf:tiny bf:default bf:empty; do
  answers $key | sort >expected
  for f in filters/$key.*; do seq -f 'item-%.0f' $([[ $key == bf:empty ]] && echo 200 || echo 8000) | bloomery check "$f" || true; done | sort -u >got
  diff expected got >/dev/null || fail "$key: other answers"
done
expect_equal "$(bloomery info --json filters/bf:fixed.bloom >json; json json '(d["kind"], d["hash"], d["keys"], d["probes"])')" \
  "('classic', 'murmur', 5000, 10)"
bloomery verify filters/*.bloom
expect_equal "$(echo item-191 | bloomery count filters/top:k.top | cut -f2)" 36481
expect_equal "$(bloomery import --from redisbloom --json "$dump" >json; json json 'len(d["rows"])')" 10
expect_equal "$(bloomery import --from redisbloom - <"$dump" | wc -l)" 10

expect_error "exists; give an empty folder" bloomery import --from redisbloom -o filters "$dump"
expect_error "is no format to import" bloomery import --from memcached "$dump"
expect_error "no database file of Redis or Valkey" bloomery import --from redisbloom "$data/answers.json"
head -c 30000 "$dump" >cut
expect_error "cut off or damaged" bloomery import --from redisbloom -o none cut
[[ ! -e none ]] || fail "files from a damaged one"
printf 'REDIS0009\xff\0\0\0\0\0\0\0\0' >empty.rdb
expect_status 1 bloomery import --from redisbloom empty.rdb
# Keys of our own module need no import, and are told of.
/usr/bin/python3 - <<'P'
letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
number = 0
for c in "blmrybf01":
    number = number << 6 | letters.index(c)
value = b"\x81" + (number << 10 | 1).to_bytes(8, "big") + b"\0"
keys = b"".join(b"\x07" + bytes([len(k)]) + k + value for k in (b"mine", b"yours"))
open("ours.rdb", "wb").write(b"REDIS0009\xfe\0" + keys + b"\xff" + bytes(8))
P
expect_status 1 bloomery import --from redisbloom ours.rdb
grep -q "^bloomery: 2 keys of Bloomery's own module left out; a server with it loads the file, and 'bloomery pull " err || fail "$(cat err)"
# Keys whose names are too long for files, or which want the same name.
/usr/bin/python3 - <<'P'
import struct
letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
number = 0
for c in "MBbloom--":
    number = number << 6 | letters.index(c)
def size(n):
    return bytes([n]) if n < 64 else bytes([0x40 | n >> 8, n & 255])
def key(name, layers):
    def uint(n):
        return b"\x02" + size(n)
    def real(x):
        return b"\x04" + struct.pack("<d", x)
    value = uint(0) + uint(layers) + uint(4) + uint(2)
    for i in range(layers):
        value += uint(10) + real(0.01) + uint(3) + real(9.6) + uint(64) + uint(0) + b"\x05\x08" + bytes(8) + uint(0)
    return b"\x07" + size(len(name)) + name + b"\x81" + (number << 10 | 4).to_bytes(8, "big") + value + b"\0"
keys = [b"a.1", b"1-x", b"b", b"b" * 300, b"b" * 299 + b"c", b"\n" * 70]
dump = b"REDIS0009\xfe\0" + key(b"a", 2) + b"".join(key(k, 1) for k in keys) + b"\xfe\x01" + key(b"x", 1)
open("names.rdb", "wb").write(dump + b"\xff" + bytes(8))
P
bloomery import --from redisbloom -o names --json names.rdb >json
expect_equal "$(json json '[len(r["files"]) for r in d["rows"]]')" "[2, 1, 1, 1, 1, 1, 1, 1]"
expect_equal "$(ls names | wc -l)" 9
expect_equal "$(ls names | grep -v '^bbb\|^%' | LC_ALL=C sort | tr '\n' ' ')" \
  "1-x.bloom 1-x~2.bloom a.1.bloom a.1~2.bloom a.2.bloom b.bloom "
bloomery verify -q names/*
expect_error "bloomery: names/a.1.bloom/below: Not a directory" \
  bloomery import --from redisbloom -o names/a.1.bloom/below names.rdb
expect_error "nowhere.rdb: " bloomery import --from redisbloom nowhere.rdb
expect_equal "$(grep -o nowhere.rdb err | wc -l)" 1
