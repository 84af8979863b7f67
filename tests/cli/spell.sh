# Unknown words of texts, dictionaries of three sorts, and what hunspell says to the same.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export LC_ALL=C.UTF-8
hunspell_words=/usr/share/hunspell/en_US

# Every form is a word to hunspell, and every form that unmunch makes is one to us: but for 1th, 2th
# and 3th, which are there for compounds (11th) only. Words with digits are not asked for, so they
# are left out.
bloomery spell build -q -o en.bloom $hunspell_words.dic
unmunch $hunspell_words.dic $hunspell_words.aff 2>/dev/null | grep -v '[0-9]' | sort -u >forms
[[ $(wc -l <forms) -gt 150000 ]] || fail "unmunch made $(wc -l <forms) forms"
expect_status 1 bloomery spell -d en.bloom forms
expect_equal "$(cat out)" ""
sed -n '1~200p' forms | sed 's/e/q/' >wrong
hunspell -i utf-8 -d en_US -l wrong | sort -u >theirs
bloomery spell -d en.bloom wrong | sort -u >ours
# 600 or so, of which 0.06 slip through on average; this file has none.
cmp ours theirs || fail "hunspell has others"

# A filter, NAME.dic, and a plain list give the same answers.
printf 'The brwon fox\n\nis here, brwon.\n' >text
printf 'the\nfox\r\n is \nhere\nbrown\n' >list
expect_status 0 bloomery spell --dictionary list text
expect_equal "$(cat out)" $'brwon\nbrwon'
expect_status 0 bloomery spell -d en.bloom -n text
expect_equal "$(cat out)" $'text:1:brwon\ntext:3:brwon'
expect_equal "$(bloomery spell -d $hunspell_words.dic -c text -)" 2 </dev/null
expect_equal "$(bloomery spell -d list --suggest <text | head -1)" $'brwon\tbrown'
bloomery spell -d list --suggest --json text >json
expect_equal "$(json json 'd["words"], d["unknown"], d["places"][1]["line"], d["places"][0]["suggestions"]')" \
  "(6, 2, 3, ['brown'])"
expect_status 1 bloomery spell -d list - <<<"the fox"

# The language of the locale, in DICPATH first; without one the system's list.
mkdir dictionaries
printf 'SET UTF-8\n' >dictionaries/xx_YY.aff
printf '1\nbrwon\n' >dictionaries/xx_YY.dic
expect_equal "$(env DICPATH=dictionaries LC_ALL=xx_ZZ.UTF-8 "$BLOOMERY" spell text | sort -u | paste -sd' ')" \
  "The fox here is"
expect_equal "$(DICPATH=dictionaries bloomery spell -c text)" 2

# Texts in small pieces, one endless line, and bytes that are no text.
expect_equal "$( (printf 'the fo'; sleep 0.2; printf 'x qqq') | bloomery spell -d list)" qqq
printf 'the fox is%.0s ' $(seq 100000) >long
expect_status 1 bloomery spell -d list -n long
head -c 1000000 "$BLOOMERY" >bytes
expect_status 0 bloomery spell -d list -c bytes

# What cannot be.
bloomery build -q -o plain.bloom list
expect_error "plain.bloom: it is a filter of plain keys" bloomery spell -d plain.bloom text
expect_error "none.dic" bloomery spell -d none.dic text
printf '1\nx/A\n' >bad.dic
expect_error "bad.aff" bloomery spell -d bad.dic text
printf 'SFX A Y 1\nSFX A 0 x [a\n' >bad.aff
expect_error "bad.aff:2: the condition '[a' lacks a ]" bloomery spell -d bad.dic text
printf 'the\n\1\n' >control
expect_error "control:2: " bloomery spell build -o f control
expect_error "none: " bloomery spell -d list none
