"""Arrays of any framework and language as evidence: a dict, a Record, an npz file, or a folder of npy files.

Names: `z` or `factors` (or one array `factor/NAME` each), `trained`, `y` or `targets`, `y_hat` or `outputs`, and where
there are any `x` or `inputs` and `acts/LAYER`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from recombine.core import Record, UserError
from recombine.diagnosis.evidence import Evidence, gather
from recombine.diagnosis.reading import as_array

ALIASES = {
    "factors": ("factors", "z", "labels"),
    "trained": ("trained", "train", "seen"),
    "targets": ("targets", "y", "target"),
    "outputs": ("outputs", "y_hat", "output", "predictions"),
    "inputs": ("inputs", "x", "input"),
    "names": ("names", "factor_names"),
}
NAMELESS = "none by name (a JAX model names its layers by returning y and a dict of them)"
_LAYERS, _FACTORS = ("acts/", "layers/"), ("factor/", "factors/")


def from_arrays(given: Any, *, layers: Sequence[str] | None = None, **more: Any) -> Evidence:
    """Evidence from a mapping of arrays, with what the caller adds or replaces."""
    known = {k: v for k, v in more.items() if v is not None}
    arrays = {**_opened(given), **known}
    said = {noun: next((arrays[name] for name in names if name in arrays), None) for noun, names in ALIASES.items()}
    apart = {k.split("/", 1)[1]: v for k, v in arrays.items() if k.startswith(_FACTORS)}
    said["factors"] = apart or said["factors"]
    for noun in ("factors", "targets", "outputs"):
        if said[noun] is None:
            names = " or ".join(repr(n) for n in ALIASES[noun])
            raise UserError(f"{noun} are missing: give {names}; there are {', '.join(map(repr, arrays)) or 'none'}")
    found = dict(arrays.get("acts") or {}) if isinstance(arrays.get("acts"), Mapping) else {}
    found |= {k.split("/", 1)[1]: v for k, v in arrays.items() if k.startswith(_LAYERS)}
    kept = {name: found[name] for name in choose_layers(list(found), layers)}
    if said["inputs"] is not None and as_array(said["inputs"][:1], "inputs").dtype.kind in "fiub":
        kept = {"input": said["inputs"], **kept}
    names = None if said["names"] is None else [str(n) for n in as_array(said["names"], "names")]
    return gather(said["factors"], said["trained"], said["targets"], said["outputs"], kept, names=names)


def choose_layers(there: list[str], wanted: Sequence[str] | None) -> list[str]:
    """The layers that are asked for by name or glob, in the model's order; all if none are named."""
    if wanted is None:
        return there
    if isinstance(wanted, str):
        wanted = [wanted]
    for word in wanted:
        if not any(name == word or fnmatchcase(name, word) for name in there):
            near = get_close_matches(word, there, n=1, cutoff=0.4)
            hint = f": did you mean {near[0]!r}?" if near else f"; it has {', '.join(there[:12]) or NAMELESS}"
            raise UserError(f"the model has no layer {word!r}{hint}")
    return [name for name in there if any(name == w or fnmatchcase(name, w) for w in wanted)]


def _opened(given: Any) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    if isinstance(given, Record):
        acts = {f"acts/{name}": a for name, a in given.acts.items()}
        return {"z": given.z, "x": given.x, "y": given.y, "y_hat": given.y_hat, **acts}
    path = Path(given)
    if path.is_dir():
        files = sorted(path.rglob("*.npy"))
        if not files:
            raise UserError(f"{path} has no .npy files")
        return {str(f.relative_to(path).with_suffix("")): _loaded(f) for f in files}
    found = _loaded(path)
    if not isinstance(found, Mapping):
        raise UserError(
            f"{path} has one array: give an npz file, or a folder of npy files, with z, trained, y and y_hat"
        )
    return found


def _loaded(path: Path) -> Any:
    """An array that stays on disk until it is read, or the arrays of an npz file."""
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError as error:
        raise UserError(f"{path} cannot be read as npz or npy: there is no such file") from error
    except (OSError, ValueError, EOFError, BadZipFile, AttributeError) as error:
        objects = "Object arrays" in str(error)
        said = (
            "it has an array of Python objects; save words as np.array(words, dtype=str)"
            if objects
            else ("it is no such file, or a broken one")
        )
        raise UserError(f"{path} cannot be read as npz or npy: {said}") from error
