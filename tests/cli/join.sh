# The join of two tables: against SQLite's answer on random tables of nasty fields, between two
# processes over TCP, and tables and peers that are broken.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

printf 'id,item\n7,"a ""quoted"" one"\n8,plain\n7,\n,nobody\n' >a.csv
printf 'name,id\r\n"Ann, B",7\r\n"two\nlines",7\r\nnone,9\r\nempty,\r\n' >b.csv
bloomery join -q a.csv b.csv --on id >out
cat >expected <<'END'
id,item,name
7,"a ""quoted"" one","Ann, B"
7,"a ""quoted"" one","two
lines"
7,,"Ann, B"
7,,"two
lines"
,nobody,empty
END
cmp out expected
bloomery join -q --on id a.csv - <b.csv | cmp - expected                                # a pipe
bloomery join -q --on id <(gzip -c a.csv) b.csv | cmp - expected                         # packed
sed '1s/id/key/' a.csv >c.csv
sed '1s/id/key/' expected | cmp - <(bloomery join -q --on key=id c.csv b.csv) # other names
printf 'id\titem\n7\tx,y\n' >t.tsv
expect_equal "$(bloomery join -q --delimiter '\t' --on id t.tsv t.tsv)" $'id\titem\titem\n7\tx,y\tx,y'
printf '2,1\nx,y\n' >numbers.csv
expect_equal "$(bloomery join -q --on 1 numbers.csv numbers.csv)" $'2,1,2\nx,y,x' # no number
printf 'id\n""\n1\n' >one.csv
expect_equal "$(bloomery join -q --on id one.csv one.csv)" $'id\n""\n1' # an empty field alone

expect_status 1 bloomery join a.csv <(printf 'id\nno such\n') --on id
expect_equal "$(cat out)" "id,item"
grep -q "rows of A sent: .* bytes, of them .* for filters; all rows: .* bytes" err || fail "$(cat err)"
bloomery join --json -q a.csv b.csv --on id >json
expect_equal "$(json json '[d[k] for k in ("rows", "rows_a", "rows_b", "keys_a", "keys_b", "rows_matched")]')" "[5, 4, 4, 3, 3, 3]"
expect_equal "$(json json 'd["bytes_sent"] == d["bytes_filters"] + d["bytes_rows"] + d["bytes_other"]')" True

# Random tables: zero bytes, quotes, line ends, empty fields, repeated keys. SQLite compares the
# same bytes.
cat >tables.py <<'END'
import csv, random, sqlite3, subprocess, sys
tool = sys.argv[1]
random.seed(5)
def field():
    return "".join(random.choice(["a", "b", "\0", '"', ",", "\n", "\r", "\r\n", "ä", " "]) for _ in range(random.choice([0, 0, 1, 2, 5])))
for trial in range(40):
    keys = [field() for _ in range(random.choice([1, 5, 30]))]
    tables = []
    for name in ("a", "b"):
        columns = random.randint(1, 4)
        key = random.randrange(columns)
        header = ["k" if i == key else name + str(i) for i in range(columns)]
        rows = [[random.choice(keys) if i == key else field() for i in range(columns)] for _ in range(random.choice([0, 1, 10, 60]))]
        end = random.choice(["\n", "\r\n"])
        with open("random-" + name + ".csv", "w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator=end, quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows([header] + rows)
        tables.append((header, rows))
    base = sqlite3.connect(":memory:")
    for name, (header, rows) in zip("ab", tables):
        base.execute(f"create table {name} ({', '.join(h + ' blob' for h in header)})")
        base.executemany(f"insert into {name} values ({', '.join('?' * len(header))})", [[f.encode() for f in r] for r in rows])
    wanted = [f"a.{h}" for h in tables[0][0]] + [f"b.{h}" for h in tables[1][0] if h != "k"]
    expected = base.execute(f"select {', '.join(wanted)} from a join b on a.k = b.k order by a.rowid, b.rowid").fetchall()
    run = subprocess.run([tool, "join", "-q", "random-a.csv", "random-b.csv", "--on", "k"], capture_output=True)
    assert run.returncode == (0 if expected else 1), run
    with open("joined.csv", "wb") as out: out.write(run.stdout)
    with open("joined.csv", newline="", encoding="utf-8") as file: found = list(csv.reader(file))
    assert found[0] == [w[2:] for w in wanted], (found[0], wanted)
    assert [tuple(f.encode() for f in row) for row in found[1:]] == expected, (trial, found[1:4], expected[:3])
END
/usr/bin/python3 tables.py "$BLOOMERY"

# Large ones: what travels are the rows that match and few others, and the estimate is near.
awk 'BEGIN { print "k,x,y"; for (i = 0; i < 50000; ++i) print i ",some text of the row," i }' >large.csv
awk 'BEGIN { print "k,z"; for (i = 49000; i < 53000; ++i) print i "," i }' >small.csv
bloomery join --json -q large.csv small.csv --on k >json
expect_equal "$(json json 'd["rows"], d["rows_sent"] < 1000 + 5 * 49000 * d["fpr_of_b"], d["bytes_sent"] * 15 < d["bytes_plain"]')" "(1000, True, True)"
bloomery join --json -q small.csv large.csv --on k >json
expect_equal "$(json json 'd["rows"], d["bytes_sent"] < d["bytes_plain"]')" "(1000, True)"
bloomery join --estimate --json -q large.csv small.csv --on k >json
expect_equal "$(json json 'abs(d["rows_estimated"] - 1000) < 5 * d["standard_error"] < 200, d["rows_sent"]')" "(True, 0)"
bloomery join --estimate -q large.csv small.csv --on k | grep -qE '^[0-9]+ \+- [0-9]+$' || fail "no estimate"

# Two processes. The one that listens says its port, and serves once.
listen() { # TABLE OPTION...
  : >listening
  bloomery join --listen 127.0.0.1:0 "$@" --on k 2>listening &
  server=$!
  for _ in $(seq 200); do
    port=$(sed -n 's/^bloomery: listening .* port //p' listening)
    [[ -n $port ]] && return
    sleep 0.05
  done
  fail "nobody listens: $(cat listening)"
}
bloomery join -q large.csv small.csv --on k >expected
listen large.csv
bloomery join --connect 127.0.0.1:$port small.csv --on k >out 2>err
wait $server
cmp out expected
diff <(grep sent: err) <(grep sent: listening)   # both sides count the same
listen large.csv
expect_status 0 bloomery join --estimate --connect 127.0.0.1:$port small.csv --on k
wait $server

# A peer that goes in the middle, says nothing sensible, or is not there: no rows, and one line.
cat >broken.py <<'END'
import socket, sys
door = socket.socket()
door.bind(("127.0.0.1", 0))
door.listen(1)
print(door.getsockname()[1], flush=True)
peer = door.accept()[0]
peer.recv(1000)
if sys.argv[1] == "nonsense": peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 10)
try:
  peer.shutdown(socket.SHUT_WR)
  while peer.recv(1000): pass
except OSError: pass
END
for how in cut nonsense; do
  /usr/bin/python3 broken.py $how >port &
  until [[ -s port ]]; do sleep 0.05; done
  expect_status 2 bloomery join --connect "127.0.0.1:$(cat port)" small.csv --on k
  [[ ! -s out && $(wc -l <err) == 1 ]] || fail "$how: $(cat out err)"
  wait $!
  : >port
done
# Strangers end nothing: each is dropped with a line, and the right peer is served afterwards.
listen large.csv --timeout 1
# It may be hung up on between its lines.
{ printf 'GET / HTTP/1.0\r\n\r\n' >/dev/tcp/127.0.0.1/$port; } 2>/dev/null || true
: >/dev/tcp/127.0.0.1/$port
exec 7<>/dev/tcp/127.0.0.1/$port    # says nothing
bloomery join --connect 127.0.0.1:$port small.csv --on k >out 2>err
exec 7>&-
wait $server
cmp out expected
expect_equal "$(grep -c '^bloomery: dropped a peer and listen on: 127.0.0.1:0: \|^bloomery: dropped' listening)" 3
# A peer may make us hold only so much; where both tables are here there is no limit.
listen large.csv
expect_error "hold more than the limit of 20000 bytes; --memory raises it" bloomery join -q --connect 127.0.0.1:$port --memory 20k small.csv --on k
bloomery join -q --connect 127.0.0.1:$port --memory 2M small.csv --on k | cmp - expected
wait $server
expect_error "127.0.0.1:1" bloomery join --connect 127.0.0.1:1 small.csv --on k

# Tables that are none.
bad() { # TEXT CONTENT
  printf "$2" >bad.csv
  expect_error "$1" bloomery join -q bad.csv a.csv --on id
  [[ ! -s out ]] || fail "rows of a bad table"
  expect_error "$1" bloomery join -q a.csv bad.csv --on id
}
bad "bad.csv: is empty; its first line must name the columns" ''
bad "bad.csv:1: there is no column 'id' among a, b" 'a,b\n1,2\n'
bad "bad.csv:1: two columns are called 'id'" 'id,id\n1,2\n'
bad "bad.csv:3: record 3 has 1 fields, not 2 as the first" 'id,b\n1,2\n3\n'
bad "bad.csv:4: record 3 has 3 fields, not 2 as the first" 'id,b\n"1\n",2\n1,2,3\n'
bad "bad.csv:2: text behind a closing quote" 'id,b\n"1"x,2\n'
bad "bad.csv:2: a quote that is never closed" 'id,b\n"1,2\n'
expect_error "missing.csv" bloomery join missing.csv a.csv --on id
expect_error "two tables, not 1" bloomery join a.csv --on id
expect_error "one table, not 2" bloomery join --listen 127.0.0.1:0 a.csv b.csv --on id
expect_error "only one of the two tables can be standard input" bloomery join - - --on id
expect_error "--on needs the name of a column" bloomery join a.csv b.csv --on =id
head -c 100000 /dev/urandom >bad.csv
expect_status 2 bloomery join bad.csv a.csv --on id
