"""Sizes that no memory holds, and rows, places and pairs of a wrong kind, are answered by one sentence."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.interventions.patch import patched
from recombine.measures.tokens import exact_match, token_accuracy
from recombine.models.decoder import TokenDecoder
from recombine.recording.generation import generate
from recombine.splits.chains import groups, has_withheld, withheld_pairs, withholding
from recombine.tasks import bumps, calls, houses, modules, multiplication, scan, subsequence
from recombine.tasks.chains import chains

ANY: Any = SimpleNamespace(
    patched=patched,
    withholding=withholding,
    withheld_pairs=withheld_pairs,
    generate=generate,
    exact_match=exact_match,
    decoder=TokenDecoder,
    iter=iter,
    jax=jnp.asarray,
)
"""For calls that are wrong on purpose."""
TASK = chains(symbols=4, functions=3, longest=2, key=rc.key(0, "worlds"))
Z = TASK.combinations
PAIRS = np.arange(9).reshape(3, 3) == 1
RNG = np.random.default_rng(0)
NOWHERE = rc.Record(np.zeros((1, 1)), np.zeros((1, 3)), np.zeros((1, 3, 2)), np.zeros((1, 3, 5)))
ONE = TokenDecoder(10, width=8, depth=1, heads=2, key=rc.key(0, "weights"))
MANY = jax.tree.map(lambda a: a[None], ONE)
ROW, HERE = jnp.arange(4), jnp.ones(4, bool)
MISSING = rc.Record(np.zeros((1, 1)), np.full((1, 3), -1), np.ones((1, 3, 2)), np.zeros((1, 3, 2)))
BEYOND = rc.Record(np.zeros((1, 1)), np.zeros((1, 3)), np.array([[[9, 1], [1, 1], [0, 0]]]), np.zeros((1, 3, 5)))


def template(shown: Any) -> scan.Sides:
    return scan.template(scan.combinations(), "around right", shown)


SENTENCES: dict[str, Callable[[], Any]] = {
    # sizes
    "up to 6 of 50 functions, 50 symbols and 1 worlds make more than 20,000,000 rows": lambda: chains(
        symbols=50, functions=50, longest=6, key=rc.key(0, "worlds")
    ),
    "up to 31 functions, got longest=1000000000": lambda: chains(longest=10**9, key=rc.key(0, "worlds")),
    "draw `some` of them": lambda: subsequence.every(9),
    "at least 1 input, and shortest is at most longest; got 1 and 0": lambda: subsequence.every(0),
    "digits are more than 20,000,000 rows: draw `some`": lambda: multiplication.every((5, 5)),
    "masks of up to 9 of 60 modules are more than": lambda: modules.masks(60, 9),
    "a grid of 100000 x 100000 cells": lambda: bumps.bumps(10**5, rc.one_hot(4)),
    "items in 1 forms at 1 depths are more than": lambda: calls.asking(("full",), range(10**8), (1,)),
    "puzzles of each of 1 sizes are more than": lambda: houses.houses([(3, 3)], 10**8, key=rc.key(0, "houses")),
    # scores
    "row 0 has no place that counts": lambda: exact_match(NOWHERE),
    "there is nothing to be right": lambda: token_accuracy(NOWHERE),
    "no rows are left to be scored": lambda: exact_match(NOWHERE.where(np.zeros(1, bool))),
    "no rows are left .* was nothing chosen": lambda: token_accuracy(NOWHERE.where(np.zeros(1, bool))),
    "ids and weights, and logits .* got y .2, 3. and y_hat .2, 3.": lambda: exact_match(
        rc.Record(np.zeros((2, 1)), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    ),
    # patching and generation
    "a population of decoders": lambda: patched(MANY, ROW, ROW, before=0, places=HERE),
    r"only a network with rest\(h, x, first\)": lambda: patched(lambda x: (x, {}), ROW, ROW, before=0, places=HERE),
    "a boolean per token, .* got int32 and 0": lambda: patched(ONE, ROW, ROW, before=0, places=ROW),
    "got bool and 0.5": lambda: ANY.patched(ONE, ROW, ROW, before=0.5, places=HERE),
    "so it is from a world that does not exist: nothing can be written": lambda: generate(MANY, MISSING, end=1),
    # pairs that are withheld
    "pairs are of 2 functions, and a row has function 2": lambda: withholding(Z, PAIRS[:2, :2], 0.2, RNG),
    r"pairs are an array of booleans .* got a ndarray of bool\(3,\)": lambda: withholding(Z, PAIRS[0], 0.2, RNG),
    r"got a list of bool\(3, 3\)": lambda: ANY.withholding(Z, PAIRS.tolist(), 0.2, RNG),
    r"got a ndarray of int64\(3, 3\)": lambda: withholding(Z, PAIRS.astype(int), 0.2, RNG),
    r"rows \(t, x, f1, .., fK\), got a ndarray of int16\(48,\)": lambda: withholding(Z[:, 0], PAIRS, 0.2, RNG),
    "not those that the split withholds: 16 trained rows have one": lambda: groups(
        withholding(Z, PAIRS, 0.0, RNG), PAIRS.T | np.eye(3, dtype=bool)
    ),
    "rows have a pair that no trained row has and that is not among these": lambda: groups(
        withholding(Z, PAIRS | PAIRS.T, 0.0, RNG), PAIRS
    ),
    "drawn by rc.rng": lambda: ANY.withheld_pairs(4, 0.25, 0),
    "lies between 0 and 1, got nan": lambda: withheld_pairs(4, float("nan"), RNG),
    "at most 32767 symbols": lambda: chains(symbols=40_000, functions=2, longest=1, key=rc.key(0, "worlds")),
    "at most half of the 1,331 rows": lambda: subsequence.some(3, 700, RNG),
    "rows of 3 inputs can be drawn, and 20,000,000; got -1": lambda: subsequence.some(3, -1, RNG),
    "pairs of 5 and 5 digits can be drawn, got 1,000,000,000": lambda: multiplication.some((5, 5), 10**9, RNG, (5, 5)),
    # verbs of a template of SCAN
    "one at least is asked and not shown": lambda: template(scan.VERBS),
    "verbs are walk, .*asked=.'turn',.": lambda: scan.template(scan.combinations(), "right", (), ("turn",)),
    "as a tuple, .'look',.": lambda: template("look"),
    "verbs are walk, .*; got shown=.'lok',.": lambda: template(("lok",)),
    "write asked=.'walk', 'run', 'jump'.": lambda: template(("look",)),
    # decoders
    "as len.words. is; got Vocabulary": lambda: ANY.decoder(TASK.sample.vocabulary, key=rc.key(0, "w")),  # pyrefly: ignore
    "inner is a whole number, .*; got 8.5": lambda: ANY.decoder(5, inner=8.5, key=rc.key(0, "w")),
    "heads and inner are at least 1": lambda: TokenDecoder(5, heads=0, key=rc.key(0, "w")),
    "one row of ids at a time": lambda: patched(ONE, ROW[None], ROW[None], before=0, places=HERE[None]),
    "x, donor and places are arrays .*, list": lambda: ANY.patched(ONE, ROW, ROW, before=0, places=[True] * 4),
    "read one recombine.Record, got a list": lambda: ANY.exact_match([NOWHERE]),
    "prompts are one recombine.Record.*got a list": lambda: ANY.generate(MANY, [NOWHERE], end=1),
    "an answer has token 9, perhaps of another task; the network knows 0 to 4": lambda: exact_match(BEYOND),
    "rng is a NumPy generator": lambda: ANY.withholding(Z, PAIRS, 0.2, 0),
}


@pytest.mark.parametrize(("says", "call"), SENTENCES.items(), ids=SENTENCES)
def test_it_is_refused_in_one_line(says, call):
    with pytest.raises(rc.UserError, match=says) as found:
        call()
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("plot", "did you mean 'plots'"),
        ("chains", "write `from recombine.tasks.chains import chains`"),
        ("decoder", "docs/api.md list what it has"),
    ],
)
def test_a_name_that_is_not_at_the_top_is_looked_for_where_users_look(name, says):
    with pytest.raises(AttributeError, match=says):
        getattr(rc, name)


def test_what_was_legitimate_is_not_refused():
    assert ANY.patched(ONE, ROW, ROW, before=np.int64(0), places=np.ones(4, bool)).shape == (4, 10)
    assert len(calls.asking(("full",), ANY.iter(range(3)), (1,))) == 3
    assert not has_withheld(Z[:0], PAIRS).any()
    assert has_withheld(ANY.jax(Z), ANY.jax(PAIRS)).tolist() == has_withheld(Z, PAIRS).tolist()
