"""How many tasks a decoder recovers from a model's answers, and models made up to be wrong so and so often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.theory import recovery

if TYPE_CHECKING:
    from recombine.experiments.redhardt2025.recovery import Settings

ANYWHERE, HURTS = "wrong anywhere", "wrong where it hurts"
FAR, ALL = "far apart", "all"


def judged(settings: Settings, y: np.ndarray, y_hat: np.ndarray) -> dict[str, float]:
    """How often answers are wrong, how far tasks are apart, how many are recovered, and how many are promised."""
    tolerance = settings.tolerance * float(y.std())
    wrong, apart = recovery.wrong_share(y, y_hat, tolerance), recovery.separation(y, tolerance)
    recovered, bound = recovery.recovered_share(y, y_hat, tolerance), recovery.recovery_bound(wrong)
    premise = float(recovery.promised(wrong, apart))
    found = {"wrong": wrong, "separation": apart, "recovered": recovered, "bound": bound}
    return found | {"excess": recovered - bound, "premise": premise}


def far_apart(settings: Settings, y: np.ndarray) -> np.ndarray:
    """Which tasks are far apart, of those with these answers."""
    return recovery.far_apart(y, settings.tolerance * float(y.std()), settings.candidates)


def asked(settings: Settings, y: np.ndarray, y_hat: np.ndarray) -> dict[str, float]:
    """`judged` for tasks that are far apart, and the share recovered if the decoder chooses among all."""
    far = far_apart(settings, y)
    return judged(settings, y[far], y_hat[far]) | {"recovered_all": judged(settings, y, y_hat)["recovered"]}


def rows(settings: Settings, seed: int, y: np.ndarray) -> list[dict]:
    """Rows of made-up models of one seed's teacher, for tasks that are far apart and for all."""
    rng, found = rc.rng(settings.seed, "made-up", seed), []
    for tasks, mine in ((FAR, y[far_apart(settings, y)]), (ALL, y)):
        for share in settings.wrong:
            models = {
                ANYWHERE: recovery.even_predictor(mine, share, rng),
                HURTS: recovery.adversary(mine, share, settings.tolerance * float(mine.std())),
            }
            found += [
                {"system": name, "seed": seed, "given": share, "tasks": tasks} | judged(settings, mine, y_hat)
                for name, y_hat in models.items()
            ]
    return found
