"""Can one network draw several pictures, and what becomes of pictures that no network was composed for?

Figures 42-44 and 24-29. How the paper's network of several pictures is built could not be read; here it is told by a
fifth input, -1 to 1, which picture to draw, and its loss is the mean over all of them at every update: a batch drawn
with replacement would leave pictures out, so all of them are one example. Each picture also gets a network of its own,
and so do pictures outside the composed ones. All have the same units, depth and updates: of each type as many units as
any of the composed networks has, and the depth of the deepest, so that every one of those fits in.
R is a share of the picture's own size and is compared at the same picture alone; how complex the pictures outside are
is not held equal. For scores, what is told is added to the bias input: four inputs are left, and the same picture.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _looks, _pictures, _seeds

if TYPE_CHECKING:
    import pandas as pd

SHARED, ALONE, OUTSIDE = "one for all", "one each", "outside"
LOST = {"draws": 0.0, **dict.fromkeys(("mse", "log_mse", "log_share", "apart", "drawn", "wanted", "maps"), np.nan)}


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    outside: tuple[str, ...] = ("portrait", "house")
    """pictures that no network was composed for: house, ball, portrait, medals, present or another of `rc.targets`,
    or your own PNG and JPEG files"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.outside or len(set(self.outside)) < len(self.outside):
            raise rc.UserError("name at least one picture outside the composed ones, each once")
        if len(self.targets) < 2 and not self.artifacts:
            raise rc.UserError("one network for all needs at least two targets")


QUICK = Settings(**_pictures.QUICK | {"targets": ("face", "moth"), "outside": ("house",)})
# Errors of some networks of seed 0 were known beforehand.
LAPTOP = Settings(seed=1, size=24, steps=1400, swept=24, outside=("house",))
OTHERS = ("portrait", "medals", "present", "house", "ball")
GPU = Settings(seeds=8, block=8, size=64, steps=20_000, swept=80, outside=OTHERS)
PAPER = replace(GPU, size=256, steps=100_000, swept=1000)


@cache
def pictures(settings: Settings) -> dict[str, _pictures.Goal]:
    """The composed pictures and, after them, those outside."""
    known = {t.name: t.picture for t in rc.targets.targets(settings.size) if t.kind != "composed"}
    known |= {name: rc.load_picture(name, settings.size) for name in settings.outside if Path(name).suffix}
    composed = _pictures.goals(settings)
    if unknown := set(settings.outside) - set(known):
        raise rc.UserError(f"no other picture is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if plain := [name for name in settings.outside if _pictures.flat(known[name])]:
        raise rc.UserError(f"{plain[0]} is one flat colour: there is nothing in it to draw")
    if both := set(settings.outside) & set(composed):
        raise rc.UserError(f"{sorted(both)[0]} is the name of an evolved network and of a picture outside")
    return composed | {name: _pictures.Goal(name, False, None, known[name], None) for name in settings.outside}


@dataclass(frozen=True)
class Cell:
    """Networks that draw these pictures, one or all composed ones; other content of a file makes another cell."""

    settings: Settings
    names: tuple[str, ...]
    members: tuple[int, ...]
    content: str = ""


def cells(settings: Settings) -> list[Cell]:
    composed = tuple(_pictures.goals(settings))
    every = [composed, *((name,) for name in pictures(settings))]
    return [
        Cell(settings, names, block, content(settings, names)) for names in every for block in _seeds.blocks(settings)
    ]


def content(settings: Settings, names: tuple[str, ...]) -> str:
    """What tells one's own picture from another that the same file held before."""
    own = b"".join(pictures(settings)[name].picture.tobytes() for name in names if Path(name).suffix)
    return hashlib.sha256(own).hexdigest()[:12] if own else ""


@dataclass(frozen=True)
class Together:
    """The `sample` of one example that holds every picture of another: pixels (pictures * pixels, 5) and colours."""

    each: Any
    count: int

    def __call__(self, z, key):
        import jax
        import jax.numpy as jnp

        x, y = jax.vmap(lambda number: self.each(number[None], key))(jnp.arange(self.count))
        return x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])


@cache
def together(settings: Settings) -> rc.Task:
    """All the composed pictures as one example."""
    several = rc.picture([goal.picture for goal in _pictures.goals(settings).values()], told=True)
    count = len(several.combinations)
    return rc.Task(f"all of {several.name}", np.zeros((1, 1), int), Together(several.sample, count))


@cache
def apart(settings: Settings) -> rc.Task:
    """Every picture as an example of its own: one program for all, which differ in what they are trained on."""
    return rc.picture([goal.picture for goal in pictures(settings).values()])


@cache
def maker(settings: Settings, inputs: int):
    """Dense networks into which each of the composed ones fits."""
    models = [goal.model for goal in _pictures.goals(settings).values()]
    types = sorted({name for model in models for name, _ in model.mix})
    mix = tuple((name, max(dict(model.mix).get(name, 0) for model in models)) for name in types)
    depth = max(len(model.weights) for model in models) - 1
    return lambda key: rc.CPPN(mix, depth, inputs=inputs, key=key)


def run(cell: Cell, watch) -> list[dict]:
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
        watch=watch,
        label="networks",
    )
    answers = rc.records(trained.model, task, task.combinations[chosen], key=_seeds.test_key(settings))
    for seed, answer in zip(cell.members, answers, strict=True):
        watch.recorded(f"networks-{seed}", answer)
    each = [(trained[i], answers[i].y_hat[0], seed) for i, seed in enumerate(cell.members)]
    rows = _pictures.side_by_side(lambda one: described(cell, *one), each, watch=watch)
    return [row for of_one in rows for row in of_one]


def described(cell: Cell, trained: Any, colours: np.ndarray, seed: int) -> list[dict]:
    """A row for each picture that a network draws; the first seed's pictures and maps are kept to be looked at."""
    settings, several = cell.settings, len(cell.names) > 1
    kind = SHARED if several else OUTSIDE if cell.names[0] in settings.outside else ALONE
    models = told(trained.model, len(cell.names)) if several else [trained.model]
    colours = colours.reshape(len(cell.names), settings.size, settings.size, 3)
    facts = {"kind": kind, "seed": seed, "diverged_at": int(trained.diverged_at)}
    if trained.diverged_at >= 0:
        return [facts | {"condition": f"{kind}, {name}", "goal": name, **LOST} for name in cell.names]
    maps = _looks.same_units(models, settings.size) if kind != ALONE and not seed else [None] * len(models)
    rows = []
    for name, model, picture, looked in zip(cell.names, models, colours, maps, strict=True):
        goal = pictures(settings)[name]
        found = _pictures.scored(settings, goal, model, seed)
        found["log_share"] = found["log_mse"] - float(np.log10(goal.picture.var(axis=(0, 1)).mean() + 1e-12))
        found["apart"] = float(np.abs(rc.render(model, settings.size) - picture).max())
        found |= {} if seed else {"drawn": _looks.thumb(picture), "wanted": _looks.thumb(goal.picture)}
        found |= {} if looked is None else {"maps": looked}
        rows.append(facts | {"condition": f"{kind}, {name}", "goal": name} | found)
    return rows


def told(model: Any, count: int) -> list[Any]:
    """The networks of four inputs that a network of five is for each picture: the bias input carries the fifth."""
    first, *others = (np.asarray(w) for w in model.weights)
    values = np.linspace(-1, 1, count)
    starts = [first[:4] + np.outer([0, 0, 0, 1], value * first[4]) for value in values]
    return [rc.from_weights(model.mix, [start, *others]) for start in starts]


def controls(settings: Settings) -> list[dict]:
    """Those of all picture networks, and the best that one can draw that is not told which: the pictures' mean."""
    goals = _pictures.goals(settings).values()
    middle = np.mean([goal.picture for goal in goals], axis=0)
    errors = {goal.name: float(np.mean((goal.picture - middle) ** 2)) for goal in goals}
    made = [{"condition": f"control: not told, {n}", "goal": n, "seed": 0, "mse": mse} for n, mse in errors.items()]
    return _pictures.controls(settings) + made


def of(table: pd.DataFrame, kind: str, column: str) -> pd.Series:
    """By seed, averaged over the pictures; lost if one of them is."""
    rows = table[table["kind"] == kind]
    return _fair.over_pictures(rows, column)


def ratio(table: pd.DataFrame) -> pd.Series:
    """By seed, log10 of the error of one for all over that of one each, averaged over the pictures."""
    return of(table, SHARED, "log_mse") - of(table, ALONE, "log_mse")


SAME = rc.Check("told by the bias input, a network draws the same", lambda t: 1e-3 - t["apart"].max(), at_least=0.0)
EQUAL = rc.Check(
    "one for all and one each are off by as much, within a factor of 1.5",
    lambda t: float(np.log10(1.5) - abs(ratio(t).mean())),
    at_least=0.0,
)
NOT_TOLD = rc.Check(
    "not told which picture, a network is off by more than 0.01",
    lambda t: t.loc[t["condition"].str.startswith("control: not told"), "mse"].mean() - 0.01,
    at_least=0.0,
)
CLAIMS = (
    rc.Claim(
        "one network draws them all",
        "Told which, one network draws all the composed pictures with a mean squared error of at most 0.01.",
        "figures 42-44",
        effect=lambda t: 0.01 - t[t["kind"] == SHARED].groupby("seed")["mse"].agg(lambda v: v.max(skipna=False)),
        margin=0.0,
        unit="0.01 minus the mean squared error, worst picture",
        preconditions=(_fair.drawn("kind", ALONE),),
        controls=(*_fair.CONTROLS, SAME, NOT_TOLD),
    ),
    rc.Claim(
        "and is off by no more than their number",
        "After as many updates, its error is at most as many times that of one network each as there are pictures.",
        "ours; stated before these seeds were run",
        effect=lambda t: np.log10(len(_fair.composed_scores(t, "r"))) - ratio(t),
        margin=0.0,
        unit="log10 of the number of pictures minus log10 of the error, one for all over one each, mean of pictures",
        preconditions=(_fair.drawn("kind", ALONE),),
        controls=(*_fair.CONTROLS, SAME, NOT_TOLD),
    ),
    rc.Claim(
        "sharing does not fracture it more",
        "Single weights of the network for all make changes hardly harder to compress than those of one network each.",
        "ours; stated before these seeds were run",
        effect=lambda t: _fair.drop(t, ALONE, SHARED, by="kind"),
        margin=-0.02,
        unit="R, one each minus one for all, mean of the pictures",
        preconditions=(_fair.fit("kind", (SHARED, ALONE)), EQUAL),
        controls=(*_fair.CONTROLS, SAME),
    ),
    rc.Claim(
        "pictures outside are drawn less well",
        "Of a picture that no network of these units was composed for, a network leaves a larger share undrawn.",
        "ours; stated before these seeds were run; the paper draws such pictures in figures 24-29",
        effect=lambda t: of(t, OUTSIDE, "log_share") - of(t, ALONE, "log_share"),
        margin=0.1,
        unit="log10 of the error as a share of the picture's variance, outside minus composed",
        preconditions=(_fair.drawn("kind", ALONE),),
        controls=_fair.CONTROLS,
    ),
    rc.Claim(
        "and their networks hardly reuse maps either",
        "Of the unit maps of networks for pictures outside nearly all are distinct, as a composed network's are not.",
        "ours; as for the composed pictures in kumar2025/fracture",
        effect=lambda t: of(t, OUTSIDE, "reuse") - max(_fair.composed_scores(t, "reuse").values()),
        margin=0.2,
        unit="distinct maps as a share of all, networks for pictures outside minus the composed one that reuses least",
        preconditions=(_fair.drawn("kind", OUTSIDE),),
        controls=_fair.CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Each picture and what networks of the first seed make of it; maps of one for all, picture by picture; scores."""
    plots, every = rc.plots, list(dict.fromkeys(table[table["kind"].notna()]["goal"]))
    sheet, axes = plots.panels(rows=5, columns=max(3, len(every)), side=2.0)
    for place in axes.ravel():
        place.set_axis_off()
    for j, name in enumerate(every):
        outside = name in settings.outside
        maps = looked_at(table, name, OUTSIDE if outside else SHARED, "maps")
        shown = [
            (wanted(settings, table, name), Path(name).stem),
            (looked_at(table, name, SHARED, "drawn"), SHARED),
            (looked_at(table, name, OUTSIDE if outside else ALONE, "drawn"), ALONE),
            (None if maps is None else _looks.mosaic(maps), "maps of its units"),
        ]
        for place, (image, title) in zip(axes[:4, j], shown, strict=True):
            if image is not None:
                place.imshow(image, cmap="RdBu", vmin=-1, vmax=1)
                place.set_title(title)
    titles = {"mse": "mean squared error", "r": "R (bars: composed networks)", "reuse": "distinct maps / all maps"}
    for place, (column, title) in zip(axes[4], titles.items(), strict=False):
        scores(place, table, every, column)
        place.set_title(title)
    axes[4, 0].set_yscale("log")
    axes[4, 0].axhline(_fair.GATE, color=plots.BAD, linestyle=":", linewidth=0.9)
    axes[4, 0].legend(fontsize=6, frameon=False)
    return sheet


def looked_at(table: pd.DataFrame, name: str, kind: str, column: str) -> np.ndarray | None:
    """What was kept of the first seed's network, if it draws this picture and did not diverge."""
    kept = table[(table["kind"] == kind) & (table["goal"] == name)][column].dropna()
    return kept.iloc[0] if len(kept) and np.isfinite(kept.iloc[0]).all() else None


def wanted(settings: Settings, table: pd.DataFrame, name: str) -> np.ndarray:
    """The picture to be drawn: as it was when it was trained on, since a file may have changed."""
    kept = list(table[table["goal"] == name]["wanted"].dropna()) if "wanted" in table else []
    return kept[0] if kept else _looks.thumb(pictures(settings)[name].picture)


def scores(place: Any, table: pd.DataFrame, names: list[str], column: str) -> None:
    """A dot a network, one colour a kind; composed networks as black bars."""
    place.set_axis_on()
    for k, kind in enumerate((SHARED, ALONE, OUTSIDE)):
        mine = table[table["kind"] == kind]
        where = [names.index(name) + (-0.15, 0.15, 0)[k] for name in mine["goal"]]
        place.plot(where, mine[column], "o", color=f"C{k}", markersize=3, alpha=0.7, label=kind)
    for name, value in _fair.composed_scores(table, column).items() if column != "mse" else ():
        place.hlines(value, names.index(name) - 0.4, names.index(name) + 0.4, color="black", linewidth=1.2)
    place.set_xticks(range(len(names)), [Path(name).stem for name in names], rotation=30, ha="right", fontsize=7)
