"""What a verdict rests on: examples with factors, targets, outputs and layers, and which combinations were seen.

A combination is seen if one of its examples was trained on. It is new if none was and each of its values was seen with
others. A combination with a value that was never trained on asks for more than composition; it is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.diagnosis.answers import HUGE, Answers, read_answers
from recombine.diagnosis.factors import Factor, read_factors
from recombine.measures.recall import nearest_seen

MOST = 20_000
"""Examples that are measured; of more, as many are sampled, evenly over combinations."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Examples as arrays, and combinations as rows of codes with the examples that they have."""

    factors: tuple[Factor, ...]
    trained: np.ndarray  # per example
    answers: Answers
    layers: Mapping[str, Any]  # by name, (examples, ...), in the model's order; "input" among them
    notes: tuple[str, ...] = ()
    geometry: Mapping[str, np.ndarray] = field(default_factory=dict)  # exact metrics by layer, (combinations, F, F)
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
        codes = np.stack([f.codes for f in self.factors], axis=1)
        if self.continuous:
            codes = np.concatenate([codes, self._bands(codes)[:, None]], axis=1)
        rows, of = np.unique(codes, axis=0, return_inverse=True)
        return rows[:, : len(self.factors)], of.reshape(-1)

    def _bands(self, codes: np.ndarray) -> np.ndarray:
        """Half steps from each example of a cell without training to the nearest trained one: cells are cut along them.

        The bins of continuous factors can be coarse beside the distance up to which a model composes.
        """
        cells, of = np.unique(codes, axis=0, return_inverse=True)
        untrained = np.bincount(of.reshape(-1), weights=self.trained, minlength=len(cells))[of.reshape(-1)] == 0
        bands, known = np.zeros(len(codes), int), self.at[sampled(np.flatnonzero(self.trained))]
        if untrained.any() and len(known):
            bands[untrained] = 2 * nearest_seen(known, self.at[untrained], self.ordered)
        return bands

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


def gather(
    factors: Any,
    trained: Any,
    targets: Any,
    outputs: Any,
    layers: Mapping[str, Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> Evidence:
    """Check and bring together what is known of a model, from arrays of any framework."""
    read = read_factors(factors, names)
    n = len(read[0].codes)
    targets, outputs = as_array(targets, "targets"), as_array(outputs, "outputs")
    for name, values in (("targets", targets), ("outputs", outputs), *(layers or {}).items()):
        if len(values) != n:
            raise UserError(f"{name} has {len(values)} examples, but the factors have {n}")
    mask = read_trained(trained, read)
    answers = read_answers(targets, outputs, mask)
    notes = (*notes, *answers.notes)
    found = Evidence(read, mask, answers, dict(layers or {}), notes, output=_as_given(outputs, answers))
    return _thinned(found) if n > MOST else found


def _as_given(outputs: np.ndarray, answers: Answers) -> np.ndarray:
    """The outputs as a layer: logits and numbers as they are, labels as one-hot."""
    if outputs.dtype.kind == "f" and np.abs(outputs).max(initial=0.0) < HUGE:
        return outputs
    answered = answers.given.any(axis=0) | answers.truth.any(axis=0)
    return answers.given[:, answered] if answers.labels else answers.given


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


def read_trained(trained: Any, factors: tuple[Factor, ...]) -> np.ndarray:
    """A mask per example, from a mask or from a list of the combinations trained on (as labels)."""
    n = len(factors[0].codes)
    if trained is None:
        return np.zeros(n, bool)
    if isinstance(trained, Mapping):
        if missing := [f.name for f in factors if f.name not in trained]:
            raise UserError(f"trained lacks the factor {missing[0]!r}: give one list of labels per factor")
        trained = list(zip(*(np.asarray(trained[f.name]).tolist() for f in factors), strict=True))
    found = as_array(trained, "trained")
    if found.dtype != bool and found.shape == (n,) and set(np.unique(found).tolist()) <= {0, 1}:
        found = found.astype(bool)
    if found.dtype == bool and found.shape == (n,):
        return found
    if found.ndim != 2 or found.shape[1] != len(factors) or found.dtype == bool:
        raise UserError(
            f"trained is one boolean per example ({n}), or a list of combinations of {len(factors)} labels;"
            f" got {found.dtype} of shape {found.shape}"
        )
    if any(f.continuous for f in factors):
        raise UserError("with a continuous factor, trained must be one boolean per example")
    rows = set(zip(*(_coded(column, f) for column, f in zip(found.T, factors, strict=True)), strict=True))
    mine = zip(*(f.codes.tolist() for f in factors), strict=True)
    mask = np.array([row in rows for row in mine])
    if len(found) and not mask.any():
        labels = ", ".join(f.values[0] for f in factors)
        raise UserError(
            f"none of the {len(found)} combinations in trained matches the factors' labels: {_words(found[0])} is asked"
            f" for, and labels are like ({labels})"
        )
    return mask


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


def _thinned(whole: Evidence) -> Evidence:
    """At most MOST examples, as many of each combination as can be, and the error that this adds."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(whole.of))
    place = np.empty(len(order), int)  # the how-manieth example of its combination
    by = order[np.argsort(whole.of[order], kind="stable")]
    starts = np.searchsorted(whole.of[by], np.arange(len(whole.combinations)))
    place[by] = np.arange(len(by)) - starts[whole.of[by]]
    kept = np.sort(np.argsort(place, kind="stable")[:MOST])
    share = np.sqrt(1 / MOST - 1 / len(order))
    note = (
        f"{MOST:,} of {len(order):,} examples were sampled, evenly over combinations; a mean over all of them moves by"
        f" about {100 * share:.1f} % of its standard deviation"
    )
    a = whole.answers
    factors = tuple(
        Factor(
            f.name, f.values, f.codes[kept], f.at[kept], None if f.numbers is None else f.numbers[kept], f.continuous
        )
        for f in whole.factors
    )
    layers = {name: values[kept] for name, values in whole.layers.items()}
    answers = replace(a, truth=a.truth[kept], given=a.given[kept])
    return Evidence(factors, whole.trained[kept], answers, layers, (*whole.notes, note), output=whole.output[kept])
