"""What the settings of every experiment share: how many seeds, and which train together."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

import recombine as rc


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """How many networks are trained for each condition, and from which number all randomness comes."""

    seeds: int = 5
    """networks trained for each condition"""
    seed: int = 0
    """the number from which every random draw is derived"""
    block: int = 5
    """seeds trained together in one piece of work; a longer run reuses the whole blocks of a shorter"""

    def need_positive(self, *names: str) -> None:
        """Refuse settings whose counts are below one, and a seed below zero."""
        if self.seed < 0:
            raise rc.UserError(f"seed must be at least 0, got {self.seed}")
        for name in ("seeds", "block", *names):
            if getattr(self, name) < 1:
                raise rc.UserError(f"{name} must be at least 1, got {getattr(self, name)}")

    def need_rates(self, *names: str) -> None:
        """Refuse settings that are no finite numbers above zero."""
        for name in names:
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise rc.UserError(f"{name} must be a number above 0, got {getattr(self, name)}")


def blocks(settings: Seeded) -> list[tuple[int, ...]]:
    """The seeds, cut into the blocks that are trained together."""
    seeds = range(settings.seeds)
    return [tuple(seeds[i : i + settings.block]) for i in range(0, settings.seeds, settings.block)]


def unless_lost(seen: dict, diverged_at: int) -> dict:
    """Measures as they are, or none of them if the network diverged."""
    lost = {name: np.full_like(value, np.nan) if np.ndim(value) else np.nan for name, value in seen.items()}
    return lost if diverged_at >= 0 else seen


def test_key(settings: Seeded):
    """The key of everything that is asked after training; no member's key is derived from it."""
    import jax

    return jax.random.fold_in(jax.random.key(settings.seed), 2**31 - 1)
