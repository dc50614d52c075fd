"""What commands that read results share: which experiments, where, and what to do about damaged folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli import streams
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    import pandas as pd

UNUSABLE = (KeyError, IndexError, AttributeError, TypeError, ValueError, ArithmeticError, RecursionError)
"""What reading, judging or drawing a damaged or outdated table may raise."""


def results_folder() -> Path:
    """Where results go unless a flag says otherwise."""
    return Path(os.environ.get("RECOMBINE_OUT") or "results")


@dataclass(frozen=True)
class ResultOptions:
    """Options of commands that read results."""

    out: Path = field(default_factory=results_folder)
    """folder with the results; RECOMBINE_OUT names another than ./results"""


@dataclass(frozen=True)
class TierOptions(ResultOptions):
    """Where results are, and which of them."""

    tier: str = ""
    """only runs of this tier: quick, laptop, gpu or paper"""


def name_and_flags(words: list[str], command: str) -> tuple[list[str], list[str]]:
    """Experiments' names, first or last, and the flags."""
    named, flags = split_names(words)
    if not named and not {"-h", "--help"} & set(words):
        raise UserError(f"say which experiment: recombine {command} NAME ('recombine list' shows them)")
    return named, flags


def split_names(words: list[str]) -> tuple[list[str], list[str]]:
    """Words before the first flag and names of experiments anywhere; and all others."""
    known = catalogue.names()
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    named = [i for i, word in enumerate(words) if i < first or word in known or word.endswith(".py")]
    return [words[i] for i in named], [word for i, word in enumerate(words) if i not in named]


@contextmanager
def passing_over(folder: Path) -> Iterator[None]:
    """Name a results folder that cannot be used, in one line, and go on without it."""
    try:
        yield
    except UserError as error:
        streams.complain(f"passed over: {error}")
    except UNUSABLE as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        streams.complain(f"passed over: {folder} lacks what its claims ask for, or is damaged ({said})")


def load(experiment: catalogue.Experiment, folder: Path) -> tuple[str, Any, pd.DataFrame]:
    """The tier, settings and table of a finished run, whose settings.json must be as a run writes it."""
    from recombine import engine
    from recombine.engine import store

    facts, path = store.read_json(folder / "settings.json"), folder / "settings.json"
    if not isinstance(facts, dict) or not isinstance(facts.get("settings"), dict):
        raise UserError(f"{path} is damaged: it has no settings")
    if (tier := facts.get("tier")) not in catalogue.TIERS:
        raise UserError(f"{path} is damaged: no tier is called {str(tier)[:40]!r}")
    usual = experiment.settings(tier)
    for name, value in facts["settings"].items():
        if not _alike(value, getattr(usual, name, None)):
            raise UserError(f"{path} is damaged: {name} cannot be {str(value)[:40]!r}")
    return engine.load(experiment, folder)


def _alike(value: Any, usual: Any) -> bool:
    """Whether a value from JSON can stand for one of the tier's, by its type."""
    if isinstance(usual, tuple):
        kinds = (int, float, str, *map(type, usual))
        return isinstance(value, list) and all(isinstance(v, kinds) for v in value)
    if isinstance(usual, bool | str | int):
        return type(value) is type(usual)
    return isinstance(value, int | float) and not isinstance(value, bool) if isinstance(usual, float) else True


def try_running(name: str, tier: str) -> str:
    return f"try 'recombine run {name}{f' --tier {tier}' * bool(tier)}'"


def folders(home: Path) -> list[Path]:
    return sorted(path.parent for path in home.glob("*/settings.json"))
