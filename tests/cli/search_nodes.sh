# Keyword search over nodes: three processes hold the words of documents, and answer exactly.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT
# Three free ports; all nodes know them from the beginning.
at=$(/usr/bin/python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(",".join(f"127.0.0.1:{d.getsockname()[1]}" for d in s))')
IFS=, read -ra nodes <<<"$at"
for i in 0 1 2; do
  "$BLOOMERY" index --serve "${nodes[i]}" --at "$at" 2>node$i &
  pids+=($!)
done
for i in 0 1 2; do
  for _ in $(seq 200); do grep -q listening node$i && break; sleep 0.05; done
done

# Before anything is published, nothing is found.
expect_status 1 bloomery search --at "$at" bloom

# 300 documents with words from the word list; grep knows the truth.
mkdir docs
grep -x '[a-z]*' $words | awk 'NR % 40 == 0 && ++n <= 600' >vocabulary
/usr/bin/python3 - <<'P'
import random
r = random.Random(1)
words = open("vocabulary").read().split()
common = words[:8]
for i in range(300):
    text = r.sample(words, 60) + [w for w in common if r.random() < 0.5]
    r.shuffle(text)
    open(f"docs/{i:03}.txt", "w").write(" ".join(text).title() + ".\n")
P
bloomery index --at "$at" --json docs >json 2>err
expect_equal "$(json json "d['documents'], d['nodes'], d['unreadable'], d['bytes_sent'] > 10000")" "(300, 3, 0, True)"
truth() { # the documents that have all the words
  local found=$(ls docs/*) w
  for w; do found=$(grep -liw "$w" $found || true); [[ $found ]] || return 0; done
  printf '%s\n' $found | sort
}
mapfile -t w < <(head -8 vocabulary)
for question in "${w[0]}" "${w[1]} ${w[2]}" "${w[0]} ${w[1]} ${w[2]} ${w[3]}" "${w[*]}" "$(sed -n '100p;200p' vocabulary | tr '\n' ' ')"; do
  bloomery search --at "${nodes[1]}" $question >got 2>/dev/null || true
  cmp got <(truth $question) || fail "$question"
done
expect_status 1 bloomery search --at "$at" "${w[0]}" nosuchword
expect_equal "$(bloomery search -c --at "$at" "${w[0]^^}" 2>/dev/null)" "$(truth "${w[0]}" | wc -l)"
# The bytes between nodes, against whole lists.
bloomery search --json --at "$at" "${w[@]}" >json
expect_equal "$(json json "d['found'] == len(d['documents']), d['nodes'] in (2, 3), 0 < d['bytes_forward'] + d['bytes_back'] < d['bytes_lists'] + 400")" "(True, True, True)"
bloomery search --at "$at" "${w[@]}" >/dev/null 2>err
grep -qE '^[0-9.]+ (bytes|kB) between [23] nodes; whole lists would be ' err || fail "$(cat err)"

# A document that has changed has its new words only.
echo "Entirely different ${w[0]}" >docs/000.txt
bloomery index -q --at "$at" docs/000.txt
expect_equal "$(bloomery search --at "$at" entirely different 2>/dev/null)" docs/000.txt
bloomery search --at "$at" "${w[1]}" >got 2>/dev/null
cmp got <(truth "${w[1]}")

# Another list of nodes is refused, wherever it comes from.
expect_error "another list of 3 nodes" bloomery index --at "${nodes[0]}" docs
expect_error "is not one of the nodes that --at names" bloomery index --serve 127.0.0.1:1 --at "$at"
expect_status 2 bloomery index --serve 127.0.0.1:1

# Strangers: bytes that are no message, and connections that say nothing.
IFS=: read -r host port <<<"${nodes[0]}"
for i in 1 2 3 4 5; do
  exec {silent}<>"/dev/tcp/$host/$port"
  { head -c 5000 /dev/urandom >"/dev/tcp/$host/$port"; } 2>/dev/null || true
  { printf 'GET / HTTP/1.0\r\n\r\n' >"/dev/tcp/$host/$port"; } 2>/dev/null || true
done
bloomery search --at "$at" "${w[1]}" "${w[2]}" >got 2>/dev/null
grep -q '^bloomery: dropped a peer and listen on: ' node0 || fail "strangers are not told: $(cat node0)"
expect_equal "$(bloomery search -q --at "$at" "${w[1]}")" ""

# A name with a line end in it would come out as two.
printf 'forged %s' "${w[3]}" >$'docs/a\nb'
bloomery index -q --at "$at" $'docs/a\nb'
expect_error "would come out as two; -0 keeps it one" bloomery search --at "$at" forged
bloomery search -0 --at "$at" forged 2>/dev/null | cmp - <(printf 'docs/a\nb\0')
rm $'docs/a\nb'
cmp got <(truth "${w[1]}" "${w[2]}")

# A node that is gone is an error and no answer; the list comes from one that lives. Which node has
# a word depends on the ports: of 64 words each has some, but for a chance of 10^-11.
kill "${pids[0]}"
wait "${pids[0]}" || fail "status $? after SIGTERM"
expect_error "${nodes[0]}: " bloomery search --at "$at" $(head -64 vocabulary)
[[ ! -s out ]] || fail "a part of the answer was printed"

# Mistakes.
expect_error "name the folders or files to index" bloomery index --at "$at"
expect_error "say where the index goes: -o FILE, or --at NODES" bloomery index docs
expect_error "--serve takes no documents" bloomery index --serve 127.0.0.1:1 --at 127.0.0.1:1 docs
expect_error "a word has letters or digits" bloomery search --at "$at" '...'
expect_error "is no address" bloomery search --at nowhere word
