"""What tests share: quick compilation, JAX's cache of programs in a folder of its own, one small trained population."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
CACHE = Path(tempfile.gettempdir()) / f"recombine-test-cache-{os.getuid()}"
os.environ["RECOMBINE_CACHE"] = str(CACHE)


def pytest_configure(config: pytest.Config) -> None:
    """Most of the time is compilation of programs that run once: unoptimised, the suite takes a quarter less."""
    if config.option.markexpr != "slow":
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> None:
    from recombine.engine import prepare

    prepare(device="cpu", cache=CACHE)


@pytest.fixture(scope="module", autouse=True)
def few_programs() -> Iterator[None]:
    yield
    from recombine.engine import machine

    machine.forget_programs()
