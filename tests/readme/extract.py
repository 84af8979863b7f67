#!/usr/bin/python3
"""Turns the snippets of a Markdown file into tests: extract.py README.md OUT

The rule: every ```cpp and ```sh block is run, unless the line before it is <!-- not run -->.

  cpp  becomes OUT/cpp_N.cpp. A block without `int main` is put into one, below its #include lines.
  sh   All blocks become OUT/shell.sh and run in order, in one shell that stops at the first error
       and one empty folder, like a reader who types them. The built tool is first on PATH.

Comments, which no reader of the page sees, say more about the shell:

  <!-- test: NAME -->  The blocks from here on become OUT/NAME.sh instead, with a folder of its own.
  <!-- check           The lines up to --> run in their place, like a block. They compare what the
  ...                  blocks made with the truth, computed in another way.
  -->
  <!-- prints -->         Every line of the indented text that follows was printed by the blocks of
                          this test before it, to standard output or standard error.
  <!-- prints, about -->  Likewise, but its numbers depend on the machine: any number, in any
                          unit, will do.
"""

import re
import sys
from pathlib import Path

BLOCK = re.compile(
    r"^```(?P<language>cpp|sh)[ \t]*\n(?P<code>.*?)^```[ \t]*$"
    r"|^<!-- test: (?P<test>\w+) -->[ \t]*$"
    r"|^<!-- check[ \t]*\n(?P<check>.*?)^-->[ \t]*$"
    r"|^<!-- prints(?P<about>, about)? -->\s*\n(?P<printed>(?:(?: {4}[^\n]*)?\n)+)",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = re.compile(r"^<!-- not run -->[ \t]*\n\Z", re.MULTILINE)

SHELL_START = """\
set -euo pipefail
folder=$(mktemp -d)
exec 3>&1 >"$folder/.printed" 2>&1
trap 'kill $(jobs -p) 2>/dev/null || true; cat "$folder/.printed" >&3; rm -rf "$folder"' EXIT
cd "$folder"
prints() {  # SED: every line of standard input was printed, if SED is applied to both
  local missing
  missing=$(grep -vxFf <(sed -E "$1" "$folder/.printed") <(sed -E "$1")) || return 0
  printf 'This is shown, but was not printed:\\n%s\\n' "$missing"
  exit 1
}
"""


def comparison(text, about):
    """The lines of a shell script that hold what a page shows against what was printed."""
    lines = "".join(line[4:] + "\n" for line in text.splitlines() if line)
    rule = "s/[0-9]+([,.][0-9]+)*(e-[0-9]+)?( %| bytes| [kMG]B)?/N/g" if about else ""
    return f"prints '{rule}' <<'SHOWN'\n{lines}SHOWN\n"


def program(code, line, source):
    """A complete program whose compile errors point into the Markdown file."""
    lines = list(enumerate(code.splitlines(), line))

    def located(part):
        return "".join(f'#line {number} "{source}"\n{text}\n' for number, text in part)

    if re.search(r"\bint main\b", code):
        return located(lines)
    includes = [item for item in lines if item[1].lstrip().startswith("#include")]
    body = [item for item in lines if item not in includes]
    return located(includes) + "int main() {\n" + located(body) + "}\n"


def extract(source):
    """The files to write: name -> text."""
    text = Path(source).read_text()
    files = {}
    shells = {}
    test = "shell"
    for match in BLOCK.finditer(text):
        if match["test"]:
            test = match["test"]
            if test in shells:
                raise SystemExit(f"{source}: two tests are called {test}")
            continue
        if NOT_RUN.search(text, 0, match.start()):
            continue
        code = match["code"] or match["check"] or comparison(match["printed"], match["about"])
        line = text.count("\n", 0, match.start()) + 2
        if match["language"] == "cpp":
            files[f"cpp_{len(files) + 1}.cpp"] = program(code, line, source)
        else:
            shells[test] = shells.get(test, SHELL_START) + f"echo '--- {source}:{line}'\n{code}"
    return files | {f"{name}.sh": script for name, script in shells.items()}


def main(source, out):
    files = extract(source)
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        if old.name not in files:
            old.unlink()
    for name, text in files.items():
        path = out / name
        if not path.exists() or path.read_text() != text:  # an equal file need not be built again
            path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
