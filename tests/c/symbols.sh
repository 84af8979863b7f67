#!/usr/bin/env bash
# What libbloomery.so shows is what symbols.txt lists, each name with the version that first had it:
# none disappears, and none that is not of bloomery.h is shown. Usage: symbols.sh LIBRARY
set -euo pipefail
list=$(dirname "$0")/symbols.txt
shown=$(nm --dynamic --defined-only --with-symbol-versions "$1" | awk '$3 ~ /@/ && $2 != "A" {print $3}' | sed 's/@@/ /' | LC_ALL=C sort)
diff -u "$list" <(printf '%s\n' "$shown") || {
  echo "the library shows other names than tests/c/symbols.txt; new ones are added there" >&2
  exit 1
}
header=$(dirname "$0")/../../include/bloomery/bloomery.h
declared=$(grep -oE '\bbloomery_[a-z_]+\(' <(grep -A1 BLOOMERY_API "$header") | tr -d '(' | LC_ALL=C sort -u)
diff -u <(cut -d' ' -f1 "$list") <(printf '%s\n' "$declared")
