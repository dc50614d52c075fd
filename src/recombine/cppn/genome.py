"""Turns a graph of units that draws a picture (a genome) into values at pixels, into a layered network, into JSON.

Genomes are those of Picbreeder (Secretan et al. 2008); layers as in Kumar, Clune, Lehman, Stanley (2025). All in NumPy
at double precision: the truth that a trained or imported network is held against.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recombine.core import UserError

UNITS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cos": np.cos,
    "gaussian": lambda z: 2 * np.exp(-(z**2)) - 1,
    "identity": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: np.tanh(z / 2),
    "sin": np.sin,
    "tanh": np.tanh,
}
"""What a node of each activation makes of the weighted sum of its sources; sigmoid(z) = 2 / (1 + exp(-z)) - 1."""
INPUTS = ("x", "y", "d", "bias")
COLOURS = ("hue", "saturation", "brightness")
INK = "ink"
MOST_NODES, MOST_LINKS, MOST_WEIGHTS = 2_000, 20_000, 5_000_000
LARGEST_WEIGHT = 1e6
LARGEST_FILE = 32 * 2**20


class Node(NamedTuple):
    """One unit. `type` is in, hidden or out; the label says which input or output it is, or what part it draws."""

    id: str
    type: str
    label: str
    activation: str


class Link(NamedTuple):
    """One weighted connection between the nodes of these ids."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True)
class Genome:
    """Nodes and links without cycles. Inputs are x, y, d, bias; outputs hue, saturation, brightness, or ink alone."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        for complaint in chain(_wrong_nodes(self.nodes), _wrong_links(self.links, {n.id: n for n in self.nodes})):
            raise ValueError(complaint)
        _ = self.order  # complains of a circle

    @cached_property
    def sources(self) -> dict[str, dict[str, float]]:
        """For each node the weights of its links, by source, in the order of the links."""
        found: dict[str, dict[str, float]] = {n.id: {} for n in self.nodes}
        for link in self.links:
            found[link.target][link.source] = link.weight
        return found

    @cached_property
    def inputs(self) -> dict[str, str]:
        """Label -> id of the inputs there are, in the order x, y, d, bias."""
        found = {n.label: n.id for n in self.nodes if n.type == "in"}
        return {label: found[label] for label in INPUTS if label in found}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """Label -> id of the outputs, in the order hue, saturation, brightness."""
        found = {n.label: n.id for n in self.nodes if n.type == "out"}
        return {label: found[label] for label in (*COLOURS, INK) if label in found}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All nodes, each after its sources: the inputs, then depth first from hue, saturation, brightness."""
        wanted = [*self.inputs.values(), *self.outputs.values(), *(n.id for n in self.nodes)]
        return _depth_first(self.sources, wanted)


def _wrong_nodes(nodes: tuple[Node, ...]) -> Iterator[str]:
    """What is wrong with these nodes."""
    if len(nodes) > MOST_NODES:
        yield f"{len(nodes)} nodes are too many: at most {MOST_NODES}"
    ids = [n.id for n in nodes]
    for n in nodes:
        if not all(isinstance(part, str) and len(part) <= 200 for part in n):
            yield "the id, type, label and activation of a node are short texts"
        if n.activation not in UNITS:
            yield f"node {n.id!r} has an unknown activation {n.activation!r}; known are {', '.join(UNITS)}"
        if n.type not in ("in", "hidden", "out"):
            yield f"node {n.id!r} is of type {n.type!r}, which is none of in, hidden, out"
    if len(set(ids)) < len(ids):
        yield f"two nodes have the id {next(i for i in ids if ids.count(i) > 1)!r}"
    labels = sorted(n.label for n in nodes if n.type == "in")
    if len(set(labels)) < len(labels) or not set(labels) <= set(INPUTS):
        yield f"the inputs must be some of {', '.join(INPUTS)}, each once; got {labels[:8]}"
    labels = sorted(n.label for n in nodes if n.type == "out")
    if labels not in (sorted(COLOURS), [INK]):
        yield f"the outputs must be {', '.join(COLOURS)}, or {INK} alone; got {labels[:8]}"


def _wrong_links(links: tuple[Link, ...], nodes: Mapping[str, Node]) -> Iterator[str]:
    """What is wrong with these links between these nodes."""
    if len(links) > MOST_LINKS:
        yield f"{len(links)} links are too many: at most {MOST_LINKS}"
    for link in links:
        missing = [end for end in link[:2] if end not in nodes]
        if missing:
            yield f"a link names a node {missing[0][:80]!r} that is not there"
        if nodes[link.target].type == "in":
            yield f"a link leads into the input {link.target!r}"
        if not (isinstance(link.weight, float) and abs(link.weight) <= LARGEST_WEIGHT):
            yield f"the weight from {link.source!r} to {link.target!r} is not a number up to {LARGEST_WEIGHT:.0e}"
    if len({link[:2] for link in links}) < len(links):
        yield "two links join the same two nodes"


def _depth_first(sources: Mapping[str, Iterable[str]], wanted: Iterable[str]) -> tuple[str, ...]:
    """The wanted nodes and all they need, sources first; raises a ValueError on a cycle."""
    order: dict[str, None] = {}
    for last in wanted:
        path = {last: None}
        while path:
            here = next(reversed(path))
            ahead = next((s for s in sources[here] if s not in order), None)
            if ahead is None:
                order[here] = path.pop(here)
            elif ahead in path:
                raise ValueError(f"the links run in a circle through {ahead!r}")
            else:
                path[ahead] = None
    return tuple(order)


def evaluate(genome: Genome, x: np.ndarray) -> dict[str, np.ndarray]:
    """The value of every node, by id, at each row (x, y, d, 1) of the inputs."""
    given = {node: np.asarray(x[:, INPUTS.index(label)], float) for label, node in genome.inputs.items()}
    kinds = {n.id: UNITS[n.activation] for n in genome.nodes}
    values: dict[str, np.ndarray] = {}
    for node in genome.order:
        total = sum((w * values[s] for s, w in genome.sources[node].items()), np.zeros(len(x)))
        values[node] = given[node] if node in given else kinds[node](total)
    return values


def hsv_of(genome: Genome, x: np.ndarray) -> np.ndarray:
    """The three outputs h, s, v at each row of the inputs; ink is v, with h = s = 0."""
    values = evaluate(genome, x)
    found = [values[node] for node in genome.outputs.values()]
    return np.stack(found if len(found) == 3 else [np.zeros(len(x)), np.zeros(len(x)), *found], axis=1)


class Layered(NamedTuple):
    """A genome as a network: `mix` as in `CPPN`, D + 1 matrices, and which node each unit of layers 0..D holds."""

    mix: tuple[tuple[str, int], ...]
    depth: int
    matrices: list[np.ndarray]
    slots: list[dict[int, str]]


def layerise(genome: Genome) -> Layered:
    """The same function, layer by layer: a node's layer is 1 + the deepest of its sources', the inputs' is 0.

    A value stays alive to the layer before its last reader, in `cache` units fed with weight 1; an output to the end.
    Each type has as many units in every layer as the layer that needs most of them.
    """
    genome = _coloured(genome)
    order = _depth_first(genome.sources, [*genome.inputs.values(), *genome.outputs.values()])
    layer = dict.fromkeys(genome.inputs.values(), 0)
    for node in order[len(layer) :]:
        layer[node] = 1 + max((layer[s] for s in genome.sources[node]), default=0)
    depth = max(layer.values())
    last = dict(layer)
    for node in order:
        for source in genome.sources[node]:
            last[source] = max(last[source], layer[node] - 1)
    last |= dict.fromkeys(genome.outputs.values(), depth)

    own = {n.id: n.activation for n in genome.nodes}
    needed = [
        [(own[n] if k == layer[n] > 0 else "cache", n) for n in order if layer[n] <= k <= last[n]]
        for k in range(depth + 1)
    ]
    counts = [[kind for kind, _ in units] for units in needed]
    mix = tuple((kind, max(c.count(kind) for c in counts)) for kind in sorted({k for c in counts for k in c}))
    width = sum(count for _, count in mix)
    if (depth - 1) * width**2 > MOST_WEIGHTS:
        raise ValueError(f"as layers the genome would need {depth} of {width} units, too many to hold")
    slots = [_slots(units, mix) for units in needed]
    return Layered(mix, depth, _matrices(genome, slots, layer, width), slots)


def _coloured(genome: Genome) -> Genome:
    """A greyscale genome with hue and saturation added: fed from the ink with weight 0."""
    if INK not in genome.outputs:
        return genome
    ink, added = genome.outputs[INK], COLOURS[:2]
    nodes = [n._replace(label=COLOURS[2]) if n.id == ink else n for n in genome.nodes]
    nodes += [Node(label, "out", label, "identity") for label in added]
    return Genome(tuple(nodes), (*genome.links, *(Link(ink, label, 0.0) for label in added)))


def _slots(units: list[tuple[str, str]], mix: tuple[tuple[str, int], ...]) -> dict[int, str]:
    """Unit -> node, each type filled from its first unit on."""
    starts = dict(zip((kind for kind, _ in mix), np.cumsum([0, *(count for _, count in mix)]).tolist(), strict=False))
    slots = {}
    for kind, node in units:
        slots[starts[kind]] = node
        starts[kind] += 1
    return slots


def _matrices(genome: Genome, slots: list[dict[int, str]], layer: dict[str, int], width: int) -> list[np.ndarray]:
    rows = [{node: unit for unit, node in held.items()} for held in slots]
    rows[0] = {node: INPUTS.index(label) for label, node in genome.inputs.items()}
    matrices = []
    for k in range(1, len(rows)):
        matrix = np.zeros((len(INPUTS) if k == 1 else width, width))
        for node, unit in rows[k].items():
            fed = genome.sources[node] if layer[node] == k else {node: 1.0}
            for source, weight in fed.items():
                matrix[rows[k - 1][source], unit] = weight
        matrices.append(matrix)
    read_out = np.zeros((width, len(COLOURS)))
    for i, node in enumerate(genome.outputs.values()):
        read_out[rows[-1][node], i] = 1.0
    return [*matrices, read_out]


def save_genome(path: Path | str, genome: Genome, *, name: str, **about: str) -> None:
    """Write a genome as JSON, with its layered form (sparse weights [layer, row, column, value]) beside it."""
    mix, depth, matrices, slots = layerise(genome)
    weights = [(k, int(i), int(j), float(m[i, j])) for k, m in enumerate(matrices) for i, j in np.argwhere(m)]
    layered = {
        "arch": f"{depth};" + ",".join(f"{kind}:{count}" for kind, count in mix),
        "depth": depth,
        "width": sum(count for _, count in mix),
        "activations": mix,
        "shapes": [m.shape for m in matrices],
        "n_params": sum(m.size for m in matrices),
        "n_nonzero": len(weights),
        "weights": weights,
        "slots": slots,
    }
    graph = {"nodes": [n._asdict() for n in genome.nodes], "links": [link._asdict() for link in genome.links]}
    Path(path).write_text(json.dumps({"name": name, **about, "genome": graph, "layerised": layered}))


def load_genome(path: Path | str) -> Genome:
    """Read the genome in a JSON file; anything else in the file is passed over."""
    try:
        if Path(path).stat().st_size > LARGEST_FILE:
            raise UserError(f"{path} is larger than {LARGEST_FILE // 2**20} MiB: not a genome")
        graph = json.loads(Path(path).read_bytes())["genome"]
        nodes = tuple(Node(*(n[field] for field in Node._fields)) for n in graph["nodes"])
        links = tuple(Link(n["source"], n["target"], _number(n["weight"])) for n in graph["links"])
        return Genome(nodes, links)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f'{path} is not a genome: {{"genome": {{"nodes": [...], "links": [...]}}}} expected') from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise UserError(f"{path} is not a genome: {error}") from error


def _number(weight: Any) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise TypeError("a weight is a number")
    return float(weight)
