# Completion in bash, zsh and fish: verbs, options, values and files, asked of the shells
# themselves.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export HOME=$folder XDG_CONFIG_HOME=$folder XDG_DATA_HOME=$folder TERM=xterm

for shell in bash zsh fish; do bloomery completion $shell >script.$shell; done
mkdir files
touch files/words.bloom
expect_error "tcsh not in {bash,zsh,fish}" bloomery completion tcsh

# in_bash WORD...: what bash offers for the last word, in a line. Outside of readline compopt would
# only complain.
in_bash() {
  bash --norc -c '
    compopt() { echo "$@"; }
    source script.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    [[ $(complete -p bloomery) == "complete -F _bloomery bloomery" ]] && _bloomery
    echo "${COMPREPLY[@]}"' bash "$@" | xargs
}
# in_fish LINE: likewise, without the descriptions.
in_fish() { fish --no-config -c 'source script.fish; complete -C $argv[1]' "$1" | cut -f1 | xargs; }

expect_equal "$(in_bash bloomery bu)" build
expect_equal "$(in_bash bloomery map '')" "build get set -h --help"
expect_equal "$(in_bash bloomery build --kind co)" "counting count-min"
expect_equal "$(in_bash bloomery build --kind = spe)" spectral
expect_equal "$(in_bash bloomery build --layout =)" "line classic"
expect_equal "$(in_bash bloomery build --fpr '')" ""
expect_equal "$(in_bash bloomery build -o '')" "-o default"
expect_equal "$(in_bash bloomery check '')" "-o default"
expect_equal "$(in_bash bloomery map get --jso)" "--json --json-key"
expect_equal "$(in_bash bloomery help un)" unpack
expect_equal "$(in_bash bloomery completion '')" "bash zsh fish"

expect_equal "$(in_fish 'bloomery bu')" build
expect_equal "$(in_fish 'bloomery map ')" "build get set"
expect_equal "$(in_fish 'bloomery build --kind co')" "counting count-min"
expect_equal "$(in_fish 'bloomery build --kind=spe')" "--kind=spectral"
expect_equal "$(in_fish 'bloomery build --fpr ')" ""
expect_equal "$(in_fish 'bloomery build -o files/')" files/words.bloom
expect_equal "$(in_fish 'bloomery check files/')" files/words.bloom
expect_equal "$(in_fish 'bloomery map get --jso')" "--json --json-key"
expect_equal "$(in_fish 'bloomery help un')" unpack

# zsh completes a line in a terminal of its own. ^X^P prints what the line has become and empties
# it: keys that mean nothing to a terminal, since they may come before zsh has taken it over.
cat >ask.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -Uz compinit; compinit -u -D; source ./script.zsh; PROMPT=; unsetopt beep'
zpty -w z 'dump() { print -r -- "<$BUFFER>"; BUFFER= }; zle -N dump; bindkey "^X^P" dump; print rea"dy"'
zpty -r -m z text '*ready*' || exit 1
for line in "$@"; do
  zpty -w -n z "$line"$'\t\C-x\C-p'
  zpty -r -m z text '*<*>*' || exit 1
  print -r -- ${${text##*\<}%%\>*}
done
zpty -d z
END
zsh -n script.zsh
ask_zsh() {
  timeout 20 zsh -f ask.zsh 'bloomery bu' 'bloomery map g' 'bloomery build --kind spe' 'bloomery build --kind=spe' \
    'bloomery check --inv' 'bloomery build -o files/w' 'bloomery check files/w' 'bloomery map get --prog' \
    'bloomery help unp' 'bloomery completion f' >got
}
# On a busy machine a key can be lost between two owners of the terminal.
ask_zsh || ask_zsh || ask_zsh || fail "zsh does not answer: $(cat got)"
diff got - <<'END' || fail "zsh completes otherwise"
bloomery build 
bloomery map get 
bloomery build --kind spectral 
bloomery build --kind=spectral 
bloomery check --invert 
bloomery build -o files/words.bloom 
bloomery check files/words.bloom 
bloomery map get --progress 
bloomery help unpack 
bloomery completion fish 
END
