"""Turns a size into some forty pictures to be drawn, for those who have none of their own: nothing is downloaded.

They are the pictures of `designed`, those of random networks of known depth, shapes drawn here, and what the installed
matplotlib ships as sample data under its own licence (the photograph of Grace Hopper is in the public domain).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import count, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp
import numpy as np

from recombine.core import UserError
from recombine.cppn.designed import designs
from recombine.cppn.genome import COLOURS, INPUTS, Genome, Link, Node, evaluate, hsv_of, layerise
from recombine.cppn.network import hsv_to_rgb
from recombine.cppn.task import grid, load_picture

if TYPE_CHECKING:
    from PIL import Image

    from recombine.cppn.picbreeder import Artifact

DEPTHS = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16)
"""The depths of the random networks, of each of which there are `EACH`."""
EACH = 2
_UNITS = ("gaussian", "gaussian", "sin", "cos", "sigmoid", "identity")
_TINTS = {"hue": 0.2, "saturation": 0.4, "brightness": 0.5}  # larger weights make rainbows of everything
_TILES = {
    "portrait": (0, 0, 512, 512),
    "glasses": (140, 105, 396, 361),
    "flag": (0, 0, 256, 256),
    "medals": (256, 330, 512, 586),
}


class Target(NamedTuple):
    """A picture (size, size, 3) in 0..1. Its depth is that of the network that drew it; a shallower one may do."""

    name: str
    kind: str
    picture: np.ndarray
    depth: int | None


def targets(size: int, *, artifacts: Iterable[Artifact] = ()) -> list[Target]:
    """All of them at this size, and after them the user's own genomes; the same ones at every size.

    A picture file makes a target too: `Target("cat", "mine", load_picture("cat.png", size), None)`.
    """
    if not 8 <= size <= 1024:
        raise ValueError(f"targets are drawn at 8 to 1024 pixels per side, got {size}")
    found = [
        *(of_genome(name, "designed", genome, size) for name, genome in designs().items()),
        *(of_genome(name, "network", genome, size) for name, genome in random_networks().items()),
        *(Target(name, "shape", smooth(paint, size), None) for name, paint in SHAPES.items()),
        *(Target(name, "found", picture, None) for name, picture in _shipped(size)),
        *(of_genome(a.name, "artifact", a.genome, size) for a in artifacts),
    ]
    name, often = Counter(t.name for t in found).most_common(1)[0]
    if often > 1:
        raise UserError(f"two targets are called {name!r}: give yours another name")
    return found


def of_genome(name: str, kind: str, genome: Genome, size: int) -> Target:
    """A target that a genome renders."""
    return Target(name, kind, _drawn(genome, size), layerise(genome).depth)


def _drawn(genome: Genome, size: int) -> np.ndarray:
    hsv = jnp.asarray(hsv_of(genome, grid(size)), jnp.float32)
    return np.nan_to_num(np.asarray(hsv_to_rgb(hsv))).reshape(size, size, 3)


def random_genome(depth: int, seed: int) -> Genome:
    """Two random units per layer and three outputs: as layers, a network of exactly this depth.

    Each reads two units of the layer before, one of any earlier layer, and the bias, with normal weights.
    """
    if depth < 2:
        raise ValueError(f"a random network has a hidden layer and an output layer, or more; got depth {depth}")
    rng = np.random.default_rng([depth, seed])
    layers, links = [["x", "y", "d"]], []
    nodes = [Node(label, "in", label, "identity") for label in INPUTS]

    def add(node: Node, scale: float) -> None:
        nodes.append(node)
        earlier = [n for layer in layers[:-1] for n in layer]
        sources = [*rng.permutation(layers[-1])[:2], *rng.permutation(earlier)[:1], "bias"]
        links.extend(Link(str(s), node.id, float(w)) for s, w in zip(sources, rng.normal(0, scale, 4), strict=False))

    for k in range(1, depth):
        layer = [f"{k}a", f"{k}b"]
        for name in layer:
            add(Node(name, "hidden", "", str(rng.choice(_UNITS))), 1.6)
        layers.append(layer)
    for colour in COLOURS:
        add(Node(colour, "out", colour, "identity"), _TINTS[colour])
    return Genome(tuple(nodes), tuple(links))


@cache
def random_networks() -> dict[str, Genome]:
    """The first `EACH` random genomes of every one of the `DEPTHS` that are not refused."""
    found = {d: islice((g for g in map(random_genome, repeat(d), count()) if not refused(g)), EACH) for d in DEPTHS}
    return {f"network {depth}{'abcdefgh'[i]}": g for depth, some in found.items() for i, g in enumerate(some)}


def refused(genome: Genome) -> bool:
    """Is the picture dull, or is there a layer in which no unit varies by 0.1 (then the depth is one in name only)?"""
    values = evaluate(genome, grid(64))
    varying = {node[:-1] for node, v in values.items() if v.std() >= 0.1}
    idle = {n.id[:-1] for n in genome.nodes if n.type == "hidden"} - varying
    return bool(idle) or dull(_drawn(genome, 64))


def dull(picture: np.ndarray) -> bool:
    """Is there too little to draw, or too much? Judged at 64 pixels, so that the same ones pass at every size.

    Too little: colours are less than 0.18 from their mean (root mean square), or less than 0.15 from grey (largest less
    smallest channel, on average), or one of 16^3 colours fills 30 %. Too much: neighbours are 0.05 apart on average.
    The last also refuses what is deep and complex: a relation of depth and complexity looks weaker here than it is.
    """
    often = np.bincount(((15.99 * picture).astype(int) @ [256, 16, 1]).ravel())
    apart = np.mean([np.abs(np.diff(picture, axis=axis)).mean() for axis in (0, 1)])
    return bool(
        np.sqrt(picture.var(axis=(0, 1)).mean()) < 0.18
        or np.ptp(picture, axis=2).mean() < 0.15
        or often.max() > 0.3 * often.sum()
        or apart > 0.05
    )


Paint = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The colours (..., 3) at points x, y; x goes to the right and y down, both -1 to 1."""


def smooth(paint: Paint, size: int) -> np.ndarray:
    """The picture (size, size, 3), each pixel the mean of 4 x 4 points in it: edges without steps."""
    step = 2 / (size - 1)
    t = np.linspace(-1, 1, size)[:, None] + step * (np.arange(4) - 1.5) / 4
    fine = paint(*np.meshgrid(t.ravel(), t.ravel()))
    return fine.reshape(size, 4, size, 4, 3).mean(axis=(1, 3)).astype(np.float32)


def _layers(ground: str, *parts: tuple[np.ndarray, str]) -> np.ndarray:
    """Parts (where, colour) one over another on a ground; colours are written rrggbb."""
    picture = np.broadcast_to(_rgb(ground), (*parts[0][0].shape, 3))
    for where, colour in parts:
        picture = np.where(where[..., None], _rgb(colour), picture)
    return picture


def _rgb(colour: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(colour), np.uint8) / 255


def _turned(x: np.ndarray, y: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    return np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x


def _square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = (np.abs(v) for v in _turned(x, y, 0.35))
    return _layers("e9d8a6", (np.maximum(a, b) < 0.6, "ae2012"), (np.maximum(a, b) < 0.25, "005f73"))


def _cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    near, far = np.minimum(np.abs(x), np.abs(y)), np.maximum(np.abs(x), np.abs(y))
    return _layers("d8f3dc", ((near < 0.2) & (far < 0.75), "1b4332"))


def _star(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Five points: the angle is folded to one point, whose edge is a straight line."""
    angle = np.abs((np.arctan2(x, -y) / (2 * np.pi) * 5 + 0.5) % 1 - 0.5) * 2 * np.pi / 5
    r = np.hypot(x, y)
    return _layers("14213d", (r * (np.cos(angle) + 3.08 * np.sin(angle)) < 0.9, "fca311"))


def _spiral(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    r, turn = np.hypot(x, y), np.arctan2(y, x) / (2 * np.pi)
    return _layers("ffe5d9", ((3.2 * r - turn) % 1 < 0.5, "6a4c93"), (r > 0.95, "ffe5d9"))


def _gradient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    across, down = (x + 1) / 2, (y + 1) / 2
    return np.clip(np.stack([0.15 + 0.8 * across, 0.75 - 0.6 * down, 0.3 + 0.6 * (1 - across) * down], axis=-1), 0, 1)


def _ripples(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    waves = np.cos(14 * np.hypot(x + 0.5, y + 0.4)) + np.cos(14 * np.hypot(x - 0.5, y - 0.3))
    height = (waves[..., None] + 2) / 4
    return height * _rgb("caf0f8") + (1 - height) * _rgb("03045e")


def _discs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Three discs of light: colours add up where they overlap."""
    centres = [(0.42 * np.sin(a), -0.42 * np.cos(a)) for a in (0, 2 * np.pi / 3, 4 * np.pi / 3)]
    return 0.1 + 0.85 * np.stack([np.hypot(x - a, y - b) < 0.5 for a, b in centres], axis=-1)


def _ball(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A ball in the light of a lamp at its upper left, with its shadow on a table."""
    a, b = (x + 0.05) / 0.6, (y + 0.1) / 0.6
    towards = np.sqrt(np.clip(1 - a**2 - b**2, 0, 1))
    light = np.clip(0.25 + 0.75 * (-0.5 * a - 0.6 * b + 0.62 * towards), 0.1, 1)[..., None]
    table = _layers("84a59d", (y > 0.1, "f6bd60"), (np.hypot((x - 0.25) / 0.75, (y - 0.5) / 0.2) < 1, "b5803a"))
    return np.where((a**2 + b**2 < 1)[..., None], light * _rgb("f28482"), table)


def _house(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A house with a roof, a door and two windows on a hill, under the sun."""
    panes = (np.abs(np.abs(x) - 0.28) < 0.1) & (np.abs(y + 0.02) < 0.1)
    return _layers(
        "8ecae6",
        (np.hypot(x - 0.68, y + 0.66) < 0.2, "ffb703"),
        (y > 0.5 + 0.15 * x**2, "588157"),
        ((np.abs(x) < 0.5) & (np.abs(y - 0.2) < 0.42), "f1e3d3"),
        ((y > -0.72) & (y < -0.2) & (np.abs(x) < 1.25 * (y + 0.72)), "9b2226"),
        ((np.abs(x) < 0.1) & (y > 0.24) & (y < 0.62), "6f4518"),
        (panes, "219ebc"),
    )


def _hills(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    sky = (y[..., None] + 1) / 2 * _rgb("ffd6a5") + (1 - y[..., None]) / 2 * _rgb("4361ee")
    ridges = ((-0.1, 3.1, 0.3, "5e548e"), (0.2, 4.3, 1.9, "355070"), (0.55, 5.7, 0.8, "1b263b"))
    for height, waves, start, colour in ridges:
        edge = height + 0.12 * np.sin(waves * x + start) + 0.05 * np.sin(2.3 * waves * x)
        sky = np.where((y > edge)[..., None], _rgb(colour), sky)
    return sky


SHAPES: dict[str, Paint] = {
    "disc": lambda x, y: _layers("1d3557", (np.hypot(x, y) < 0.62, "e63946")),
    "ring": lambda x, y: _layers("f1faee", (np.abs(np.hypot(x, y) - 0.6) < 0.17, "2a9d8f")),
    "square": _square,
    "triangle": lambda x, y: _layers("264653", ((y < 0.55) & (np.abs(x) < 0.6 * (y + 0.75)), "e9c46a")),
    "stripes": lambda x, y: _layers(
        "f4f1de", ((3 * x + 2 * y) % 2 < 0.7, "e07a5f"), ((3 * x + 2 * y + 0.6) % 2 < 0.6, "3d405b")
    ),
    "checkerboard": lambda x, y: _layers("fefae0", ((np.floor(3 * x) + np.floor(3 * y)) % 2 == 0, "bc4749")),
    "cross": _cross,
    "star": _star,
    "spiral": _spiral,
    "gradient": _gradient,
    "ripples": _ripples,
    "discs": _discs,
    "ball": _ball,
    "house": _house,
    "hills": _hills,
}
"""The drawn shapes by name."""


def _shipped(size: int) -> Iterator[tuple[str, np.ndarray]]:
    """Tiles of a photograph, a drawing and a map of mountains, from the sample data of the installed matplotlib."""
    from matplotlib import colormaps
    from PIL import Image

    for name, box in _TILES.items():
        yield name, tile(box, size)
    yield "present", load_picture(_sample("Minduka_Present_Blue_Pack.png"), size)
    with np.load(_sample("jacksboro_fault_dem.npz"), allow_pickle=False) as file:
        height = file["elevation"][:, :344].astype(float)
    coloured = colormaps["gist_earth"]((height - height.min()) / np.ptp(height), bytes=True)
    yield "mountains", _resized(Image.fromarray(coloured[..., :3]), size)


def tile(box: tuple[int, int, int, int], size: int) -> np.ndarray:
    """A part of the photograph of Grace Hopper (512 x 600 pixels): left, upper, right, lower."""
    from PIL import Image

    with Image.open(_sample("grace_hopper.jpg")) as photograph:
        return _resized(photograph.convert("RGB").crop(box), size)


def _resized(image: Image.Image, size: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(image.resize((size, size), Image.Resampling.BILINEAR), np.float32) / 255


def _sample(name: str) -> Path:
    from matplotlib.cbook import get_sample_data

    path = Path(get_sample_data(name, asfileobj=False))
    if not path.exists():
        raise UserError(f"the installed matplotlib has no sample {name}: install it with pip")
    return path
