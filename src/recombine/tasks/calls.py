"""Turns a list of functions and a request into a function call, or into one of seven smaller answers about it.

A small stand-in for the training tasks of Abdelaziz et al., "Granite-Function Calling Model" (2024, arXiv 2407.00121).
Six functions are listed, each with what it does (a verb), a name of two letters and two slots. A request has 1 to 3
verbs: the first with two values, each further one with one value, since its first slot takes the result before it. The
full call is nested: `f2 ( slot f1 ( slot value slot value ) slot value )`. A combination is (names, depth, item, form):
names 0 are those shown in training, 1 are new ones; the item is the number from which list and request are drawn.
The verb is listed first, so that a name follows what the request repeats: decoders learn that sooner (docs/history.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from recombine.core import Task, UserError
from recombine.device import MOST_COMBINATIONS
from recombine.encodings.tasks import generator, seed_of
from recombine.tasks.tokens import EOS, SEP, Vocabulary, closed_up, example

LETTERS, NEW_NAMES, LISTED, VERBS, SLOTS, VALUES, DEEPEST = 16, 56, 6, 12, 8, 16, 3
TRAINED, NEW = 0, 1
"""Names that training shows, and names that it does not; all letters are in both."""
_OPEN, _CLOSE, _RESULT = "(", ")", "result"
FORMS = ("full", "nested", "chain", "parallel", "name", "pairs", "next", "response", "paraphrase")
"""What may be asked about an item, in the order of their numbers; "paraphrase" is "full" after another wording."""
GRANULAR = FORMS[1:8]
"""The seven subtasks; those after the third hold no call that is nested, chained or beside another."""
VOCABULARY = Vocabulary(
    (
        _OPEN,
        _CLOSE,
        _RESULT,
        *FORMS,
        *(f"letter {i}" for i in range(LETTERS)),
        *(f"verb {i}" for i in range(VERBS)),
        *(f"slot {i}" for i in range(SLOTS)),
        *(f"value {i}" for i in range(VALUES)),
    )
)
_LETTER, _VERB, _SLOT, _VALUE = (VOCABULARY.ids([f"{kind} 0"])[0] for kind in ("letter", "verb", "slot", "value"))


class Item(NamedTuple):
    """A list of functions and a request, in tokens: the k-th function called is listed at `called[k]`.

    names (6, 2), verbs (6,), slots (6, 2), called (3,), values (3, 2): the first value of a later call is used only
    where calls stand beside each other. `result` is what the last call gives.
    """

    names: jax.Array
    verbs: jax.Array
    slots: jax.Array
    called: jax.Array
    values: jax.Array
    result: jax.Array


Piece = tuple[jax.Array | list[jax.Array] | int, jax.Array | bool]
"""Some tokens, and whether they are there."""


@dataclass(frozen=True)
class Calls:
    """The `sample` of the task; an item depends on the seed, on its number, depth and kind of names alone."""

    seed: tuple[int, ...]
    length: int

    def __call__(self, z: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """x (length - 1,) and y (length - 1, 2) for one combination; the key is not used."""
        return example(*self.written(jnp.asarray(z, jnp.int32)))

    def written(self, z: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The tokens (length,) of one combination, and which of them are to be predicted."""
        item, depth, form = self.item(z), z[1], z[3]
        asked, answered = _request(item, depth, form), [_Written(*_joined(f(item, depth))) for f in _ANSWERS]
        longest = max(len(one.tokens) for one in answered)
        answers = jnp.stack([jnp.pad(one.tokens, (0, longest - len(one.tokens))) for one in answered])[form]
        there = jnp.stack([jnp.pad(one.there, (0, longest - len(one.there))) for one in answered])[form]
        tokens = jnp.concatenate([asked.tokens, jnp.full(1, SEP), answers, jnp.full(1, EOS)])
        here = jnp.concatenate([asked.there, jnp.ones(1, bool), there, jnp.ones(1, bool)])
        places, prompt = jnp.arange(self.length), asked.there.sum() + 1
        return closed_up(tokens, here)[: self.length], (places >= prompt) & (places < here.sum())

    def item(self, z: jax.Array) -> Item:
        """What combination z is about."""
        key = jax.random.fold_in(
            jax.random.fold_in(jax.random.wrap_key_data(jnp.array(self.seed, jnp.uint32)), z[2]), 8 * z[1] + z[0]
        )
        name, verb, slot, place, value, last = jax.random.split(key, 6)
        new = np.isin(np.arange(LETTERS**2), names(self.seed)[NEW])
        chances = jnp.where(new == (z[0] == NEW), jax.random.uniform(name, new.shape), -1.0)
        drawn = jax.lax.top_k(chances, LISTED)[1]
        slots = jax.vmap(lambda k: jax.random.permutation(k, SLOTS)[:2])(jax.random.split(slot, LISTED))
        return Item(
            _LETTER + jnp.stack([drawn // LETTERS, drawn % LETTERS], axis=1),
            _VERB + jax.random.permutation(verb, VERBS)[:LISTED],
            _SLOT + slots,
            jax.random.permutation(place, LISTED)[:DEEPEST],
            _VALUE + jax.random.randint(value, (DEEPEST, 2), 0, VALUES),
            _VALUE + jax.random.randint(last, (), 0, VALUES),
        )


@cache
def names(seed: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The names shown in training and the new ones, as numbers below 256; each letter is shown in both places."""
    rng = generator("calls", *seed)
    while True:
        drawn = rng.permutation(LETTERS**2)
        shown, new = drawn[NEW_NAMES:], drawn[:NEW_NAMES]
        if len(set(shown // LETTERS)) == len(set(shown % LETTERS)) == LETTERS:
            return shown, new


class _Written(NamedTuple):
    tokens: jax.Array
    there: jax.Array


def _joined(pieces: Iterable[Piece]) -> _Written:
    """Pieces one after another, each with as many booleans as tokens."""
    pieces = list(pieces)
    tokens = [jnp.asarray(each, jnp.int32).ravel() for each, _ in pieces]
    there = [jnp.full(len(t), here) for t, (_, here) in zip(tokens, pieces, strict=True)]
    return _Written(jnp.concatenate(tokens), jnp.concatenate(there))


def _request(item: Item, depth: jax.Array, form: jax.Array) -> _Written:
    """The list, the form, and the request: each verb before its values, or after them where it is paraphrased."""
    listed = jnp.concatenate([item.verbs[:, None], item.names, item.slots], axis=1)
    beside, otherwise = form == FORMS.index("parallel"), form == FORMS.index("paraphrase")
    wanted = jnp.where(otherwise, _word("full"), _word(FORMS[0]) + form)
    pieces: list[Piece] = [(listed, True), (wanted, True)]
    for k in range(DEEPEST):
        verb, (first, second), here = item.verbs[item.called[k]], item.values[k], k < depth
        pieces += [(verb, here & ~otherwise), (first, here & ((k == 0) | beside)), (second, here)]
        pieces += [(verb, here & otherwise)]
    for k in range(DEEPEST - 1):  # what was called before is given, and which function comes next is asked
        pieces += [(item.names[item.called[k]], (k + 1 < depth) & (form == FORMS.index("next")))]
    return _joined([*pieces, (item.result, form == FORMS.index("response"))])


def listed_names(x: np.ndarray) -> np.ndarray:
    """The names (rows, 6, 2), in tokens, of the functions that rows x (rows, T) list."""
    return x[:, : 5 * LISTED].reshape(len(x), LISTED, 5)[..., 1:3]


def _word(name: str) -> int:
    return VOCABULARY.ids([name])[0]


def _full(item: Item, depth: jax.Array) -> list[Piece]:
    """The nested call, the last function outermost."""
    before: list[Piece] = []
    after: list[Piece] = []
    for k in reversed(range(DEEPEST)):
        name, (one, two), here = item.names[item.called[k]], item.slots[item.called[k]], k < depth
        before += [(name, here), (_word(_OPEN), here), (one, here)]
        after = [(two, here), (item.values[k, 1], here), (_word(_CLOSE), here), *after]
    return [*before, (item.values[0, 0], True), *after]


def _flat(item: Item, depth: jax.Array, first: Callable[[int], jax.Array]) -> list[Piece]:
    """Calls one after another; `first` says what stands in the first slot of each."""
    pieces: list[Piece] = []
    for k in range(DEEPEST):
        name, (one, two) = item.names[item.called[k]], item.slots[item.called[k]]
        call = [*name, _word(_OPEN), one, first(k), two, item.values[k, 1], _word(_CLOSE)]
        pieces.append((jnp.stack([jnp.asarray(token, jnp.int32) for token in call]), k < depth))
    return pieces


def _chain(item: Item, depth: jax.Array) -> list[Piece]:
    """Calls in their order, each with the result of the one before."""
    return _flat(item, depth, lambda k: item.values[0, 0] if k == 0 else jnp.asarray(_word(_RESULT)))


def _parallel(item: Item, depth: jax.Array) -> list[Piece]:
    """Calls beside each other, each with two values of its own."""
    return _flat(item, depth, lambda k: item.values[k, 0])


def _names(item: Item, depth: jax.Array) -> list[Piece]:
    """Which functions are called, in their order."""
    return [(item.names[item.called[k]], k < depth) for k in range(DEEPEST)]


def _pairs(item: Item, depth: jax.Array) -> list[Piece]:
    """Which value goes to which slot."""
    first: Piece = ([item.slots[item.called[0], 0], item.values[0, 0]], True)
    return [first, *(([item.slots[item.called[k], 1], item.values[k, 1]], k < depth) for k in range(DEEPEST))]


def _next(item: Item, depth: jax.Array) -> list[Piece]:
    """The last function, after those before it."""
    return [(item.names[item.called[depth - 1]], True)]


def _response(item: Item, depth: jax.Array) -> list[Piece]:
    """What was done last, and its result."""
    return [([item.verbs[item.called[depth - 1]], item.result], True)]


_ANSWERS = (_full, _full, _chain, _parallel, _names, _pairs, _next, _response, _full)


def calls(combinations: np.ndarray, *, key: jax.Array, length: int = 64) -> Task:
    """A task over combinations (names, depth, item, form) that `asking` made, in so many tokens."""
    combinations = np.asarray(combinations)
    if combinations.ndim != 2 or combinations.shape[1] != 4 or not len(combinations):
        raise UserError(f"combinations of calls are (names, depth, item, form), got shape {combinations.shape}")
    low, high = (TRAINED, 1, 0, 0), (NEW, DEEPEST, combinations[:, 2].max(), len(FORMS) - 1)
    good = np.all((combinations >= low) & (combinations <= high), axis=1)
    if not good.all():
        raise UserError(f"combinations of calls are (names, depth, item, form); {combinations[~good][0]} is none")
    task = Task("calls", combinations, Calls(seed_of(key), length))
    longest = _longest(combinations)
    if longest > length:
        raise UserError(f"a row has {longest} tokens where there is room for {length}")
    return task


def _longest(combinations: np.ndarray) -> int:
    """The tokens of the longest row, by its depth and form alone."""
    kinds = np.unique(combinations[:, [1, 3]], axis=0)
    return max(LISTED * 5 + 3 + sum(_sizes(int(depth), FORMS[form])) for depth, form in kinds)


def _sizes(depth: int, form: str) -> tuple[int, int]:
    """How many tokens request and answer have at a depth."""
    request, answer = 2 * depth + 1, 7 * depth + 1
    others = {
        "parallel": (3 * depth, 8 * depth),
        "chain": (request, 8 * depth),
        "name": (request, 2 * depth),
        "pairs": (request, 2 * depth + 2),
        "next": (request + 2 * (depth - 1), 2),
        "response": (request + 1, 2),
    }
    return others.get(form, (request, answer))


def asking(forms: Sequence[str], items: Sequence[int], depths: Sequence[int], kind: int = TRAINED) -> np.ndarray:
    """The combinations of some forms, items and depths, with names of one kind."""
    if unknown := [form for form in forms if form not in FORMS]:
        raise UserError(f"no form is called {unknown[0]!r}; there are {', '.join(FORMS)}")
    if hasattr(items, "__len__") and len(forms) * len(items) * len(depths) > MOST_COMBINATIONS:
        told = f"{len(items)} items in {len(forms)} forms at {len(depths)} depths"
        raise UserError(f"{told} are more than {MOST_COMBINATIONS:,} rows")
    return np.array(list(product([kind], depths, items, [FORMS.index(form) for form in forms])), np.int32)


def scored_tokens(forms: Sequence[str], depths: Sequence[int]) -> float:
    """How many tokens of a row are to be predicted on average, EOS among them."""
    return float(np.mean([_sizes(depth, form)[1] + 1 for form in forms for depth in depths]))
