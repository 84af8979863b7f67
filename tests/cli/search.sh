# Documents by their words: against grep on real texts, exactly with --verify; adding, paragraphs,
# k-mers, and what can go wrong.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export LC_ALL=C.UTF-8

# grep_words DIR WORD: the files with this run of letters and digits, as an index has it.
grep_words() { grep -rliaE "(^|[^[:alnum:]])$2(\$|[^[:alnum:]])" "$1" | sort; }

# Licences and the headers of C++: what grep finds is found, and with --verify nothing else is.
for texts in /usr/share/common-licenses /usr/include/c++; do
  bloomery index -o i.bloom $texts 2>err
  grep -qE '^i.bloom: [0-9,]+ documents, [0-9,]+ words, each counted once a document, .* % of the text$' err || fail "$(cat err)"
  for word in warranty vector template the GNU 1991; do
    grep_words $texts $word >theirs || true
    bloomery search i.bloom $word | sort >ours || true
    expect_equal "$(comm -13 ours theirs)" ""
    (bloomery search --verify i.bloom $word || true) | sort | cmp - theirs || fail "$word in $texts"
  done
done
# Several words: all of them, also those of one argument.
comm -12 <(grep_words /usr/include/c++ vector) <(grep_words /usr/include/c++ allocator) >theirs
expect_equal "$(($(wc -l <theirs) > 10))" 1
bloomery search --verify i.bloom vector ALLOCATOR | sort | cmp - theirs
bloomery search --verify i.bloom 'Vector::allocator' | sort | cmp - theirs
expect_equal "$(bloomery search --verify -c i.bloom vector allocator)" "$(wc -l <theirs)"
expect_equal "$(bloomery search --verify -0 i.bloom vector allocator | tr '\0' '\n' | sort)" "$(cat theirs)"
for threads in 1 4; do
  bloomery index -q --threads $threads -o t$threads.bloom /usr/include/c++
done
cmp t1.bloom t4.bloom
# A word of no file: one document in a thousand at most, by the rate that info tells.
bloomery info --json i.bloom >json
expect_equal "$(json json 'd["kind"], d["fpr_target"], d["terms"], 0.0001 < d["fpr_now"] < 0.001')" \
  "('text-index', 0.001, 'words', True)"
bloomery search --json i.bloom qqzzqq >json || true
expect_equal "$(json json 'd["found"] < 5 * max(1, d["expected_false"]), d["verified"], len(d["documents"]) == d["found"]')" \
  "(True, False, True)"
expect_status 1 bloomery search --verify i.bloom qqzzqq
expect_equal "$(cat out)" ""

# Documents of all sorts: empty, one endless word, bytes of a program, packed, not UTF-8, odd names,
# links.
mkdir -p d/sub
: >d/empty
head -c 3000000 /dev/zero | tr '\0' X >d/endless
head -c 300000 "$BLOOMERY" >d/program
echo 'apples and pears' | gzip >d/packed.gz
printf 'caf\xe9 \xff apples\n' >d/latin
printf 'Caf\xc3\xa9 APPLES' >"d/sub/a b
c"
ln -s . d/loop
ln -s sub d/sub2
mkfifo d/pipe
bloomery index -q -o d/i.bloom d 2>err
[[ ! -s err ]] || fail "$(cat err)"
expect_equal "$(bloomery search --verify d/i.bloom apples)" "$(printf 'd/latin\nd/packed.gz\nd/sub/a b\nc')"
expect_equal "$(bloomery search --verify d/i.bloom CAFÉ | tr '\n' ' ')" "d/sub/a b c "
expect_equal "$(bloomery search --verify d/i.bloom "$(head -c 2048 d/endless)")" d/endless
bloomery index -q -I -o d/i.bloom d/
bloomery index -I -o d/i.bloom --json d 2>err >json
expect_equal "$(json json 'd["binary"], d["documents"], d["unreadable"]')" "(1, 5, 0)"
expect_equal "$(bloomery search -c d/i.bloom apples)" 3

# Adding: the same as all at once; what is there already is replaced.
bloomery index -q -o parts.bloom d/latin
bloomery index -q -o parts.bloom --add d/packed.gz d/sub
bloomery index -q -o whole.bloom d/latin d/packed.gz d/sub
cmp parts.bloom whole.bloom
bloomery info --json parts.bloom >before
echo plums >d/latin
bloomery index -q -o parts.bloom --add d/latin
expect_equal "$(bloomery search --verify -c parts.bloom apples)" 2
expect_equal "$(bloomery search --verify parts.bloom plums)" d/latin
# As many documents and files as before: what was replaced is told apart.
bloomery info --json parts.bloom >after
expect_equal "$(json after 'd["documents"], d["files"], d["replaced"]')" "$(json before 'd["documents"], d["files"], 1')"
expect_status 0 bloomery index -o parts.bloom --add d/latin
grep -q "^parts.bloom: $(json before 'd["documents"]') documents (2 more replaced), " err || fail "$(cat err)"
bloomery info parts.bloom | grep -q '^ *2 more replaced' || fail "$(bloomery info parts.bloom)"
# What has changed or gone since: --verify looks.
echo pears >d/latin
expect_status 1 bloomery search --verify parts.bloom plums
rm d/packed.gz
expect_status 2 bloomery search --verify parts.bloom apples
expect_equal "$(head -1 out)" "d/sub/a b"
grep -q '^bloomery: d/packed.gz: opening failed: No such file' err || fail "$(cat err)"
expect_equal "$(wc -l <err)" 1

# Paragraphs: the packages of this machine, each found by its line.
status=/var/lib/dpkg/status
bloomery index -q --paragraphs -o s.bloom $status
expect_equal "$(json <(bloomery info --json s.bloom) 'd["documents"]')" "$(grep -c '^Package: ' $status)"
line=$(bloomery search --verify s.bloom "Package: bash" shell essential | head -1)
expect_equal "${line%:*}" $status
expect_equal "$(awk -v word=compiler 'BEGIN { RS = ""; IGNORECASE = 1; FS = "[^A-Za-z0-9]+" }
  { for (i = 1; i <= NF; ++i) if (tolower($i) == word) { ++n; break } } END { print n }' $status)" \
  "$(bloomery search --verify -c s.bloom compiler)"
printf '\n\none two\nthree\n \t\nfour' | bloomery index -q --paragraphs -o p.bloom -
expect_equal "$(bloomery search p.bloom three)" -:3
expect_equal "$(bloomery search p.bloom four)" -:6
expect_error "-: standard input cannot be read again" bloomery search --verify p.bloom four

# Sequences: documents with all k-mers of a piece, or most of them.
genomes=/usr/share/doc/mummer-doc/html/examples/data
bloomery index -q --kmer 21 -o k.bloom $genomes/*.fasta.gz
first=$genomes/H_pylori26695_Eslice.fasta.gz
piece=$( (zcat -f "$first") | grep -v '>' | tr -d '\n' | cut -c 2001-2200)
bloomery search --verify k.bloom "$piece" | grep -qxF "$first" || fail "$first has its own piece"
expect_equal "$(bloomery search --verify k.bloom "$(rev <<<"$piece" | tr ACGTacgt TGCAtgca)")" "$(bloomery search --verify k.bloom "$piece")"
bent=${piece:0:100}A${piece:101}
[[ $bent != "$piece" ]] || bent=${piece:0:100}C${piece:101}
expect_status 1 bloomery search --verify k.bloom "$bent"
bloomery search --verify --threshold 85% k.bloom "$bent" | grep -qxF "$first" || fail "180 - 21 of its k-mers are there"
expect_error "a sequence has 21 bases at least" bloomery search k.bloom ACGT

# What cannot be.
bloomery index -q -o i.bloom d
expect_error "nothing to search for in '...'; a word has letters or digits" bloomery search i.bloom ...
expect_error "the share of the terms is 2" bloomery search --threshold 2 i.bloom x
expect_error "nowhere: opening failed" bloomery index -o n.bloom nowhere d
[[ ! -e n.bloom ]] || fail "an index of an error"
expect_error "n.bloom: opening failed" bloomery index -o n.bloom --add d
expect_error "--add" bloomery index -o i.bloom --add --fpr 1% d
expect_error "the fpr of a text index is 0" bloomery index -o n.bloom --fpr 0 d
bloomery build -q -o words.bloom $words
expect_error "words.bloom: this is no text index" bloomery search words.bloom apples
expect_error "words.bloom: this is no text index" bloomery index --add -o words.bloom d
expect_error "i.bloom: this is a text index, not a filter; ask it with 'search'" bloomery check i.bloom $words
expect_equal "$(bloomery verify -q i.bloom)" ""
for at in 9 13 100 130 5000; do
  cp i.bloom bent.bloom
  printf '\x5a' | dd of=bent.bloom bs=1 seek=$at conv=notrunc status=none
  expect_error bent.bloom bloomery verify bent.bloom
  expect_error bent.bloom bloomery search bent.bloom apples
  expect_error bent.bloom bloomery index -q --add -o bent.bloom d
done
head -c 2000 i.bloom >cut.bloom
expect_error "cut.bloom: the text index is damaged" bloomery search cut.bloom apples
printf '\x1f\x8b\x08\x00 no gzip' >d/broken.gz
expect_error "d/broken.gz: " bloomery index -q -o i.bloom d
expect_equal "$(bloomery search --verify i.bloom pears)" d/latin

# A disk that is full is no fault of the files: the old index stays.
rm d/broken.gz
for i in $(seq 40); do seq $i $((i + 60)) >d/numbers$i; done
bloomery index -q -o i.bloom d
cp i.bloom before.bloom
(ulimit -f 1; expect_error "writing failed: File too large" bloomery index -q -o i.bloom d)
(ulimit -f 1; expect_error "writing failed: File too large" bloomery index -q -o i.bloom --add d)
cmp i.bloom before.bloom

# A file that an index names is read again only if it is a regular one: an index of a stranger may
# name /dev/zero, or a pipe that nobody writes to. With --below it must also be in that folder, by
# whatever name.
mkdir -p named/inside outside
echo "quince medlar" | tee named/inside/a named/b outside/c >/dev/null
bloomery index -q -o named.bloom named outside/c named/inside/../../outside
rm named/b && mkfifo named/b
expect_status 2 timeout 20 "$BLOOMERY" search --verify named.bloom quince
expect_equal "$(cat err)" "bloomery: named/b: not a regular file, so it is not read again"
ln -sf /dev/zero zero && mv -T zero named/b
expect_status 2 timeout 20 "$BLOOMERY" search --verify named.bloom quince
expect_equal "$(cat err)" "bloomery: named/b: not a regular file, so it is not read again"
rm named/b && ln -s ../outside/c named/b
expect_status 2 bloomery search --verify --below named named.bloom quince
expect_equal "$(cat out)" "named/inside/a"
expect_equal "$(cut -d' ' -f2- err | sort | tr '\n' ' ')" \
  "named/b: not below named, so it is not read named/inside/../../outside/c: not below named, so it is not read outside/c: not below named, so it is not read "
