"""Bloom filters and their family: sets in about ten bits a key.

    >>> from bloomery import Filter
    >>> f = Filter(keys=1_000_000, fpr=0.01)
    >>> f.add("apples")
    >>> "apples" in f
    True

A key is str (its UTF-8), bytes, bytearray, memoryview or an int of 64 bits. The same key has the
same bits in the command-line tool, in Redis, in C and in C++, and all of them open the same files.
docs/python.md is the tour.
"""

import errno as _errno
import os as _os

from . import _core

__version__: str = _core.version
__all__ = [
    "CountMin", "Counting", "Cuckoo", "Filter", "Fuse", "Map", "Plan", "PlanRow", "Ribbon", "Scalable", "Spectral",
    "TopK", "Windowed", "from_bytes", "load", "plan",  # not open: import * would hide the usual one
]

_FORMS = {"any": 0, "text": 1, "integers": 2, "binary": 3}
_HASHES = {"xxh3": 0, "xxh3-secret": 6}


def _number(names, name, what):
    try:
        return names[name]
    except KeyError:
        raise ValueError(f"{what} is {name!r}, but it must be one of {', '.join(names)}") from None


def _array(data, dtype):
    """Answers as an array of numpy, or as a memoryview where there is no numpy."""
    try:
        import numpy
    except ImportError:
        return memoryview(data).cast({"bool": "?", "uint64": "Q"}[dtype])
    return numpy.frombuffer(data, dtype=dtype)


def _mapped(keys, key):
    return keys if key is None else map(key, keys)


def _many(keys, key):
    """Keys that can be counted before they are used."""
    return keys if key is None else [key(k) for k in keys]


def _at(path, opened):
    try:
        return opened()
    except OSError:
        if _os.path.exists(path):
            raise
        raise FileNotFoundError(_errno.ENOENT, _os.strerror(_errno.ENOENT), _os.fspath(path)) from None


class Filter(_core.Filter):
    """A set that answers "surely not" or "probably".

    keys   how many keys are expected, or the keys themselves
    fpr    the highest rate at which an absent key is taken for a present one
    kind   "blocked" (one cache line a key), "split-block" (half of one), "classic", "partitioned"
           or "layered"
    seed   chooses the hash function; filters combine when it is the same
    bits_per_key, bytes   a size instead of a rate
    form   "text", "integers" or "binary": keys of other forms are refused; "any" takes all
    hash   "xxh3", or "xxh3-secret" with a seed that others do not know, for keys of strangers
    key    with keys themselves: a function that makes a key of each
    """

    __slots__ = ("__weakref__",)
    _kinds = ("blocked", "split-block", "classic", "partitioned", "layered")

    def __init__(self, keys=1_000_000, fpr=None, *, kind=None, seed=0, bits_per_key=None, bytes=None, probes=None,
                 form="any", hash="xxh3", key=None, **more):
        kind = self._kinds[0] if kind is None else kind
        if kind not in self._kinds:
            raise ValueError(f"{type(self).__name__} has the kind {' or '.join(self._kinds)}, not {kind!r}")
        options = dict(more, kind=kind, fpr=fpr, seed=seed, bits_per_key=bits_per_key, bytes=bytes, probes=probes,
                       form=_number(_FORMS, form, "form"), hash=_number(_HASHES, hash, "hash"))
        self._fill(options, keys, key)

    def _fill(self, options, keys, key):
        if hasattr(keys, "__index__") and not hasattr(keys, "__len__"):
            if key is not None:
                raise TypeError("key= goes with the keys themselves")
            self._make(dict(options, keys=keys))
            return
        if isinstance(keys, float):
            raise TypeError("keys is a number of keys, an int, or the keys themselves")
        keys = _many(keys, key)
        if not hasattr(keys, "__len__"):
            keys = list(keys)
        self._make(dict(options, keys=max(1, len(keys))))
        self._update(keys)

    def update(self, keys, key=None):
        """Adds many keys: an iterable, list, array of integers or strings, column of pandas or
        Arrow.
        """
        self._update(_mapped(keys, key))

    def contains_many(self, keys, key=None):
        """True or False for each key, as an array of numpy."""
        return _array(self._contains_many(_many(keys, key)), "bool")

    def info(self):
        """What the filter is, as `bloomery info --json` says it."""
        import json
        return json.loads(self._info())

    def explain(self, key):
        """What the filter looks at for a key, and what it finds there."""
        import json
        return json.loads(self._explain(key))

    @classmethod
    def load(cls, path):
        """A copy of a file in memory, verified, that can be changed."""
        return cls._checked(_at(path, lambda: _core.load(path)))

    @classmethod
    def open(cls, path, *, verify=True):
        """A mapped file, which cannot be changed; every checksum is compared first.

        With verify=False it opens at once, whatever its size: for huge files that are known to be
        sound. Damage behind the header of one above 1 MiB then makes wrong answers, until verify()
        finds it.

        Replace such a file by renaming, as save() does. One that is cut short while it is mapped
        ends the process with SIGBUS; load() files that strangers may change.
        """
        return cls._checked(_at(path, lambda: _core.open(path, bool(verify))))

    @classmethod
    def from_bytes(cls, data):
        """A filter from the bytes of to_bytes() or pack(), verified."""
        return cls._checked(_core.from_bytes(data))

    @classmethod
    def _checked(cls, found):
        if issubclass(cls, type(found)) and cls is not type(found):  # somebody's own class
            own = cls.__new__(cls)
            own._take(found)
            return own
        if not isinstance(found, cls):
            raise TypeError(f"this is a {found.kind} filter: bloomery.{type(found).__name__}, not {cls.__name__}")
        return found

    def __reduce_ex__(self, protocol):
        data = self.to_bytes()
        if protocol >= 5:
            import pickle
            data = pickle.PickleBuffer(data)
        return _unpickle, (type(self), data)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        name = f"bloomery.{type(self).__name__}"
        if self.closed:
            return f"<{name}, closed>"
        kind = "" if self.kind == type(self).__name__.lower() else f" {self.kind}"
        mapped = ", mapped" if self.mapped else ""
        return f"<{name}{kind} of {self.keys:,} keys in {self.bytes:,} bytes{mapped}>"


def _unpickle(cls, data):
    return cls.from_bytes(data)


class _Removing(Filter):
    __slots__ = ()

    def remove(self, key):
        """Takes a key out; False when it surely was not in. Remove only what was added."""
        return self._remove([key]) == 1

    def remove_many(self, keys, key=None):
        """Takes many keys out, and returns how many were there."""
        return self._remove(_many(keys, key))


class _Answering(Filter):
    __slots__ = ()

    def count(self, key):
        """How often the key was added; a filter may say more, never less."""
        return memoryview(self._counts([key])).cast("Q")[0]

    def count_many(self, keys, key=None):
        """The counts of many keys, as an array of numpy."""
        return _array(self._counts(_many(keys, key)), "uint64")

    @property
    def most_count(self):
        """A count of this means "at least"."""
        return self._most_count


class _Counted(_Answering):
    __slots__ = ()

    def add(self, key, count=1):
        """Adds a key so many times."""
        if count == 1:
            _core.Filter.add(self, key)
        else:
            self._add_counts([key], [count])

    def update(self, keys, key=None, counts=None):
        """Adds many keys, each once or counts[i] times; a dictionary of counts is taken as such."""
        if counts is None and hasattr(keys, "items") and hasattr(keys, "keys"):
            keys, counts = list(keys.keys()), list(keys.values())
        if counts is None:
            self._update(_mapped(keys, key))
        else:
            self._add_counts(_many(keys, key), counts)


class Counting(_Removing, _Answering):
    """Keys can be removed and are counted.  cell_bits: of a counter; layout: "line" or "classic".
    """

    __slots__ = ()
    _kinds = ("counting",)

    def __init__(self, keys=1_000_000, fpr=None, *, cell_bits=None, layout=None, **options):
        if layout is not None:
            layout = _number({"line": 1, "classic": 2}, layout, "layout")
        super().__init__(keys, fpr, cell_bits=cell_bits, layout=layout, **options)


class Cuckoo(_Removing, _Answering):
    """Keys can be removed, in little space.  bucket_cells: fingerprints in a bucket."""

    __slots__ = ()
    _kinds = ("cuckoo",)

    def __init__(self, keys=1_000_000, fpr=None, *, cell_bits=None, bucket_cells=None, **options):
        super().__init__(keys, fpr, cell_bits=cell_bits, bucket_cells=bucket_cells, **options)


class Scalable(Filter):
    """Grows with the keys; `keys` is where it starts."""

    __slots__ = ()
    _kinds = ("scalable",)

    def __init__(self, keys=10_000, fpr=None, **options):
        super().__init__(keys, fpr, **options)


class Windowed(Filter):
    """Forgets old keys: after so many more, or by time with window= and advance().

    window        how long keys are kept, in the unit of advance(); `keys` may come in that time
    generations   in how many steps it forgets
    """

    __slots__ = ()
    _kinds = ("windowed",)

    def __init__(self, keys=1_000_000, fpr=None, *, window=None, generations=None, **options):
        super().__init__(keys, fpr, window=window, generations=generations, **options)

    def advance(self, now):
        """Says what time it is: an int that never falls."""
        self._advance(now)


class _Static(Filter):
    __slots__ = ()

    def __init__(self, keys, fpr=None, *, cell_bits=None, **options):
        super().__init__(keys, fpr, cell_bits=cell_bits, **options)

    def _fill(self, options, keys, key):
        if hasattr(keys, "__index__") and not hasattr(keys, "__len__"):
            raise TypeError(f"a {type(self).__name__} is made from all of its keys at once, not from their number")
        self._build(options, _many(keys, key), None)


class Fuse(_Static):
    """Static: made from all keys at once; asked often."""

    __slots__ = ()
    _kinds = ("fuse",)


class Ribbon(_Static):
    """Static: made from all keys at once; the smallest."""

    __slots__ = ()
    _kinds = ("ribbon",)


class Map(Filter):
    """A value of 1 to 64 bits for each key, without the keys: made from a dictionary or from pairs.

    An absent key has a value all the same at the rate `fpr`.
    """

    __slots__ = ()
    __iter__ = None  # it has no keys, and m[0], m[1], ... are no list
    _kinds = ("bloomier",)

    def __init__(self, items, fpr=None, *, value_bits=None, **options):
        super().__init__(items, fpr, value_bits=value_bits, **options)

    def _fill(self, options, keys, key):
        pairs = list(keys.items() if hasattr(keys, "items") else keys)
        self._build(options, _many([k for k, _ in pairs], key), [value for _, value in pairs])

    def get(self, key, default=None):
        """The value of a key, or the default when it surely has none."""
        values, found = self._values([key])
        return memoryview(values).cast("Q")[0] if found[0] else default

    def get_many(self, keys, key=None):
        """Two arrays of numpy: the values, and which keys have one."""
        values, found = self._values(_many(keys, key))
        return _array(values, "uint64"), _array(found, "bool")

    def __getitem__(self, key):
        values, found = self._values([key])
        if not found[0]:
            raise KeyError(key)
        return memoryview(values).cast("Q")[0]

    def __setitem__(self, key, value):
        if self._set_values([key], [value]) == 0:
            raise KeyError(key)


class CountMin(_Counted, _Removing):
    """Counts that are never too low, and seldom much too high.

    epsilon   counts are too high by more than this share of all that was added
    delta     with at most this probability
    """

    __slots__ = ()
    _kinds = ("count-min",)

    def __init__(self, keys=None, fpr=None, *, epsilon=None, delta=None, cell_bits=None, update=None, **options):
        if keys is None and fpr is None and epsilon is None and delta is None:
            epsilon, delta = 0.001, 0.01
        if update is not None:
            update = _number({"plain": 1, "conservative": 2}, update, "update")
        super().__init__(0 if keys is None else keys, fpr, epsilon=epsilon, delta=delta, cell_bits=cell_bits,
                         update=update, **options)


class Spectral(_Counted, _Removing):
    """A filter that answers with counts.  update: "selection", "increase" or "recurring"."""

    __slots__ = ()
    _kinds = ("spectral",)

    def __init__(self, keys=1_000_000, fpr=None, *, cell_bits=None, update=None, **options):
        if update is not None:
            update = _number({"selection": 1, "increase": 2, "recurring": 3}, update, "update")
        super().__init__(keys, fpr, cell_bits=cell_bits, update=update, **options)


class TopK(_Counted):
    """The k most frequent keys of a stream.  form="integers" takes integers instead of strings."""

    __slots__ = ()
    _kinds = ("top-k",)

    def __init__(self, k=100, *, keys=1_000_000, **options):
        super().__init__(keys, None, k=k, **options)

    def top(self, raw=False):
        """Pairs of key and count, the largest first. Keys are str; with raw=True they are bytes."""
        pairs = self._top()
        if self.info()["form"] == "integers":
            return [(int.from_bytes(key, "little"), count) for key, count in pairs]
        return pairs if raw else [(key.decode("utf-8", "surrogateescape"), count) for key, count in pairs]


_core.use_classes({
    kind: found
    for found in (Filter, Counting, Cuckoo, Scalable, Windowed, Fuse, Ribbon, Map, CountMin, Spectral, TopK)
    for kind in found._kinds
})

load = Filter.load
open = Filter.open
from_bytes = Filter.from_bytes


def plan(keys, fpr=None, *, bits_per_key=None, bytes=None, probes=None):
    """How large a filter of each kind would be, as rows; shown as a table in notebooks."""
    options = dict(keys=keys, fpr=fpr, bits_per_key=bits_per_key, bytes=bytes, probes=probes)
    from ._plan import Plan
    return Plan(keys, _core.plan(options))


def __getattr__(name):
    if name in ("Plan", "PlanRow"):  # what few programs need is imported when it is asked for
        from . import _plan
        return getattr(_plan, name)
    raise AttributeError(f"module 'bloomery' has no attribute {name!r}")
