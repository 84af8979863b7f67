# A filter knows what its keys were: whoever comes with another form is told which option to give.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 1000 >numbers
printf '>a\nACGTTGCAAC\n' >a.fa
seq -f '%08.0f' 1 100 | tr -d '\n' >records
head -100 $words | od -An -v -tx1 -w1 | awk '{ printf "%s", $1; if (NR % 20 == 0) print "" }' | grep -E '^.{40}$' >digests
bloomery build -q -o text.bloom numbers
bloomery build -q -o integers.bloom --integers numbers
bloomery build -q -o hex.bloom --hex digests
bloomery build -q -o records.bloom --record-bytes 8 records
bloomery build -q -o kmers.bloom --kmer 4 a.fa

# Each is asked in its own form,
expect_equal "$(bloomery check -c text.bloom numbers)" 1000
expect_equal "$(bloomery check -c integers.bloom --integers numbers)" 1000
expect_equal "$(bloomery check -c hex.bloom --hex digests)" "$(wc -l <digests)"
expect_equal "$(bloomery check -c records.bloom --record-bytes 8 records)" 100
expect_equal "$(bloomery check -c kmers.bloom --kmer 4 a.fa)" 7
# whichever way a record holds the key, and raw bytes are what hexadecimal digits spell.
expect_equal "$(tr '\n' '\0' <numbers | bloomery check -0 -c text.bloom)" 1000
expect_equal "$(awk '{ print NR "," $1 }' numbers | bloomery check -c --column 2 text.bloom)" 1000
expect_equal "$(awk '{ print "{\"n\":" $1 "}" }' numbers | bloomery check -c --integers --json-key n integers.bloom)" 1000
expect_equal "$(head -c 800 records | od -An -v -tx1 -w8 | tr -d ' ' | bloomery check -c --hex records.bloom)" 100

# Any other is refused, and the right one is named.
expect_error "integers.bloom: its keys are integers; give --integers" bloomery check -c integers.bloom numbers
expect_error "integers.bloom: its keys are integers; give --integers" bloomery check --hex integers.bloom digests
expect_error "text.bloom: its keys are text; leave out --integers" bloomery check --integers text.bloom numbers
expect_error "text.bloom: its keys are text; leave out --hex" bloomery check --hex text.bloom digests
expect_error "text.bloom: its keys are text; leave out --kmer 4" bloomery check --kmer 4 text.bloom a.fa
expect_error "hex.bloom: its keys are binary; give --hex or --record-bytes" bloomery check hex.bloom digests
expect_error "records.bloom: its keys are binary; give --hex or --record-bytes" bloomery check records.bloom numbers
expect_error "kmers.bloom: its keys are k-mers of 4 bases; give --kmer 4" bloomery check kmers.bloom numbers
expect_error "kmers.bloom: its keys are k-mers of 4 bases; give --kmer 4" bloomery check --kmer 5 kmers.bloom a.fa

# By every verb that takes keys and a filter, and the file is left as it was.
cp integers.bloom before
expect_error "its keys are integers; give --integers" bloomery add integers.bloom numbers
expect_error "its keys are integers; give --integers" bloomery explain integers.bloom 7
expect_error "its keys are integers; give --integers" bloomery dedup --state integers.bloom numbers
cmp integers.bloom before
bloomery build -q --kind counting --integers -o n.bloom numbers
expect_error "its keys are integers; give --integers" bloomery count n.bloom numbers
expect_error "its keys are integers; give --integers" bloomery remove n.bloom numbers
expect_equal "$(bloomery count --integers n.bloom <<<7)" "7	1"
expect_equal "$(bloomery remove --integers --json -q n.bloom <<<7 | grep removed)" '  "removed": 1,'
bloomery build -q --kind scalable --integers -o s.bloom numbers
expect_error "its keys are integers; give --integers" bloomery compact -o c.bloom s.bloom numbers
bloomery compact -q -o c.bloom --integers s.bloom numbers
expect_equal "$(bloomery check -c --integers c.bloom numbers)" 1000
awk '{ print $1 "\t" $1 }' numbers | bloomery map build -q -o m.bloom
expect_error "its keys are text; leave out --integers" bloomery map get --integers m.bloom numbers
expect_error "its keys are text; leave out --integers" bloomery map set --integers m.bloom numbers
bloomery top -k 5 --integers -o t.bloom numbers >out
expect_error "its keys are integers; give --integers" bloomery count t.bloom numbers
expect_equal "$(head -1 out | cut -f1 | bloomery count --integers t.bloom)" "$(head -1 out)"
bloomery dedup -q --integers --state seen.bloom numbers | cmp - numbers
expect_error "its keys are integers; give --integers" bloomery dedup --state seen.bloom numbers
expect_equal "$(bloomery dedup -q -c --integers --state seen.bloom numbers)" 0

# explain spells a key like the inputs; a k-mer may be read in either direction.
expect_status 0 bloomery explain --integers integers.bloom 0x7
expect_status 0 bloomery explain --hex hex.bloom "$(head -1 digests)"
expect_status 0 bloomery explain --kmer 4 kmers.bloom AACG
expect_status 0 bloomery explain --kmer 4 kmers.bloom CGTT
expect_error "'ACG' is no 4-mer" bloomery explain --kmer 4 kmers.bloom ACG
expect_error "'ACGN' is no 4-mer" bloomery explain --kmer 4 kmers.bloom ACGN

# Sets of two forms are not combined; packed files and deltas keep the form.
bloomery build -q -o a.bloom --keys 1000 numbers
bloomery build -q -o b.bloom --keys 1000 --integers numbers
for verb in "merge -o x" "intersect -o x" compare; do
  expect_error "keys differ, text and integers" bloomery $verb a.bloom b.bloom
done
form() { bloomery info --json "$1" | sed -n 's/^  "form": "*\([^",]*\).*/\1/p'; }
bloomery merge -q -o x b.bloom b.bloom
expect_equal "$(form x)" integers
bloomery fold -q -o x b.bloom
expect_equal "$(form x)" integers
bloomery pack -q -o packed b.bloom
expect_equal "$(form packed)" integers
expect_error "packed: its keys are integers; give --integers" bloomery check packed numbers
bloomery unpack -q -o x packed
cmp x b.bloom
cp b.bloom c.bloom
seq 2000 2010 | bloomery add -q --integers c.bloom
bloomery diff -q -o d b.bloom c.bloom
bloomery patch -q -o x b.bloom d
cmp x c.bloom
bloomery build -q -o long.bloom --kmer 31 <(printf '>x\n%s\n' "$(head -c 500 /dev/zero | tr '\0' A)")
bloomery pack -q -o packed long.bloom
bloomery unpack -q -o x packed
cmp x long.bloom
bloomery info long.bloom | grep -q 'form  *k-mers of 31 bases' || fail "$(bloomery info long.bloom)"

# Large filters and static ones are made in other ways; a file of another program says nothing and
# takes all.
bloomery build -q --memory 1M --integers --keys 20M -o huge.bloom numbers
expect_equal "$(form huge.bloom)" integers
bloomery build -q --kind ribbon --integers -o r.bloom numbers
expect_equal "$(form r.bloom)" integers
old=$project/tests/golden/blocked-1.bloom
expect_equal "$(form "$old")" null
for options in "" --integers --hex; do expect_status 1 bloomery check -c $options "$old" /dev/null; done
