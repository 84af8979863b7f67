#!/usr/bin/env bash
# The example in C counts what it saw in the run before. Usage: example.sh PROGRAM
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'a\nb\na\n' >"$work/text"
[[ $("$1" "$work/seen.bloom" "$work/text") == "3 lines, 1 seen before" ]]
[[ $("$1" "$work/seen.bloom" "$work/text") == "3 lines, 3 seen before" ]]
printf 'damaged' >"$work/seen.bloom"
[[ $("$1" "$work/seen.bloom" "$work/text") == "3 lines, 1 seen before" ]]
