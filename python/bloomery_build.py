"""Makes the wheel and the source distribution (PEP 517) without any package of an index: CMake
compiles, the rest is a zip file and a tar file.

One wheel serves all versions of Python from 3.11 on, because the extension keeps to the limited
API. It has the library inside and needs the C and C++ libraries of the system alone.

BLOOMERY_BUILD, or the setting "build-folder", names a folder that CMake has built the package in;
without it one is made and thrown away.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUMMARY = "Bloom filters and their family: sets in about ten bits a key"


def version():
    text = (ROOT / "include/bloomery/core/version.hpp").read_text()
    return ".".join(re.search(rf"#define BLOOMERY_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def compile_package(build):
    """Compiles the package and nothing else of the project."""
    without = ("TOOL", "TESTS", "INSTALL", "REDIS", "CRYPTO", "TEXT", "LEVELDB", "ROCKSDB", "SQLITE",
               "SQLITE_EXTENSION", "POSTGRESQL", "GPU")
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DBLOOMERY_CCACHE=ON",
                 # Those of the preset release.
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG -D_FORTIFY_SOURCE=2",
                 "-DBLOOMERY_PYTHON_PACKAGE=ON", f"-DBLOOMERY_PYTHON_FOR_HEADERS={sys.executable}"]
    configure += [f"-DBLOOMERY_{part}=OFF" for part in without]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    subprocess.run(configure, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", str(build), "--target", "bloomery_python", "--parallel", str(os.cpu_count())],
                   check=True, stdout=sys.stderr)


def package_files(build):
    """Names in the wheel and their content; the extension without what only a linker wants."""
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted((build / "python/bloomery").iterdir()):
            if not path.is_file():
                continue
            data = path.read_bytes()
            if path.suffix == ".so" and shutil.which("strip"):
                stripped = Path(folder) / path.name
                subprocess.run(["strip", "--strip-unneeded", "-o", str(stripped), str(path)], check=True)
                data = stripped.read_bytes()
            yield f"bloomery/{path.name}", data


def metadata():
    return (f"Metadata-Version: 2.1\nName: bloomery\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: MIT\n"
            "Requires-Python: >=3.11\nDescription-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text()).encode()


def write_wheel(path, build):
    info = f"bloomery-{version()}.dist-info"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    files = dict(package_files(build))
    files[f"{info}/METADATA"] = metadata()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: bloomery_build\nRoot-Is-Purelib: false\nTag: cp311-abi3-{platform}\n").encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            # The same bytes whenever it is made.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name = f"bloomery-{version()}-cp311-abi3-{platform}.whl"
    given = (config_settings or {}).get("build-folder") or os.environ.get("BLOOMERY_BUILD")
    if given:
        write_wheel(Path(wheel_directory) / name, Path(given))
        return name
    with tempfile.TemporaryDirectory(prefix="bloomery-build-") as build:
        compile_package(Path(build))
        write_wheel(Path(wheel_directory) / name, Path(build))
    return name


def source_files():
    """What the package is compiled from. The settings of pip stand at the top there, and name the
    folder of this file.
    """
    for name in ("CMakeLists.txt", "LICENSE"):
        yield name, (ROOT / name).read_bytes()
    for folder in ("cmake", "include", "python", "src"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith((".pyc", ".so")):
                yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    settings = (HERE / "pyproject.toml").read_text()
    yield "pyproject.toml", settings.replace('backend-path = ["."]', 'backend-path = ["python"]').replace(
        'readme = "README.md"', 'readme = "python/README.md"').encode()
    yield "PKG-INFO", metadata()


def build_sdist(sdist_directory, config_settings=None):
    top = f"bloomery-{version()}"
    name = f"{top}.tar.gz"
    with (Path(sdist_directory) / name).open("wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in source_files():
            entry = tarfile.TarInfo(f"{top}/{path}")  # the same bytes whenever it is made
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


if __name__ == "__main__":  # bloomery_build.py FOLDER: the wheel, for those who have no pip
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
