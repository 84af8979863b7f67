#!/usr/bin/python3
"""The rows of a table whose column has a value for the first time, chunk by chunk: pandas.

A filter keeps what the chunks before had, so that a file of any length goes through in little
memory.
"""

import io
import sys

try:
    import pandas
except ImportError:
    print("pandas is not installed (Debian: python3-pandas)")
    sys.exit(77)

from bloomery import Filter

table = io.StringIO("mail,amount\n" + "".join(f"user{i % 7000}@example.org,{i}\n" for i in range(20_000)))
seen = Filter(keys=10_000, fpr=1e-6)  # one row in a million may be lost
kept = 0
for chunk in pandas.read_csv(table, chunksize=2_500):
    chunk = chunk.drop_duplicates("mail")  # within the chunk pandas knows it exactly
    new = chunk[~seen.contains_many(chunk["mail"])]
    seen.update(new["mail"])
    kept += len(new)
print(f"{kept:,} of 20,000 rows are the first with their address")
assert kept == 7_000
