"""Does each verb shown in a template help SCAN's held-out verb, and does it help large decoders more?

Loula, Baroni and Lake (2018, arXiv 1807.07545): "jump around right" is asked, after training on "around right" with
none, one, two or three other verbs. Every filler covers one more pair of a verb and a template. If scale helps where
the space is covered, exact answers should rise faster with the fillers in wide decoders than in narrow ones. At a
laptop's size narrow ones do not fit the trained commands, also in three times its updates; on a GPU both widths go from
nothing to the ceiling, and it stays open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import recombine as rc
from recombine.experiments.tokens import shared

if TYPE_CHECKING:
    import pandas as pd

FITS = 0.98
"""The share of trained commands that a decoder must answer exactly to count."""


@dataclass(frozen=True, kw_only=True)
class Settings(shared.Decoders):
    fillers: tuple[int, ...] = (0, 1, 2, 3)
    """numbers of verbs shown with "around right", rising"""
    narrow: int = 16
    """numbers of a token in narrow decoders"""
    most: int = 48
    """the most actions of a command that is trained on or asked"""
    n_eval: int = 1024
    """commands of each kind on which a decoder is evaluated, at most"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("narrow", "n_eval")
        shared.check_heads(self.narrow, self.head)
        if self.narrow >= self.width:
            raise rc.UserError(f"narrow decoders must be narrower than {self.width}, got {self.narrow}")
        if len(self.fillers) < 2 or list(self.fillers) != sorted(set(self.fillers)):
            raise rc.UserError(f"fillers must be two or more rising numbers, got {self.fillers}")
        if not 8 <= self.most <= 48:
            raise rc.UserError(f"'jump around right' has 8 actions and no command more than 48, got most {self.most}")


QUICK = Settings(seeds=2, fillers=(0, 3), narrow=4, width=8, head=4, depth=1, steps=20, batch=16, most=8, n_eval=32)
LAPTOP = Settings(seed=4, fillers=(0, 3), depth=2, steps=400, batch=64, most=9)
_SIZES = {"narrow": 64, "width": 256, "depth": 4, "head": 32, "batch": 128}
GPU = Settings(seed=4, seeds=8, block=8, steps=4_000, learning_rate=1e-3, precision="bfloat16", **_SIZES)  # pyrefly: ignore
PAPER = replace(GPU, seeds=10, steps=100_000, learning_rate=3e-4, precision="float32")


def _ends(settings: Settings) -> tuple[int, ...]:
    """The fewest and the most fillers alone: enough for a slope, in half the time."""
    return settings.fillers[0], settings.fillers[-1]


VARIANTS = (
    rc.Variant("half the steps", "the length of training is ours", fillers=_ends, steps=lambda s: s.steps // 2),
    rc.Variant("more weight decay", "weight decay is ours", fillers=_ends, weight_decay=0.1),
)


@cache
def family(most: int) -> rc.Task:
    """All commands of at most so many actions."""
    from recombine.tasks.scan import by_length, combinations, scan

    rows = combinations()
    return scan(rows[by_length(rows, most).train])


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"width": width} for width in (settings.narrow, settings.width)])


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.tasks.scan import filler

    settings, task, label = cell.settings, family(cell.settings.most), f"width-{cell.width}"
    make = decoder(settings, cell.width)
    who = [
        {"condition": f"{n} fillers, width {cell.width}", "fillers": n, "width": cell.width, "seed": seed}
        for n in settings.fillers
        for seed in cell.members
    ]
    sides = {n: filler(task.combinations, n) for n in settings.fillers}
    seeds, chosen = [w["seed"] for w in who], [sides[w["fillers"]].train for w in who]
    trained = shared.fit(settings, task, make, seeds=seeds, chosen=chosen, monitor=monitor, label=label)
    found = []
    for i, w in enumerate(who):
        scores, record = measured(settings, trained[i].model, w["fillers"])
        monitor.recorded(f"{label}-{w['fillers']}-{w['seed']}", record)
        found.append(scores | shared.sizes(make, record.x.shape[1]) | {"depth": settings.depth})
    return rc.rows(trained, who, found)


def decoder(settings: Settings, width: int):
    """How a decoder of this width is made."""
    from recombine.tasks.scan import VOCABULARY

    return shared.maker(len(VOCABULARY), width, settings.depth, settings.head)


def asked(settings: Settings, fillers: int) -> dict[str, np.ndarray]:
    """Some commands that were trained on, and some with "jump around right"."""
    from recombine.tasks.scan import filler

    sides, rng = filler(family(settings.most).combinations, fillers), rc.rng(settings.seed, "commands")
    return {name: rng.permutation(np.flatnonzero(side))[: settings.n_eval] for name, side in sides._asdict().items()}


def measured(settings: Settings, model, fillers: int) -> tuple[dict[str, float], rc.Record]:
    """Exact answers and right tokens on trained and on asked commands, and which pairs training covers."""
    from recombine.measures.tokens import exact_match, token_accuracy
    from recombine.splits.coverage import covered
    from recombine.tasks.scan import filler, pairs

    task, rows = family(settings.most), asked(settings, fillers)
    key = rc.key(settings.seed, "test")
    old, new = (rc.record(model, task, task.combinations[rows[name]], key=key) for name in ("train", "test"))
    shares = covered(pairs(task.combinations), filler(task.combinations, fillers).train)
    scores = {"exact_trained": exact_match(old), "exact_held": exact_match(new), "tokens_held": token_accuracy(new)}
    return scores | {"coverage_pairs": shares}, new


def controls(settings: Settings) -> list[dict]:
    """A perfect solver, one that treats "jump" as "walk", each with the most fillers, and an untrained decoder."""
    from recombine.measures.tokens import exact_match
    from recombine.tasks.scan import ACTIONS, VOCABULARY

    task, last = family(settings.most), settings.fillers[-1]
    rows = task.combinations[asked(settings, last)["test"]]
    truth = rc.truth(task, rows, key=rc.key(settings.seed, "test"))
    walk, jump = VOCABULARY.ids([ACTIONS[0]])[0], VOCABULARY.ids([ACTIONS[3]])[0]
    said = {"perfect": truth.y[..., 0], "walks": np.where(truth.y[..., 0] == jump, walk, truth.y[..., 0])}
    systems = {name: truth.answering(np.eye(len(VOCABULARY), dtype=np.float32)[ids]) for name, ids in said.items()}
    known = rc.control_rows(lambda record: {"exact_held": exact_match(record)}, systems)
    scores, _ = measured(settings, shared.untrained(settings, decoder(settings, settings.width)), last)
    return [*known, {"system": "untrained", "seed": 0} | scores]


def slope(table: pd.DataFrame, width: float) -> pd.Series:
    """By seed, how much exact answers rise per filler in decoders of a width: the least-squares slope."""
    mine = rc.pick(table, width=width)
    x = mine["fillers"] - mine.groupby("seed")["fillers"].transform("mean")
    return (x * mine["exact_held"]).groupby(mine["seed"]).agg(lambda v: v.sum(skipna=False)) / (x**2).groupby(
        mine["seed"]
    ).sum()


def steeper(table: pd.DataFrame) -> pd.Series:
    """By seed, the slope in wide decoders minus that in narrow ones."""
    found = rc.networks(table)["width"]
    return slope(table, found.max()) - slope(table, found.min())


CLAIMS = (
    rc.Claim(
        "each filler helps wide decoders of SCAN more than narrow ones (ours)",
        "Exact answers to 'jump around right' rise faster with the verbs shown in 'around right' in wide decoders.",
        "ours, after a synthesis note: 'mainly when the task space is coverable'; stated before any run",
        effect=steeper,
        above=0.02,
        unit="rise of exact answers per filler, wide minus narrow decoders",
        controls=(
            rc.reads("perfect", "exact_held", at_least=1.0),
            rc.reads("walks", "exact_held", at_most=0.0),
            rc.reads("untrained", "exact_held", at_most=0.05),
        ),
        fits=(rc.fitted("exact_trained", at_least=FITS),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers and right tokens on the asked commands against the fillers, a line per decoder."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=4.2)
    for place, column, label in (
        (axes[0, 0], "exact_held", "exact answers, jump around right"),
        (axes[0, 1], "tokens_held", "right tokens, jump around right"),
    ):
        looks = (plots.NEUTRAL, "--"), (plots.GOOD, "-")
        for width, (colour, style) in zip(sorted(rows["width"].unique()), looks, strict=False):
            mine = rows[rows["width"] == width]
            for _, one in mine.groupby("seed"):
                place.plot(one["fillers"], one[column], style, color=colour, alpha=0.3, linewidth=0.8)
            means = mine.groupby("fillers")[column].mean()
            fit = mine.groupby("fillers")["exact_trained"].mean() >= FITS
            place.plot(means.index, means, style, color=colour, label=f"width {width:g}")
            place.plot(means.index[fit], means[fit], "o", color=colour, ms=5)
            place.plot(means.index[~fit], means[~fit], "o", color=colour, ms=5, mfc="white")
        if (rows.groupby(["width", "fillers"])["exact_trained"].mean() < FITS).any():
            place.plot([], [], "o", color="black", ms=5, mfc="white", label="hollow: does not fit")
        place.set(xlabel="verbs shown with 'around right'", ylabel=label, ylim=(-0.03, 1.05))
        place.grid(alpha=0.2, linewidth=0.6)
        place.set_xticks(settings.fillers)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return picture
