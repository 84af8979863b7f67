# Forbidden passwords: as they are, within one edit, and as digests.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

printf 'secret\nhunter2\npässwörd\n' >list
bloomery passwd build -o plain.bloom list 2>err
grep -q "^plain.bloom: 3 passwords, .* false alarms at most 0.10 %" err || fail "$(cat err)"
expect_equal "$(printf 'hunter2\nhunter3\nsecret\n' | bloomery passwd check plain.bloom)" $'hunter2\nsecret'
expect_status 1 bloomery passwd check plain.bloom <<<"something else"
expect_status 0 bloomery passwd check -c plain.bloom list
expect_equal "$(cat out)" 3
bloomery passwd check --json plain.bloom list >json
expect_equal "$(json json 'd["passwords"], d["found"]')" "(3, 3)"

# One edit: every one of them is found, whatever the character.
bloomery passwd build -q -o near.bloom --distance 1 --fpr 1e-6 list
/usr/bin/python3 - >edits <<'END'
alphabet = "abäz2€ "
for word in ("secret", "hunter2", "pässwörd"):
    for i in range(len(word) + 1):
        for c in alphabet: print(word[:i] + c + word[i:])
        if i < len(word):
            print(word[:i] + word[i + 1:])
            for c in alphabet: print(word[:i] + c + word[i + 1:])
END
expect_equal "$(bloomery passwd check -c near.bloom edits)" "$(wc -l <edits)"
expect_status 1 bloomery passwd check near.bloom <<<$'scret1\nhunt2\npasswort'

# A real list: none of its words is missed, nor what one edit made of them; others hardly ever alarm
# it.
real=/usr/share/dict/cracklib-small
bloomery passwd build -q -o real.bloom --distance 1 $real
expect_equal "$(bloomery passwd check -c real.bloom $real)" "$(grep -c . $real)"
expect_equal "$(sed 's/./!/2' $real | bloomery passwd check -c real.bloom)" "$(grep -c . $real)"
alarms=$(sed 's/.*/&-7-&/' $real | bloomery passwd check -c real.bloom || true)
((alarms < 100)) || fail "$alarms false alarms of $(grep -c . $real), at a rate of 0.1 %"

# Published lists: digest, colon, count; in either case, with CR LF or not.
printf 'secret' | sha1sum | cut -c1-40 | tr a-f A-F | sed 's/$/:12\r/' >sha1
printf 'hunter2' | sha1sum | cut -c1-40 >>sha1
bloomery passwd build -q -o digests.bloom --format sha1 sha1
tr -d '\r' <sha1 | bloomery passwd build -o wrong.bloom 2>err
grep -q "warning: standard input: the lines look like SHA-1 digests, .* give --format sha1" err || fail "$(cat err)"
expect_equal "$(bloomery passwd build -o y.bloom list 2>&1 | grep -c warning || true)" 0
expect_equal "$(printf 'secret\nhunter2\nhunter3\n' | bloomery passwd check digests.bloom)" $'secret\nhunter2'
expect_error "none of SHA-1" bloomery passwd build -o x.bloom --format sha1 <<<"abcd:1"
expect_error "not a hexadecimal number" bloomery passwd build -o x.bloom --format sha1 list
expect_error "a digest does not tell what is near" bloomery passwd build -o x.bloom --format sha1 --distance 1 sha1
[[ ! -e x.bloom ]] || fail "a filter of a bad list"

# A terminal gets no echo: what is typed after the question is read and not shown.
mkfifo keys
script -qec "'$BLOOMERY' passwd check plain.bloom" terminal <keys >shown &
exec 4>keys
for _ in $(seq 100); do
  grep -q "Password: " shown && break
  sleep 0.1
done
echo hunter2 >&4
wait $!
exec 4>&-
grep -q "on the list: choose another" terminal || fail "no answer: $(cat -v terminal)"
grep -q "hunter2" terminal && fail "the password is shown"

# What pam_exec sends: the password and a zero byte.
expect_status 1 bloomery passwd pam plain.bloom < <(printf 'hunter2\0')
grep -q "Choose another" out || fail "no reason given"
expect_status 0 bloomery passwd pam plain.bloom < <(printf 'hunter3\0')
expect_status 2 bloomery passwd pam missing.bloom < <(printf 'hunter3\0')

# The two kinds of filter are not taken for each other, and say what they are.
bloomery info near.bloom | grep -q "^near.bloom: blocked filter of passwords within one edit$" || fail "info does not say what it is"
bloomery info --json near.bloom >json
expect_equal "$(json json 'd["keys_are"]')" "passwords within one edit"
# The rate that was asked for is that of a lookup. A string of it has less.
bloomery passwd build -q --distance 1 --fpr 2% -o rate.bloom list
bloomery info --json rate.bloom >json
expect_equal "$(json json 'd["fpr_target"], d["fpr_now"] < 0.002')" "(0.02, True)"
bloomery info rate.bloom | grep -q "now for one string, at most 2.00 % asked for, for a lookup" || fail "$(bloomery info rate.bloom)"
bloomery build -q -o words.bloom list
expect_error "plain keys, not of passwords" bloomery passwd check words.bloom list
expect_error "ask it with 'bloomery passwd check'" bloomery check plain.bloom list
