#!/usr/bin/python3
"""Shows that check_layers.py passes a good tree and fails each kind of bad one."""

import tempfile
import unittest
from pathlib import Path

from check_layers import check

GOOD = {
    "include/bloomery/bloomery.hpp": "#include <bloomery/filter/classic.hpp>",
    "include/bloomery/core/error.hpp": "#include <string>",
    "include/bloomery/hash/hash.hpp": "#include <bloomery/core/error.hpp>\n#include <xxhash.h>",
    "include/bloomery/bits/bit_array.hpp": '#include "../core/error.hpp"',
    "include/bloomery/filter/concepts.hpp": "",
    "include/bloomery/filter/classic.hpp": "#include <bloomery/filter/concepts.hpp>",
    "include/bloomery/filter/blocked.hpp": "#include <bloomery/bits/bit_array.hpp>",
    "include/bloomery/filter/keyed.hpp": "#include <bloomery/filter/blocked.hpp>",
    "include/bloomery/format/image.hpp": "#include <bloomery/filter/blocked.hpp>",
    "include/bloomery/crypto/siphash.hpp": "#include <bloomery/hash/hash.hpp>",
    "src/filter/blocked.cpp": '#include "bloomery/filter/blocked.hpp"\n#include "kernel/table.hpp"',
    "src/filter/bit_filter.cpp": "#include <bloomery/filter/classic.hpp>",
    "src/filter/classic_table.cpp": "#include <bloomery/filter/classic.hpp>",
    "src/filter/piece.hpp": "#include <bloomery/core/error.hpp>",
    "src/filter/classic.cpp": '#include "piece.hpp"',
    "include/bloomery/sketch/counts.hpp": "#include <bloomery/filter/concepts.hpp>",
    "src/kernel/table.hpp": "#include <bloomery/bits/bit_array.hpp>",
    "src/kernel/avx2.cpp": "#include <immintrin.h>",
    "apps/cli/main.cpp": "#include <bloomery/bloomery.hpp>",
}

# File, the include that is wrong in it, and what the complaint must say.
BAD = [
    ("include/bloomery/core/bad.hpp", "<bloomery/hash/hash.hpp>", "core may not include hash"),
    ("include/bloomery/core/bad.hpp", '"../hash/hash.hpp"', "core may not include hash"),
    ("include/bloomery/bits/bad.hpp", "<bloomery/filter/classic.hpp>", "bits may not include filter"),
    ("src/bits/bad.cpp", '"bloomery/format/image.hpp"', "bits may not include format"),
    ("src/bits/bad.cpp", '"kernel/table.hpp"', "bits may not include kernel"),
    ("src/kernel/bad.cpp", "<bloomery/filter/blocked.hpp>", "kernel may not include filter"),
    ("src/filter/bad.cpp", "<bloomery/crypto/siphash.hpp>", "filter may not include crypto"),
    ("src/format/bad.cpp", "<bloomery/bloomery.hpp>", "format may not include umbrella"),
    ("src/core/bad.cpp", '"../../apps/cli/main.cpp"', "core may not include apps"),
    ("apps/cli/bad.cpp", '"../../src/kernel/table.hpp"', "apps may not include kernel"),
    ("include/bloomery/filter/bad.hpp", "<bloomery/filter/classic.hpp>", "include each other"),
    ("src/filter/blocked_table.cpp", "<bloomery/filter/classic.hpp>", "include each other"),
    ("include/bloomery/sketch/bad.hpp", "<bloomery/filter/classic.hpp>",
     "sketch may not include filter"),
    ("include/bloomery/sketch/bad.hpp", '"../../../src/filter/piece.hpp"',
     "sketch may not include filter"),
    ("include/bloomery/detail/filter/batch.hpp", "<bloomery/filter/classic.hpp>", "include each other"),
    ("src/filter/bad.cpp", "<bloomery/filter/blocked.hpp>", "include each other"),
    ("include/bloomery/filter/bad.hpp", "<bloomery/filter/keyed.hpp>", "include each other"),
    ("src/filter/bad.cpp", "<immintrin.h>", "intrinsics"),
    ("include/bloomery/bits/bad.hpp", "<arm_neon.h>", "intrinsics"),
    ("include/bloomery/novel/bad.hpp", "<string>", "unknown layer"),
]


def errors_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check(root)


class CheckLayers(unittest.TestCase):
    def test_good_tree(self):
        self.assertEqual(errors_of(GOOD), [])

    def test_bad_trees(self):
        for name, include, why in BAD:
            with self.subTest(f"{name} includes {include}"):
                errors = errors_of(GOOD | {name: f"// why not\n#  include {include}\n"})
                self.assertEqual(len(errors), 1, errors)
                self.assertIn(why, errors[0])
                self.assertIn(name, errors[0])

    def test_assembly(self):
        barrier = {"include/bloomery/detail/hash/listed_lanes.hpp": '  // asm\n      asm volatile("");\n'}
        kernel = {"src/kernel/avx2.cpp": 'asm("nop");'}
        self.assertEqual(errors_of(GOOD | barrier | kernel | {"include/bloomery/core/a.hpp": "// asm is not\n"}), [])
        for name, code in [("include/bloomery/core/a.hpp", 'int a;\n  asm("mul %0" : "+a"(a));'),
                           ("include/bloomery/core/a.hpp", '\nasm volatile("");'),
                           ("include/bloomery/core/a.hpp", '\n__asm__("nop");'),
                           ("include/bloomery/detail/hash/listed_lanes.hpp", '\nasm volatile("nop");')]:
            with self.subTest(code):
                self.assertEqual(errors_of(GOOD | {name: code}), [f"{name}:2: installed headers have no assembly"])

    def test_two_types_of_one_name(self):
        one = {"apps/cli/one.hpp": "namespace bloomery::cli {\nstruct reply {\n};\n}\n"}
        other = "namespace bloomery::cli {\nclass reply;\nclass reply final : base {\n};\n}\n"
        errors = errors_of(GOOD | one | {"apps/cli/two.hpp": other})
        self.assertEqual(errors, ["apps/cli/two.hpp: bloomery::cli::reply is defined in apps/cli/one.hpp, too"])
        elsewhere = other.replace("cli", "redis")
        self.assertEqual(errors_of(GOOD | one | {"apps/cli/two.hpp": elsewhere}), [])


if __name__ == "__main__":
    unittest.main()
