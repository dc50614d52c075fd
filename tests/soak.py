"""Kills runs at random moments for SOAK_SECONDS (600): what they end with must be the table of an unbroken run.

Run it with `make soak`. SOAK_SEED chooses the moments.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

STUDY = '''
"""Is a sum of many random numbers the same, however often it is broken off?"""
import time
from dataclasses import dataclass
import numpy as np
import recombine as rc
from recombine.train.monitor import Progress

STEPS = 12

@dataclass(frozen=True)
class Settings:
    seeds: int = 60

QUICK = LAPTOP = GPU = PAPER = Settings()

@dataclass(frozen=True)
class Cell:
    settings: Settings
    members: tuple[int, ...]

def cells(settings):
    return [Cell(settings, (seed,)) for seed in range(settings.seeds)]

def run(cell, monitor):
    saved = monitor.resume("fit") or {"done": 0, "total": np.zeros((8, 8))}
    done, total = int(saved["done"]), saved["total"]
    while done < STEPS:
        total = total + np.random.default_rng([cell.members[0], done]).normal(size=(8, 8))
        time.sleep(0.004)
        done += 1
        state = {"done": np.asarray(done), "total": total}
        monitor.chunk("fit", Progress(done, STEPS, 1, float(total.mean())), lambda: state)
    return [{"condition": "net", "seed": cell.members[0], "value": total.sum(), "map": total, "diverged_at": -1}]

CLAIMS = ()

def figure(settings, table):
    return rc.plots.panels(1, 1)[0]
'''
REAL = ["liang2025/failure", "--seeds", "4", "--block", "2", "--width", "2", "--steps", "400"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_KILLS = 25
"""In one round; then the run is left in peace, so that a slow machine also comes to its end."""


@dataclass
class Soak:
    """A place to run in, how long, and what has happened so far."""

    place: Path
    until: float
    moments: random.Random
    kills: Counter = field(default_factory=Counter)
    restarts: int = 0
    tables: int = 0
    troubles: list[str] = field(default_factory=list)

    def start(self, words: list[str], out: Path) -> subprocess.Popen:
        command = [sys.executable, "-m", "recombine", "run", *words, "--tier", "quick", "--device", "cpu"]
        with open(self.place / "log", "ab") as log:
            return subprocess.Popen([*command, "--out", str(out)], stdout=log, stderr=log)

    def finish(self, words: list[str], out: Path) -> tuple[bytes, float]:
        """The table of a run that nobody kills, and how long it took."""
        began = time.monotonic()
        if code := self.start(words, out).wait(timeout=600):
            self.troubles.append(f"exit code {code} without a kill: {words[0]}")
            return b"", 0.0
        return next(out.rglob("table.parquet")).read_bytes(), time.monotonic() - began

    def kill_once(self, words: list[str], out: Path, length: float) -> bool:
        """Start a run and kill it at some moment; whether it came to its end before."""
        run, seen = self.start(words, out), set(out.rglob("cells/*"))
        moment = time.monotonic() + self.moments.uniform(0, 1.1) * length
        # Every other kill strikes soon after something new is on the disk, the rest anywhere.
        eager = self.moments.random() < 0.5
        while time.monotonic() < moment and run.poll() is None:
            if eager and set(out.rglob("cells/*")) - seen:
                moment, eager = time.monotonic() + self.moments.uniform(0, 0.3), False
            time.sleep(0.002)
        how = self.moments.choice(SIGNALS)
        run.send_signal(how)
        code = run.wait(timeout=120)
        if code:
            self.kills[how.name] += 1
            if code not in (-how, 130) and how != signal.SIGINT:
                self.troubles.append(f"exit code {code} after {how.name}")
        return code == 0

    def round(self, words: list[str], expected: bytes, length: float) -> None:
        """Kill a run until it ends by itself, and compare its table."""
        out, tries, ended = self.place / "cut", 0, False
        shutil.rmtree(out, ignore_errors=True)
        while not ended and tries < MOST_KILLS and time.monotonic() < self.until:
            ended, tries = self.kill_once(words, out, length), tries + 1
            self.restarts += not ended
        found, _ = self.finish(words, out)
        self.tables += 1
        if found != expected:
            self.troubles.append(f"another table after {tries} kills: {words[0]}")
        if left := [p.name for p in out.rglob("*") if "checkpoint" in p.name or "draft" in p.name]:
            self.troubles.append(f"left behind: {', '.join(left)}")


def main() -> int:
    seconds = float(os.environ.get("SOAK_SECONDS", "600"))
    seed = int(os.environ.get("SOAK_SEED", time.time_ns() % 2**32))
    print(f"soak of {seconds:g} s, SOAK_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), time.monotonic() + seconds, random.Random(seed))
        (soak.place / "study.py").write_text(STUDY)
        small, rounds = [str(soak.place / "study.py")], 0
        whole = {kind: soak.finish(words, soak.place / kind) for kind, words in (("small", small), ("real", REAL))}
        while time.monotonic() < soak.until and not soak.troubles:
            kind = "real" if rounds % 4 == 3 else "small"
            soak.round(REAL if kind == "real" else small, *whole[kind])
            rounds += 1
        if soak.troubles:
            print((soak.place / "log").read_text(errors="replace")[-3000:])
    told = ", ".join(f"{count} {name}" for name, count in sorted(soak.kills.items()))
    print(f"{soak.kills.total()} kills ({told}), {soak.restarts} restarts, {soak.tables} finished tables")
    print("\n".join(soak.troubles) or "every table is that of an unbroken run, byte for byte")
    return 1 if soak.troubles or not soak.tables else 0


if __name__ == "__main__":
    sys.exit(main())
