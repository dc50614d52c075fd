"""What a linear probe can read off a layer: every factor, fitted on seen combinations and scored on new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.diagnosis.evidence import Evidence
from recombine.measures import ridge
from recombine.measures.anova import ratio
from recombine.measures.gap import Interval, gap

PER_UNIT = 4
"""Combinations per unit that a probe needs; with a continuous factor, where no two examples are alike, examples."""
SHUFFLES = 5


def on_new(e: Evidence) -> bool:
    """Are probes scored on new combinations? If there are none, they are on some of the seen ones."""
    return bool(e.new.sum() >= 2)


def decodability(e: Evidence, acts: np.ndarray, silent: list[str]) -> dict[str, Any]:
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
    guesses = ridge.ridge_predictions(acts[fit], wanted[fit], acts[score], groups=e.of[fit])
    missed = _by_row(e, score, (wanted[score] - guesses) ** 2)[test]
    spread = _by_row(e, score, (wanted[score] - wanted[score].mean(axis=0)) ** 2)[test]
    few = _few(e, e.seen & ~test, acts.shape[1], silent)
    size, real, control = columns.shape[1], {}, {}
    for i, factor in enumerate(e.names):
        own = np.flatnonzero(owners == i)
        if spread[:, own].sum() < 1e-9 * spread[:, own].size:
            silent.append(f"decodability of {factor}: it does not vary over the combinations that are scored")
            continue
        missed_share = gap(missed[:, own].sum(axis=1), spread[:, own].sum(axis=1), [0.0, 0.0])
        real[factor] = Interval(1 - missed_share.value, 1 - missed_share.high, 1 - missed_share.low)
        moved = [own + k * size for k in range(1, SHUFFLES + 1)]
        moved = [m for m in moved if spread[:, m].sum() >= 1e-9 * spread[:, m].size]
        shares = [ratio(missed[:, m].sum(), spread[:, m].sum()) for m in moved]
        control[factor] = float(1 - np.mean(shares)) if shares else float("nan")
    return {"decodability": real, "shuffled": control, "few": few}


def _few(e: Evidence, fitted: np.ndarray, units: int, silent: list[str]) -> bool:
    """Are there too few to fit on? Examples of one combination do not count as several."""
    examples, what = int(fitted[e.of].sum()), "examples" if e.continuous else "combinations"
    there = examples if e.continuous else int(fitted.sum())
    if there >= PER_UNIT * units:
        return False
    more = f" ({examples} examples)" if examples != there else ""
    silent.append(f"decodability: {there} {what}{more} for {units} units, {PER_UNIT} per unit are needed")
    return True


def _by_row(e: Evidence, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
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
