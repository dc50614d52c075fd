"""recombine run: runs experiments and shows their verdicts together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from recombine.cli import streams
from recombine.cli.options import parse, parse_both
from recombine.cli.results import name_and_flags, results_folder
from recombine.core import UserError, Variant
from recombine.engine import catalogue

Tier = Literal["quick", "laptop", "gpu", "paper"]
HELP = (
    "Run an experiment, and resume it where it stopped; the name of a paper runs all of its experiments."
    " Every field of an experiment's Settings is a flag.\n"
    "Example: recombine run liang2025/stripes --tier laptop --seeds 8 --width 32"
)


@dataclass(frozen=True)
class RunOptions:
    """Options of every run."""

    tier: Tier = "laptop"
    """quick proves the plumbing in seconds; laptop takes minutes on two cores; gpu and paper are larger"""
    out: Path = field(default_factory=results_folder)
    """folder for results, one below it for each experiment and run; RECOMBINE_OUT names another than ./results"""
    name: str | None = None
    """label of the run, which names its folder; by default the tier and the settings that differ from it"""
    variants: tuple[str, ...] = ()
    """protocol variants under which claims are judged again: all, none, or their names; by default all at the tiers
    gpu and paper, and none at the others, where they multiply the minutes"""
    device: Literal["auto", "cpu", "gpu"] | None = None
    """where to compute; the gpu tier requires a GPU unless this says otherwise"""
    ray: str | None = None
    """address of a Ray cluster (auto, local or host:port) to run the cells on"""
    commit: str | None = None
    """the commit this code comes from, where the checkout cannot say (RECOMBINE_COMMIT does the same)"""
    keep_models: bool = False
    """also keep the trained weights, as safetensors"""
    keep_records: bool = False
    """also keep what every network answered, as npz"""


def run(words: list[str]) -> int:
    """Run experiments and show their verdicts together."""
    names, flags = name_and_flags(words, "run")
    tier = _tier(flags)
    if not names:
        parse(RunOptions, flags, "recombine run NAME", HELP)
    orders = [_order(catalogue.find(name), tier, flags) for name in catalogue.chosen(names)]
    return _carry_out(orders)


def _tier(flags: list[str]) -> Tier:
    """The tier decides the defaults of all other flags, so it is read first."""
    words = " ".join(flags).replace("--tier=", "--tier ").split()
    after = dict(pairwise(words)).get("--tier", "laptop")
    if not after.startswith("-"):  # else the parser complains that the word is missing
        catalogue.check_tier(after)
    return next((tier for tier in get_args(Tier) if tier == after), "laptop")


def _order(experiment: catalogue.Experiment, tier: Tier, flags: list[str]) -> tuple[Any, RunOptions]:
    from recombine.engine import Keep, RunRequest

    usual, default = _with_artifacts(experiment.settings(tier)), RunOptions(tier=tier)
    about = f"{experiment.question}\n\n{HELP}"
    options, settings = parse_both(default, usual, flags, f"recombine run {experiment.name}", about)
    keep = Keep(models=options.keep_models, records=options.keep_records)
    chosen = chosen_variants(experiment, options.variants, tier)
    order = RunRequest(
        experiment, tier, settings, options.out, keep=keep, cluster=options.ray is not None, device=options.device,
        variants=chosen, label=options.name,
    )  # fmt: skip
    streams.check_name(order.folder)
    return order, options


def chosen_variants(experiment: catalogue.Experiment, words: tuple[str, ...], tier: str) -> tuple[Variant, ...]:
    """The variants that words name: all of them, none, some, or by default those of the tier."""
    known = {variant.name: variant for variant in experiment.variants}
    if words == ("all",) or (not words and tier in ("gpu", "paper")):
        return experiment.variants
    if words in ((), ("none",)):
        return ()
    if unknown := [word for word in words if word not in known]:
        there = ", ".join(known) or "none"
        hint = catalogue.did_you_mean(unknown[0], list(known))
        raise UserError(f"{experiment.name} has no variant {unknown[0]!r}{hint}; there are: {there}")
    return tuple(known[word] for word in words)


def _with_artifacts(settings: Any) -> Any:
    """The folder of evolved networks that the environment names, where an experiment can use one."""
    folder = os.environ.get("RECOMBINE_ARTIFACTS", "")
    return replace(settings, artifacts=folder) if folder and hasattr(settings, "artifacts") else settings


def _carry_out(orders: list[tuple[Any, RunOptions]]) -> int:
    from recombine.cli.progress import execute_all
    from recombine.engine import prepare

    options = orders[0][1]
    if options.commit:
        os.environ["RECOMBINE_COMMIT"] = options.commit  # workers on a cluster read it too
    device = options.device or ("gpu" if options.tier == "gpu" else "auto")
    prepare(device=device, cache=cache_folder(os.environ), ray=options.ray, kernels=kernels_wanted(os.environ))
    return execute_all([order for order, _ in orders])


def kernels_wanted(environment: Mapping[str, str]) -> bool:
    """Whether a GPU may use the project's kernels: RECOMBINE_KERNELS=off asks for plain programs."""
    return environment.get("RECOMBINE_KERNELS", "").lower() != "off"


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where compiled programs are kept between runs: RECOMBINE_CACHE moves it, `off` switches it off."""
    wanted = environment.get("RECOMBINE_CACHE", "")
    if wanted.lower() == "off":
        return None
    home = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(wanted) if wanted else home / "recombine" / "compiled"
