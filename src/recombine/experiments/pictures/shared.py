"""What experiments on picture networks share: which pictures, and how networks are trained to draw one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.experiments.seeds import Seeded


@dataclass(frozen=True, kw_only=True)
class PictureSettings(Seeded):
    """Which pictures, and how networks are trained to draw them."""

    targets: tuple[str, ...] = ("face", "moth", "flower")
    """designed pictures to draw"""
    artifacts: str = ""
    """folder with evolved networks (see `recombine import`), whose pictures are drawn as well"""
    evolved: tuple[str, ...] = ()
    """names of the evolved networks that are taken from the folder; all of them, if none is named"""
    size: int = 32
    """pixels per side"""
    steps: int = 3000
    """updates of each network, on the whole picture"""
    learning_rate: float = 3e-3
    """Adam's learning rate, on gradients of length one"""
    n_weights: int = 48
    """weights of a network that are changed to score it, drawn at random; fewer if it has fewer"""
    untrained: int = 16
    """networks at initial weights, of each kind and picture, that are scored beside the trained ones"""

    def __post_init__(self) -> None:
        self.need_positive("steps", "n_weights", "untrained")
        self.need_rates("learning_rate")
        if not 8 <= self.size <= 1024:
            raise rc.UserError(f"pictures have 8 to 1024 pixels per side, got {self.size}")
        if unknown := set(self.targets) - set(rc.designed.designs()):
            known = ", ".join(rc.designed.designs())
            raise rc.UserError(f"no designed picture is called {', '.join(sorted(unknown))}; there are {known}")
        if not (self.targets or self.artifacts) or len(set(self.targets)) < len(self.targets):
            raise rc.UserError("name at least one target, each once, or a folder of evolved networks")


FLAT = 0.01
"""Standard deviation over pixels below which a colour shows nothing."""
QUICK: dict[str, Any] = {"seeds": 2, "targets": ("moth",), "size": 8, "steps": 10, "n_weights": 4, "untrained": 2}


class Goal(NamedTuple):
    """A picture to draw, a network that was designed or evolved to draw it, and one that others trained on it."""

    name: str
    evolved: bool
    model: Any
    picture: np.ndarray
    trained: Any
    rippled: Any = None
    """the same network with a faint wave over its picture"""


@cache
def goals(settings: PictureSettings) -> dict[str, Goal]:
    """Everything that these settings name."""
    found = {name: _goal(name, rc.designed.designs()[name], settings.size) for name in settings.targets}
    for artifact in _artifacts(settings):
        goal = _goal(artifact.name, artifact.genome, settings.size, evolved=True, trained=artifact.sgd)
        if flat(goal.picture):
            raise rc.UserError(f"the network {artifact.name} in {settings.artifacts} draws one flat colour")
        found[artifact.name] = goal
    return found


def flat(picture: np.ndarray) -> bool:
    """Whether a picture shows nothing but one colour."""
    return float(picture.std(axis=(0, 1)).max()) < FLAT


def _artifacts(settings: PictureSettings) -> list[Any]:
    """The evolved networks in the folder that was named."""
    found = rc.artifacts(settings.artifacts, {}) if settings.artifacts else []
    if settings.artifacts and (unknown := set(settings.evolved) - {artifact.name for artifact in found}):
        raise rc.UserError(f"{settings.artifacts} has no network called {min(unknown)}")
    found = [artifact for artifact in found if not settings.evolved or artifact.name in settings.evolved]
    if both := {artifact.name for artifact in found} & set(settings.targets):
        raise rc.UserError(f"{settings.artifacts} has a network called {min(both)}, as a designed picture is")
    return found


def _goal(name: str, genome: Any, size: int, *, evolved: bool = False, trained: Path | None = None) -> Goal:
    model = rc.network(genome)
    other = rc.load_network(trained, model.mix)[0] if trained else None
    return Goal(name, evolved, model, rc.render(model, size), other, rc.network(rc.designed.rippled(genome)))


def dense(goal: Goal, *, mix: Any = None, depth: int | None = None, scale: float = 1.0) -> Callable[[Any], Any]:
    """How a dense network of a goal's units and depth, unless others are asked for, is made."""
    return _maker(mix or goal.model.mix, depth or len(goal.model.weights) - 1, goal.model.weights[0].shape[0], scale)


@cache
def _maker(mix: Any, depth: int, inputs: int, scale: float) -> Callable[[Any], Any]:
    return lambda key: rc.CPPN(mix, depth, inputs=inputs, scale=scale, key=key)


@cache
def drawing(settings: PictureSettings, name: str) -> rc.Task:
    """One goal's picture as a task; one object for equal settings, so that programs are compiled once."""
    return rc.picture(goals(settings)[name].picture)


def train(
    settings: PictureSettings,
    goal: Goal,
    make: Callable[[Any], Any],
    seeds: Sequence[int],
    *,
    optimiser: Callable[..., Any] | None = None,
    rates: Sequence[float] | None = None,
    steps: int | None = None,
    start: Any = None,
    monitor: Any,
    label: str,
    names: Sequence[str] = (),
    until: tuple[float, ...] | None = None,
):
    """One network for each seed on a goal's picture, in one population; zeros stay zero, and what is drawn is kept.

    Where several networks have one seed, each has a name. Each may have a learning rate of its own. It is recorded when
    each network first has an error as low as each of `until`.
    """
    from recombine.cppn.sweep.sweep import forward

    task = drawing(settings, goal.name)
    run = rc.population(
        task,
        rc.Split(task.combinations, np.ones(1, bool)),
        make,
        rc.member_keys(settings.seed, seeds),
        rc.Recipe(steps or settings.steps, 1, optimiser or rc.unit_adam, until=until),
        dials={"learning_rate": settings.learning_rate if rates is None else np.array(rates)},
        start=start,
        monitor=monitor,
        label=label,
    )
    x, y = rc.grid(settings.size)[None], goal.picture.reshape(1, -1, 3)
    for i, name in enumerate(names or [f"{label}-{seed}" for seed in seeds]) if monitor else ():
        y_hat = np.asarray(forward(run[i].model, settings.size)[0])[None]
        monitor.recorded(name, rc.Record(np.zeros((1, 1)), x, y, y_hat))
    return run


def members(run: Any) -> list[Any]:
    """The networks of a population, one by one."""
    return [run[i].model for i in range(len(run))]


def size(run: Any) -> int:
    """The number of weights of a dense network of a run, whatever has become of them."""
    return sum(int(w[0].size) for w in run.model.weights)


def stacked(models: Sequence[Any]) -> Any:
    """Networks of equal shapes as one population's; put together on the host, where hundreds of them cost nothing."""
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack([np.asarray(a) for a in leaves])), *models)


def error(settings: PictureSettings, goal: Goal, model: Any) -> float:
    """Mean squared error of the colours."""
    return float(np.mean((rc.render(model, settings.size) - goal.picture) ** 2))


def names(settings: PictureSettings) -> list[str]:
    """The pictures that these settings name, without drawing them."""
    return [*settings.targets, *(artifact.name for artifact in _artifacts(settings))]


def cells(settings: Any) -> list[rc.Cell]:
    """Whatever is made of one picture, for one block of seeds."""
    return rc.cells(settings, [{"goal": name} for name in names(settings)])
