"""Six families of tasks asked alike: their pairs of parts, their networks, and what counts as success.

A family's pairs are what its examples compose: places x and y of a bump, modules of a teacher, preferences of a walker,
adjacent functions of a chain, adjacent numbers of a dynamic programme, a verb and its manner in SCAN. A share of them
is withheld at random, and every example that has one is held out. Those with exactly one are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.splits import coverage

TRIES = 1000
"""How often pairs are drawn at most."""
PROGRAMMES = 800
"""How many dynamic programmes of four numbers there are, drawn at random."""
COMMANDS = 1500
"""How many commands of SCAN there are, drawn at random."""
NAMES = ("bumps", "hyperteacher", "preferences", "chains", "programmes", "scan")


@dataclass(frozen=True)
class Family:
    """How one family is made, trained and scored: `task(seed, worlds, tiny)`, `network(task, width, depth, key)`.

    `worlds` says whether each seed has a world of its own, `categories` whether answers are categories with weights.
    """

    task: Callable[[int, int, bool], rc.Task]
    pairs: Callable[[np.ndarray], np.ndarray]
    parts: Callable[[np.ndarray], np.ndarray]
    network: Callable[[rc.Task, int, int, Any], Any]
    score: Callable[[rc.Record], float]
    width: int
    depth: int
    steps: int
    batch: int
    learning_rate: float
    fits: float = 0.9
    worlds: bool = True
    categories: bool = True


def family(name: str) -> Family:
    """A family by its name."""
    from recombine.measures.tokens import exact_match
    from recombine.tasks import scan
    from recombine.tasks.preferences import episode_accuracy

    values = partial(np.asarray, dtype=int)
    decoder = partial(Family, network=_decoder, score=exact_match, width=32, depth=2, batch=64, learning_rate=4e-3)
    student = partial(
        Family, pairs=_active, parts=_modules, network=_student, width=64, depth=2, batch=64, learning_rate=5e-3
    )
    known = {
        "bumps": lambda: Family(
            _bumps, _grid, _axes, _pixels, rc.peak_accuracy, 64, 2, 2500, 32, 3e-3, worlds=False, categories=False
        ),
        "hyperteacher": lambda: student(_hyperteacher, score=_r2, steps=2400, categories=False),
        "preferences": lambda: student(_preferences, score=episode_accuracy, steps=2400),
        "chains": lambda: decoder(_chains, lambda z: coverage.neighbours(z[:, 2:]), lambda z: z[:, 2:], steps=500),
        "programmes": lambda: decoder(_programmes, coverage.neighbours, values, steps=500, worlds=False),
        "scan": lambda: decoder(_scan, scan.pairs, scan.parts, steps=900, batch=48, worlds=False),
    }
    check(name)
    return known[name]()


def _bumps(seed: int, worlds: int, tiny: bool) -> rc.Task:
    size = 6 if tiny else 12
    return rc.bumps(size, rc.one_hot(size))


def _hyperteacher(seed: int, worlds: int, tiny: bool) -> rc.Task:
    modules, width = (4, 4) if tiny else (8, 8)
    sizes: dict[str, Any] = {"inputs": width, "hidden": (width,), "outputs": width, "samples": width}
    return rc.hyperteacher(modules=modules, max_active=3, teachers=worlds, key=rc.key(seed, "teachers"), **sizes)


def _preferences(seed: int, worlds: int, tiny: bool) -> rc.Task:
    sizes: dict[str, Any] = {"modules": 4 if tiny else 8, "features": 4, "objects": 1}
    return rc.preferences(**sizes, max_active=3, worlds=worlds, key=rc.key(seed, "walks"))


def _chains(seed: int, worlds: int, tiny: bool) -> rc.Task:
    from recombine.tasks.chains import chains

    many = 4 if tiny else 6
    return chains(symbols=many, functions=many, longest=2, worlds=worlds, key=rc.key(seed, "chains"))


def _programmes(seed: int, worlds: int, tiny: bool) -> rc.Task:
    from recombine.tasks.subsequence import every, some, subsequence

    rows = every(2) if tiny else some(4, PROGRAMMES, rc.rng(seed, "programmes"))
    return subsequence(rows, steps=False)


def _scan(seed: int, worlds: int, tiny: bool) -> rc.Task:
    from recombine.tasks import scan

    rows = scan.combinations()
    short = np.flatnonzero(scan.by_length(rows, 4 if tiny else 8).train)
    return scan.scan(rows[np.sort(rc.rng(seed, "commands").permutation(short)[:COMMANDS])])


@cache
def task(name: str, seed: int, worlds: int, tiny: bool) -> rc.Task:
    """The family's task; one object for equal settings, so that programs are compiled once."""
    return family(name).task(seed, worlds, tiny)


def _pixels(task: rc.Task, width: int, depth: int, key: Any) -> Any:
    size = int(task.combinations.max()) + 1
    return rc.MLPDecoder(2 * size, size, width=width, depth=depth, key=key)


def _student(task: rc.Task, width: int, depth: int, key: Any) -> Any:
    from recombine.tasks.hyperteacher import widths

    inputs, outputs = widths(task)
    return rc.StudentMLP(
        inputs, 5 if task.name.startswith("preferences") else outputs, width=width, depth=depth, key=key
    )


def _decoder(task: rc.Task, width: int, depth: int, key: Any) -> Any:
    from recombine.models.decoder import TokenDecoder
    from recombine.tasks import scan

    ids = getattr(task.sample, "vocabulary", scan.VOCABULARY)
    return TokenDecoder(len(ids), width=width, depth=depth, heads=width // 8, key=key)


@cache
def maker(name: str, task: rc.Task, width: int, depth: int) -> Callable[[Any], Any]:
    """One function for equal sizes, so that it is compiled once."""
    return partial(family(name).network, task, width, depth)


def _r2(record: rc.Record) -> float:
    """R^2 over all answers, 0 where they are worse than the mean."""
    return max(0.0, rc.r2_pooled(record))


def _grid(z: np.ndarray) -> np.ndarray:
    """The place of a bump is its pair."""
    return (z[:, :1] * (z.max() + 1) + z[:, 1:]).astype(int)


def _axes(z: np.ndarray) -> np.ndarray:
    """x, and y as other numbers."""
    return z + np.array([0, int(z.max()) + 1])


def _modules(z: np.ndarray) -> np.ndarray:
    """The modules that are active."""
    return np.where(z[:, 1:] > 0, np.arange(z.shape[1] - 1), rc.ABSENT)


def _active(z: np.ndarray) -> np.ndarray:
    """Every two modules that are active together."""
    first, second = np.triu_indices(z.shape[1] - 1, 1)
    both = (z[:, 1:][:, first] > 0) & (z[:, 1:][:, second] > 0)
    return np.where(both, np.arange(len(first)), rc.ABSENT)


def mine(name: str, task: rc.Task, seed: int) -> np.ndarray:
    """The rows of a seed's own world, or all where there are no worlds."""
    return task.combinations[:, 0] == seed if family(name).worlds else np.ones(len(task.combinations), bool)


class Sides(NamedTuple):
    """Rows of a seed to train on, rows to ask, and the share of all pairs that training covers."""

    train: np.ndarray
    asked: np.ndarray
    coverage: float


def sides(name: str, task: rc.Task, seed: int, withheld: float, rng: np.random.Generator) -> Sides:
    """Which rows of a seed have none of the pairs that are withheld at random, and which have exactly one.

    Rows with several are never seen: where more pairs are withheld there would be more of them, and asked rows would
    be harder for that alone. Lots are drawn anew until training has every single part: what is asked is a new pair of
    known parts.
    """
    own, one = mine(name, task, seed), family(name)
    nodes, parts = one.pairs(task.combinations), one.parts(task.combinations)
    every = np.unique(nodes[own])
    every = every[every != rc.ABSENT]
    count = max(1, round(withheld * len(every)))
    if count >= len(every):
        raise rc.UserError(f"{name}: withholding {withheld:g} of {len(every)} pairs leaves no pair covered")
    for _ in range(TRIES):
        new = np.sum(np.isin(nodes, rng.permutation(every)[:count]), axis=1)
        train, asked = own & (new == 0), own & (new == 1)
        if coverage.covered(parts[own], train[own]) == 1 and asked.any():
            return Sides(train, asked, float(coverage.covered(nodes[own], train[own])))
    raise rc.UserError(f"{name}: in {TRIES} lots, withholding {withheld:g} of the pairs always left a part untrained")


def thinned(name: str, task: rc.Task, train: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many of the training rows at random that hold all of their pairs and parts; more where these need more."""
    one, left = family(name), rng.permutation(np.flatnonzero(train))
    z = task.combinations[left]
    nodes, parts = one.pairs(z), one.parts(z)
    held: set[tuple[int, int]] = set()
    needed = np.zeros(len(left), bool)
    for i in range(len(left)):
        mine = {(kind, int(n)) for kind, row in enumerate((nodes[i], parts[i])) for n in row if n != rc.ABSENT}
        needed[i] = not mine <= held
        held |= mine
    first = np.concatenate([left[needed], left[~needed]])[: max(count, int(needed.sum()))]
    return np.isin(np.arange(len(train)), first)


def check(name: str) -> None:
    """Refuse the name of no family."""
    if name not in NAMES:
        raise rc.UserError(f"no family is called {name!r}; there are {', '.join(NAMES)}")


def recipe(name: str, effort: float) -> rc.Recipe:
    """How a family's networks are trained."""
    one = family(name)
    more: dict[str, Any] = {"loss": rc.masked_cross_entropy} if one.categories else {}
    return rc.Recipe(max(1, round(effort * one.steps)), one.batch, rc.adamw_cosine, **more)


def picked(settings: Any, name: str, task: rc.Task, rows: np.ndarray) -> np.ndarray:
    """Examples at random of some rows."""
    rng = rc.rng(settings.seed, "test rows", name)
    return task.combinations[rng.choice(np.flatnonzero(rows), settings.n_eval)]


@cache
def _sampler(task: rc.Task) -> Callable[..., Any]:
    """Examples of a task, compiled once for all that are asked."""
    import jax

    return jax.jit(jax.vmap(task.sample))


@cache
def _answerer() -> Callable[..., Any]:
    import equinox as eqx
    import jax

    return eqx.filter_jit(lambda model, x: jax.vmap(lambda one: model(one)[0])(x))


def drawn(task: rc.Task, z: np.ndarray, key: Any) -> rc.Record:
    """What one that never errs says to an example of each combination."""
    import jax

    count = 1 << (len(z) - 1).bit_length()  # few shapes, hence few compilations
    x, y = jax.device_get(_sampler(task)(np.resize(z, (count, z.shape[1])), jax.random.split(key, count)))
    return rc.Record(z, x[: len(z)], y[: len(z)], y[: len(z)])


def asked(settings: Any, name: str, task: rc.Task, model: Any, rows: np.ndarray) -> rc.Record:
    """What a network says to examples of some rows, with keys that training never uses."""
    record = drawn(task, picked(settings, name, task, rows), rc.key(settings.seed, "test"))
    return record.answering(np.asarray(_answerer()(model, record.x)))
