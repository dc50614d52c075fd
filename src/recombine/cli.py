"""The command line: recombine list | run | verdicts | figure | correlate | import | judge | bench."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import tyro

from recombine import importing, judging, looking, pooling
from recombine.arguments import parse
from recombine.core import UserError
from recombine.engine import catalogue

INTERRUPTED = 130
Tier = Literal["quick", "laptop", "gpu", "paper"]

USAGE = """recombine: does a network recombine what it knows, or only remember it?

  recombine list                              every experiment, and what has been run  (--claims: every claim)
  recombine run liang2025/stripes             run one: progress, verdicts, figure  (--tier quick|laptop|gpu|paper)
  recombine run liang2025/stripes --help      all of its settings
  recombine verdicts                          what the runs so far say  (NAME ..., --tier gpu, --markdown)
  recombine figure liang2025/stripes          draw the figure again from the table
  recombine correlate COLUMN COLUMN           do two columns go together over all networks trained?
  recombine import picbreeder SOURCE          evolved networks from their makers' files, for --artifacts
  recombine judge                             changed pictures before the offline judge and a vision-language model
  recombine bench                             speed, side by side, as one line of JSON each

--debug before any command shows the whole traceback of an error. Results go to ./results (--out DIR).
Compiled programs are kept in a cache folder; RECOMBINE_CACHE=DIR moves it, RECOMBINE_CACHE=off switches it off.
"""


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
        "list": looking.list_experiments,
        "run": run,
        "verdicts": looking.verdicts,
        "figure": looking.figure,
        "correlate": pooling.correlate,
        "import": importing.import_networks,
        "judge": judging.judge,
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


def run(words: list[str]) -> int:
    """Run experiments, one after the other, and show their verdicts together."""
    names, flags = looking.name_and_flags(words, "run")
    tier = _tier(flags)
    help_ = (
        "Run an experiment, and resume it where it stopped; the name of a paper runs all of its experiments."
        " Every field of an experiment's Settings is a flag.\n"
        "Example: recombine run liang2025/stripes --tier laptop --seeds 8 --width 32"
    )
    if not names:
        parse(How, flags, "recombine run NAME", help_)
    orders = [_order(catalogue.find(name), tier, flags, help_) for name in catalogue.chosen(names)]
    return carry_out(orders)


def _tier(flags: list[str]) -> Tier:
    """The tier decides the defaults of all other flags, so it is read first."""
    words = " ".join(flags).replace("--tier=", "--tier ").split()
    after = dict(pairwise(words)).get("--tier", "laptop")
    # A word that names no tier is left for the parser to complain about.
    return next((tier for tier in get_args(Tier) if tier == after), "laptop")


def _order(experiment: catalogue.Experiment, tier: Tier, flags: list[str], help_: str) -> tuple[Any, How]:
    from recombine.engine import Keep, Order

    usual = _with_artifacts(experiment.settings(tier))
    fields: list[tuple[str, Any]] = [("how", How), ("settings", type(usual))]
    asked = make_dataclass("Asked", [(name, tyro.conf.OmitArgPrefixes[kind]) for name, kind in fields])
    prog = f"recombine run {experiment.name}"
    got: Any = parse(asked, flags, prog, f"{experiment.question}\n\n{help_}", default=asked(How(tier=tier), usual))
    how: How = got.how
    keep = Keep(models=how.keep_models, records=how.keep_records)
    cluster, device = how.ray is not None, how.device
    return Order(experiment, tier, got.settings, how.out, keep=keep, cluster=cluster, device=device), how


def _with_artifacts(settings: Any) -> Any:
    """The folder of evolved networks that the environment names, where an experiment can use one."""
    folder = os.environ.get("RECOMBINE_ARTIFACTS", "")
    return replace(settings, artifacts=folder) if folder and hasattr(settings, "artifacts") else settings


def carry_out(orders: list[tuple[Any, How]]) -> int:
    from recombine.engine import execute, prepare
    from recombine.progress import Shown, cache_folder, kernels_wanted, show

    console, finished = looking.console(), []
    how = orders[0][1]
    device = how.device or ("gpu" if how.tier == "gpu" else "auto")
    prepare(device=device, cache=cache_folder(os.environ), ray=how.ray, kernels=kernels_wanted(os.environ))
    try:
        for order, _ in orders:
            result = execute(order, Shown(console, f"{order.experiment.name}, {order.tier} tier"))
            finished.append((order.experiment.name, result.folder, result.verdicts))
    finally:
        if finished:
            show(console, finished)
    return 0


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


def entry() -> None:
    """The installed command. An interrupted JAX may crash while Python takes leave, so it leaves at once."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code) if code == INTERRUPTED else sys.exit(code)


if __name__ == "__main__":
    entry()
