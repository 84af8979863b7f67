# The man page and the help texts name the same verbs and options, and every help text has an example.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

text=$(sed 's/\\-/-/g' "$project/man/bloomery.1")
bloomery --help >help
verbs=$(sed -n '/^Subcommands/,/^$/s/^  \([a-z]*\) .*/\1/p' help)
expect_equal "$(echo $verbs)" "build add remove check dedup count map top explain info verify merge intersect fold compare compact pack unpack diff patch plan bench"
for verb in $verbs; do
  grep -q "^\.B $verb\$" <<<"$text" || fail "the man page has no verb $verb"
  bloomery $verb --help >help
  grep -q "^Example:" help || fail "$verb --help has no example"
  grep -q "bloomery $verb" help || fail "the example of $verb does not show it"
  for option in $(grep -oE '^  (-[a-z],)?--[a-z-]+' help | grep -oE -- '--[a-z-]+'); do
    grep -q -- "$option\b" <<<"$text" || fail "the man page has no $option ($verb)"
  done
done
expect_equal "$(bloomery --version)" "bloomery $(sed -n 's/#define BLOOMERY_VERSION_[A-Z]* //p' \
  "$project/include/bloomery/core/version.hpp" | paste -sd.)"
