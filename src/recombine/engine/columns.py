"""Values of a column as Parquet has them: numbers exactly, pictures and maps coarsely."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np


def column(values: list[Any]) -> Any:
    """Values as Parquet has them; arrays of two or more axes are only looked at, and are stored coarsely."""
    import pyarrow as pa

    values = [_stacked(v) for v in values]
    axes = {v.ndim for v in values if isinstance(v, np.ndarray) and v.ndim >= 2 and v.dtype.kind == "f"}
    listed = [_listed(coarse(v) if isinstance(v, np.ndarray) and v.ndim in axes else v) for v in values]
    if len(axes) != 1:
        return listed
    kind = pa.float32()
    for _ in range(axes.pop()):
        kind = pa.list_(kind)
    return pa.array(listed, type=kind)


def _stacked(value: Any) -> Any:
    """A list of lists as one array, where they are of one length."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple | np.ndarray):
        with suppress(ValueError):
            return np.array(value)
    return value


def coarse(array: np.ndarray) -> np.ndarray:
    """Each number as the nearest float32 with 8 significant bits: a relative error of 2**-8 at most; NaN, inf stay."""
    largest = float.fromhex("0x1.fep127")
    held = np.where(np.isfinite(array), np.clip(array, -largest, largest), array).astype(np.float32)
    bits = held.view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(held), nearest.view(np.float32), held)


def nesting(kind: Any) -> int:
    """How deeply lists are nested in a column: 2 or more for pictures and maps."""
    import pyarrow as pa

    return 1 + nesting(kind.value_type) if pa.types.is_list(kind) else 0


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
