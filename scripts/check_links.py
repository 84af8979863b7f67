#!/usr/bin/python3
"""Checks what the documents point at: relative links lead to a file, and to a heading of it.
Sources and headers that documents, and comments of C++, name are there, by the end of their path.
docs/library.md names every public header.

Usage: check_links.py [ROOT]. Links to other hosts are not followed: a test needs no network.
"""

import os
import re
import sys
from pathlib import Path

FENCED = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:a href|img src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# Capitals stand for any name: tests/FOLDER/NAME_test.cpp.
SOURCE = re.compile(r"`([a-z0-9_./]*\w\.(?:hpp|cpp|py|mjs))`")
COMMENT = re.compile(r"//[^\n]*")
IN_COMMENT = re.compile(r"(?<![\w./<])(?:bloomery/)?([a-z0-9_/]*\w\.(?:hpp|cpp))\b")


def blank(pattern, text):
    """Blanked out, not cut out, so that the line numbers stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def anchors(page):
    """The anchors that hosts of repositories make of the headings of a page."""
    headings = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken_link(page, link):
    file, _, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    if not target.exists():
        return "there is no such file"
    if anchor and anchor not in anchors(target):
        return "there is no such heading"
    return None


def check(root):
    root = Path(root).resolve()
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", ".git", "node_modules")]
        files += [Path(folder, name) for name in names]
    paths = "".join(f"/{file.relative_to(root).as_posix()}\n" for file in files)
    errors = []
    for file in sorted(file for file in files if file.suffix in (".hpp", ".cpp")):
        text = file.read_text()
        errors += [f"{file.relative_to(root)}:{text.count(chr(10), 0, comment.start()) + 1}: {name}: no such file"
                   for comment in COMMENT.finditer(text) for name in IN_COMMENT.findall(comment[0])
                   if f"/{name}\n" not in paths]
    for page in sorted(file for file in files if file.suffix == ".md"):
        text = blank(FENCED, page.read_text())
        found = [(match.start(), match[1], "no source or header has this name")
                 for match in SOURCE.finditer(text) if f"/{match[1]}\n" not in paths]
        for match in LINK.finditer(blank(CODE, text)):
            link = match[1] or match[2]
            why = None if re.match(r"\w+:", link) else broken_link(page, link)
            if why:
                found.append((match.start(), link, why))
        errors += [f"{page.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: {what}: {why}"
                   for at, what, why in sorted(found)]
    return errors + unnamed_headers(root)


def unnamed_headers(root):
    page = root / "docs/library.md"
    public = root / "include/bloomery"
    text = page.read_text() if page.exists() else ""
    names = [header.relative_to(public).as_posix() for header in sorted(public.rglob("*.hpp"))]
    return [f"docs/library.md: the public header {name} is not named" for name in names
            if not name.startswith("detail/") and f"{name}`" not in text]


if __name__ == "__main__":
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    print("\n".join(found) if found else "links: all lead somewhere")
    sys.exit(bool(found))
