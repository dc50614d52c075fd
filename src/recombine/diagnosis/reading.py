"""Reads what a caller gives: arrays of any framework, and which examples were trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recombine.core import Split, UserError
from recombine.diagnosis.factors import Factor


def as_array(values: Any, name: str) -> np.ndarray:
    """Tensors, lists and arrays as NumPy arrays; half precision becomes single."""
    if values is None:
        raise UserError(f"{name} are missing")
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) in ("torch.bfloat16", "torch.float16") else values
    found = np.asarray(values)
    if found.dtype == np.float16 or found.dtype.kind == "V" or str(found.dtype) == "bfloat16":
        found = found.astype(np.float32)
    if not found.ndim:
        raise UserError(f"{name} are a single number; the first axis counts examples")
    return found


def read_trained(trained: Any, factors: tuple[Factor, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """A mask per example, from a mask or from a list of the combinations trained on (as labels); and notes.

    A list may name combinations that the data lack; a note says how many, since a label may also be misspelt.
    """
    n = len(factors[0].codes)
    if trained is None:
        return np.zeros(n, bool), ()
    if isinstance(trained, Split):
        raise UserError("trained is a mask: write split.train, one boolean per example")
    if isinstance(trained, Mapping):
        if missing := [f.name for f in factors if f.name not in trained]:
            raise UserError(f"trained lacks the factor {missing[0]!r}: give one list of labels per factor")
        trained = list(zip(*(np.asarray(trained[f.name]).tolist() for f in factors), strict=True))
    found = as_array(trained, "trained")
    if found.dtype != bool and found.shape == (n,) and set(np.unique(found).tolist()) <= {0, 1}:
        found = found.astype(bool)
    if found.dtype == bool and found.shape == (n,):
        return found, ()
    if found.ndim != 2 or found.shape[1] != len(factors) or found.dtype == bool:
        raise UserError(
            f"trained is one boolean per example ({n}), or a list of combinations of {len(factors)} labels;"
            f" got {found.dtype} of shape {found.shape}"
        )
    if any(f.continuous for f in factors):
        raise UserError("with a continuous factor, trained must be one boolean per example")
    coded = zip(*(_coded(column, f) for column, f in zip(found.T, factors, strict=True)), strict=True)
    listed = {tuple(map(str, row)): code for row, code in zip(found.tolist(), coded, strict=True)}
    mine = list(zip(*(f.codes.tolist() for f in factors), strict=True))
    rows = set(listed.values())
    mask = np.array([row in rows for row in mine])
    if len(found) and not mask.any():
        labels = ", ".join(f.values[0] for f in factors)
        raise UserError(
            f"none of the {len(found)} combinations in trained matches the factors' labels: {_words(found[0])} is asked"
            f" for, and labels are like ({labels})"
        )
    there = set(mine)
    absent = sum(code not in there for code in listed.values())
    note = f"{absent} of the {len(listed)} combinations in trained are not in the data, or are written otherwise there"
    return mask, (note,) if absent else ()


def _words(row: np.ndarray) -> str:
    return f"({', '.join(map(str, row))})"


def _coded(column: np.ndarray, factor: Factor) -> list[int]:
    places = {word: i for i, word in enumerate(factor.values)}
    if factor.ordered:
        return [places.get(_number(v), places.get(str(v), -1)) for v in column]
    return [places.get(str(v), -1) for v in column]


def _number(label: Any) -> str:
    try:
        return f"{float(label):g}"
    except ValueError:
        return str(label)
