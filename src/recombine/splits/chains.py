"""Turns chains of functions into splits: pairs of functions that are never adjacent in training, and single rows.

Combinations are rows (t, x, f1, .., fK) with functions ABSENT from the right. Groups of held-out rows, by the number
of their functions: `row`, all of whose pairs are trained on, and `pair`, which have a pair that is not.
"""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Split, UserError, as_mask
from recombine.splits.coverage import need_covered, neighbours


def withheld_pairs(functions: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """(functions, functions) booleans: a random share of the ordered pairs, never all of them and at least one.

    >>> int(withheld_pairs(4, 0.25, np.random.default_rng(0)).sum())
    4
    """
    if not isinstance(rng, np.random.Generator) or not isinstance(functions, int | np.integer):
        raise UserError(
            f"pairs of a whole number of functions are drawn by rc.rng(0, 'pairs'); got {functions}, {rng!r}"
        )
    if not 0 <= share <= 1:
        raise UserError(f"the share of pairs that is withheld lies between 0 and 1, got {share}")
    every = functions**2
    count = round(share * every)
    if not 0 < count < every:
        raise UserError(f"withholding {share:g} of {every} pairs leaves {every - count} covered and {count} withheld")
    return rng.permuted(np.arange(every) < count).reshape(functions, functions)


def has_withheld(combinations: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(rows,) whether two adjacent functions of a row are a withheld pair.

    >>> has_withheld(np.array([[0, 5, 0, 1], [0, 5, 1, 0], [0, 5, 0, -1]]), np.array([[0, 1], [0, 0]]) > 0).tolist()
    [True, False, False]
    """
    if isinstance(combinations, list) or np.ndim(combinations) != 2 or np.shape(combinations)[1] < 3:
        raise UserError(f"combinations of chains are an array of rows (t, x, f1, .., fK), got {_said(combinations)}")
    if isinstance(pairs, list) or np.shape(pairs) != 2 * np.shape(pairs)[:1] or np.asarray(pairs).dtype != bool:
        raise UserError(f"pairs are an array of booleans (functions, functions), got {_said(pairs)}")
    if np.any(combinations[:, 2:] >= len(pairs)):
        raise UserError(f"pairs are of {len(pairs)} functions, and a row has function {combinations[:, 2:].max()}")
    first, second = combinations[:, 2:-1], combinations[:, 3:]
    return np.any(pairs[first, second] & (second != ABSENT), axis=1)


def _said(values: np.ndarray) -> str:
    """What was given, in a few words."""
    return f"a {type(values).__name__} of {np.asarray(values).dtype}{np.shape(values)}"


def withholding(combinations: np.ndarray, pairs: np.ndarray, held_out: float, rng: np.random.Generator) -> Split:
    """Hold out every row with a withheld pair and, at random, a share of the others that have two functions or more.

    >>> z = np.array([[0, 0, 0, -1], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> withholding(z, np.array([[0, 1], [0, 0]]) > 0, 0.0, np.random.default_rng(0)).train.tolist()
    [True, False, True]
    """
    if not isinstance(rng, np.random.Generator):
        raise UserError(f"rng is a NumPy generator, such as rc.rng(0, 'rows'); got {rng!r}")
    if not 0 <= held_out < 1:
        raise UserError(f"the share of rows that is held out must be at least 0 and below 1, got {held_out}")
    single = rng.uniform(size=len(combinations)) < held_out
    out = has_withheld(combinations, pairs) | (single & (lengths(combinations) > 1))
    need_covered(neighbours(combinations[:, 2:]), ~out, "pair of functions")
    return Split(combinations, ~out, world=1)


def lengths(combinations: np.ndarray) -> np.ndarray:
    """(rows,) how many functions a row has.

    >>> lengths(np.array([[0, 0, 0, -1], [0, 0, 0, 1]])).tolist()
    [1, 2]
    """
    return np.sum(combinations[:, 2:] != ABSENT, axis=1)


def groups(split: Split, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """Masks over the rows: `trained`, and `row_d` and `pair_d` for every number d of functions from two on.

    >>> z = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 0]])
    >>> found = groups(Split(z, np.array([True, False, False])), np.array([[0, 1], [0, 0]]) > 0)
    >>> {name: mask.tolist() for name, mask in found.items() if name != "trained"}
    {'row_2': [False, False, True], 'pair_2': [False, True, False]}
    """
    if np.any(split.train & has_withheld(split.combinations, pairs)):
        count = int(np.sum(split.train & has_withheld(split.combinations, pairs)))
        raise UserError(f"these pairs are not those that the split withholds: {count} trained rows have one")
    if np.any(has_untrained(split) & ~has_withheld(split.combinations, pairs)):
        count = int(np.sum(has_untrained(split) & ~has_withheld(split.combinations, pairs)))
        raise UserError(
            f"{count} rows have a pair that no trained row has and that is not among these pairs: give all that the"
            " split withholds, or hold out fewer single rows"
        )
    novel, many = has_withheld(split.combinations, pairs), lengths(split.combinations)
    found = {"trained": split.train}
    for d in range(2, split.combinations.shape[1] - 1):
        found[f"row_{d}"] = split.held_out & ~novel & (many == d)
        found[f"pair_{d}"] = novel & (many == d)
    return found


def has_untrained(split: Split) -> np.ndarray:
    """(rows,) whether a row has a pair of adjacent functions that no trained row has.

    >>> z = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
    >>> has_untrained(Split(z, np.array([True, False, False]))).tolist()
    [False, True, False]
    """
    nodes = neighbours(split.combinations[:, 2:])
    return np.any(~np.isin(nodes, [ABSENT, *np.unique(nodes[split.train])]), axis=1)


def of_world(combinations: np.ndarray, world: int, chosen: np.ndarray) -> np.ndarray:
    """(all rows,) the rows of one world that are chosen, by a mask over that world's rows; no row of another.

    >>> of_world(np.array([[0, 5], [1, 5], [1, 6]]), 1, np.array([True, False])).tolist()
    [False, True, False]
    """
    mine = combinations[:, 0] == world
    if not mine.any():
        raise UserError(f"there is no world {world}: they are numbered from 0 to {combinations[:, 0].max()}")
    mine[mine] = as_mask(chosen, (int(mine.sum()),))
    return mine
