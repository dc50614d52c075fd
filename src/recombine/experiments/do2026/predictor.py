"""Does the complexity of a picture predict the depth at which networks come out most composed?

Networks of one mix of units and several depths are trained on each of many targets, pruned by similarity to one share
of their weights, and retrained. A target's best depth is that of the lowest R, among depths that draw it (a network
that does not draw its picture looks composed). The paper's formula could not be read. Stated before any run, the
primary is: PNG ratio at 256 pixels, log-linear, fitted to all other targets. What is repeated is the target, not the
seed: an effect has one number a target, and its interval is over targets. A line in logarithms without any feature
guesses the mean of logarithms, which beats the mean where best depths are mostly small (for 44 targets it would "hold"
by chance in 4 of 10 runs): the better of both means is to be beaten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recombine as rc
from recombine.experiments import _fair, _pictures, _seeds
from recombine.experiments.do2026._targets import FEATURES, OWN, Goal, goals

if TYPE_CHECKING:
    import pandas as pd

MIX = (("cache", 6), ("gaussian", 4), ("identity", 2), ("sigmoid", 2), ("sin", 2))
PRIMARY, WAVES, SQUARES = FEATURES
AGAIN = "log of the best depth by other seeds"
ALL, RANDOM, EVERYWHERE = "any target", "drawn by a random network", "drawn at every depth"
SHUFFLES = 100


@dataclass(frozen=True, kw_only=True)
class Settings(_pictures.PictureSettings):
    others: int = 41
    """targets besides the composed and evolved ones, spread evenly over random networks, shapes and found pictures"""
    depths: tuple[int, ...] = (2, 4, 7, 10)
    """hidden layers, rising"""
    share: float = 0.256
    """weights left after pruning, as a share of all"""
    retraining: int = 300
    """updates after pruning"""
    shortest: float = _fair.GATE
    """mean squared error at which a network is scored; one that never gets there does not draw its picture"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("retraining", "others")
        if len(self.depths) < 2 or list(self.depths) != sorted(set(self.depths)) or self.depths[0] < 1:
            raise rc.UserError(f"depths must be two or more rising numbers from 1 on, got {self.depths}")
        if not 0.02 <= self.share <= 0.95:
            raise rc.UserError(f"share must lie between 0.02 and 0.95, got {self.share}")


QUICK = Settings(**_pictures.QUICK | {"others": 4, "depths": (1, 2), "retraining": 5, "shortest": 1.0})
LAPTOP = Settings(
    seeds=2, block=2, others=27, size=24, steps=500, learning_rate=7e-3, swept=16, shortest=1.5e-2, depths=(2, 4, 8)
)
GPU = Settings(seeds=4, block=4, size=64, steps=5000, retraining=5000, depths=(2, 4, 6, 8, 12, 16), swept=60)
PAPER = replace(GPU, seeds=8, size=256, steps=100_000, retraining=100_000, depths=tuple(range(2, 33, 2)), swept=240)


@dataclass(frozen=True)
class Cell:
    """The networks of one depth on all targets, for one block of seeds."""

    settings: Settings
    depth: int
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, depth, members) for depth in settings.depths for members in _seeds.blocks(settings)]


def run(cell: Cell, watch) -> list[dict]:
    """All targets and seeds are one population, in which a network's split holds its own picture alone."""
    settings, every = cell.settings, goals(cell.settings)
    task = rc.picture([goal.shown.picture for goal in every])
    who = [(place, seed) for place in range(len(every)) for seed in cell.members]
    alone = [rc.Split(task.combinations, np.arange(len(every)) == place) for place in range(len(every))]

    def train(steps: int, label: str, start: Any = None) -> Any:
        return rc.population(
            task,
            [alone[place] for place, _ in who],
            lambda key: rc.CPPN(MIX, cell.depth, key=key),
            rc.member_keys(settings.seed, [1000 * seed + every[place].number for place, seed in who]),
            rc.Recipe(steps, 1, rc.unit_adam, until=settings.shortest),
            dials={"learning_rate": settings.learning_rate},
            start=start,
            watch=watch,
            label=label,
        )

    dense, x = train(settings.steps, "dense"), rc.grid(settings.size)
    target = round(settings.share * _pictures.size(dense))
    each = zip(_pictures.members(dense), dense.diverged_at, strict=True)
    start = _pictures.side_by_side(
        lambda one: rc.similar_units(one[0], x, target=target) if one[1] < 0 else one[0], each
    )
    pruned = train(settings.retraining, "pruned", _pictures.stacked(start))
    lost = np.maximum(dense.diverged_at, pruned.diverged_at)
    shown = [(every[place], pruned[i].reached, seed) for i, (place, seed) in enumerate(who)]
    found = _pictures.side_by_side(
        lambda one: scored(settings, *one[0]) if one[1] < 0 else {}, zip(shown, lost, strict=True), watch=watch
    )
    rows: list[dict] = []
    for i, (goal, model, seed) in enumerate(shown):
        what = {"condition": f"{cell.depth} layers, {goal.shown.name}", "number": goal.number, **goal.facts}
        what |= {
            "depth": cell.depth,
            "seed": seed,
            "diverged_at": int(lost[i]),
            "dense_mse": float(dense.losses[i, -1]),
        }
        rows.append(what | {"mse": np.nan, "r": np.nan, "drawn": 0.0} | found[i])
        watch.recorded(f"pruned-{goal.number}-{seed}", recorded(settings, goal, model))
    return rows


def recorded(settings: Settings, goal: Goal, model: Any) -> rc.Record:
    """What a network draws of its target."""
    z, x = np.array([[goal.number]]), rc.grid(settings.size)[None]
    y, y_hat = (a.reshape(1, -1, 3) for a in (goal.shown.picture, rc.render(model, settings.size)))
    return rc.Record(z, x, y, y_hat)


def scored(settings: Settings, goal: Goal, model: Any, seed: int) -> dict[str, float]:
    """How well a network draws its target, whether that is well enough, and how composed it is."""
    found = _pictures.scored(settings, goal.shown, model, seed)
    drawn = float(found["mse"] <= (1 + _fair.SLACK) * settings.shortest)
    return {k: v for k, v in found.items() if not np.ndim(v) and k != "draws"} | {"drawn": drawn}


def controls(settings: Settings) -> list[dict]:
    """Made-up best depths: an exact log-line of each feature, from the shallowest to the deepest tried."""
    rows = []
    for name in (*FEATURES, OWN):
        known = [goal for goal in goals(settings) if np.isfinite(goal.facts[name])]
        x = np.array([goal.facts[name] for goal in known])
        made_up = np.exp(np.interp(x, [x.min(), x.max()], np.log([settings.depths[0], settings.depths[-1]])))
        for goal, best in zip(known, made_up.tolist(), strict=True):
            what = {"condition": f"control: line in {name}", "number": goal.number, "seed": 0, "made_up": best}
            rows.append(what | goal.facts)
    return rows


def curves(table: pd.DataFrame) -> pd.DataFrame:
    """R by target and depth, the mean over networks that draw it; none where fewer than half of the seeds do."""
    rows = table[table["depth"].notna()]
    tried = rows.groupby(["number", "depth"]).size()
    drawn = rows[rows["drawn"] == 1].groupby(["number", "depth"])["r"]
    count = drawn.count().reindex(tried.index, fill_value=0)
    return drawn.mean().reindex(tried.index).where((count > 0) & (2 * count >= tried)).unstack("depth")


def best(table: pd.DataFrame) -> pd.DataFrame:
    """For each target its facts and its best depth; no row if fewer than two depths draw it."""
    r = curves(table)
    r = r[r.notna().sum(axis=1) >= 2]
    known = table.drop_duplicates("number").set_index("number").loc[r.index, ["goal", "kind", OWN, *FEATURES]]
    return sorts(known.assign(best=r.idxmin(axis=1).astype(float)), r.notna().all(axis=1))


def sorts(found: pd.DataFrame, everywhere: Any = True) -> pd.DataFrame:
    """With columns that say among which targets each is."""
    every = found["best"] > 0
    return found.assign(**{ALL: every, RANDOM: found["kind"] == "network", EVERYWHERE: every & everywhere})


def made_up(table: pd.DataFrame, feature: str) -> pd.DataFrame:
    """The same for a control, which brings its best depths along."""
    rows = table[table["condition"] == f"control: line in {feature}"].set_index("number")
    return sorts(rows.assign(best=rows["made_up"]))


def halves(table: pd.DataFrame) -> pd.DataFrame:
    """The best depth by the odd seeds and, as a feature beside it, the logarithm of that by the even ones."""
    even, odd = (best(table[table["seed"] % 2 == half]) for half in (0, 1))
    return odd.assign(**{AGAIN: np.log(even["best"].reindex(odd.index))})


def gains(found: pd.DataFrame, feature: str) -> pd.Series:
    """By target, |error of the better mean| - |error of the prediction|, each made from the other targets alone."""
    found = found.dropna(subset=[feature])
    if len(found) < 3:
        return found["best"] * np.nan
    x, y, once = found[feature].to_numpy(float), found["best"].to_numpy(float), np.ones(len(found))
    guesses = rc.by_log_line(x, y, once), rc.by_mean(x, y, once), rc.by_log_line(0 * x, y, once)
    line, *means = (np.abs(guess - y) for guess in guesses)
    return found["best"] * 0 + min(means, key=np.mean) - line


def surely(gained: pd.Series) -> float:
    """The lower end of the interval of the mean gain."""
    return rc.interval(gained.to_numpy())[0] if len(gained) > 2 else float("nan")


def by_chance(found: pd.DataFrame, feature: str) -> float:
    """How often best depths, shuffled over the targets, are predicted."""
    rng, depths = np.random.default_rng(0), found["best"].to_numpy()
    again = (found.assign(best=depths[rng.permutation(len(depths))]) for _ in range(SHUFFLES))
    return float(np.mean([surely(gains(one, feature)) > 0 for one in again]))


def claim(words: tuple[str, ...], feature: str, *, least: int = 20, of: Callable = best, among: str = ALL) -> rc.Claim:
    """A feature predicts the best depth of targets left out, better than a mean does."""

    def asked(table: pd.DataFrame) -> pd.DataFrame:
        found = of(table)
        return found[found[among]].dropna(subset=[feature])

    line = feature if of is best else PRIMARY
    return rc.Claim(
        *words,
        effect=lambda t: gains(asked(t), feature),
        margin=0.0,
        unit="hidden layers, error of the better mean minus error of the prediction",
        repeats="targets",
        preconditions=(
            rc.Check(f"at least {least} targets have a best depth", lambda t: float(len(asked(t))), at_least=least),
            rc.Check(
                "best depths differ: at most four fifths of the targets share one",
                lambda t: 0.8 - asked(t)["best"].value_counts(normalize=True).max(),
                at_least=0.0,
            ),
        ),
        controls=(
            rc.Check(
                "best depths that are an exact line of the feature are predicted",
                lambda t: surely(gains(made_up(t, line).loc[lambda rows: rows[among]], line)),
                at_least=1e-9,
            ),
            rc.Check(
                "best depths shuffled over targets are predicted in one of twenty shuffles at most",
                lambda t: 0.05 - by_chance(asked(t), feature),
                at_least=0.0,
            ),
        ),
    )


SAYS = "its best depth is guessed nearer than by the mean of the other targets'."
CLAIMS = (
    claim((f"the {PRIMARY} predicts best depths (primary)", f"From a target's {PRIMARY} {SAYS}", "figure 4"), PRIMARY),
    claim((f"the {WAVES} do", f"From the {WAVES} that a target takes {SAYS}", "ours, beside figure 4"), WAVES),
    claim((f"the {SQUARES} do", f"From the {SQUARES} that a target takes {SAYS}", "ours, beside figure 4"), SQUARES),
    claim(
        (f"the {PRIMARY} does among random networks alone", f"Within one kind, from the {PRIMARY} {SAYS}", "ours"),
        PRIMARY,
        least=8,
        among=RANDOM,
    ),
    claim(
        (f"the {PRIMARY} does where all depths draw the target", f"Where fit rules none out, from it {SAYS}", "ours"),
        PRIMARY,
        least=8,
        among=EVERYWHERE,
    ),
    claim(("the depth of the network that drew it does", f"From that depth {SAYS}", "ours"), OWN, least=8),
    claim(("other seeds find the same", f"From the one that half of the seeds find {SAYS}", "ours"), AGAIN, of=halves),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Best depth against its prediction and against each complexity, by kind; R against depth for some targets."""
    picture, axes = rc.plots.panels(rows=3, columns=3, side=3.1)
    found, drawn, networks = best(table), curves(table), table[table["depth"].notna()]
    for column, feature in enumerate(FEATURES):
        predictions(axes[0, column], found, feature)
        dots(axes[1, column], found, feature)
        axes[1, column].set(xlabel=f"{feature} at 256 pixels", ylabel="best depth")
    if len(found):
        axes[1, 0].legend(fontsize=7, frameon=False)
    order = networks.drop_duplicates("number").sort_values(PRIMARY)["number"].to_numpy()
    for place, title, some in zip(axes[2], ("smallest", "middle", "largest"), np.array_split(order, 3), strict=True):
        for i, number in enumerate(some[:: -(-len(some) // 5)]):
            mine = networks[networks["number"] == number]
            sound = drawn.loc[number].dropna()
            if sound.empty:
                continue
            place.plot(sound.index, sound, "o-", color=f"C{i}", markersize=4, linewidth=0.8, label=mine["goal"].iloc[0])
            ring = sound[sound == sound.min()] if number in found.index else sound[:0]
            place.plot(ring.index, ring, "o", color=f"C{i}", markersize=9, markerfacecolor="none")
        place.set(title=f"{title} {PRIMARY}s, where drawn; ring: best", xlabel="hidden layers", ylabel="R")
        place.legend(fontsize=6, frameon=False)
    return picture


def predictions(place: Any, found: pd.DataFrame, feature: str) -> None:
    """Best depths against predictions of targets left out; both errors, and the gain that the claim is about."""
    place.set(xlabel=f"depth predicted from {feature}", ylabel="best depth")
    if len(found) < 3:
        return
    said = rc.predict_left_out(found[feature], found["best"], rc.by_log_line)
    dots(place, found.assign(said=said.predicted), "said")
    ends = [found["best"].min(), found["best"].max()]
    place.plot(ends, ends, color="black", linestyle=":", linewidth=0.9)
    gained = gains(found, feature).to_numpy()
    low, high = rc.interval(gained)
    better = f"of the better mean {said.error + gained.mean():.2f}"
    place.set_title(f"error {said.error:.2f}, {better}\ngain {gained.mean():.2f} [{low:.2f}, {high:.2f}]")


def dots(place: Any, found: pd.DataFrame, x: str) -> None:
    """A dot a target, coloured by its kind; equal depths a little apart."""
    for i, (kind, mine) in enumerate(found.groupby("kind")):
        shaken = mine["best"] + np.random.default_rng(i).uniform(-0.2, 0.2, len(mine))
        place.plot(mine[x], shaken, "o", color=f"C{i}", markersize=4, alpha=0.8, label=kind)
