# The main job: a filter of a word list finds every word and few others, in the input's order.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

bloomery build -q -o words.bloom $words
bloomery check words.bloom $words >found
cmp found $words || fail "a word is missing, changed or out of order"

# Other strings: at most 1 % pass. 5 standard errors of 200,000 queries are 0.11 %.
seq -f 'no word %.0f' 200000 >others
passed=$(bloomery check -c words.bloom others)
((passed <= 2220)) || fail "$passed of 200,000 others passed"
((passed >= 1500)) || fail "only $passed of 200,000 passed: the filter is larger than it says"

# -v is the complement of the plain output.
{ cat others; head -1000 $words; } | shuf --random-source=<(yes) >mixed
bloomery check words.bloom mixed >in
bloomery check -v words.bloom mixed >out_of
expect_equal "$(($(wc -l <in) + $(wc -l <out_of)))" "$(wc -l <mixed)"
cmp <(sort in out_of) <(sort mixed)
expect_equal "$(bloomery check -c words.bloom mixed)" "$(wc -l <in)"
expect_equal "$(bloomery check -vc words.bloom mixed)" "$(wc -l <out_of)"

# Exit status as with grep, also under -c.
expect_status 0 bloomery check words.bloom $words
expect_status 1 bloomery check words.bloom <<<'surely not in it 17'
expect_status 1 bloomery check -c words.bloom <<<'surely not in it 17'
expect_equal "$(cat out)" 0
expect_status 0 bloomery check -c words.bloom <<<'apples'
expect_status 1 bloomery check -v words.bloom <<<'apples'
expect_status 1 bloomery check words.bloom /dev/null

# Files, standard input, a pipe, a fifo and several inputs give the same bytes; so does any number
# of threads.
bloomery build -q -o same.bloom <$words && cmp words.bloom same.bloom
cat $words | bloomery build -q -o same.bloom - && cmp words.bloom same.bloom
head -5000 $words >a
tail -n +5001 $words >b
bloomery build -q -o same.bloom a b && cmp words.bloom same.bloom
bloomery build -q -o same.bloom a - <b && cmp words.bloom same.bloom
bloomery build -q -o same.bloom <(cat a) b && cmp words.bloom same.bloom
for threads in 1 2 7; do
  bloomery build -q -o same.bloom --threads $threads $words && cmp words.bloom same.bloom
  bloomery check --threads $threads words.bloom mixed | cmp - in
done

# Lines longer than a chunk, or than the end of one in which a line's end is looked for; a last line
# without its end. All threads read a file, and one at a time a pipe.
/usr/bin/python3 - <<'P'
import random
r = random.Random(1)
lengths = [r.choice([1, 5, 30, 30, 30, 300, 5000]) for _ in range(4000)] + [300000, 7, 600000, 262143, 262144, 0, 4095, 4096]
r.shuffle(lengths)
open("odd", "w").write("\n".join(f"{i:x}{'x' * n}" for i, n in enumerate(lengths)))
P
cat odd - <<<'' >odd_end
bloomery build -q -o odd.bloom --threads 1 odd_end
for threads in 1 3; do
  bloomery build -q -o same.bloom --threads $threads odd && cmp odd.bloom same.bloom
  bloomery check --threads $threads odd.bloom odd | cmp - odd_end
  bloomery check --threads $threads odd.bloom odd odd_end | cmp - <(cat odd_end odd_end)
  tr '\n' '\0' <odd >odd0
  bloomery check -0 --threads $threads odd.bloom odd0 | tr '\0' '\n' | cmp - odd_end
  bloomery check --threads $threads odd.bloom <odd | cmp - odd_end
  sed 's/$/\r/' odd >odd_cr
  bloomery check --crlf -c --threads $threads odd.bloom odd_cr | cmp - <(wc -l <odd_end)
done

# Lines: a last one without its end counts, empty ones are skipped unless kept, any byte may be in
# them.
printf 'one\n\ntwo\r\n\nthr\0ee\n\377\376\nlast' >odd
bloomery build -q -o odd.bloom odd
bloomery info --json odd.bloom >info
expect_equal "$(json info 'd["keys"]')" 5
bloomery check odd.bloom odd >got
printf 'one\ntwo\r\nthr\0ee\n\377\376\nlast\n' | cmp - got
expect_status 1 bloomery check odd.bloom <<<''
bloomery build -q --keep-empty -o odd.bloom odd
bloomery info --json odd.bloom >info
expect_equal "$(json info 'd["keys"]')" 7
expect_equal "$(bloomery check -c odd.bloom odd)" 7
expect_status 0 bloomery check odd.bloom <<<''

# Lines longer than a chunk.
xs=$(head -c 3000000 /dev/zero | tr '\0' x)
printf '%s\n\nshort\n%sy\n' "$xs" "$xs" >long
bloomery build -q -o long.bloom long
bloomery check long.bloom long | cmp - <(grep -v '^$' long)

# An empty list makes a filter that contains nothing.
bloomery build -q -o empty.bloom /dev/null
expect_status 1 bloomery check empty.bloom $words
bloomery build -q -o empty.bloom </dev/null
expect_status 1 bloomery check empty.bloom $words

# The kinds, and the ways to give a size.
for kind in blocked classic partitioned; do
  for size in '--fpr 0.1%' '--fpr 1e-4' '--bits-per-key 12' '--bytes 64K' '--bytes 100K --probes 3' \
    '--keys 200k' '--keys 1000' '--fpr 5% --probes 2 --seed 99'; do
    bloomery build -q -o kind.bloom --kind $kind $size $words
    expect_equal "$(bloomery check -c kind.bloom $words)" "$(wc -l <$words)"
    bloomery info --json kind.bloom >info
    expect_equal "$(json info 'd["kind"]')" $kind
  done
done
bloomery build -q -o kind.bloom --bytes 64K $words
(($(stat -c %s kind.bloom) <= 65536 + 264)) || fail "--bytes was exceeded"

# A pipe as the output gets the same bytes as a file.
bloomery build -q -o /dev/stdout $words | cmp - words.bloom
