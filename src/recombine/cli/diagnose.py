"""recombine diagnose: does my model compose or memorize? And recombine layers: what its layers are called."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli.options import parse
from recombine.cli.streams import complain
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


@dataclass(frozen=True)
class LayersOptions:
    """Where the data are, if shapes are wanted."""

    data: str = ""
    """module:function that returns a dict with x, for the shapes of one example"""


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
    from recombine.diagnosis.several import named_apart
    from recombine.diagnosis.summary import of_several

    found, bad = _found(given, options)
    found = named_apart(found)
    for one in found:
        print(f"{one}\n")
    if len(found) > 1:
        print(f"{of_several(found)}\n")
    print(*save(found, options.out), sep="\n")
    for said in bad:
        complain(said)
    return 2 if bad else 0


def layers(words: list[str]) -> int:
    """Print the names of a PyTorch model's layers, with their shapes where data are given."""
    from recombine.diagnosis.from_torch import is_torch, list_layers

    given, flags = _split(words)
    options = parse(
        LayersOptions,
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
    data = _data(options.data, ("x",)) if options.data else {}
    for name, kind, shape in list_layers(model, data.get("x")):
        print(f"{name:32} {kind:20} {shape}".rstrip())
    return 0


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Names before the first flag, and flags."""
    cut = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    return words[:cut], words[cut:]


def _found(given: list[str], options: DiagnoseOptions) -> tuple[list[Diagnosis], list[str]]:
    """The diagnoses, and what is wrong with those that could not be made; if none could be, that is raised."""
    if options.demo:
        from recombine.diagnosis.demo import demo

        return demo(), []
    if not given:
        raise UserError("give a file of arrays or MODULE:MODEL; 'recombine diagnose --demo' needs nothing")
    ask = _of_models(options) if options.data else _of_files(given, options)
    found, bad = [], []
    for word in given:
        try:
            found.append(ask(word))
        except UserError as error:
            bad.append(str(error) if word in str(error) else f"{word}: {error}")
    if not found:
        raise UserError("; ".join(bad))
    return found, bad


def _of_models(options: DiagnoseOptions) -> Callable[[str], Diagnosis]:
    """A function from MODULE:MODEL to its diagnosis."""
    from recombine.diagnosis.doors import diagnose as door

    data = _data(options.data, ("x", "y", "factors", "trained"))
    more: dict[str, Any] = {
        "layers": options.layers or None,
        "output": _output(options.output),
        "names": data.get("names"),
    }
    more |= {"factors": data["factors"], "trained": data["trained"]}

    def ask(word: str) -> Diagnosis:
        model = _made(_imported(word))
        try:
            return door(model, (data["x"], data["y"]), name=word, **more)
        except UserError as error:
            hint = "; if it makes a model, it must take no argument" if inspect.isfunction(model) else ""
            raise UserError(f"{error}{hint}") from error

    return ask


def _of_files(given: list[str], options: DiagnoseOptions) -> Callable[[str], Diagnosis]:
    """A function from a file or folder to its diagnosis."""
    from recombine.diagnosis.doors import diagnose as door

    if options.output:
        raise UserError("--output chooses among the outputs of a model; files have y_hat only")
    for word in given:
        if ":" in word and not Path(word).exists():
            raise UserError(f"{word} is a model, so name its data too: --data {word.partition(':')[0]}:data")
    names = dict(zip(given, _short([Path(word) for word in given]), strict=True))

    def ask(word: str) -> Diagnosis:
        if not Path(word).exists():
            raise UserError(f"there is no file or folder {word}")
        return door(word, layers=options.layers or None, name=names[word])

    return ask


def _short(paths: list[Path]) -> list[str]:
    """The stems of files, with folders before them as far as they need them to differ."""
    whole = [path.resolve().with_suffix("").parts for path in paths]
    most = max(map(len, whole))
    names = ["/".join(parts[-1:]) for parts in whole]
    for depth in range(2, most + 1):
        names = [
            "/".join(parts[-depth:]) if names.count(name) > 1 else name
            for name, parts in zip(names, whole, strict=True)
        ]
    return names


def _data(word: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """What a data function returns, if it is a dict with what is needed."""
    found = _made(_imported(word))
    if not isinstance(found, Mapping):
        what = "a dict with x, y, factors and trained"
        raise UserError(f"{word} must return {what}; it is a {type(found).__name__}")
    missing = [k for k in needed if k not in found]
    if missing:
        raise UserError(f"{word} must return a dict with x, y, factors and trained; it lacks {missing[0]}")
    return dict(found)


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
    if not inspect.isfunction(thing):
        return thing
    needed = [
        p.name
        for p in inspect.signature(thing).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(needed) > 1:
        said = f"{thing.__name__} needs {' and '.join(needed)}, but it is called without arguments"
        raise UserError(f"{said}: give them usual values; a model takes one example")
    return thing if needed else thing()
