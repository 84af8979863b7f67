# Each verb has a help text with an example and a page in the manual, and both name the same
# options.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# The names of verbs and options in the help of a verb; "options map" has those of its verbs too.
verbs() { bloomery help "$@" | sed -n '/^Arguments:\|^Options:/q; s/^  \([a-z]\+\) .*/\1/p'; }
options() {
  bloomery help "$@" | grep -oE '^  -[^ ]*( --[a-z-]+)?' | grep -oE -- '-[a-z0-9-]+'
  local verb
  for verb in $(verbs "$@"); do options "$@" $verb; done
}
# Options are the words in bold that begin with a hyphen.
page_options() { grep -oE '\\fB(\\-)+[a-z0-9]+(\\-[a-z0-9]+)*\\fR' "$1" | sed 's/\\fB\|\\fR//g; s/\\-/-/g'; }
example() {
  bloomery help "$@" | sed -n '/^Example:/,$p' | grep -q "bloomery $*\b" ||
    fail "the help of $* has no example that shows it"
}

expect_equal "$(echo $(verbs))" "build add remove compact map check count dedup top quantiles info verify explain passwd block spell hyphenate store index search merge intersect \
fold compare pack unpack diff patch import publish fetch serve reconcile join share node find digest push pull redis flows trace queue plan bench help completion"
for verb in $(verbs); do
  example $verb
  for inner in $(verbs $verb); do example $verb $inner; done
  page=$project/man/bloomery-$verb.1
  diff <(options $verb | sort -u) <(page_options "$page" | sort -u) ||
    fail "the help of $verb (<) and its page (>) name different options"
  grep -q "^.fBbloomery.-$verb.fR(1)\$" "$project/man/bloomery.1" || fail "bloomery(1) does not name $verb"
done
# The overview names no option that no verb has.
all=$(echo --version; for verb in $(verbs); do options $verb; done)
for option in $(page_options "$project/man/bloomery.1"); do
  grep -qxF -- "$option" <<<"$all" || fail "bloomery(1) has $option, and no verb does"
done
# No page of a verb that is gone; no mistakes in the markup.
for page in "$project"/man/*.1; do
  verb=$(basename "$page" .1)
  [[ $verb == bloomery ]] || verbs | grep -qxF "${verb#bloomery-}" || fail "there is no verb for $page"
  expect_equal "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ""
done
expect_equal "$(bloomery --version)" "bloomery $(sed -n 's/#define BLOOMERY_VERSION_[A-Z]* //p' \
  "$project/include/bloomery/core/version.hpp" | paste -sd.)"
