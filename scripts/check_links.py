#!/usr/bin/python3
"""Checks that every relative link of every Markdown file leads to a file, and to a heading of it.

Usage: check_links.py [ROOT]. Links to other hosts are not followed: a test needs no network.
"""

import re
import sys
from pathlib import Path

CODE = re.compile(r"^```.*?^```[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:a href|img src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(path):
    """The anchors that hosts of repositories make of the headings of a page."""
    text = re.sub(r"^```.*?^```[^\n]*$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {word.strip().replace(" ", "-") for word in words}


def check(root):
    root = Path(root).resolve()
    errors = []
    for page in sorted(root.rglob("*.md")):
        if {"build", ".git"} & set(page.relative_to(root).parts):
            continue
        text = page.read_text()
        # Code is blanked out, not cut out, so that the line numbers stay.
        text = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        for match in LINK.finditer(text):
            link = match[1] or match[2]
            if re.match(r"\w+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            where = f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
            if not target.exists():
                errors.append(f"{where}: {link}: there is no such file")
            elif anchor and anchor not in anchors(target):
                errors.append(f"{where}: {link}: there is no such heading")
    return errors


if __name__ == "__main__":
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    print("\n".join(found) if found else "links: all lead somewhere")
    sys.exit(bool(found))
