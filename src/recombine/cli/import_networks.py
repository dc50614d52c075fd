"""What the command line takes in: third-party networks, turned into a folder that experiments can read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recombine.cli.options import parse
from recombine.core import UserError

SOURCES = ("picbreeder",)


@dataclass(frozen=True)
class Into:
    """Where the networks go."""

    to: Path = Path("artifacts")
    """folder to make, or to add to; nothing in it is overwritten"""


def import_networks(words: list[str]) -> int:
    """Make a folder of evolved networks from the files that their makers published."""
    named = [word for word in words[:2] if not word.startswith("-")]
    where = parse(
        Into,
        words[len(named) :],
        "recombine import picbreeder SOURCE",
        "Turn Picbreeder's genome files (a zip with one XML each; SOURCE is one, or a folder of them, such as a"
        " checkout of github.com/akarshkumar0101/fer) into a folder of networks and pictures. Nothing is downloaded.\n"
        "Example: recombine import picbreeder fer/ --to artifacts, then recombine run kumar2025/fracture --artifacts"
        " artifacts",
    )
    if len(named) < 2 or named[0] not in SOURCES:
        raise UserError("say what from where: recombine import picbreeder SOURCE (--help says where to get it)")
    from recombine.cppn.picbreeder import import_picbreeder

    done = import_picbreeder(named[1], where.to)
    print(*done.written, sep="\n")
    for name, why in done.skipped.items():
        print(f"passed over: {name}: {why}")
    print(
        f"{len(done.written)} new files in {where.to}; use it with --artifacts {where.to}, or set RECOMBINE_ARTIFACTS"
    )
    return 0
