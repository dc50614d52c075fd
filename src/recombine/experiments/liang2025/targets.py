"""What a decoder made of a target of known complexity, and kernels of known form: measured and drawn (appendix A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.liang2025.crosses import bumps_placed
from recombine.experiments.liang2025.shared import HoleSettings, example_cells
from recombine.measures.additive import generally_factorised
from recombine.measures.complexity import epsilon_rank, exact_rank
from recombine.measures.cp import cp_error
from recombine.measures.pf import pf_coefficient
from recombine.measures.schmidt import by_factor

if TYPE_CHECKING:
    import pandas as pd

EPSILON = 0.05
READINGS, PLACED = ("schmidt_rank", "pf"), ("accuracy0_interior", "bumps0_interior")
"""Columns of networks that draw dark bumps alone: readings of their kernel, and what they place in the interior."""


def scores(settings: HoleSettings, answer: rc.Record, trained: np.ndarray, kind: str, *, kernel: bool) -> dict:
    """Errors, plain and as shares of what the mean picture leaves, likeness to bumps and crosses, complexity."""
    pairs = (answer.z[:, 1:] != rc.ABSENT).all(axis=1)
    whole = rc.Record(answer.z[pairs, 1:], answer.x[pairs], answer.y[pairs], answer.y_hat[pairs])
    region = rc.square(whole.z, settings.low, settings.high)
    inside, mean = rc.interior(region, settings.rim), answer.y[trained].mean(axis=0)

    def unexplained(part: rc.Record) -> float:
        return rc.mse(part) / float(np.mean((part.y - mean) ** 2))

    bumps, crosses = joined(settings, whole.z[inside])
    seen_as, target = as_intensity(whole, kind), rc.on_grid(whole, whole.y)
    pictures, shown = seen_as.y_hat[inside], example_cells(inside)[1]
    found = {
        "mse_interior": rc.mse(whole.where(inside)),
        "unexplained_trained": unexplained(answer.where(trained)),
        "unexplained_interior": unexplained(whole.where(inside)),
        "unexplained_hole": unexplained(whole.where(region.held_out)),
        "r_bright": float(np.mean(rc.pearson(pictures, bumps))),
        "r_cross": float(np.mean(rc.pearson(pictures, crosses))),
        "exact_rank": exact_rank(target),
        "epsilon_rank": epsilon_rank(target, EPSILON),
        "target_additive": rc.additive_share(target),
        "samples": seen_as.y_hat[shown],
        "wanted": seen_as.y[shown],
    }
    of_bumps = readings(seen_as) | placed(settings, seen_as.where(inside)) if kernel else {}
    return found | dict.fromkeys((*READINGS, *PLACED), np.nan) | of_bumps


def as_intensity(whole: rc.Record, kind: str) -> rc.Record:
    return rc.Record(whole.z, whole.x, 1 - whole.y, 1 - whole.y_hat) if kind == "dark" else whole


def placed(settings: HoleSettings, interior: rc.Record) -> dict:
    """The share of answers that are brightest in the right place, and that are bumps there, not crosses."""
    found = rc.peak_accuracy(interior, 0), bumps_placed(settings, interior, 0)
    return dict(zip(PLACED, found, strict=True))


def joined(settings: HoleSettings, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The product and the sum of the two profiles of each pair."""
    places = np.arange(settings.size)
    a, b = (np.exp(-((places - part[:, None]) ** 2) / (2 * settings.sigma**2)) for part in z.T)
    return b[:, :, None] * a[:, None, :], b[:, :, None] + a[:, None, :]


def readings(answer: rc.Record) -> dict:
    """The effective Schmidt rank and the PF coefficient of the cosines of all answers; NaN if it diverged."""
    if not np.isfinite(answer.y_hat).all():
        return dict.fromkeys(READINGS, np.nan)
    return of_kernel(rc.cosine_matrix(answer.y_hat, answer.y_hat), answer.z)


def of_kernel(kernel: np.ndarray, z: np.ndarray) -> dict:
    return {
        "schmidt_rank": float(rc.effective_rank(rc.schmidt_values(kernel, z))),
        "pf": pf_coefficient(kernel, z),
    }


def not_one_product(answer: rc.Record) -> float:
    """How far the cosines of all answers are from one product of kernels of one part each, as a share of their norm."""
    if not np.isfinite(answer.y_hat).all():
        return float("nan")
    tensor = by_factor(rc.cosine_matrix(answer.y_hat, answer.y_hat), answer.z)
    return cp_error(tensor, 1, np.random.default_rng(0), restarts=2)


def known_kernels(size: int, sigma: float) -> list[dict]:
    """One row per kernel of known form on a grid of this side: a product (AND), its OR, and a sum of one-part ones."""
    z = np.stack(np.meshgrid(*[np.arange(size)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    match = rc.near(sigma)
    both, either = rc.and_kernel(z, z, match), rc.or_kernel(z, z, match)
    kernels = {"AND": both, "OR": either, "sum": both + either}  # kappa_x + kappa_y
    return [{"system": name, "seed": size, **of_kernel(kernel, z)} for name, kernel in kernels.items()]


def mixed_codes(settings: HoleSettings, seed: int) -> list[dict]:
    """A known code of (x, y), mixed by random maps that can be undone and by others: is it still factorised?"""
    rng, codes = rc.rng(settings.seed, "mixing", seed), np.eye(settings.size)
    each = np.broadcast_to(codes[:, None], (settings.size,) * 3), np.broadcast_to(codes[None], (settings.size,) * 3)
    code = np.concatenate(each, axis=-1)
    rotated = code @ np.linalg.qr(rng.normal(size=(2 * settings.size,) * 2))[0]
    systems = {
        "separate": code,
        "rotated": rotated,
        "rotated and bent": np.where(rotated > 0, rotated, 0.1 * rotated),
        "pooled": (each[0] + each[1]) @ np.linalg.qr(rng.normal(size=(settings.size,) * 2))[0],
        "saturated": np.sign(code @ rng.normal(size=(2 * settings.size, 4))),
    }
    return [
        {"system": name, "seed": seed, "factorised": float(generally_factorised(a)), "additive": rc.additive_share(a)}
        for name, a in systems.items()
    ]


def draw_mixed(axes, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Whether mixed codes are factorised by the definition, and their additive shares."""
    for place, column in zip(axes, ("factorised", "additive"), strict=True):
        groups = {name.replace(" and ", "\n+ "): rc.pick(table, system=name)[column].to_numpy() for name in names}
        rc.plots.dots(place, groups)
        place.set_title(f"known codes, mixed:\n{'factorised?' if column == 'factorised' else 'additive share'}")
        place.tick_params(axis="x", labelsize=6)


def figure(table: pd.DataFrame, others: Sequence[str]):
    """A column per network: its target and answer in the hole; below, ranks against errors, and kernels."""
    from recombine.tasks.conjunctions import KINDS

    plots, shown = rc.plots, (*KINDS, *others)
    figure, axes = plots.panels(rows=3, columns=len(shown), side=2.0)
    for column, condition in enumerate(shown):
        first = rc.pick(table, condition=condition).sort_values("seed").iloc[0]
        plots.signed(axes[0, column], first["wanted"], title=f"{condition.replace(', ', ',' + chr(10))}\ntarget")
        plots.signed(axes[1, column], first["samples"], title="answer")
    _errors(axes[2, :3], table)
    likeness, *rest = axes[2, 3:]
    rows = {
        name: rc.pick(table, condition=condition) for name, condition in zip(("bright", "dark"), others, strict=False)
    }
    gaps = {name: (some["r_bright"] - some["r_cross"]).to_numpy() for name, some in rows.items()}
    plots.dots(likeness, gaps, low=-1.0)
    likeness.set_title("stripes alone:\nlike a bump less\nlike a cross")
    _kernels(rest[:2], table, {"donut": others[-1], "stripes": "dark"})
    for place in rest[2:]:
        place.axis("off")
    _definitions(rest[2], table)
    figure.suptitle("Targets and answers in the hole as intensities, dark bumps turned bright", fontsize=9)
    return figure


def _errors(axes, table: pd.DataFrame) -> None:
    """The error in the interior against two ranks of the targets and their additive share."""
    from recombine.tasks.conjunctions import KINDS

    columns = {"exact_rank": "R*", "epsilon_rank": "R_eps", "target_additive": "additive share of the target"}
    for place, (column, label) in zip(axes, columns.items(), strict=True):
        for kind in KINDS:
            rows = rc.pick(table, condition=kind)
            place.semilogy(rows[column], rows["mse_interior"], "o", markersize=4, alpha=0.7, label=kind)
        place.set(xlabel=label, ylabel="squared error, interior" if place is axes[0] else "")
        place.tick_params(axis="y", which="both", labelleft=place is axes[0], labelsize=6)
        if column != "target_additive":
            place.set_xticks(sorted(set(rc.pick(table, condition=list(KINDS))[column].dropna())))
    axes[0].legend(fontsize=6, frameon=False)


def _kernels(axes, table: pd.DataFrame, networks: Mapping[str, str]) -> None:
    """Two readings of the kernels of networks, by what they were shown, and of kernels of known form."""
    for place, column, title in zip(axes, READINGS, ("Schmidt rank", "PF coefficient"), strict=True):
        groups = {name: rc.pick(table, condition=c)[column].to_numpy() for name, c in networks.items()}
        groups |= {name: rc.pick(table, system=name)[column].to_numpy() for name in ("AND", "OR")}
        rc.plots.dots(place, groups)
        top = np.nanmax([1.0, *np.concatenate(list(groups.values()))])
        place.set(title=title, ylim=(-0.05, 1.1) if column == "pf" else (0.8, 0.2 + top))
        place.tick_params(axis="x", labelsize=6)


def _definitions(axes, table: pd.DataFrame) -> None:
    """Both definitions of a factorised kernel, side by side, on kernels of known form."""
    found = {name: rc.pick(table, system=name).sort_values("seed").iloc[-1] for name in ("AND", "OR", "sum")}
    cells = [[name, f"{row['schmidt_rank']:.2f}", f"{row['pf']:.2f}"] for name, row in found.items()]
    shown = axes.table(cells, colLabels=["kernel", "rank", "PF"], loc="center", cellLoc="center")
    shown.auto_set_font_size(False)
    shown.set_fontsize(7)
    axes.set_title("factorised by eq. 30: rank 1\nby A.5: PF 1", fontsize=8)
