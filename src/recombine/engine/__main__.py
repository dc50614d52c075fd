"""Runs experiments from a plain checkout where only the numerical libraries are installed.

PYTHONPATH=src python -m recombine.engine liang2025/failure --tier gpu --seeds 8
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from recombine.core import UserError
from recombine.engine import Keep, Order, catalogue, execute, prepare


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m recombine.engine",
        description="Run experiments without the full command line.",
        epilog="Example: python -m recombine.engine liang2025/failure --tier gpu --seeds 8 --set width=32",
    )
    parser.add_argument("names", nargs="+", metavar="NAME", help="an experiment, such as liang2025/failure")
    parser.add_argument("--tier", choices=catalogue.TIERS, default="laptop")
    parser.add_argument("--seeds", type=int, help="networks for each condition (default: the tier's)")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="change any other setting")
    parser.add_argument("--out", type=Path, default=Path("results"), help="where results go")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), help="default: gpu for the gpu tier, else auto")
    parser.add_argument("--keep-models", action="store_true", help="also keep the trained weights as safetensors")
    parser.add_argument("--keep-records", action="store_true", help="also keep what every network answered, as npz")
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
    return parser.parse_args(arguments)


def changed_settings(settings: Any, words: list[str]) -> Any:
    """Settings with FIELD=VALUE words applied, each read as its field's type."""
    types, values = get_type_hints(type(settings)), {}
    for word in words:
        name, _, text = word.partition("=")
        if name not in {f.name for f in fields(settings)}:
            raise UserError(f"no setting is called {name!r}{catalogue.did_you_mean(name, list(types))}")
        values[name] = _read(name, text, types[name], getattr(settings, name))
    return replace(settings, **values)


def _read(name: str, text: str, kind: Any, now: Any) -> Any:
    try:
        if isinstance(now, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(now, tuple):
            return tuple(get_args(kind)[0](part) for part in text.split(",") if part)
        value = type(now)(text)
    except (ValueError, KeyError) as error:
        raise UserError(f"{name} cannot be {text!r}: it is {now!r} now") from error
    if (choices := get_args(kind)) and value not in choices:
        raise UserError(f"{name} must be one of {', '.join(map(str, choices))}, got {text!r}")
    return value


def run(wanted: argparse.Namespace) -> None:
    from rich.console import Console

    from recombine.progress import Shown, cache_folder, kernels_wanted, show

    console, finished = Console(), []
    prepare(
        device=wanted.device or ("gpu" if wanted.tier == "gpu" else "auto"),
        cache=cache_folder(os.environ),
        kernels=kernels_wanted(os.environ),
    )
    words = wanted.set + ([f"seeds={wanted.seeds}"] if wanted.seeds is not None else [])
    keep = Keep(models=wanted.keep_models, records=wanted.keep_records)
    try:
        for name in wanted.names:
            experiment = catalogue.find(name)
            settings = changed_settings(experiment.settings(wanted.tier), words)
            order = Order(experiment, wanted.tier, settings, wanted.out, keep=keep, device=wanted.device)
            result = execute(order, Shown(console, f"{name}, {wanted.tier} tier"))
            finished.append((name, result.folder, result.verdicts))
    finally:
        if finished:
            show(console, finished)


def main(arguments: list[str]) -> int:
    """Run; what the user can mend is one line and exit code 2."""
    wanted = parse(arguments)
    try:
        run(wanted)
    except KeyboardInterrupt:
        print("recombine: stopped; the same command goes on from here", file=sys.stderr, flush=True)
        return 130
    except Exception as error:
        if wanted.debug:
            raise
        kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
        print(f"recombine: {kind}{(str(error).splitlines() or [''])[0]}", file=sys.stderr)
        return 2 if isinstance(error, UserError) else 1
    return 0


if __name__ == "__main__":
    if (code := main(sys.argv[1:])) == 130:
        os._exit(code)  # an interrupted JAX may crash while Python takes leave
    sys.exit(code)
