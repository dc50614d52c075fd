"""A PyTorch module in evaluation mode for a while, and then exactly as it was, whatever its forward pass changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_TABLES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
"""Containers of a module that are themselves changed when a name is bound anew."""


@contextmanager
def untouched(model: Any) -> Iterator[None]:
    """Evaluation mode without gradients; then flags, attributes, buffers and random states as they were.

    Flags are set directly: a `train` of the module's own may do more than set them (merge weights, say), and what it
    does could not be undone.
    """
    import torch

    flags = [(module, module.training) for module in model.modules()]
    undo = [_attributes(model), _tensors(model), _random_states()]
    try:
        for module in model.modules():
            module.training = False
        with torch.no_grad():
            yield
    finally:
        for step in undo:
            step()
        for module, training in flags:
            module.training = training


def own_train(model: Any) -> list[str]:
    """Kinds of modules with a `train` or an `eval` of their own, which is not called."""
    import torch

    plain = torch.nn.Module
    kinds = {type(m) for m in model.modules() if type(m).train is not plain.train or type(m).eval is not plain.eval}
    return sorted(kind.__name__ for kind in kinds)


def _attributes(model: Any) -> Callable[[], None]:
    """What each module's names are bound to, its training flag among them."""
    before = [(m, dict(vars(m)), _tables(m)) for m in model.modules()]

    def undo() -> None:
        for module, names, tables in before:
            vars(module).clear()
            vars(module).update(names)
            for table, entries in tables.items():
                vars(module)[table].clear()
                vars(module)[table].update(entries)

    return undo


def _tables(module: Any) -> dict[str, Any]:
    there = {name: vars(module).get(name) for name in _TABLES}
    return {name: table.copy() for name, table in there.items() if isinstance(table, dict | set)}


def _tensors(model: Any) -> Callable[[], None]:
    """The numbers in buffers, and in parameters that a forward pass may rescale (embeddings with a largest norm)."""
    import torch

    held = [*model.buffers()]
    held += [p for m in model.modules() if getattr(m, "max_norm", None) is not None for p in m.parameters(False)]
    before = [(tensor, tensor.detach().clone()) for tensor in held]

    def undo() -> None:
        with torch.no_grad():
            for tensor, values in before:
                if tensor.shape != values.shape:
                    tensor.data = values
                elif not torch.equal(tensor, values):
                    tensor.copy_(values)

    return undo


def _random_states() -> Callable[[], None]:
    """The random numbers of PyTorch on every device, of NumPy and of Python."""
    import torch

    state, cuda = torch.random.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    numpy, python = np.random.get_state(), random.getstate()

    def undo() -> None:
        torch.random.set_rng_state(state)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)
        np.random.set_state(numpy)
        random.setstate(python)

    return undo
