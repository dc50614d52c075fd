"""The nouns of the lab, and nothing else: Task, Split, Model, Record, Claim with its Check and Variant.

Everything here is plain data over NumPy arrays, so that naming a noun costs no import of a framework.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations as choose
from math import inf, isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

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
        z = as_combinations(self.combinations)
        if not len(z) or len(np.unique(z, axis=0)) != len(z):
            raise ValueError(f"{self.name}: combinations must be distinct rows over parts, got shape {z.shape}")
        if not callable(self.sample):
            raise TypeError(f"{self.name}: sample is a function of (z, key), got {self.sample!r}")
        object.__setattr__(self, "combinations", z)

    def __repr__(self) -> str:
        return f"Task({self.name}: {len(self.combinations)} combinations)"


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Which combinations are trained on: a boolean mask, so that no combination can be on both sides.

    `absent` is the value of a part that is not there: 0 in a k-hot mask. The first `world` columns do not name parts
    but the world a combination lives in, such as its teacher; only worlds that are trained in count.
    """

    combinations: np.ndarray
    train: np.ndarray
    absent: int = ABSENT
    world: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "combinations", as_combinations(self.combinations))
        object.__setattr__(self, "train", as_mask(self.train, self.combinations.shape[:1]))
        if not 0 <= self.world <= self.combinations.shape[1]:
            raise ValueError(f"world counts leading columns of {self.combinations.shape[1]}, got {self.world}")

    def __repr__(self) -> str:
        return f"Split({self.train.sum()} of {len(self.train)} combinations trained on)"

    @property
    def held_out(self) -> np.ndarray:
        return ~self.train

    @property
    def covers(self) -> bool:
        """Is every value of every part seen somewhere in training?"""
        return bool(np.array_equal(self._present[self.train].any(axis=0), self._present[self._family].any(axis=0)))

    @property
    def connected(self) -> bool:
        """Are all part values seen in training linked by chains of training combinations that share a value?"""
        from scipy.sparse.csgraph import connected_components

        seen = self._present[self.train].astype(np.float32)
        seen = seen[:, seen.any(axis=0)]
        links = seen.T @ seen > 0
        return bool(seen.size) and connected_components(links, directed=False, return_labels=False) == 1

    def coverage(self, k: int) -> float:
        """The share of k-tuples of part values occurring in the family that occur in training."""
        at_least_one(k=k)
        family = _tuples(self._present[self._family], k)
        return len(_tuples(self._present[self.train], k)) / len(family) if len(family) else 1.0

    @property
    def _family(self) -> np.ndarray:
        """The combinations of the worlds in which some combination is trained on; all if there is no training."""
        if not self.world or not self.train.any():
            return np.ones(len(self.train), bool)
        worlds = self.combinations[:, : self.world]
        return (worlds[:, None] == np.unique(worlds[self.train], axis=0)).all(axis=2).any(axis=1)

    @cached_property
    def _present(self) -> np.ndarray:
        """Booleans (combinations, part values): which values each combination has, absent parts left out."""
        parts = self.combinations[:, self.world :].T
        columns = [part == value for part in parts for value in np.unique(part) if value != self.absent]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.train), 0), bool)


def _tuples(present: np.ndarray, k: int) -> np.ndarray:
    """The distinct sets of k part values that occur together in some row, one row each."""
    sizes, found = present.sum(axis=1), [np.empty((0, k), int)]
    for size in np.unique(sizes[sizes >= k]):
        values = np.nonzero(present[sizes == size])[1].reshape(-1, size)
        found += [np.unique(values[:, list(places)], axis=0) for places in choose(range(size), k)]
    return np.unique(np.concatenate(found), axis=0)


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
        if not isinstance(self.acts, Mapping):
            raise TypeError(f'acts are arrays by name, {{"layer0": h}}; got a {type(self.acts).__name__}')
        for name in ("z", "x", "y", "y_hat"):
            object.__setattr__(self, name, _of_record(name, getattr(self, name)))
        object.__setattr__(self, "acts", {name: _of_record(name, a) for name, a in self.acts.items()})
        arrays = self.z, self.x, self.y, self.y_hat, *self.acts.values()
        if not all(a.ndim for a in arrays):
            raise ValueError("the first axis of every array of a record counts its examples; one is a single number")
        lengths = dict(zip(("z", "x", "y", "y_hat", *self.acts), map(len, arrays), strict=True))
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the arrays of a record must be equally long, got lengths {lengths}")
        _check_answers(self.y.shape, self.y_hat.shape)

    def __repr__(self) -> str:
        shapes = {name: a.shape[1:] for name, a in {"x": self.x, "y": self.y, **self.acts}.items()}
        return f"Record({len(self)} examples, {', '.join(f'{name} {shape}' for name, shape in shapes.items())})"

    def __len__(self) -> int:
        return len(self.z)

    def where(self, mask: np.ndarray) -> Record:
        """The same record on some of its examples: one boolean per example."""
        rows = as_mask(mask, (len(self),))
        kept = {name: a[rows] for name, a in self.acts.items()}
        return Record(self.z[rows], self.x[rows], self.y[rows], self.y_hat[rows], kept)

    def answering(self, y_hat: np.ndarray) -> Record:
        """The same examples, answered otherwise (for controls)."""
        return replace(self, y_hat=y_hat)


def _as_array(values: Any) -> np.ndarray:
    """Lists, JAX arrays and PyTorch tensors (on any device, with or without gradients) as a NumPy array."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _of_record(name: str, values: Any) -> np.ndarray:
    try:
        found = _as_array(values)
    except ValueError as error:
        raise ValueError(f"the examples of {name} in a record must have one shape: {error}") from error
    if name in ("y", "y_hat") and found.dtype.kind in "OSU":
        raise ValueError(f"{name} of a record must hold numbers, got an array of {found.dtype}")
    return found


def at_least_one(**sizes: Any) -> None:
    """Refuse a size that is not a whole number of at least 1, by its name."""
    for name, size in sizes.items():
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {size!r}")


def as_combinations(rows: Any) -> np.ndarray:
    """Combinations as an array of rows over parts."""
    found = _as_array(rows)
    if found.ndim != 2 or found.dtype.kind in "OSU":
        got = f"shape {found.shape}" if found.ndim else f"a {type(rows).__name__}"
        raise ValueError(f"combinations are rows over parts, as task.combinations or some of its rows; got {got}")
    return found


def _check_answers(y: tuple[int, ...], y_hat: tuple[int, ...]) -> None:
    """Refuse shapes that NumPy would broadcast; logits may be more than the entries of y along the last axis."""
    if len(y) != len(y_hat) or y[:-1] != y_hat[:-1] or (y != y_hat and 1 in (y[-1], y_hat[-1])):
        raise ValueError(f"y and y_hat must have the same axes, got {y} and {y_hat}")


def as_mask(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A mask of this shape; whole numbers are refused, which NumPy would read as numbers of rows."""
    found = _as_array(mask)
    if found.dtype == bool and found.shape == shape:
        return found
    zeros_and_ones = found.shape == shape and np.all((found == 0) | (found == 1))
    hint = ": write split.train" if isinstance(mask, Split) else ": write mask.astype(bool)" if zeros_and_ones else ""
    raise ValueError(f"a mask is an array of booleans of shape {shape}, got {found.dtype}{found.shape}{hint}")


def as_selection(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A mask of this shape that selects at least one place."""
    found = as_mask(mask, shape)
    if not found.any():
        raise ValueError(f"this mask selects none of {found.size}, so there is nothing to measure")
    return found


@dataclass(frozen=True)
class Check:
    """A number that must lie within bounds before a claim may be judged: a precondition or a control."""

    says: str
    value: Callable[[pd.DataFrame], float]
    at_least: float = -inf
    at_most: float = inf

    def __post_init__(self) -> None:
        _check_numbers(f"the check {self.says!r}", at_least=self.at_least, at_most=self.at_most)
        if self.at_least > self.at_most:
            raise ValueError(f"the check {self.says!r} asks for at least {self.at_least} and at most {self.at_most}")


def _check_numbers(whose: str, **bounds: Any) -> None:
    for name, bound in bounds.items():
        if bound is not None and (not isinstance(bound, Real) or isnan(bound)):
            raise ValueError(f"{name} of {whose} must be a number, got {bound!r}")


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper as an effect per training seed, with the bounds that the effect must keep.

    `effect` gives one number per seed, or a column of them for each rival, picture or depth that `over` names: then
    every column must keep the bounds. `null` is the effect if there were nothing to find. `fits` gives, by seed, 1
    where the networks compared have learnt what they were shown and 0 where they have not; a seed that has not is an
    outcome of its own and not a lost one. `repeats` says what an effect has one number of, where not the seed. With
    `agree`, columns are named "group: score": a group holds or fails only if all of its scores do, else it is mixed.
    `unsettled` names groups that no interval can decide: by group, "undecided" or "mixed", and why.
    """

    name: str
    says: str
    source: str
    effect: Callable[[pd.DataFrame], Any]
    above: float | None = None
    below: float | None = None
    unit: str = ""
    preconditions: tuple[Check, ...] = ()
    controls: tuple[Check, ...] = ()
    fits: tuple[Callable[[pd.DataFrame], Any], ...] = ()
    null: float = 0.0
    over: str = ""
    repeats: str = "seeds"
    agree: bool = False
    unsettled: Callable[[pd.DataFrame], Mapping[str, tuple[str, str]]] | None = None

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError(f"the claim {self.name!r} needs a bound: above=, below= or both")
        _check_numbers(f"the claim {self.name!r}", above=self.above, below=self.below)
        if not callable(self.effect):
            raise TypeError(f"the effect of {self.name!r} is a function of a table, such as recombine.value('mse')")
        for name in ("preconditions", "controls", "fits"):
            if not isinstance(getattr(self, name), tuple | list):
                raise TypeError(f"the {name} of the claim {self.name!r} are a tuple: write {name}=(one,)")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise ValueError(f"the claim {self.name!r} asks for more than {self.above} and less than {self.below}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The open interval in which the effect must lie."""
        return (-inf if self.above is None else self.above, inf if self.below is None else self.below)


class Variant:
    """A protocol choice that the source leaves open or that we made: a name, why it is reasonable, what it changes."""

    def __init__(self, name: str, why: str, **changes: Any):
        self.name, self.why, self.changes = name, why, changes

    def applied(self, settings: Any) -> Any:
        """The settings with this one choice made otherwise; a change may be a function of the settings."""
        return replace(settings, **{k: v(settings) if callable(v) else v for k, v in self.changes.items()})
