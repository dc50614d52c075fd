"""What every network offers: answers to one example, to a batch, and their shapes, or a sentence on why there are none.

The shapes of an example that a task samples are found here too, since both are asked for before anything is computed.

Any callable `model(x) -> (y, activations)` is a model. Ours derive from `Network`, so that one may be faster than the
plain program on a batch; `network` gives every other model the plain program.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.core import Model, Task


def squared_error(y_hat: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((y_hat - y) ** 2)


class Network(eqx.Module):
    """A model with two methods that may be replaced by faster ones of equal value."""

    @abstractmethod
    def __call__(self, x: jax.Array, /) -> tuple[jax.Array, dict[str, jax.Array]]:
        """The answer to one example, and activations by name."""

    def many(self, x: jax.Array) -> jax.Array:
        """The answers to a batch, without activations."""
        return jax.vmap(self)(x)[0]

    def batch_error(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """The mean squared error of a batch, in float32."""
        return squared_error(self.many(x).astype(jnp.float32), y)


class Plain(Network):
    """Any model, answering a batch as it answers one example."""

    model: Model

    def __call__(self, x: jax.Array, /) -> tuple[jax.Array, dict[str, jax.Array]]:
        return self.model(x)


def network(model: Model) -> Network:
    """The model itself where it is a `Network`, else the plain one of it."""
    return model if isinstance(model, Network) else Plain(model)


def example_shapes(task: Task) -> tuple[Any, Any]:
    """The shapes of one example (x, y) of a task; nothing is computed."""
    if not isinstance(task, Task):
        raise TypeError(f"task must be a recombine.Task, got a {type(task).__name__}")
    wanted = f"sample(z, key) of {task.name} must give two arrays (x, y), by jax.numpy alone"
    try:
        pair = jax.eval_shape(task.sample, jnp.asarray(task.combinations[0]), jax.random.key(0))
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise TypeError(f"{wanted}: {str(error).partition(chr(10))[0]}") from error
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(hasattr(a, "shape") for a in pair)):
        raise TypeError(f"{wanted}; it gives {kind(pair)}")
    return pair


def answer_shapes(model: Any, x: jax.ShapeDtypeStruct) -> tuple[Any, dict[str, Any]]:
    """The shapes of (y, activations); nothing is computed."""
    try:
        answer = eqx.filter_eval_shape(model, x)
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        says = str(error).partition("\n")[0]
        raise ValueError(
            f"the network cannot take one example of shape {x.shape}, without a batch axis: {says}"
        ) from error
    pair = isinstance(answer, tuple) and len(answer) == 2
    if not (pair and hasattr(answer[0], "shape") and isinstance(answer[1], dict)):
        raise TypeError(
            f"a network returns (y, activations), an array and a dict of arrays; this one returns {kind(answer)}"
        )
    return answer


def kind(value: Any) -> str:
    """What was found, in a few words."""
    if hasattr(value, "shape"):
        return f"one array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"({', '.join(map(kind, value))})"
    return f"a {type(value).__name__}"


def member_shapes(models: Any) -> Any:
    """One network of a population, as shapes; refused unless all arrays are stacked along the first axis."""
    arrays = [a for a in jax.tree.leaves(models) if eqx.is_array(a)]
    if not arrays:
        raise TypeError(
            f"this {type(models).__name__} holds no JAX arrays: of a run give its .model, "
            "and of another framework's network make a recombine.Record of its answers"
        )
    if len({a.shape[:1] for a in arrays}) > 1 or not arrays[0].shape:
        raise ValueError("this is one network, not a population stacked along the first axis of every array")
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape[1:], a.dtype) if eqx.is_array(a) else a, models)
