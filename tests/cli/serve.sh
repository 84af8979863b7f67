# Filters over HTTP, with curl: every route, and what each refuses.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v curl >/dev/null || exit 77

mkdir dir page
seq 1 2000 | sed 's/^/key/' >lines
bloomery build -q -o dir/words lines
seq 1 2000 | bloomery build -q --integers -o dir/numbers
sha1sum </dev/null | cut -d' ' -f1 | bloomery build -q --hex -o dir/digests
cp dir/words version1
echo 'not a filter' >dir/notes
echo '<p>page' >page/index.html
echo 'let a' >page/a.js
echo '{}' >page/a.webmanifest
ln -s /etc/passwd page/out
mkdir page/.git
echo 'user:secret' | tee page/.htpasswd >page/.git/config
openssl rand -hex 32 >token

# start OPTIONS...: a server on a free port; its base is in $url.
start() {
  : >server.err # what the server before said is not to be taken for this one's address
  "$BLOOMERY" serve dir --listen 127.0.0.1:0 "$@" 2>server.err &
  server=$!
  for _ in $(seq 300); do
    url=$(sed -n 's/^bloomery: .* at \(http.*\)$/\1/p' server.err)
    [[ -z $url ]] || return 0
    kill -0 $server 2>/dev/null || fail "no server: $(cat server.err)"
    sleep 0.1
  done
  fail "no port: $(cat server.err)"
}
stop() { kill $server; wait $server || fail "status $? at the end: $(cat server.err)"; }
# get STATUS ARGUMENTS...: of curl; the body goes to file body, the header to head.
get() {
  local wanted=$1 status
  shift
  : >body
  status=$(curl -sS -m 60 -o body -D head -w '%{http_code}' "$@")
  [[ $status == "$wanted" ]] || fail "status $status, not $wanted, of $*: $(head -c 300 body)"
}
field() { tr -d '\r' <head | sed -n "s/^$1: //Ip"; }

start --page page --writable --token-file token --keep 3 --log log
# ---- what there is -------------------------------------------------------------------------------
get 200 "$url/healthz"
expect_equal "$(cat body)" ok
get 200 "$url/filters"
expect_equal "$(json body "[(f['name'], f['kind'], f['keys']) for f in d]")" \
  "[('digests', 'blocked', 1), ('numbers', 'blocked', 2000), ('words', 'blocked', 2000)]"
expect_equal "$(json body "d[2]['bytes'], d[2]['fpr_target'], len(d[2]['version'])")" "($(stat -c %s dir/words), 0.01, 16)"
get 200 "$url/"
expect_equal "$(cat body)" '<p>page'
get 200 "$url/a.js"
expect_equal "$(field Content-Type)" 'text/javascript; charset=utf-8'
get 304 -H "If-None-Match: $(field ETag)" "$url/a.js"
get 200 "$url/a.webmanifest"
expect_equal "$(field Content-Type)" application/manifest+json
for path in /out /b.js /../token /%2e%2e/token /page/..%2f..%2ftoken /.htpasswd /%2ehtpasswd /.git/config //.git/config; do get 404 --path-as-is "$url$path"; done

# ---- the filter ----------------------------------------------------------------------------------
get 200 "$url/filters/words"
cmp body dir/words
tag=$(field ETag)
[[ $tag =~ ^\"[0-9a-f]{16}\"$ ]] || fail "ETag $tag"
get 304 -H "If-None-Match: $tag" "$url/filters/words"
expect_equal "$(stat -c %s body)$(field Content-Type)" 0
get 206 -r 100-299 "$url/filters/words"
cmp body <(head -c 300 dir/words | tail -c 200)
expect_equal "$(field Content-Range)" "bytes 100-299/$(stat -c %s dir/words)"
get 206 -r -5 -H "If-Range: $tag" "$url/filters/words"
get 200 -r -5 -H 'If-Range: "other"' "$url/filters/words"
get 416 -r 999999999- "$url/filters/words"
get 200 -I "$url/filters/words"
expect_equal "$(field Content-Length)" "$(stat -c %s dir/words)"
get 200 -H 'Accept: application/vnd.bloomery.packed' "$url/filters/words"
expect_equal "$(field ETag) $(field Vary)" "\"${tag//\"/}-packed\" Accept"
bloomery unpack -q -o unpacked body
cmp unpacked dir/words
get 304 -H 'Accept: application/vnd.bloomery.packed' -H "If-None-Match: \"${tag//\"/}-packed\"" "$url/filters/words"
get 200 "$url/filters"
expect_equal "$(json body "0 < d[2]['packed_bytes'] < d[2]['bytes']")" True
get 406 -H 'Accept: image/png' "$url/filters/words"
for path in notes none; do get 404 "$url/filters/$path"; done
for path in .x %2e%2e a%2fb a%00b a%4; do get 400 --path-as-is "$url/filters/$path"; done
get 405 -X DELETE "$url/filters/words"
expect_equal "$(field Allow)" 'GET, HEAD'

# ---- asking --------------------------------------------------------------------------------------
get 200 "$url/filters/words/check?key=key7"
expect_equal "$(cat body)" '{"found":true}'
get 200 -G --data-urlencode 'key=key 7&x' "$url/filters/words/check"
expect_equal "$(cat body)" '{"found":false}'
get 200 "$url/filters/numbers/check?key=0x7"
expect_equal "$(cat body)" '{"found":true}'
get 400 "$url/filters/numbers/check?key=seven"
get 400 "$url/filters/words/check"
(echo no; sed -n 5,9p lines; echo; echo neither) >asked
bloomery check dir/words asked >expected
get 200 --data-binary @asked "$url/filters/words/check"
cmp body expected
get 200 -H 'Accept: application/octet-stream' --data-binary @asked "$url/filters/words/check"
expect_equal "$(od -An -tx1 body)" " 3e"
get 200 -H 'Accept: application/json' --data-binary @asked "$url/filters/words/check"
expect_equal "$(json body "d['keys'], d['found'], d['answers'][:3]")" '(8, 5, [False, True, True])'
get 200 -H 'Content-Type: application/json' -d '["key1","\u006bey2","no"]' "$url/filters/words/check"
expect_equal "$(json body "d['answers']")" '[True, True, False]'
get 400 -H 'Content-Type: application/json' -d '["key1",' "$url/filters/words/check"
get 400 --data-binary $'1\nx\n' "$url/filters/numbers/check"
expect_equal "$(json body "d['error']")" 'line:2: not a whole number'
get 406 -H 'Accept: image/png' -d key1 "$url/filters/words/check"
# A long body: chunked both ways, and nothing of it is kept.
seq 1 300000 | sed 's/^/key/' >many
bloomery check dir/words many >expected
get 200 -T - -X POST "$url/filters/words/check" <many
cmp body expected
get 200 --data-binary @many "$url/filters/words/check?annotate=1"
expect_equal "$(field Transfer-Encoding) $(wc -l <body)" 'chunked 300000'
cmp <(sed -n 's/^+\t//p' body) expected
get 200 -0 --data-binary @many "$url/filters/words/check?annotate=1"
expect_equal "$(wc -l <body)" 300000
get 200 --data-binary @asked "$url/filters/words/check?annotate=0"
bloomery check dir/words asked | cmp - body
get 400 --data-binary @asked "$url/filters/words/check?annotate=yes"
get 415 -H 'Content-Encoding: gzip' --data-binary @asked "$url/filters/words/check"

# ---- versions ------------------------------------------------------------------------------------
delta() { get "$1" "$url/filters/words/delta?from=$2"; }
# changed OLD: waits until the server has another version than OLD.
changed() {
  for _ in $(seq 300); do
    get 200 -I "$url/filters/words"
    [[ $(field ETag) == "$1" ]] || return 0
    sleep 0.1
  done
  fail "it was not noticed: $(cat server.err)"
}
first=${tag//\"/}
delta 204 "$first"
tags=("$tag")
for i in 1 2 3; do
  echo "more$i" | bloomery add -q dir/words
  changed "${tags[-1]}"
  tags+=("$(field ETag)")
done
delta 200 "$first"
expect_equal "$(field Bloomery-Version) $(field Content-Type)" "${tags[3]//\"/} application/vnd.bloomery.delta"
bloomery patch -q -o patched version1 body
cmp patched dir/words
[[ $(stat -c %s body) -lt 1000 ]] || fail "the delta has $(stat -c %s body) bytes"
echo more4 | bloomery add -q dir/words
changed "${tags[3]}"
delta 303 "$first" # three are kept
expect_equal "$(field Location)" /filters/words
get 200 "$url/filters/words/delta?from=%22${tags[1]//\"/}%22"
delta 303 0123456789abcdef
delta 400 xyz
# A damaged file stays out, and is told of; the version before it stays. One that goes is gone.
version=$(curl -sI "$url/filters/words" | tr -d '\r' | sed -n 's/^ETag: //p')
cp dir/words damaged && printf '\377\377\377\377' | dd of=damaged bs=1 seek=1000 conv=notrunc status=none && mv damaged dir/words
for _ in $(seq 300); do grep -q 'words: .*left out' server.err && break; sleep 0.1; done
grep -q 'words: .*left out' server.err || fail "not told: $(cat server.err)"
get 200 -I "$url/filters/words"
expect_equal "$(field ETag)" "$version"
# So does a list in the place of a filter.
echo a list >new && mv new dir/words
for _ in $(seq 300); do grep -q 'words: this is no filter any more' server.err && break; sleep 0.1; done
grep -q 'words: this is no filter any more; it is left out' server.err || fail "not told: $(cat server.err)"
get 200 "$url/filters/words/check?key=key7"
cp version1 new && mv new dir/words
changed "$version"
# One that is overwritten where it is has no version before it: it is gone, and the server is not.
echo broken >dir/words
for _ in $(seq 300); do [[ $(curl -sI -o body -w '%{http_code}' "$url/filters/words") == 404 ]] && break; sleep 0.1; done
get 404 "$url/filters/words/check?key=key7"
get 200 "$url/filters"
cp version1 new && mv new dir/words
for _ in $(seq 300); do [[ $(curl -sI -o body -w '%{http_code}' "$url/filters/words") == 200 ]] && break; sleep 0.1; done
get 200 "$url/filters/words/check?key=key7"
rm dir/digests
for _ in $(seq 300); do [[ $(curl -s -o body -w '%{http_code}' "$url/filters/digests") == 404 ]] && break; sleep 0.1; done
get 404 "$url/filters/digests"

# ---- adding --------------------------------------------------------------------------------------
get 401 -d new1 "$url/filters/words/add"
expect_equal "$(field WWW-Authenticate)" Bearer
get 401 -H "Authorization: Bearer x$(cat token)" -d new1 "$url/filters/words/add"
get 405 -H "Authorization: Bearer $(cat token)" "$url/filters/words/add"
get 200 -H "Authorization: Bearer $(cat token)" --data-binary $'new1\n\nnew2\n' "$url/filters/words/add"
expect_equal "$(json body "d['added'], d['keys'], d['fpr_target'], 0 < d['fpr_now'] < 1")" '(2, 2002, 0.01, True)'
get 415 -H "Authorization: Bearer $(cat token)" -H 'Content-Encoding: gzip' -d new3 "$url/filters/words/add"
get 200 "$url/filters/words/check?key=new2"
expect_equal "$(cat body)" '{"found":true}'
bloomery check -q dir/words <<<new1
get 400 -H "Authorization: Bearer $(cat token)" -d x "$url/filters/numbers/add"

# ---- what it tells -------------------------------------------------------------------------------
get 200 "$url/metrics"
for line in 'bloomery_serve_filters 2' 'bloomery_serve_damaged_total 3' 'bloomery_serve_keys_added_total 2' \
  'bloomery_serve_requests_total{route="check",status="2xx"}' 'bloomery_serve_filter_keys{name="words"} 2002' \
  'bloomery_serve_request_seconds_bucket{le="+Inf"}'; do
  grep -qF "$line" body || fail "no $line in $(cat body)"
done
mv log log.1
kill -HUP $server
for _ in $(seq 100); do [[ -e log ]] && break; sleep 0.1; done
get 200 "$url/filters/words/check?key=secret"
# What is refused before its header has ended took no time: nobody knows when it began.
IFS=: read -r host port <<<"${url#http://}"
exec 9<>"/dev/tcp/$host/$port"
printf 'GET\r\n\r\n' >&9
cat <&9 >/dev/null
exec 9>&-
for _ in $(seq 100); do grep -q '" 400 ' log && break; sleep 0.1; done
grep -qE '" 400 [0-9]+ 0$' log || fail "$(cat log)"
stop
[[ ! -e log.2 ]] && grep -qE '^127.0.0.1 - - \[[^]]*\] "GET /filters/words/check" 200 [0-9]+ [0-9]+$' log || fail "$(cat log)"
! grep -q secret log || fail "a key is in the log"

# ---- a log that cannot be written, and signals before it serves ----------------------------------
start --log /dev/full
for _ in 1 2 3; do get 200 "$url/healthz"; sleep 0.6; done
stop
expect_equal "$(grep -c '^bloomery: warning: /dev/full: No space left on device; requests are missing in it' server.err)" 1
mkfifo slow
for signal in TERM INT; do
  "$BLOOMERY" serve dir --listen 127.0.0.1:0 --writable --token-file slow 2>server.err &
  server=$!
  exec 5>slow # when it is read, so the verb has begun
  kill -$signal $server
  exec 5>&- # the thread sanitizer holds the signal back until the read ends
  wait $server || fail "status $? after SIG$signal while it starts"
done

# ---- tokens for all, TLS, another user, and copies -----------------------------------------------
openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 2 -subj /CN=localhost 2>/dev/null
chmod a+rx . dir
start --read-token-file token --certificate tls.pem --certificate-key tls.key --copy ${UID/#0/--user nobody}
get 401 -k "$url/filters"
get 200 -k "$url/healthz"
get 200 -k -H "Authorization: Bearer $(cat token)" "$url/filters/words"
cmp body dir/words
get 200 -k -H "Authorization: Bearer $(cat token)" --data-binary @many "$url/filters/words/check"
get 403 -k -H "Authorization: Bearer $(cat token)" -d x "$url/filters/words/add"
if bloomery help | grep -q '^  fetch '; then
  named=${url/127.0.0.1/localhost}
  expect_error 'status 401: this needs a token' bloomery fetch --cacert tls.pem "$named/filters/words" -o fetched
  bloomery fetch -q --cacert tls.pem --token-file token "$named/filters/words" -o fetched
  cmp fetched dir/words
fi
if [[ $UID == 0 ]]; then expect_equal "$(stat -c %U /proc/$server)" nobody; fi
# Files may be overwritten in place, too.
get 200 -k -I -H "Authorization: Bearer $(cat token)" "$url/filters/words"
before=$(field ETag)
cat version1 >dir/words
for _ in $(seq 300); do
  get 200 -k -I -H "Authorization: Bearer $(cat token)" "$url/filters/words"
  [[ $(field ETag) == "$before" ]] || break
  sleep 0.1
done
expect_equal "$(field ETag)" "$tag"
stop

# SIGHUP reads the certificate again, also when the log cannot be opened anew.
mkdir logs
start --log logs/log --certificate tls.pem --certificate-key tls.key
get 200 --cacert tls.pem "${url/127.0.0.1/localhost}/healthz"
mv logs gone
openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.pem -days 2 -subj /CN=localhost 2>/dev/null
kill -HUP $server
named=${url/127.0.0.1/localhost}
for _ in $(seq 300); do curl -s -m 60 -o body --cacert tls.pem "$named/healthz" && break; sleep 0.1; done
get 200 --cacert tls.pem "$named/healthz"
grep -q 'logs/log: No such file' server.err || fail "not told: $(cat server.err)"
stop

# ---- the lines of docs/serve.md ------------------------------------------------------------------
mkdir -p document/dir
cd document
cp ../version1 dir/words
cp dir/words words
printf 'ads.example\nspy.example\n' >hosts.txt
printf 'news.example\nspy.example\n' >visitors.txt
password=secret token=$(cat ../token)
printf '%s:7\n' "$(printf %s $password | sha1sum | cut -d' ' -f1 | tr a-f A-F)" >pwned.txt
# run_lines N PATTERN: runs the N indented lines that begin so, as they stand, on this folder and
# this server.
run_lines() {
  sed -n 's/^    //p' "$project/docs/serve.md" | grep -E "^($2)" >found || true
  expect_equal "$(wc -l <found)" "$1"
  sed "s,/srv/filters,$PWD/dir,; s,http://127.0.0.1:8080,$url," found >run
  source ./run >ran
}
curl() { command curl -sSf -m 60 "$@"; }
run_lines 3 'bloomery build |cut '
start
get 200 -I "$url/filters/words"
VERSION=$(field ETag | tr -d '"')
echo more | bloomery add -q dir/words
changed "\"$VERSION\""
run_lines 8 'curl |bloomery patch |digest='
cmp words.new dir/words
expect_equal "$(grep -o '^spy.example\|"found":[a-z]*' ran)" $'"found":true\nspy.example\n"found":true'
unset -f curl
stop
cd ..

# ---- packed files, and filters that cannot be asked ----------------------------------------------
bloomery pack -q -o dir/small dir/words
openssl rand -hex 16 >key
bloomery build -q --hash siphash --key-file key -o dir/secret lines
start
get 200 "$url/filters/small"
cmp body dir/words
get 200 "$url/"
grep -q '<a href="/filters/small">' body || fail "$(cat body)"
get 200 "$url/filters/small/check?key=key7"
expect_equal "$(cat body)" '{"found":true}'
get 409 "$url/filters/secret/check?key=key7"
get 200 "$url/filters/secret"
stop
start --key-file key
get 200 "$url/filters/secret/check?key=key7"
expect_equal "$(cat body)" '{"found":true}'
stop

expect_error 'belong together' bloomery serve dir --writable
expect_error 'at least 16 bytes' bloomery serve dir --writable --token-file <(echo short)
expect_error 'No such file' bloomery serve nowhere --listen 127.0.0.1:0
expect_error 'two parts' bloomery serve dir --listen 127.0.0.1:0 --squid x
expect_error 'ends with /' bloomery serve dir --listen 127.0.0.1:0 --mirror http://a=b
