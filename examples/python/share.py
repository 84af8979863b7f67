#!/usr/bin/python3
"""One filter for many processes: saved once, mapped by each, in memory once for all of them."""

import multiprocessing
import os
import tempfile

from bloomery import Filter


def count_known(arguments):
    path, first = arguments
    with Filter.open(path) as known:  # no copy: the processes share the pages of the file
        return int(known.contains_many(range(first, first + 50_000)).sum())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "known.bloom")
        Filter(range(100_000), fpr=0.001).save(path)
        with multiprocessing.Pool(2) as pool:
            counts = pool.map(count_known, [(path, first) for first in range(0, 200_000, 50_000)])
        print(counts)
        assert counts[:2] == [50_000, 50_000] and max(counts[2:]) < 150
