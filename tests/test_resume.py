"""kill -9 at any moment: a real process, really killed, ends with the table of one that was not."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

FLAGS = ["liang2025/failure", "--tier", "quick", "--device", "cpu"]
SETTINGS = ["--seeds", "4", "--block", "2", "--width", "2", "--steps", "400", "--batch", "4"]
KILLS = 5


def start(out: Path) -> subprocess.Popen:

    command = [sys.executable, "-m", "recombine", "run", *FLAGS, *SETTINGS, "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(os.environ))


def table(out: Path) -> bytes:
    (path,) = out.glob("liang2025/failure/*/table.parquet")
    return path.read_bytes()


def test_a_run_killed_at_random_moments_ends_with_the_same_table(tmp_path):
    whole = start(tmp_path / "whole")
    assert whole.wait(timeout=300) == 0
    began = time.monotonic()
    assert start(tmp_path / "again").wait(timeout=300) == 0  # with a warm cache, as the killed ones will be
    length, moments = time.monotonic() - began, random.Random(0)
    cut = tmp_path / "cut"
    cells = cut / "liang2025" / "failure" / "cells"
    killed = since = tries = 0
    while killed < KILLS or not since:
        tries += 1
        assert tries < 5 * KILLS
        run = start(cut)
        # Every other kill strikes as soon as there is something new on disk to spoil, the rest anywhere.
        until = time.monotonic() + moments.uniform(0.2, 0.8) * length
        seen = set(cells.glob("*"))
        while time.monotonic() < until and run.poll() is None:
            if tries % 2 and set(cells.glob("*")) - seen:
                break
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)
        if run.wait() == -signal.SIGKILL:
            killed, since = killed + 1, since + 1
        else:  # it came to its end first: begin anew, so that there is something left to kill
            shutil.rmtree(cut)
            since = 0
    assert start(cut).wait(timeout=300) == 0
    assert table(cut) == table(tmp_path / "whole") == table(tmp_path / "again")
    assert not [p for p in cells.iterdir() if "checkpoint" in p.name or "draft" in p.name]
