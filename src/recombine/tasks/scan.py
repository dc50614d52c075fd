"""Turns commands such as "jump around left twice and run" into actions: SCAN, generated again from its grammar.

Lake and Baroni (2018, arXiv 1711.00350); the splits by template and filler are those of Loula, Baroni and Lake (2018,
arXiv 1807.07545). A phrase is a verb, perhaps with a manner and a direction; a part is a phrase once, twice or thrice;
a command is a part, or two of them joined by "and" or by "after". A combination is (phrase, times, join, phrase,
times), the last three ABSENT where there is one part. Tokens are the words, SEP, the actions, EOS.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import ABSENT, Task, UserError
from recombine.tasks.tokens import EOS, SEP, Vocabulary, example, padded, scored

VERBS = ("walk", "look", "run", "jump")
_TURN, _DIRECTIONS, _MANNERS = "turn", ("left", "right"), ("", "opposite", "around")
PHRASES = (
    *VERBS,
    *(
        " ".join(word for word in (verb, manner, direction) if word)
        for direction in _DIRECTIONS
        for manner in _MANNERS
        for verb in (_TURN, *VERBS)
    ),
)
"""The 34 phrases."""
TIMES = ("", "twice", "thrice")
JOINS = ("and", "after")
WORDS = (*VERBS, _TURN, *_DIRECTIONS, *_MANNERS[1:], *TIMES[1:], *JOINS)
ACTIONS = (*(f"I_{verb.upper()}" for verb in VERBS), *(f"I_TURN_{way.upper()}" for way in _DIRECTIONS))
VOCABULARY = Vocabulary((*WORDS, *ACTIONS))
LENGTH = 9 + 1 + 48 + 1
"""The longest command, SEP, the most actions, EOS."""
_PARTS = len(PHRASES) * len(TIMES)


def done(phrase: str) -> list[str]:
    """The actions of a phrase.

    >>> done("walk opposite left")
    ['I_TURN_LEFT', 'I_TURN_LEFT', 'I_WALK']
    """
    verb, *how = phrase.split()
    act = [] if verb == _TURN else [f"I_{verb.upper()}"]
    if not how:
        return act
    turn = [f"I_TURN_{how[-1].upper()}"]
    if how[0] == "around":
        return 4 * (turn + act)
    return turn * len(how) + act


def command(row: Iterable[int]) -> list[str]:
    """The words of a combination.

    >>> " ".join(command([3, 1, 1, 0, 0]))
    'jump twice after walk'
    """
    first, times, join, second, again = row
    words = f"{PHRASES[first]} {TIMES[times]}"
    return (words if join == ABSENT else f"{words} {JOINS[join]} {PHRASES[second]} {TIMES[again]}").split()


def actions(row: Iterable[int]) -> list[str]:
    """The actions of a combination.

    >>> actions([3, 1, 1, 0, 0])
    ['I_WALK', 'I_JUMP', 'I_JUMP']
    """
    first, times, join, second, again = row
    before = done(PHRASES[first]) * (times + 1)
    if join == ABSENT:
        return before
    then = done(PHRASES[second]) * (again + 1)
    return before + then if JOINS[join] == "and" else then + before


@cache
def combinations() -> np.ndarray:
    """All 20,910 combinations: single parts first, then those joined by "and", then those joined by "after"."""
    parts = np.stack(np.divmod(np.arange(_PARTS), len(TIMES)), axis=1)
    single = np.pad(parts, ((0, 0), (0, 3)), constant_values=ABSENT)
    first, second = np.repeat(parts, _PARTS, axis=0), np.tile(parts, (_PARTS, 1))
    joined = [np.column_stack([first, np.full(len(first), join), second]) for join in range(len(JOINS))]
    return np.concatenate([single, *joined]).astype(np.int8)


@cache
def written() -> np.ndarray:
    """The tokens (20910, 59) of all combinations, in their order."""
    rows = [[*VOCABULARY.ids(command(row)), SEP, *VOCABULARY.ids(actions(row)), EOS] for row in combinations().tolist()]
    return padded(rows, LENGTH).astype(np.int8)


@dataclass(frozen=True)
class Commands:
    """The `sample` of SCAN, with room for `length` tokens; its key is not used."""

    length: int = LENGTH

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (length - 1,) and y (length - 1, 2) for one combination."""
        table = written()[:, : self.length]
        place = number(jnp.asarray(z, jnp.int32))
        return example(jnp.asarray(table)[place], jnp.asarray(scored(table))[place])


def number(z: jax.Array) -> jax.Array:
    """The place of one combination in the list of all."""
    first = z[0] * len(TIMES) + z[1]
    second = z[3] * len(TIMES) + z[4]
    return jnp.where(z[2] == ABSENT, first, _PARTS + (z[2] * _PARTS + first) * _PARTS + second)


def scan(rows: np.ndarray | None = None) -> Task:
    """All of SCAN, or only these of its combinations, in no more tokens than their longest needs."""
    chosen = combinations() if rows is None else np.asarray(rows)
    if chosen.ndim != 2 or chosen.shape[1] != 5 or not len(chosen):
        raise UserError(f"combinations of SCAN are (phrase, times, join, phrase, times), got shape {chosen.shape}")
    low, high = (0, 0, ABSENT, ABSENT, ABSENT), (len(PHRASES), len(TIMES), len(JOINS), len(PHRASES), len(TIMES))
    absent = np.sum(chosen[:, 2:] == ABSENT, axis=1)
    good = np.all((chosen >= low) & (chosen < high), axis=1) & np.isin(absent, (0, 3))
    if not good.all():
        raise UserError(f"combinations of SCAN are (phrase, times, join, phrase, times); {chosen[~good][0]} is none")
    longest = max(len(command(row)) + len(actions(row)) + 2 for row in chosen.tolist())
    return Task("scan", chosen, Commands(longest))


class Sides(NamedTuple):
    """Which combinations are trained on and which are asked; those that would give the answer away are neither."""

    train: np.ndarray
    test: np.ndarray


def holding(rows: np.ndarray, phrases: Iterable[str]) -> np.ndarray:
    """The combinations that have one of these phrases."""
    phrases = list(phrases)
    if unknown := [phrase for phrase in phrases if phrase not in PHRASES]:
        raise UserError(f"SCAN has no phrase {unknown[0]!r}")
    numbers = [PHRASES.index(phrase) for phrase in phrases]
    return np.isin(rows[:, 0], numbers) | np.isin(rows[:, 3], numbers)


def by_length(rows: np.ndarray, most: int = 22) -> Sides:
    """Train on commands of at most so many actions, ask longer ones."""
    counts = np.array([len(actions(row)) for row in rows.tolist()])
    return Sides(counts <= most, counts > most)


def add_primitive(rows: np.ndarray, phrase: str) -> Sides:
    """Train on commands without a phrase, or for a verb without the verb, and on the bare phrase; ask the others."""
    holding(rows, [phrase])  # refuses what is no phrase
    held = [one for one in PHRASES if phrase == one or (phrase in VERBS and phrase in one.split())]
    bare = np.all(rows == [PHRASES.index(phrase), 0, ABSENT, ABSENT, ABSENT], axis=1)
    train = ~holding(rows, held) | bare
    return Sides(train, ~train)


def template(rows: np.ndarray, how: str, shown: Iterable[str] = (), asked: Iterable[str] = VERBS) -> Sides:
    """Train on commands in which of all verbs only those `shown` stand with a manner and direction; "turn" never does.

    Asked are commands in which one that is `asked` does, and "turn" does not.
    """
    if isinstance(shown, str) or not isinstance(asked, tuple | list | set | frozenset):
        raise UserError(f"verbs are given as a tuple, ('look',); got shown={shown!r} and asked={asked!r}")
    shown = tuple(shown)
    if not {*shown, *asked} <= set(VERBS):
        raise UserError(f"verbs are {', '.join(VERBS)}; got shown={shown} and asked={tuple(asked)}")
    if not set(asked) - set(shown):
        raise UserError(f"of {', '.join(VERBS)} one at least is asked and not shown; got shown={shown}")
    if set(shown) & set(asked):
        left = tuple(verb for verb in asked if verb not in shown)
        raise UserError(f"what is shown cannot be asked as well: write asked={left}")
    held = [f"{verb} {how}" for verb in (_TURN, *VERBS) if verb not in shown]
    others = [f"{verb} {how}" for verb in asked]
    return Sides(~holding(rows, held), holding(rows, others) & ~holding(rows, [f"{_TURN} {how}"]))


def filler(rows: np.ndarray, count: int) -> Sides:
    """Train on "around right" with the first `count` of look, walk, run; ask commands with "jump around right"."""
    if not 0 <= count <= 3:
        raise UserError(f"between 0 and 3 verbs fill the place before 'around right', got {count}")
    return template(rows, "around right", ("look", "walk", "run")[:count], ("jump",))


def parts(rows: np.ndarray) -> np.ndarray:
    """The number of each verb, and of each manner with its direction, in both phrases; ABSENT where there is none."""
    words = [phrase.split(maxsplit=1) for phrase in PHRASES]
    verbs = [(_TURN, *VERBS).index(one[0]) for one in words]
    manners = list(dict.fromkeys(one[1] for one in words if len(one) > 1))
    hows = [len(VERBS) + 1 + manners.index(one[1]) if len(one) > 1 else ABSENT for one in words]
    table = np.array([*zip(verbs, hows, strict=True), (ABSENT, ABSENT)])  # the last for a phrase that is ABSENT
    return table[rows[:, [0, 3]].astype(int)].reshape(len(rows), 4)


def pairs(rows: np.ndarray) -> np.ndarray:
    """The number of each pair of a verb with its manner and direction, one per part; ABSENT for a verb alone.

    "around right" with jump is such a pair: filling a template is composing one.
    """
    phrases = rows[:, [0, 3]].astype(int)
    return np.where(phrases < len(VERBS), ABSENT, phrases)
