"""How alike the answers of a decoder are: to sums of one-factor answers, and to each other (Fig. 1d,e and Fig. 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025 import shared
from recombine.measures.memory import code_superposition
from recombine.measures.similarity import distance_matrix, overlap_matrix, same

if TYPE_CHECKING:
    import pandas as pd

MATRICES = ("cosine", "L2 distance", "pixel overlap")


def memories(answer: rc.Record, train: np.ndarray) -> np.ndarray:
    """For each value of x, and of y, the mean of the answers to training pairs that share it (2, values, picture)."""
    known, pictures = answer.z[train], answer.y_hat[train]
    values = np.unique(answer.z)
    return np.stack([[pictures[known[:, part] == v].mean(axis=0) for v in values] for part in (0, 1)])


def scores(settings: shared.HoleSettings, answer: rc.Record, alone: np.ndarray, seed: int) -> dict:
    """Of the answers in the interior: correlations with sums, and which kernel their likeness follows.

    `alone` has the answers to one factor, the code of the other averaged out. Pictures are intensities.
    """
    region = rc.square(answer.z, settings.low, settings.high)
    inside = rc.interior(region, settings.rim)
    sums = {"sum": memories(answer, region.train), "code": alone}
    sums = {name: code_superposition(answer.z, *pictures) for name, pictures in sums.items()}
    rng, within = rc.rng(settings.seed, "shuffled sums", seed), answer.where(inside)
    found = {name: rc.superposition_score(within, pictures[inside], rng) for name, pictures in sums.items()}
    return {
        **{f"r_{name}": score.r_sum for name, score in found.items()},
        **{f"r_{name}_shuffled": score.r_shuffled for name, score in found.items()},
        "r_truth": found["sum"].r_truth,
        "r_truth_shuffled": rc.superposition_score(within, within.y, rng).r_shuffled,
        **kernels(settings, answer, inside, region.train),
        "sums": np.stack([pictures[shared.example_cells(inside)[1]] for pictures in sums.values()]),
        "matrices": matrices(settings, answer),
    }


def kernels(settings: shared.HoleSettings, answer: rc.Record, inside: np.ndarray, train: np.ndarray) -> dict:
    """How far the likeness of interior answers to donut answers follows the OR and the AND of x and y.

    Pixels overlap that exceed half of their picture's maximum, or 0.7 as released, which faint answers miss.
    """
    rows, columns = answer.y_hat[inside], answer.y_hat[train]
    cosines, either, both = rc.cosine_matrix(rows, columns), rc.or_kernel, rc.and_kernel
    soft, binary = rc.near(settings.sigma), either(answer.z[inside], answer.z[train], same)
    return {
        "or_agreement": rc.agreement(cosines, either(answer.z[inside], answer.z[train], soft)),
        "and_agreement": rc.agreement(cosines, both(answer.z[inside], answer.z[train], soft)),
        "overlap_or": rc.agreement(overlap_matrix(peaked(rows), peaked(columns), 0.5), binary),
        "overlap_or_released": rc.agreement(overlap_matrix(rows, columns, 0.7), binary),
    }


def peaked(pictures: np.ndarray) -> np.ndarray:
    """Each picture over its own maximum; one without a positive pixel stays as it is."""
    top = pictures.max(axis=(1, 2), keepdims=True)
    return pictures / np.where(top > 0, top, 1.0)


def coarse(settings: shared.HoleSettings, z: np.ndarray, sides: int = 10) -> tuple[np.ndarray, int]:
    """Rows of the pairs on a coarser grid, those of the donut first, then by x and by y; and how many the donut has."""
    values = np.unique(z)[:: max(1, len(np.unique(z)) // sides)]
    rows = np.flatnonzero(np.all(np.isin(z, values), axis=1))
    held_out = rc.square(z[rows], settings.low, settings.high).held_out
    return rows[np.argsort(held_out, kind="stable")], int((~held_out).sum())


def matrices(settings: shared.HoleSettings, answer: rc.Record) -> np.ndarray:
    """Cosine, distance and pixel overlap of the answers to the pairs of a coarser grid, in its order."""
    kept = answer.y_hat[coarse(settings, answer.z)[0]]
    found = rc.cosine_matrix(kept, kept), distance_matrix(kept, kept), overlap_matrix(peaked(kept), peaked(kept), 0.5)
    return np.stack(found).astype(np.float32)


def figure(settings: shared.HoleSettings, table: pd.DataFrame, conditions: Mapping[str, str]):
    """A row per condition, in its colour: answer, two sums and truth; three matrices; correlations and agreements."""
    plots = rc.plots
    truth = rc.pick(table, system="perfect").iloc[0]["samples"][1]
    figure, axes = plots.panels(rows=len(conditions), columns=9, side=1.9)
    for row, (condition, colour) in zip(axes, conditions.items(), strict=True):
        networks = rc.pick(table, condition=condition).sort_values("seed")
        first = networks.iloc[0]
        memory, code = first["sums"]
        pictures = {"answer": first["samples"][1], "sum of one-\nfactor answers": code, "sum of memories": memory}
        for place, (title, picture) in zip(row, (pictures | {"truth": truth}).items(), strict=False):
            top = max(float(np.nanmax(picture, initial=0.0)), 1e-3)
            plots.picture(place, picture / top, title=title, mark=plots.brightest(truth))
        row[0].set_ylabel(condition.replace(", ", ",\n"))
        _numbers(row[7:], networks, colour)
    found = [rc.pick(table, condition=name).sort_values("seed").iloc[0]["matrices"] for name in conditions]
    donut = coarse(settings, np.argwhere(np.ones((settings.size, settings.size))))[1]
    for kind, title in enumerate(MATRICES):
        _matrices(
            axes[:, 4 + kind], [None if three is None else np.stack(three[kind]) for three in found], donut, title
        )
    figure.suptitle(
        "Left: one network's answer in the hole (each picture over its maximum). Middle: how alike its answers are,"
        " to pairs of the donut first, then to those of the hole (lines). Right: one dot per network",
        fontsize=9,
    )
    return figure


def _matrices(axes, found: Sequence[np.ndarray | None], donut: int, title: str) -> None:
    """The matrices of one kind below each other, on one scale without the outermost hundredths, which stands below."""
    shown = [matrix for matrix in found if matrix is not None and np.isfinite(matrix).any()]
    low, high = np.nanpercentile(shown, (1, 99)) if shown else (None, None)
    images = []
    for place, matrix in zip(axes, found, strict=True):
        if matrix is not None:
            images.append(place.imshow(matrix, cmap="viridis", interpolation="nearest", vmin=low, vmax=high))
            place.axhline(donut - 0.5, color="white", linewidth=0.6)
            place.axvline(donut - 0.5, color="white", linewidth=0.6)
        rc.plots.bare(place, title)
    if shown:
        axes[-1].figure.colorbar(images[0], ax=list(axes), location="bottom", shrink=0.8, aspect=12, extend="both")


def _numbers(axes, networks: pd.DataFrame, colour: str) -> None:
    panels = {
        "correlation with": {"one-\nfactor": "r_code", "memo-\nries": "r_sum", "truth": "r_truth"},
        "agreement with": {"pixels\nOR": "overlap_or", "cosine\nOR": "or_agreement", "cosine\nAND": "and_agreement"},
    }
    for place, (title, columns) in zip(axes, panels.items(), strict=True):
        rc.plots.dots(place, {n: networks[c].to_numpy(float) for n, c in columns.items()}, colour=colour, low=-0.6)
        place.set_title(title)
