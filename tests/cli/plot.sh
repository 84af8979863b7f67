# Pictures: files that programs can read, the same text on every machine, drawings on the terminal.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
export LC_ALL=C.UTF-8

# svg FILE: its texts, one a line; fails unless it is well-formed and every coordinate is inside.
svg() {
  /usr/bin/python3 - "$1" <<'END'
import re, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
width, height = float(root.get("width")), float(root.get("height"))
for e in root.iter():
    for name in ("d", "points"):
        for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", e.get(name) or ""):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height, (x, y)
    if e.tag.endswith("text"):
        assert 0 <= float(e.get("x")) <= width and 0 <= float(e.get("y")) <= height
        print(e.text)
END
}

# png FILE: "WIDTH HEIGHT".
png() {
  /usr/bin/python3 -c '
import struct, sys
b = open(sys.argv[1], "rb").read()
assert b[:8] == b"\x89PNG\r\n\x1a\n" and b[12:16] == b"IHDR" and b[-8:-4] == b"IEND"
print(*struct.unpack(">II", b[16:24]))' "$1"
}

# ---- plan ----------------------------------------------------------------------------------------

bloomery plan --keys 1M --plot plan.svg >text
bloomery plan --keys 1M | cmp - text || fail "a picture changes what is printed"
svg plan.svg >texts
for text in "1,000,000 keys, 1.00 % asked for" "32 bits" "lower bound" "count-min" "8 bits sent" "1e-6"; do
  grep -qxF -- "$text" texts || fail "no '$text' in the picture"
done
bloomery plan --keys 1M --json --plot plan.png >plan
expect_equal "$(json plan 'd["keys"]')" 1000000
read -r width height < <(png plan.png)
[[ $width -gt 2000 && $height -gt 600 ]] || fail "$width x $height pixels"
bloomery plan --keys 1M --plot one.svg --panel kinds >/dev/null
svg one.svg >texts
grep -qx ribbon texts || fail "no kinds in their panel"
! grep -q probes texts || fail "more than one panel"
# The tutorial's second figure: a line for each number of probes, at the height of -k / ln(1 -
# f^(1/k)).
bloomery plan --keys 1M --plot bits.svg --panel bits --probes 5 >/dev/null
/usr/bin/python3 - bits.svg <<'END'
import math, re, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
words = {e.text: e for e in root.iter() if e.tag.endswith("text")}
base, top = (float(words[bits].get("y")) - 4 for bits in ("0", "64"))
lines = {}
for e in root.iter():
    if e.tag.endswith("path") and e.get("stroke-width") == "2":
        points = [tuple(map(float, p.split(","))) for p in e.get("d")[1:].split()]
        lines[len(lines)] = points
left, right = lines[3][0][0], lines[3][-1][0]
for points, k in zip(lines.values(), (1, 2, 4, 5, 8, 16, 32)):
    assert f"k = {k}" in words, k
    for x, y in points:
        rate = 0.1 * 1e-5 ** ((x - left) / (lines[4][-1][0] - left))
        bits = -k / math.log(1 - rate ** (1 / k))
        assert abs((base - y) / (base - top) * 64 - bits) < 0.4 + 0.01 * bits, (k, rate, bits, y)
assert len(lines) == 7
END

# What is asked for may be anything that can be planned.
for options in "--keys 1" "--keys 1 --bytes 1G" "--keys 1M --bytes 64K" "--keys 1e12" "--keys 1000 --fpr 1e-14" \
  "--keys 1M --fpr 0.9"; do
  bloomery plan $options --plot any.svg >/dev/null || fail "$options"
  svg any.svg >/dev/null || fail "$options"
done

# The documents have what the tool draws.
"$project/scripts/figures" figures
for drawn in figures/*.svg; do cmp "$drawn" "$project/docs/$drawn" || fail "docs/$drawn is old: run scripts/figures"; done

# ---- info ----------------------------------------------------------------------------------------

bloomery build -q -o w.bloom $words
bloomery info w.bloom --plot w.svg >text
svg w.svg >texts
grep -qx 'expected 4[0-9]\.[0-9][0-9] %' texts || fail "no expected fill in: $(cat texts)"
# Keys that came twice are not expected twice.
cat $words $words | bloomery build -q -o twice.bloom --keys 104334
bloomery info twice.bloom --plot twice.svg >text
expect_equal "$(svg twice.svg | grep -o '^expected 4[0-9]')" "$(grep -o '^expected 4[0-9]' texts)"
bloomery info --json w.bloom --plot w.png >info
expect_equal "$(json info 'd["kind"]')" blocked
png w.png >/dev/null
for kind in classic partitioned counting scalable layered windowed cuckoo count-min spectral; do
  bloomery build -q --kind $kind --keys 200k -o k.bloom $words
  bloomery info k.bloom --plot k.svg >/dev/null
  # The drawn mean is the fill.
  /usr/bin/python3 - k.svg "$(bloomery info --json k.bloom)" <<'END'
import json, re, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
points = [tuple(map(float, p.split(","))) for e in root.iter() if e.tag.endswith("polygon") for p in e.get("points").split()]
base, left, right = points[0][1], points[0][0], points[-1][0]
area = sum((b[0] - a[0]) * (base - (a[1] + b[1]) / 2) for a, b in zip(points, points[1:]))
fill = json.loads(sys.argv[2])["fill"]
# The plot is 330 pixels high.
assert abs(area / (right - left) / 330 - fill) < 0.002, (area / (right - left) / 330, fill)
END
done
for kind in fuse ribbon top-k; do
  bloomery build -q --kind $kind -o s.bloom $words
  expect_error "s.bloom: a $kind filter has no empty places to show" bloomery info s.bloom --plot s.svg
  [[ ! -e s.svg ]] || fail "a picture of $kind"
done

# ---- terminal ------------------------------------------------------------------------------------

bloomery info w.bloom --plot - >text
grep -q '█████' text || fail "no blocks: $(cat text)"
bloomery plan --keys 1M --plot - >text
grep -q '[▘▝▀▖▌▞▛▗▚▐▜▄▙▟]' text || fail "no quarter blocks"
! grep -q $'\x1b' text || fail "colours in a file"
# A curve does not run through what a line means.
bloomery plan --keys 1M --panel bits --plot - >text
grep -q '┊1.00 % asked for ' text || fail "no whole label: $(cat text)"
LC_ALL=C bloomery plan --keys 1M --plot - >text
! LC_ALL=C grep -q '[^ -~]' text || fail "no ASCII: $(LC_ALL=C grep '[^ -~]' text)"
grep -q 'o lower bound' text || fail "no letter before a name"

# on_terminal COLUMNS COMMAND...: what the command writes to a terminal of that width.
on_terminal() {
  /usr/bin/python3 - "$@" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
try:
    while data := os.read(fd, 65536):
        os.write(1, data.replace(b"\r\n", b"\n"))
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}
on_terminal 120 env TERM=xterm "$BLOOMERY" info w.bloom --plot - >text
grep -q $'\x1b\[34m' text || fail "no colours on a terminal"
on_terminal 120 env TERM=xterm NO_COLOR=1 "$BLOOMERY" info w.bloom --plot - >text
! grep -q $'\x1b' text || fail "colours in spite of NO_COLOR"
expect_equal "$(wc -L <text)" 120

# ---- errors --------------------------------------------------------------------------------------

expect_error "plan.gif: --plot takes FILE.svg, FILE.png or -" bloomery plan --keys 1M --plot plan.gif
expect_equal "$(cat out)" ""
expect_error "--json and --plot - both go to standard output" bloomery plan --keys 1M --json --plot -
expect_error "no/such/plan.svg" bloomery plan --keys 1M --plot no/such/plan.svg
expect_error "--panel" bloomery plan --keys 1M --panel kinds
expect_error "--panel" bloomery plan --keys 1M --panel sizes --plot p.svg
# A folder that cannot be written to leaves the old picture.
bloomery plan --keys 1M --plot keep.svg >/dev/null
cp keep.svg before
expect_status 2 bash -c "ulimit -f 8; trap '' XFSZ; '$BLOOMERY' plan --keys 2M --plot keep.svg >/dev/null"
cmp keep.svg before
expect_equal "$(ls -A | grep -c 'keep')" 1
