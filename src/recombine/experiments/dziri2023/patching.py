"""Is the value in between kept where the first function stands? A donor's activations there, and what is answered."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import recombine as rc
from recombine.experiments.tokens.worlds import World
from recombine.splits.chains import lengths

ROWS = 512
"""pairs of a row and a donor, at most"""
NOTHING = dict.fromkeys(("patch_follows", "patch_by_lot", "patch_layer", "patch_x"), float("nan"))


def donors(known: World, tables: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rows of two functions, and of donors that end in the same function but have another value before it.

    With the donor's value the answer must be another one; both rows are trained on, so that a network knows them.
    """
    two = np.flatnonzero(known.train & (lengths(known.rows) == 2))
    _, x, f, g = known.rows[two, :4].T
    between = tables[f, x]
    fits = (g[:, None] == g) & (tables[g[:, None], between[:, None]] != tables[g[:, None], between])
    asked, given = np.nonzero(fits)
    chosen = rng.permutation(len(asked))[:ROWS]
    return two[asked[chosen]], two[given[chosen]]


def followed(model: Any, task: rc.Task, known: World, rng: np.random.Generator) -> dict[str, float]:
    """The share of answers that follow the donor's value at the best layer, and those that follow another donor's.

    The best layer is chosen on one half of the rows and read on the other. Before the first layer the place of f1 has
    not seen x, so that nothing can have been computed there. Later places would tell nothing: a donor ends in the same
    function, and what stands there may be its answer. `patch_x` replaces x itself before the first layer.
    """
    tables = task.sample.tables[known.rows[0, 0]]  # pyrefly: ignore
    asked, given = donors(known, tables, rng)
    if len(asked) < 4:
        return NOTHING
    z, donor = known.rows[asked], known.rows[given]
    f, g = z[:, 2], z[:, 3]
    mixed = answers(model, task, z, donor)  # (layers + 1, 2, rows): by the layer patched, and the place
    follows = mixed[:, 1] == tables[g, tables[donor[:, 2], donor[:, 1]]]
    other = rng.permutation(len(z))
    lot = mixed[:, 1] == tables[g, tables[donor[other, 2], donor[other, 1]]]
    first = np.arange(len(z)) < len(z) // 2
    best = 1 + int(follows[1:, first].mean(axis=1).argmax())
    return {
        "patch_follows": float(follows[best, ~first].mean()),
        "patch_by_lot": float(lot[best, ~first].mean()),
        "patch_layer": float(best),
        "patch_x": float(np.mean(mixed[0, 0] == tables[g, tables[f, donor[:, 1]]])),
    }


class Composer:
    """A designed decoder that keeps f1(x) at the place of f1 after one layer, and answers from there."""

    def __init__(self, tables: np.ndarray, symbols: int):
        self.tables, self.symbols, self.layers, self.repeats = np.asarray(tables), symbols, (None,), 1

    def __call__(self, x):
        import jax.numpy as jnp

        h = x.astype(jnp.float32)[:, None]
        kept = self._value(x[1], x[0]).astype(jnp.float32)
        return self.rest(h, x, 0), {"embedding": h, "layer0": h.at[1, 0].set(kept)}

    def rest(self, h, x, first):
        """The answer at every place, from the activations before a layer."""
        import jax
        import jax.numpy as jnp

        from recombine.tasks.tokens import FIRST

        kept = self._value(x[1], h[0, 0].astype(int)) if first == 0 else h[1, 0].astype(int)
        answer = FIRST + self._value(x[2], FIRST + kept)
        return jnp.broadcast_to(jax.nn.one_hot(answer, FIRST + self.symbols), (len(x), FIRST + self.symbols))

    def _value(self, function, x):
        """What a function, as a token, makes of a symbol, as a token."""
        import jax.numpy as jnp

        from recombine.tasks.tokens import FIRST

        return jnp.asarray(self.tables)[function - FIRST - self.symbols, x - FIRST]


def answers(model: Any, task: rc.Task, z: np.ndarray, donor: np.ndarray) -> np.ndarray:
    """The symbols answered (layers + 1, 2, rows) where the donor is seen before each layer: at x, or at f1."""
    import jax

    from recombine.tasks.tokens import FIRST

    x, other = (rc.truth(task, rows, key=jax.random.key(0)).x for rows in (z, donor))
    after = _patcher(task.sample.longest + 1)  # pyrefly: ignore
    layers = len(model.layers) * model.repeats
    return np.stack([np.asarray(after(model, x, other, before)) for before in range(layers + 1)]) - FIRST


@cache
def _patcher(asked: int):
    """What answers at place `asked` after a patch; one function for all networks, so that it is compiled once."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from recombine.interventions.patch import patched

    @eqx.filter_jit
    def after(model, x, donor, before: int):
        def one(x, donor, place):
            places = jnp.arange(len(x)) == place
            return jnp.argmax(patched(model, x, donor, before=before, places=places)[asked])

        each = jax.vmap(one, (0, 0, None))
        return jnp.stack([each(x, donor, place) for place in (0, 1)])

    return after
