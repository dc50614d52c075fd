"""What commands that read results share: which experiments, where, and what to do about damaged folders."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recombine.cli import streams
from recombine.cli.options import parse
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Options = TypeVar("Options", bound="TierOptions")
SHORT = "liang2025/rotation"
"""The experiment that is over soonest, for who has run none yet."""
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
    name: str = ""
    """only runs in the folder of this name: the label that `run --name` gave"""


@dataclass(frozen=True)
class Loaded:
    """A result as it was read: whose it is, where it lies, its tier, settings and table."""

    experiment: catalogue.Experiment
    folder: Path
    tier: str
    settings: Any
    table: pd.DataFrame

    @property
    def evidence(self) -> bool:
        """Whether its verdicts count: those of the quick tier never do."""
        return self.tier != "quick"

    @property
    def stale(self) -> bool:
        """Whether other code than today's made it, or code that it does not name."""
        from recombine.engine.run import code_changes

        return code_changes(self.experiment, self.folder) != []

    @property
    def title(self) -> str:
        """What names it above what is said of it: experiment, folder, tier, seeds, and whether it is stale."""
        from recombine.table import networks

        tier = "" if self.folder.name == self.tier else f", {self.tier} tier"
        seeds = networks(self.table)["seed"].nunique()
        marks = ["not evidence"] * (not self.evidence) + ["stale: not made by today's code"] * self.stale
        said = f"{self.experiment.name}, {self.folder.name}{tier}, {seeds} seed{'s' * (seeds != 1)}"
        return said + (f" ({'; '.join(marks)})" if marks else "")


def over_results(
    names: Sequence[str], options: TierOptions, use: Callable[[Loaded], T], *, doing: str | None = None
) -> list[T]:
    """What a function makes of every result of some experiments at a tier; those it cannot use are named.

    `doing` titles a progress bar, shown on a terminal if this takes long.
    """
    catalogue.check_tier(options.tier)
    experiments = map(catalogue.find, names)
    pairs = [(e, f) for e in experiments for f in folders(options.out / e.name) if options.name in ("", f.name)]
    found = []
    for experiment, folder in streams.with_progress(pairs, doing) if doing else pairs:
        with passing_over(folder):
            tier, settings, table = load(experiment, folder)
            if options.tier in ("", tier):
                found.append(use(Loaded(experiment, folder, tier, settings, table)))
    return found


def read_words(
    kind: type[Options], words: list[str], command: str, about: str, *, all_by_default: bool = False
) -> tuple[list[str], Options]:
    """The experiments that the words of a command name, and its options."""
    named, flags = split_names(words)
    options = parse(kind, flags, f"recombine {command} {'[NAME ...]' if all_by_default else 'NAME'}", about)
    if not named and not all_by_default:
        raise UserError(f"say which experiment: recombine {command} NAME ('recombine list' shows them)")
    return chosen_or_all(named) + ([] if named else _own_studies(options.out)), options


def _own_studies(out: Path) -> list[str]:
    """The files of the user's own studies with results; those that cannot be imported are named and passed over."""
    found = []
    for name, source in studies(out).items():
        with passing_over(out / name):
            found.append(catalogue.find(source).source)
    return found


def chosen_or_all(words: list[str]) -> list[str]:
    """The experiments that words name, or all that come with the lab."""
    return catalogue.chosen(words) or catalogue.names()


def nothing_there(names: Sequence[str], options: TierOptions) -> UserError:
    """What is said where none of some experiments has a result that can be used."""
    asked = [catalogue.find(name) for name in names]
    there = any(folders(options.out / one.name) for one in asked)
    said = "there is no result that can be used" if there else "nothing of this has been run"
    said += f" at the tier {options.tier}" if options.tier else ""
    said += f" under the name {options.name!r}" if options.name else ""
    said += f" in {options.out}" + ("" if options.out.is_dir() else " (there is no such folder)")
    if there and options.name:
        labels = sorted({folder.name for one in asked for folder in folders(options.out / one.name)})
        meant = "" if options.name in labels else catalogue.did_you_mean(options.name, labels)
        return UserError(f"{said}{meant}; there are {', '.join(labels[:8])}")
    return UserError(f"{said}; try '{_command(names, options)}'")


def _command(names: Sequence[str], options: TierOptions) -> str:
    """What runs the first of some experiments; a short one if all are meant."""
    words = ["recombine", "run", names[0] if len(names) < len(catalogue.names()) else SHORT]
    words += ["--tier", options.tier] if options.tier else []
    words += ["--name", options.name] if options.name else []
    return shlex.join(words + (["--out", str(options.out)] if options.out != results_folder() else []))


def studies(out: Path) -> dict[str, str]:
    """The users' own studies with results, and the file of each, as their settings name it; no file is imported."""
    from recombine.engine import store

    found = {}
    for path in sorted(out.glob("*/*/*/settings.json")):
        with suppress(UserError, AttributeError, TypeError):
            source = store.read_json(path).get("source")
            if source.endswith(".py"):
                found["/".join(path.parts[-4:-2])] = source
    return found


def name_and_flags(words: list[str], command: str) -> tuple[list[str], list[str]]:
    """Experiments' names, first or last, and the flags."""
    named, flags = split_names(words)
    if not named and not {"-h", "--help"} & set(words):
        raise UserError(f"say which experiment: recombine {command} NAME ('recombine list' shows them)")
    return named, flags


def split_names(words: list[str]) -> tuple[list[str], list[str]]:
    """Words before the first flag, and names of experiments and papers anywhere; and all others."""
    known = {*catalogue.names(), *(name.split("/")[0] for name in catalogue.names())}
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
        kinds = (int, float, str, str if usual and tuple not in map(type, usual) else list)
        return isinstance(value, list) and all(isinstance(v, kinds) for v in value)
    if isinstance(usual, bool | str | int):
        return type(value) is type(usual)
    return isinstance(value, int | float) and not isinstance(value, bool) if isinstance(usual, float) else True


def folders(home: Path) -> list[Path]:
    return sorted(path.parent for path in home.glob("*/settings.json"))
