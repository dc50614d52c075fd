"""Turns bumps, folds and thresholds into four pictures whose composition is known, because it is written down here.

Every hidden node says in its label which part it draws. There are no products: a part is a threshold on a sum of bumps,
"and" and "not" are thresholds on sums of parts, and what is repeated is drawn once, on a plane that is folded before.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin

from recombine.cppn.genome import INPUTS, Genome, Link, Node

Weights = Mapping[str, float]
"""Weights by source; the source "bias" is the constant 1."""
Point = tuple[Weights, Weights]
"""Two coordinates, each a weighted sum of nodes."""
_RIM = 1.6  # the sum of two bumps at the rim of a blob: exp(-u^2) + exp(-v^2) = 1.8 is nearly a circle
_REACH = 0.4724  # exp(-_REACH^2) = 0.8: how far such a blob reaches along either axis, in widths of its bumps


class Drawing:
    """Nodes and links as they are added; a node's name is its id. Parts are 1 where they are and -1 elsewhere."""

    def __init__(self) -> None:
        self.nodes = [Node(label, "in", label, "identity") for label in INPUTS]
        self.links: list[Link] = []

    def add(self, name: str, unit: str, sources: Weights, says: str, *, type: str = "hidden") -> None:
        """One unit that reads these sources."""
        self.nodes.append(Node(name, type, says, unit))
        self.links += [Link(source, name, float(weight)) for source, weight in sources.items() if weight]

    def bump(self, name: str, along: Weights, reach: float, says: str) -> None:
        """A ridge, 1 where the sum `along` is 0; a blob made with it reaches this far from there."""
        self.add(name, "gaussian", scaled(along, _REACH / reach), says)

    def blob(self, name: str, bumps: tuple[str, str], says: str, *, rim: float = _RIM, sharp: float = 24) -> None:
        """The inside of the contour on which the sum of two bumps is `rim`: a higher one lies inside a lower one."""
        self.add(name, "sigmoid", {**dict.fromkeys(bumps, sharp), "bias": -sharp * rim}, says)

    def all_of(self, name: str, parts: Weights, says: str) -> None:
        """Where every part is, and none of those that have weight -1."""
        self.add(name, "sigmoid", {**scaled(parts, 6), "bias": -6 * (len(parts) - 1)}, says)

    def outline(self, name: str, part: str, says: str) -> None:
        """The rim of a part."""
        self.add(name, "gaussian", {part: 1.5}, says)

    def any_of(self, name: str, parts: tuple[str, ...], says: str) -> None:
        """Where any of the parts is."""
        self.add(name, "sigmoid", {**dict.fromkeys(parts, 6.0), "bias": 6 * (len(parts) - 1)}, says)

    def fold(self, name: str, point: Point, angle: float, says: str) -> Point:
        """The point, mirrored onto the near side of a line through 0; its angle is counted from the second axis.

        With the normal n = (-cos, sin) of the angle, p becomes p + 2 relu(-n p) n: one unit for a fold.
        """
        normal = -cos(angle), sin(angle)
        self.add(name, "relu", total(*(scaled(p, -n) for p, n in zip(point, normal, strict=True))), says)
        first, second = (total(p, {name: 2 * n}) for p, n in zip(point, normal, strict=True))
        return first, second

    def paint(self, colour: str, ground: float, parts: Weights) -> None:
        """An output: the ground's value, and for each part what it adds where it is."""
        sources = {**scaled(parts, 0.5), "bias": ground + sum(parts.values()) / 2}
        self.add(colour, "identity", sources, colour, type="out")

    def genome(self) -> Genome:
        return Genome(tuple(self.nodes), tuple(self.links))


def scaled(weights: Weights, by: float) -> dict[str, float]:
    return {source: weight * by for source, weight in weights.items()}


def total(*terms: Weights) -> dict[str, float]:
    found = {source: sum(t.get(source, 0.0) for t in terms) for source in {s: None for t in terms for s in t}}
    return {source: weight for source, weight in found.items() if abs(weight) > 1e-9}


def rotated(point: Point, centre: tuple[float, float], angle: float) -> Point:
    """The point as seen from a centre, along axes rotated by an angle."""
    a, b = (total(p, {"bias": -c}) for p, c in zip(point, centre, strict=True))
    return total(scaled(a, cos(angle)), scaled(b, sin(angle))), total(scaled(a, -sin(angle)), scaled(b, cos(angle)))


def mirrored(d: Drawing) -> Point:
    """The plane folded along its vertical axis: left and right are drawn once."""
    across, _ = d.fold("left", ({"x": 1}, {"y": 1}), pi, "the left half, folded onto the right")
    d.add("side", "identity", across, "|x|: the distance from the axis of symmetry")
    return {"side": 1.0}, {"y": 1.0}


def face() -> Genome:
    """A head with hair, eyes with pupils, cheeks, a nose and a mouth."""
    d = Drawing()
    side, _ = mirrored(d)
    d.add("middle", "gaussian", scaled(side, 1.2), "head: longer in the middle")
    d.add("head", "sigmoid", {"d": -30, "middle": 4, "bias": 27}, "head")
    d.outline("contour", "head", "head: its outline")

    d.bump("eye across", total(side, {"bias": -0.27}), 0.17, "eyes: where across")
    d.bump("eye along", {"y": 1, "bias": 0.08}, 0.1, "eyes: where along")
    d.blob("eye", ("eye across", "eye along"), "eyes: the white")
    d.bump("gaze", total(side, {"bias": -0.25}), 0.1, "eyes: where they look")
    d.blob("round", ("gaze", "eye along"), "eyes: round about where they look")
    d.all_of("iris", {"eye": 1, "round": 1}, "irises: inside the white")
    d.blob("point", ("gaze", "eye along"), "eyes: the point where they look", rim=1.86)
    d.all_of("pupil", {"iris": 1, "point": 1}, "pupils: inside the irises")
    d.bump("brow along", {"y": 1, "bias": 0.2, "eye across": 0.1}, 0.03, "eyebrows: where along, arched over the eye")
    d.blob("brow", ("eye across", "brow along"), "eyebrows")

    d.bump("cheek across", total(side, {"bias": -0.37}), 0.13, "cheeks: where across")
    d.bump("cheek along", {"y": 1, "bias": -0.25}, 0.1, "cheeks: where along")
    d.blob("cheek", ("cheek across", "cheek along"), "cheeks", sharp=5)
    d.bump("nose across", side, 0.06, "nose: where across")
    d.bump("nose along", {"y": 1, "bias": -0.14}, 0.12, "nose: where along")
    d.blob("nose", ("nose across", "nose along"), "nose", sharp=8)

    d.bump("smile", side, 0.28, "mouth: how wide, and how bent")
    d.bump("mouth along", {"y": 1, "bias": -0.36, "smile": -0.1}, 0.09, "mouth: where along, bent to a smile")
    d.blob("mouth", ("smile", "mouth along"), "mouth: the lips")
    d.blob("opening", ("smile", "mouth along"), "mouth: the opening", rim=1.8)

    d.add("locks", "cos", scaled(side, 16), "hair: locks on the forehead")
    d.add("top", "sigmoid", {"y": -36, "locks": 1.5, "bias": -15}, "hair: above the forehead")
    d.all_of("hair", {"head": 1, "top": 1}, "hair: on the head alone")
    d.paint("hue", -0.42, {"head": 0.49, "mouth": -0.08, "cheek": -0.05, "hair": -0.02, "iris": 0.25})
    d.paint("saturation", 0.4, {"head": 0.03, "eye": -0.43, "iris": 0.6, "cheek": 0.25, "mouth": 0.35, "hair": 0.3})
    inside = {"iris": -0.5, "pupil": -0.45, "opening": -0.6, "hair": -0.55, "brow": -0.6, "nose": -0.1, "mouth": -0.1}
    d.paint("brightness", 0.85, {"head": 0.13, "contour": -0.6, **inside})
    return d.genome()


def moth() -> Genome:
    """Two pairs of wings with spots, a body and feelers."""
    d = Drawing()
    half = mirrored(d)
    for pair, centre, angle, reach in (
        ("upper", (0.46, -0.28), -0.7, (0.46, 0.27)),
        ("lower", (0.37, 0.36), 0.9, (0.36, 0.24)),
    ):
        bumps = f"{pair} length", f"{pair} breadth"
        for name, along, far in zip(bumps, rotated(half, centre, angle), reach, strict=True):
            d.bump(name, along, far, f"{pair} wings: {name.split()[1]}")
        d.blob(f"{pair} wing", bumps, f"{pair} wings: whole")
        d.blob(f"{pair} field", bumps, f"{pair} wings: inside the border", rim=1.74)
        d.add(f"{pair} spot", "gaussian", {**dict.fromkeys(bumps, 9.0), "bias": -18}, f"{pair} wings: spot")

    d.bump("body across", half[0], 0.07, "body: how wide")
    d.bump("body along", {"y": 1, "bias": -0.02}, 0.55, "body: how long")
    d.blob("body", ("body across", "body along"), "body")
    d.bump("feeler across", total(half[0], {"y": 0.55, "bias": 0.24}), 0.027, "feelers: slanting outwards")
    d.bump("feeler along", {"y": 1, "bias": 0.66}, 0.2, "feelers: how long")
    d.blob("feeler", ("feeler across", "feeler along"), "feelers")

    d.any_of("shape", ("upper wing", "lower wing", "body", "feeler"), "all that is not background")
    d.any_of("fields", ("upper field", "lower field"), "wings: inside the border of either pair")
    d.all_of("colour", {"fields": 1, "body": -1}, "wings: what the body leaves to be seen")
    d.any_of("spots", ("upper spot", "lower spot"), "wings: spots of either pair")
    d.all_of("marks", {"colour": 1, "spots": 1}, "wings: spots, on the coloured part alone")
    d.outline("rims", "marks", "wings: the rims of the spots")
    d.paint("hue", 0.22, {"shape": -0.18, "lower field": 0.05, "marks": 0.5})
    d.paint("saturation", 0.22, {"shape": 0.63})
    d.paint("brightness", 0.97, {"shape": -0.77, "colour": 0.75, "rims": -0.8})
    return d.genome()


def flower() -> Genome:
    """Eight petals, drawn as one on a plane folded four times, a disc, a stem and two leaves."""
    d = Drawing()
    point: Point = ({"x": 1}, {"y": -1, "bias": -0.28})
    for i, share in enumerate(("half", "quarter", "eighth", "sixteenth")):
        point = d.fold(share, point, pi / 2**i, f"petals: the plane about the blossom, folded to a {share}")
    d.bump("petal across", point[0], 0.1, "petals: breadth")
    d.bump("petal along", total(point[1], {"bias": -0.34}), 0.22, "petals: length")
    d.blob("petal", ("petal across", "petal along"), "petals")
    d.bump("disc across", {"x": 1}, 0.15, "disc: where across")
    d.bump("disc along", {"y": 1, "bias": 0.28}, 0.15, "disc: where along")
    d.blob("disc", ("disc across", "disc along"), "disc")
    d.any_of("blossom", ("petal", "disc"), "blossom: petals and disc")

    d.add("sway", "sin", {"y": 4}, "stem: how it sways")
    d.bump("stem across", {"x": 1, "sway": 0.03}, 0.03, "stem: where across")
    d.add("below", "sigmoid", {"y": 12}, "stem: below the blossom")
    d.blob("stem", ("stem across", "below"), "stem")
    leaf = rotated(({"x": 1, "half": 2}, {"y": 1}), (0.27, 0.6), -0.6)
    d.bump("leaf along", leaf[0], 0.26, "leaves: length")
    d.bump("leaf across", leaf[1], 0.09, "leaves: breadth")
    d.blob("leaf", ("leaf along", "leaf across"), "leaves")
    d.any_of("green", ("stem", "leaf"), "stem and leaves")
    d.all_of("behind", {"green": 1, "blossom": -1}, "stem and leaves: what the blossom leaves to be seen")
    d.paint("hue", 0.56, {"blossom": 0.36, "disc": 0.22, "behind": -0.24})
    d.paint("saturation", 0.3, {"blossom": 0.3, "disc": 0.3, "behind": 0.45})
    d.paint("brightness", 0.95, {"disc": -0.1, "behind": -0.45})
    return d.genome()


def vase() -> Genome:
    """A shaded vase on a table before a glow: smooth colours, and no weight above 4, as evolved pictures have them."""
    d = Drawing()
    mirrored(d)
    d.add("belly", "gaussian", {"y": 2.2, "bias": -0.35}, "vase: wider where it bulges")
    d.add("neck", "gaussian", {"y": 3.4, "bias": 1.7}, "vase: narrower at the neck")
    d.add("width", "identity", {"belly": 0.2, "neck": -0.1, "bias": 0.28}, "vase: how wide at this height")
    d.add("outline", "sigmoid", {"width": 4, "side": -4}, "vase: inside its outline, softly")
    d.add("top", "sigmoid", {"y": 4, "bias": 3.0}, "vase: below the rim")
    d.add("foot", "sigmoid", {"y": -4, "bias": 3.0}, "vase: above the table")
    d.add("within", "sigmoid", {"outline": 4, "top": 1.5, "foot": 1.5, "bias": -2.4}, "vase: inside all of its edges")
    d.add("vase", "sigmoid", {"within": 4, "bias": 0.6}, "vase: the same, less softly")
    d.add("lit", "gaussian", {"x": 2.6, "bias": 0.5}, "light: where it falls on the vase")
    d.add("bright", "gaussian", {"y": 2.4, "bias": 0.1}, "light: at which height")
    d.add("spot", "sigmoid", {"lit": 3, "bright": 3, "bias": -3.4}, "light: a spot on the belly")
    d.add("shine", "sigmoid", {"spot": 3, "vase": 3, "bias": -3}, "light: on the vase alone")
    d.add("round", "cos", {"side": 3.2}, "vase: darker to its sides")
    d.add("shade", "sigmoid", {"round": 2.4, "vase": 2, "bias": -1.6}, "vase: its lighter middle")
    d.add("bands", "cos", {"y": 4, "belly": 3.5}, "vase: bands round it")
    d.add("bent", "sigmoid", {"bands": 3, "within": 3, "bias": -3}, "vase: bands on the vase alone")
    d.add("glow", "gaussian", {"d": 0.9, "y": 0.4}, "background: a glow behind the vase")
    d.add("table", "sigmoid", {"y": 4, "bias": -3.0}, "table: below")
    d.add("desk", "sigmoid", {"table": 4, "bias": 0.5}, "table: its edge, less softly")
    d.paint("hue", -0.4, {"vase": 0.5, "bent": 0.12, "glow": 0.06, "desk": 0.45})
    d.paint("saturation", 0.35, {"vase": 0.25, "shine": -0.4, "desk": 0.15, "bent": 0.1})
    d.paint("brightness", 0.3, {"glow": 0.45, "vase": -0.1, "shine": 0.45, "shade": 0.3, "bent": -0.15, "desk": -0.15})
    return d.genome()


def rippled(genome: Genome, amplitude: float = 0.04) -> Genome:
    """The same parts, and a faint wave over the brightness: the rough picture of a network that is designed alike."""
    out = genome.outputs.get("brightness") or genome.outputs["ink"]
    first, second = (genome.inputs[label] for label in ("x", "y"))
    links = (Link(first, "ripple", 31.0), Link(second, "ripple", 23.0), Link("ripple", out, amplitude))
    return Genome((*genome.nodes, Node("ripple", "hidden", "a faint wave", "sin")), (*genome.links, *links))


def designs() -> dict[str, Genome]:
    """The four pictures by name; all but the last have flat colours."""
    return {"face": face(), "moth": moth(), "flower": flower(), "vase": vase()}
