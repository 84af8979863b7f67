#!/usr/bin/python3
"""No comment has more than 100 columns, in whatever language: clang-format sees to those of C++,
this to all others, the texts that open Python's functions among them. Code may be longer.
"""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = 100

HASH = re.compile(r"(?:^|\s)#(?: |$)")
SLASHES = re.compile(r"^\s*(?://|/?\*)|[;,(){}] +// ")
MARKS = {  # by the end of a file's name; a program without one says itself what it is
    ".sh": HASH, ".bash": HASH, ".cmake": HASH, "CMakeLists.txt": HASH, ".yml": HASH, ".in": HASH,
    ".clang-tidy": HASH, ".clang-format": HASH,
    ".js": SLASHES, ".mjs": SLASHES, ".ts": SLASHES, ".css": SLASHES,
    ".html": re.compile("<!--"), ".sql": re.compile("^ *-- "),
}


def of_python(text):
    """The numbers of lines with a comment, or a part of a text that documents."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from (t.start[0] for t in tokens
                if t.type == tokenize.COMMENT and not t.string.startswith("# type:"))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield from range(node.body[0].lineno, node.body[0].end_lineno + 1)


def of_others(text, mark):
    return (number for number, line in enumerate(text.split("\n"), 1) if mark.search(line))


def comments(name, text):
    first = text.split("\n", 1)[0]
    if name.endswith((".py", ".pyi")) or re.match("#!.*python", first):
        return of_python(text)
    marks = [mark for end, mark in MARKS.items() if name.endswith(end)]
    if first.startswith("#!") and not marks:
        marks = [HASH]
    return of_others(text, marks[0]) if marks else ()


def sources(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name not in {".git", "build", "corpus", "golden"}:
                yield from sources(path)
        elif path.is_file():
            yield path


def main():
    right = True
    for path in sources(ROOT):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = str(path.relative_to(ROOT))
        lines = text.split("\n")
        for number in sorted(set(comments(name, text))):
            if len(lines[number - 1]) > COLUMNS:
                print(f"{name}:{number}: a comment of more than {COLUMNS} columns", file=sys.stderr)
                right = False
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
