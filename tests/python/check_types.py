#!/usr/bin/python3
"""Holds the stubs against the package, and a program with types against the stubs, by mypy."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ["MYPYPATH"] = os.environ["PYTHONPATH"] = os.path.abspath(os.environ["PYTHONPATH"])


def run(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, check=False)
    return done.returncode


sys.exit(run("mypy.stubtest", "bloomery", "--ignore-missing-stub")
         or run("mypy", "--strict", "--cache-dir=/dev/null", str(HERE / "typed_use.py")))
