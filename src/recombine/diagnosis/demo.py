"""Three small networks whose answer is known, trained and diagnosed in under a minute.

Each draws a bump at (x, y) and never sees a square of pairs. One is a plain network; one has a part for each factor and
multiplies; one is not trained.
"""

from __future__ import annotations

from typing import Any

from recombine.diagnosis.diagnosis import Diagnosis
from recombine.diagnosis.doors import diagnose

SIZE, HOLE, STEPS = 12, (3, 8), 800


def demo() -> list[Diagnosis]:
    """The diagnoses of a plain network, of a product of two, and of one without training."""
    import recombine as rc

    task = rc.bumps(SIZE, rc.local_bump(SIZE))
    split = rc.square(task.combinations, *HOLE)
    asked = rc.truth(task, task.combinations, key=rc.key(0, "test"))
    plain: Any = lambda key: rc.MLPDecoder(2 * SIZE, SIZE, width=64, depth=2, key=key)  # noqa: E731
    makers = {"plain network": plain, "product of two networks": _product, "untrained network": plain}
    found = []
    for name, make in makers.items():
        key = rc.key(0, name)
        model = make(key)
        if not name.startswith("untrained"):
            dials = {"learning_rate": 3e-3}
            model = rc.fit(task, split, make, key, rc.Recipe(steps=STEPS), dials=dials).model
        factors = {"x": task.combinations[:, 0], "y": task.combinations[:, 1]}
        data = (asked.x, asked.y)
        found.append(diagnose(model, data, factors=factors, trained=split.train, name=name))
    return found


def _product(key: Any) -> Any:
    """One hidden layer per coordinate; the picture is the product of a column profile and a row profile."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Product(eqx.Module):
        columns: eqx.nn.MLP
        rows: eqx.nn.MLP

        def __call__(self, x: jax.Array) -> tuple[jax.Array, dict[str, jax.Array]]:
            column, row = self.columns(x[:SIZE]), self.rows(x[SIZE:])
            return jnp.outer(row, column), {"profiles": jnp.concatenate([column, row])}

    one, other = jax.random.split(key)
    return Product(*(eqx.nn.MLP(SIZE, SIZE, 32, depth=1, key=k) for k in (one, other)))
