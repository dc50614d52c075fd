"""A diagnosis: the verdict on a model with everything that it rests on, as words, as numbers, as a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.diagnosis.behaviour import Behaviour, behaviour
from recombine.diagnosis.collecting import covering
from recombine.diagnosis.coverage import Coverage, coverage, in_words, uncounted_note
from recombine.diagnosis.evidence import Evidence
from recombine.diagnosis.layers import Clock, Layer, measured, of_target
from recombine.diagnosis.rules import rule
from recombine.diagnosis.ruling import COMPOSES, MEMORIZES, PARTLY, SOLVED, Ruling
from recombine.diagnosis.tells import Tells
from recombine.measures.gap import Interval, mean_interval

READ = 0.5
"""A factor can be read off a layer if the interval of R² on new combinations is above this (and .1 above its control),
and cannot if it is below."""


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The verdict on one model; `print(diagnosis)` is a summary, `save` writes the report and all numbers."""

    name: str
    evidence: Evidence
    behaviour: Behaviour
    ruling: Ruling
    tells: Tells | None
    coverage: Coverage
    layers: tuple[Layer, ...]
    notes: tuple[str, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    target: Layer | None = None  # what can be read off the targets: the control of the output

    @property
    def verdict(self) -> str:
        """composes, memorizes, partly or cannot tell."""
        return self.ruling.verdict

    @property
    def why(self) -> str:
        return self.ruling.why

    @cached_property
    def errors(self) -> dict[str, Interval]:
        """Mean errors over combinations, of the model and of each reference on new ones."""
        b, e = self.behaviour, self.evidence
        found = {"seen combinations": b.error(b.seen)} if b.seen.any() else {}
        if not e.new.any():
            return found
        steps = e.distance
        middle = np.median(steps[e.new])
        near, far = e.new & (steps <= middle), e.new & (steps > middle)
        found["new combinations"] = b.error(e.new)
        if far.any():
            word = f"{middle:g} step" + "s" * int(middle != 1)
            found |= {f"new, within {word}": b.error(near), f"new, beyond {word}": b.error(far)}
        if (~e.seen & e.unseen_value).any():
            found["unseen values"] = b.error(~e.seen & e.unseen_value)
        return found | {name: mean_interval(errors[e.new]) for name, errors in b.references.items()}

    @property
    def gap(self) -> Interval | None:
        """The extra error on new combinations as a share of a memory's, with its interval over combinations."""
        return self.behaviour.gap(self.evidence.new) if self.behaviour.references else None

    @cached_property
    def lost(self) -> dict[str, str]:
        """By factor, the last layer that it can be read off, where no later one, nor the output, lets it be read.

        Only where the model has learnt and does not compose, there are new combinations, and the target itself lets
        the factor be read: else the answer need not keep it.
        """
        if self.tells is None or self.verdict == COMPOSES or self.target is None:
            return {}
        found = {}
        for name in self.evidence.names:
            can = [readable(layer, name) for layer in self.layers]
            if True not in can or self.layers[-1].name != "output":
                continue
            last = len(can) - 1 - can[::-1].index(True)
            if last < len(can) - 1 and all(word is False for word in can[last + 1 :]) and readable(self.target, name):
                found[name] = self.layers[last].name
        return found

    @cached_property
    def train_on(self) -> TrainOn | None:
        """New combinations that it fails, to train on next, where it does not compose."""
        return train_on(self.behaviour) if self.verdict in (MEMORIZES, PARTLY) else None

    def __str__(self) -> str:
        from recombine.diagnosis.summary import summary

        return summary(self)

    def __repr__(self) -> str:
        return f"Diagnosis({self.name}: {self.verdict}; {self.why})"

    def numbers(self) -> dict[str, Any]:
        """Every number, as what JSON can hold."""
        told = {
            "name": self.name,
            "verdict": self.verdict,
            "rule": self.ruling.rule,
            "why": self.why,
            "caveats": self.ruling.caveats,
            "composed_factors": self.ruling.factors,
            "factors": {f.name: {"values": f.values, "continuous": f.continuous} for f in self.evidence.factors},
            "examples": len(self.evidence.of),
            "fit": self.behaviour.fit if self.behaviour.seen.any() else None,
            "gap": self.gap,
            "errors": self.errors,
            "coverage": self.coverage,
            "tells": self.tells,
            "lost_after_layer": self.lost,
            "train_on": self.train_on,
            "layers": [{k: v for k, v in asdict(layer).items() if k != "kernel"} for layer in self.layers],
            "target_decodability": self.target.decodability if self.target else None,
            "combinations": _rows(self),
            "notes": self.notes,
            "seconds": dict(self.seconds),
        }
        return plain(told)

    def save(self, folder: Path | str) -> Path:
        """Write report.html (self-contained) and numbers.json; returns the path of the report."""
        from recombine.diagnosis.report import save

        return save([self], folder)[0]


def diagnosed(evidence: Evidence, name: str = "model") -> Diagnosis:
    """All measures of what is known of a model, and the verdict."""
    clock, notes = Clock(), list(evidence.notes)
    with clock("errors and references"):
        b = behaviour(evidence)
    with clock("verdict"):
        ruling, told = rule(b)
    with clock("coverage"):
        covered = coverage(evidence)
    notes += uncounted_note(len(evidence.factors))
    layers = measured(evidence, clock, notes)
    target = of_target(evidence, clock) if len(layers) > 1 else None
    return Diagnosis(name, evidence, b, ruling, told, covered, tuple(layers), tuple(notes), clock.seconds, target)


def readable(layer: Layer, factor: str) -> bool | None:
    """Yes if the whole interval is above the bounds, no if all of it is below READ, else it cannot be told."""
    if factor not in layer.decodability or layer.few:
        return None
    i = layer.decodability[factor]
    if i.low > max(READ, layer.shuffled[factor] + 0.1):
        return True
    return False if i.high < READ else None


@dataclass(frozen=True)
class TrainOn:
    """Failed new combinations to train on: how many fail, and how far they are from trained ones, before and after."""

    combinations: tuple[tuple[str, ...], ...]
    failed: int
    steps: float
    steps_after: float


def train_on(b: Behaviour) -> TrainOn | None:
    """Some of the new combinations whose error is more than SOLVED of the way to a memory's, spread over them."""
    e, memory = b.evidence, b.references[b.best(b.new)]
    floor = b.errors[b.seen].mean()
    fails = b.new & (b.errors > floor + SOLVED * (memory[b.new].mean() - floor))
    rows, index = np.unique(e.combinations[fails], axis=0, return_index=True)
    if len(rows) < 2:
        return None
    steps = e.distance[fails][index]
    chosen, after = covering(rows, steps, e.ordered)
    return TrainOn(in_words(e, rows[chosen]), len(rows), float(steps.mean()), after)


def _rows(d: Diagnosis) -> list[dict[str, Any]]:
    """One row per combination: its values, whether it was seen, its error, and how far it is from seen ones."""
    e, b = d.evidence, d.behaviour
    return [
        {
            "values": [f.values[v] for f, v in zip(e.factors, row, strict=True)],
            "seen": bool(e.seen[i]),
            "error": float(b.errors[i]),
            "steps": float(e.distance[i]),
            **{name: float(errors[i]) for name, errors in b.references.items() if e.new[i]},
        }
        for i, row in enumerate(e.combinations)
    ]


def plain(value: Any) -> Any:
    """A value as what JSON can hold: NaN and infinity become null."""
    if isinstance(value, Interval):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = {k: getattr(value, k) for k in value.__dataclass_fields__}
    elif isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
