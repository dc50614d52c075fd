"""What is inside, layer by layer: decodability, additive share, geometry and kernels, each beside its control.

None of it decides the verdict: no measure of hidden layers was found to predict composition.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recombine.diagnosis import shapes
from recombine.diagnosis.evidence import Evidence
from recombine.diagnosis.kernels import Kernels
from recombine.diagnosis.probes import decodability
from recombine.diagnosis.reading import as_array
from recombine.measures.gap import Interval

WIDE, DIRECTIONS = 2048, 512
"""A layer with more units than the first is projected on so many random directions."""
_AT_ONCE = 2**26
_STILL = 1e-6
"""A layer whose combinations differ by less than this share of its largest number does not vary."""


@dataclass(frozen=True)
class Layer:
    """The measures of one layer; None where the data do not allow one, and `silent` says why.

    `intervals` and `controls` have the names of the measures, `schmidt/FACTOR` for ranks. `if_and` and `if_or` are
    what a layer that is AND, or as near to OR as can be, reads on the same combinations. `how` are the derivatives.
    """

    name: str
    units: int
    decodability: dict[str, Interval] = field(default_factory=dict)
    shuffled: dict[str, float] = field(default_factory=dict)
    few: bool = False
    additive_share: float | None = None
    factorisation: float | None = None
    log_volume: float | None = None
    hole_depth: float | None = None
    how: str | None = None
    and_agreement: float | None = None
    or_agreement: float | None = None
    schmidt: dict[str, float] = field(default_factory=dict)
    spectrum: dict[str, tuple[float, ...]] = field(default_factory=dict)
    intervals: dict[str, Interval] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    if_and: dict[str, float] = field(default_factory=dict)
    if_or: dict[str, float] = field(default_factory=dict)
    kernel: np.ndarray | None = None
    silent: tuple[str, ...] = ()

    def said(self, measure: str) -> str:
        """A number with half its interval, and its control in brackets."""
        value = self.schmidt.get(measure.removeprefix("schmidt/")) if "/" in measure else getattr(self, measure)
        if value is None or not np.isfinite(value):
            return "–"
        interval, control = self.intervals.get(measure), self.controls.get(measure)
        half = "" if interval is None or not np.isfinite(interval.high) else f" ± {interval.high - value:.2f}"
        return f"{value:.2f}{half}" + ("" if control is None else f" ({control:.2f})")


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
    kernels = None if e.continuous else Kernels(e)
    found = []
    for name, values in given.items():
        with clock("reading"):
            acts, units = _flat(name, values, notes)
        if acts is not None:
            found.append(replace(_layer(e, name, acts, kernels, clock), units=e.units.get(name, units)))
    return found


def of_target(e: Evidence, clock: Clock) -> Layer:
    """What a probe reads off the targets themselves: what any right answer would allow."""
    silent: list[str] = []
    with clock("decodability"):
        acts, units = _flat("target", e.answers.truth, [])
        said = {} if acts is None else decodability(e, acts, silent)
    return Layer("target", units, silent=tuple(silent), **said)


def _flat(name: str, values: Any, notes: list[str]) -> tuple[np.ndarray | None, int]:
    """A layer as (examples, units) in single precision, projected where it is very wide; none where it has a NaN.

    And how many units it has. A wide one is read some examples at a time.
    """
    shaped = values if hasattr(values, "shape") else as_array(values, f"the layer {name!r}")
    units = int(np.prod(shaped.shape[1:], dtype=int))
    kind = as_array(shaped[:1], f"the layer {name!r}").dtype
    if kind.kind not in "fiub":
        notes.append(f"the layer {name!r} has values of type {kind}, not numbers: it is left out")
        return None, units
    some = max(1, _AT_ONCE // max(1, units)) if units > WIDE else len(shaped)
    blocks = [as_array(shaped[i : i + some], name).reshape(-1, units) for i in range(0, len(shaped), some)]
    with np.errstate(over="ignore"):  # what single precision cannot hold is counted below
        if units > WIDE:
            notes.append(projection_note(name, units))
            blocks = [projected(block) for block in blocks]
        flat = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
        flat = flat.astype(np.float32, copy=False)
    bad = int(np.sum(~np.isfinite(flat).all(axis=1)))
    if bad:
        notes.append(f"the layer {name!r} has a NaN or an infinity in {bad} of {len(flat)} examples: it is left out")
        return None, units
    return flat, units


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


def _layer(e: Evidence, name: str, acts: np.ndarray, kernels: Kernels | None, clock: Clock) -> Layer:
    """All measures of one layer; what does not vary has a probe alone."""
    silent: list[str] = []
    with clock("reading"):
        means = e.by_combination(acts)
    with clock("decodability"):
        said = decodability(e, acts, silent)
    if np.abs(means - means[:1]).max() <= _STILL * np.abs(means).max():
        silent.append(f"the layer {name!r} is the same for every combination: it has no shape and no kernel")
        return Layer(name, acts.shape[1], silent=tuple(silent), **said)
    told: list[shapes.Told | None] = []
    with clock("additive share"):
        told.append(shapes.additive(e, means))
    with clock("geometry"):
        told.append(shapes.surface(e, name, acts, means, silent))
    more: dict[str, Any] = {"intervals": {}, "controls": {}}
    with clock("kernels"):
        if kernels is None:
            silent.append("kernels: with a continuous factor no two examples share a value")
        else:
            more |= kernels.told(means, silent)
            more |= {f"if_{kind}": readings for kind, readings in kernels.readings.items()}
    for one in (t for t in told if t is not None):
        said |= one.values
        more["intervals"] |= one.intervals
        more["controls"] |= one.controls
    how = shapes.how(e, name) if told[1] is not None else None
    return Layer(name, acts.shape[1], silent=tuple(silent), how=how, **said, **more)


def pure_rows(layers: Sequence[Layer], names: Sequence[str]) -> list[list[str]]:
    """For the table of layers: what a layer that is AND, and one that is OR, would read."""
    for layer in layers:
        if layer.if_and:
            break
    else:
        return []
    rows = []
    for word, reads in (("AND itself", layer.if_and), ("OR itself", layer.if_or)):
        cells = [f"{reads[key]:.2f}" if key in reads else "–" for key in ("and_agreement", "or_agreement")]
        ranks = "; ".join(f"{v:.2f}" for key, v in reads.items() if key.startswith("schmidt/")) or "–"
        rows.append([word, "–", *["–"] * len(names), "–", "–", "–", *cells, ranks])
    return rows
