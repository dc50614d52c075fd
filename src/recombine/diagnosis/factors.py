"""Turns labels of any kind into factors: a name, its values in order, and one whole number per example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from recombine.core import UserError

BINS = 16
"""The most bins that a continuous factor is cut into."""
PER_BIN = 8
"""Examples per cell that the bins of continuous factors leave on average, at least."""
FEW = 24
"""A factor of fractions with more distinct values than this is continuous."""


@dataclass(frozen=True)
class Factor:
    """One factor: `codes` per example, from 0; `at` is its place on the axis of codes, with fractions if continuous.

    `values` has a word for each code, `numbers` a number per example where labels are numbers.
    """

    name: str
    values: tuple[str, ...]
    codes: np.ndarray
    at: np.ndarray
    numbers: np.ndarray | None = None
    continuous: bool = False

    @property
    def ordered(self) -> bool:
        return self.numbers is not None

    def of_rows(self, rows: np.ndarray) -> Factor:
        """The same factor of some examples."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, codes=self.codes[rows], at=self.at[rows], numbers=numbers)


def read_factors(labels: Any, names: Sequence[str] | None = None) -> tuple[Factor, ...]:
    """Factors from a mapping of names to labels, a table, or an array with one column per factor."""
    columns = _columns(labels, names)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UserError(f"factors must be equally long, got {', '.join(f'{k}: {n}' for k, n in lengths.items())}")
    if len(columns) < 2:
        raise UserError("composition needs two factors or more: give factors={'shape': ..., 'colour': ...}")
    kinds = {name: _kind(name, column) for name, column in columns.items()}
    smooth = [name for name, (_, continuous) in kinds.items() if continuous]
    bins = _bins(next(iter(lengths.values())), len(smooth)) if smooth else 0
    made = tuple(_factor(name, values, continuous, bins) for name, (values, continuous) in kinds.items())
    for factor in made:
        if len(factor.values) < 2:
            raise UserError(
                f"the factor {factor.name!r} has one value only ({factor.values[0]}): leave it out; an array of factors"
                " has a row per example and a column per factor"
            )
    return made


def _columns(labels: Any, names: Sequence[str] | None) -> dict[str, np.ndarray]:
    if hasattr(labels, "columns") and hasattr(labels, "to_numpy"):  # a table of pandas
        labels = {str(name): labels[name].to_numpy() for name in labels.columns}
    if isinstance(labels, Mapping):
        return {str(name): _one_column(str(name), column) for name, column in labels.items()}
    if isinstance(labels, list | tuple) and labels and isinstance(labels[0], list | tuple):
        table = [np.asarray(column) for column in zip(*labels, strict=True)]
    else:
        array = _array(labels)
        if array.ndim != 2:
            raise UserError(f"factors are a dict of labels or an array with one column each, got shape {array.shape}")
        table = list(array.T)
    words = list(names) if names is not None else [f"factor {i}" for i in range(len(table))]
    if len(words) != len(table):
        raise UserError(f"{len(words)} names for {len(table)} factors")
    return {name: _one_column(name, column) for name, column in zip(words, table, strict=True)}


def _one_column(name: str, column: Any) -> np.ndarray:
    found = _array(column)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if not found.size:
        raise UserError(f"there are 0 examples: the factor {name!r} is empty")
    if found.ndim != 1:
        raise UserError(f"the factor {name!r} needs one label per example, got shape {found.shape}")
    return found


def _array(values: Any) -> np.ndarray:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _kind(name: str, column: np.ndarray) -> tuple[np.ndarray, bool]:
    """The labels as numbers or words, and whether they are continuous: fractions with many distinct values."""
    if column.dtype == object:
        numeric = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in column)
        column = column.astype(float) if numeric else column.astype(str)
    if column.dtype.kind in "SUb":
        return column.astype(str), False
    if column.dtype.kind not in "iuf":
        raise UserError(
            f"the factor {name!r} has labels of type {column.dtype}: give whole numbers, words or fractions"
        )
    if column.dtype.kind == "f":
        column = column.astype(float)
        if not np.all(np.isfinite(column)):
            raise UserError(f"the factor {name!r} has a label that is NaN or infinite")
        fractions = bool(np.any(column != np.round(column)))
        return column, fractions and len(np.unique(column)) > FEW
    return column, False


def _bins(examples: int, smooth: int) -> int:
    return int(np.clip((examples / PER_BIN) ** (1 / smooth), 3, BINS))


def _factor(name: str, labels: np.ndarray, continuous: bool, bins: int) -> Factor:
    if continuous:
        low, high = labels.min(), labels.max()
        at = (labels - low) / (high - low) * bins
        edges = np.linspace(low, high, bins + 1)
        words = tuple(f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges))
        return Factor(name, words, np.minimum(at.astype(int), bins - 1), at, labels, True)
    values, codes = np.unique(labels, return_inverse=True)
    numbers = labels.astype(float) if labels.dtype.kind in "iuf" else None
    return Factor(name, tuple(_word(v) for v in values), codes, codes.astype(float), numbers)


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
