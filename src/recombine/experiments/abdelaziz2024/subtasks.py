"""Do seven small tasks about function calls teach more than one large one, or only more of what is asked?

A synthesis note says that training on granular subtasks "generalizes better than umbrella datasets". The paper reports
no comparison of the two; this is one, with small decoders and a toy language of calls. The umbrella shows full calls,
the granular arm seven forms of the same items. One arm lacks the forms that hold nested, chained or parallel calls; one
shows full calls and paraphrases. New names and deeper nesting are asked. Decoders of the laptop tier are too small and
train too briefly to learn calls, and are three where a verdict needs five: its two arms only show that everything runs.
Decoders of the gpu tier that learn calls answer nearly all new names and no deeper nesting: nothing is decided there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.abdelaziz2024 import subtasks_claims, training
from recombine.experiments.abdelaziz2024.subtasks_claims import LABELS, LEARNT, WORDS
from recombine.experiments.abdelaziz2024.training import ARMS, GRANULAR, UMBRELLA
from recombine.experiments.seeds import Seeded
from recombine.experiments.tokens import shared

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
        if self.width % self.heads or self.width // self.heads % 2:
            raise rc.UserError(f"width must be an even multiple of heads, got {self.width} and {self.heads}")
        if unknown := set(self.arms) - set(ARMS):
            raise rc.UserError(f"no arm is called {sorted(unknown)[0]!r}; there are {', '.join(ARMS)}")
        if UMBRELLA not in self.arms or len(set(self.arms)) < len(self.arms):
            raise rc.UserError(f"arms are {UMBRELLA!r} and others, each once; got {', '.join(self.arms) or 'none'}")
        if not 2 <= self.examples <= 2 * self.items:
            raise rc.UserError(f"examples must be from 2 to twice the items, {2 * self.items}; got {self.examples}")


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


CLAIMS = subtasks_claims.STATED


def figure(settings: Settings, table: pd.DataFrame):
    """Exact calls, right tokens, and functions named that no list had, by what was trained on and what is asked.

    A dot is one decoder, a bar the mean; a decoder counts in the claims from nine tenths of calls as trained on. After
    what the legend says, all see the same few full calls. The four subtasks are those of the seven in which no call is
    nested, chained or beside another. Right: of the calls whose first letter is right.
    """
    picture, axes = rc.plots.panels(rows=1, columns=3, side=3.0)
    rows = rc.networks(table)
    titles = {"exact": "exact calls", "tokens": "right tokens", "unlisted": "names not in the list"}
    for panel, (measure, title) in zip(axes[0], titles.items(), strict=True):
        for colour, arm in enumerate(settings.arms):
            mine = rows[rows["condition"] == arm]
            for place, kind in enumerate(LABELS):
                values = mine[f"{measure}_{kind}"].to_numpy(float)
                x = place + (colour - (len(settings.arms) - 1) / 2) * 0.2
                panel.plot(x + np.linspace(-0.07, 0.07, len(values)), values, "o", color=f"C{colour}", alpha=0.5, ms=4)
                panel.plot(
                    x, np.nanmean(values) if np.isfinite(values).any() else np.nan, "_", color=f"C{colour}", ms=14
                )
            panel.plot([], [], "o", color=f"C{colour}", ms=4, label=WORDS[arm])
        panel.set_xticks(range(len(LABELS)), [label.replace(" ", "\n") for label in LABELS.values()])
        panel.set(title=title, ylabel="share", ylim=(-0.03, 1.03), xlim=(-0.5, len(LABELS) - 0.5))
        if not rows[[f"{measure}_{kind}" for kind in LABELS]].notna().any(axis=None):
            panel.text(0.5, 0.5, "no name is begun rightly", transform=panel.transAxes, ha="center", style="italic")
        if measure == "exact" and not rows["exact_iid"].max() >= LEARNT:
            panel.set_facecolor("0.94")
            panel.text(0.5, 0.5, "calls are not learnt", transform=panel.transAxes, ha="center", style="italic")
    handles = axes[0, 0].get_legend_handles_labels()
    picture.legend(*handles, loc="outside lower center", ncols=4, fontsize=7, frameon=False)
    return picture
