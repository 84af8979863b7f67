from typing import Any, NamedTuple, SupportsIndex, overload

class PlanRow(NamedTuple):
    kind: str
    bits_per_key: float
    bytes: int
    probes: int
    fpr: float
    times_lower_bound: float
    lines: int
    can: tuple[str, ...]

class Plan(list[PlanRow]):
    keys: int
    def __init__(self, keys: int, rows: list[tuple[Any, ...]]) -> None: ...
    @overload
    def __getitem__(self, index: SupportsIndex | str) -> PlanRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[PlanRow]: ...
    def _repr_html_(self) -> str: ...
    def plot(self, axes: Any = ...) -> Any: ...
