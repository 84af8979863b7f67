#!/usr/bin/python3
"""Runs the examples of documents: what stands behind >>> in a folder of its own, with the tool on
PATH.

Usage: run_documents.py DOCUMENT...
"""

import doctest
import os
import sys
import tempfile
from pathlib import Path

if "BLOOMERY" in os.environ:
    os.environ["PATH"] = f"{Path(os.environ['BLOOMERY']).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["LIBBLOOMERY"] = str(Path(os.environ["BLOOMERY"]).parent / "libbloomery.so")
failures = tried = 0
for name in sys.argv[1:]:
    path = str(Path(name).resolve())
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = doctest.testfile(path, module_relative=False, optionflags=doctest.ELLIPSIS)
        os.chdir(before)
    failures += found.failed
    tried += found.attempted
print(f"{tried} examples, {failures} failed")
sys.exit(1 if failures or tried == 0 else 0)
