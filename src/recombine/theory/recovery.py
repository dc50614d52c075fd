"""If a model answers most questions rightly, its constituents can be recovered from what it was told: theorem 4.1.

Redhardt, Akram and Schug (2025, arXiv 2507.07207), known here second-hand: if a model is right with probability 1 - d,
some decoder recovers the constituents from the task encoding with probability at least 1 - sqrt(d). It need not be
linear. The argument here is ours. By Markov's inequality, a share of at most sqrt(d) of the tasks is answered wrongly
on more than sqrt(d) of the inputs. The decoder asks the model many inputs in one encoding, and names the task of a list
whose answers agree on most of them. It errs on no other task, if any two tasks differ on more than 2 sqrt(d) of the
inputs. Without that premise a model exists for which it is false. Answers within `tolerance` (root mean square over the
outputs) are right, and tasks differ where their answers are more than two tolerances apart.
"""

from __future__ import annotations

import numpy as np


def wrong_share(y: np.ndarray, y_hat: np.ndarray, tolerance: float) -> float:
    """d: the share of (task, input) whose answers (tasks, inputs, outputs) are off by more than the tolerance.

    >>> wrong_share(np.zeros((1, 2, 1)), np.array([[[0.0], [3.0]]]), 1.0)
    0.5
    """
    return float(np.mean(_apart(y, y_hat) > tolerance))


def separation(y: np.ndarray, tolerance: float) -> float:
    """The least share of inputs on which two tasks differ by more than two tolerances.

    >>> separation(np.array([[[0.0], [0.0]], [[0.0], [9.0]]]), 1.0)
    0.5
    """
    least = 1.0
    for i in range(1, len(y)):
        least = min(least, float((_apart(y[i], y[:i]) > 2 * tolerance).mean(axis=1).min()))
    return least


def far_apart(y: np.ndarray, tolerance: float, count: int) -> np.ndarray:
    """Which of the tasks to choose, so many at most, so that any two differ on many inputs: greedily.

    The first differs most from all others on average; each next one is farthest from the nearest of those chosen.

    >>> far_apart(np.array([[[0.0], [0.0]], [[0.0], [9.0]], [[9.0], [18.0]]]), 1.0, 2).tolist()
    [2, 0]
    """
    differ = np.stack([(_apart(task, y) > 2 * tolerance).mean(axis=1) for task in y])
    chosen = [int(differ.mean(axis=1).argmax())]
    while len(chosen) < min(count, len(y)):
        least = differ[:, chosen].min(axis=1)
        least[chosen] = -1.0
        chosen.append(int(least.argmax()))
    return np.array(chosen)


def recovered_share(y: np.ndarray, y_hat: np.ndarray, tolerance: float) -> float:
    """The share of tasks that the decoder names: those with which the model's answers agree on most inputs.

    A tie counts as not recovered.

    >>> y = np.array([[[0.0]], [[9.0]]])
    >>> recovered_share(y, y, 1.0), recovered_share(y, y[::-1], 1.0)
    (1.0, 0.0)
    """
    right = 0
    for i, answer in enumerate(y_hat):
        agree = (_apart(answer, y) <= tolerance).mean(axis=1)
        right += bool(agree[i] > np.delete(agree, i).max(initial=-1.0))
    return right / len(y)


def recovery_bound(wrong: float) -> float:
    """1 - sqrt(d), what the theorem promises.

    >>> recovery_bound(0.04)
    0.8
    """
    return 1 - float(wrong) ** 0.5


def promised(wrong: float, apart: float) -> bool:
    """Whether the premise is met: any two tasks differ on more than 2 sqrt(d) of the inputs.

    >>> promised(0.04, 0.5), promised(0.04, 0.3)
    (True, False)
    """
    return apart > 2 * float(wrong) ** 0.5


def even_predictor(y: np.ndarray, wrong: float, rng: np.random.Generator) -> np.ndarray:
    """A made-up model that is wrong on a share of the (task, input), anywhere: there it answers as for another task.

    >>> y = np.arange(4.0).reshape(2, 2, 1)
    >>> bool(np.all(even_predictor(y, 1.0, np.random.default_rng(0)) == y[::-1]))
    True
    """
    spoilt = rng.uniform(size=y.shape[:2]) < wrong
    return np.where(spoilt[..., None], np.roll(y, 1, axis=0), y)


def adversary(y: np.ndarray, wrong: float, tolerance: float) -> np.ndarray:
    """A made-up model that spends its errors where they hurt most: on tasks that another one resembles.

    A task and its nearest one are answered half way between them, which is right, on inputs where they do not differ;
    of the others, half are answered as for the nearest one, so that the two can no longer be told apart. The cheapest
    tasks come first, as long as the share of wrong answers allows.

    >>> y = np.array([[[0.0], [0.0]], [[0.0], [9.0]]])
    >>> recovered_share(y, adversary(y, 0.25, 1.0), 1.0)
    0.5
    """
    y_hat, left = y.copy(), wrong * y.shape[0] * y.shape[1]
    differ = [_apart(task, y) > 2 * tolerance for task in y]
    counts = [np.where(np.arange(len(y)) == i, np.inf, d.sum(axis=1)) for i, d in enumerate(differ)]
    for i in np.argsort([c.min() for c in counts], kind="stable"):
        nearest = int(np.argmin(counts[i]))
        inputs = np.flatnonzero(differ[i][nearest])
        chosen = inputs[: -(-len(inputs) // 2)]
        if len(chosen) > left:
            break
        y_hat[i] = np.where(differ[i][nearest][:, None], y[i], (y[i] + y[nearest]) / 2)
        y_hat[i, chosen], left = y[nearest, chosen], left - len(chosen)
    return y_hat


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far answers are apart: the root mean square over the outputs."""
    return np.sqrt(np.mean((a - b) ** 2, axis=-1))
