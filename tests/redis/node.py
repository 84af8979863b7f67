"""Runs node_test.mjs against a server. `node.py FOLDER` installs node-redis into the folder, by the
lock file beside this, when it is not there yet. Where no registry can be reached, nothing can be
said: the exit status is 77.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = ("package.json", "package-lock.json", ".npmrc")


def install(folder):
    """The client. The lock file says what it is by its checksum; it is copied last, so that a part
    is never taken for all.
    """
    stamp = folder / "installed.json"
    lock = (HERE / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACKAGE:
        shutil.copyfile(HERE / name, folder / name)
    npm = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline",
                          "--fetch-retries=1", "--fetch-timeout=20000"], cwd=folder, stderr=subprocess.PIPE, text=True)
    if npm.returncode != 0:
        print(npm.stderr, file=sys.stderr)
        sys.exit(77 if re.search(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|E?TIMEDOUT", npm.stderr) else 1)
    stamp.write_bytes(lock)


def main():
    folder = pathlib.Path(sys.argv[1])
    install(folder)
    # Beside node_modules, where the language looks for what a file imports.
    shutil.copyfile(HERE / "node_test.mjs", folder / "node_test.mjs")
    server = harness.Server()
    try:
        return subprocess.run(["node", folder / "node_test.mjs"], timeout=120,
                              env=os.environ | {"BLOOMERY_PORT": str(server.port)}).returncode
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
