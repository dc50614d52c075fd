"""Runs a list of experiments side by side on one machine, within a given time: how committed evidence is made.

    python tests/evidence.py LIST --commit HASH --to FOLDER --seconds 540 --gpu 4 --cpu 3

Each line of LIST is a device and what follows `recombine run`, longest first:

    gpu do2026/pruning --tier gpu
    cpu liang2025/failure --tier laptop

`tests/gpu_runs.txt` has those whose gpu tables are stale or lack variants, paper by paper, longest first.

CPU runs have two cores each (one, where there are fewer), and GPU runs an equal part of the rest each: the fewer its
cores, the fewer cells a run begins at a time, and the more of them are finished when the time is over. What was not
finished in time is ended gently and goes on when the same command is given again.
Tables go to FOLDER/results. After every run FOLDER/PAPER.tgz has those of all finished ones, and FOLDER/unfinished.tgz
the finished cells of all others: `--resume unfinished.tgz` goes on from them on another machine, if the code that makes
them is the same. `tests/unfinished.tgz` has those of lines of `tests/gpu_runs.txt`, until their tables are whole.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tarfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

GRACE = 25.0
"""Seconds that a run has to write its checkpoint when the time is over."""
FINISHED = "finished.txt"
"""The lines that ended well, which are not run again."""


@dataclass
class Runs:
    """What is still to do, what is done, and until when."""

    commit: str
    folder: Path
    until: float
    asked: list[str]
    lines: list[str]
    at_work: set[str] = field(default_factory=set)
    finished: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, device: str) -> str | None:
        """The first line of this device that nobody has taken; not of an experiment at work, whose folder is locked."""
        while time.time() < self.until - GRACE:
            with self.lock:
                mine = [line for line in self.lines if line.split()[0] == device]
                free = [line for line in mine if line.split()[1] not in self.at_work]
                if free:
                    self.lines.remove(free[0])
                    self.at_work.add(free[0].split()[1])
                    return free[0]
            if not mine:
                return None
            time.sleep(1.0)
        return None

    def ended(self, line: str, seconds: float, status: int) -> None:
        """Write down how a run ended; one that ended well is not run again. Pack what there is by now."""
        with self.lock:
            self.at_work.discard(line.split()[1])
            print(f"{seconds:6.0f} s  exit {status}  {line}", flush=True)
            if status == 0:
                self.finished.append(line)
                (self.folder / FINISHED).write_text("\n".join(self.finished))
            pack(self.folder, {left.split()[1] for left in self.asked if left not in self.finished})


def environment(device: str, gpus: int) -> dict[str, str]:
    """What a run needs to share the machine: its device, its part of the GPU's memory, and one thread for NumPy."""
    memory = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{0.92 / max(gpus, 1):.3f}"}
    share = {**memory, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} if device == "gpu" else {}
    platform = {"JAX_PLATFORMS": "cpu"} if device == "cpu" else {}
    source = str(Path(__file__).resolve().parents[1] / "src")
    return {**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": "1", **share, **platform}


def lane(runs: Runs, device: str, cores: set[int], gpus: int) -> None:
    """Take one run after the other until none is left, or the time is over."""
    while line := runs.next(device):
        name, *flags = shlex.split(line)[1:]
        log = runs.folder / f"{name.replace('/', '-')}-{device}.log"
        command = [sys.executable, "-m", "recombine", "run", name, *flags, "--commit", runs.commit]
        begin = time.time()
        with log.open("a") as file:
            process = subprocess.Popen(
                [*command, "--out", str(runs.folder / "results")],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment(device, gpus),
            )
            os.sched_setaffinity(process.pid, cores)
            try:
                status = process.wait(max(runs.until - GRACE - time.time(), 1.0))
            except subprocess.TimeoutExpired:
                process.terminate()
                status = process.wait()
        runs.ended(line, time.time() - begin, status)


def forget_folder(results: Path) -> None:
    """Take this machine's folder out of the commands that finished runs have kept: they are the same anywhere."""
    for facts in results.glob("*/*/*/settings.json"):
        facts.write_text(facts.read_text().replace(f" --out {results}", ""))


def pack(folder: Path, unfinished: set[str]) -> None:
    """One archive per paper without the cells, and one of the cells of experiments that have unfinished runs."""
    results = folder / "results"
    forget_folder(results)
    for paper in sorted(results.glob("*")):
        tables = paper.glob("*/*/table.parquet")
        files = [file for table in tables for file in table.parent.glob("*.*") if file.name != ".lock"]
        _archive(folder / f"{paper.name}.tgz", results, files)
    cells = [cell for name in sorted(unfinished) for cell in (results / name).glob("**/cells/*.parquet")]
    _archive(folder / "unfinished.tgz", results, cells)


def _archive(to: Path, root: Path, files: list[Path]) -> None:
    with tarfile.open(to, "w:gz") as archive:
        for file in sorted(files):
            if file.is_file():
                archive.add(file, arcname=str(file.relative_to(root)))


def main() -> None:
    """Share the machine's cores among the lanes, run, and pack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("--commit", required=True, help="the clean commit that this code is, in full")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--gpu", type=int, default=0, help="GPU runs side by side")
    parser.add_argument("--cpu", type=int, default=1, help="CPU runs side by side")
    parser.add_argument("--resume", type=Path, help="finished cells of an earlier call, as it packed them")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    if given.resume:
        with tarfile.open(given.resume) as archive:
            archive.extractall(given.to / "results", filter="data")
    before = given.to / FINISHED
    done = before.read_text().splitlines() if before.exists() else []
    lines = [line.strip() for line in given.list.read_text().splitlines() if line.strip()]
    left = [line for line in lines if line not in done]
    runs = Runs(given.commit, given.to, time.time() + given.seconds, lines, left, finished=done)
    cores = sorted(os.sched_getaffinity(0))
    each = 2 if len(cores) >= 2 * given.cpu else 1
    shares = [set(cores[-each * (n + 1) :][:each]) for n in range(given.cpu)]
    rest = sorted(set(cores) - set().union(*shares))
    parts = [set(rest[n :: given.gpu]) or set(cores) for n in range(given.gpu)]
    lanes = [("gpu", part) for part in parts] + [("cpu", share) for share in shares]
    threads = [threading.Thread(target=lane, args=(runs, *one, given.gpu)) for one in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
