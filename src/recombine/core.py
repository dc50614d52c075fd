"""The five nouns of the lab, and nothing else: Task, Split, Model, Record, Claim.

Everything here is plain data over NumPy arrays, so that naming a noun costs no import of a framework.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations as choose
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import jax
    import pandas as pd

ABSENT = -1
"""The value of a part that is not there: a stripe is a bump whose other coordinate is absent."""


class UserError(Exception):
    """Something the user can mend; the command line prints it as one line and ends with exit code 2."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """A compositional family: distinct `combinations` of parts, and `sample(z, key) -> (x, y)` for one of them."""

    name: str
    combinations: np.ndarray
    sample: Callable[[jax.Array, jax.Array], tuple[jax.Array, jax.Array]]

    def __post_init__(self) -> None:
        z = self.combinations
        if z.ndim != 2 or len(np.unique(z, axis=0)) != len(z):
            raise ValueError(f"{self.name}: combinations must be distinct rows over parts, got shape {z.shape}")

    def __repr__(self) -> str:
        return f"Task({self.name}: {len(self.combinations)} combinations)"


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Which combinations are trained on: a boolean mask, so that no combination can be on both sides."""

    combinations: np.ndarray
    train: np.ndarray

    def __post_init__(self) -> None:
        if self.train.shape != self.combinations.shape[:1] or self.train.dtype != bool:
            raise ValueError(f"a split is one boolean per combination, got {self.train.dtype}{self.train.shape}")

    def __repr__(self) -> str:
        return f"Split({self.train.sum()} of {len(self.train)} combinations trained on)"

    @property
    def held_out(self) -> np.ndarray:
        return ~self.train

    @property
    def covers(self) -> bool:
        """Is every value of every part seen somewhere in training?"""
        return self.coverage(1) == 1.0

    @property
    def connected(self) -> bool:
        """Are all part values seen in training linked by chains of training combinations that share a value?"""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        seen = [_present(z) for z in self.combinations[self.train]]
        node = {value: i for i, value in enumerate(sorted({v for values in seen for v in values}))}
        edges = [(node[values[0]], node[v]) for values in seen for v in values]
        if not edges:
            return False
        first, second = zip(*edges, strict=True)
        graph = coo_array((np.ones(len(edges)), (first, second)), shape=(len(node), len(node)))
        return connected_components(graph, directed=False, return_labels=False) == 1

    def coverage(self, k: int) -> float:
        """The share of k-tuples of part values occurring in the family that occur in training."""
        family = _tuples(self.combinations, k)
        return len(_tuples(self.combinations[self.train], k)) / len(family) if family else 1.0


def _present(z: np.ndarray) -> list[tuple[int, int]]:
    return [(part, int(value)) for part, value in enumerate(z) if value != ABSENT]


def _tuples(combinations: np.ndarray, k: int) -> set[tuple[tuple[int, int], ...]]:
    return {values for z in combinations for values in choose(_present(z), k)}


class Model(Protocol):
    """A network for one example: `model(x) -> (y, activations by name)`. No batch axis, no hooks."""

    def __call__(self, x: jax.Array, /) -> tuple[jax.Array, dict[str, jax.Array]]: ...


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """What a model did on some examples, as NumPy arrays whose first axis counts the examples."""

    z: np.ndarray
    x: np.ndarray
    y: np.ndarray
    y_hat: np.ndarray
    acts: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {len(a) for a in (self.z, self.x, self.y, self.y_hat, *self.acts.values())}
        if len(lengths) != 1:
            raise ValueError(f"the arrays of a record must be equally long, got lengths {sorted(lengths)}")

    def __repr__(self) -> str:
        shapes = {name: a.shape[1:] for name, a in {"x": self.x, "y": self.y, **self.acts}.items()}
        return f"Record({len(self)} examples, {', '.join(f'{name} {shape}' for name, shape in shapes.items())})"

    def __len__(self) -> int:
        return len(self.z)

    def where(self, rows: np.ndarray) -> Record:
        """The same record on some of its examples (a mask or indices)."""
        kept = {name: a[rows] for name, a in self.acts.items()}
        return Record(self.z[rows], self.x[rows], self.y[rows], self.y_hat[rows], kept)

    def answering(self, y_hat: np.ndarray) -> Record:
        """The same examples, answered otherwise (for controls)."""
        return replace(self, y_hat=y_hat)


@dataclass(frozen=True)
class Check:
    """A number that must be at least a bound before a claim may be judged: a precondition or a control."""

    says: str
    value: Callable[[pd.DataFrame], float]
    at_least: float


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper as an effect per training seed, with the margin that it must exceed.

    `repeats` says what an effect has one number of, where that is not the seed.
    """

    name: str
    says: str
    source: str
    effect: Callable[[pd.DataFrame], pd.Series]
    margin: float
    unit: str = ""
    preconditions: tuple[Check, ...] = ()
    controls: tuple[Check, ...] = ()
    repeats: str = "seeds"
