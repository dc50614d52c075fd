"""recombine diagnose: does my model compose or memorize? And recombine layers: what its layers are called."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.options import parse
from recombine.core import UserError

if TYPE_CHECKING:
    from recombine.diagnosis.diagnosis import Diagnosis


@dataclass(frozen=True)
class DiagnoseOptions:
    """Where the data are, and where the report goes."""

    data: str = ""
    """module:function that returns a dict with x, y, factors and trained, for a model named module:model"""
    layers: tuple[str, ...] = ()
    """names or globs of layers; all, or a choice of them, by default"""
    output: str = ""
    """which of several outputs of a PyTorch model is its answer: a name or a number"""
    out: Path = Path("diagnosis")
    """folder for report.html and numbers.json"""
    demo: bool = False
    """diagnose three small networks made here: nothing else is needed"""


def diagnose(words: list[str]) -> int:
    """Print the verdict, and write the report and all numbers."""
    given, flags = _split(words)
    options = parse(
        DiagnoseOptions,
        flags,
        "recombine diagnose [FILE.npz ... | MODULE:MODEL]",
        "Does a model compose or memorize? From arrays (npz, or a folder of npy), or from a model and its data.\n"
        "Example: recombine diagnose mymodule:make_model --data mymodule:data",
    )
    from recombine.diagnosis.report import save

    found = _found(given, options)
    for one in found:
        print(f"{one}\n")
    print(*save(found, options.out), sep="\n")
    return 0


def layers(words: list[str]) -> int:
    """Print the names of a PyTorch model's layers, with their shapes where data are given."""
    from recombine.diagnosis.from_torch import is_torch, list_layers

    given, flags = _split(words)
    options = parse(
        DiagnoseOptions,
        flags,
        "recombine layers MODULE:MODEL",
        "The names of a model's layers, and with --data their shapes.\n"
        "Example: recombine layers mymodule:model --data mymodule:data",
    )
    if len(given) != 1:
        raise UserError("name one model: recombine layers mymodule:model")
    model = _made(_imported(given[0]))
    if not is_torch(model):
        raise UserError("only PyTorch modules have layers by name; a JAX model names its layers in (y, acts)")
    data = dict(_made(_imported(options.data))) if options.data else {}
    for name, kind, shape in list_layers(model, data.get("x")):
        print(f"{name:32} {kind:20} {shape}".rstrip())
    return 0


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Names before the first flag, and flags."""
    cut = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:cut], words[cut:]


def _found(given: list[str], options: DiagnoseOptions) -> list[Diagnosis]:
    if options.demo:
        from recombine.diagnosis.demo import demo

        return demo()
    if not given:
        raise UserError("give a file of arrays or MODULE:MODEL; 'recombine diagnose --demo' needs nothing")
    from recombine.diagnosis.doors import diagnose as door

    layers = options.layers or None
    if options.data:
        data = dict(_made(_imported(options.data)))
        missing = [k for k in ("x", "y", "factors", "trained") if k not in data]
        if missing:
            raise UserError(f"{options.data} must return a dict with x, y, factors and trained; it lacks {missing[0]}")
        more = {"layers": layers, "output": _output(options.output), "names": data.get("names")}
        pair = (data["x"], data["y"])
        return [
            door(_made(_imported(word)), pair, factors=data["factors"], trained=data["trained"], name=word, **more)
            for word in given
        ]
    for word in given:
        if ":" in word and not Path(word).exists():
            raise UserError(f"{word} is a model, so name its data too: --data {word.partition(':')[0]}:data")
        if not Path(word).exists():
            raise UserError(f"there is no file or folder {word}")
    return [door(word, layers=layers, name=Path(word).stem or word) for word in given]


def _output(word: str) -> str | int | None:
    return int(word) if word.isdigit() else word or None


def _imported(word: str) -> Any:
    """What MODULE:NAME names; modules beside the current folder can be imported."""
    module, _, name = word.partition(":")
    if not module or not name:
        raise UserError(f"name a model or data as MODULE:NAME, got {word!r}")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        loaded = importlib.import_module(module.removesuffix(".py").replace("/", "."))
    except Exception as error:
        raise UserError(f"{module} cannot be imported: {type(error).__name__}: {error}") from error
    if not hasattr(loaded, name):
        from difflib import get_close_matches

        near = get_close_matches(name, dir(loaded), n=1)
        raise UserError(f"{module} has no {name!r}" + (f" (did you mean {near[0]!r}?)" if near else ""))
    return getattr(loaded, name)


def _made(thing: Any) -> Any:
    """A function without arguments is called; a model is taken as it is."""
    import inspect

    if inspect.isfunction(thing) and not [
        p for p in inspect.signature(thing).parameters.values() if p.default is p.empty
    ]:
        return thing()
    return thing
