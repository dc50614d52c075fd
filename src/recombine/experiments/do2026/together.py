"""One network for several pictures: which pictures, the tasks of drawing one or all, and the networks that do."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.pictures import shared


@cache
def pictures(settings: Any) -> dict[str, shared.Goal]:
    """The designed pictures and, after them, those outside."""
    known = {t.name: t.picture for t in rc.gallery.targets(settings.size) if t.kind != "designed"}
    known |= {name: rc.load_picture(name, settings.size) for name in settings.outside if Path(name).suffix}
    designed = shared.goals(settings)
    if unknown := set(settings.outside) - set(known):
        raise rc.UserError(f"no other picture is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if plain := [name for name in settings.outside if shared.flat(known[name])]:
        raise rc.UserError(f"{plain[0]} is one flat colour: there is nothing in it to draw")
    if both := set(settings.outside) & set(designed):
        raise rc.UserError(f"{sorted(both)[0]} is the name of an evolved network and of a picture outside")
    return designed | {name: shared.Goal(name, False, None, known[name], None) for name in settings.outside}


def content(settings: Any, names: tuple[str, ...]) -> str:
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
def together(settings: Any) -> rc.Task:
    """All the designed pictures as one example."""
    several = rc.picture([goal.picture for goal in shared.goals(settings).values()], told=True)
    count = len(several.combinations)
    return rc.Task(f"all of {several.name}", np.zeros((1, 1), int), Together(several.sample, count))


@cache
def apart(settings: Any) -> rc.Task:
    """Every picture as an example of its own: one program for all, which differ in what they are trained on."""
    return rc.picture([goal.picture for goal in pictures(settings).values()])


@cache
def maker(settings: Any, inputs: int):
    """Dense networks into which each of the designed ones fits."""
    models = [goal.model for goal in shared.goals(settings).values()]
    types = sorted({name for model in models for name, _ in model.mix})
    mix = tuple((name, max(dict(model.mix).get(name, 0) for model in models)) for name in types)
    depth = max(len(model.weights) for model in models) - 1
    return lambda key: rc.CPPN(mix, depth, inputs=inputs, key=key)


def told(model: Any, count: int) -> list[Any]:
    """The networks of four inputs that a network of five is for each picture: the bias input carries the fifth."""
    from recombine.cppn.network import from_weights

    first, *others = (np.asarray(w) for w in model.weights)
    values = np.linspace(-1, 1, count)
    starts = [first[:4] + np.outer([0, 0, 0, 1], value * first[4]) for value in values]
    return [from_weights(model.mix, [start, *others]) for start in starts]
