"""Did a network predict the right tokens: at each place, and in a whole answer?

y (rows, T, 2) has the token to be predicted and its weight; y_hat (rows, T, ids) are logits. Places of weight 0 never
count. Greedy generation writes an answer exactly if every prediction given its right beginning is right: the first
wrong one would be written, and until then both see the same. So exact match needs no generation.
"""

from __future__ import annotations

import numpy as np

from recombine.core import Record, UserError

_EMPTY = "no rows are left to be scored: was nothing chosen?"


def token_accuracy(record: Record) -> float:
    """The share of places that count at which the largest logit is that of the right token.

    >>> y = np.array([[[1, 1], [0, 1], [1, 0]]])
    >>> y_hat = np.array([[[0.0, 2.0], [0.0, 1.0], [5.0, 0.0]]])
    >>> record = Record(np.zeros((1, 1)), y[..., 0], y, y_hat)
    >>> token_accuracy(record), exact_match(record)
    (0.5, 0.0)
    """
    if isinstance(record, Record) and not len(record):
        raise UserError(_EMPTY)
    if isinstance(record, Record) and record.y.shape[2:] == (2,) and not np.any(record.y[..., 1] > 0):
        raise UserError("no place of these rows counts (a weight above 0): there is nothing to be right")
    if isinstance(record, Record) and np.any(beyond(record)):
        raise UserError(_told(record))
    return float(np.mean(right_tokens(record)[record.y[..., 1] > 0]))


def exact_match(record: Record) -> float:
    """The share of rows whose whole answer is right: every place that counts.

    >>> y, y_hat = np.array([[[1, 1]], [[1, 1]]]), np.array([[[0.0, 2.0]], [[2.0, 0.0]]])
    >>> exact_match(Record(np.zeros((2, 1)), y[..., 0], y, y_hat))
    0.5
    """
    if isinstance(record, Record) and not len(record):
        raise UserError(_EMPTY)
    return float(np.mean(exact_rows(record)))


def exact_rows(record: Record) -> np.ndarray:
    """(rows,) whether every place that counts is right.

    >>> y, y_hat = np.array([[[1, 1], [0, 0]]]), np.array([[[0.0, 2.0], [0.0, 2.0]]])
    >>> exact_rows(Record(np.zeros((1, 1)), y[..., 0], y, y_hat)).tolist()
    [True]
    """
    if isinstance(record, Record) and record.y.shape[2:] == (2,) and not np.all(np.any(record.y[..., 1] > 0, axis=1)):
        row = int(np.argmin(np.any(record.y[..., 1] > 0, axis=1)))
        raise UserError(f"row {row} has no place that counts (a weight above 0): it has no answer to be right")
    if isinstance(record, Record) and np.any(beyond(record)):
        raise UserError(_told(record))
    return np.all(right_tokens(record) | (record.y[..., 1] == 0), axis=1)


def right_tokens(record: Record) -> np.ndarray:
    """(rows, T) whether the largest logit is that of the right token; never where a logit is not a number.

    If that is because of a token that the network does not know, it is refused.

    >>> y, y_hat = np.array([[[1, 1], [0, 1]]]), np.array([[[0.0, 2.0], [np.nan, 0.0]]])
    >>> right_tokens(Record(np.zeros((1, 1)), y[..., 0], y, y_hat)).tolist()
    [[True, False]]
    """
    if not isinstance(record, Record):
        raise UserError(f"scores of tokens read one recombine.Record, got a {type(record).__name__}")
    if record.y.ndim != 3 or record.y.shape[-1] != 2 or record.y_hat.shape[:2] != record.y.shape[:2]:
        shapes = f"y {record.y.shape} and y_hat {record.y_hat.shape}"
        raise UserError(
            f"scores of tokens want y (rows, T, 2), ids and weights, and logits (rows, T, ids); got {shapes}"
        )
    finite = np.isfinite(record.y_hat).all(axis=-1)
    if not finite.all() and record.x.shape == finite.shape:  # a decoder that was asked in a compiled program
        need_known(record.x, record.y_hat.shape[-1])
    return finite & (record.y_hat.argmax(axis=-1) == record.y[..., 0])


def beyond(record: Record) -> np.ndarray:
    """(rows, T) whether a place that counts has a token for which there is no logit; nowhere if shapes do not fit.

    >>> y, y_hat = np.array([[[2, 1], [5, 0], [-1, 1]]]), np.zeros((1, 3, 2))
    >>> beyond(Record(np.zeros((1, 1)), y[..., 0], y, y_hat)).tolist()
    [[True, False, True]]
    """
    if record.y.ndim != 3 or record.y.shape[-1] != 2 or record.y_hat.ndim != 3:
        return np.zeros(1, bool)
    ids, weights = record.y[..., 0], record.y[..., 1]
    return ((ids < 0) | (ids >= record.y_hat.shape[-1])) & (weights > 0)


def _told(record: Record) -> str:
    """Which token of an answer there is no logit for."""
    wrong, most = int(record.y[..., 0][beyond(record)].flat[0]), record.y_hat.shape[-1] - 1
    return f"an answer has token {wrong}{_why(wrong)}; the network knows 0 to {most}, and cannot have learnt it"


def _why(token: int) -> str:
    return ", from a world that does not exist" if token < 0 else ", perhaps of another task"


def need_known(x: np.ndarray, ids: int) -> None:
    """Refuse rows (.., T) with a token that is no id of a network with so many.

    >>> need_known(np.array([[3, 2]]), 4)
    """
    wrong = (x < 0) | (x >= ids)
    if wrong.any():
        row, token = int(np.argwhere(np.atleast_2d(wrong))[0, 0]), int(x[wrong].flat[0])
        raise UserError(f"row {row} has token {token}{_why(token)}; the network knows 0 to {ids - 1}")
