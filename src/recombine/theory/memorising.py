"""Turns a hyperteacher into a ReLU network that stores its tasks one by one: what remembering costs in neurons.

Redhardt, Akram and Schug (2025, arXiv 2507.07207) set a network that composes, linear in the modules, against one that
stores every combination. This one is ours. It has H neurons for each stored mask s, for tasks at full strength, z in
{0, 1}^M: ReLU(x W_s + b_s - B (1 - f_s(z))) with f_s(z) = sum_{m in s} z_m - sum_{m not in s} z_m - (|s| - 1). f_s is 1
for z = s and at most 0 for any other mask, and B is so large that the neurons of other masks stay silent.
"""

from __future__ import annotations

from math import comb

import numpy as np

from recombine.theory.construction import Hyperteacher, ReluNetwork


def memorise(teacher: Hyperteacher, masks: np.ndarray) -> ReluNetwork:
    """The network that answers these masks exactly, and 0 to all others.

    >>> one = Hyperteacher(np.ones((2, 1, 1)), np.zeros((2, 1)), np.ones((1, 1)), 1)
    >>> network = memorise(one, np.array([[1, 0]]))
    >>> network(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5], [0.5]])).ravel().tolist()
    [0.5, 0.0]
    """
    mixed = masks / np.sqrt(teacher.max_active)
    weights = np.tensordot(mixed, teacher.modules, axes=1)
    biases = mixed @ teacher.biases
    silence = np.abs(weights).sum(axis=1) + biases
    hidden = silence.size
    from_z = np.einsum("nm,nh->mnh", 2.0 * masks - 1, silence).reshape(masks.shape[1], hidden)
    from_x = weights.transpose(1, 0, 2).reshape(-1, hidden)
    bias = biases - silence * masks.sum(axis=1, keepdims=True)
    read_out = np.tile(teacher.read_out, (len(masks), 1))
    return ReluNetwork(
        ((np.concatenate([from_z, from_x]), bias.ravel()), (read_out, np.zeros(read_out.shape[1]))),
    )


def stored_neurons(modules: int, max_active: int, hidden: int) -> int:
    """Hidden neurons that store every mask of up to `max_active` modules: H for each.

    >>> stored_neurons(16, 3, 16)
    11136
    """
    return hidden * sum(comb(modules, k) for k in range(1, max_active + 1))
