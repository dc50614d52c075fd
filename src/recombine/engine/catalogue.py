"""Finds experiments by their paths: those that come with the lab, and a user's own files."""

from __future__ import annotations

import difflib
import importlib.util
import re
import sys
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from recombine.core import Claim, UserError, Variant

_CLAIMS = re.compile(r"^CLAIMS\b", re.MULTILINE)
TIERS = ("quick", "laptop", "gpu", "paper")


@dataclass(frozen=True)
class Experiment:
    """A module with Settings, the four tiers, cells, run, CLAIMS and figure, under a name."""

    name: str
    module: ModuleType

    @property
    def question(self) -> str:
        return (self.module.__doc__ or self.name).strip().splitlines()[0]

    @property
    def paper(self) -> str:
        package = import_module(self.module.__package__) if self.module.__package__ else self.module
        return (package.__doc__ or "").strip().splitlines()[0] if package.__doc__ else "your own file"

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.module.CLAIMS

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The protocol choices under which its claims are judged again."""
        return getattr(self.module, "VARIANTS", ())

    @property
    def source(self) -> str:
        """What names it on a command line: its name, or the path of a user's own file."""
        return self.name if self.module.__package__ else str(self.module.__file__)

    @property
    def deciding(self) -> str:
        """The least tier with seeds enough for verdicts; the least that counts where verdicts are not over seeds."""
        from recombine.claims.verdict import MIN_SEEDS

        if any(claim.repeats != "seeds" for claim in self.claims):
            return TIERS[1]
        enough = (tier for tier in TIERS[1:] if getattr(self.settings(tier), "seeds", MIN_SEEDS) >= MIN_SEEDS)
        return next(enough, TIERS[1])

    def settings(self, tier: str) -> Any:
        return getattr(self.module, tier.upper())


def names() -> list[str]:
    """Every experiment that comes with the lab, as paper/file: a file in a paper's folder that states claims."""
    package = import_module("recombine.experiments")
    files = [file for place in package.__path__ for file in Path(place).glob("*/*.py")]
    return sorted(f"{file.parent.name}/{file.stem}" for file in files if _CLAIMS.search(file.read_text()))


def chosen(words: list[str]) -> list[str]:
    """Names of experiments, where the name of a paper stands for all of its own."""
    of = {word: [name for name in names() if name.startswith(f"{word.rstrip('/')}/")] for word in words}
    return [name for word in words for name in of[word] or [word]]


def check_tier(tier: str) -> None:
    """Refuse what is no tier; an empty one stands for all."""
    if tier and tier not in TIERS:
        raise UserError(f"no tier is called {tier!r}{did_you_mean(tier, list(TIERS))}; there are {', '.join(TIERS)}")


def find(name: str) -> Experiment:
    """An experiment by its name, or by the path of a user's own Python file."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if name not in names():
        if Path(f"{name}.py").is_file():
            return _from_file(Path(f"{name}.py"))
        if of := chosen([name]) if chosen([name]) != [name] else []:
            raise UserError(f"{name} is a paper: name one of its experiments, {' or '.join(of)}")
        known = [*sorted({one.split("/")[0] for one in names()}), *names()]
        raise UserError(f"no experiment is called {name!r}{did_you_mean(name, known)}; 'recombine list' shows all")
    return Experiment(name, import_module("recombine.experiments." + name.replace("/", ".")))


def did_you_mean(word: str, known: list[str]) -> str:
    tails = {k.split("/")[-1]: k for k in known}
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    close = close or [tails[t] for t in difflib.get_close_matches(word.rsplit("/", maxsplit=1)[-1], list(tails), n=1)]
    return f" (did you mean {close[0]!r}?)" if close else ""


def _from_file(path: Path) -> Experiment:
    """A user's own study, named by its folder and its file; what lies beside it can be imported."""
    if not path.is_file():
        raise UserError(f"there is no experiment file {path}")
    path = path.resolve()
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(f"recombine_study_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise UserError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    wanted = ["Settings", *(t.upper() for t in TIERS), "cells", "run", "CLAIMS", "figure"]
    if missing := [w for w in wanted if not hasattr(module, w)]:
        raise UserError(f"{path} is not an experiment: it lacks {', '.join(missing)}")
    return Experiment(f"{path.parent.name or 'root'}/{path.stem}", module)


def changed(settings: Any, usual: Any) -> dict[str, Any]:
    """The fields in which settings differ from their tier."""
    assert is_dataclass(settings)
    here = {f.name: getattr(settings, f.name) for f in fields(settings)}
    return {name: value for name, value in here.items() if value != getattr(usual, name)}
