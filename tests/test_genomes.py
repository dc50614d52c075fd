from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.core import UserError
from recombine.cppn.genome import (
    COLOURS,
    INPUTS,
    MOST_NODES,
    UNITS,
    Genome,
    Layered,
    Link,
    Node,
    evaluate,
    hsv_of,
    layerise,
    load_genome,
    save_genome,
)

IN = tuple(Node(label, "in", label, "identity") for label in INPUTS)
OUT = tuple(Node(label[0], "out", label, "identity") for label in COLOURS)
X = np.random.default_rng(0).uniform(-1, 1, (9, 4))


def hidden(name: str, activation: str) -> Node:
    return Node(name, "hidden", "", activation)


SMALL = Genome(
    (*IN, *OUT, hidden("ring", "gaussian"), hidden("wave", "sin"), hidden("dead", "cos")),
    (
        Link("d", "ring", 2.0),
        Link("x", "wave", 3.0),
        Link("ring", "wave", -1.0),
        Link("wave", "h", 0.5),
        Link("bias", "s", 0.25),
        Link("ring", "b", 1.5),
        Link("y", "b", 0.0),
        Link("x", "dead", 1.0),
    ),
)
GREY = Genome(
    (*IN, Node("out", "out", "ink", "sin"), hidden("ring", "gaussian")),
    (Link("d", "ring", 2.0), Link("ring", "out", 0.5), Link("y", "out", 1.0)),
)


def run(layered: Layered, x: np.ndarray) -> list[np.ndarray]:
    """The values of layers 0..D and the three outputs, in NumPy."""
    layers, ends = [x], np.cumsum([count for _, count in layered.mix])
    for matrix in layered.matrices[:-1]:
        groups = np.split(layers[-1] @ matrix, ends[:-1], axis=1)
        units = [UNITS["identity" if kind == "cache" else kind] for kind, _ in layered.mix]
        layers.append(np.concatenate([unit(g) for unit, g in zip(units, groups, strict=True)], axis=1))
    return [*layers, layers[-1] @ layered.matrices[-1]]


def test_a_graph_is_evaluated_by_its_formula():
    values = evaluate(SMALL, X)
    ring = 2 * np.exp(-((2 * X[:, 2]) ** 2)) - 1
    wave = np.sin(3 * X[:, 0] - ring)
    assert np.allclose(values["ring"], ring)
    assert np.allclose(values["wave"], wave)
    assert np.allclose(hsv_of(SMALL, X), np.stack([0.5 * wave, 0.25 * X[:, 3], 1.5 * ring], axis=1))


def test_the_layers_of_a_small_graph_are_those_worked_out_by_hand():
    layered = layerise(SMALL)
    assert layered.depth == 3
    assert layered.mix == (("cache", 4), ("gaussian", 1), ("identity", 1), ("sin", 1))
    assert layered.slots == [
        {0: "x", 1: "y", 2: "d", 3: "bias"},
        {0: "x", 1: "y", 4: "ring", 5: "s"},
        {0: "s", 5: "b", 6: "wave"},
        {0: "s", 1: "b", 5: "h"},
    ]
    first, second, third, last = layered.matrices
    wanted = {(0, 0): 1, (1, 1): 1, (2, 4): 2, (3, 5): 0.25}
    assert {(i, j): first[i, j] for i, j in np.argwhere(first)} == wanted
    wanted = {(5, 0): 1, (4, 5): 1.5, (0, 6): 3, (4, 6): -1}
    assert {(i, j): second[i, j] for i, j in np.argwhere(second)} == wanted
    assert {(i, j): third[i, j] for i, j in np.argwhere(third)} == {(0, 0): 1, (5, 1): 1, (6, 5): 0.5}
    assert {(i, j): last[i, j] for i, j in np.argwhere(last)} == {(5, 0): 1, (0, 1): 1, (1, 2): 1}


def test_ink_is_brightness_and_the_picture_stays_grey():
    hsv = hsv_of(GREY, X)
    assert not hsv[:, :2].any()
    layered = layerise(GREY)
    assert layered.depth == 3, "hue and saturation stand one layer above the ink"
    assert layered.slots[-1] == {0: "out", 5: "hue", 6: "saturation"}
    assert np.allclose(run(layered, X)[-1], hsv)


@st.composite
def drawn_genomes(draw) -> Genome:
    """Hidden nodes and outputs, each reading a few of the nodes before it, in an order that says nothing."""
    middle = [hidden(f"n{i}", draw(st.sampled_from(sorted(UNITS)))) for i in range(draw(st.integers(0, 9)))]
    nodes, links = [*IN, *middle, *OUT], []
    for i, node in enumerate(nodes[4:], start=4):
        before = nodes[:i] if node.type == "hidden" else nodes[: 4 + len(middle)]
        for source in draw(st.lists(st.sampled_from(before), unique=True, max_size=4)):
            links.append(Link(source.id, node.id, draw(st.sampled_from([-2.0, -0.5, 0.0, 0.3, 1.0, 1.7]))))
    return Genome(tuple(draw(st.permutations(nodes))), tuple(draw(st.permutations(links))))


@given(drawn_genomes())
def test_the_layered_form_is_the_same_function_and_holds_the_same_values(genome):
    layered, values = layerise(genome), evaluate(genome, X)
    *layers, hsv = run(layered, X)
    assert np.allclose(hsv, hsv_of(genome, X), atol=1e-9)
    for k, held in enumerate(layered.slots):
        for unit, node in held.items():
            assert np.allclose(layers[k][:, unit], values[node], atol=1e-9)
    copies = sum(
        layered.slots[k][u] in layered.slots[k - 1].values() for k in range(1, len(layers)) for u in layered.slots[k]
    )
    alive = {node for held in layered.slots for node in held.values()}
    links = sum(link.weight != 0 and link.target in alive for link in genome.links)
    assert sum(np.count_nonzero(m) for m in layered.matrices) == links + copies + len(COLOURS)


def test_a_genome_comes_back_from_its_file(tmp_path):
    named = replace(
        SMALL, nodes=tuple(n._replace(label="what it draws") if n.type == "hidden" else n for n in SMALL.nodes)
    )
    save_genome(tmp_path / "a.json", named, name="small", source="made by hand")
    assert load_genome(tmp_path / "a.json") == named
    whole = json.loads((tmp_path / "a.json").read_text())
    assert whole["name"] == "small"
    assert whole["source"] == "made by hand"
    layered, found = layerise(named), whole["layerised"]
    assert found["arch"] == "3;cache:4,gaussian:1,identity:1,sin:1"
    assert found["n_params"] == sum(m.size for m in layered.matrices)
    matrices = [np.zeros(shape) for shape in found["shapes"]]
    for layer, row, column, weight in found["weights"]:
        matrices[layer][row, column] = weight
    assert all(np.array_equal(a, b) for a, b in zip(matrices, layered.matrices, strict=True))
    assert [{int(unit): node for unit, node in held.items()} for held in found["slots"]] == layered.slots


def link(source: str, target: str, weight: float = 1.0) -> tuple[Link, ...]:
    return (Link(source, target, weight),)


NODES, LINKS = SMALL.nodes, SMALL.links
WRONG = {
    "two nodes have the id 'wave'": ((*NODES, hidden("wave", "cos")), LINKS),
    "unknown activation 'blur'": ((*NODES, hidden("new", "blur")), LINKS),
    "of type 'odd'": ((*NODES, Node("new", "odd", "", "cos")), LINKS),
    "short texts": ((*NODES, hidden("new" * 100, "cos")), LINKS),
    "inputs must be": ((*NODES, Node("new", "in", "x", "identity")), LINKS),
    "outputs must be": (NODES[:5], ()),
    "too many: at most": ((*NODES, *(hidden(str(i), "cos") for i in range(MOST_NODES))), LINKS),
    "a node 'nobody' that is not there": (NODES, (*LINKS, *link("nobody", "wave"))),
    "a node 'noone' that is not there": (NODES, (*LINKS, *link("wave", "noone"))),
    "into the input 'x'": (NODES, (*LINKS, *link("wave", "x"))),
    "from 'bias' to 'wave' is not a number": (NODES, (*LINKS, *link("bias", "wave", float("nan")))),
    "from 'bias' to 'ring' is not a number": (NODES, (*LINKS, *link("bias", "ring", float("inf")))),
    "join the same two nodes": (NODES, (*LINKS, *link("d", "ring", 3.0))),
    "in a circle through": (NODES, (*LINKS, *link("wave", "ring"))),
    "in a circle through 'dead'": (NODES, (*LINKS, *link("dead", "dead"))),
}


@pytest.mark.parametrize(("complaint", "parts"), WRONG.items(), ids=WRONG)
def test_a_wrong_graph_is_refused_in_python_and_as_a_file(complaint, parts, tmp_path):
    nodes, links = parts
    with pytest.raises(ValueError, match=complaint):
        Genome(nodes, links)
    graph = {"nodes": [n._asdict() for n in nodes], "links": [k._asdict() for k in links]}
    (tmp_path / "bad.json").write_text(json.dumps({"genome": graph}))
    with pytest.raises(UserError, match=complaint) as caught:
        load_genome(tmp_path / "bad.json")
    assert "\n" not in str(caught.value)


def graph(**more) -> bytes:
    node = {"id": "a", "type": "out", "label": "ink", "activation": "sin"}
    arc = {"source": "a", "target": "a", "weight": 1}
    return json.dumps({"genome": {"nodes": [node | more], "links": [arc | more]}}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"[]",
        b"3",
        b"null",
        b'{"genome": []}',
        b'{"genome": {"nodes": 3, "links": []}}',
        b'{"genome": {"nodes": [], "links": []}}',
        b'{"genome": {"nodes": [1], "links": []}}',
        b"[" * 200_000,
        b'{"genome": ' * 100_000,
        graph(id=["a"]),
        graph(id=None),
        graph(label=7),
        graph(weight="1"),
        graph(weight=True),
        graph(weight=None),
        graph(weight=10**400),
        graph(source=["a"]),
        graph(source=7),
        graph().replace(b"1}", b"1e999}"),
    ],
    ids=lambda content: content[:60].decode(errors="replace"),
)
def test_a_file_that_is_no_genome_is_one_clear_complaint(content, tmp_path):
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(UserError, match="is not a genome") as caught:
        load_genome(tmp_path / "bad.json")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_missing_and_oversized_files_are_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read .*none\.json"):
        load_genome(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot read"):
        load_genome(tmp_path)
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(33 * 2**20)
    with pytest.raises(UserError, match="32 MiB"):
        load_genome(tmp_path / "large.json")


def test_a_graph_too_long_to_hold_as_layers_is_refused_before_it_is_made():
    chain = [hidden(str(i), "sin") for i in range(900)]
    links = [Link(a, b, 1.0) for a, b in zip(["x", *(n.id for n in chain[:-1])], (n.id for n in chain), strict=True)]
    links += [Link(n.id, "h", 1.0) for n in chain]
    with pytest.raises(ValueError, match="too many to hold"):
        layerise(Genome((*IN, *OUT, *chain), tuple(links)))
