# A filter from web servers of all sorts, hostile ones too; what they do is in Python.
# Each version is synced to the disk, which is not what is tested.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W error "$project/tests/cli/fetch_test.py" "$folder" sources
