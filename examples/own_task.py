"""Does a decoder draw rectangles whose width and height it never saw together?

A task of your own: distinct combinations of parts, and one function that makes one example of one of them.
Run it with: python examples/own_task.py
"""

import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc


def rectangles(size: int) -> rc.Task:
    """Pictures [row, column] of a filled rectangle in a corner; a combination is (width, height), from 1 on."""
    sides = np.arange(1, size + 1)
    combinations = np.array([(width, height) for width in sides for height in sides])

    def sample(z, key):  # one combination (a JAX array of integers) and a key -> input x and target y, no batch axis
        pixel = jnp.arange(size)
        x = jnp.concatenate([jax.nn.one_hot(side - 1, size) for side in z])
        return x, jnp.outer(pixel < z[1], pixel < z[0]).astype(jnp.float32)

    return rc.Task(f"rectangles up to {size}x{size}", combinations, sample)


def main(size: int = 8, seeds: int = 5, steps: int = 600, width: int = 64) -> dict[str, float]:
    task = rectangles(size)
    rc.check_task(task)  # raises an error that says what a task must keep
    split = rc.corner(task.combinations, start=size // 2 + 1)  # never trained on: both sides long
    print(f"every side seen: {split.covers}; share of pairs seen: {split.coverage(2):.2f}")

    def make(key):
        return rc.MLPDecoder(2 * size, size, width=width, depth=2, key=key)

    run = rc.population(task, split, make, rc.member_keys(0, range(seeds)), rc.Recipe(steps=steps))
    records = rc.records(run.model, task, task.combinations, key=rc.key(0, "test"))
    memory = rc.nearest_memory(rc.truth(task, task.combinations, key=rc.key(0, "test")), split.train)
    found = {
        "trained combinations": float(np.mean([rc.nmse(one.where(split.train)) for one in records])),
        "held-out combinations": float(np.mean([rc.nmse(one.where(split.held_out)) for one in records])),
        "control, nearest memory": rc.nmse(memory.where(split.held_out)),
    }
    for place, error in found.items():
        print(f"normalised error, {place}: {error:.3f}")
    return found


if __name__ == "__main__":
    main()
