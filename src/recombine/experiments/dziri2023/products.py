"""Long multiplication: what is withheld, groups of products, larger ones, and systems whose answers are known.

The whole subgraph of a step of long multiplication is an *ending* of the first number and one digit of the second. A
share of the endings of two digits is withheld at random, each with one digit of the second number: (7 2, 8) is in no
trained product ..27 x 8. The steps that make it up are trained on: 7 x 8 in other products, and 2 x 8 with a carry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.experiments.tokens import shared
from recombine.measures.controls import longest_prefix, vote
from recombine.measures.tokens import exact_rows, right_tokens, token_accuracy
from recombine.splits.coverage import by_hash, covered


@dataclass(frozen=True, kw_only=True)
class Products(shared.Decoders):
    """A family of products, and decoders of it."""

    first: int = 3
    """digits of the first number of a trained product, at most"""
    second: int = 1
    """digits of the second number of a trained product, at most"""
    longer: tuple[int, ...] = (4, 5)
    """digits of first numbers that are only asked, with second numbers of the trained length"""
    more: tuple[int, ...] = ()
    """digits of second numbers that are only asked, with first numbers of the trained length"""
    withheld: float = 0.2
    """share of the endings of two digits, each with a digit of the second number, that no trained product has"""
    held_out: float = 0.2
    """share of the other products of the largest trained size that is held out singly"""
    n_eval: int = 500
    """products of each group and size on which a network is evaluated, at most"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_positive("second", "n_eval")
        if self.first < 3 or self.first + self.second > 5:  # of two digits, an ending would be a whole number
            raise rc.UserError(f"first is 3 digits or more, 5 with second; got {self.first} and {self.second}")
        for name, known in (("longer", self.first), ("more", self.second)):
            sizes = getattr(self, name)
            if list(sizes) != sorted(set(sizes)) or (sizes and sizes[0] <= known):
                raise rc.UserError(f"{name} must be rising numbers above {known}, got {sizes}")
        if not self.longer:
            raise rc.UserError("longer must name one length at least")
        for name in ("withheld", "held_out"):
            if not 0 < getattr(self, name) < 1:
                raise rc.UserError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")

    @property
    def digits(self) -> tuple[int, int]:
        """The largest trained size."""
        return self.first, self.second

    @property
    def larger(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """The sizes that are only asked, by the number that is longer."""
        found = {"longer": tuple((n, self.second) for n in self.longer)}
        return found | ({"more": tuple((self.first, n) for n in self.more)} if self.more else {})


@cache
def family(digits: tuple[int, int], *, steps: bool) -> rc.Task:
    """All products of at most so many digits; one object for equal digits, so that programs are compiled once."""
    from recombine.tasks.multiplication import every, multiplication

    return multiplication(every(digits), digits, steps=steps)


class World(NamedTuple):
    """What one seed is trained on, and groups of products: masks over all of the trained sizes.

    Groups that are compared are of the largest size; trained products of smaller ones stand apart.
    """

    train: np.ndarray
    endings: np.ndarray
    """(products, second) the number of each ending of two digits with a digit of the second number"""
    out: np.ndarray
    """(products, second) whether it is withheld"""
    groups: dict[str, np.ndarray]


def world(settings: Products, seed: int) -> World:
    """The same endings and products are withheld from all networks of a seed."""
    from recombine.tasks.multiplication import partial_products

    z = family(settings.digits, steps=False).combinations
    ends = partial_products(z, settings.digits).reshape(len(z), settings.second, settings.first)[:, :, 1]
    salt = int(rc.rng(settings.seed, "endings", seed).integers(2**32))
    out = by_hash(ends.reshape(-1, 1), settings.withheld, salt).reshape(ends.shape) & (ends != rc.ABSENT)
    full, any_out = (z != rc.ABSENT).all(axis=1), out.any(axis=1)
    single = full & ~any_out & (rc.rng(settings.seed, "singles", seed).uniform(size=len(z)) < settings.held_out)
    train = ~any_out & ~single
    sides = {"trained": train & full, "smaller": train & ~full, "row": single, "withheld": any_out & full}
    return World(train, ends, out, sides)


def chosen(settings: Products, known: World, seed: int) -> dict[str, np.ndarray]:
    """Of each group, the numbers of the products that are asked."""
    rng = rc.rng(settings.seed, "asked", seed)
    return {name: rng.permutation(np.flatnonzero(mask))[: settings.n_eval] for name, mask in known.groups.items()}


@cache
def asked(settings: Products, *, steps: bool) -> dict[tuple[int, int], tuple[rc.Task, np.ndarray]]:
    """Some products of each larger size, the same for all networks, and a task with room for them."""
    from recombine.tasks.multiplication import multiplication, some

    found = {}
    for size in (size for sizes in settings.larger.values() for size in sizes):
        rows = some(size, settings.n_eval, rc.rng(settings.seed, "larger", *size), size)
        found[size] = multiplication(rows, size, steps=steps), rows
    return found


def measured(settings: Products, answers, seed: int, *, steps: bool) -> tuple[dict[str, float], rc.Record]:
    """Exact answers of one system in each group and larger size, and its steps; what it said of withheld endings.

    `answers(task, combinations)` is the record of what a system says.
    """
    task, known = family(settings.digits, steps=steps), world(settings, seed)
    rows = chosen(settings, known, seed)
    records = {name: answers(task, task.combinations[each]) for name, each in rows.items()}
    found = {f"exact_{name}": float(exact_rows(record).mean()) for name, record in records.items()}
    found["tokens_row"] = token_accuracy(records["row"])
    found |= {"step_seen": np.nan, "step_withheld": np.nan}
    if steps:
        right = np.concatenate([ended(settings, records[name])[0] for name in ("row", "withheld")])
        out = np.concatenate([known.out[rows[name]] for name in ("row", "withheld")])
        found |= {"step_seen": shared.share(right, ~out), "step_withheld": shared.share(right, out)}
    return found | larger_sizes(settings, answers, steps=steps) | described(settings, known), records["withheld"]


def larger_sizes(settings: Products, answers, *, steps: bool) -> dict[str, float]:
    """Exact answers and right tokens of each larger size, and their means where either number is longer."""
    said = {size: answers(*each) for size, each in asked(settings, steps=steps).items()}
    found = {}
    for name, sizes in settings.larger.items():
        for kind, score in (("exact", lambda record: float(exact_rows(record).mean())), ("tokens", token_accuracy)):
            each = {f"{kind}_{a}x{b}": score(said[a, b]) for a, b in sizes}
            found |= each | {f"{kind}_{name}": float(np.mean(list(each.values())))}
    return found


def described(settings: Products, known: World) -> dict[str, float]:
    """How many products each group has, and what training covers: products of two digits, and endings."""
    from recombine.tasks.multiplication import digit_pairs

    z = family(settings.digits, steps=False).combinations
    counts = {f"n_{name}": float(mask.sum()) for name, mask in known.groups.items()}
    pairs = covered(digit_pairs(z, settings.digits), known.train)
    return counts | {"coverage_pairs": pairs, "coverage_subgraphs": covered(known.endings, known.train)}


def ended(settings: Products, record: rc.Record) -> tuple[np.ndarray, np.ndarray]:
    """(products, second) whether both tokens of the step of two digits are right, given right ones before; which."""
    from recombine.tasks.multiplication import step_tokens
    from recombine.tasks.tokens import FIRST

    places = step_tokens(settings.digits)[:, 1]
    right = np.all(right_tokens(record)[:, places], axis=-1)
    return np.asarray(right), (record.y[:, places, 0] - FIRST) @ np.array([10, 1])


def by_model(settings: Products, model: Any):
    """What a network answers."""
    return lambda task, z: rc.record(model, task, z, key=rc.key(settings.seed, "test"))


def known_systems(settings: Products) -> list[dict]:
    """A perfect solver, and a rememberer of products and of steps, both with steps."""
    perfect, _ = measured(settings, solver(settings), 0, steps=True)
    return [{"system": "perfect", "seed": 0} | perfect, {"system": "rememberer", "seed": 0} | remembered(settings)]


def solver(settings: Products):
    """What a perfect solver answers, as certain logits."""

    def answers(task: rc.Task, z: np.ndarray) -> rc.Record:
        truth = rc.truth(task, z, key=rc.key(settings.seed, "test"))
        return truth.answering(np.eye(len(task.sample.vocabulary), dtype=np.float32)[truth.y[..., 0]])  # pyrefly: ignore

    return answers


def remembered(settings: Products) -> dict[str, float]:
    """Exact answers of the trained product that ends alike; steps of its ending, or else the commonest of all."""
    known, sizes = world(settings, 0), settings.larger["longer"]
    room, rows = (max(settings.longer), settings.second), chosen(settings, known, 0)
    z = [family(settings.digits, steps=False).combinations, *(asked(settings, steps=False)[size][1] for size in sizes)]
    wide = [np.insert(each, [each.shape[1] - room[1]] * (sum(room) - each.shape[1]), rc.ABSENT, axis=1) for each in z]
    every = np.concatenate(wide).astype(np.int64)
    shown = np.pad(known.train, (0, len(every) - len(known.train)))
    first, second = (
        np.maximum(part, 0) @ 10 ** np.arange(part.shape[1]) for part in np.split(every, [room[0]], axis=1)
    )
    # the second number first, then the first from its least digit on; answers by number, as products are large
    named, answers = np.unique(first * second, return_inverse=True)
    right = named[longest_prefix(np.roll(every, room[1], axis=1), answers, shown)] == first * second
    found = {f"exact_{name}": float(right[each].mean()) for name, each in rows.items()}
    found["exact_longer"] = float(right[len(known.train) :].mean())
    return found | remembered_steps(settings, known)


def remembered_steps(settings: Products, known: World) -> dict[str, float]:
    """Right steps of endings that were seen and withheld, if each were that of its ending in training."""
    task = family(settings.digits, steps=True)
    full = (task.combinations != rc.ABSENT).all(axis=1)
    _, truth = ended(settings, rc.truth(task, task.combinations[full], key=rc.key(settings.seed, "test")))
    train = np.repeat(known.train[full], settings.second)
    guess = vote(known.endings[full].reshape(-1, 1), truth.ravel(), train).reshape(truth.shape)
    asked_ones, out = ~known.train[full][:, None], known.out[full]
    kinds = {"step_seen": asked_ones & ~out, "step_withheld": out}
    return {name: shared.share(guess == truth, mask) for name, mask in kinds.items()}
