"""Turns a task into a task with more to learn from."""

from __future__ import annotations

import numpy as np

from recombine.core import ABSENT, Task


def stripes(task: Task) -> Task:
    """Add every part on its own, with the others absent: for bumps, all vertical and horizontal stripes.

    Works for any task whose `sample` understands ABSENT parts. The new rows follow the old ones.
    """
    if not isinstance(task, Task):
        raise TypeError(f"stripes are added to a recombine.Task, got a {type(task).__name__}")
    parts = task.combinations.shape[1]
    alone = []
    for part in range(parts):
        values = np.unique(task.combinations[:, part])
        rows = np.full((len(values), parts), ABSENT)
        rows[:, part] = values
        alone.append(rows)
    return Task(f"{task.name} with stripes", np.concatenate([task.combinations, *alone]), task.sample)
