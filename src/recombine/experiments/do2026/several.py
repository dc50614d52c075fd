"""Can one network draw several pictures, and what becomes of pictures that no network was designed for?

Figures 42-44 and 24-29. How the paper's network of several pictures is built could not be read; here it is told by a
fifth input, -1 to 1, which picture to draw, and its loss is the mean over all of them at every update: a batch drawn
with replacement would leave pictures out, so all of them are one example. Each picture also gets a network of its own,
and so do pictures outside the designed ones. All have the same units, depth and updates: of each type as many units as
any of the designed networks has, and the depth of the deepest, so that every one of those fits in.
R is relative to what the network draws and is compared at the same picture alone; how complex the pictures outside are
is not held equal. For scores, what is told is added to the bias input: four inputs are left, and the same picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments.do2026 import several_figure
from recombine.experiments.do2026.several_figure import ALONE, OUTSIDE, SHARED
from recombine.experiments.do2026.together import apart, content, maker, pictures, together, told
from recombine.experiments.pictures import compare, figures, scoring, shared

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = scoring.UNKNOWN | dict.fromkeys(("log_share", "apart", "drawn", "wanted", "maps"), np.nan)


@dataclass(frozen=True, kw_only=True)
class Settings(shared.PictureSettings):
    outside: tuple[str, ...] = ("portrait", "house")
    """pictures that no network was designed for: house, ball, portrait, medals, present or another of
    `rc.gallery.targets`, or your own PNG and JPEG files"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.outside or len(set(self.outside)) < len(self.outside):
            raise rc.UserError("name at least one picture outside the designed ones, each once")
        if len(self.targets) < 2 and not self.artifacts:
            raise rc.UserError("one network for all needs at least two targets")


QUICK = Settings(**shared.QUICK | {"targets": ("face", "moth"), "outside": ("house",)})
# Errors of some networks of seed 0 were known beforehand.
LAPTOP = Settings(seed=1, size=24, steps=1400, n_weights=24, outside=("house",))
OTHERS = ("portrait", "medals", "present", "house", "ball")
GPU = Settings(seeds=8, block=8, size=64, steps=20_000, n_weights=80, outside=OTHERS)
PAPER = replace(GPU, size=256, steps=100_000, n_weights=1000)


def cells(settings: Settings) -> list[rc.Cell]:
    """Networks that draw these pictures, one or all designed ones; other content of a file makes another cell."""
    every = [tuple(shared.goals(settings)), *((name,) for name in pictures(settings))]
    return rc.cells(settings, [{"names": names, "content": content(settings, names)} for names in every])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, every, alone = cell.settings, list(pictures(cell.settings)), len(cell.names) == 1
    task = apart(settings) if alone else together(settings)
    chosen = np.isin(every, cell.names) if alone else np.ones(1, bool)
    trained = rc.population(
        task,
        rc.Split(task.combinations, chosen),
        maker(settings, 4 if alone else 5),
        rc.member_keys(settings.seed, cell.members),
        rc.Recipe(settings.steps, 1, rc.unit_adam),
        dials={"learning_rate": settings.learning_rate},
        monitor=monitor,
        label="networks",
    )
    answers = rc.records(trained.model, task, task.combinations[chosen], key=rc.key(settings.seed, "test"))
    for seed, answer in zip(cell.members, answers, strict=True):
        monitor.recorded(f"networks-{seed}", answer)
    each = [(trained[i], answers[i].y_hat[0], seed) for i, seed in enumerate(cell.members)]
    rows = scoring.in_threads(lambda one: described(cell, *one), each, monitor=monitor)
    return [row for of_one in rows for row in of_one]


def described(cell: rc.Cell, trained: Any, colours: np.ndarray, seed: int) -> list[dict]:
    """A row for each picture that a network draws; the first seed's pictures and maps are kept to be looked at."""
    settings, several = cell.settings, len(cell.names) > 1
    kind = SHARED if several else OUTSIDE if cell.names[0] in settings.outside else ALONE
    models = told(trained.model, len(cell.names)) if several else [trained.model]
    colours = colours.reshape(len(cell.names), settings.size, settings.size, 3)
    facts = {"system": "network", "kind": kind, "seed": seed, "loss": float(trained.losses[-1])}
    facts["diverged_at"] = int(trained.diverged_at)
    if trained.diverged_at >= 0:
        return [facts | {"condition": f"{kind}, {name}", "goal": name, **UNKNOWN} for name in cell.names]
    maps = figures.same_units(models, settings.size) if kind != ALONE and not seed else [None] * len(models)
    rows = []
    for name, model, picture, looked in zip(cell.names, models, colours, maps, strict=True):
        goal = pictures(settings)[name]
        found = scoring.scored(settings, goal, model, seed)
        found["log_share"] = log_share(found["log_mse"], goal)
        found["apart"] = float(np.abs(rc.render(model, settings.size) - picture).max())
        found |= {} if seed else {"drawn": figures.thumb(picture), "wanted": figures.thumb(goal.picture)}
        found |= {} if looked is None else {"maps": looked}
        rows.append(facts | {"condition": f"{kind}, {name}", "goal": name} | found)
    return rows


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, the untrained one of these units, for pictures outside too; and the best that a
    network can draw which is not told the picture: the mean of all.
    """
    rows, model = (
        scoring.controls(settings, lambda _: maker(settings, 4)),
        scoring.untrained(settings, maker(settings, 4)),
    )
    for name in settings.outside:
        rows += scoring.known_rows(settings, pictures(settings)[name], {"untrained": model})
    for row in rows:
        row["log_share"] = log_share(row["log_mse"], pictures(settings)[row["goal"]])
    goals = shared.goals(settings).values()
    middle = np.mean([goal.picture for goal in goals], axis=0)
    errors = {goal.name: float(np.mean((goal.picture - middle) ** 2)) for goal in goals}
    return rows + [{"system": "not told", "goal": name, "seed": 0, "mse": mse} for name, mse in errors.items()]


def log_share(log_mse: float, goal: shared.Goal) -> float:
    """log10 of an error as a share of the picture's variance."""
    return log_mse - float(np.log10(goal.picture.var(axis=(0, 1)).mean() + 1e-12))


def designed(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of networks for the pictures that a network was designed for."""
    rows = rc.networks(table)
    return rows[rows["kind"] != OUTSIDE]


def outside(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of networks for the pictures outside."""
    return rc.pick(table, kind=OUTSIDE)


def ratio(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture, log10 of the error of one for all over that of one each."""
    return compare.by_picture(rc.difference("log_mse", SHARED, ALONE, by="kind"), designed)(table)


def beyond_number(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture, the same over the number of pictures."""
    return ratio(table) - np.log10(len(compare.known(table, "designed", "R")))


def undrawn(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture outside, log10 of the share undrawn over its mean for the designed pictures."""
    known = rc.pick(table, kind=ALONE).groupby("seed")["log_share"].agg(lambda v: v.mean(skipna=False))
    return compare.by_picture(rc.value("log_share"), outside)(table).sub(known, axis=0)


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """By seed and picture outside, the share of maps that are distinct minus the largest of a designed network."""
    most = max(compare.known(table, "designed", "distinct_share").values())
    return compare.by_picture(rc.value("distinct_share"), outside)(table) - most


SAME = rc.Check(
    "largest change of a colour when the bias input tells which picture", lambda t: t["apart"].max(), at_most=1e-3
)
EQUAL = rc.Check(
    "log10 of the error of one for all over that of one each, mean of all",
    lambda t: float(ratio(t).to_numpy().mean()),
    at_least=-np.log10(1.5),
    at_most=np.log10(1.5),
)
NOT_TOLD = rc.Check(
    "mean squared error of a network that is not told which picture, mean of all",
    lambda t: float(np.mean([*compare.known(t, "not told", "mse").values()])),
    at_least=0.01,
)
DRAWN = (compare.drawn(designed, kind=ALONE),)
CLAIMS = (
    rc.Claim(
        "one network draws all the designed pictures",
        "Told which, one network draws all the designed pictures with a mean squared error below 0.01 (at seeds whose"
        " networks for one picture draw theirs).",
        "figures 42-44",
        effect=compare.by_picture(rc.value("mse", kind=SHARED), designed),
        below=0.01,
        unit="mean squared error",
        fits=DRAWN,
        over=compare.PICTURES,
        controls=(*compare.CONTROLS, SAME, NOT_TOLD),
    ),
    rc.Claim(
        "the error of one network for all pictures grows by no more than their number",
        "After as many updates, its error is at most as many times that of one network each as there are pictures.",
        "ours; stated before these seeds were run",
        effect=beyond_number,
        below=0.0,
        unit="log10 of the error, one for all over one each, and over the number of pictures",
        fits=DRAWN,
        over=compare.PICTURES,
        controls=(*compare.CONTROLS, SAME, NOT_TOLD),
    ),
    rc.Claim(
        "drawing several pictures does not fracture a network more",
        "Single weights of the network for all make changes hardly harder to compress than those of one network each.",
        "ours; stated before these seeds were run",
        **compare.minus("R", SHARED, ALONE, by="kind", among=designed),
        below=0.02,
        unit=f"{compare.R}, one for all minus one each",
        preconditions=(EQUAL,),
        controls=(*compare.CONTROLS, SAME),
    ),
    rc.Claim(
        "pictures outside the designed ones are drawn less well",
        "Of a picture that no network of these units was designed for, a network leaves a larger share undrawn than of"
        " the designed ones on average.",
        "ours; stated before these seeds were run; the paper draws such pictures in figures 24-29",
        effect=undrawn,
        above=0.1,
        unit="log10 of the error as a share of the picture's variance, outside minus the mean of designed",
        fits=(rc.fitted("mse", at_most=compare.DRAWN, kind=ALONE),),
        over=compare.PICTURES,
        controls=compare.CONTROLS,
    ),
    rc.Claim(
        "networks for pictures outside the designed ones reuse unit maps less",
        "Of the unit maps of networks for pictures outside a larger share is distinct than of any designed network's.",
        "ours; as for the designed pictures in kumar2025/fracture",
        effect=distinct,
        above=0.2,
        unit="distinct maps as a share of all, networks for pictures outside minus the designed one that reuses least",
        fits=(compare.drawn(outside),),
        over=compare.PICTURES,
        controls=compare.CONTROLS,
    ),
)


figure = several_figure.figure
