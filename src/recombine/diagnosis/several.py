"""Several seeds or checkpoints of one model: names that differ, and means over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recombine.diagnosis.diagnosis import Diagnosis
from recombine.measures.gap import Interval, mean_interval


def named_apart(diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The same diagnoses; those that share a name are numbered."""
    often, count, found = Counter(d.name for d in diagnoses), Counter(), []
    for d in diagnoses:
        count[d.name] += 1
        found.append(replace(d, name=f"{d.name} ({count[d.name]})") if often[d.name] > 1 else d)
    return found


def over_models(diagnoses: Sequence[Diagnosis]) -> dict[str, Interval]:
    """The mean of G, of fit and of the error on new combinations over models, with Student's t interval over them."""
    told = [d for d in diagnoses if d.gap is not None and np.isfinite(d.gap.value)]
    if len(told) < 3:
        return {}
    return {
        "extra error on new combinations, share of a memory's": mean_interval([d.gap.value for d in told if d.gap]),
        "error on new combinations": mean_interval([d.errors["new combinations"].value for d in told]),
        "fit on seen combinations": mean_interval([d.behaviour.fit for d in told]),
    }
