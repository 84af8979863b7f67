#!/usr/bin/python3
"""Every kind of core/shape.hpp is in the lists that C, Python and the web have of them, in C with
its number.

They cannot ask the library's table of kinds, so that a new kind is easily forgotten there.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def block(path, begin, end):
    """The text of a file between two others."""
    return (ROOT / path).read_text().split(begin, 1)[1].split(end, 1)[0]


def numbers(text, prefix=""):
    return {name.lower().replace("_", "-"): int(number)
            for name, number in re.findall(rf"^ *{prefix}(\w+) = (\d+),?", text, re.M)}


def numbered(kinds):
    return {f"{name} = {number}" for name, number in kinds.items()}


def compare(what, found, wanted):
    for kind in sorted(found - wanted):
        print(f"{what}: {kind} is not in core/shape.hpp", file=sys.stderr)
    for kind in sorted(wanted - found):
        print(f"{what}: {kind} is missing", file=sys.stderr)
    return found == wanted


kinds = numbers(block("include/bloomery/core/shape.hpp", "enum class filter_kind", "};"))
assert kinds["blocked"] == 3 and kinds["count-min"] == 11, kinds
names = set(kinds)
in_c = numbers(block("include/bloomery/bloomery.h", "enum bloomery_kind {", "};"), "BLOOMERY_")
python = re.findall(r"_kinds = \((.*)\)", (ROOT / "python/bloomery/__init__.py").read_text())
right = [
    compare("include/bloomery/bloomery.h", numbered(in_c), numbered(kinds)),
    compare("web/module/bloomery.d.ts",
            set(re.findall(r'"([\w-]+)"', block("web/module/bloomery.d.ts", "export type Kind =", ";"))), names),
    # No plan has a size for top-k.
    compare("web/page/kinds.js",
            set(re.findall(r'^ *"?([\w-]+)"?:', block("web/page/kinds.js", "kindHints = {", "};"), re.M)),
            names - {"top-k"}),
    # A file has lines, and no values for them.
    compare("web/page/work.js",
            set(re.findall(r'"([\w-]+)"', block("web/page/work.js", "const buildable = [", "];"))),
            names - {"top-k", "bloomier"}),
    compare("python/bloomery/__init__.py", set(re.findall(r'"([\w-]+)"', " ".join(python))), names),
]
sys.exit(0 if all(right) else 1)
