"""How long a diagnosis takes, split by measure, and its probe beside scikit-learn's RidgeCV.

10,000 examples, 10 layers of 512 units, 4 factors, all measures. The probe is compared where scikit-learn is installed.
"""

from __future__ import annotations

import resource
import sys
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from recombine.diagnosis.diagnosis import diagnosed
from recombine.diagnosis.evidence import Evidence, gather
from recombine.measures import ridge

EXAMPLES, LAYERS, UNITS, FACTORS, VALUES = 10_000, 10, 512, 4, 6


def data(examples: int = EXAMPLES, layers: int = LAYERS, units: int = UNITS) -> Evidence:
    """Random layers over a grid of four factors, a fifth of it held out, and answers that compose."""
    rng = np.random.default_rng(0)
    z = rng.integers(VALUES, size=(examples, FACTORS))
    codes = np.concatenate([np.eye(VALUES)[part] for part in z.T], axis=1)
    acts: dict[str, Any] = {"input": codes.astype(np.float32)}
    now = codes.astype(np.float32)
    for i in range(layers):
        now = np.tanh(now @ rng.normal(size=(now.shape[1], units)).astype(np.float32) / np.sqrt(now.shape[1]))
        acts[f"layer {i}"] = now + 0.1 * rng.standard_normal(now.shape, np.float32)
    parts = [rng.normal(size=(VALUES, 16)) for _ in range(FACTORS)]
    y = np.prod([part[column] for part, column in zip(parts, z.T, strict=True)], axis=0)
    held_out = rng.random(VALUES**FACTORS) < 0.2
    trained = ~held_out[z @ VALUES ** np.arange(FACTORS)]
    return gather(z, trained, y, y + 0.01 * rng.normal(size=y.shape), acts)


def probes(e: Evidence) -> dict[str, Any]:
    """One layer's probe of all factors, ours and RidgeCV's at the same penalties: R² on new combinations, seconds."""
    from sklearn.linear_model import RidgeCV

    acts = np.asarray(e.layers["layer 0"], float)
    wanted = np.stack([np.asarray(f.numbers) for f in e.factors], axis=1)
    fit, score = e.seen[e.of], e.new[e.of]
    rows = acts[fit] - acts[fit].mean(axis=0)
    penalties = ridge.STRENGTHS * np.sum(rows**2) / rows.shape[1]
    began = perf_counter()
    ours = ridge.scores(wanted[score], ridge.ridge_predictions(acts[fit], wanted[fit], acts[score], penalties))
    middle = perf_counter()
    theirs_model = RidgeCV(alphas=penalties, alpha_per_target=True).fit(acts[fit], wanted[fit])
    theirs = ridge.scores(wanted[score], theirs_model.predict(acts[score]))
    end = perf_counter()
    return {
        "r2": np.round(ours, 6).tolist(),
        "largest_difference": float(np.abs(ours - theirs).max()),
        "seconds": round(middle - began, 3),
        "ridge_cv_seconds": round(end - middle, 3),
    }


def measure(examples: int = EXAMPLES, layers: int = LAYERS, units: int = UNITS) -> dict[str, Any]:
    """Seconds of all measures, split, the peak memory of this process in GB, and the probe beside RidgeCV."""
    e = data(examples, layers, units)
    began = perf_counter()
    found = diagnosed(e)
    took = perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform != "darwin" else 2**30)
    split = {name: round(s, 2) for name, s in found.seconds.items()}
    probe = {"probe": probes(e)} if find_spec("sklearn") else {}
    return {"verdict": found.verdict, "seconds": round(took, 1), "peak_gb": round(peak, 2), "split": split, **probe}
