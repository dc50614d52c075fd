"""The words for shares and memories, the same in verdicts, reports and on the command line."""

from __future__ import annotations

import numpy as np

from recombine.measures.gap import Interval

_MEMORY = {
    "mean": "giving the mean of the seen targets",
    "nearest": "recalling the nearest seen combination",
    "interpolated": "averaging near seen combinations",
    "recalled": "averaging seen combinations that share a value",
}
WORSE = 1.0


def percent(share: float) -> str:
    """A share in whole percent, without a negative zero.

    >>> percent(-0.001), percent(0.126)
    ('0 %', '13 %')
    """
    return f"{round(100 * share)} %" if np.isfinite(share) else "any number of %"


def memory(name: str, labels: bool) -> str:
    """What a memory does."""
    return "giving the commonest seen label" if labels and name == "mean" else _MEMORY[name]


def extra_error(g: Interval, name: str, labels: bool) -> str:
    """G as a sentence: which memory it is a share of, and what it means below 0 and above 1."""
    if g.low > WORSE:
        start = "its answers to new combinations are worse than memory would give"
    elif g.value < 0:
        start = "it errs no more on new combinations than on seen ones"
    else:
        start = ""
    of = f"{percent(g.value)} [{percent(g.low)}, {percent(g.high)}] of what {memory(name, labels)} would cost"
    said = f"its extra error on new combinations is {of}"
    return f"{start}: {said.replace('on new combinations ', '')}" if start else said
