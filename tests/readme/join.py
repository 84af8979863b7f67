#!/usr/bin/python3
"""Puts many small programs into one: join.py OUT.cpp ENTRY SOURCE...

A program of twenty lines costs its compiler three seconds, most of them for the same headers. So
the includes of all sources come first, each once, then each source in a namespace of its own, with
its function ENTRY (main, or LLVMFuzzerTestOneInput) under another name. What OUT.cpp offers is

  entry_type* find_entry(std::string_view name);   // null if there is no such source

and, if ENTRY is main, a main that runs the source named by its argument. Errors of the compiler
point into the sources, or into the document that a source names in its #line directives.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r"^#include .*$")
LINE = re.compile(r'^#line (\d+) "(.*)"$')
MAIN = """\
int main(int argc, char** argv) {
  entry_type* const entry = argc == 2 ? find_entry(argv[1]) : nullptr;
  return entry == nullptr ? 2 : entry();
}
"""


def joined(entry, sources):
    """The text of the one source."""
    includes = {}
    bodies = []
    for source in sources:
        name, number, body = str(source), 0, []
        for text in source.read_text().splitlines():
            number += 1
            if at := LINE.match(text):
                number, name = int(at[1]) - 1, at[2]
            elif INCLUDE.match(text):
                includes.setdefault(text, f'#line {number} "{name}"\n{text}\n')
            else:
                body.append(f'#line {number} "{name}"\n{text}\n')
        code = "".join(body)
        code, found = re.subn(rf'^(extern "C" )?int {entry}\(', "int entry(", code, flags=re.M)
        if found != 1:
            raise SystemExit(f"{source}: {found} functions {entry}, not one")
        if entry == "main":  # alone among functions it needs no return
            end = code.rindex("\n}\n", code.index("int entry("))
            code = code[:end] + "\nreturn 0;" + code[end:]
        bodies.append(f"namespace program_{source.stem} {{\n{code}}}\n")
    stems = [source.stem for source in sources]
    finds = "".join(f'  if (name == "{s}") return program_{s}::entry;\n' for s in stems)
    return (
        "".join(includes.values())
        + '#line 1 "joined"\n#include <string_view>\n'
        + "".join(bodies)
        + f'#line 1 "joined"\nusing entry_type = decltype(program_{stems[0]}::entry);\n'
        + "entry_type* find_entry(std::string_view name);\n"
        + f"entry_type* find_entry(std::string_view name) {{\n{finds}  return nullptr;\n}}\n"
        + (MAIN if entry == "main" else "")
    )


def main(out, entry, *sources):
    Path(out).write_text(joined(entry, [Path(source) for source in sources]))


if __name__ == "__main__":
    main(*sys.argv[1:])
