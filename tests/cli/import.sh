# import: filters from the database file of another Redis module, without a server.
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../foreign/redisbloom" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
dump=$data/dump.rdb

bloomery import --from redisbloom "$dump" >out
expect_equal "$(wc -l <out)" 10
expect_equal "$(grep '^bf:growing' out)" "$(printf 'bf:growing\tBloom filter\t2982')"

bloomery import --from redisbloom -o filters "$dump" >out 2>err
grep -q '^bloomery: 4 keys without a file (2 count-min sketch, 2 cuckoo filter): only the Redis module ' err || fail "$(cat err)"
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
# A database file of Valkey, by the description in its sources: a text, a hash whose fields expire,
# and filters of both modules. One layer of many that no file can hold leaves all of them out:
# without it keys would be missed.
/usr/bin/python3 - <<'P'
import struct
letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
def kind(name, version):
    number = 0
    for c in name:
        number = number << 6 | letters.index(c)
    return b"\x81" + (number << 10 | version).to_bytes(8, "big")
text = lambda t: bytes([len(t)]) + t
uint = lambda n: b"\x02" + (bytes([n]) if n < 64 else bytes([0x40 | n >> 8, n & 255]))
real = lambda x: b"\x04" + struct.pack("<d", x)
array = b"\x01" + struct.pack("<QI", 10, 4) + bytes(range(32)) + b"\xff" * 10
filter_ = uint(2) + uint(2) + real(0.01) + real(0.5) + uint(1)
filter_ += b"\x05" + text(array) + uint(50) + b"\x05" + text(array) + uint(70) + uint(20) + b"\0"
layers = uint(0) + uint(2) + uint(4) + uint(2)
for probes in (3, 70):
    layers += uint(10) + real(0.01) + uint(probes) + real(9.6) + uint(64) + uint(0) + b"\x05\x08" + b"\xff" * 8 + uint(7)
keys = b"\0" + text(b"plain") + text(b"text")
keys += b"\x16" + text(b"hash") + b"\2" + text(b"field") + text(b"value") + bytes(8) + text(b"f") + text(b"v") + b"\xff" * 8
keys += b"\x07" + text(b"visits") + kind("bloomfltr", 1) + filter_
keys += b"\x07" + text(b"probes") + kind("MBbloom--", 4) + layers + b"\0"
open("valkey.rdb", "wb").write(b"VALKEY080\xfa" + text(b"valkey-ver") + text(b"9.0.0") + b"\xfe\0" + keys + b"\xff" + bytes(8))
P
bloomery import --from valkey -o valkey valkey.rdb >out 2>err
expect_equal "$(cat out)" "$(printf 'visits\tBloom filter of Valkey\t70\nprobes\tBloom filter\t0')"
expect_equal "$(ls valkey)" ""
grep -q '^bloomery: 2 keys without a file (1 Bloom filter, 1 Bloom filter of Valkey): only ' err || fail "$(cat err)"
expect_error "bloomery: names/a.1.bloom/below: Not a directory" \
  bloomery import --from redisbloom -o names/a.1.bloom/below names.rdb
expect_error "nowhere.rdb: " bloomery import --from redisbloom nowhere.rdb
expect_equal "$(grep -o nowhere.rdb err | wc -l)" 1
