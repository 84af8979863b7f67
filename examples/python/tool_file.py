#!/usr/bin/python3
"""A filter that `bloomery build` has written, asked from Python, and one of Python asked by the
tool.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from bloomery import Filter

tool = os.environ.get("BLOOMERY") or shutil.which("bloomery")
if tool is None:
    print("the tool is not on PATH")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([tool, "build", "--quiet", "-o", "fruit.bloom"], input="apples\npears\n", text=True, check=True)
    fruit = Filter.load("fruit.bloom")
    print(fruit, "apples" in fruit, "mango" in fruit)
    assert "apples" in fruit and "mango" not in fruit

    fruit.add("mango")
    fruit.save("more.bloom")
    found = subprocess.run([tool, "check", "more.bloom"], input="mango\nmelon\n", text=True, capture_output=True)
    print(found.stdout.strip())
    assert found.stdout == "mango\n"
