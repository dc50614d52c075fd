"""Are chains of functions computed, or are their pieces remembered?

Dziri et al. find that what a transformer gets right was often seen whole in training, and call it subgraph matching.
Frequent pieces are also easy ones, so here pairs of functions are withheld at random and compared at equal depth: rows
held out singly, all of whose pairs were trained on, against rows with a pair that never was. Networks answer at once,
or write every step. The margins of the first, second and fourth claim were proposed after one network each of an
earlier calibration, whose seeds are not used here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments.dziri2023 import patching
from recombine.experiments.tokens import shared, worlds

if TYPE_CHECKING:
    import pandas as pd

USUAL = 0.25
"""The share of pairs that is withheld where the claims are judged."""


@dataclass(frozen=True, kw_only=True)
class Settings(worlds.Worlds):
    withheld: tuple[float, ...] = (USUAL,)
    """shares of the ordered pairs of functions that are never adjacent in training"""
    written_steps: int = 1000
    """updates of networks that write their steps, which learn faster"""
    places: Literal["plain", "learned", "nowhere"] = "plain"
    """how a network is told where a token stands"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("written_steps")
        if USUAL not in self.withheld or len(set(self.withheld)) < len(self.withheld):
            raise rc.UserError(f"withheld must be different shares, {USUAL} among them, got {self.withheld}")
        if self.longest < 3:
            raise rc.UserError(f"claims speak of chains of two and three functions, got longest {self.longest}")


QUICK = Settings(seeds=2, symbols=4, functions=4, width=8, head=4, depth=1, steps=20, written_steps=20, batch=16)
LAPTOP = Settings(seed=3, steps=3000)
_SIZES = {"symbols": 12, "functions": 12, "width": 128, "depth": 4, "head": 32, "batch": 512}
_TRAINING = {"steps": 10_000, "written_steps": 4_000, "learning_rate": 1e-3, "precision": "bfloat16"}
GPU = Settings(seed=3, seeds=10, block=10, withheld=(0.125, USUAL, 0.5), **_SIZES, **_TRAINING)  # pyrefly: ignore
PAPER = replace(GPU, symbols=16, functions=16, width=256, precision="float32", steps=100_000, written_steps=20_000)
_ONE = {"withheld": (USUAL,)}
VARIANTS = (
    rc.Variant("learned places", "the paper's language models learn a vector for each place", places="learned", **_ONE),
    rc.Variant("no places", "decoders can do without places", places="nowhere", **_ONE),
    rc.Variant("half the steps", "the length of training is ours", steps=lambda s: s.steps // 2, **_ONE),
    rc.Variant("less held out", "how many single rows are held out is ours", held_out=0.1, **_ONE),
    rc.Variant("more weight decay", "weight decay is ours", weight_decay=0.1, **_ONE),
)
ONCE, STEPS = "at once", "in steps"


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"written": False}, {"written": True}])


def decoder(settings: Settings, task: rc.Task):
    """How a decoder with the settings' kind of places is made."""
    from recombine.models.decoder import nowhere, plain

    room = 2 * settings.longest + 3
    kinds: dict[str, dict[str, Any]] = {"plain": {"places": plain}, "nowhere": {"places": nowhere}}
    kinds["learned"] = {"places": nowhere, "learned": room}
    return shared.decoder(settings, task, **kinds[settings.places])


def run(cell: rc.Cell, monitor) -> list[dict]:
    from recombine.splits.chains import of_world

    settings, name = cell.settings, STEPS if cell.written else ONCE
    settings = replace(settings, steps=settings.written_steps) if cell.written else settings
    task = worlds.family(settings, max(cell.members) + 1, steps=cell.written)
    make = decoder(settings, task)
    who = [{"condition": name, "withheld": w, "seed": s} for w in settings.withheld for s in cell.members]
    known = [worlds.world(settings, task, w["seed"], w["withheld"]) for w in who]
    seeds = [w["seed"] for w in who]
    chosen = [of_world(task.combinations, seed, each.train) for seed, each in zip(seeds, known, strict=True)]
    trained = shared.fit(settings, task, make, seeds=seeds, chosen=chosen, monitor=monitor, label=name)
    found = []
    for i, (w, each) in enumerate(zip(who, known, strict=True)):
        scores, record = worlds.measured(settings, task, trained[i].model, each)
        monitor.recorded(f"{name}-{w['withheld']}-{w['seed']}", record)
        donors = rc.rng(settings.seed, "donors", w["seed"])
        patch = patching.NOTHING if cell.written else patching.followed(trained[i].model, task, each, donors)
        found.append(scores | patch | shared.sizes(make, record.x.shape[1]))
    return rc.rows(trained, who, found)


def controls(settings: Settings) -> list[dict]:
    """Perfect, a rememberer and voters in one world; a designed decoder that composes; and an untrained one."""
    task = worlds.family(settings, 1)
    model = shared.untrained(settings, decoder(settings, task))
    known = worlds.world(settings, task, 0, USUAL)
    scores, _ = worlds.measured(settings, task, model, known)
    composer = patching.Composer(task.sample.tables[0], settings.symbols)  # pyrefly: ignore
    patched = []
    for name, each in (("untrained", model), ("composes", composer)):
        patch = patching.followed(each, task, known, rc.rng(settings.seed, "donors", 0))
        gain = patch["patch_follows"] - patch["patch_by_lot"]
        patched.append({"system": name, "seed": 0, "patch_gain": gain} | patch)
    return [*worlds.known_systems(settings, USUAL), patched[0] | scores, patched[1]]


value = partial(rc.value, withheld=USUAL)
at_once, in_steps = partial(value, condition=ONCE), partial(value, condition=STEPS)


def above_voter(group: str):
    """By seed, exact answers of a group beyond those of the best voter, answering at once."""
    return lambda t: at_once(f"exact_{group}")(t) - at_once(f"voter_{group}")(t)


def novel(table: pd.DataFrame) -> pd.Series:
    """By seed, exact answers to chains of two and three functions with a withheld pair, the mean of both."""
    return (at_once("exact_pair_2")(table) + at_once("exact_pair_3")(table)) / 2


KNOWS = {name: (worlds.fits(condition=name, withheld=USUAL),) for name in (ONCE, STEPS)}
claim = partial(rc.Claim, controls=worlds.CONTROLS)
CLAIMS = (
    claim(
        "success on chains is remembered (the note)",
        "Answering at once, decoders are right beyond the best voter more often where all pairs of functions were"
        " trained on than where one was withheld, at equal depth.",
        "synthesis note on Dziri et al. (2023): memorises computation subgraphs; margin suggested by calibration",
        effect=lambda t: above_voter("row_2")(t) - above_voter("pair_2")(t),
        above=0.05,
        unit="exact answers beyond the best voter, chains of two: held out singly minus withheld pair",
        preconditions=(worlds.enough("row_2", "pair_2"),),
        fits=KNOWS[ONCE],
    ),
    claim(
        "novel compositions fail drastically (the note)",
        "Answering at once, decoders are right on trained chains and wrong on most with a pair that was withheld.",
        "synthesis note on Dziri et al. (2023): fail drastically on novel compositions; margin by calibration",
        effect=lambda t: at_once("exact_trained")(t) - novel(t),
        above=0.5,
        unit="exact answers, trained chains minus those of two and three functions with a withheld pair",
        preconditions=(worlds.enough("pair_2", "pair_3"),),
        fits=KNOWS[ONCE],
    ),
    claim(
        "steps written out compose (ours)",
        "Writing every step, decoders are right on nearly all chains with a pair that was withheld.",
        "ours; margin suggested by calibration",
        effect=rc.each({f"{d} functions": in_steps(f"exact_pair_{d}") for d in (2, 3)}),
        above=0.9,
        over="lengths",
        unit="exact answers to chains with a withheld pair, in steps",
        preconditions=(worlds.enough("pair_2", "pair_3"),),
        fits=KNOWS[STEPS],
    ),
    claim(
        "the value in between is kept and used at the place of the first function (ours)",
        "Answering at once, decoders follow a donor's value of the first function when what stands at the place of"
        " that function, after a layer, is replaced by the donor's.",
        "ours; activation patching at one place, best of the layers on other rows; it says nothing of other places",
        effect=lambda t: at_once("patch_follows")(t) - at_once("patch_by_lot")(t),
        above=0.2,
        unit="answers that follow the donor's value, minus those that follow another donor's",
        preconditions=(
            rc.Check("exact answers to chains held out singly", lambda t: at_once("exact_row_2")(t).mean(), 0.5),
        ),
        controls=(
            *worlds.CONTROLS,
            rc.Check("answers that follow x when x is replaced", lambda t: at_once("patch_x")(t).mean(), 0.9),
            rc.reads("untrained", "patch_gain", at_least=-0.1, at_most=0.1),
            rc.reads("composes", "patch_gain", at_least=0.5),
        ),
        fits=KNOWS[ONCE],
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers by group of rows, at once and in steps, and what follows the value in between; a bar is the mean.

    Of chains of two and of three functions, "single" ones have trained pairs alone, and "pair" ones a withheld pair.
    Dotted is the voter, the best answer without looking at x: the commonest training answer after the same last
    function, or the same last two. Third: of answers at once, those that follow a donor whose state is put at the
    place of the first function, and those that follow another donor. Where a tier withholds several shares of the
    pairs, means by share are last; claims are about a quarter.
    """
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=3 + (len(settings.withheld) > 1), side=3.4)
    groups = ["trained", *(f"{kind}_{d}" for d in (2, 3) for kind in ("row", "pair"))]
    words = ["trained", "single\n2", "pair\n2", "single\n3", "pair\n3"]
    for place, name, colour in zip(axes[0], (ONCE, STEPS), (plots.BAD, plots.GOOD), strict=False):
        mine = rows[(rows["condition"] == name) & (rows["withheld"] == USUAL)]
        plots.dots(place, {w: mine[f"exact_{g}"].to_numpy() for w, g in zip(words, groups, strict=True)}, colour=colour)
        for i, group in enumerate(groups):
            level = mine[f"voter_{group}"].mean()
            place.plot([i - 0.35, i + 0.35], [level, level], color="black", linestyle=":", linewidth=1)
        place.set(title=f"answers {name}", ylabel="exact answers", ylim=(-0.03, 1.05))
        place.grid(axis="y", alpha=0.2, linewidth=0.6)
        place.set_xlabel("rows: trained, held out singly, with a withheld pair\n(2, 3: functions; dotted: best voter)")
    mine = rows[(rows["condition"] == ONCE) & (rows["withheld"] == USUAL)]
    follow = {"the donor": mine["patch_follows"].to_numpy(), "another donor": mine["patch_by_lot"].to_numpy()}
    plots.dots(axes[0, 2], follow, colour=plots.NEUTRAL)
    axes[0, 2].set(title="state of a donor put in", ylabel="answers that follow", ylim=(-0.03, 1.05))
    axes[0, 2].grid(axis="y", alpha=0.2, linewidth=0.6)
    if len(settings.withheld) > 1:
        _by_share(axes[0, 3], settings, rows)
    return picture


def _by_share(place, settings: Settings, rows: pd.DataFrame) -> None:
    """Means of chains of two by the share of pairs withheld, of both arms and kinds of rows; and the voter's."""
    for name, colour in ((ONCE, rc.plots.BAD), (STEPS, rc.plots.GOOD)):
        for group, style in (("row_2", "--"), ("pair_2", "-")):
            means = rows[rows["condition"] == name].groupby("withheld")[f"exact_{group}"].mean()
            kind = "held out singly" if group == "row_2" else "withheld pair"
            place.plot(means.index, means, f"o{style}", color=colour, markersize=4, label=f"{name}, {kind}")
    voter = rows.groupby("withheld")["voter_pair_2"].mean()
    place.plot(voter.index, voter, ":", color="black", linewidth=1, label="best voter, withheld pair")
    place.legend(loc="lower left", fontsize=6.5, frameon=False, handlelength=3, labelspacing=0.2, borderaxespad=0)
    place.set(xlabel="share of pairs withheld", ylabel="mean exact answers, chains of two", ylim=(-0.03, 1.05))
    place.set_xticks(np.asarray(settings.withheld))
