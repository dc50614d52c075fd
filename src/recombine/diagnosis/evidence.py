"""What a verdict rests on: examples with factors, targets, outputs and layers, and which combinations were seen.

A combination is seen if one of its examples was trained on. It is new if none was and each of its values was seen with
others. A combination with a value that was never trained on asks for more than composition; it is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.diagnosis.answers import HUGE, Answers, read_answers
from recombine.diagnosis.factors import Factor, read_factors
from recombine.diagnosis.reading import as_array, read_trained
from recombine.measures.recall import nearest_seen

MOST = 20_000
"""Examples that are measured; of more, as many are sampled, evenly over combinations."""


class Later:
    """Some rows of an array on disk, read when they are asked for."""

    def __init__(self, values: np.memmap, rows: np.ndarray) -> None:
        self.values, self.rows, self.shape = values, rows, (len(rows), *values.shape[1:])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: slice) -> np.ndarray:
        return np.asarray(self.values[self.rows[some]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)


@dataclass(frozen=True, eq=False)
class Sample:
    """Which of the `given` examples are measured (`rows`; all if none), with their factors and whether trained on."""

    factors: tuple[Factor, ...]
    trained: np.ndarray
    given: int
    rows: np.ndarray | None = None
    read: tuple[str, ...] = ()  # notes from reading what was trained on

    def take(self, values: Any, name: str) -> Any:
        """Of values of all examples those that are measured; nothing else is read from disk."""
        shaped = values if hasattr(values, "shape") else as_array(values, name)
        if not shaped.shape or len(shaped) != self.given:
            raise UserError(f"{name} has {len(shaped)} examples, but the factors have {self.given}")
        if self.rows is None:
            return shaped
        return Later(shaped, self.rows) if isinstance(shaped, np.memmap) else shaped[self.rows]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of what was read, and what a sample adds to the error."""
        if self.rows is None:
            return self.read
        share = np.sqrt(1 / len(self.rows) - 1 / self.given)
        return (
            *self.read,
            f"{len(self.rows):,} of {self.given:,} examples were sampled, evenly over combinations; a mean over all of"
            f" them moves by about {100 * share:.1f} % of its standard deviation",
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Examples as arrays, and combinations as rows of codes with the examples that they have."""

    factors: tuple[Factor, ...]
    trained: np.ndarray  # per example
    answers: Answers
    layers: Mapping[str, Any]  # by name, (examples, ...), in the model's order; "input" among them
    notes: tuple[str, ...] = ()
    geometry: Mapping[str, np.ndarray] = field(default_factory=dict)  # exact metrics by layer, (combinations, F, F)
    units: Mapping[str, int] = field(default_factory=dict)  # of layers that a door has projected
    output: Any = None  # what the model gave, before it is scaled or turned into a label

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.factors)

    @property
    def ordered(self) -> np.ndarray:
        return np.array([f.ordered for f in self.factors])

    @property
    def continuous(self) -> bool:
        return any(f.continuous for f in self.factors)

    @cached_property
    def at(self) -> np.ndarray:
        """Places (examples, factors) on the axes of codes."""
        return np.stack([f.at for f in self.factors], axis=1)

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        return combined(self.factors, self.trained)

    @property
    def combinations(self) -> np.ndarray:
        return self._rows[0]

    @property
    def of(self) -> np.ndarray:
        """Per example, its combination."""
        return self._rows[1]

    @cached_property
    def seen(self) -> np.ndarray:
        return np.bincount(self.of, weights=self.trained, minlength=len(self.combinations)) > 0

    @cached_property
    def unseen_value(self) -> np.ndarray:
        """Per combination: has it a value that no seen combination has?"""
        known = [np.isin(part, part[self.seen]) for part in self.combinations.T]
        return ~np.all(known, axis=0)

    @property
    def new(self) -> np.ndarray:
        return ~self.seen & ~self.unseen_value

    @cached_property
    def counted(self) -> np.ndarray:
        """Per example: does it enter the error? All of new combinations; of seen ones those that were not trained on,
        if half of the seen combinations have such, else those that were.
        """
        seen = self.seen[self.of]
        fresh = seen & ~self.trained
        enough = np.unique(self.of[fresh]).size >= max(5, 0.5 * self.seen.sum())
        return ~seen | (fresh if enough else self.trained)

    @cached_property
    def distance(self) -> np.ndarray:
        """Per combination, steps to the nearest seen one (with a continuous factor, the mean over its examples)."""
        if not self.seen.any():
            return np.full(len(self.combinations), np.nan)
        if not self.continuous:
            steps = np.zeros(len(self.combinations))
            if not self.seen.all():
                known = self.combinations[self.seen]
                steps[~self.seen] = nearest_seen(known, self.combinations[~self.seen], self.ordered)
            return steps
        known, asked = self.at[sampled(np.flatnonzero(self.trained))], sampled(np.flatnonzero(self.new[self.of]))
        steps = np.zeros(len(self.combinations))
        if len(asked):
            chosen = np.zeros(len(self.of), bool)
            chosen[asked] = True
            each = np.zeros(len(self.of))
            each[asked] = nearest_seen(known, self.at[asked], self.ordered)
            steps = np.nan_to_num(self.by_combination(each, chosen))
        return np.round(steps, 1)

    def by_combination(self, values: np.ndarray, examples: np.ndarray | None = None) -> np.ndarray:
        """Means over the examples of each combination (NaN for none), in double precision."""
        chosen = np.arange(len(self.of)) if examples is None else np.flatnonzero(examples)
        of, size = self.of[chosen], len(self.combinations)
        flat = np.asarray(values).reshape(len(self.of), -1)
        order = np.argsort(of, kind="stable")
        starts = np.searchsorted(of[order], np.arange(size))
        counts = np.bincount(of, minlength=size)
        found = np.full((size, flat.shape[1]), np.nan)
        there = counts > 0
        width = max(1, 2**22 // max(1, len(order)))
        for left in range(0, flat.shape[1], width):  # some columns at a time, to bound memory
            block = flat[chosen[order], left : left + width].astype(float)
            found[there, left : left + width] = np.add.reduceat(block, starts[there], axis=0) / counts[there, None]
        return found if np.ndim(values) > 1 else found[:, 0]


def sampled(rows: np.ndarray, most: int = 4000) -> np.ndarray:
    """At most so many rows, evenly."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int))]


def combined(factors: Sequence[Factor], trained: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The combinations as rows of codes, and per example its combination."""
    codes = np.stack([f.codes for f in factors], axis=1)
    if any(f.continuous for f in factors):
        codes = np.concatenate([codes, _bands(factors, trained, codes)[:, None]], axis=1)
    rows, of = np.unique(codes, axis=0, return_inverse=True)
    return rows[:, : len(factors)], of.reshape(-1)


def _bands(factors: Sequence[Factor], trained: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Half steps from each example of a cell without training to the nearest trained one: cells are cut along them.

    The bins of continuous factors can be coarse beside the distance up to which a model composes.
    """
    at, ordered = np.stack([f.at for f in factors], axis=1), np.array([f.ordered for f in factors])
    cells, of = np.unique(codes, axis=0, return_inverse=True)
    untrained = np.bincount(of.reshape(-1), weights=trained, minlength=len(cells))[of.reshape(-1)] == 0
    bands, known = np.zeros(len(codes), int), at[sampled(np.flatnonzero(trained))]
    if untrained.any() and len(known):
        bands[untrained] = 2 * nearest_seen(known, at[untrained], ordered)
    return bands


def sampling(factors: Any, trained: Any, targets: Any, names: Sequence[str] | None = None) -> Sample:
    """Read the factors and what was trained on, and choose the examples that are measured."""
    read = read_factors(factors, names)
    Sample(read, np.zeros(0, bool), len(read[0].codes)).take(targets, "targets")  # as long as the factors
    mask, notes = read_trained(trained, read)
    if len(mask) <= MOST:
        return Sample(read, mask, len(mask), read=notes)
    rows = evenly(combined(read, mask)[1], mask, MOST)
    return Sample(tuple(f.of_rows(rows) for f in read), mask[rows], len(mask), rows, notes)


def evenly(of: np.ndarray, trained: np.ndarray, most: int) -> np.ndarray:
    """So many examples, evenly over combinations and, within each, over those trained on and those not.

    A combination that was trained on keeps an example that was: else it would be called new.
    """
    rng = np.random.default_rng(0)
    strata = 2 * of + ~trained
    order = rng.permutation(len(of))
    order = order[np.argsort(strata[order], kind="stable")]
    place = np.empty(len(of), int)  # an example's number within its stratum
    place[order] = np.arange(len(of)) - np.searchsorted(strata[order], strata[order])
    turn = rng.permutation(of.max() + 1)[of]
    return np.sort(np.lexsort((~trained, turn, place))[:most])


def gather(
    factors: Any,
    trained: Any,
    targets: Any,
    outputs: Any,
    layers: Mapping[str, Any] | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Evidence:
    """Check and bring together what is known of a model, from arrays of any framework."""
    sample = sampling(factors, trained, targets, names)
    given = {"targets": targets, "outputs": outputs}
    given = {name: sample.take(values, name) for name, values in given.items()}
    return assembled(sample, **given, layers={name: sample.take(v, name) for name, v in (layers or {}).items()})


def assembled(
    sample: Sample,
    targets: Any,
    outputs: Any,
    layers: Mapping[str, Any],
    *,
    notes: Sequence[str] = (),
    units: Mapping[str, int] | None = None,
) -> Evidence:
    """Evidence from the examples of a sample alone."""
    given = as_array(outputs, "outputs")
    answers = read_answers(as_array(targets, "targets"), given, sample.trained)
    told = (*notes, *answers.notes, *sample.notes)
    raw, units = _as_given(given, answers), dict(units or {})
    return Evidence(sample.factors, sample.trained, answers, dict(layers), told, units=units, output=raw)


def _as_given(outputs: np.ndarray, answers: Answers) -> np.ndarray:
    """The outputs as a layer: logits and numbers as they are, labels as one-hot."""
    if outputs.dtype.kind == "f" and np.abs(outputs).max(initial=0.0) < HUGE:
        return outputs
    answered = answers.given.any(axis=0) | answers.truth.any(axis=0)
    return answers.given[:, answered] if answers.labels else answers.given
