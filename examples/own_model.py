"""Does a network that keeps x and y apart until the last step place bumps that it never saw?

A model of your own, twice: an Equinox module that `rc.population` trains, and arrays from any other framework that
become a Record. Run it with: python examples/own_model.py
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import recombine as rc

SIZE, HELD_OUT, DEPTH = 12, (3, 8), 2


class Product(eqx.Module):
    """One hidden layer per coordinate; the picture is the product of a column profile and a row profile."""

    columns: eqx.nn.MLP
    rows: eqx.nn.MLP

    def __init__(self, size: int, width: int, *, key):
        one, other = jax.random.split(key)
        self.columns = eqx.nn.MLP(size, size, width, depth=1, key=one)
        self.rows = eqx.nn.MLP(size, size, width, depth=1, key=other)

    def __call__(self, x):  # one example: the code of x, then the code of y -> picture, activations by name
        code_x, code_y = jnp.split(x, 2)
        column, row = self.columns(code_x), self.rows(code_y)
        return jnp.outer(row, column), {"column": column, "row": row}


def report(name: str, record: rc.Record, split: rc.Split) -> float:
    inside = record.where(rc.interior(split, DEPTH))
    found = rc.peak_accuracy(inside)
    print(f"{name}: trained {rc.peak_accuracy(record.where(split.train)):.2f}, interior of the hole {found:.2f}")
    return found


def main(steps: int = 500) -> tuple[float, float]:
    task = rc.bumps(SIZE, rc.one_hot(SIZE))
    split = rc.square(task.combinations, *HELD_OUT)
    rc.check_model(Product(SIZE, 16, key=rc.key(0, "check")), np.ones(2 * SIZE))
    run = rc.fit(task, split, lambda key: Product(SIZE, 16, key=key), rc.key(0, "own model"), rc.Recipe(steps=steps))
    mine = rc.record(run.model, task, task.combinations, key=rc.key(0, "test"))

    # From another framework: give the arrays of your evaluation set. Here, least squares on one-hot codes.
    weights = np.linalg.lstsq(mine.x[split.train], mine.y[split.train].reshape(split.train.sum(), -1), rcond=None)[0]
    theirs = rc.Record(z=mine.z, x=mine.x, y=mine.y, y_hat=(mine.x @ weights).reshape(mine.y.shape))
    return report("product of profiles", mine, split), report("least squares", theirs, split)


if __name__ == "__main__":
    main()
