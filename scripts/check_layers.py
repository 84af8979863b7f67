#!/usr/bin/python3
"""Checks that includes point leftwards only:

    core <- hash <- bits <- kernel <- filter, sketch <- set <- format
         <- guard, lists, search, store, exchange, measure, foreign, c <- route
         <- backend <- apps, bench

and that filters do not include each other and intrinsics stay in src/kernel. A header in
include/bloomery/detail/LAYER is a piece of that layer.

And that no installed header has assembly, which a compiler or a machine that nobody tried may
refuse.

And that a type has one definition. Two headers that nobody includes together may define the same
name, compile and link, and then a program destroys one type as the other. Usage: check_layers.py
[ROOT]
"""

import re
import sys
from pathlib import Path

LEVELS = [
    ["core"], ["hash"], ["bits"], ["kernel"], ["filter", "sketch"], ["set"], ["format"],
    ["guard", "lists", "search", "store", "exchange", "measure", "foreign", "c"], ["route"],
]
# Splitting text into lines is a kernel of the tool's input: nobody else needs it.
KERNEL_FILES = {"apps/cli/input/record_ends.hpp", "apps/cli/input/record_ends.cpp",
                "apps/cli/input/record_ends_kernel.hpp"}
# What each layer may include, besides itself.
ALLOWED = {
    layer: {left for level in LEVELS[:i] for left in level}
    for i, level in enumerate(LEVELS) for layer in level
}
# Packets carry addresses, whose one home is lists/address.hpp.
ALLOWED["measure"] |= {"lists"}
# crypto is a library of its own beside the chain: nothing in the chain may need it.
ALLOWED["crypto"] = {"core", "hash", "bits", "filter"}
# And text, which needs ICU, is laid over everything.
ALLOWED["text"] = set(ALLOWED) - {"kernel", "crypto"}
# A filter in the memory of a GPU.
ALLOWED["gpu"] = {"core", "hash", "bits", "filter"}
# backend joins the library to databases, each header to one.
ALLOWED["backend"] = set(ALLOWED) - {"kernel", "crypto", "text"}
# Not layers, but the front of all of them: the umbrella header and the programs.
ALLOWED["umbrella"] = set(ALLOWED)
ALLOWED["apps"] = set(ALLOWED) - {"kernel"}

# In filter/: what filters are made from, and what is laid over them. All else there is a filter.
# Sketches are made from the same pieces. Headers in src/filter are private pieces, too.
FILTER_BASE = {"batch", "block_stripes", "bit_filter", "cell_fill", "concepts", "explanation", "owned",
               "static_filter", "static_layout"}
FILTER_FRONT = {"keyed"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
TYPE = re.compile(r"^namespace (?P<space>[\w:]*)"
                  r"|^(?:struct|class|union|enum class) (?P<type>\w+)\b[^;(]*?\{", re.MULTILINE)
ASSEMBLY = re.compile(r"^[^/\n]*?\b(?:asm|__asm__|__asm)\b(?P<what>[^;]*;?)", re.MULTILINE)
# An empty one that holds the vectorizer back: GCC has no other means before version 14.
EMPTY_ASSEMBLY = {"include/bloomery/detail/hash/listed_lanes.hpp": ' volatile("");'}
INTRINSICS = re.compile(r"(\w*intrin|arm_neon|arm_sve|arm_acle)\.h$")


def layer_of(path):
    """The layer of a file (relative to the root), or None outside the library and the programs."""
    parts = path.parts
    if path.as_posix() in KERNEL_FILES:
        return "kernel"
    if parts[:3] == ("include", "bloomery", "detail"):
        return parts[3]
    if parts[0] in ("apps", "bench"):
        return "apps"
    if path.as_posix() == "include/bloomery/bloomery.h":
        return "c"
    if parts[:2] == ("include", "bloomery"):
        return parts[2] if len(parts) > 3 else "umbrella"
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return None


def resolve(root, file, name, quoted):
    """The file in the tree (relative to the root) that an include means, or None if it is foreign.
    """
    folders = [root / "include", root / "src", root / "apps"]
    if quoted:
        folders.insert(0, file.parent)
    for folder in folders:
        target = (folder / name).resolve()
        if target.is_file() and target.is_relative_to(root):
            return target.relative_to(root)
    return None


def complaint(path, layer, name, target):
    """Why the file `path` may not include `name`, or None."""
    if INTRINSICS.search(name) and layer != "kernel":
        return "intrinsics belong in src/kernel"
    target_layer = layer_of(target) if target else None
    if target_layer is None:
        return None
    base_piece = target_layer == "filter" and (
        target.stem in FILTER_BASE or (target.parts[0] == "src" and target.suffix == ".hpp"))
    if layer == "sketch" and base_piece and target.parts[0] == "include":
        return None
    if target.as_posix() in KERNEL_FILES and layer == "apps":
        return None
    if target_layer != layer and target_layer not in ALLOWED[layer]:
        return f"{layer} may not include {target_layer}"
    if layer == target_layer == "filter" and not base_piece and target.stem != path.stem:
        # The source of a base piece may name the filters that it is compiled for.
        compiled_for = path.suffix == ".cpp" and path.stem in FILTER_BASE
        # And a private piece of one filter names that one: src/filter/cuckoo_table.cpp.
        own = path.parts[0] == "src" and path.stem.startswith(target.stem + "_")
        if path.stem not in FILTER_FRONT and not compiled_for and not own:
            return "filters may not include each other"
    return None


def types_of(text):
    """The types that a header defines, with their namespaces."""
    space = ""
    for match in TYPE.finditer(text):
        if match["type"] is None:
            space = match["space"]
        else:
            yield f"{space}::{match['type']}"


def check(root):
    root = Path(root).resolve()
    errors = []
    homes = {}  # of types
    for folder in ("include/bloomery", "src", "apps", "bench"):
        for file in sorted((root / folder).rglob("*.[ch]pp")):
            path = file.relative_to(root)
            layer = layer_of(path)
            if layer not in ALLOWED:
                errors.append(f"{path}: unknown layer; add it to scripts/check_layers.py")
                continue
            text = file.read_text()
            # Kernels have the same types for each instruction set, in namespaces of the sources
            # that include them.
            for name in types_of(text) if path.suffix == ".hpp" and layer != "kernel" else ():
                home = homes.setdefault(name, path)
                if home != path:
                    errors.append(f"{path}: {name} is defined in {home}, too")
            for match in ASSEMBLY.finditer(text) if path.parts[0] == "include" else ():
                if match["what"] != EMPTY_ASSEMBLY.get(path.as_posix()):
                    line = text.count("\n", 0, match.start("what")) + 1
                    errors.append(f"{path}:{line}: installed headers have no assembly")
            for match in INCLUDE.finditer(text):
                name = match[2]
                why = complaint(path, layer, name, resolve(root, file, name, match[1] == '"'))
                if why:
                    line = text.count("\n", 0, match.start(2)) + 1
                    errors.append(f"{path}:{line}: includes {name}: {why}")
    return errors


if __name__ == "__main__":
    found = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    print("\n".join(found) if found else "layers: all includes point the right way, and types have one home")
    sys.exit(bool(found))
