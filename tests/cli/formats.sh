# Keys as people have them: every form of input, and what is wrong with it is said with file and
# line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

head -5000 $words >w.txt
bloomery build -q -o w.bloom w.txt
same() { cmp "$1" w.bloom || fail "another filter"; }
# The header names the form of the keys.
same_bits() { cmp -i 256 "$1" w.bloom || fail "other bits"; }

# The same keys in other forms are the same filter.
tr '\n' '\0' <w.txt | bloomery build -q -o f.bloom -0; same f.bloom
sed 's/$/\r/' w.txt | bloomery build -q -o f.bloom --crlf; same f.bloom
awk -v q='"' '{gsub(q, q q); print NR "," q $0 q ",x"}' w.txt | bloomery build -q -o f.bloom --column 2; same f.bloom
(echo 'id,"the word",more'; awk -v q='"' '{print NR "," q $0 q ",x"}' w.txt) >named.csv
bloomery build -q -o f.bloom --column 'the word' named.csv; same f.bloom
bloomery build -q -o f.bloom --column 2 --header named.csv; same f.bloom
awk '{print NR "\t" $0}' w.txt | bloomery build -q -o f.bloom --column 2 --delimiter '\t'; same f.bloom
/usr/bin/python3 -c 'import json,sys
for i,w in enumerate(sys.stdin): print(json.dumps({"n": i, "a": {"b": w.rstrip("\n")}}))' <w.txt >w.json
bloomery build -q -o f.bloom --json-key a.b w.json; same f.bloom
/usr/bin/python3 -c 'import sys
for w in sys.stdin.buffer: print(w.rstrip(b"\n").hex())' <w.txt | bloomery build -q -o f.bloom --hex; same_bits f.bloom

# A column or a field may spell the key, too: a list of digests and counts, with the CR of another
# system.
/usr/bin/python3 -c 'import sys
for w in sys.stdin.buffer: print(w.rstrip(b"\n").hex().upper() + ":7\r")' <w.txt >w.counts
bloomery build -q -o f.bloom --hex --column 1 --delimiter : w.counts; same_bits f.bloom
/usr/bin/python3 -c 'import json,sys
for w in sys.stdin.buffer: print(json.dumps({"k": w.rstrip(b"\n").hex()}) + "\n{}")' <w.txt >w.hex.json
bloomery build -q -o f.bloom --hex --json-key k w.hex.json; same_bits f.bloom
expect_equal "$(bloomery check --hex --column 1 --delimiter : f.bloom w.counts | cksum)" "$(cksum <w.counts)"

for tool in gzip bzip2 zstd xz; do
  $tool -c w.txt >w.packed
  bloomery build -q -o f.bloom w.packed; same f.bloom
  (head -2500 w.txt | $tool -c; tail -n +2501 w.txt | $tool -c) | bloomery build -q -o f.bloom; same f.bloom
done

# Integers are those of the library; negative ones are their two's complement.
seq 1 1000 | bloomery build -q -o i.bloom --integers
expect_equal "$(printf '0x10\n500\n1000\n' | bloomery check -c --integers i.bloom)" 3
expect_equal "$(printf '5000\n-1\n77777\n' | bloomery check -c --integers i.bloom || true)" 0
expect_equal "$(printf 'id,n\nx,7\n\ny,-7\n' | bloomery check --no-header --integers --column n i.bloom)" x,7
expect_equal "$(printf '{"n":7}\n{}\n{"n":"0x7D0"}\n' | bloomery check --integers --json-key n i.bloom)" '{"n":7}'
seq -f '%08.0f' 1 100 | tr -d '\n' | bloomery build -q -o r.bloom --record-bytes 8
expect_equal "$(printf '00000042x0000043' | bloomery check --record-bytes 8 r.bloom)" 00000042

# Quotes, line ends and delimiters inside of fields; the record comes back as it was.
printf 'k,v\r\n"a\nb",1\r\n"say ""yes""",2\r\nplain,3\r\n' >q.csv
bloomery build -q -o q.bloom --column k q.csv
expect_equal "$(printf 'a\nb\0say "yes"\0plain\0' | bloomery check -0 -c q.bloom)" 3
expect_equal "$(bloomery check --column k q.bloom q.csv)" "$(cat q.csv)"
expect_equal "$(bloomery check --column k --only-keys q.bloom q.csv | tail -1)" plain
expect_equal "$(printf 'apples\nno such word\n' | bloomery check --annotate w.bloom <(echo apples) - || true)" \
  "$(printf -- '-\tapples\n-\tapples\n-\tno such word')"
expect_equal "$(head -1 w.txt | bloomery check --annotate w.bloom)" "+	$(head -1 w.txt)"
expect_equal "$(printf '{"k":1}\n{"k":null}\n\n{"z":2}\n{"k":true}\n' | bloomery build --json-key k -q --json -o j.bloom - | grep '"keys"')" '  "keys": 2,'

# k-mers: a sequence and its reverse complement are the same; lines and letters in between do not
# matter.
printf '>a\nACGTT\ngcaNN\nACGT\n>b\nAC\n' >a.fa
printf '@r1\nACGTTGCA\n+\nIIIIIIII\n' >a.fq
printf 'AACG\nACGT\nCAAC\nGCAA\nTGCA\n' | sort -u >expected # of ACGTTGCA
bloomery build -q -o k.bloom --kmer 4 a.fa
bloomery build -q -o k2.bloom --kmer 4 --keys 6 a.fq
expect_equal "$(bloomery check --kmer 4 k.bloom a.fq | sort -u)" "$(cat expected)"
# A sequence that is longer than a chunk loses none of its k-mers at the seams.
/usr/bin/python3 -c 'import random
random.seed(5); s="".join(random.choice("ACGT") for _ in range(1500000))
print(">long"); [print(s[i:i+61]) for i in range(0,len(s),61)]' >long.fa
/usr/bin/python3 -c 'import sys
s="".join(l.strip() for l in open("long.fa") if l[0]!=">"); c=s.translate(str.maketrans("ACGT","TGCA"))[::-1]; n=len(s)
for i in range(n-30): print(min(s[i:i+31], c[n-31-i:n-i]))' >by-hand
bloomery build -q -o long.bloom --kmer 31 long.fa
bloomery build -q -o by-hand.bloom by-hand
cmp -i 256 long.bloom by-hand.bloom || fail "other k-mers than by hand"

# What is wrong, and where.
printf 'a,1\nb\n' >short.csv
expect_error "short.csv:2: the row has 1 column, not 2" bloomery build -o x --column 2 short.csv
printf 'a,b\n"x,1\n' >open.csv
expect_error "open.csv:2: a quote that is never closed" bloomery build -o x --column a open.csv
expect_error "open.csv:1: there is no column 'c' among a, b" bloomery build -o x --column c open.csv
printf '{"a":1}\nnot json\n' >bad.json
expect_error "bad.json:2: not JSON" bloomery build -o x --json-key a bad.json
printf '{"a":[1]}\n' >bad.json
expect_error "bad.json:1: the field is an object or an array" bloomery build -o x --json-key a bad.json
printf 'abcd\n\nxyz1\n' >bad.hex
expect_error "bad.hex:3: not a hexadecimal number" bloomery build -o x --hex bad.hex
printf 'k;n\n00;1\n\n"0";2\n' >bad.csv
expect_error "bad.csv:4: an odd number of hexadecimal digits" bloomery build -o x --hex --column k --delimiter ';' bad.csv
printf '1\n99999999999999999999\n' >bad.int
expect_error "bad.int:2: the number does not fit into 64 bits" bloomery build -o x --integers bad.int
printf '1\n2x\n' >bad.int
expect_error "bad.int:2: not a whole number" bloomery build -o x --integers bad.int
printf '12345' >bad.bin
expect_error "bad.bin: ends in the middle of a record of 4 bytes" bloomery build -o x --record-bytes 4 bad.bin
# RNA is DNA with U for T.
printf '>dna\nACGTTGCAAATTCg\n' >dna.fa
tr Tt Uu <dna.fa >rna.fa
bloomery build -q -o dna.bloom --kmer 5 dna.fa
bloomery build -q -o rna.bloom --kmer 5 rna.fa
cmp dna.bloom rna.bloom
bloomery explain --kmer 5 dna.bloom ACGUU | grep -q 'probably' || fail "$(bloomery explain --kmer 5 dna.bloom ACGUU)"
expect_error "neither FASTA nor FASTQ" bloomery build -o x --kmer 5 w.txt
printf '@r\nACG\n-\nIII\n' >bad.fq
expect_error "bad.fq:3: the third line of a FASTQ record begins with +" bloomery build -o x --kmer 2 bad.fq
printf '@r\nACG\n+\n' >bad.fq
expect_error "bad.fq:4: ends in the middle of a FASTQ record" bloomery build -o x --kmer 2 bad.fq
for tool in gzip bzip2 zstd xz; do
  cat $words | $tool -c >bad.packed
  head -c 20000 bad.packed >cut.packed
  expect_error "cut.packed: the compressed data ends too early" bloomery build -o x cut.packed
  printf 'XXXXXXXX' | dd of=bad.packed bs=1 seek=5000 conv=notrunc status=none
  expect_error "bad.packed: the" bloomery build -o x bad.packed
done
expect_error "--null and --hex are two forms of input" bloomery build -o x -0 --hex w.txt
expect_error "--hex and --integers are two forms of input" bloomery build -o x --hex --integers w.txt
expect_error "--column and --json-key are two forms of input" bloomery build -o x --column 1 --json-key a w.txt
expect_error "--kmer and --integers are two forms of input" bloomery build -o x --kmer 5 --integers w.txt
expect_error "--delimiter and --header are for --column" bloomery build -o x --delimiter ';' w.txt
expect_error "--delimiter is 'ab'" bloomery build -o x --column 1 --delimiter ab w.txt
expect_error "--column counts from 1" bloomery build -o x --column 0 w.txt
[[ ! -e x ]] || fail "an output after an error"
