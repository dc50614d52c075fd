"""Turns targets and outputs of any kind into vectors that can be compared: numbers as they are, labels as one-hot.

The error of an example is the squared distance over `scale`. For labels that is the share of wrong ones; for rows of
tokens, whose answers may differ in length, the share of wrong tokens of its own answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recombine.core import UserError
from recombine.measures.similarity import distance_matrix

SCALED = 16
"""Targets of at most so many numbers are each brought to unit variance, since their units may differ."""
MOST_OF_IT, FEW, SOME = 0.9, 0.25, 0.5
"""Longer vectors are scaled likewise if less than a share FEW of them has so much of the variance; below SOME it is
said."""
HUGE = 1e12
"""Targets beyond this, and below its inverse, are divided by the largest: squares must fit in single precision."""
MOST_CLASSES = 4096


@dataclass(frozen=True, eq=False)
class Answers:
    """Targets and outputs as vectors (examples, numbers); `shape` is that of one target, for pictures.

    `notes` say what was done to numbers so that they can be compared. Labels are one-hot in each of `heads`; where they
    are `ragged`, the first label says that an answer has ended before this head.
    """

    truth: np.ndarray
    given: np.ndarray
    labels: bool
    scale: float
    shape: tuple[int, ...]
    notes: tuple[str, ...] = ()
    heads: int = 1
    ragged: bool = False

    def hardened(self, soft: np.ndarray) -> np.ndarray:
        """Vectors as answers: the strongest label of each head where answers are labels, else as they are."""
        if not self.labels:
            return soft
        return _one_hot(soft.reshape(len(soft), self.heads, -1).argmax(axis=-1), soft.shape[1] // self.heads)

    def errors(self, given: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The error of each row."""
        apart = (np.asarray(given, float) - truth) ** 2
        if not self.ragged:
            return np.sum(apart, axis=1) / self.scale
        wrong = apart.reshape(len(apart), self.heads, -1).sum(axis=2) / 2  # (rows, heads)
        there = 1.0 - truth.reshape(len(truth), self.heads, -1)[..., 0]
        return np.sum(wrong * there, axis=1) / np.sum(there, axis=1)

    def apart(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """(some, others) the error between every two answers; of two lengths, as a share of the longer."""
        squares = distance_matrix(some, others) ** 2
        if not self.ragged:
            return squares / self.scale
        lengths = (self.heads - a.reshape(len(a), self.heads, -1)[..., 0].sum(axis=1) for a in (some, others))
        return squares / 2 / np.maximum.outer(*lengths)


def read_answers(targets: np.ndarray, outputs: np.ndarray, trained: np.ndarray) -> Answers:
    """Tell numbers from labels by their type and shapes."""
    if len(targets) != len(outputs):
        raise UserError(f"{len(targets)} targets but {len(outputs)} outputs: one of each per example")
    if _are_tokens(targets, outputs):
        return _of_tokens(targets[..., 0].astype(int), outputs, targets[..., 1] > 0)
    for name, values in (("targets", targets), ("outputs", outputs)):
        _require_finite(name, values)
    if targets.dtype.kind in "SUO" or outputs.dtype.kind in "SUO":
        return _of_words(targets, outputs)
    if _is_whole(targets) and outputs.ndim > 1 and outputs.shape[:-1] == targets.shape and outputs.shape[-1] > 1:
        return _of_logits(targets.astype(int), outputs)
    if outputs.ndim == targets.ndim + 1 and outputs.shape[-1] == 1:
        outputs = outputs[..., 0]
    if targets.ndim == outputs.ndim + 1 and targets.shape[-1] == 1:
        targets = targets[..., 0]
    if targets.shape != outputs.shape:
        hint = "" if _is_whole(targets) else "; labels are whole numbers, with one output per class"
        raise UserError(f"targets {targets.shape} and outputs {outputs.shape} do not fit{hint}")
    return _of_one_shape(targets, outputs, trained)


def _are_tokens(targets: np.ndarray, outputs: np.ndarray) -> bool:
    """Rows of ids with weights (rows, T, 2), as tasks of tokens have them, and logits (rows, T, ids)."""
    fits = targets.ndim == outputs.ndim == 3 and targets.shape[:2] == outputs.shape[:2] and outputs.shape[2] > 2
    if not fits or targets.shape[2] != 2 or {targets.dtype.kind, outputs.dtype.kind} - set("iubf"):
        return False
    weights = targets[..., 1]
    return _is_whole(targets[..., 0]) and bool(np.all((weights >= 0) & (weights <= 1)))


def _of_tokens(ids: np.ndarray, outputs: np.ndarray, counts: np.ndarray) -> Answers:
    """Ids (rows, T), logits (rows, T, ids) and which places count: the k-th token of an answer is its k-th label."""
    if not counts.any():
        raise UserError("targets are ids with weights, and every weight is 0: there is no answer to look at")
    if not counts.any(axis=1).all():
        raise UserError(f"row {int(np.argmin(counts.any(axis=1)))} has no place that counts (a weight above 0)")
    _require_finite("outputs", np.where(counts[..., None], outputs, 0))
    longest = int(counts.sum(axis=1).max())
    first = np.argsort(~counts, axis=1, kind="stable")[:, :longest]  # those that count, in their order
    there, wanted, said = (np.take_along_axis(a, first, axis=1) for a in (counts, ids, outputs.argmax(axis=-1)))
    known = np.unique(wanted[there])
    codes = [np.where(np.isin(a, known), 1 + np.searchsorted(known, a), len(known) + 1) for a in (wanted, said)]
    truth, given = (np.where(there, code, 0) for code in codes)
    answers = _from_codes(truth, given, len(known) + 2)
    return replace(answers, scale=2.0 * float(there.sum(axis=1).mean()), ragged=True)


def _of_one_shape(targets: np.ndarray, outputs: np.ndarray, trained: np.ndarray) -> Answers:
    """One-hot labels, yes or no, several of them, labels as numbers, or numbers."""
    whole = _is_whole(targets)
    if targets.ndim == 2 and targets.shape[1] > 1 and _is_one_hot(targets):
        return _of_logits(targets.argmax(axis=1), outputs)
    if whole and targets.size == len(targets) and set(np.unique(targets)) <= {0, 1}:
        return _binary(targets.reshape(-1), outputs.reshape(-1).astype(float), trained)
    if targets.ndim == 2 and _is_multi_hot(targets, outputs):
        return _from_codes(targets.astype(int), (outputs > 0).astype(int), 2)
    both = targets.dtype.kind in "iu" and outputs.dtype.kind in "iu"
    if both and len(np.unique(targets)) < MOST_CLASSES:
        return _of_labels(targets.reshape(len(targets), -1), outputs.reshape(len(outputs), -1))
    return _numbers(targets, outputs)


def _require_finite(name: str, values: np.ndarray) -> None:
    if values.dtype.kind == "c":
        raise UserError(f"{name} are complex numbers: give their parts as separate numbers")
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
        rows = ", ".join(map(str, bad[:6])) + ", ..." * (len(bad) > 6)
        said = f"{len(bad)} of {len(values)} examples (row{'s' * (len(bad) > 1)} {rows}, counted from 0)"
        raise UserError(f"{name} have a NaN or an infinity in {said}")


def _is_whole(targets: np.ndarray) -> bool:
    return targets.dtype.kind in "iub" or (targets.dtype.kind == "f" and bool(np.all(targets == np.round(targets))))


def _is_one_hot(targets: np.ndarray) -> bool:
    return bool(np.all((targets == 0) | (targets == 1)) and np.all(targets.sum(axis=1) == 1))


def _is_multi_hot(targets: np.ndarray, outputs: np.ndarray) -> bool:
    """Several answers of yes or no, given as logits: far outside of what they are to say."""
    zeros_and_ones = np.all((targets == 0) | (targets == 1))
    return bool(zeros_and_ones and (outputs.min() < -1 or outputs.max() > 2) and targets.shape[1] <= 4 * SCALED)


def _numbers(targets: np.ndarray, outputs: np.ndarray) -> Answers:
    shape = targets.shape[1:]
    truth, given = (a.reshape(len(a), -1) for a in (targets, outputs))
    truth, given, notes = _in_range(truth, given)
    spread = truth.std(axis=0, dtype=float)
    notes += _unequal(spread) if len(shape) == 1 else []
    if truth.shape[1] <= SCALED or any("scaled" in note for note in notes):
        middle, largest = truth.mean(axis=0, dtype=float), spread.max(initial=0.0)
        if largest <= 1e-12 * np.abs(middle).max(initial=0.0):  # nothing but rounding
            return Answers(np.zeros(truth.shape), given - truth[0], False, float(truth.shape[1]), shape, tuple(notes))
        spread = np.where(spread > 1e-5 * largest, spread, largest)  # what hardly varies keeps the others' scale
        truth, given = (truth - middle) / spread, (given - middle) / spread
    else:
        truth, given = (a.astype(np.float32, copy=False) for a in (truth, given))
    return Answers(truth, given, False, float(truth.shape[1]), shape, tuple(notes))


def _in_range(truth: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Numbers whose squares single precision can hold, and what was done for that."""
    notes, largest = [], float(np.abs(truth).max(initial=0.0))
    if largest and not 1 / HUGE < largest < HUGE:
        notes.append(f"targets are as large as {largest:.2g}: targets and outputs were divided by that")
        truth, given = (a.astype(float) / largest for a in (truth, given))
        largest = 1.0
    bound = HUGE * (largest or 1.0)
    if np.abs(given).max(initial=0.0) > bound:
        notes.append(f"outputs are larger than {bound:.2g}, far beyond the targets: they were cut there")
        given = np.clip(given, -bound, bound)
    return truth, given, notes


def _unequal(spread: np.ndarray) -> list[str]:
    """What is said, and scaled, where few of many outputs have most of the variance; pixels share one unit."""
    share = np.sort(spread.astype(float) ** 2)[::-1].cumsum()
    if len(spread) <= SCALED or not share[-1] > 0:
        return []
    most = int(np.searchsorted(share, MOST_OF_IT * share[-1])) + 1
    said = f"{most} of {len(spread)} outputs have {100 * MOST_OF_IT:.0f} % of the targets' variance"
    if most < FEW * len(spread):
        return [f"{said}: each output was scaled to unit variance"]
    return [f"{said}: the errors are mostly theirs"] if most < SOME * len(spread) else []


def _of_words(targets: np.ndarray, outputs: np.ndarray) -> Answers:
    """Labels as words, on one side at least."""
    if outputs.dtype.kind == "f":
        raise UserError(
            f"targets are words, but outputs are numbers {outputs.shape}: give targets as whole numbers, the place of"
            " each label among the logits, or outputs as words"
        )
    one_is_numbers = targets.dtype.kind not in "SUO" or outputs.dtype.kind not in "SUO"
    said, answered = targets.astype(str), outputs.astype(str)
    if one_is_numbers and not np.isin(answered, said).any():
        labels, answers = str(said.flat[0]), str(answered.flat[0])
        raise UserError(f"labels and answers share no label: labels are like {labels!r}, answers like {answers!r}")
    return _of_labels(said, answered)


def _of_labels(targets: np.ndarray, outputs: np.ndarray) -> Answers:
    """Labels given as labels; what is answered and never asked for is one more label."""
    targets, outputs = targets.reshape(len(targets), -1), outputs.reshape(len(outputs), -1)
    if targets.shape != outputs.shape:
        raise UserError(f"labels {targets.shape} and answers {outputs.shape} do not fit")
    known = np.unique(targets)
    codes = [np.where(np.isin(a, known), np.searchsorted(known, a), len(known)) for a in (targets, outputs)]
    return _from_codes(codes[0], np.minimum(codes[1], len(known)), len(known) + 1)


def _of_logits(targets: np.ndarray, outputs: np.ndarray) -> Answers:
    if targets.min() < 0 or targets.max() >= outputs.shape[-1]:
        raise UserError(
            f"targets are labels from {targets.min()} to {targets.max()}, but outputs have {outputs.shape[-1]} classes"
        )
    return _of_labels(targets, outputs.argmax(axis=-1))


def _binary(targets: np.ndarray, outputs: np.ndarray, trained: np.ndarray) -> Answers:
    """One number for yes or no, cut at 0 (a logit) or at a half (a probability), as fits the seen examples better."""
    seen = trained if trained.any() else np.ones(len(targets), bool)
    cuts = sorted((0.5, 0.0), key=lambda cut: np.mean((outputs[seen] > cut) != targets[seen]))
    return _from_codes(targets.astype(int)[:, None], (outputs > cuts[0]).astype(int)[:, None], 2)


def _from_codes(targets: np.ndarray, outputs: np.ndarray, classes: int) -> Answers:
    if classes > MOST_CLASSES:
        raise UserError(f"{classes} different labels are too many ({MOST_CLASSES} at most)")
    heads = targets.shape[1]
    return Answers(_one_hot(targets, classes), _one_hot(outputs, classes), True, 2.0 * heads, (), heads=heads)


def _one_hot(codes: np.ndarray, classes: int) -> np.ndarray:
    """(examples, heads) as (examples, heads * classes)."""
    return (codes[..., None] == np.arange(classes)).astype(np.float32).reshape(len(codes), -1)
