"""What is inside, layer by layer: decodability, additive share, geometry and kernels, each beside its control.

None of it decides the verdict: no measure of hidden layers was found to predict composition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recombine.diagnosis.evidence import Evidence, as_array, sampled
from recombine.measures import ridge
from recombine.measures.additive import additive_share_of_rows
from recombine.measures.anova import ratio
from recombine.measures.gap import Interval, gap
from recombine.measures.geometry import factorisation_from_zero, hole_depth, log_volume, neighbour_differences
from recombine.measures.schmidt import grouped_schmidt_values
from recombine.measures.similarity import agreement, and_kernel, cosine_matrix, near, or_kernel, same
from recombine.measures.spectrum import effective_rank

PER_UNIT = 4
"""Examples per unit that a probe needs."""
WIDE, DIRECTIONS = 2048, 512
"""A layer with more units than the first is projected on so many random directions."""
SHUFFLES = 5
_CELLS = 900
_NUMBERS = 2**25


@dataclass(frozen=True)
class Layer:
    """The measures of one layer; None where the data do not allow one, and `silent` says why."""

    name: str
    units: int
    decodability: dict[str, Interval] = field(default_factory=dict)
    shuffled: dict[str, float] = field(default_factory=dict)
    few: bool = False
    additive_share: float | None = None
    additive_shuffled: float | None = None
    factorisation: float | None = None
    log_volume: float | None = None
    hole_depth: float | None = None
    exact: bool = False
    and_agreement: float | None = None
    or_agreement: float | None = None
    shuffled_agreement: float | None = None
    schmidt: dict[str, float] = field(default_factory=dict)
    spectrum: dict[str, tuple[float, ...]] = field(default_factory=dict)
    kernel: np.ndarray | None = None
    silent: tuple[str, ...] = ()


class Clock:
    """Seconds by measure."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def measured(e: Evidence, clock: Clock, notes: list[str]) -> list[Layer]:
    """All layers, in the model's order, and the output last."""
    given = {**e.layers, "output": e.answers.given if e.output is None else e.output}
    found = []
    for name, values in given.items():
        with clock("reading"):
            acts = _flat(name, values, notes)
        if acts is not None:
            found.append(_layer(e, name, acts, clock))
    return found


def of_target(e: Evidence, clock: Clock) -> Layer:
    """What a probe reads off the targets themselves: what any right answer would allow."""
    with clock("decodability"):
        acts, silent = _flat("target", e.answers.truth, []), []
        said = {} if acts is None else _decodability(e, "target", acts, acts, silent)
    return Layer("target", e.answers.truth.shape[1], silent=tuple(silent), **said)


def on_new(e: Evidence) -> bool:
    """Are probes scored on new combinations? If there are none, they are on some of the seen ones."""
    return bool(e.new.sum() >= 2)


def _flat(name: str, values: Any, notes: list[str]) -> np.ndarray | None:
    """A layer as (examples, units) in single precision, projected where it is very wide; none where it has a NaN."""
    acts = as_array(values, f"the layer {name!r}")
    if acts.dtype.kind not in "fiub":
        notes.append(f"the layer {name!r} has values of type {acts.dtype}, not numbers: it is left out")
        return None
    flat = acts.reshape(len(acts), -1)
    if flat.shape[1] > WIDE:
        notes.append(projection_note(name, flat.shape[1]))
        flat = projected(flat)
    with np.errstate(over="ignore"):  # what single precision cannot hold is counted below
        flat = flat.astype(np.float32, copy=False)
    bad = int(np.sum(~np.isfinite(flat).all(axis=1)))
    if bad:
        notes.append(f"the layer {name!r} has a NaN or an infinity in {bad} of {len(flat)} examples: it is left out")
        return None
    return flat


def projection_note(name: str, units: int) -> str:
    """What is lost where a wide layer is looked at along random directions."""
    off = 1 / np.sqrt(DIRECTIONS)
    return f"the layer {name!r} has {units:,} units, seen along {DIRECTIONS} random directions (cosines ± {off:.2f})"


def projected(flat: np.ndarray) -> np.ndarray:
    """Rows along fixed random directions, the same for every batch; distances are kept in the mean."""
    rng, out = np.random.default_rng(flat.shape[1]), np.zeros((len(flat), DIRECTIONS), np.float32)
    for left in range(0, flat.shape[1], 4096):
        block = flat[:, left : left + 4096].astype(np.float32)
        out += block @ rng.standard_normal((block.shape[1], DIRECTIONS), np.float32)
    return out / np.sqrt(np.float32(DIRECTIONS))


def _layer(e: Evidence, name: str, acts: np.ndarray, clock: Clock) -> Layer:
    said: dict[str, Any] = {}
    silent: list[str] = []
    steps: tuple[tuple[str, Callable[..., dict[str, Any]]], ...] = (
        ("decodability", _decodability),
        ("additive share", _additive),
        ("geometry", _geometry),
        ("kernels", _kernels),
    )
    with clock("reading"):
        means = e.by_combination(acts)
    for measure, compute in steps:
        with clock(measure):
            said |= compute(e, name, acts, means, silent)
    return Layer(name, acts.shape[1], silent=tuple(silent), **said)


def _decodability(e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]) -> dict[str, Any]:
    """Ridge fitted on seen combinations and scored on new ones (on left-out seen ones, if there are no new ones)."""
    test = e.new if on_new(e) else e.seen & (np.random.default_rng(1).random(len(e.seen)) < 0.2)
    fit, score = (e.seen & ~test)[e.of], test[e.of]
    if fit.sum() < 2 or score.sum() < 2:
        silent.append("decodability: too few combinations to fit on some and score on others")
        return {}
    columns, owners = _labels(e)
    rng = np.random.default_rng(0)
    shuffles = [rng.permutation(len(e.combinations)) for _ in range(SHUFFLES)]
    first = np.unique(e.of, return_index=True)[1]  # one example of each combination has its labels
    wanted = np.concatenate([columns, *(columns[first[order]][e.of] for order in shuffles)], axis=1)
    guesses = ridge.ridge_predictions(acts[fit], wanted[fit], acts[score])
    missed = e_of_rows(e, score, (wanted[score] - guesses) ** 2)[test]
    spread = e_of_rows(e, score, (wanted[score] - wanted[score].mean(axis=0)) ** 2)[test]
    few = bool(fit.sum() < PER_UNIT * acts.shape[1])
    if few:
        silent.append(f"decodability: {fit.sum()} examples for {acts.shape[1]} units, {PER_UNIT} per unit are needed")
    size, real, control = columns.shape[1], {}, {}
    for i, factor in enumerate(e.names):
        own = np.flatnonzero(owners == i)
        missed_share = gap(missed[:, own].sum(axis=1), spread[:, own].sum(axis=1), [0.0, 0.0])
        real[factor] = Interval(1 - missed_share.value, 1 - missed_share.high, 1 - missed_share.low)
        moved = [own + k * size for k in range(1, SHUFFLES + 1)]
        control[factor] = float(np.mean([1 - ratio(missed[:, m].sum(), spread[:, m].sum()) for m in moved]))
    return {"decodability": real, "shuffled": control, "few": few}


def e_of_rows(e: Evidence, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Means by combination of values that only some examples have."""
    whole = np.zeros((len(e.of), values.shape[1]))
    whole[rows] = values
    return e.by_combination(whole, rows)


def _labels(e: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """What a probe is to read: numbers as they are, words as one-hot; and which factor each column belongs to."""
    columns, owners = [], []
    for i, f in enumerate(e.factors):
        block = f.numbers[:, None] if f.numbers is not None else (f.codes[:, None] == np.arange(len(f.values)))
        block = np.asarray(block, float)
        columns.append((block - block.mean(axis=0)) / np.maximum(block.std(axis=0), 1e-12))
        owners += [i] * block.shape[1]
    return np.concatenate(columns, axis=1), np.array(owners)


def _additive(e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]) -> dict[str, Any]:
    shuffled = np.random.default_rng(0).permutation(len(means))
    shares = [additive_share_of_rows(rows, e.combinations) for rows in (means, means[shuffled])]
    return {"additive_share": shares[0], "additive_shuffled": shares[1]}


def _geometry(e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]) -> dict[str, Any]:
    """Exact derivatives where the door gave them, else differences between neighbours."""
    if name in e.geometry:
        g, there, exact = e.geometry[name], np.ones(len(e.combinations), bool), True
    elif not e.ordered.all() or e.continuous:
        silent.append("geometry: factors must be whole numbers in order, or the model differentiable in all of them")
        return {}
    else:
        wide = means.size * len(e.factors) > _NUMBERS and means.shape[1] > DIRECTIONS
        tangents, there = neighbour_differences(projected(means) if wide else means, e.combinations)
        g, exact = tangents @ tangents.swapaxes(-1, -2), False
    if there.sum() < 2:
        silent.append("geometry: no combination has a neighbour along every factor")
        return {}
    g = g[there]
    volumes, held_out, seen = log_volume(g), e.new[there], e.seen[there]
    depth = hole_depth(volumes, held_out, seen) if held_out.any() and seen.any() else None
    said = {"factorisation": factorisation_from_zero(g), "log_volume": float(volumes.mean()), "hole_depth": depth}
    return {**said, "exact": exact}


def _kernels(e: Evidence, name: str, acts: np.ndarray, means: np.ndarray, silent: list[str]) -> dict[str, Any]:
    """Cosines of centred means of new combinations with all others, beside the AND and the OR kernel of the factors."""
    if e.continuous:
        silent.append("kernels: with a continuous factor no two examples share a value")
        return {}
    rows = sampled(np.arange(len(means)), _CELLS)
    z, new = e.combinations[rows], e.new[rows]
    centred = means[rows] - means[rows].mean(axis=0)
    kernel = cosine_matrix(centred, centred)
    match = near(1.0) if e.ordered.all() else same
    block = (new if new.any() else np.ones(len(rows), bool)), None
    both = [agreement(kernel, reference(z, z, match), *block) for reference in (and_kernel, or_kernel)]
    order = np.random.default_rng(0).permutation(len(rows))
    control = agreement(kernel[np.ix_(order, order)], and_kernel(z, z, match), *block)
    said = {"and_agreement": both[0], "or_agreement": both[1], "shuffled_agreement": control, "kernel": kernel}
    if len(rows) < len(means) or len(z) != np.prod([len(np.unique(part)) for part in z.T]):
        silent.append("Schmidt spectrum: every combination of the grid must be there, and at most 900 of them")
        return said
    values = {name: grouped_schmidt_values(kernel, z, i) for i, name in enumerate(e.names)}
    ranks = {name: float(effective_rank(v)) for name, v in values.items()}
    return {
        **said,
        "schmidt": ranks,
        "spectrum": {n: tuple((v / v[0]).tolist()[:8]) for n, v in values.items() if v[0]},
    }
