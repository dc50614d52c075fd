"""Turns a joint distribution of parts into how many products of independent distributions mix into it.

The non-negative rank of Liang, Qian, Ziyin, Fiete (2025), appendix on compositional complexity, by expectation
maximisation; for two parts this is non-negative matrix factorisation under KL divergence (Gaussier and Goutte, 2005).
"""

from __future__ import annotations

import numpy as np

from recombine.measures.cp import terms

_TINY = 1e-300


def nonnegative_rank(
    distribution: np.ndarray, epsilon: float, rng: np.random.Generator, *, restarts: int = 5, sweeps: int = 500
) -> int:
    """The smallest R for which some start reached KL(P | mixture of R products) <= epsilon nats: an upper bound.

    At most prod_f N_f / max_f N_f, which always suffices.

    >>> nonnegative_rank(np.eye(2) / 2, 1e-3, np.random.default_rng(0))
    2
    """
    enough = distribution.size // max(distribution.shape)

    def divergence(rank: int) -> float:
        return mixture_divergence(distribution, rank, rng, restarts=restarts, sweeps=sweeps)

    return next((rank for rank in range(1, enough) if divergence(rank) <= epsilon), enough)


def mixture_divergence(
    distribution: np.ndarray, rank: int, rng: np.random.Generator, *, restarts: int = 5, sweeps: int = 500
) -> float:
    """The least KL(P | sum_r w_r a_r(x) b_r(y) ...) over some random starts, in nats.

    >>> round(mixture_divergence(np.eye(2) / 2, 1, np.random.default_rng(0)), 2)  # ln 2
    0.69
    """
    if np.any(distribution < 0) or not np.any(distribution):
        raise ValueError("a distribution has no negative weights, and some positive ones")
    p = np.asarray(distribution, float) / np.sum(distribution)
    return min(_maximise(p, [rng.dirichlet(np.ones(n), rank).T for n in p.shape], sweeps) for _ in range(restarts))


def _maximise(p: np.ndarray, factors: list[np.ndarray], sweeps: int) -> float:
    """Expectation maximisation until the divergence stands still."""
    from scipy.special import rel_entr

    weights, divergence = np.full(factors[0].shape[1], 1 / factors[0].shape[1]), np.inf
    for _ in range(sweeps):
        before = divergence
        joint = terms(factors, weights)
        model = np.maximum(joint.sum(axis=-1), _TINY)
        divergence = float(np.sum(rel_entr(p, model)))
        if before - divergence < 1e-9:
            break
        weights, factors = _update(joint * (p / model)[..., None])
    return divergence


def _update(blame: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights and factors that fit how much of each cell every term accounts for."""
    parts = blame.ndim - 1
    margins = [blame.sum(axis=tuple(i for i in range(parts) if i != part)) for part in range(parts)]
    weights = margins[0].sum(axis=0)
    return weights, [margin / np.maximum(weights, _TINY) for margin in margins]
