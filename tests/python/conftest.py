"""The package from the build folder; BLOOMERY is the path of the tool."""

import os
import subprocess

import pytest

import bloomery


@pytest.fixture
def tool():
    path = os.environ.get("BLOOMERY")
    if not path:
        pytest.skip("the tool was not built")

    def run(*arguments, keys=""):
        done = subprocess.run([path, *map(str, arguments)], input=keys, text=True, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout
    return run


KEYS = [f"key {i}" for i in range(2000)]
ABSENT = [f"absent {i}" for i in range(2000)]

# One of each class with the keys in it.
MAKERS = {
    "blocked": lambda keys: bloomery.Filter(keys),
    "split-block": lambda keys: bloomery.Filter(keys, kind="split-block"),
    "classic": lambda keys: bloomery.Filter(keys, kind="classic"),
    "partitioned": lambda keys: bloomery.Filter(keys, kind="partitioned"),
    "layered": lambda keys: bloomery.Filter(keys, kind="layered"),
    "counting": lambda keys: bloomery.Counting(keys),
    "cuckoo": lambda keys: bloomery.Cuckoo(keys),
    "scalable": lambda keys: bloomery.Scalable(keys),
    "windowed": lambda keys: bloomery.Windowed(keys),
    "fuse": lambda keys: bloomery.Fuse(keys),
    "ribbon": lambda keys: bloomery.Ribbon(keys),
    "bloomier": lambda keys: bloomery.Map((key, i) for i, key in enumerate(keys)),
    "count-min": lambda keys: bloomery.CountMin(keys, 0.01),
    "spectral": lambda keys: bloomery.Spectral(keys),
    "top-k": lambda keys: bloomery.TopK(len(keys), keys=keys),
}


@pytest.fixture(params=MAKERS)
def any_filter(request):
    return MAKERS[request.param](KEYS)
