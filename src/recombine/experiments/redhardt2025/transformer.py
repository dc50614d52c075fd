"""Does a transformer need fewer combinations than an MLP?

Scaling the number of training tasks, hyperteacher, with three kinds of student of about as many parameters: one that
joins task encoding and input at once, one that attends to the encoding, and one whose weights are written by it. The
last is without the released LayerNorm, which removes the encoding's scale. Each kind has a learning rate of its own;
the laptop's were chosen by the fit to training tasks, without a look at others. `law` has the masks that are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import recombine as rc
from recombine.experiments.redhardt2025 import architectures, figures, shared, students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(architectures.WithTransformer):
    counts: tuple[int, ...] = (8, 69)
    """numbers of training masks"""
    tasks: int = 64
    """tasks per step"""
    width: int = 106
    """units of the MLP's hidden layers"""
    written: int = 164
    """hidden units of the network that a hypernetwork writes"""
    steps: int = 750
    """updates of each student"""
    learning_rate: float = 1e-2
    """the MLP's learning rate"""
    hypernetwork_rate: float = 3e-2
    """the hypernetwork's learning rate"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("written")
        self.need_rates("hypernetwork_rate")
        students.check_counts(self, self.counts)


QUICK = Settings(**students.QUICK | architectures.QUICK | {"counts": (3, 6), "written": 8})
LAPTOP = Settings(seed=2, steps=1000)
_SIZES: dict[str, Any] = {"written": 5700, "tasks": 128, "max_active": 4, "hypernetwork_rate": 3e-3}
GPU = Settings(**students.LARGE | architectures.LARGE | _SIZES | {"counts": (32, 128)})
_COUNTS = (16, 32, 64, 128, 256, 512, 1024)
PAPER = replace(GPU, **students.LONG, counts=_COUNTS, transformer_rate=3e-4, hypernetwork_rate=3e-4)
VARIANTS = students.VARIANTS
MLP, TRANSFORMER, HYPERNETWORK = architectures.MLP, architectures.TRANSFORMER, architectures.HYPERNETWORK
KINDS = architectures.KINDS


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"model": model} for model in KINDS])


def run(cell: rc.Cell, monitor) -> list[dict]:
    (made, rate), settings = KINDS[cell.model], cell.settings
    task = shared.family(settings, max(cell.members) + 1)
    make = made(settings, task)
    facts = {"model": cell.model, "parameters": architectures.parameters(make)}
    who = [
        {"condition": f"{cell.model}, {count} masks", "count": count, "seed": seed}
        for count in settings.counts
        for seed in cell.members
    ]
    rows = shared.train(
        replace(settings, learning_rate=getattr(settings, rate)),
        task,
        make,
        who=who,
        supports=[shared.counted_support(settings, task, w["count"], w["seed"]) for w in who],
        monitor=monitor,
        label=cell.model,
    )
    return [row | facts for row in rows]


def controls(settings: Settings) -> list[dict]:
    """Those of all experiments, beside the most training masks; every kind of student at its initial weights."""
    task = shared.family(settings, 1)
    support = shared.counted_support(settings, task, settings.counts[-1], 0)
    untrained = [
        shared.untrained(settings, task, make, support, model=name, parameters=architectures.parameters(make))
        for name, make in ((name, made(settings, task)) for name, (made, _) in KINDS.items())
    ]
    return [*shared.known(settings, task, support), *untrained]


def at_fewest(table: pd.DataFrame, model: str, column: str = "r2_unseen") -> pd.Series:
    """By seed, of the students of a kind that were trained on the fewest masks."""
    return rc.by_seed(table, column, model=model, count=rc.networks(table)["count"].min())


def gap(table: pd.DataFrame, model: str) -> pd.Series:
    """By seed, what is lost of R^2 from training to held-out tasks, with the fewest masks."""
    return at_fewest(table, model, "r2_seen") - at_fewest(table, model)


def apart(model: str, column: str, compare: Callable[[float, float], float]):
    """How far the mean of a column is from the MLP's, with the fewest masks."""
    return lambda t: compare(*(at_fewest(t, kind, column).mean() for kind in (model, MLP)))


def ahead(model: str, *, name: str, says: str, source: str) -> rc.Claim:
    """The claim that a kind of student loses less than the MLP from training to held-out tasks; both must have learnt.

    What is lost is compared and not R^2 itself, which one that has learnt more of its training tasks also has more of.
    """

    def fits(table: pd.DataFrame) -> pd.Series:
        return figures.fits(model=[model, MLP], count=rc.networks(table)["count"].min())(table)

    return figures.claim(
        name,
        f"{says} (By more than 0.02.)",
        source,
        effect=lambda t: gap(t, MLP) - gap(t, model),
        above=0.02,
        unit=f"R2 on training minus held-out tasks with the fewest masks, MLP minus {model}",
        preconditions=(
            rc.Check(
                f"parameters of {model} and MLP, the more over the fewer",
                apart(model, "parameters", lambda a, b: max(a, b) / min(a, b)),
                at_most=1.1,
            ),
        ),
        fits=(fits,),
    )


def transformers(table: pd.DataFrame) -> dict:
    """The transformers that were trained on the most masks."""
    return {"model": TRANSFORMER, "count": rc.networks(table)["count"].max()}


def over_untrained(table: pd.DataFrame) -> pd.Series:
    """By seed, how much better transformers of the most masks are decoded than an untrained one."""
    kept = rc.value("probe_deepest", **transformers(table))
    return figures.over_untrained(kept, model=TRANSFORMER)(table)


def both_of_the_paper(table: pd.DataFrame) -> pd.DataFrame:
    """MLPs and transformers: a hypernetwork's first layer is linear in the constituents before any training."""
    rows = figures.readable(table)
    return rows[rows["model"].isin((MLP, TRANSFORMER))]


CLAIMS = (
    ahead(
        TRANSFORMER,
        name="a transformer loses less on held-out combinations than an MLP after few training ones",
        says="Trained on the same few combinations, a transformer loses less R2 from these to held-out ones than an MLP"
        " of as many parameters.",
        source="ours, a stand-in for: the scaling law, MLP against transformer (by a reading note)",
    ),
    ahead(
        HYPERNETWORK,
        name="a hypernetwork loses less on held-out combinations than an MLP after few training ones",
        says="Trained on the same few combinations, a network whose weights are a linear map of the task encoding loses"
        " less R2 from these to held-out ones than an MLP of as many parameters.",
        source="ours; the released hypernetwork without its LayerNorm",
    ),
    figures.claim(
        "constituents are decoded better from trained transformers than from untrained ones",
        "After the most training combinations that were tried, constituents of held-out tasks are decoded from a"
        " transformer's deepest layer better than in an untrained transformer, by an R2 of more than 0.05.",
        "decodability, which the released code also computes in transformers; the comparison and margin are ours",
        effect=over_untrained,
        above=0.05,
        unit="R2 of constituents decoded from the deepest layer, trained minus untrained",
        fits=(lambda t: figures.fits(**transformers(t))(t),),
    ),
    *figures.goes_along(
        "in MLPs and transformers",
        "ours, within one experiment; scaling law, MLP against transformer",
        both_of_the_paper,
        preconditions=(figures.mostly_fit(both_of_the_paper),),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """R^2 on held-out and training tasks against the masks, one colour per kind; and the gain over the MLP."""
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=3, side=3.0)
    colours = dict(zip(KINDS, (plots.BAD, plots.GOOD, plots.NEUTRAL), strict=True))
    sizes = rows.groupby("model")["parameters"].max()
    groups = {f"{model} ({int(sizes[model]):,} parameters)": rows[rows["model"] == model] for model in KINDS}
    for place, column, name in ((axes[0, 0], "r2_unseen", "held-out"), (axes[0, 1], "r2_seen", "training")):
        figures.lines(place, groups, "count", column, list(colours.values()))
        place.set_ylabel(f"R2 on {name} tasks")
    figures.r2_limits(*axes[0, :2])
    figures.legend(axes[0, 0])
    by = rows.pivot_table(index=["count", "seed"], columns="model", values="r2_unseen")
    for model in (TRANSFORMER, HYPERNETWORK):
        if {model, MLP} <= set(by.columns):
            gain = (by[model] - by[MLP]).rename("gain").reset_index()
            figures.lines(axes[0, 2], {model: gain}, "count", "gain", [colours[model]])
    axes[0, 2].axhline(0, color=plots.BAD, linestyle=":", linewidth=0.9, label="as good as the MLP")
    figures.legend(axes[0, 2])
    axes[0, 2].set_ylabel("R2 on held-out tasks, minus the MLP's")
    for place in axes[0]:
        place.set(xscale="log", xlabel="training masks")
        place.minorticks_off()
        place.set_xticks(settings.counts, settings.counts)
    return picture
