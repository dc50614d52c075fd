"""What tests share: JAX's compilation cache in a folder of its own, and one small trained population."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
CACHE = Path(tempfile.gettempdir()) / f"recombine-test-cache-{os.getuid()}"
os.environ["RECOMBINE_CACHE"] = str(CACHE)


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> None:
    from recombine.engine import prepare

    prepare(device="cpu", cache=CACHE)


@pytest.fixture(scope="module", autouse=True)
def few_programs() -> Iterator[None]:
    yield
    from recombine.engine import machine

    machine.forget_programs()
