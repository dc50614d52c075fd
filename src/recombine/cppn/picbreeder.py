"""Turns Picbreeder's genome files, and a user's folder of them, into genomes, networks and pictures.

A genome file is a zip with one XML document, as picbreeder.org and the repository of Kumar, Clune, Lehman, Stanley
(2025) hand them out. Nothing is downloaded, no XML entity is followed, no pickle is opened.
"""

from __future__ import annotations

import io
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile, ZipInfo

import jax.numpy as jnp
import numpy as np

from recombine.core import UserError
from recombine.cppn.genome import LARGEST_WEIGHT, Genome, Link, Node, layerise, load_genome, save_genome
from recombine.cppn.network import CPPN, Mix, from_weights
from recombine.cppn.task import grid

FOLDER = "RECOMBINE_ARTIFACTS"
"""The environment variable that names a user's folder of genomes."""
_LARGEST_XML = 4 * 2**20
_LARGEST_WEIGHTS = 64 * 2**20
_LARGEST_SOURCE = 4 * 2**30
_MOST_READ = 2**30
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, MemoryError, BadZipFile, zlib.error)
_SIZE = 256


def genome_from_zip(data: bytes) -> Genome:
    """The genome in the bytes of a genome file; raises a ValueError that says why there is none."""
    if len(data) > _LARGEST_XML:
        raise ValueError("no genome file (larger than 4 MiB)")
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            if len(members) != 1:
                raise ValueError(f"a genome file holds one XML document, this one {len(members)} files")
            text = _unpacked(archive, members[0], _LARGEST_XML).decode("utf-8")
    except _DAMAGE as error:
        raise ValueError(f"no genome file ({error})") from error
    return genome_from_xml(text)


def genome_from_xml(text: str) -> Genome:
    """The genome in an XML document; a document type (and so any entity of its own) is refused."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("the XML defines a document type, which no genome needs")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"the XML is damaged ({error})") from error
    found = root.find("genome")
    if found is None:
        raise ValueError("the XML holds no genome")
    nodes = tuple(_node(e) for e in found.iterfind("nodes/node"))
    links = tuple(
        Link(_identity(e, "source"), _identity(e, "target"), float(e.findtext("weight", "")))
        for e in found.iterfind("links/link")
    )
    return Genome(nodes, links)


def _node(element: ElementTree.Element) -> Node:
    if float(element.get("bias", 0)) != 0:
        raise ValueError("a node has a bias of its own, which these networks do not have")
    activation = element.findtext("activation", "").strip().removesuffix("(x)")
    return Node(_identity(element, "marking"), element.get("type", ""), element.get("label", ""), activation)


def _identity(element: ElementTree.Element, tag: str) -> str:
    found = element.find(tag)
    if found is None:
        raise ValueError(f"a {element.tag} of the XML has no {tag}")
    return f"{found.get('branch')}_{found.get('id')}"


def _unpacked(archive: ZipFile, member: ZipInfo, most: int) -> bytes:
    # What is read never exceeds the announced size, so announcing less than there is does not help a bomb.
    if member.file_size > most:
        raise ValueError(f"{member.filename[:80]!r} unpacks to {member.file_size} bytes, at most {most} are allowed")
    return archive.read(member)


class Imported(NamedTuple):
    """What an import wrote, and which files it passed over and why."""

    written: list[Path]
    skipped: dict[str, str]


def import_picbreeder(source: Path | str, destination: Path | str) -> Imported:
    """Write NAME.json and NAME.png (256 pixels per side, drawn here) for every genome file in `source`.

    `source` is a genome file, a folder searched to its bottom (say, a checkout of github.com/akarshkumar0101/fer), or a
    zip of such a folder. Names come from the files; what is already there stays as it is.
    """
    done, genomes, left = Imported([], {}), {}, _MOST_READ
    for where, data in _candidates(Path(source), done):
        if (left := left - len(data)) < 0:
            raise UserError(f"{source} holds more than {_MOST_READ >> 30} GiB of genome files: import a part of it")
        try:
            genome = genome_from_zip(data)
            layerise(genome)
        except ValueError as error:
            done.skipped[where] = str(error)[:200]
            continue
        if genomes.setdefault(_name(where), genome) != genome:
            done.skipped[where] = f"another genome is called {_name(where)} too"
    if not genomes:
        why = "".join(f"; {where}: {reason}" for where, reason in list(done.skipped.items())[:3])
        raise UserError(f"{source} holds no genome file (NAME.zip with one XML document){why}")
    try:
        Path(destination).mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".import-", dir=destination) as drafts:
            for name, genome in sorted(genomes.items()):
                _write(Path(destination) / f"{name}.json", genome, done, Path(drafts))
    except OSError as error:
        raise UserError(f"cannot write to {destination}: {error.strerror or error}") from error
    return done


def _candidates(source: Path, done: Imported) -> Iterator[tuple[str, bytes]]:
    """Every file in the source that may be a genome file: what it is called, and its bytes (of a large one, some)."""
    try:
        if not source.is_dir():
            _check_regular(source, _LARGEST_SOURCE)
            with ZipFile(source) as archive:
                nested = [m for m in archive.infolist() if m.filename.endswith(".zip")]
                for member in nested:
                    with archive.open(member) as file:
                        yield _printable(member.filename), file.read(_LARGEST_XML + 1)
            if nested:
                return
        for path in sorted(source.rglob("*.zip")) if source.is_dir() else [source]:
            if path.is_file():
                with path.open("rb") as file:
                    yield _printable(str(path)), file.read(_LARGEST_XML + 1)
            elif not path.is_dir():
                done.skipped[_printable(str(path))] = "is not a regular file"
    except _DAMAGE as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"cannot read {str(source)[:200]}: {why}") from error


def _check_regular(path: Path, most: int) -> None:
    """Refuse a pipe or a device, which could be read without end, and a file that is too large."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it is not a regular file")
    if found.st_size > most:
        raise ValueError(f"it has {found.st_size} bytes, at most {most} are allowed")


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[-300:]


def _name(where: str) -> str:
    stem = PurePosixPath(where).name.removesuffix(".zip").removesuffix(".genome")
    return re.sub(r"[^A-Za-z0-9_-]", "_", stem)[:100] or "genome"


def _write(path: Path, genome: Genome, done: Imported, drafts: Path) -> None:
    """Write a genome and its picture; what is already there stays as it is, and no symbolic link is followed."""
    from PIL import Image

    drawn = path.with_suffix(".png")
    for there in (path, drawn):
        if there.is_symlink() or there.exists():
            done.skipped[str(there)] = "is a symbolic link" if there.is_symlink() else "is already there"
            return
    picture = (255 * np.nan_to_num(render(network(genome), _SIZE))).astype(np.uint8)
    Image.fromarray(picture).save(drafts / drawn.name)
    save_genome(drafts / path.name, genome, name=path.stem)
    for one in (drawn, path):  # a rename replaces a link, and never writes to where it points
        (drafts / one.name).replace(one)
    done.written.extend([path, drawn])


class Artifact(NamedTuple):
    """One entry of a user's folder: a genome, and the file of a network that gradient descent made of its picture."""

    name: str
    genome: Genome
    sgd: Path | None


def artifacts(folder: Path | str | None, environment: Mapping[str, str]) -> list[Artifact]:
    """What a folder holds: every NAME.json, with its NAME_sgd.npz where there is one; without a folder, FOLDER's."""
    given = folder or environment.get(FOLDER)
    if not given:
        raise UserError(f"no folder of genomes: name one, or set {FOLDER}")
    if not Path(given).is_dir():
        raise UserError(f"there is no folder {given}")
    found = sorted(Path(given).glob("*.json"))
    if not found:
        raise UserError(
            f"{given} holds no genome (NAME.json); `recombine import picbreeder` makes them from genome files"
        )
    if other := [path for path in found if not path.is_file()]:
        raise UserError(f"{other[0]} is not a regular file: no genome can be read from it")
    twins = [path.with_name(f"{path.stem}_sgd.npz") for path in found]
    return [Artifact(p.stem, load_genome(p), t if t.is_file() else None) for p, t in zip(found, twins, strict=True)]


def network(genome: Genome) -> CPPN:
    """The genome as a layered network."""
    mix, _, matrices, _ = layerise(genome)
    return from_weights(mix, matrices)


def render(model: CPPN, size: int) -> np.ndarray:
    """The picture that a network draws, (size, size, 3) in 0..1."""
    return np.asarray(model(jnp.asarray(grid(size)))[0]).reshape(size, size, 3)


def load_network(path: Path | str, mix: Mix | None = None) -> tuple[CPPN, str]:
    """The network in a genome's JSON, or in an npz of matrices W00, W01, .. of this mix; and the file's name."""
    path = Path(path)
    try:
        _check_regular(path, _LARGEST_WEIGHTS)
        model = network(load_genome(path)) if mix is None else from_weights(mix, _matrices(path))
    except _DAMAGE as error:
        raise UserError(f"{path} holds no picture network: {error}") from error
    return model, path.stem


def _matrices(path: Path) -> list[np.ndarray]:
    with ZipFile(path) as archive:
        size = sum(m.file_size for m in archive.infolist())
        if size > _LARGEST_WEIGHTS:
            raise ValueError(f"it unpacks to {size} bytes, at most {_LARGEST_WEIGHTS} are allowed")
    with np.load(path, allow_pickle=False) as file:
        if sorted(file.files) != [f"W{i:02}" for i in range(len(file.files))]:
            raise ValueError("matrices W00, W01, .. were expected")
        found = [np.asarray(file[name]) for name in sorted(file.files)]
    if not all(np.issubdtype(m.dtype, np.floating) and np.all(np.abs(m) <= LARGEST_WEIGHT) for m in found):
        raise ValueError(f"its weights are not all numbers up to {LARGEST_WEIGHT:.0e}")
    return found
