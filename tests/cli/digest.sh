# Cache digests: made from every source, read, asked, to a filter file and back.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 1 500 | sed 's|.*|http://example.org/o&|' >urls
seq 501 1500 | sed 's|.*|http://example.org/o&|' >others

# What Squid would have made of them, by another program.
cat >reference.py <<'END'
import hashlib, struct, sys
urls = open(sys.argv[1]).read().split()
capacity, bits = int(sys.argv[2]), int(sys.argv[3])
mask = bytearray((capacity * bits + 7) // 8)
for url in urls:
    for word in struct.unpack(">4I", hashlib.md5(b"\1" + url.encode()).digest()):
        i = word % (len(mask) * 8)
        mask[i >> 3] |= 1 << (i & 7)
head = struct.pack(">hhiiiiBBh26i", 5, 3, capacity, len(urls), 0, len(mask), bits, 4, 0, *[0] * 26)
sys.stdout.buffer.write(head + mask)
END
reference() { /usr/bin/python3 -IS reference.py "$@"; }

bloomery digest make -o d urls 2>err
grep -qE '^d: cache digest of 500 URLs, room for 500, 441 bytes, 5 bits an entry, fpr [0-9.]+ %$' err || fail "$(cat err)"
reference urls 500 5 | cmp - d || fail "other bytes than Squid's"
bloomery digest make -q -o - --bits-per-entry 16 --capacity 1k <urls | cmp - <(reference urls 1000 16) || fail "other bytes than Squid's"
# A URL that comes twice, in another spelling, or with a comment and blanks around it is one.
sed 's|http://e|HTTP://user@E|; s|org/|org.:80/|; s|$| \r|' urls | cat - urls <(echo '# comment') <(echo) | gzip | bloomery digest make -q -o twice -
cmp d twice || fail "spellings differ"

bloomery digest info d >out
expect_equal "$(head -3 out)" "d: cache digest
  entries   500, room for 500
  size      441 bytes: 128 and a mask of 313, 5 bits an entry"
bloomery digest info --json - <d >json
expect_equal "$(json json '[d[k] for k in ("version", "required_version", "capacity", "entries", "deleted", "bits_per_entry", "mask_bytes", "bytes", "probes", "usable")]')" \
  "[5, 3, 500, 500, 0, 5, 313, 441, 4, True]"

# Which digest has which URL; no false negative, and others at the rate of the bits.
bloomery digest make -q -o e others
expect_status 0 bloomery digest ask d --url http://EXAMPLE.org:80/o7
expect_equal "$(cat out)" "$(printf 'http://EXAMPLE.org:80/o7\td')"
bloomery digest ask d e <urls >out
expect_equal "$(grep -c "$(printf '\td$')" out)" 500
expect_equal "$(bloomery digest ask -c d --list urls)" 500
wrong=$(bloomery digest ask -c d --list others)
((wrong > 40 && wrong < 160)) || fail "$wrong of 1000 wrong"  # 92 expected, standard deviation 9.1
expect_equal "$(bloomery digest ask -v -c d --list others)" $((1000 - wrong))
bloomery digest ask -v d --list others >out
expect_equal "$(grep -cxFf out others)" $((1000 - wrong))
bloomery digest ask --json d e <urls >json
expect_equal "$(json json '(d["urls"], d["selected"], d["rows"][0]["digest"], d["rows"][0]["found"])')" "(500, 500, 'd', 500)"
bloomery digest make -q --bits-per-entry 64 -o sharp urls
expect_status 1 bloomery digest ask sharp --url http://example.org/none
expect_status 1 bloomery digest ask -q sharp --list others
expect_status 0 bloomery digest ask -q sharp --url http://example.org/o1
expect_equal "$(cat out err)" ""
printf 'nothing\nhttp://example.org/o1\n' | bloomery digest ask sharp >out 2>err
expect_equal "$(cat out err)" "$(printf 'http://example.org/o1\tsharp\nbloomery: warning: 1 line without a URL')"

# Keys as an ordinary filter has them: the byte of the method, then the URL.
hex_keys() { /usr/bin/python3 -IS -c 'import sys; [print((b"\1" + l.rstrip(b"\n")).hex()) for l in sys.stdin.buffer]'; }

# To a filter and back: the same bits; what works on filters works on digests.
bloomery digest export -o d.bloom d 2>err
grep -q '^d.bloom: classic filter of 500 keys' err || fail "$(cat err)"
bloomery verify -q d.bloom
bloomery digest make -q -o again --from d.bloom
cmp d again || fail "other bytes through a filter"
expect_equal "$(bloomery digest ask -c d.bloom --list urls)" 500
hex_keys <urls | bloomery check --hex -c d.bloom >count
expect_equal "$(cat count)" 500
expect_error "its keys are binary" bloomery check d.bloom urls
bloomery digest make -q -o a --capacity 1500 urls
bloomery digest make -q -o b --capacity 1500 others
for x in a b; do bloomery digest export -q -o $x.bloom $x; done
bloomery merge -q -o both.bloom a.bloom b.bloom
bloomery digest make -q -o both --from both.bloom
bloomery digest make -q -o all --capacity 1500 urls others
cmp both all || fail "the union of two digests"
bloomery compare --json a.bloom b.bloom >json
expect_equal "$(json json 'abs(d["keys_union"] - 1500) < 100')" True
hex_keys <urls >hex
bloomery build -q --kind classic --hash md5 --hex --probes 4 --bytes 400 -o own.bloom hex
bloomery digest make -q -o own --from own.bloom
expect_equal "$(bloomery digest ask -c own --list urls)" 500
bloomery build -q --kind classic --hash md5 --probes 4 --bytes 400 -o text.bloom urls
expect_error "text.bloom: its keys are text; those of a cache digest" bloomery digest make -o x --from text.bloom
bloomery build -q -o words.bloom urls
expect_error "its hash is xxh3" bloomery digest make -o x --from words.bloom
expect_error "--from takes all of its URLs from the filter" bloomery digest make -o x --from d.bloom urls

# Access logs.
cat >squid.log <<'END'
1794967945.791     45 127.0.0.1 TCP_MISS/200 471 GET http://example.org/o1 - HIER_DIRECT/127.0.0.1 -
1794967945.891      5 127.0.0.1 TCP_MEM_HIT/200 471 GET http://example.org/o1 - HIER_NONE/- -
1794967946.791     45 127.0.0.1 TCP_MISS/404 471 GET http://example.org/o2 - HIER_DIRECT/127.0.0.1 -
1794967947.791     45 127.0.0.1 TCP_MISS/200 471 GET http://example.org/o3? - HIER_DIRECT/127.0.0.1 -
END
cat >web.log <<'END'
192.0.2.1 - - [18/Nov/2026:02:12:24 +0000] "GET /o4 HTTP/1.1" 200 471 "-" "curl"
192.0.2.1 - - [18/Nov/2026:02:12:24 +0000] "POST /o5 HTTP/1.1" 200 471 "-" "curl"
what is this
END
bloomery digest make -o l --bits-per-entry 64 --log squid.log --log web.log --base http://example.org/x 2>err
expect_equal "$(bloomery digest ask l <urls)" "$(printf 'http://example.org/o1\tl\nhttp://example.org/o4\tl')"
grep -qxF 'left out: 2 requests with another method or status than GET and 200, 1 URL whose query the log does not have' err || fail "$(cat err)"
grep -qxF "bloomery: warning: 1 line without a URL; the first is web.log:3: 'what is this'" err || fail "$(cat err)"
bloomery digest make -q --json -o l --log squid.log --log web.log --base http://example.org/x >json
expect_equal "$(json json 'd["left_out"]')" "{'files': 0, 'lines': 1, 'queries': 1, 'requests': 2}"
expect_error "web.log:1: the log has paths without a host; give the URL of the site with --base" bloomery digest make -o x --log web.log
expect_error "--base is 'x', but it must be a URL" bloomery digest make -o x --log web.log --base x

# A mirror's directory: every file, in the spellings of browsers and of APT; links that run in
# circles end.
mkdir -p mirror/dists/bookworm mirror/pool/main mirror/.hidden
touch mirror/dists/bookworm/Release "mirror/pool/main/g++_1~2.deb" mirror/.hidden/x mirror/.lock
ln -s bookworm mirror/dists/stable
ln -s .. mirror/pool/up
ln -s nowhere mirror/broken
bloomery digest make -q -o m --bits-per-entry 64 --mirror mirror --base http://deb.example/debian
for path in dists/bookworm/Release dists/stable/Release pool/main/g++_1~2.deb pool/main/g%2b%2b_1%7e2.deb; do
  expect_status 0 bloomery digest ask -q m --url http://deb.example/debian/$path
done
for path in .lock .hidden/x broken pool/up; do
  expect_status 1 bloomery digest ask -q m --url http://deb.example/debian/$path
done
bloomery digest info --json m >json
expect_equal "$(json json 'd["entries"]')" 4
expect_error "--mirror needs the URL" bloomery digest make -o x --mirror mirror
expect_error "missing" bloomery digest make -o x --mirror missing --base http://h/

# Cache directories.
mkdir -p nginx/a/b squid/00/00
printf '\5\0\0\0%0300d\nKEY: httpbackend/o1\nHTTP/1.1 200 OK\r\n\r\nbody' 0 >nginx/a/b/1
printf '\5\0\0\0%0300d\nKEY: http://example.org/o2\nHTTP/1.1 200 OK\r\n\r\nbody' 0 >nginx/a/b/2
echo other >nginx/a/b/3
bloomery digest make -o n --bits-per-entry 64 --nginx nginx 2>err
expect_equal "$(bloomery digest ask n --url http://backend/o1 --url http://example.org/o2 --url http://example.org/o1 | wc -l)" 2
grep -qxF 'left out: 1 file without a URL' err || fail "$(cat err)"
bloomery digest make -q -o n --bits-per-entry 64 --nginx nginx --base http://example.org
expect_status 0 bloomery digest ask -q n --url http://example.org/o1
cat >squid.py <<'END'
import hashlib, struct
def key(n): return hashlib.md5(b"\1http://example.org/o%d" % n).digest()
with open("squid/00/00/00000001", "wb") as f:
    fields = b"\3" + struct.pack("=i", 16) + key(1)
    f.write(b"\3" + struct.pack("=i", 5 + len(fields)) + fields + b"HTTP/1.1 200 OK\r\n")
with open("state", "wb") as f:
    f.write(struct.pack("=Bxxxii60x", 3, 2, 72))
    for what, n in (1, 1), (1, 2), (1, 3), (2, 2): f.write(struct.pack("=B51x16s4x", what, key(n)))
    f.write(b"\1half")
END
/usr/bin/python3 -IS squid.py
bloomery digest make -q -o s --bits-per-entry 64 --squid squid
expect_equal "$(bloomery digest ask s <urls)" "$(printf 'http://example.org/o1\ts')"
mv state squid/swap.state
bloomery digest make -q -o s --bits-per-entry 64 --squid squid
expect_equal "$(bloomery digest ask s <urls)" "$(printf 'http://example.org/o1\ts\nhttp://example.org/o3\ts')"
echo x >squid/swap.state
expect_error "squid/swap.state: it is no swap.state" bloomery digest make -o x --squid squid

# Numbers that Squid would not take, damage, and inputs that are none.
expect_error "there are 500 URLs, and room for 499; raise --capacity" bloomery digest make -o x --capacity 499 urls
expect_error "--bits-per-entry" bloomery digest make -o x --bits-per-entry 128 urls
bloomery digest make -o full --bits-per-entry 3 urls 2>err
grep -qE 'warning: 7[0-9.]+ % of the bits of full are ones; Squid uses no digest with more than 65 %' err || fail "$(cat err)"
bloomery digest info full | grep -q 'Squid uses no digest with more' || fail "info of a full digest"
echo nothing >none
expect_error "none:1: 'nothing' is no URL, and no other line has one either" bloomery digest make -o x none
echo http://a.example/ >no.log
expect_error "no.log:1: 'http://a.example/' is no line of an access log, nor is any other; without --log" bloomery digest make -o x --log no.log
bloomery digest make -o empty /dev/null 2>err
grep -q 'there are no keys in the input' err || fail "$(cat err)"
expect_status 1 bloomery digest ask -q empty --list urls
head -c 400 d >cut
expect_error "cut: the cache digest is damaged: its length is 400, but it must be 441" bloomery digest info cut
expect_error "urls: this is no cache digest" bloomery digest ask urls --url http://example.org/
expect_error "'x' is no URL with a host" bloomery digest ask d --url x
expect_error "missing" bloomery digest ask missing --url http://example.org/
expect_error "the keys must come from a file" bloomery digest ask - <d
expect_error "urls" bloomery digest make -o urls urls
[[ ! -e x ]] || fail "a file of an error"
