"""Genome files, folders of them, and the evolved pictures of Picbreeder where they are at hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

from recombine.core import UserError
from recombine.cppn.genome import Genome, Layered, Link, Node, hsv_of, layerise, load_genome, save_genome
from recombine.cppn.network import CPPN, hsv_to_rgb, parse_mix, write_mix
from recombine.cppn.picbreeder import (
    FOLDER,
    artifacts,
    genome_from_xml,
    genome_from_zip,
    import_picbreeder,
    load_network,
    network,
    render,
)
from recombine.cppn.task import grid

DATA = Path(__file__).parents[2] / "shared" / "data" / "picbreeder"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the evolved pictures are not at {DATA}")
TABLE = {
    "skull": ("12;cache:15,gaussian:4,identity:2,sin:1", 147, 57),
    "butterfly": ("16;cache:17,gaussian:4,sigmoid:1,sin:1", 281, 108),
    "apple": ("33;cache:28,gaussian:3,sigmoid:5,sin:2", 918, 264),
}
GENOME = Genome(
    (
        Node("7_0", "in", "bias", "identity"),
        Node("7_1", "in", "d", "identity"),
        Node("7_4", "out", "ink", "gaussian"),
        Node("8_2", "hidden", "", "sin"),
    ),
    (Link("7_1", "8_2", 5.5), Link("8_2", "7_4", -1.25), Link("7_0", "7_4", 0.5)),
)


def xml(genome: Genome, *, head: str = '<?xml version="1.0" encoding="UTF-8"?>', more: str = "") -> str:
    def mark(tag: str, name: str) -> str:
        branch, number = name.split("_")
        return f'<{tag} branch="{branch}" id="{number}"/>'

    nodes = "".join(
        f'<node type="{n.type}" label="{n.label}" {more}>'
        f"{mark('marking', n.id)}<activation>{n.activation}(x)</activation></node>"
        for n in genome.nodes
    )
    links = "".join(
        f"<link>{mark('source', k.source)}{mark('target', k.target)}<weight>{k.weight!r}</weight></link>"
        for k in genome.links
    )
    return f'{head}<data version="1.0"><genome age="3"><nodes>{nodes}</nodes><links>{links}</links></genome></data>'


def graph_picture(genome: Genome, size: int) -> np.ndarray:
    hsv = jnp.asarray(hsv_of(genome, grid(size)), jnp.float32)
    return np.asarray(hsv_to_rgb(hsv)).reshape(size, size, 3)


def zipped(*contents: str | bytes, names: Sequence[str] = "abc") -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in zip(names, contents, strict=False):
            archive.writestr(name, content)
    return sink.getvalue()


class Evolved(NamedTuple):
    name: str
    genome: Genome
    layered: Layered
    model: CPPN
    stored: dict[str, Any]
    png: np.ndarray


@pytest.fixture(scope="module", params=TABLE)
def evolved(request) -> Evolved:
    path = DATA / f"{request.param}.json"
    genome, stored = load_genome(path), json.loads(path.read_text())["layerised"]
    png = np.asarray(Image.open(path.with_suffix(".png")), int)
    return Evolved(request.param, genome, layerise(genome), network(genome), stored, png)


@needs_data
def test_the_layers_are_those_published(evolved):
    arch, nonzero, links = TABLE[evolved.name]
    mix, depth, matrices, slots = evolved.layered
    assert write_mix(depth, mix) == evolved.stored["arch"] == arch
    assert len(evolved.genome.links) == links
    assert sum(np.count_nonzero(m) for m in matrices) == nonzero
    wanted = [np.zeros(shape) for shape in evolved.stored["shapes"]]
    for layer, row, column, weight in evolved.stored["weights"]:
        wanted[layer][row, column] = weight
    assert max(np.abs(a - b).max() for a, b in zip(matrices, wanted, strict=True)) <= 1e-6
    assert slots == [{int(unit): node for unit, node in held.items()} for held in evolved.stored["slots"]]


@needs_data
def test_graph_layers_and_published_picture_agree(evolved):
    drawn = render(evolved.model, 256)
    assert np.abs(drawn - graph_picture(evolved.genome, 256)).max() <= 1e-4
    difference = np.abs(np.floor(255 * drawn) - evolved.png)
    assert difference.mean() <= 1
    assert difference.max() <= 40


def rounded(a: np.ndarray) -> np.ndarray:
    """To 10 bits after the leading one, nearest even: what a TF32 product makes of its operands."""
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)).view(np.float32)


@needs_data
def test_the_published_picture_was_drawn_with_rounded_products(evolved):
    units = {"gaussian": lambda z: 2 * np.exp(-(z**2)) - 1, "sigmoid": lambda z: np.tanh(z / 2), "sin": np.sin}
    h, ends = grid(256), np.cumsum([count for _, count in evolved.layered.mix])
    for matrix in evolved.layered.matrices[:-1]:
        groups = np.split(rounded(h) @ rounded(matrix), ends[:-1], axis=1)
        kinds = [units.get(kind, lambda z: z) for kind, _ in evolved.layered.mix]
        h = np.concatenate([unit(g) for unit, g in zip(kinds, groups, strict=True)], axis=1)
    rgb = np.asarray(hsv_to_rgb(jnp.asarray(rounded(h) @ rounded(evolved.layered.matrices[-1]))))
    assert np.abs(np.floor(255 * rgb).reshape(evolved.png.shape) - evolved.png).max() <= 3


@needs_data
def test_an_original_file_holds_the_genome_of_the_json(evolved):
    assert genome_from_zip((DATA / f"{evolved.name}.genome.zip").read_bytes()) == evolved.genome


@needs_data
def test_the_network_that_descent_made_draws_the_same_picture(evolved):
    model, name = load_network(DATA / f"{evolved.name}_sgd.npz", evolved.model.mix)
    assert name == f"{evolved.name}_sgd"
    assert [w.shape for w in model.weights] == [w.shape for w in evolved.model.weights]
    assert np.mean((render(model, 64) - render(evolved.model, 64)) ** 2) < 2e-3


@needs_data
def test_the_folder_of_evolved_pictures_is_listed_and_imported(tmp_path):
    found = artifacts(None, {FOLDER: str(DATA)})
    assert [a.name for a in found] == sorted(TABLE)
    assert all(a.sgd and a.sgd.exists() for a in found)
    done = import_picbreeder(DATA, tmp_path / "mine")
    assert [a.genome for a in artifacts(tmp_path / "mine", {})] == [a.genome for a in found]
    assert len(done.written) == 6
    assert not done.skipped
    drawn = np.asarray(Image.open(tmp_path / "mine" / "skull.png"), int)
    assert np.abs(drawn - np.asarray(Image.open(DATA / "skull.png"), int)).mean() <= 1


def test_a_genome_comes_back_from_xml_and_zip():
    assert genome_from_xml(xml(GENOME)) == GENOME
    assert genome_from_zip(zipped(xml(GENOME, more='affinity="grey" bias="0.0"'))) == GENOME


BOMB = '<!DOCTYPE a [<!ENTITY b "boom"><!ENTITY c "&b;&b;">]>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>'
WRONG = {
    "entities": (zipped(xml(GENOME, head=BOMB)), "document type"),
    "outside entity": (zipped(xml(GENOME, head=OUTSIDE)), "document type"),
    "two bytes a letter": (zipped(xml(GENOME, head='<?xml version="1.0"?>' + BOMB).encode("utf-16")), "no genome file"),
    "undefined entity": (zipped(xml(GENOME).replace("gaussian", "&b;")), "XML is damaged"),
    "zip bomb": (zipped(" " * (5 * 2**20)), "unpacks to 5242880 bytes"),
    "large": (bytes(5 * 2**20), "larger than 4 MiB"),
    "no zip": (b"PK nonsense", "no genome file"),
    "empty": (b"", "no genome file"),
    "two files": (zipped("a", "b"), "this one 2 files"),
    "cut short": (zipped(xml(GENOME))[:-40], "no genome file"),
    "no xml": (zipped("hello"), "XML is damaged"),
    "deep": (zipped("<a>" * 100_000), "XML is damaged"),
    "other xml": (zipped("<data/>"), "holds no genome"),
    "no marking": (zipped(xml(GENOME).replace("marking", "m")), "has no marking"),
    "bias": (zipped(xml(GENOME, more='bias="0.5"')), "bias of its own"),
    "unknown unit": (zipped(xml(GENOME).replace("gaussian", "blur")), "unknown activation 'blur'"),
    "not a number": (zipped(xml(GENOME).replace("5.5", "nan")), "is not a number up to"),
    "no weight": (zipped(xml(GENOME).replace("5.5", "")), "could not convert"),
}


@pytest.mark.parametrize(("data", "complaint"), WRONG.values(), ids=WRONG)
def test_a_broken_or_hostile_file_is_refused_and_passed_over(data, complaint, tmp_path):
    with pytest.raises(ValueError, match=complaint):
        genome_from_zip(data)
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(UserError, match="holds no genome file"):
        import_picbreeder(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_zip_that_announces_less_than_it_holds_is_refused():
    data = bytearray(zipped(" " * (8 * 2**20)))
    for place in (data.index(b"PK\x01\x02") + 24, data.index(b"PK\x03\x04") + 22):
        data[place : place + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(ValueError, match="no genome file"):
        genome_from_zip(bytes(data))


def test_an_import_finds_genomes_in_a_folder_a_file_and_a_zip_of_a_folder(tmp_path):
    source = tmp_path / "source" / "deep"
    source.mkdir(parents=True)
    (source / "ring.genome.zip").write_bytes(zipped(xml(GENOME)))
    (source / "broken.zip").write_bytes(b"PK")
    (source.parent / "ring.zip").write_bytes(zipped(xml(GENOME).replace("5.5", "4.5")))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("top/../../ring.zip", zipped(xml(GENOME)))
        archive.writestr("top/README.md", "words")
        archive.writestr("top/large.zip", bytes(5 * 2**20))
    (tmp_path / "whole.zip").write_bytes(sink.getvalue())
    for i, place in enumerate((source, source / "ring.genome.zip", tmp_path / "whole.zip")):
        done = import_picbreeder(place, tmp_path / str(i))
        assert [path.name for path in done.written] == ["ring.json", "ring.png"]
        assert load_genome(tmp_path / str(i) / "ring.json") == GENOME
        assert sorted(path.name for path in (tmp_path / str(i)).iterdir()) == ["ring.json", "ring.png"]
    assert np.asarray(Image.open(tmp_path / "0" / "ring.png")).shape == (256, 256, 3)
    again = import_picbreeder(source.parent, tmp_path / "0")
    assert not again.written
    reasons = "; ".join(again.skipped.values())
    assert all(reason in reasons for reason in ("already there", "another genome is called ring", "no genome file"))


@pytest.mark.parametrize("place", ["nowhere", "empty", "words.zip"])
def test_an_import_from_nothing_is_one_clear_complaint(place, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.zip").write_bytes(b"words")
    with pytest.raises(UserError, match=r"cannot read|holds no genome file"):
        import_picbreeder(tmp_path / place, tmp_path / "out")


def test_a_folder_lists_its_genomes_with_their_twins(tmp_path):
    for name in ("b", "a"):
        save_genome(tmp_path / f"{name}.json", GENOME, name=name)
    (tmp_path / "a_sgd.npz").write_bytes(b"")
    found = artifacts(tmp_path, {FOLDER: "elsewhere"})
    assert [(a.name, a.genome, a.sgd) for a in found] == [("a", GENOME, tmp_path / "a_sgd.npz"), ("b", GENOME, None)]
    assert artifacts(None, {FOLDER: str(tmp_path)}) == found
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(UserError, match=r"c\.json is not a genome"):
        artifacts(tmp_path, {})


def test_a_folder_that_is_missing_or_empty_says_so(tmp_path):
    with pytest.raises(UserError, match="set RECOMBINE_ARTIFACTS"):
        artifacts(None, {})
    with pytest.raises(UserError, match="there is no folder"):
        artifacts(tmp_path / "nowhere", {})
    with pytest.raises(UserError, match="holds no genome"):
        artifacts(tmp_path, {})


def test_networks_come_from_json_and_npz(tmp_path):
    save_genome(tmp_path / "ring.json", GENOME, name="ring")
    model, name = load_network(tmp_path / "ring.json")
    assert name == "ring"
    arrays = {f"W{i:02}": np.asarray(w) for i, w in enumerate(model.weights)}
    np.savez(tmp_path / "ring_sgd.npz", allow_pickle=False, **arrays)
    twin, _ = load_network(tmp_path / "ring_sgd.npz", model.mix)
    assert all(np.array_equal(a, b) for a, b in zip(model.weights, twin.weights, strict=True))
    assert np.allclose(render(twin, 8), graph_picture(GENOME, 8), atol=1e-5)


W = np.zeros((4, 2), np.float32)
END = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"W00": W, "W02": END},
        {"W00": W, "W01": END[:, :2]},
        {"W00": W, "W01": END + np.nan},
        {"W00": W, "W01": END + 1e30},
        {"W00": W, "W01": END.astype(int)},
        {"W00": W, "W01": np.array([{}], object)},
        {"W00": W, "W01": np.zeros(3)},
        {"W00": W, "W01": np.zeros((1, 2**27), np.int8)},
    ],
    ids=["none", "gap", "shape", "nan", "large", "whole numbers", "pickle", "vector", "bomb"],
)
def test_matrices_that_make_no_network_are_one_clear_complaint(arrays, tmp_path):
    np.savez_compressed(tmp_path / "bad.npz", allow_pickle=True, **arrays)
    with pytest.raises(UserError, match="holds no picture network"):
        load_network(tmp_path / "bad.npz", parse_mix("1;sin:2")[1])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"\x80\x04N.", zipped("words", names=["W00"])])
def test_a_file_that_holds_no_matrices_is_one_clear_complaint(content, tmp_path):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(UserError, match="holds no picture network"):
        load_network(tmp_path / "bad.npz", parse_mix("1;sin:2")[1])
