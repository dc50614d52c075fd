"""What the settings of every experiment share: how many seeds, and which of them train together."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

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
