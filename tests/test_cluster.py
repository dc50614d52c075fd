"""Cells on a Ray cluster give the table that they give here."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("ray", reason="the extra 'ray' is not installed")


@pytest.mark.slow
def test_a_cluster_gives_the_same_table(tmp_path):
    words = ["run", "liang2025/failure", "--tier", "quick", "--device", "cpu", "--block", "1"]
    for out, more in (("here", []), ("there", ["--ray", "local"])):
        command = [sys.executable, "-m", "recombine", *words, "--out", str(tmp_path / out), *more]
        subprocess.run(command, check=True, timeout=300)
    here, there = (next((tmp_path / out).rglob("table.parquet")).read_bytes() for out in ("here", "there"))
    assert here == there
