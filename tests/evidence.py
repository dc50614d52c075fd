"""Runs a list of experiments side by side on one machine, within a given time: how committed evidence is made.

    python tests/evidence.py LIST --commit HASH --to FOLDER --seconds 540 --gpu 4 --cpu 3

Each line of LIST is a device and what follows `recombine run`, longest first:

    gpu do2026/pruning --tier gpu
    cpu liang2025/failure --tier laptop

`tests/gpu_runs.txt` has those whose gpu tables are missing or stale, paper by paper, longest first.

CPU runs have two cores each (one, where there are fewer), and GPU runs share the rest; there NumPy has one thread for
each, since their networks are measured side by side. What was not finished in time is ended gently and goes on when the
same command is given again.
Tables go to FOLDER/results. FOLDER/PAPER.tgz has those of every finished run, and FOLDER/unfinished.tgz the finished
cells of all others: `--resume unfinished.tgz` goes on from them on another machine, if the commit is the same.
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


@dataclass
class Runs:
    """What is still to do, what is done, and until when."""

    commit: str
    folder: Path
    until: float
    lines: list[str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, device: str) -> str | None:
        """The first line of this device that nobody has taken."""
        with self.lock:
            mine = [line for line in self.lines if line.split()[0] == device]
            if not mine or time.time() > self.until - GRACE:
                return None
            self.lines.remove(mine[0])
            return mine[0]

    def finished(self, line: str, seconds: float, status: int) -> None:
        """Write down how a run ended; one that ended well is not run again."""
        with self.lock:
            print(f"{seconds:6.0f} s  exit {status}  {line}", flush=True)
            if status == 0:
                with (self.folder / "finished.txt").open("a") as file:
                    file.write(line + "\n")


def environment(device: str, gpus: int) -> dict[str, str]:
    """What a run needs to share the machine: its device, and its part of the GPU's memory."""
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
        runs.finished(line, time.time() - begin, status)


def forget_folder(results: Path) -> None:
    """Take this machine's folder out of the commands that finished runs have kept: they are the same anywhere."""
    for facts in results.glob("*/*/*/settings.json"):
        facts.write_text(facts.read_text().replace(f" --out {results}", ""))


def pack(folder: Path) -> None:
    """One archive per paper without the cells, and one of the cells of experiments that have unfinished runs."""
    results = folder / "results"
    forget_folder(results)
    for paper in sorted(results.glob("*")):
        tables = paper.glob("*/*/table.parquet")
        files = [file for table in tables for file in table.parent.glob("*.*") if file.name != ".lock"]
        _archive(folder / f"{paper.name}.tgz", results, files)
    done = {line.split()[1] for line in finished(folder)}
    cells = results.rglob("cells/*.parquet")
    _archive(
        folder / "unfinished.tgz", results, [c for c in cells if "/".join(c.relative_to(results).parts[:2]) not in done]
    )


def _archive(to: Path, root: Path, files: list[Path]) -> None:
    with tarfile.open(to, "w:gz") as archive:
        for file in sorted(files):
            if file.is_file():
                archive.add(file, arcname=str(file.relative_to(root)))


def finished(folder: Path) -> list[str]:
    """The lines that ended well before."""
    path = folder / "finished.txt"
    return path.read_text().splitlines() if path.exists() else []


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
    done = finished(given.to)
    lines = [line.strip() for line in given.list.read_text().splitlines() if line.strip()]
    runs = Runs(given.commit, given.to, time.time() + given.seconds, [line for line in lines if line not in done])
    cores = sorted(os.sched_getaffinity(0))
    each = 2 if len(cores) >= 2 * given.cpu else 1
    shares = [set(cores[-each * (n + 1) :][:each]) for n in range(given.cpu)]
    rest = set(cores) - set().union(*shares) if given.gpu else set()
    lanes = [("gpu", rest)] * given.gpu + [("cpu", share) for share in shares]
    threads = [threading.Thread(target=lane, args=(runs, *one, given.gpu)) for one in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pack(given.to)


if __name__ == "__main__":
    main()
