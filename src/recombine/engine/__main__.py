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
from recombine.engine import Order, catalogue, execute, prepare


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
    return parser.parse_args(arguments)


def changed_settings(settings: Any, words: list[str]) -> Any:
    """Settings with FIELD=VALUE words applied, each read as its field's type."""
    types = get_type_hints(type(settings))
    for word in words:
        name, _, text = word.partition("=")
        if name not in {f.name for f in fields(settings)}:
            raise UserError(f"no setting is called {name!r}{catalogue.did_you_mean(name, list(types))}")
        settings = replace(settings, **{name: _read(name, text, types[name], getattr(settings, name))})
    return settings


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


def main(arguments: list[str]) -> int:
    from rich.console import Console

    from recombine.progress import Shown, cache_folder, show

    wanted = parse(arguments)
    console, finished = Console(), []
    try:
        prepare(device=wanted.device or ("gpu" if wanted.tier == "gpu" else "auto"), cache=cache_folder(os.environ))
        words = wanted.set + ([f"seeds={wanted.seeds}"] if wanted.seeds is not None else [])
        for name in wanted.names:
            experiment = catalogue.find(name)
            settings = changed_settings(experiment.settings(wanted.tier), words)
            order = Order(experiment, wanted.tier, settings, wanted.out, keep_models=wanted.keep_models)
            result = execute(order, Shown(console, f"{name}, {wanted.tier} tier"))
            finished.append((name, result.folder, result.verdicts))
    except UserError as error:
        print(f"recombine: {error}", file=sys.stderr)
        return 2
    finally:
        if finished:
            show(console, finished)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
