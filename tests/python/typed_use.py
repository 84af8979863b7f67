"""What a program with types writes: mypy --strict has nothing to say about it. Not run."""

from pathlib import Path

import bloomery
from bloomery import CountMin, Counting, Filter, Map, Plan, TopK

f = Filter(keys=1_000_000, fpr=0.01)
f.add("apples")
f.add(42)
present: bool = "apples" in f
f.update(["a", b"b", 3])
f.update([(1, "x")], key=lambda pair: pair[1])
many = f.contains_many(["a"])
union: Filter = f | f
f |= f
size: int = len(f)
rate: float = f.fpr
data: bytes = f.to_bytes()
f.save(Path("x"))
mapped: Counting = Counting.open("x", verify=False)
gone: bool = mapped.remove("a")
count: int = CountMin(epsilon=0.01).count("a")
value: int = Map({"a": 1})["a"]
default: "int | str" = Map({"a": 1}).get("a", "none")
pairs = TopK(3).top()
rows: Plan = bloomery.plan(1000)
name: str = rows["blocked"].kind
with Filter.open("x") as opened:
    again: Filter = opened
