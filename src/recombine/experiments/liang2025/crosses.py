"""Is an answer in the hole a cross, the sum of two stripes, or the bump that was asked for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.measures.peak import misplacement

if TYPE_CHECKING:
    import pandas as pd

    from recombine.experiments.liang2025.shared import HoleSettings

MORE = 0.1
"""An answer is a bump if its correlation with the bump exceeds that with the cross by this, of .4 that a bump has."""


def likeness(settings: HoleSettings, answer: rc.Record) -> dict[str, float]:
    """Correlation of the answers in the interior with the bump that was asked for and with the cross of its stripes."""
    inside = answer.where(rc.interior(rc.square(answer.z, settings.low, settings.high), settings.rim))
    return {
        "r_truth": float(np.mean(rc.pearson(inside.y_hat, inside.y))),
        "r_cross": float(np.mean(rc.pearson(inside.y_hat, crosses(settings, inside.z)))),
    }


def bumps_placed(settings: HoleSettings, answer: rc.Record, tolerance: int) -> float:
    """The share of answers with a peak within `tolerance` pixels that are bumps; a cross has its peak there, too."""
    drawn = np.where(np.isfinite(answer.y_hat), answer.y_hat, 0.0)  # a network that diverged draws nothing
    away = rc.pearson(drawn, answer.y) - rc.pearson(drawn, crosses(settings, answer.z))
    return float(np.mean((misplacement(answer) <= tolerance) & (away > MORE)))


def crosses(settings: HoleSettings, z: np.ndarray) -> np.ndarray:
    """The sum of the vertical stripe at x and the horizontal stripe at y, for each pair."""
    across, along = (
        np.exp(-((np.arange(settings.size) - v[:, None]) ** 2) / (2 * settings.sigma**2)) for v in z.astype(float).T
    )
    return across[:, None, :] + along[:, :, None]


def way(table: pd.DataFrame) -> float:
    """The same number of a system that draws crosses, less that of a perfect one."""
    cross, bump = (rc.pick(table, system=name).iloc[0] for name in ("crosses", "perfect"))
    return float((cross["r_cross"] - cross["r_truth"]) - (bump["r_cross"] - bump["r_truth"]))


KINDS = (
    rc.Check(
        "r_cross minus r_truth of the control crosses",
        lambda t: rc.control(t, "crosses", "r_cross") - rc.control(t, "crosses", "r_truth"),
        at_least=0.1,
    ),
    rc.Check(
        "r_truth minus r_cross of the control perfect",
        lambda t: rc.control(t, "perfect", "r_truth") - rc.control(t, "perfect", "r_cross"),
        at_least=0.1,
    ),
)
