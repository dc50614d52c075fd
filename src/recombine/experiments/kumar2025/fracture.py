"""Is a network that gradient descent made of a picture as composed inside as one that was composed to draw it?

Figure 1 of do2026 and the claim of kumar2025: two networks of the same units draw the same picture; one was composed
by hand (or evolved), the other trained from random weights. Four kinds of score, none of which is one number alone:
how compressible the changes are that single weights make (R), how pure and how often reused unit maps are, and how
many directions the changes span. Beside them stand effect sizes of measures that have a value for each unit, each two
units or each change: how often a value of the trained network exceeds one of the composed network. The same function
with its linear units turned (`rotated`) is the control: unit-level scores must fall though the picture is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _looks, _pictures

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    pass


QUICK = Settings(**_pictures.QUICK)
# In so few steps and pixels the flower is not learnt.
LAPTOP = Settings(targets=("face", "moth"), steps=2500)
GPU = Settings(seeds=12, block=12, seed=1, size=128, steps=30_000, swept=200)
PAPER = replace(GPU, size=256, steps=100_000, swept=1000)
COMPOSED, TURNED, TRAINED, OTHERS = "composed", "composed, turned", "trained", "trained by others"


cells = _pictures.cells


def run(cell: _pictures.Cell, watch) -> list[dict]:
    settings = cell.settings
    goal = _pictures.goals(settings)[cell.goal]
    run = _pictures.train(settings, goal, _pictures.dense(goal), cell.members, watch=watch, label="networks")
    what = {"condition": f"{TRAINED}, {cell.goal}", "kind": TRAINED}
    rows = _pictures.described(settings, goal, run, cell.members, watch=watch, at_end=True, **what)

    def beside(which: tuple[int, int]) -> list[dict]:
        i, seed = which
        trained = None if run.diverged_at[i] >= 0 else run[i].model
        return compared(settings, goal, trained, seed)

    found = _pictures.side_by_side(beside, list(enumerate(cell.members)))
    return [row | more[0] for row, more in zip(rows, found, strict=True)] + [row for more in found for row in more[1:]]


def compared(settings: Settings, goal: _pictures.Goal, trained: Any, seed: int) -> list[dict]:
    """How the network trained with a seed differs inside from the composed one; then rows of those not trained here."""
    inside = partial(rc.inside, size=settings.size, weights=settings.swept, seed=seed)
    known = inside(goal.model)

    def apart(model: Any) -> dict[str, float]:
        """How often a value of a network exceeds one of the composed network, measure by measure."""
        return {f"more {name}": value for name, value in rc.exceeding(known, inside(model)).items()}

    rows: list[dict] = [{} if trained is None else apart(trained) | (_looks.looks(trained, seed) if seed == 0 else {})]
    for kind, model in without_training(goal, seed).items():
        what = {"condition": f"{kind}, {goal.name}", "kind": kind, "goal": goal.name, "seed": seed}
        shown = _looks.looks(model, seed) if seed == 0 and kind == COMPOSED else {}
        more = apart(model) if kind == TURNED else {}
        rows.append(what | _pictures.scored(settings, goal, model, seed) | shown | more)
    return rows


def without_training(goal: _pictures.Goal, seed: int) -> dict:
    """The composed network, the same turned by this seed, and the one that others trained, if there is one."""
    import jax

    found = {COMPOSED: goal.model, TURNED: rc.rotated(goal.model, jax.random.key(seed))}
    return found | ({OTHERS: goal.trained} if goal.trained is not None else {})


def controls(settings: Settings) -> list[dict]:
    """How far the turned network's picture is from the composed one's: the turn must not show."""
    import jax

    return [
        {
            "condition": f"control: turned, {goal.name}",
            "goal": goal.name,
            "seed": 0,
            "apart": float(
                np.abs(rc.render(rc.rotated(goal.model, jax.random.key(0)), settings.size) - goal.picture).max()
            ),
        }
        for goal in _pictures.goals(settings).values()
    ]


def of(table: pd.DataFrame, kind: str, column: str) -> pd.DataFrame:
    """One row a seed and one column a picture."""
    return table[table["kind"] == kind].pivot_table(index="seed", columns="goal", values=column, dropna=False)


def least(differences: pd.DataFrame) -> pd.Series:
    """By seed, the difference at the picture for which it is least in all other seeds; lost if one picture is."""
    return _fair.rival(differences)


def _evenness(table: pd.DataFrame) -> pd.Series:
    return table[table["kind"] == COMPOSED].groupby("goal")["even"].first()


def symmetric(table: pd.DataFrame) -> list[str]:
    """The pictures that are left-right even enough for parity to mean something."""
    return [str(goal) for goal, share in _evenness(table).items() if share >= 0.85]


DRAWN = (_fair.drawn("kind", TRAINED),)
SAME = rc.Check("turning the linear units leaves the picture as it is", lambda t: 1e-3 - t["apart"].max(), at_least=0.0)
SEES = rc.Check(
    "turned, the same network's maps are reused less",
    lambda t: (of(t, TURNED, "reuse") - of(t, COMPOSED, "reuse")).to_numpy().min(),
    at_least=0.05,
)
FALLS = ("additive", "alike", "symmetry")
"""Measures that are expected to be lower in trained networks."""
MEASURED = {
    "change_zip": "size of a change",
    "map_zip": "size of a map",
    "information": "information of a change",
    "symmetry": "symmetry spared",
    "rank": "rank of a change",
    "purity": "purity of a map",
    "additive": "additive share",
    "alike": "alike in a layer",
}
"""What the figure calls them."""


def exceeds(name: str, says: str, measure: str) -> rc.Claim:
    """That trained networks are further than turned ones on the fractured side of the composed network."""

    def effect(table: pd.DataFrame) -> pd.Series:
        more = of(table, TRAINED, f"more {measure}") - of(table, TURNED, f"more {measure}")
        more = -more if measure in FALLS else more
        return least(more[symmetric(table)] if measure == "symmetry" else more)

    return rc.Claim(
        name,
        f"{says} Trained networks are further from the composed one in this than the same network turned, for every"
        f" picture{' that is symmetric' * (measure == 'symmetry')}.",
        "figures 1 and 10-12 of do2026, read as numbers; ours",
        effect=effect,
        margin=0.05,
        unit=f"chance that a value is {'lower' if measure in FALLS else 'higher'} than one of the composed network,"
        " trained minus turned, worst picture",
        preconditions=DRAWN,
        controls=(SAME,),
    )


CLAIMS = (
    rc.Claim(
        "changes of trained networks are harder to compress",
        "For every picture, the changes that single weights of a trained network make are harder to compress than those"
        " of the composed one, at equal size.",
        "figure 1 of do2026; the claim of kumar2025",
        effect=lambda t: least(of(t, TRAINED, "r") - of(t, COMPOSED, "r")),
        margin=0.05,
        unit="R, trained minus composed, worst picture",
        preconditions=DRAWN,
        controls=(SAME,),
    ),
    rc.Claim(
        "and than those of the same network turned (ours)",
        "They are harder to compress than those of the composed network with its linear units turned as well: what"
        " was trained is more than a composed network in another basis.",
        "ours; stated after a laptop run, before any on a GPU",
        effect=lambda t: least(of(t, TRAINED, "r") - of(t, TURNED, "r")),
        margin=0.05,
        unit="R, trained minus composed and turned, worst picture",
        preconditions=DRAWN,
        controls=(SAME,),
    ),
    rc.Claim(
        "their unit maps are less pure",
        "Where the picture is left-right symmetric, unit maps of the composed network are more purely even or odd.",
        "figures 1 and 10-12 of do2026",
        effect=lambda t: least((of(t, COMPOSED, "purity") - of(t, TRAINED, "purity"))[symmetric(t)]),
        margin=0.05,
        unit="parity purity of unit maps, composed minus trained, worst symmetric picture",
        preconditions=DRAWN,
        controls=(SAME,),
    ),
    rc.Claim(
        "and hardly reused",
        "Of the maps of a trained network nearly all are distinct; a composed one uses its maps again and again.",
        "figures 1 and 10-12 of do2026",
        effect=lambda t: least(of(t, TRAINED, "reuse") - of(t, COMPOSED, "reuse")),
        margin=0.2,
        unit="distinct maps as a share of all, trained minus composed, worst picture",
        preconditions=DRAWN,
        controls=(SAME, SEES),
    ),
    rc.Claim(
        "their weights pull in more directions",
        "The changes that single weights of a trained network make span more directions than those of a composed one.",
        "the claim of kumar2025",
        effect=lambda t: least((of(t, TRAINED, "directions") / of(t, COMPOSED, "directions")).map(np.log10)),
        margin=0.3,
        unit="log10 of the participation ratio of weights' effects, trained minus composed, worst picture",
        preconditions=DRAWN,
        controls=(SAME,),
    ),
    exceeds("their unit maps take more to describe", "Compressed, unit maps are larger.", "map_zip"),
    exceeds("and are less a sum of rows and columns", "Less of a map's variance is a sum over x and y.", "additive"),
    exceeds("units of a layer draw less alike", "Maps of one layer are less correlated.", "alike"),
    exceeds("changes of a weight spare the symmetry less", "They leave less of the picture's symmetry.", "symmetry"),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Scores of composed, turned and trained networks, a dot a network; effect sizes; unit maps and changes of two."""
    from matplotlib.figure import Figure

    rows = table[table["kind"].notna()]
    picture = Figure(figsize=(12, 12), layout="constrained")
    parts: Any = picture.subfigures(3, 1, height_ratios=(1, 1, 2))
    above, middle, below = parts
    scores(above.subplots(1, 4), rows)
    chances, depths = middle.subplots(1, 2, width_ratios=(1.4, 1))
    effect_sizes(chances, rows[rows["kind"] == TRAINED])
    by_depth(depths, rows)
    places = below.subplots(2, 2, width_ratios=(2.2, 1))
    first = sorted(rows["goal"].unique())[0]
    for (maps, strip), kind in zip(places, (COMPOSED, TRAINED), strict=True):
        seen = rows[(rows["goal"] == first) & (rows["kind"] == kind)].dropna(subset=["maps"])
        for _, one in seen.iterrows():
            _looks.show_maps(maps, one["maps"], f"{kind}: what each unit draws ({first})")
            _looks.show_strip(strip, one["strip"], f"{kind}: four weights, changed")
    return picture


def scores(places, rows: pd.DataFrame) -> None:
    """One panel a score, one colour a picture."""
    kinds = [kind for kind in (COMPOSED, TURNED, TRAINED, OTHERS) if (rows["kind"] == kind).any()]
    titles = {
        "r": "R: compressed size of changes",
        "purity": "parity purity of unit maps",
        "reuse": "distinct maps / all maps",
        "directions": "directions of weights' effects",
    }
    for place, (column, title) in zip(places, titles.items(), strict=True):
        for k, (name, mine) in enumerate(rows.groupby("goal")):
            for i, kind in enumerate(kinds):
                values = mine[mine["kind"] == kind][column]
                label = name if i == 0 else None
                x = np.full(len(values), i + 0.15 * (k - 1))
                place.plot(x, values, "o", color=f"C{k}", markersize=3.5, label=label)
        place.set_xticks(range(len(kinds)), kinds, rotation=20, ha="right", fontsize=7)
        place.set_title(title)
    places[3].set_yscale("log")
    places[0].legend(fontsize=7, frameon=False)


def effect_sizes(place, rows: pd.DataFrame) -> None:
    """How often a value of the trained network exceeds one of the composed network, a dot a network."""
    names = [name for name in map(str, rows) if name.startswith("more ") and rows[name].notna().any()]
    for k, (_, mine) in enumerate(rows.groupby("goal")):
        for i, name in enumerate(names):
            place.plot(np.full(len(mine), i + 0.15 * (k - 1)), mine[name], "o", color=f"C{k}", markersize=3.5)
    place.axhline(0.5, color="black", linewidth=0.8)
    said = [MEASURED[name.removeprefix("more ")] for name in names]
    place.set_xticks(range(len(names)), said, rotation=20, ha="right", fontsize=7)
    place.set(ylim=(0, 1), title="chance that the trained network has more than the composed one")


def by_depth(place, rows: pd.DataFrame) -> None:
    """The compressed size of maps against the layer, first to last, the mean over networks."""
    for k, (name, mine) in enumerate(rows.groupby("goal")):
        for kind, line in ((COMPOSED, ":"), (TRAINED, "-")):
            every = list(mine[mine["kind"] == kind]["map_zip_by_layer"].dropna())
            sizes = np.stack(every or [np.full(2, np.nan)])
            there = np.isfinite(sizes)
            mean = np.where(there, sizes, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
            x = np.linspace(0, 1, len(mean))[there.any(axis=0)]
            place.plot(
                x, mean[there.any(axis=0)], line, color=f"C{k}", marker="o", markersize=3, label=f"{name}, {kind}"
            )
    place.set(xlabel="layer, from first to last", title="compressed size of unit maps, bytes a pixel")
    place.legend(fontsize=6, frameon=False)
