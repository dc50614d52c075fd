"""The command line: recombine list | run | verdicts | figure | bench."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import tyro

from recombine.arguments import parse
from recombine.core import UserError
from recombine.engine import catalogue

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 130
Tier = Literal["quick", "laptop", "gpu", "paper"]

USAGE = """recombine: does a network recombine what it knows, or only remember it?

  recombine list                              every experiment and claim, and what has been run
  recombine run liang2025/stripes             run one: progress, verdicts, figure  (--tier quick|laptop|gpu|paper)
  recombine run liang2025/stripes --help      all of its settings
  recombine verdicts                          what the runs so far say
  recombine figure liang2025/stripes          draw the figure again from the table
  recombine bench                             speed, side by side, as one line of JSON each

--debug before any command shows the whole traceback of an error. Results go to ./results (--out DIR).
Compiled programs are kept in a cache folder; RECOMBINE_CACHE=DIR moves it, RECOMBINE_CACHE=off switches it off.
"""


@dataclass(frozen=True)
class Where:
    """Options of commands that read results."""

    out: Path = Path("results")
    """folder with the results"""


@dataclass(frozen=True)
class Judged(Where):
    """Where results are, and how verdicts are printed."""

    markdown: bool = False
    """print tables for a document: every claim in full, one column a run"""


@dataclass(frozen=True)
class How:
    """Options of every run."""

    tier: Tier = "laptop"
    """quick proves the plumbing in seconds; laptop takes minutes on two cores; gpu and paper are larger"""
    out: Path = Path("results")
    """folder for results, one below it for each experiment and tier"""
    device: Literal["auto", "cpu", "gpu"] | None = None
    """where to compute; the gpu tier asks for a GPU unless told otherwise"""
    ray: str | None = None
    """address of a Ray cluster (auto, local or host:port) to run the cells on"""
    keep_models: bool = False
    """also keep the trained weights, as safetensors"""
    keep_records: bool = False
    """also keep what every network answered, as npz"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; whatever the user can mend is one line and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = words[:1] == ["--debug"]
    words = words[1:] if debug else words
    try:
        return dispatch(words)
    except UserError as error:
        if debug:
            raise
        print(f"recombine: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("recombine: stopped; what was finished is kept, and the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except Exception as error:
        if debug:
            raise
        said = (str(error).strip().splitlines() or [""])[0]
        print(f"recombine: {type(error).__name__}: {said} (--debug shows where)", file=sys.stderr)
        return 1


def dispatch(words: list[str]) -> int:
    commands: dict[str, Callable[[list[str]], int]] = {
        "list": list_experiments,
        "run": run,
        "verdicts": verdicts,
        "figure": figure,
        "bench": bench,
    }
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0
    if words[0] == "--version":
        import recombine

        print(recombine.__version__)
        return 0
    if words[0] not in commands:
        hint = catalogue.did_you_mean(words[0], list(commands))
        raise UserError(f"no command is called {words[0]!r}{hint}; 'recombine --help' shows all")
    return commands[words[0]](words[1:])


def name_and_flags(words: list[str], command: str) -> tuple[list[str], list[str]]:
    """Experiments' names, first or last, and the flags."""
    known = catalogue.names()
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    named = [i for i, word in enumerate(words) if i < first or word in known or word.endswith(".py")]
    flags = [word for i, word in enumerate(words) if i not in named]
    if not named and not {"-h", "--help"} & set(words):
        raise UserError(f"say which experiment: recombine {command} NAME ('recombine list' shows them)")
    return [words[i] for i in named], flags


def run(words: list[str]) -> int:
    """Run experiments, one after the other, and show their verdicts together."""
    names, flags = name_and_flags(words, "run")
    tier = _tier(flags)
    help_ = (
        "Run an experiment, and resume it where it stopped. Every field of its Settings is a flag.\n"
        "Example: recombine run liang2025/stripes --tier laptop --seeds 8 --width 16"
    )
    if not names:
        parse(How, flags, "recombine run NAME", help_)
    orders = [_order(catalogue.find(name), tier, flags, help_) for name in names]
    return carry_out(orders)


def _tier(flags: list[str]) -> Tier:
    """The tier decides the defaults of all other flags, so it is read first."""
    words = " ".join(flags).replace("--tier=", "--tier ").split()
    after = dict(pairwise(words)).get("--tier", "laptop")
    # A word that names no tier is left for the parser to complain about.
    return next((tier for tier in get_args(Tier) if tier == after), "laptop")


def _order(experiment: catalogue.Experiment, tier: Tier, flags: list[str], help_: str) -> tuple[Any, How]:
    from recombine.engine import Keep, Order

    usual = experiment.settings(tier)
    fields: list[tuple[str, Any]] = [("how", How), ("settings", type(usual))]
    asked = make_dataclass("Asked", [(name, tyro.conf.OmitArgPrefixes[kind]) for name, kind in fields])
    prog = f"recombine run {experiment.name}"
    got: Any = parse(asked, flags, prog, f"{experiment.question}\n\n{help_}", default=asked(How(tier=tier), usual))
    how: How = got.how
    keep = Keep(models=how.keep_models, records=how.keep_records)
    cluster, device = how.ray is not None, how.device
    return Order(experiment, tier, got.settings, how.out, keep=keep, cluster=cluster, device=device), how


def carry_out(orders: list[tuple[Any, How]]) -> int:
    from recombine.engine import execute, prepare
    from recombine.progress import Shown, cache_folder, show

    console, finished = _console(), []
    how = orders[0][1]
    device = how.device or ("gpu" if how.tier == "gpu" else "auto")
    prepare(device=device, cache=cache_folder(os.environ), ray=how.ray)
    try:
        for order, _ in orders:
            result = execute(order, Shown(console, f"{order.experiment.name}, {order.tier} tier"))
            finished.append((order.experiment.name, result.folder, result.verdicts))
    finally:
        if finished:
            show(console, finished)
    return 0


def list_experiments(words: list[str]) -> int:
    where = parse(
        Where, words, "recombine list", "Every experiment and claim, and what has been run.\nExample: recombine list"
    )
    from rich.markup import escape

    console = _console()
    paper = ""
    for name in catalogue.names():
        experiment = catalogue.find(name)
        if experiment.paper != paper:
            paper = experiment.paper
            console.print(f"\n[bold]{escape(paper)}[/]", highlight=False)
        console.print(f"  [cyan]{name}[/]  {escape(experiment.question)}", highlight=False)
        ran = _verdict_words(where.out / name)
        for claim in experiment.claims:
            said = ", ".join(f"{tier}: {words[claim.name]}" for tier, words in ran.items() if claim.name in words)
            console.print(
                f"    - {escape(claim.name)}: {escape(claim.says)} [dim]({escape(claim.source)})[/]", highlight=False
            )
            console.print(f"      [dim]{said or 'not run yet'}[/]", highlight=False)
    console.print(
        "\ntiers: quick (seconds, never evidence), laptop (minutes), gpu, paper", style="dim", highlight=False
    )
    return 0


def _verdict_words(home: Path) -> dict[str, dict[str, str]]:
    """For each tier that was run, the verdict word of each claim."""
    from recombine.engine import store

    found = {}
    for path in sorted(home.glob("*/verdicts.json")):
        rows = store.read_json(path)
        found[path.parent.name] = {r["claim"]: r["verdict"] if r["evidence"] else "not evidence" for r in rows}
    return found


def verdicts(words: list[str]) -> int:
    """Judge again whatever has been run, from the tables."""
    from recombine import engine
    from recombine.progress import markdown, show

    names, flags = (words[:1], words[1:]) if words and not words[0].startswith("-") else (catalogue.names(), words)
    where = parse(
        Judged,
        flags,
        "recombine verdicts [NAME]",
        "What the runs so far say.\nExample: recombine verdicts liang2025/stripes",
    )
    shown = []
    for name in names:
        experiment = catalogue.find(name)
        for folder in _folders(where.out / experiment.name):
            try:
                tier, _, table = engine.load(experiment, folder)
                shown.append((f"{name}, {folder.name}", folder, engine.conclude(experiment, tier, table, folder)))
            except UserError as error:
                print(f"recombine: passed over: {error}", file=sys.stderr)
            except (KeyError, AttributeError) as error:
                print(f"recombine: passed over: {folder} lacks what its claims ask for: {error}", file=sys.stderr)
    if not shown:
        hint = f"try 'recombine run {names[0]}', or name a study of your own by its file"
        raise UserError(f"nothing of this has been run in {where.out}: {hint}")
    print(markdown(shown)) if where.markdown else show(_console(), shown)
    return 0


def figure(words: list[str]) -> int:
    """Draw the figures of an experiment again, from its tables."""
    from recombine import engine

    names, flags = name_and_flags(words, "figure")
    where = parse(
        Where,
        flags,
        "recombine figure NAME",
        "Draw it again from the table.\nExample: recombine figure liang2025/stripes",
    )
    for name in names:
        experiment = catalogue.find(name)
        folders = _folders(where.out / experiment.name)
        if not folders:
            raise UserError(f"{name} has not been run in {where.out}: try 'recombine run {name}'")
        for folder in folders:
            _, settings, table = engine.load(experiment, folder)
            print(*engine.draw(experiment, settings, table, folder), sep="\n")
    return 0


def _folders(home: Path) -> list[Path]:
    return sorted(path.parent for path in home.glob("*/settings.json"))


def bench(words: list[str]) -> int:
    """Run a benchmark, or list them."""
    from recombine import bench as benches

    if not words or words[0] in ("-h", "--help"):
        print("Speed, side by side, each as one line of JSON. Options are name=number.")
        print("Example: recombine bench population members=4 width=16 repeats=3\n")
        for name, said in benches.described().items():
            print(f"  {name:14} {said}")
        return 0
    return benches.main(words)


def _console() -> Console:
    from rich.console import Console

    return Console()


def entry() -> None:
    """The installed command. An interrupted JAX may crash while Python takes leave, so it leaves at once."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code) if code == INTERRUPTED else sys.exit(code)


if __name__ == "__main__":
    entry()
