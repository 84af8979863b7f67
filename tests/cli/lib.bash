# What the tests of the tool share: a clean folder, and checks that say what they expected.
# Each test is a script that sources this file; $BLOOMERY is the tool.
set -euo pipefail
: "${BLOOMERY:?the path of the tool}"
words=/usr/share/dict/words
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

folder=$(mktemp -d)
# A test that fails leaves nobody behind: ctest waits for whoever holds its output.
leave() {
  local job
  for job in $(jobs -p); do kill $(cat "/proc/$job/task/$job/children" 2>/dev/null) "$job" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap leave EXIT
cd "$folder"

bloomery() { "$BLOOMERY" "$@"; }

fail() {
  echo "FAILED at line ${BASH_LINENO[1]}: $*" >&2
  exit 1
}

expect_equal() { [[ $1 == "$2" ]] || fail "expected '$2', got '$1'"; }

# expect_status N COMMAND...: the command's output goes to files out and err.
expect_status() {
  local expected=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [[ $status == "$expected" ]] || fail "status $status, not $expected, from: $* ($(head -c 300 err))"
}

# expect_error TEXT COMMAND...: exit status 2 and one line on standard error that contains the text.
expect_error() {
  local text=$1
  shift
  expect_status 2 "$@"
  [[ $(wc -l <err) == 1 ]] || fail "not one line: $(cat err)"
  grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
}

# Writes `feed`: bash feed FILE prints words, and then lines until FILE shows progress, for 20
# seconds at most. A busy machine may be slow to begin.
make_feed() {
  cat >feed <<END
head -1000 $words
for _ in {1..80}; do grep -q keys/s "\$1" && break; sleep 0.25; echo more; done
END
}

# json FILE EXPRESSION: evaluates a Python expression over the object d.
json() { /usr/bin/python3 -IS -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }
