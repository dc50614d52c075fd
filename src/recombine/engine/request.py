"""What to run, under which protocols, and where its results go."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine import table as tables
from recombine.core import UserError, Variant
from recombine.engine.catalogue import Experiment, changed
from recombine.engine.cells import Keep
from recombine.engine.folder import check_label, short_name

NOTHING_MORE = Keep()


@dataclass(frozen=True)
class RunRequest:
    """What to run, and where its results go."""

    experiment: Experiment
    tier: str
    settings: Any
    out: Path
    keep: Keep = NOTHING_MORE
    cluster: bool = False
    device: str | None = None
    variants: tuple[Variant, ...] = ()
    label: str | None = None

    def __post_init__(self) -> None:
        if self.label is not None:
            check_label(self.label)
        if isinstance(seeds := getattr(self.settings, "seeds", 1), int) and seeds < 1:
            raise UserError(f"--seeds must be at least 1, got {seeds}")

    @property
    def home(self) -> Path:
        return self.out / self.experiment.name

    @property
    def folder(self) -> Path:
        """The label's, or one per tier and settings that differ from the tier's; it grows with its seeds."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        return self.home / (self.label or short_name(self.tier, other))

    @property
    def command(self) -> str:
        """The command that makes these results again."""
        other = changed(self.settings, self.experiment.settings(self.tier))
        flags = ["--device", self.device] if self.device else []
        flags += ["--out", str(self.out)] if self.out != Path("results") else []
        flags += ["--name", self.label] if self.label else []
        flags += [word for name, value in other.items() for word in _flag(name, value)]
        if self.experiment.variants:
            every = len(self.variants) == len(self.experiment.variants)
            flags += ["--variants", *(["all"] if every else [v.name for v in self.variants] or ["none"])]
        return shlex.join(["recombine", "run", self.experiment.source, "--tier", self.tier, *flags])

    @property
    def protocols(self) -> dict[str, Any]:
        """The settings of the primary protocol and of each variant that differs from it and is possible here."""
        found = {tables.PRIMARY: self.settings}
        for variant in self.variants:
            try:
                settings = variant.applied(self.settings)
            except UserError:  # such as a width that this tier's picture is too small for
                continue
            if settings != self.settings:
                found[variant.name] = settings
        return found


def _flag(name: str, value: Any) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]
