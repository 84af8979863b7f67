# Manners: what a shell user expects of every verb, whatever it does.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# The table of plan fits a terminal of 80 columns, with small numbers and with large ones.
for size in "--fpr 50%" "--fpr 1%" "--fpr 1e-7" "--fpr 1e-12" "--bytes 64" "--bytes 8T"; do
  for keys in 1 100 104334 1e9 1e12; do
    bloomery plan --keys $keys $size >text 2>err || continue
    grep -E '^.{81}' text && fail "more than 80 columns with --keys $keys $size"
    grep -q '^lower bound of any filter  *[0-9]' text || fail "no table: $(cat text)"
  done
done
