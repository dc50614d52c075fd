"""Do seven small tasks about function calls teach more than one large one, or only more of what is asked?

A synthesis note says that training on granular subtasks "generalizes better than umbrella datasets". The paper reports
no comparison of the two; this is one, with small decoders and a toy language of calls. The umbrella shows full calls,
the granular arm seven forms of the same items. One arm lacks the forms that hold nested, chained or parallel calls; one
shows full calls and paraphrases. New names and deeper nesting are asked. Decoders of the laptop tier are too small and
train too briefly to learn calls, and are three where a verdict needs five: its two arms only show that everything runs.
Decoders of the gpu tier that learn calls answer all new names and no deeper nesting, so that nothing is decided there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.abdelaziz2024 import training
from recombine.experiments.abdelaziz2024.training import ARMS, GRANULAR, PARAPHRASED, UMBRELLA, WITHOUT
from recombine.experiments.seeds import Seeded
from recombine.experiments.tokens import shared
from recombine.table import Effect

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(Seeded):
    width: int = 64
    """entries of a decoder's hidden vectors"""
    depth: int = 4
    """layers of a decoder"""
    heads: int = 4
    """heads of a layer"""
    steps: int = 3000
    """updates of the umbrella's decoders; other arms take as many as give them equally many scored tokens"""
    tuning_steps: int = 100
    """updates on the few examples of the full call"""
    batch: int = 32
    """rows per update"""
    learning_rate: float = 4e-3
    """AdamW's learning rate, which falls to zero along a cosine"""
    weight_decay: float = 1e-2
    """AdamW's weight decay"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""
    items: int = 8000
    """lists of functions with a request, per depth, that training shows"""
    examples: int = 200
    """full calls that every arm sees at the end"""
    tokens: int = 64
    """the longest row"""
    n_eval: int = 512
    """rows of each kind on which a decoder is evaluated"""
    arms: tuple[str, ...] = (UMBRELLA, GRANULAR)
    """what is compared: umbrella, granular, without the skill, paraphrased"""

    def __post_init__(self) -> None:
        self.need_positive("width", "depth", "heads", "steps", "tuning_steps", "batch", "items", "tokens", "n_eval")
        self.need_rates("learning_rate")
        if unknown := set(self.arms) - set(ARMS):
            raise rc.UserError(f"no arm is called {sorted(unknown)[0]!r}; there are {', '.join(ARMS)}")
        if UMBRELLA not in self.arms or not 2 <= self.examples <= 2 * self.items:
            raise rc.UserError(f"the umbrella is always trained, and sees 2 to {2 * self.items} examples of full calls")


QUICK = Settings(seeds=2, width=8, depth=1, heads=2, steps=20, tuning_steps=5, batch=8, items=20, examples=8, n_eval=16)
LAPTOP = Settings(seed=1, seeds=3, width=32, depth=2, steps=200, items=4000, n_eval=256)
GPU = Settings(
    seed=2, seeds=8, block=8, width=128, steps=20_000, batch=64, items=40_000, precision="bfloat16", arms=ARMS
)
_LARGE: dict[str, Any] = {"width": 256, "depth": 8, "heads": 8, "learning_rate": 1e-3}
PAPER = replace(GPU, seeds=10, block=5, steps=100_000, items=200_000, precision="float32", **_LARGE)
_TWO: dict[str, Any] = {"arms": (UMBRELLA, GRANULAR), "seeds": lambda s: min(s.seeds, 5)}  # minutes
VARIANTS = (
    rc.Variant("400 examples of the full call", "how many examples suffice is our choice", examples=400, **_TWO),
    rc.Variant("half the updates", "how long decoders train is our choice", steps=lambda s: s.steps // 2, **_TWO),
)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"arm": arm} for arm in settings.arms])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, arm = cell.settings, cell.arm
    trained = training.trained(settings, arm, cell.members, monitor)
    who = [{"condition": arm, "seed": seed} for seed in cell.members]
    found = training.measured(settings, arm, trained.model)
    for seed, (_, record) in zip(cell.members, found, strict=True):
        monitor.recorded(f"{arm}-{seed}", record)
    return rc.rows(trained, who, [scores | sizes(settings, arm) for scores, _ in found])


def sizes(settings: Settings, arm: str) -> dict[str, float]:
    """What an arm was given: updates and tokens that bear loss; and how large its decoders are."""
    from recombine.tasks.calls import scored_tokens

    updates = training.steps(settings, arm)
    each = scored_tokens(training.forms(arm), training.DEPTHS)
    given = {"updates": updates, "loss_tokens": updates * settings.batch * each, "width": settings.width}
    return given | shared.sizes(training.maker(settings.width, settings.depth, settings.heads), settings.tokens - 1)


def controls(settings: Settings) -> list[dict]:
    """A system that never errs, one that copies the nearest trained call, chance, and an untrained decoder."""
    make = training.maker(settings.width, settings.depth, settings.heads)
    untrained = rc.initial_models(make, rc.key(settings.seed, "untrained")[None])
    known = rc.control_rows(partial(training.answers, settings), training.known(settings))
    return [*known, {"system": "untrained", "seed": 0} | training.measured(settings, UMBRELLA, untrained)[0][0]]


FLOOR = 0.02
"""The least share of exact calls, at the best arm, at which arms are compared."""
LABELS = {"iid": "as trained", "names": "new names", "nesting": "deeper nesting"}


def compared(arm: str, other: str, effects: Mapping[str, Effect]) -> Effect:
    """A column per question; none where a tier does not train one of the two arms."""

    def columns(table: pd.DataFrame) -> pd.DataFrame:
        trained = {arm, other} <= set(rc.networks(table)["condition"])
        return rc.each(effects if trained else {})(table)

    return columns


def ahead(arm: str, other: str, *questions: str) -> Effect:
    """By seed and question, how many more calls one arm gets right than another."""
    return compared(arm, other, {LABELS[q]: rc.difference(f"exact_{q}", arm, other) for q in questions})


def alike(arm: str, other: str, *questions: str) -> Effect:
    """By seed, 1 if both arms answer new items of the trained kind equally well to 0.02, and nine tenths of them."""

    def both(table: pd.DataFrame) -> pd.Series:
        one, two = (rc.by_seed(table, "exact_iid", condition=name) for name in (arm, other))
        good = (abs(one - two) <= 0.02) & (np.minimum(one, two) >= 0.9)
        return good.astype(float).where(one.notna() & two.notna())

    return compared(arm, other, {LABELS[q]: both for q in questions})


def learnt(arm: str, other: str, question: str) -> Effect:
    """By seed, 1 if the second arm answers nine tenths of new items of the trained kind; the first is not asked."""
    return compared(arm, other, {LABELS[question]: rc.fitted("exact_iid", at_least=0.9, condition=other)})


def at_the_floor(arm: str, other: str) -> Callable[[pd.DataFrame], dict[str, tuple[str, str]]]:
    """The questions of which neither of two arms answers enough to be compared."""

    def left_open(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
        rows = rc.networks(table)
        mine = rows[rows["condition"].isin((arm, other))].groupby("condition")
        most = {label: mine[f"exact_{q}"].mean().max() for q, label in LABELS.items()}
        why = f"neither arm answers {FLOOR:.0%}: there is nothing to compare"
        return {label: ("undecided", why) for label, share in most.items() if share < FLOOR}

    return left_open


def spread(table: pd.DataFrame) -> float:
    """By how much the tokens that bear loss differ between arms, as a share of the least."""
    tokens = rc.networks(table)["loss_tokens"]
    return float(tokens.max() / tokens.min() - 1)


EQUAL = (rc.Check("difference of arms in tokens that bear loss, as a share", spread, at_most=0.02),)
CONTROLS = (
    *(rc.reads("perfect", f"exact_{kind}", at_least=1.0) for kind in ("iid", "names", "nesting")),
    *(rc.reads("copier", f"exact_{kind}", at_most=0.2) for kind in ("names", "nesting")),
    rc.reads("untrained", "exact_iid", at_most=0.05),
    rc.reads("perfect", "unlisted_names", at_most=0.0),
)
claim = partial(rc.Claim, preconditions=EQUAL, controls=CONTROLS)
CLAIMS = (
    claim(
        "seven subtasks beat full calls alone (the note)",
        "Trained on seven subtasks and then on a few full calls, decoders call functions with new names, and calls"
        " nested more deeply, rightly more often than decoders that fit equally well after as many tokens of full"
        " calls.",
        "a synthesis note: granular subtasks 'generalizes better than umbrella datasets'; not compared in the paper",
        effect=ahead(GRANULAR, UMBRELLA, "names", "nesting"),
        above=0.05,
        unit="share of exact calls, seven subtasks minus full calls alone",
        fits=(alike(GRANULAR, UMBRELLA, "names", "nesting"),),
        unsettled=at_the_floor(GRANULAR, UMBRELLA),
        over="questions",
    ),
    claim(
        "seven subtasks are more than augmentation (ours)",
        "Trained on seven subtasks and then on a few full calls, decoders call functions with new names rightly more"
        " often than decoders that fit equally well after full calls whose requests are also paraphrased.",
        "ours; stated before any run",
        effect=ahead(GRANULAR, PARAPHRASED, "names"),
        above=0.03,
        unit="share of exact calls with new names, seven subtasks minus full calls and paraphrases",
        fits=(alike(GRANULAR, PARAPHRASED, "names"),),
        unsettled=at_the_floor(GRANULAR, PARAPHRASED),
    ),
    claim(
        "subtasks without nested, chained or parallel calls help with deeper nesting (ours)",
        "After four subtasks in which no call is nested, chained or beside another, and the same few full calls, calls"
        " nested more deeply are right more often than after full calls alone.",
        "ours; margin stated before any run; that only full calls must be learnt was decided after a look: the four"
        " subtasks' own shortfall is part of the answer",
        effect=ahead(WITHOUT, UMBRELLA, "nesting"),
        above=0.03,
        unit="share of exact calls nested three deep, four subtasks minus full calls alone",
        fits=(learnt(WITHOUT, UMBRELLA, "nesting"),),
        unsettled=at_the_floor(WITHOUT, UMBRELLA),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact calls, right tokens, and functions named that no list had, by what was trained on and what is asked.

    A dot is one decoder, a bar the mean. After what the legend says, all see the same few full calls. The four subtasks
    are those of the seven in which no call is nested, chained or beside another.
    """
    words = {UMBRELLA: "full calls alone", GRANULAR: "seven subtasks"}
    words |= {WITHOUT: "four subtasks", PARAPHRASED: "full calls and paraphrases"}
    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.0)
    rows = rc.networks(table)
    titles = {"exact": "exact calls", "tokens": "right tokens", "unlisted": "names not in the list"}
    for panel, (measure, title) in zip(axes[0], titles.items(), strict=True):
        for colour, arm in enumerate(settings.arms):
            mine = rows[rows["condition"] == arm]
            for place, kind in enumerate(LABELS):
                values = mine[f"{measure}_{kind}"].to_numpy(float)
                x = place + (colour - (len(settings.arms) - 1) / 2) * 0.2
                panel.plot(np.full(len(values), x), values, "o", color=f"C{colour}", alpha=0.5, ms=4)
                panel.plot(
                    x, np.nanmean(values) if np.isfinite(values).any() else np.nan, "_", color=f"C{colour}", ms=14
                )
            panel.plot([], [], "o", color=f"C{colour}", ms=4, label=words[arm])
        panel.set_xticks(range(len(LABELS)), list(LABELS.values()))
        panel.set(title=title, ylim=(-0.03, 1.03))
        if measure == "exact" and not rows["exact_iid"].max() >= 0.9:
            panel.set_facecolor("0.94")
            panel.text(0.5, 0.5, "calls are not learnt", transform=panel.transAxes, ha="center", style="italic")
    handles = axes[0, 0].get_legend_handles_labels()
    picture.legend(*handles, loc="outside lower center", ncols=4, fontsize=7, frameon=False)
    return picture
