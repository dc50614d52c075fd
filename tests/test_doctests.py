"""Every public function of the splits and the measures shows a tiny call in its docstring, and the result holds."""

from __future__ import annotations

import doctest
from importlib import import_module
from inspect import getmembers, isfunction
from pkgutil import iter_modules
from types import ModuleType

import pytest

from recombine import measures, splits

MODULES = [f"{kind.__name__}.{module.name}" for kind in (splits, measures) for module in iter_modules(kind.__path__)]


def without_example(module: ModuleType) -> list[str]:
    """The public functions that the module defines and whose docstring has no example."""
    own = [(name, f) for name, f in getmembers(module, isfunction) if f.__module__ == module.__name__]
    parser = doctest.DocTestParser()
    return [name for name, f in own if not name.startswith("_") and not parser.get_examples(f.__doc__ or "")]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_shows_an_example_that_holds(name):
    module = import_module(name)
    assert without_example(module) == []
    assert doctest.testmod(module).failed == 0


def test_a_function_without_an_example_is_found():
    module = ModuleType("made_up")
    exec('def shown():\n    """>>> 1 + 1\n    2\n    """\ndef bare(): ...\ndef _hidden(): ...', module.__dict__)
    assert without_example(module) == ["bare"]
