#!/usr/bin/env bash
# Installs the package in a virtual environment without an index, from the folder and from a wheel,
# and uses it there. Usage: install.sh BUILD_FOLDER; with BLOOMERY_COMPILE=1 pip compiles it anew (2
# minutes).
set -euo pipefail
build=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH BLOOMERY_BUILD
[[ -n ${BLOOMERY_COMPILE-} ]] || export BLOOMERY_BUILD=$build
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
fail() { echo "python.install: $*" >&2; exit 1; }

/usr/bin/python3 -m venv "$work/venv" 2>/dev/null || { echo "no python3-venv" >&2; exit 77; }
python=$work/venv/bin/python
use() {
  (cd "$work" && "$python" - "$1") <<'END'
import sys, bloomery
assert sys.argv[1] in bloomery.__file__, bloomery.__file__
f = bloomery.Filter(["apples", 42])
assert "apples" in f and 42 in f and "pears" not in f
END
}

echo "-- pip install ./python"
before=$(find "$source/python")
"$python" -m pip install -q --no-build-isolation "$source/python"
use "$work/venv"
"$python" -m pip show -q bloomery
"$python" -m pip uninstall -qy bloomery
[[ $(find "$source/python") == "$before" ]] || fail "the build left something in python/"

echo "-- a source distribution"
"$python" - "$source/python" "$work" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import bloomery_build
assert bloomery_build.build_sdist(sys.argv[2]) == f"bloomery-{bloomery_build.version()}.tar.gz"
END
archive=$(echo "$work"/bloomery-*.tar.gz)
tar -xzf "$archive" -C "$work" # what pip must find, and none of what others have made
[[ -f ${archive%.tar.gz}/PKG-INFO && -f ${archive%.tar.gz}/src/c/keys.cpp ]] || fail "files are missing: $(tar -tzf "$archive")"
if tar -tzf "$archive" | grep -E '\.(o|so|pyc)$|/build/|__pycache__'; then fail "built files are in it"; fi
"$python" -m pip install -q --no-build-isolation "$archive"
use "$work/venv"
"$python" -m pip uninstall -qy bloomery

echo "-- a wheel"
# Compiled once is enough.
wheel=$(BLOOMERY_BUILD=$build "$python" "$source/python/bloomery_build.py" "$work")
[[ $wheel == *-cp311-abi3-linux_*.whl ]] || fail "an odd name: $wheel"
"$python" -m pip install -q "$wheel"
use "$work/venv"

echo "-- what it needs"
extension=$(find "$work/venv" -name '_core.abi3.so')
needed=$(readelf -d "$extension" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
others=$(grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|ld-linux[^.]*)\.so' <<<"$needed" || true)
[[ -z $others ]] || fail "it also needs $others"
if readelf -d "$extension" | grep -E 'RPATH|RUNPATH'; then fail "it looks for libraries in a folder of its own"; fi
shown=$(nm --dynamic --defined-only "$extension" | awk '{print $3}')
[[ $shown == PyInit__core ]] || fail "it shows $shown"
