# Larger than memory, and larger than 2^32 bits.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# In slices on disk: the same bytes as in memory, for files and for pipes.
seq 300000 >keys
for kind in blocked split-block classic partitioned; do
  bloomery build -q -o whole.bloom --kind $kind --bytes 5000K keys
  bloomery build -q -o sliced.bloom --kind $kind --bytes 5000K --memory 1M keys
  cmp whole.bloom sliced.bloom || fail "$kind in slices differs"
  cat keys | bloomery build -q -o sliced.bloom --kind $kind --bytes 5000K --memory 2M
  cmp whole.bloom sliced.bloom || fail "$kind in slices from a pipe differs"
done
# Hashes that do not fit in the spool's memory either: 5 million of them are 40 MB.
seq 5000000 >many
bloomery build -q -o whole.bloom --seed 3 many
bloomery build -q -o sliced.bloom --seed 3 --memory 1M many
cmp whole.bloom sliced.bloom || fail "with a spool on disk it differs"
cat many | bloomery build -q -o sliced.bloom --seed 3
cmp whole.bloom sliced.bloom || fail "from a pipe with a spool on disk it differs"

# Nor does memory grow with the keys that are counted first: the hashes take 8 MiB, not 40 MB.
peak() {  # of a program, in kB
  /usr/bin/python3 -IS -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
counted=$(peak "$BLOOMERY" build -q -o whole.bloom --threads 1 many)
planned=$(peak "$BLOOMERY" build -q -o whole.bloom --threads 1 --keys 5M many)
[[ -n ${BLOOMERY_SANITIZED-} ]] || ((counted - planned < 30000)) || fail "$counted kB to count, $planned kB without"

# More than 2^32 bits: build, map, answer, verify.
bloomery build -q -o large.bloom --bytes 700M --probes 8 keys
bloomery info --json large.bloom >info
(($(json info 'd["bits"]') > 4294967296)) || fail "not that large"
expect_equal "$(bloomery check -c large.bloom keys)" 300000
seq -f 'x%.0f' 300000 >others
expect_status 1 bloomery check -c large.bloom others
bloomery verify -q large.bloom
