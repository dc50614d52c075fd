"""Does a neural network recombine what it knows, or only remember it?

The lab's words, flat: `import recombine as rc`, then `rc.bumps(...)`, `rc.population(...)`, `rc.judge(...)`.
Each is imported when it is first used, so that naming an experiment does not wait for JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "core": "ABSENT Check Claim Model Record Split Task UserError",
    "tasks.bumps": "bumps intensity",
    "splits": "corner draw interior narrow random_fraction square whole",
    "encodings": "local_bump one_hot",
    "models.cnn": "CNNDecoder",
    "interventions.augment": "stripes",
    "measures.error": "error_map errors mse nmse",
    "measures.peak": "misplacement peak_accuracy peak_map peaks",
    "measures.controls": "blind nearest_memory superposition",
    "train": "Recipe adamw adamw_cosine fit member_keys population",
    "recording": "load_model load_record record records save_model save_record truth",
    "claims": "Verdict by_seed interval judge judge_all",
}
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}
_MODULES = {"plots"}
__all__ = sorted([*_WHERE, *_MODULES, "__version__"])  # noqa: PLE0605

if TYPE_CHECKING:
    from recombine import plots as plots
    from recombine.claims import *  # noqa: F403
    from recombine.core import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"recombine.{name}")
    if name not in _WHERE:
        raise AttributeError(f"recombine has no {name!r}")
    return getattr(import_module(f"recombine.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
