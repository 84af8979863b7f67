"""Keys of every sort, and bad input: an exception, never a crash."""

import array
import ctypes
import gc
import io
import os
import pickle
import sys
import threading

import numpy
import pytest
from conftest import KEYS

import bloomery
from bloomery import CountMin, Counting, Cuckoo, Filter, Fuse, Map, Scalable, TopK, Windowed


def same(a, b):
    f, g = Filter(keys=100), Filter(keys=100)
    f.update(a)
    g.update(b)
    return f == g


def test_the_same_key_in_other_types():
    for twins in [("ä", "ä".encode()), (b"x", bytearray(b"x")), (b"x", memoryview(b"x")), (5, numpy.int16(5)),
                  (5, numpy.uint64(5)), (-1, 2**64 - 1), (True, 1), ("s", numpy.str_("s")), (b"s", numpy.bytes_(b"s")),
                  (-7, numpy.int8(-7)), (b"ac", memoryview(b"abcd")[::2]), ("", b"")]:
        assert same([twins[0]], [twins[1]]), twins
        f = Filter(keys=10)
        f.add(twins[0])
        assert twins[1] in f and twins[0] in f, twins
    assert not same([1], ["1"])


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint16 int32 uint32 int64 uint64".split())
def test_arrays_of_integers(dtype):
    values = numpy.arange(100, dtype=dtype)
    assert same(values, [int(v) for v in values])
    assert same(values[::3], [int(v) for v in values[::3]])
    assert same(values[::-1], [int(v) for v in values])
    assert same(numpy.array([[1, 2], [3, 4]], dtype=dtype)[:, 1], [2, 4])
    if dtype.startswith("i"):
        assert same(-values, [-int(v) for v in values])


def test_other_arrays():
    assert same(array.array("q", [1, -2]), [1, -2])
    assert same(memoryview(array.array("I", [1, 2])), [1, 2])
    assert same(numpy.array(["a", "bc"]), ["a", "bc"])
    assert same(numpy.array([b"a", b"bc"]), [b"a", b"bc"])
    assert same(numpy.array(["a", 3], dtype=object), ["a", 3])
    assert same(numpy.array([True, False]), [1, 0])
    assert same(numpy.array([3, 4], dtype=">i8"), [3, 4])
    unaligned = numpy.frombuffer(b"x" + numpy.arange(5, dtype="<u8").tobytes(), dtype="<u8", offset=1)
    assert same(unaligned, range(5))
    dates = [numpy.array(["2026-01-01"], dtype=f"datetime64[{unit}]") for unit in ("D", "s", "us", "ns")]
    for bad in (numpy.array([1.5]), numpy.array([1j]), *dates, dates[0] - dates[0], dates[3] - dates[3]):
        with pytest.raises(TypeError):
            Filter(keys=10).update(bad)
    with pytest.raises(ValueError, match="one dimension"):
        Filter(keys=10).update(numpy.zeros((2, 2), dtype=int))
    with pytest.raises(TypeError):
        Filter(keys=10).update(numpy.int64(4))


def test_iterables():
    for keys in (KEYS, tuple(KEYS), set(KEYS), dict.fromkeys(KEYS), iter(KEYS), (k for k in KEYS),
                 io.StringIO("".join(k + "\n" for k in KEYS))):
        f = Filter(keys=len(KEYS))
        f.update(keys, key=str.strip if isinstance(keys, io.StringIO) else None)
        assert f.contains_many(KEYS).all() and f.keys == len(KEYS)
    assert Filter(range(10)).contains_many(range(10)).all()
    f = Filter([(1, "a"), (2, "b")], key=lambda pair: pair[1])
    assert "a" in f and f.contains_many([(9, "b"), (9, "c")], key=lambda pair: pair[1]).tolist() == [True, False]
    f = Filter(keys=10)
    f.update(k for k in ["x", "x", "y"] if k not in f)  # a generator that looks at the filter
    assert f.keys == 2
    f.update([])
    assert len(f.contains_many([])) == 0


def test_sorts_may_change_within_a_list():
    mixed = [1, "1", 2, b"2", 3.0 .__int__(), "x"] * 20_000
    f = Filter(keys=100)
    f.update(mixed)
    assert f.contains_many(mixed).all() and f.keys == len(mixed)
    assert not f.contains_many([4, "4"] * 5).any()


@pytest.mark.parametrize("bad", [1.5, None, [], (), {}, object(), numpy.float64(1), numpy.array([1]), 1j, ...])
def test_what_is_no_key(bad):
    f = Filter(keys=10)
    for call in (f.add, f.__contains__, f.explain, lambda k: f.update([k]), lambda k: f.contains_many([k])):
        with pytest.raises(TypeError, match="key"):
            call(bad)
    with pytest.raises(TypeError):
        Fuse(["a", bad])


@pytest.mark.parametrize("bad", ["\ud800", "a\udcffb", 2**64, -2**63 - 1, 10**100])
def test_keys_without_a_value(bad):
    f = Filter(keys=10)
    for call in (f.add, f.__contains__, f.explain, lambda k: f.update([k]), lambda k: f.contains_many(["x", k])):
        with pytest.raises(ValueError):
            call(bad)


def test_those_before_a_bad_key_are_in():
    f = Filter(keys=10)
    with pytest.raises(TypeError):
        f.update(["a", "b", None, "c"])
    assert "a" in f and "b" in f and "c" not in f


def test_one_key_where_many_are_wanted():
    for one in ("text", b"bytes", bytearray(b"x")):
        with pytest.raises(TypeError, match="one"):
            Filter(keys=10).update(one)
        with pytest.raises(TypeError):
            Filter(keys=10).contains_many(one)
    for none in (5, None, 1.5):
        with pytest.raises(TypeError):
            Filter(keys=10).update(none)
    view = memoryview(b"abc")
    for bytes_of_one in (view, view[::2], view.cast("b"), view.cast("c"), memoryview(bytearray(b"x"))):
        for call in (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse, Filter):
            with pytest.raises(TypeError, match="a memoryview of bytes is one key"):
                call(bytes_of_one)
    assert same([view], [b"abc"]) and same(view.tolist(), [97, 98, 99])


def test_masked_arrays():
    """What is masked is no key, though the array has a value there."""
    for values in ([1, 2, 3], ["a", "b", "c"]):
        masked = numpy.ma.array(values, mask=[False, True, False])
        for call in (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse, Filter):
            with pytest.raises(TypeError, match=r"compressed\(\)"):
                call(masked)
        assert same(masked.compressed(), [values[0], values[2]])


def test_options():
    for bad in ({"keys": 0}, {"keys": -1}, {"keys": 2**70}, {"fpr": 0}, {"fpr": 1}, {"fpr": -0.1}, {"fpr": float("nan")},
                {"fpr": 1e-40}, {"kind": "nonsense"}, {"kind": "counting"}, {"form": "nonsense"}, {"hash": "md5"},
                {"fpr": 0.1, "bytes": 100}, {"seed": -1}, {"probes": 2**40}, {"probes": 1000}, {"bytes": 2**62}):
        with pytest.raises((ValueError, MemoryError)):
            Filter(**{"keys": 100, **bad})
    for bad in ({"nonsense": 1}, {"keys": 1.5}, {"keys": None}, {"fpr": "1%"}, {"k": "x"}):
        with pytest.raises(TypeError):
            Filter(**bad)
    with pytest.raises(ValueError):
        Filter(keys=10, k=5)
    for made, name in ((Filter, "bytes"), (Filter, "probes"), (Counting, "cell_bits"), (Cuckoo, "bucket_cells"),
                       (Windowed, "window"), (Windowed, "generations"), (TopK, "k")):
        # In C, 0 is "not said".
        with pytest.raises(ValueError, match=f"{name} is 0, but it must be from 1 to"):
            made(**{name: 0})
    for made, name in ((Fuse, "cell_bits"), (Map, "value_bits")):
        with pytest.raises(ValueError, match=f"{name} is 0, but it must be from 1 to"):
            made({"a": 1}, **{name: 0})


def test_numbers_out_of_range():
    """A ValueError with the value and the limit, wherever a call takes a number."""
    calls = [(Windowed(10).advance, 0), (Filter(keys=10).fold, 1), (lambda n: CountMin().add("x", n), 0),
             (lambda n: CountMin().update(["x"], counts=[n]), 0), (lambda n: Map({"x": n}), 0),
             (lambda n: Filter(keys=10, seed=n), 0), (lambda n: Filter(keys=n), 0)]
    for call, least in calls:
        for number in (-1, -2**63, -2**70, 2**64, 2**70):
            with pytest.raises(ValueError, match=rf" is {number}, but it must be from {least} to 2\*\*64 - 1"):
                call(number)
        with pytest.raises(TypeError):
            call(1.5)
    with pytest.raises(ValueError, match=r"k is 4294967296, but it must be from 1 to 2\*\*32 - 1"):
        TopK(2**32)
    f = Windowed(10, window=100)
    f.advance(numpy.uint64(2**64 - 1))
    f.add("x")
    assert "x" in f


class Index:
    """Something that runs code of its own when it is looked at."""

    def __init__(self, run):
        self.run = run

    def __index__(self):
        return self.run()


def test_code_that_runs_in_between():
    keys = ["a", Index(lambda: keys.clear() or 3), "b"]
    with pytest.raises(IndexError):
        Filter(keys=10).update(keys)
    f = Filter(keys=10)
    with pytest.raises(ValueError, match="closed"):
        f.update(["a", Index(lambda: f.close() or 3), "b"])
    for call in (f.add, f.__contains__, f.explain):
        f = Filter(keys=10)
        with pytest.raises(ValueError, match="closed"):
            getattr(f, call.__name__)(Index(lambda: f.close() or 3))
    with pytest.raises(ZeroDivisionError):
        Filter(keys=10).update([Index(lambda: 1 // 0)])
    with pytest.raises(TypeError):
        Filter(keys=10).add(Index(lambda: "text"))


def test_an_object_that_leaves_its_list_while_it_is_looked_at():
    """The list has the only reference, and the object's own code takes it away."""
    class Leaving:
        def __init__(self, keys):
            self.keys = keys

        def __index__(self):
            self.keys.clear()
            return "no int"

    class Asked(Leaving):
        def __getattr__(self, name):
            self.keys.clear()
            raise AttributeError(name)

    for leaving in (Leaving, Asked):
        for call in (Filter(keys=10).update, Filter(keys=10).contains_many, CountMin().count_many, Fuse):
            keys = []
            keys += ["a", leaving(keys), "b"]
            with pytest.raises(TypeError, match=f"not {leaving.__name__}"):
                call(keys)


def test_lengths_that_lie():
    """What has more keys than it says has them all; what says more than it has gives what it has.
    """
    class Lying(list):
        said = 0

        def __len__(self):
            return self.said

        def __iter__(self):
            return iter([])

    class Tuple(tuple):
        def __len__(self):
            return 2**61

    lying = Lying(KEYS * 20)
    for Lying.said in (0, 3, 2**61):
        f = Filter(keys=100_000)
        f.update(lying)
        assert f.keys == len(KEYS) * 20
        assert numpy.all(f.contains_many(lying)) and len(CountMin().count_many(lying)) == len(KEYS) * 20
    assert Map.get_many(Map([("a", 5)]), Tuple(["a"]))[0].tolist() == [5]

    class Sequence:
        def __init__(self, said):
            self.said = said

        def __len__(self):
            return self.said

        def __iter__(self):
            return iter("abc")

    for said in (0, 1, 7):
        assert same(Sequence(said), list("abc"))
    for said in (-1, 2**62):
        with pytest.raises((ValueError, MemoryError)):
            Filter(Sequence(said))


def test_arrays_too_long_for_an_answer():
    """One number again and again: no memory for the answers, however many bytes they would be."""
    for length in (2**60, 2**61, 2**62):
        keys = numpy.broadcast_to(numpy.uint8(5), length)
        for call in (Filter(keys=10).contains_many, CountMin().count_many, Map([(1, 2)]).get_many, Fuse):
            with pytest.raises(MemoryError):
                call(keys)


def test_a_filter_that_changes_while_it_lists_its_keys():
    """Making the list runs the collector of garbage, and that somebody's code."""
    class Clearing:
        def __init__(self, f):
            self.me, self.f = self, f

        def __del__(self):
            self.f.clear()

    usual = gc.get_threshold()
    for _ in range(10):
        f = TopK(1000)
        keys = [f"{i} {'x' * 200}" for i in range(1000)]
        f.update(keys)
        Clearing(f)
        gc.set_threshold(50, 1, 1)
        try:
            top = f.top()
        finally:
            gc.set_threshold(*usual)
        assert all(count == 1 and key in keys for key, count in top)


def test_use_after_close():
    f, g = Filter(KEYS), Filter(KEYS)
    f.close()
    f.close()
    assert f.closed and "closed" in repr(f) and f != g
    for call in (lambda: "a" in f, lambda: f.add("a"), lambda: f.update(["a"]), lambda: f.contains_many(["a"]),
                 lambda: f | g, lambda: g | f, lambda: g.__ior__(f), lambda: f & g, lambda: len(f), lambda: f.keys,
                 lambda: f.fpr, lambda: f.copy(), lambda: f.save("x"), lambda: f.to_bytes(), lambda: f.info(),
                 lambda: f.explain("a"), lambda: bool(f), lambda: pickle.dumps(f), lambda: f.issubset(g), f.clear):
        with pytest.raises(ValueError, match="closed"):
            call()
    bare = Filter.__new__(Filter)
    with pytest.raises(ValueError):
        bare.add("x")


def test_damaged_bytes():
    data = Filter(KEYS).to_bytes()
    for at in range(0, len(data), 211):
        flipped = bytearray(data)
        flipped[at] ^= 16
        with pytest.raises(ValueError):
            bloomery.from_bytes(flipped)
    for wrong in (b"", b"BLOOMERY", data[:-1], data + b"x", b"\0" * 300):
        with pytest.raises(ValueError):
            bloomery.from_bytes(wrong)
    with pytest.raises(TypeError):
        bloomery.from_bytes("text")
    with pytest.raises((ValueError, BufferError)):
        bloomery.from_bytes(memoryview(data)[::2])


def test_pickles_with_flipped_bits():
    """In the filter: a ValueError. In what pickle itself wrote around it: an exception, or
    something else altogether, but never a filter that answers wrongly.
    """
    for filter_ in (Counting(KEYS[:100]), Filter(KEYS[:100]), Fuse(KEYS[:100])):
        data = filter_.to_bytes()
        for protocol in (2, 4, 5):
            pickled = pickle.dumps(filter_, protocol)
            inside = pickled.find(data[:100])
            for at in (*range(120), *range(120, len(pickled) - 60, 7), *range(len(pickled) - 60, len(pickled))):
                flipped = bytearray(pickled)
                flipped[at] ^= 1 << at % 8
                try:
                    found = pickle.loads(flipped)
                except Exception as e:  # noqa: BLE001
                    assert protocol == 2 or not inside <= at < inside + len(data) or type(e) is ValueError, (at, e)
                else:
                    assert protocol == 2 or not inside <= at < inside + len(data), at
                    assert not isinstance(found, Filter) or found == filter_, at


def test_damaged_files(tmp_path):
    path = tmp_path / "f.bloom"
    data = Filter(range(300_000)).to_bytes()
    path.write_bytes(data[:-9])
    for opened in (bloomery.load, bloomery.open):
        with pytest.raises(ValueError, match="f.bloom"):
            opened(path)
    data = Filter(keys=2_000_000).to_bytes()
    path.write_bytes(data[:2_000_000] + b"x" + data[2_000_001:])
    for opened in (bloomery.load, bloomery.open, Filter.open):
        with pytest.raises(ValueError, match="f.bloom"):
            opened(path)
    with Filter.open(path, verify=False) as unverified, pytest.raises(ValueError):
        unverified.verify()
    for opened in (bloomery.load, bloomery.open):
        with pytest.raises(FileNotFoundError):
            opened(tmp_path / "none")
        with pytest.raises(OSError):
            opened(tmp_path)
        with pytest.raises(ValueError):
            opened("nul\0byte")
        with pytest.raises(TypeError):
            opened(3.5)
    with pytest.raises(OSError):
        Filter(keys=5).save(tmp_path / "no" / "folder")
    assert os.listdir(tmp_path) == ["f.bloom"]
    with pytest.raises(TypeError, match="counting filter: bloomery.Counting"):
        Scalable.from_bytes(Counting(KEYS).to_bytes())


def test_threads_on_one_filter():
    """Readers, writers, and one that closes: right answers or ValueError, whatever the order."""
    f = Scalable(keys=10)
    f.update(range(1000))
    failures = []
    numbers = numpy.arange(50_000)

    def run(work):
        try:
            for i in range(6):
                work(i)
        except ValueError as e:
            if "closed" not in str(e):
                failures.append(e)
        except Exception as e:  # noqa: BLE001
            failures.append(e)

    def right(_):
        assert f.contains_many(numbers[:1000]).all() and 7 in f

    other = Scalable(keys=10)
    works = [lambda i: f.update(numbers + i * 50_000), right, right, lambda _: f.add("x"), lambda _: f.to_bytes(),
             lambda _: len(f), lambda _: f.__ior__(other), lambda _: other.__ior__(f), lambda _: f == other,
             lambda i: f.update([str(k) for k in range(i * 3000, i * 3000 + 3000)])]
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    threads[0].join()
    f.close()
    for thread in threads:
        thread.join()
    assert failures == []


def test_other_threads_run_meanwhile(tmp_path):
    """Bulk work and work on files give up Python's lock: another thread gets on before it ends.

    The other thread wants the lock from the moment on in which the work begins, and for an hour
    nobody takes it from the thread that has it: the other one runs only if the work gives the lock
    up. A busy machine may let it wait until the work is done; then the work is done again.
    """
    f = Filter(keys=1000, kind="classic", probes=64)
    keys = numpy.arange(1_000_000, dtype="uint64")
    large, path = Filter(keys=100, bytes=30_000_000), tmp_path / "large.bloom"
    large.update(keys)
    data = large.to_bytes()
    works = [lambda: f.update(keys), lambda: f.contains_many(keys), lambda: large.save(path), lambda: bloomery.load(path),
             lambda: bloomery.open(path), large.to_bytes, lambda: bloomery.from_bytes(data), large.copy,
             large.info, lambda: large | large, lambda: large.fold(2), large.pack, lambda: Fuse(keys)]
    ready, begin, ended, ran = threading.Semaphore(0), threading.Semaphore(0), False, []

    def note():
        ready.release()
        while begin.acquire() and not ended:
            ran.append(True)

    usual = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    other = threading.Thread(target=note)
    other.start()
    try:
        ready.acquire()
        for work in works:
            for _ in range(50):
                begin.release()
                before = len(ran)
                work()
                after = len(ran)
                if after > before:
                    break
            assert after > before
    finally:
        ended = True
        begin.release()
        other.join()
        sys.setswitchinterval(usual)


# ---- Arrow's C data interface, from its description, since Debian has no pyarrow -----------------


class ArrowSchema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class ArrowArray(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Column:
    """What a library with Arrow columns hands out."""

    def __init__(self, form, length, *buffers, offset=0, nulls=0):
        self.held = [None if b is None else ctypes.create_string_buffer(b, max(1, len(b))) for b in buffers]
        self.pointers = (ctypes.c_void_p * len(buffers))(
            *(None if b is None else ctypes.addressof(b) for b in self.held))
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda what: None)
        self.schema = ArrowSchema(form, release=ctypes.cast(self.release, ctypes.c_void_p))
        self.array = ArrowArray(length, nulls, offset, len(buffers), 0,
                                ctypes.cast(self.pointers, ctypes.POINTER(ctypes.c_void_p)),
                                release=self.schema.release)

    def __arrow_c_array__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return (new(ctypes.addressof(self.schema), b"arrow_schema", None),
                new(ctypes.addressof(self.array), b"arrow_array", None))


def test_arrow():
    words = ["a", "bcd", "", "äö"]
    data = "".join(words).encode()
    ends = numpy.cumsum([0] + [len(w.encode()) for w in words])
    for form, dtype in ((b"u", "<i4"), (b"z", "<i4"), (b"U", "<i8"), (b"Z", "<i8")):
        offsets = ends.astype(dtype).tobytes()
        assert same(Column(form, 4, None, offsets, data), words)
        assert same(Column(form, 2, None, offsets, data, offset=1), words[1:3])
        assert same(Column(form, 4, b"\x0f", offsets, data, nulls=-1), words)
        with pytest.raises(ValueError, match="nulls"):
            Filter(keys=10).update(Column(form, 4, b"\x0d", offsets, data, nulls=1))
        assert Filter(words).contains_many(Column(form, 4, None, offsets, data)).all()
    for form, dtype in zip(b"cCsSiIlL", "i1 u1 i2 u2 i4 u4 i8 u8".split()):
        numbers = numpy.array([1, 2, 100, 3]).astype(dtype)
        assert same(Column(bytes([form]), 4, None, numbers.tobytes()), [1, 2, 100, 3])
        assert same(Column(bytes([form]), 2, None, numbers.tobytes(), offset=2), [100, 3])
    for form in (b"g", b"+l", b"", b"tdD"):
        with pytest.raises(TypeError, match="Arrow"):
            Filter(keys=10).update(Column(form, 1, None, b"12345678"))
    # Places in a dictionary of words.
    encoded = Column(b"i", 4, None, numpy.array([0, 1, 0, 2], "<i4").tobytes())
    dictionary = ArrowSchema(b"u")
    encoded.schema.dictionary = ctypes.addressof(dictionary)
    for call in (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse):
        with pytest.raises(TypeError, match=r"dictionary_decode\(\)"):
            call(encoded)
    with pytest.raises(ValueError, match="ascend"):
        Filter(keys=10).update(Column(b"u", 2, None, numpy.array([5, 2, 1], "<i4").tobytes(), b"abcdefgh"))
    assert Map([(1, 5), (2, 6)]).get_many(Column(b"l", 2, None, numpy.array([2, 1], "<i8").tobytes()))[0].tolist() == [
        6, 5]


def test_arrow_arrays_that_are_none():
    """Released ones, and those without the buffers that they need."""
    numbers = numpy.arange(4, dtype="<i8").tobytes()
    calls = (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse)
    for part in ("schema", "array"):
        taken = Column(b"l", 4, None, numbers)
        getattr(taken, part).release = None
        for call in calls:
            with pytest.raises(ValueError, match="released"):
                call(taken)
    lacking = [Column(b"l", 4, None, None), Column(b"u", 1, None, None, None), Column(b"l", 4, None),
               Column(b"u", 1, None, bytes(8)), Column(b"l", -1, None, numbers), Column(b"l", 4, None, numbers, offset=-1),
               Column(b"l", 2**62, None, numbers), Column(b"l", 2**62, None, numbers, offset=2**62, nulls=1)]
    lacking.append(Column(b"l", 4, None, numbers))
    lacking[-1].array.buffers = None
    for column in lacking:
        for call in calls:
            with pytest.raises(ValueError, match="lacks the buffers"):
                call(column)
    assert same(Column(b"l", 0, None, None), []) and same(Column(b"u", 0, None, None, None), [])
    assert same(Column(b"u", 2, None, bytes(12), None), ["", ""])

    class Odd:
        def __init__(self, given):
            self.given = given

        def __arrow_c_array__(self):
            return self.given

    capsules = Column(b"l", 4, None, numbers).__arrow_c_array__()
    for given in (None, (), (1, 2), capsules[::-1], capsules[:1], [*capsules], (capsules[0], capsules[0])):
        for call in calls:
            with pytest.raises((TypeError, ValueError)):
                call(Odd(given))


def test_to_numpy():
    class Series:
        def to_numpy(self):
            return numpy.array(["a", "b"], dtype=object)

        def __len__(self):
            return 2
    assert same(Series(), ["a", "b"])
    assert Filter(Series()).contains_many(Series()).all()
    top = TopK(5)
    top.update(Series())
    assert dict(top.top()) == {"a": 1, "b": 1}


def test_conversions_without_end():
    """What is converted to something that wants to be converted is given up."""
    class Itself:
        def to_numpy(self):
            return self

    class Another:
        def to_numpy(self):
            return Another()

    class Turning:
        def to_numpy(self):
            return Itself()

        def __iter__(self):
            return iter(["a"])

    class Raising:
        def to_numpy(self):
            raise ZeroDivisionError

    class Listing:
        def tolist(self):
            return self

        def __iter__(self):
            return iter(["a"])

    for call in (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse, CountMin().count_many):
        for endless in (Itself, Another, Turning):
            with pytest.raises(TypeError, match=r"to_numpy\(\) or tolist\(\)"):
                call(endless())
        with pytest.raises(ZeroDivisionError):
            call(Raising())
    assert same(Listing(), ["a"])


def test_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed (Debian: python3-pandas)")
    Series = pandas.Series
    for column, keys in [(Series(["a", "b"]), ["a", "b"]), (Series([b"a", "b"]), [b"a", "b"]), (Series([1, -2]), [1, -2]),
                         (Series(["a", "b"], dtype="string"), ["a", "b"]), (Series([1, 2], dtype="Int64"), [1, 2]),
                         (Series([1, 2], dtype="uint8"), [1, 2]), (Series(range(10))[::3], [0, 3, 6, 9]),
                         (Series(["a", "b", "a"], dtype="category"), ["a", "b", "a"]), (Series([], dtype="int64"), []),
                         (pandas.Index(["a", "b"]), ["a", "b"]), (pandas.RangeIndex(5), range(5)),
                         (pandas.DataFrame({"x": [1, 2], "y": [3, 4]})["y"], [3, 4]), (pandas.array(["a"]), ["a"])]:
        assert same(column, keys), column
        if len(keys):
            assert Filter(column).contains_many(column).all() and CountMin().count_many(column).sum() == 0
            assert Fuse(column.unique() if hasattr(column, "unique") else column).contains_many(column).all()
    table = pandas.DataFrame({"mail": ["a", "b", "c"], "amount": [1, 2, 3]})
    assert list(table[Filter(["a", "c"], fpr=1e-6).contains_many(table["mail"])]["amount"]) == [1, 3]
    for bad in (Series(["a", None]), Series(["a", None], dtype="string"), Series([1, None]), Series([1, None], dtype="Int64"),
                Series(["a", None], dtype="category"), Series([1.5]), Series(pandas.to_datetime(["2026-01-01"])),
                Series(pandas.to_datetime(["2026-01-01"], utc=True)), Series(pandas.to_timedelta(["1 day"])), Series([[1]])):
        for call in (Filter(keys=10).update, Filter(keys=10).contains_many, Fuse):
            with pytest.raises(TypeError):
                call(bad)
    with pytest.raises(ValueError, match="one dimension"):
        Filter(keys=10).update(table[["amount", "amount"]])
