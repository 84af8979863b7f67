"""Runs node_test.mjs against a server. `node.py FOLDER` installs node-redis into the folder, by the lock file beside this,
when it is not there yet."""
import os
import pathlib
import shutil
import subprocess
import sys

import harness

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = ("package.json", "package-lock.json", ".npmrc")


def install(folder):
    """The client. The lock file says what it is by its checksum; it is copied last, so that a part is never taken for all."""
    stamp = folder / "installed.json"
    lock = (HERE / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACKAGE:
        shutil.copyfile(HERE / name, folder / name)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"], cwd=folder, check=True)
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
