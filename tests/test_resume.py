"""kill -9 at any moment: a real process, really killed, ends with the table of one that was not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

FLAGS = ["liang2025/failure", "--tier", "quick", "--device", "cpu"]
SETTINGS = ["seeds=4", "block=2", "width=2", "steps=400", "batch=4"]
KILLS = 5


def start(out: Path) -> subprocess.Popen:
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [sys.executable, "-m", "recombine.engine", *FLAGS, *words, "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(os.environ))


def table(out: Path) -> bytes:
    (path,) = out.glob("liang2025/failure/*/table.parquet")
    return path.read_bytes()


def test_a_run_killed_at_random_moments_ends_with_the_same_table(tmp_path):
    whole = start(tmp_path / "whole")
    began = time.monotonic()
    assert whole.wait(timeout=300) == 0
    length, moments = time.monotonic() - began, random.Random(0)
    cells = tmp_path / "cut" / "liang2025" / "failure" / "cells"
    killed = 0
    while killed < KILLS:
        run = start(tmp_path / "cut")
        # Half of the kills strike as soon as there is something on disk to spoil, half anywhere.
        until = time.monotonic() + moments.uniform(0.3, 1.0) * length
        seen = set(cells.glob("*"))
        while time.monotonic() < until and run.poll() is None:
            if killed % 2 and set(cells.glob("*")) - seen:
                break
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        killed += 1
    last = start(tmp_path / "cut")
    assert last.wait(timeout=300) == 0
    assert table(tmp_path / "cut") == table(tmp_path / "whole")
    assert not list(cells.glob("*.checkpoint.npz"))
