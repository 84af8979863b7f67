"""Every function, structure, member and constant of bloomery.h has a comment of its own, which
doxygen makes pages of: by a look at its lines, and by doxygen itself where it is installed (Debian:
doxygen).
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def uncommented(lines):
    """Declarations without a comment before them, and members without one beside them."""
    inside = False
    before = ""
    for number, line in enumerate(lines, 1):
        starts = re.match(r"BLOOMERY_API |(typedef )?(struct|enum) \w+ \{", line)
        if starts and not before.endswith("*/"):
            yield number
        member = re.match(r"  \S.*[;,]( |$)|  [A-Z_]+ = -?\d+( |$)", line) if inside else None
        # A comment may go on in the next line.
        if member and not re.search(r"/\*\*<", line):
            yield number
        inside = not line.startswith("}") if line.startswith("}") else inside or bool(starts and line.endswith("{"))
        before = line.rstrip()


def main():
    header = ROOT / "include" / "bloomery" / "bloomery.h"
    lines = header.read_text().splitlines()
    missing = [f"{header.name}:{number}: no comment: {lines[number - 1].strip()}" for number in uncommented(lines)]
    # The check itself: without one of the comments it finds something.
    some = lines.index("BLOOMERY_API int bloomery_add_integer(bloomery_filter* filter, uint64_t key);")
    assert list(uncommented(lines[:some - 1] + lines[some:])) != []
    if shutil.which("doxygen"):
        with tempfile.TemporaryDirectory() as folder:
            settings = (ROOT / "docs" / "Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {folder}\n"
            done = subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, capture_output=True, text=True)
            missing += done.stderr.splitlines() if done.returncode or done.stderr else []
            pages = list(Path(folder).glob("man/man3/*.3"))
            assert missing or len(pages) > 5, pages
    else:
        print("without doxygen, which is not installed")
    print("\n".join(missing))
    return len(missing) != 0


if __name__ == "__main__":
    sys.exit(main())
