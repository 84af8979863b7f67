"""What filters do: every class, sets, files, bytes, pickles, and the same bits as the tool."""

import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import unittest.mock

import numpy
import pytest
from conftest import ABSENT, KEYS, MAKERS

import bloomery
from bloomery import CountMin, Counting, Cuckoo, Filter, Fuse, Map, Ribbon, Scalable, Spectral, TopK, Windowed


def test_every_kind_has_its_class(any_filter):
    assert any_filter.contains_many(KEYS).all()
    # 1 %, with 6 standard errors of 2,000 draws.
    assert any_filter.contains_many(ABSENT).mean() < 0.04
    assert any_filter.keys == len(KEYS)
    assert abs(len(any_filter) - len(KEYS)) < 200
    assert any_filter and KEYS[0] in any_filter
    assert any_filter.fpr < 0.02
    assert any_filter.bytes > 0
    assert type(any_filter).__name__ in repr(any_filter)
    info = any_filter.info()
    assert info["kind"] == any_filter.kind and info["keys"] == len(KEYS)
    assert any_filter.explain(KEYS[0])["contained"] is True


def test_round_trips(any_filter, tmp_path):
    path = tmp_path / "f.bloom"
    any_filter.save(path)
    assert path.read_bytes() == any_filter.to_bytes()
    twins = [any_filter.copy(), copy.copy(any_filter), copy.deepcopy(any_filter), bloomery.load(path),
             bloomery.open(str(path)), bloomery.open(os.fsencode(path), verify=False),
             bloomery.from_bytes(any_filter.to_bytes()), Filter.from_bytes(bytearray(any_filter.pack())),
             type(any_filter).load(path)]
    twins += [pickle.loads(pickle.dumps(any_filter, protocol)) for protocol in range(2, 6)]
    for twin in twins:
        assert type(twin) is type(any_filter)
        assert twin == any_filter and not twin != any_filter
        twin.verify()


def test_pickle_out_of_band():
    f = Filter(KEYS)
    buffers = []
    data = pickle.dumps(f, 5, buffer_callback=buffers.append)
    assert len(data) < 200 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers) == f


def ask_elsewhere(arguments):
    f, key = arguments
    return key in f, type(f).__name__


def test_multiprocessing():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(ask_elsewhere, [(Filter(KEYS), KEYS[3]), (Counting(KEYS), "no")]) == [
            (True, "Filter"), (False, "Counting")]


class OwnFilter(Filter):
    """A class of a user's own."""


def test_own_classes(tmp_path):
    f = OwnFilter(KEYS)
    f.label = "mine"
    f.save(tmp_path / "own")
    assert type(pickle.loads(pickle.dumps(f))) is OwnFilter
    assert type(OwnFilter.load(tmp_path / "own")) is OwnFilter
    assert OwnFilter.load(tmp_path / "own") == f


def test_the_bits_of_the_tool(tool, tmp_path):
    """The same file from the same keys, to the byte, and each opens the other's."""
    path, mine = tmp_path / "tool.bloom", tmp_path / "mine.bloom"
    lines = "".join(key + "\n" for key in KEYS + ["ümläut ☃"])
    tool("build", "-q", "--keys", "2001", "-o", path, keys=lines)
    f = Filter(keys=2001, form="text")
    f.update(KEYS + ["ümläut ☃"])
    assert f.to_bytes() == path.read_bytes()
    f.save(mine)
    assert tool("check", "-c", mine, keys=lines).strip() == "2001"
    loaded = Filter.open(path)
    assert "ümläut ☃" in loaded and "ümläut ☃".encode() in loaded and "nothing" not in loaded
    with pytest.raises(ValueError, match="its keys are text, not integers"):
        42 in loaded  # noqa: B015
    ours, theirs = f.info(), json.loads(tool("info", "--json", path))
    assert ours == theirs
    explained, theirs = f.explain("key 7"), json.loads(tool("explain", "--json", path, "key 7"))
    del theirs["key"]
    assert explained == theirs
    assert [row._asdict() | {"can": None} for row in bloomery.plan(12345, 0.001)] == [
        {name: row[name] for name in ("kind", "bits_per_key", "bytes", "probes", "fpr", "times_lower_bound", "lines")}
        | {"can": None} for row in json.loads(tool("plan", "--keys", 12345, "--fpr", 0.001, "--json"))["rows"]]


def test_a_secret_key_of_the_tool(tool, tmp_path):
    """It opens and tells what it is. What to do to ask it stands in the error."""
    path, key = tmp_path / "secret.bloom", tmp_path / "key"
    key.write_text("00112233445566778899aabbccddeeff\n")
    try:
        tool("build", "-q", "--hash", "siphash", "--key-file", key, "-o", path, keys="a\nb\n")
    except Exception:  # noqa: BLE001
        pytest.skip("a tool without libsodium")
    f = Filter.open(path)
    assert f.info()["hash"] == "siphash"
    for use in (lambda: "a" in f, lambda: 42 in f, lambda: f.contains_many(["a"])):
        with pytest.raises(TypeError, match="secret key.*bloomery check --key-file"):
            use()


def test_a_hash_of_other_programs(tool, tmp_path):
    """The error is about the hash, which is missing, and not about the keys, which are strings."""
    path = tmp_path / "digest.bloom"
    tool("build", "-q", "--kind", "classic", "--hash", "md5", "--probes", "4", "--keys", "2", "-o", path, keys="a\nb\n")
    f = Filter.open(path)
    for use in (lambda: "a" in f, lambda: f.contains_many(["a"])):
        with pytest.raises((TypeError, ValueError), match="hash"):
            use()


def test_long_and_short_keys():
    """Keys of up to 32 bytes have a way of their own; one and many at once must agree."""
    keys = ["x" * length for length in (*range(70), 127, 128, 129, 240, 241, 1000)]
    one, many = Filter(keys=100, fpr=1e-6), Filter(keys=100, fpr=1e-6)
    for key in keys:
        one.add(key)
    many.update(keys)
    assert one == many and all(key in many for key in keys) and "y" * 40 not in one


def test_integers_of_the_tool(tool, tmp_path):
    path = tmp_path / "numbers.bloom"
    numbers = [0, 1, -1, 2**63, -2**63, 2**64 - 2] + list(range(10, 1000))
    tool("build", "-q", "--integers", "--keys", len(numbers), "-o", path, keys="".join(f"{n}\n" for n in numbers))
    f = Filter(keys=len(numbers), form="integers")
    f.update(numbers)
    assert f.to_bytes() == path.read_bytes()
    assert Filter.open(path).contains_many(numbers).all()


@pytest.mark.parametrize("kind", ["counting", "cuckoo", "scalable", "fuse", "ribbon", "layered", "spectral"])
def test_other_kinds_of_the_tool(tool, tmp_path, kind):
    path = tmp_path / "f.bloom"
    tool("build", "-q", "--kind", kind, "-o", path, "--keys", len(KEYS), keys="".join(key + "\n" for key in KEYS))
    assert MAKERS[kind](KEYS) == bloomery.load(path)


def test_sets():
    a, b = Filter(keys=3000), Filter(keys=3000)
    a.update(KEYS[:1200])
    b.update(KEYS[800:])
    both, common = a | b, a & b
    assert both.contains_many(KEYS).all()
    assert common.contains_many(KEYS[800:1200]).all()
    assert a.issubset(both) and common.issubset(a) and not both.issubset(a)
    c = a.compare(b)
    assert abs(c["keys_intersection"] - 400) < 100 and abs(c["keys_union"] - 2000) < 100
    a |= b
    assert a == both and a is not both
    a |= a
    assert a == both
    assert both.fold(2).contains_many(KEYS).all()
    delta = common.diff(both)
    assert common.patch(delta) == both
    with pytest.raises(ValueError, match="another|version"):
        both.patch(delta)
    with pytest.raises(ValueError, match="bits differ"):
        a | Filter(keys=10)
    with pytest.raises(ValueError, match="seed"):
        a |= Filter(keys=3000, seed=7)
    with pytest.raises(TypeError):
        a | {"a set"}
    with pytest.raises(ValueError, match="kinds differ"):
        a & Counting(keys=3000)
    assert a != {"a set"}
    with pytest.raises(TypeError):
        hash(a)


def test_counting_and_removing():
    for made in (Counting(keys=100), Cuckoo(keys=100), CountMin(), Spectral(keys=100)):
        made.update(["a", "a", 7])
        assert made.count("a") == 2 and made.count(7) == 1 and made.count("b") == 0
        assert list(made.count_many(["a", 7, "b"])) == [2, 1, 0]
        assert made.remove("a") and made.count("a") == 1
        assert made.remove_many(["a", 7]) == 2
        assert "a" not in made and not made.remove("a")
    assert Counting(keys=10).most_count == 15
    sketch = CountMin(epsilon=0.01)
    sketch.add("x", 500)
    sketch.update({"y": 3, "z": 4})
    sketch.update(["y", "z"], counts=[1, 1])
    assert list(sketch.count_many("xyz".replace("", " ").split())) == [500, 4, 5]
    with pytest.raises(AttributeError):
        Filter(keys=10).remove("a")


def test_top():
    top = TopK(2)
    top.update(["a"] * 5 + ["b"] * 3 + ["c", b"\xff"])
    assert top.top() == [("a", 5), ("b", 3)]
    assert top.top(raw=True) == [(b"a", 5), (b"b", 3)]
    assert pickle.loads(pickle.dumps(top)).top() == top.top()
    with pytest.raises(ValueError, match="made for them"):
        top.add(3)
    numbers = TopK(2, form="integers")
    numbers.update(numpy.array([9, 9, 9, 4, 4, 1]))
    assert numbers.top() == [(9, 3), (4, 2)]


def test_map(tmp_path):
    values = {f"k{i}": i * i for i in range(500)}
    m = Map(values, fpr=0.001)
    assert all(m[key] == value for key, value in values.items())
    found, there = m.get_many(list(values) + ["absent"])
    assert list(found[:500]) == list(values.values()) and there[:500].all()
    assert m.get("absent here", "default") in ("default", *range(500 * 500))
    m["k3"] = 77
    assert m["k3"] == 77
    with pytest.raises(ValueError):
        m["k3"] = 2**40  # longer than the values that it was made for
    m.save(tmp_path / "m")
    assert Map.open(tmp_path / "m")["k4"] == 16
    with pytest.raises(TypeError):
        list(m)
    numbers = Map([(i, i + 1) for i in range(100)])
    assert numbers[41] == 42


def test_windowed():
    f = Windowed(keys=1000, window=60)
    f.advance(1000)
    f.add("old")
    f.advance(1010)
    assert "old" in f
    f.advance(1300)
    assert "old" not in f


def test_static_kinds():
    for made in (Fuse(KEYS, fpr=0.001), Ribbon(numpy.arange(5000)), Fuse({"a": 1, "b": 2}.keys())):
        assert made.keys > 0
        with pytest.raises(TypeError):
            made.add("x")
    with pytest.raises(TypeError, match="all of its keys"):
        Fuse(1000)
    with pytest.raises(TypeError, match="all strings or all integers"):
        Ribbon(["a", 1])


def test_growing():
    f = Scalable(keys=10, fpr=0.01)
    f.update(f"{i}" for i in range(10_000))
    assert f.keys == 10_000 and "9999" in f and f.fpr < 0.011
    assert bloomery.from_bytes(f.pack()) == bloomery.from_bytes(f.to_bytes())


def test_clear_and_len():
    f = Filter(KEYS)
    f.clear()
    assert len(f) == 0 and not f and KEYS[0] not in f
    full = Filter(keys=1, bytes=64)
    full.update(range(5000))
    with pytest.raises(ValueError, match="every bit"):
        len(full)


def test_plan():
    rows = bloomery.plan(1_000_000, 0.001)
    assert rows["blocked"].bytes == Filter(keys=1_000_000, fpr=0.001).bytes
    assert rows[0].kind == "blocked" and "remove" in rows["counting"].can
    assert "<table>" in rows._repr_html_() and "blocked" in str(rows)
    axes = unittest.mock.Mock()
    assert rows.plot(axes) is axes and axes.barh.call_args.args[0][0] == "blocked"
    with pytest.raises(KeyError):
        rows["nonsense"]
    with pytest.raises(ValueError):
        bloomery.plan(0)


def test_plot(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    rows = bloomery.plan(1_000_000, 0.001)
    axes = rows.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == [row.kind for row in rows]
    assert [bar.get_width() for bar in axes.patches] == [row.bits_per_key for row in rows]
    assert axes.get_title() == "1,000,000 keys" and axes.get_xlabel() == "bits a key"
    picture = tmp_path / "plan.png"
    axes.figure.savefig(picture)
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 5000
    assert rows.plot(axes) is axes


def test_a_mapped_file_may_be_replaced(tmp_path):
    path = tmp_path / "f.bloom"
    Filter(["old"]).save(path)
    with Filter.open(path) as mapped:
        Filter(["new"]).save(path)
        assert "old" in mapped and "old" not in Filter.open(path)
    assert mapped.closed


def test_import_takes_little():
    code = "import sys, bloomery; print([m for m in ('numpy', 'json', 'typing', 'pickle') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_numpy():
    code = """
import sys
sys.modules["numpy"] = None
import bloomery
f = bloomery.Counting(["a", "b"])
assert list(f.contains_many(["a", "c"])) == [True, False]
assert list(f.count_many(["a", "c"])) == [1, 0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
