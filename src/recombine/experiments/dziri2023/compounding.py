"""Do errors compound as independent ones would, and are steps right because their subgraphs were seen?

Decoders write every step of a dynamic programme. Dziri et al. find that steps which are right were seen more often, and
that errors compound. Seen steps may be easy ones: so a fifth of all endings of three and of four numbers is withheld by
lot, and steps are compared at equal depth, given right steps before. Networks have coupled places, so that errors in
larger sizes are errors of steps and not of places. They train on up to seven numbers: after five, hardly two larger
sizes have answers that are neither all right nor all wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.dziri2023 import longer, programmes, seen
from recombine.experiments.tokens import shared
from recombine.measures.nodes import OUTCOMES, predicted_exact

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(programmes.Programmes):
    withheld: float = 0.2
    """share of the endings of three and of four inputs that no trained row has"""
    longest: int = 7
    """inputs of a trained row, at most"""
    larger: tuple[int, ...] = (8, 9, 10, 11, 12)
    """numbers of inputs that are only asked"""
    steps: int = 3000
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.withheld < 1:
            raise rc.UserError(f"withheld must lie between 0 and 1, got {self.withheld}")


QUICK = Settings(seeds=2, steps=20, **longer._TINY)  # pyrefly: ignore
LAPTOP = Settings(seed=3, steps=2000, batch=64)
_SIZES = {"width": 128, "depth": 4, "head": 32, "batch": 256}
GPU = Settings(seed=3, seeds=8, block=8, steps=10_000, learning_rate=1e-3, precision="bfloat16", **_SIZES)  # pyrefly: ignore
PAPER = replace(GPU, seeds=10, block=5, width=256, depth=8, steps=100_000, learning_rate=3e-4, precision="float32")
VARIANTS = (
    rc.Variant("half the steps", "the length of training is ours", steps=lambda s: s.steps // 2),
    rc.Variant("fewer rows", "the paper's training sizes are not known here", rows=lambda s: s.rows // 4),
    rc.Variant("more withheld", "how many endings are withheld is ours", withheld=0.4),
)
NAME = "in steps"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings)


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, task = cell.settings, programmes.family(cell.settings)
    make = longer.decoder(settings, longer.COUPLED)
    who = [{"condition": NAME, "seed": seed} for seed in cell.members]
    chosen = [training(settings, seed) for seed in cell.members]
    trained = shared.fit(settings, task, make, seeds=cell.members, chosen=chosen, monitor=monitor, label="steps")
    found = []
    for i, (w, rows) in enumerate(zip(who, chosen, strict=True)):
        scores, record = measured(settings, trained[i].model, rows, w["seed"])
        monitor.recorded(f"steps-{w['seed']}", record)
        found.append(scores | shared.sizes(make, record.x.shape[1]))
    return rc.rows(trained, who, found)


def training(settings: Settings, seed: int) -> np.ndarray:
    """The rows that a seed trains on: none that ends in what is withheld from it."""
    out = seen.withheld(settings, programmes.family(settings).combinations, seed)
    return programmes.trained_rows(settings, seed, np.any(out, axis=1))


def measured(settings: Settings, model, rows: np.ndarray, seed: int) -> tuple[dict[str, float], rc.Record]:
    """Exact answers, steps at equal depth, and the outcomes of all steps that a network writes for larger sizes."""
    scores, record = programmes.larger_sizes(settings, model)
    shares, right = seen.generated(settings, model)
    scores |= programmes.known_sizes(settings, model, rows, seed) | seen.at_equal_depth(settings, model, rows, seed)
    scores |= shares | seen.counts_apart(seen.counted(settings, rows), right)
    return scores | apart(settings, scores), record


def apart(settings: Settings, scores: dict[str, float]) -> dict[str, float]:
    """How far exact answers are from the product of all accuracies, over the sizes where that is neither 0 nor 1."""
    pairs = np.array([(scores[f"exact_{n}"], scores[f"predicted_{n}"]) for n in settings.larger])
    some = pairs[(pairs[:, 1] >= 0.1) & (pairs[:, 1] <= 0.9)]
    gap = some[:, 0] - some[:, 1]
    return {"gap": float(np.abs(gap).mean()) if len(gap) else np.nan, "sizes": float(len(gap))}


def controls(settings: Settings) -> list[dict]:
    """Solvers that never err, that err at random and in whole rows, a rememberer of subgraphs, an untrained network."""
    rows, errors = training(settings, 0), {"perfect": 0.0, "errs by lot": 0.1}
    born = shared.untrained(settings, longer.decoder(settings, longer.COUPLED))
    untrained, _ = measured(settings, born, rows, 0)
    counts, rng = seen.counted(settings, rows), rc.rng(settings.seed, "errs by lot")
    known = {row["system"]: row for row in programmes.known_systems(settings, rows)}
    for name, wrong in errors.items():
        right = rng.uniform(size=counts["subgraph"].shape) >= wrong
        known[name] |= apart(settings, known[name]) | seen.counts_apart(counts, right)
    memory = {name: untrained[f"remembered_{name}"] for name in ("node_seen", "node_withheld")}
    known["rememberer"] |= memory | {"node_gain": memory["node_seen"] - memory["node_withheld"]}
    return [*known.values(), whole_rows(settings), {"system": "untrained", "seed": 0} | untrained]


def whole_rows(settings: Settings, wrong: float = 0.05) -> dict:
    """A solver whose errors are anything but independent: some rows are wrong at every step, all others are right."""
    rng, row = rc.rng(settings.seed, "errs in rows"), {}
    for n, rows in programmes.asked(settings).rows.items():
        right = np.repeat(rng.uniform(size=(len(rows), 1)) >= wrong, 2 * n + 2, axis=1)
        row |= {f"exact_{n}": float(right.all(axis=1).mean()), f"predicted_{n}": predicted_exact(right)}
    return {"system": "errs in rows", "seed": 0} | row | apart(settings, row)


value = partial(rc.value, condition=NAME)
CONTROLS = (
    *programmes.CONTROLS,
    rc.reads("errs by lot", "gap", at_most=0.05),
    rc.reads("errs in rows", "gap", at_least=0.05),
    rc.reads("errs by lot", "seen_subgraph", at_least=-0.05, at_most=0.05),
    # where an ending was withheld it says the commonest step, which is right in about a fifth of them
    rc.reads("rememberer", "node_gain", at_least=0.7),
)
claim = partial(
    rc.Claim, controls=CONTROLS, fits=(rc.fitted("exact_trained", at_least=programmes.fits, condition=NAME),)
)
CLAIMS = (
    claim(
        "errors compound as independent ones would (ours)",
        "On larger sizes the share of exact answers is the product of the accuracies of all their tokens, given right"
        " ones before.",
        "ours, as is the scale; Dziri et al. (2023) and the synthesis note say that errors compound, not how",
        effect=value("gap"),
        below=0.05,
        unit="exact answers and the product of accuracies, how far apart, over sizes where it is .1 to .9",
        preconditions=(rc.Check("sizes at which errors can be seen", lambda t: value("sizes")(t).mean(), 3),),
    ),
    claim(
        "right steps were seen more often than wrong ones (the paper)",
        "The whole subgraphs of steps that are right occur in more training rows than those of steps that are wrong, at"
        " equal depth.",
        "Dziri et al. (2023): nodes answered rightly have their ancestry in training more often; ours is the margin, a"
        " factor of 1.26 in counts",
        effect=value("seen_subgraph"),
        above=0.1,
        unit="mean log10(1 + training rows with the subgraph), right minus wrong steps",
        preconditions=(
            rc.Check("depths with enough right and wrong steps", lambda t: value("depths")(t).mean(), at_least=2),
        ),
    ),
    claim(
        "steps with withheld subgraphs are wrong more often at equal depth (ours)",
        "Given right steps before, steps whose ending was withheld at random are wrong more often than others whose"
        " ending is as long.",
        "ours; the causal form of the paper's correlation",
        effect=lambda t: value("node_seen")(t) - value("node_withheld")(t),
        above=0.05,
        unit="right steps, seen endings minus withheld ones, mean of endings of three and of four numbers",
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers against independent errors, steps by ending, what was seen of right steps, and outcomes of steps.

    An ending is the last three or four numbers of a row; some are withheld from training. The third panel says how much
    more often training shows the whole subgraph of a right step than of a wrong one, and the step alone. A step is
    right if its value and all before it are; local if it is wrongly computed from the values before it; propagated if
    it is rightly computed from wrong values; restored if it is right although a value before it is wrong.
    """
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=4, side=3.5)
    for n in settings.larger:
        axes[0, 0].plot(rows[f"predicted_{n}"], rows[f"exact_{n}"], "o", markersize=4, alpha=0.7, label=f"{n} inputs")
    axes[0, 0].plot([0, 1], [0, 1], color="black", linestyle=":", linewidth=0.9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[0, 0].set(xlabel="product of accuracies", ylabel="exact answers", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ends = {"seen": "node_seen", "withheld": "node_withheld"}
    _dots(axes[0, 1], rows, ends, "no steps of both kinds", plots.GOOD)
    axes[0, 1].set(xlabel="ending", ylabel="right steps, given right ones before")
    counts = {"whole\nsubgraph": "seen_subgraph", "step\nalone": "seen_step"}
    few = "wrong" if rows["share_right"].mean() > 0.5 else "right"
    if _dots(axes[0, 2], rows, counts, f"too few {few} steps to say", plots.BAD):
        axes[0, 2].axhline(0, color="black", linestyle=":", linewidth=0.9)
        axes[0, 2].autoscale(axis="y")
    axes[0, 2].set(xlabel="counted in training rows", ylabel="log10(1 + count), right minus wrong steps")
    plots.dots(axes[0, 3], {name: rows[f"share_{name}"].to_numpy() for name in OUTCOMES}, colour=plots.NEUTRAL)
    axes[0, 3].set(xlabel="steps written for larger sizes", ylabel="share")
    return picture


def _dots(place, rows: pd.DataFrame, columns: dict[str, str], why: str, colour: str) -> bool:
    """Dots of the networks that have all of these columns; a remark where none has, and whether any has."""
    known = rows.dropna(subset=list(columns.values()))
    if len(known):
        rc.plots.dots(place, {name: known[column].to_numpy() for name, column in columns.items()}, colour=colour)
        return True
    place.set(facecolor="0.94", yticks=(), xlim=(-0.6, len(columns) - 0.4))
    place.set_xticks(range(len(columns)), list(columns))
    place.text(0.5, 0.5, why, transform=place.transAxes, ha="center", style="italic")
    return False
