"""Does it hold for choosing actions: does a student act rightly on mixtures of preferences it was not shown?

Scaling the number of training tasks, compositional preference grid: a student sees the code of a mixture and a map with
objects, and imitates a planner. Every seed has preferences of its own. The learning rate falls along a cosine where the
paper's stays constant, so that fewer steps are needed; the `paper` tier keeps it constant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import recombine as rc
from recombine.experiments import _seeds
from recombine.experiments.redhardt2025 import _show, _students

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Settings(_seeds.Seeded):
    modules: int = 8
    """preferences that can be mixed"""
    hot: int = 3
    """preferences of a mixture, at most"""
    features: int = 8
    """types of objects"""
    objects: int = 2
    """objects on a map"""
    episodes: int = 128
    """episodes a step"""
    held_out: float = 0.25
    """share of the mixtures that is never trained on"""
    few: int = 12
    """mixtures that are trained on where they are few"""
    width: int = 128
    """units of a student's hidden layer"""
    depth: int = 2
    """hidden layers of a student"""
    steps: int = 1200
    """updates of each student"""
    learning_rate: float = 3e-3
    """AdamW's learning rate"""
    cosine: bool = True
    """let the learning rate fall to a fiftieth along a cosine"""
    weight_decay: float = 1e-3
    """AdamW's weight decay, on matrices alone"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """what activations and gradients are computed in; weights stay in float32"""
    asked: int = 1024
    """episodes asked of a student afterwards, of each kind"""

    def __post_init__(self) -> None:
        self.need_positive("modules", "hot", "features", "objects", "episodes", "few", "width", "depth", "steps")
        if self.hot > self.modules:
            raise rc.UserError(f"a mixture cannot have {self.hot} of {self.modules} preferences")
        if self.objects > 8:
            raise rc.UserError(f"plans for more than 8 objects are too large, got {self.objects}")
        if not 0 < self.held_out < 1:
            raise rc.UserError(f"held_out must lie between 0 and 1, got {self.held_out}")
        if self.few < self.modules / self.hot:
            raise rc.UserError(f"{self.few} mixtures of {self.hot} cannot cover {self.modules} preferences")
        if self.few >= _students.total(self.modules, self.hot):
            raise rc.UserError(f"{self.few} mixtures leave none unseen")
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            raise rc.UserError(f"learning_rate must be a number above 0, got {self.learning_rate}")
        if self.asked < 64:
            raise rc.UserError(f"asking fewer than 64 episodes says nothing, got {self.asked}")


QUICK = Settings(seeds=2, modules=4, hot=2, features=4, objects=1, episodes=8, few=4, width=8, steps=20, asked=64)
LAPTOP = Settings()
GPU = Settings(
    seeds=5,
    modules=16,
    features=16,
    objects=4,
    few=48,
    width=1024,
    steps=40_000,
    learning_rate=1e-3,
    precision="bfloat16",
    asked=4096,
)
PAPER = replace(GPU, seeds=10, features=32, steps=3_000_000, learning_rate=1e-4, cosine=False)
RANDOM, FEW, NEVER = "random", "few", "non-compositional"


@dataclass(frozen=True)
class Cell:
    """The students of every condition for one block of seeds."""

    settings: Settings
    members: tuple[int, ...]


def cells(settings: Settings) -> list[Cell]:
    return [Cell(settings, members) for members in _seeds.blocks(settings)]


@cache
def family(settings: Settings, worlds: int) -> rc.Task:
    """The mixtures of this many worlds; one object for equal settings, so that programs are compiled once."""
    import jax

    return rc.preferences(
        modules=settings.modules,
        hot=settings.hot,
        worlds=worlds,
        features=settings.features,
        objects=settings.objects,
        key=jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 2),
    )


def shown(settings: Settings, masks: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Which mixtures students of a seed are trained on, in each condition."""
    import jax

    key = jax.random.fold_in(jax.random.key(settings.seed + 1), seed)
    return {
        RANDOM: rc.supports.random(masks, settings.held_out, key),
        FEW: rc.supports.random(masks, _students.holding_out(masks, settings.few), key),
        NEVER: rc.supports.non_compositional(masks, settings.held_out, key),
    }


def run(cell: Cell, watch) -> list[dict]:
    settings = cell.settings
    task = family(settings, max(cell.members) + 1)
    masks = _students.masks(task)
    who = [(condition, seed) for condition in (RANDOM, FEW, NEVER) for seed in cell.members]
    chosen = [shown(settings, masks, seed)[condition] for condition, seed in who]
    sides = [
        [rc.supports.for_teacher(task.combinations, seed, some) for (_, seed), some in zip(who, side, strict=True)]
        for side in (chosen, [~some for some in chosen])
    ]
    students = train(settings, task, sides[0], seeds=[seed for _, seed in who], watch=watch)
    asking = _students.StudentSettings(seed=settings.seed, asked=settings.asked)
    seen, unseen = (_students.ask(asking, task, students.model, rows, part) for part, rows in enumerate(sides))
    rows = []
    for i, (condition, seed) in enumerate(who):
        watch.recorded(f"{condition}-{seed}", unseen[i])
        facts = {"loss": float(students.losses[i, -1]), "diverged_at": int(students.diverged_at[i])}
        found = accuracies("seen", seen[i]) | accuracies("unseen", unseen[i]) | _students.described(masks, chosen[i])
        rows.append({"condition": condition, "seed": seed} | facts | _seeds.unless_lost(found, students.diverged_at[i]))
    return rows


def train(settings: Settings, task: rc.Task, chosen: list[np.ndarray], *, seeds: list[int], watch):
    """One student for each set of rows, in one population; a seed's students start alike."""
    inputs, _ = rc.widths(task)
    arithmetic = _students.arithmetic(settings.cosine, settings.precision)
    recipe = rc.Recipe(settings.steps, settings.episodes, loss=rc.masked_cross_entropy, **arithmetic)
    return rc.population(
        task,
        [rc.Split(task.combinations, rows) for rows in chosen],
        lambda key: rc.StudentMLP(inputs, 5, width=settings.width, depth=settings.depth, key=key),
        rc.member_keys(settings.seed, seeds),
        recipe,
        dials={"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay},
        watch=watch,
        label="students",
    )


def accuracies(name: str, record: rc.Record) -> dict[str, float]:
    """The share of right steps, and of episodes that are right throughout."""
    return {f"step_{name}": rc.step_accuracy(record), f"episode_{name}": rc.episode_accuracy(record)}


def act(walks: Any, row, other, key):
    """y of a walk, and what a planner with another mixture would do at each of its steps, from what can be seen."""
    import jax.numpy as jnp

    from recombine.tasks.preferences import MOVES, arrival_values

    x, y = walks(row, key)
    view = x[:, walks.modules :].reshape(len(x), -1, walks.features + 1)
    lies, agent = (view[..., :-1] > 0).any(axis=-1), view[..., -1].argmax(axis=1)
    cells = jnp.nonzero(lies[0], size=walks.objects)[0]
    worth = (walks.draw(other, key) @ jnp.asarray(walks.tastes)[row[0]])[view[0, cells, :-1].argmax(axis=1)]
    left = jnp.sum(lies[:, cells] << np.arange(walks.objects), axis=1)
    return y, jnp.argmax(arrival_values(cells, worth)[left[:, None], jnp.asarray(MOVES)[agent]], axis=1)


def controls(settings: Settings) -> list[dict]:
    """Made-up students on unseen mixtures of every seed's world: a planner, and one for the nearest mixture shown,
    which shares most preferences; one that always stops, and one that walks at random.
    """
    import jax
    import jax.numpy as jnp

    task = family(settings, settings.seeds)
    masks, plan = _students.masks(task), jax.jit(jax.vmap(partial(act, task.sample)))
    keys, found = jax.random.split(_seeds.test_key(settings), settings.asked), []
    for seed in range(settings.seeds):
        train = shown(settings, masks, seed)[RANDOM]
        rng = np.random.default_rng([settings.seed, seed, 2**31 - 4])
        rows = rng.choice(np.flatnonzero(~train), settings.asked)
        overlap = masks[rows].astype(float) @ masks[train].T - 0.1 * masks[train].sum(axis=1)
        nearest = np.flatnonzero(train)[overlap.argmax(axis=1)]
        mine, other = (jnp.asarray(task.combinations[seed * len(masks) + r]) for r in (rows, nearest))
        y, best = (np.asarray(a) for a in plan(mine, mine, keys))
        systems = {"planner": best, "nearest mixture": np.asarray(plan(mine, other, keys)[1])}
        systems |= {"always stops": np.zeros_like(best), "walks at random": rng.integers(0, 5, best.shape)}
        for name, actions in systems.items():
            record = rc.Record(masks[rows], masks[rows], y, np.eye(5)[actions])
            found.append({"condition": f"control: {name}", "seed": seed} | accuracies("unseen", record))
    return found


def control(table: pd.DataFrame, name: str, column: str) -> float:
    """The mean of a made-up student over all worlds."""
    return float(rc.by_seed(table, column, condition=f"control: {name}").mean())


def learnt(*conditions: str) -> rc.Check:
    """Students that do not act rightly on what they were shown say nothing about the rest."""
    return rc.Check(
        f"{', '.join(conditions)}: right in at least 0.85 of the steps, on mixtures they were shown",
        lambda t: t.loc[t["condition"].isin(conditions), "step_seen"].min(),
        at_least=0.85,
    )


def unseen(table: pd.DataFrame, condition: str) -> pd.Series:
    return rc.by_seed(table, "episode_unseen", condition=condition)


CONTROLS = (
    rc.Check("a planner is always right", lambda t: control(t, "planner", "episode_unseen"), at_least=0.99),
    rc.Check(
        "one that always stops is right in at most half of the episodes",
        lambda t: 0.5 - control(t, "always stops", "episode_unseen"),
        at_least=0.0,
    ),
    rc.Check(
        "one that walks at random is right in at most 0.3 of the steps",
        lambda t: 0.3 - control(t, "walks at random", "step_unseen"),
        at_least=0.0,
    ),
    rc.Check(
        "one that acts on the nearest mixture is right in at most 0.85 of the steps",
        lambda t: 0.85 - control(t, "nearest mixture", "step_unseen"),
        at_least=0.0,
    ),
)
BEYOND_MEMORY = rc.Check(
    "on unseen mixtures students are right in more episodes than a planner for the nearest mixture shown",
    lambda t: unseen(t, RANDOM).mean() - control(t, "nearest mixture", "episode_unseen"),
    at_least=0.0,
)

CLAIMS = (
    rc.Claim(
        "mixtures not shown are acted on",
        "Trained on three quarters of the mixtures, a student chooses rightly on the others.",
        "data scaling, preference",
        effect=lambda t: rc.by_seed(t, "step_unseen", condition=RANDOM),
        margin=0.85,
        unit="share of right steps on unseen mixtures",
        preconditions=(learnt(RANDOM),),
        controls=CONTROLS,
    ),
    rc.Claim(
        "fewer mixtures, worse",
        "Trained on few mixtures, it is right throughout in fewer episodes of unseen ones.",
        "data scaling, preference",
        effect=lambda t: unseen(t, RANDOM) - unseen(t, FEW),
        margin=0.1,
        unit="share of right episodes on unseen mixtures, most shown minus few",
        preconditions=(learnt(RANDOM, FEW), BEYOND_MEMORY),
        controls=CONTROLS,
    ),
    rc.Claim(
        "a preference never seen is not acted on",
        "Where one preference was in no mixture shown, mixtures with it are acted on worse.",
        "task support, preference",
        effect=lambda t: unseen(t, RANDOM) - unseen(t, NEVER),
        margin=0.1,
        unit="share of right episodes on unseen mixtures, random minus non-compositional",
        preconditions=(learnt(RANDOM, NEVER), BEYOND_MEMORY),
        controls=CONTROLS,
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Right steps and right episodes on seen and unseen mixtures, a dot a student, with the controls as lines."""
    plots, rows = rc.plots, _show.trained(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.6)
    for place, kind in zip(axes[0], ("step", "episode"), strict=True):
        for part, colour in (("seen", plots.NEUTRAL), ("unseen", plots.GOOD)):
            groups = {c: rows.loc[rows["condition"] == c, f"{kind}_{part}"].to_numpy() for c in (RANDOM, FEW, NEVER)}
            plots.dots(place, groups, colour=colour)
        for name in ("nearest mixture", "always stops"):
            height = control(table, name, f"{kind}_unseen")
            place.axhline(height, color=plots.BAD, linestyle=":", linewidth=0.9)
            place.text(2.5, height, name, fontsize=6.5, color=plots.BAD, ha="right", va="bottom")
        place.set_ylabel(f"share of right {kind}s")
    axes[0, 0].set_title("grey: mixtures shown; green: not shown")
    return picture
