"""How often the rules of verdicts err: simulated at several numbers of seeds, for effects of several shapes.

`docs/rules.md` is written by `python -m recombine.bench.rules`. The row "chosen in other seeds" is a rule that this
project used before: it compared with the rival that was best in all other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from recombine.claims import MIN_SEEDS, decide
from recombine.core import Claim

SEEDS = (5, 8, 12, 40)
RIVALS = 4
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed up": lambda rng, shape: rng.exponential(size=shape) - 1,
    "skewed down": lambda rng, shape: 1 - rng.exponential(size=shape),
    "two values, even": lambda rng, shape: rng.choice([-1.0, 1.0], size=shape),
    "two values, 1 in 5": lambda rng, shape: rng.choice([2.0, -0.5], p=[0.2, 0.8], size=shape),
}
"""Effects of mean 0 and standard deviation 1, in units of which distances from a margin are given."""
AT_MARGIN = Claim("", "", "", lambda table: table, above=0.0, null=-10.0)


def one(effects: np.ndarray) -> str:
    """The rule for one effect."""
    return decide(effects[:, 0], AT_MARGIN, 1)[0]


def every(effects: np.ndarray) -> str:
    """The rule for several rivals: holds if each interval clears the margin, fails if one lies below, corrected."""
    words = [decide(column, AT_MARGIN, effects.shape[1])[0] for column in effects.T]
    return "holds" if set(words) == {"holds"} else "fails" if "fails" in words else "undecided"


def within(effects: np.ndarray) -> str:
    """The rule for a range, here of four standard deviations whose lower end is the margin."""
    return decide(effects[:, 0], replace(AT_MARGIN, below=4.0), 1)[0]


def fitted(effects: np.ndarray) -> str:
    """The rule for one effect where one network in five, whatever its effect, did not fit: four are too few."""
    kept = effects[: round(0.8 * len(effects)), 0]
    return decide(kept, AT_MARGIN, 1)[0] if len(kept) >= MIN_SEEDS else "undecided"


def lowest_unfit(effects: np.ndarray) -> str:
    """The same where the fifth of the networks with the lowest effects did not fit: another mean is judged then."""
    kept = np.sort(effects[:, 0])[len(effects) - round(0.8 * len(effects)) :]
    return decide(kept, AT_MARGIN, 1)[0] if len(kept) >= MIN_SEEDS else "undecided"


def chosen(effects: np.ndarray) -> str:
    """The former rule: by seed, the rival whose effect is lowest in all other seeds."""
    others = (effects.sum(axis=0) - effects) / (len(effects) - 1)
    return decide(np.take_along_axis(effects, others.argmin(axis=1)[:, None], 1)[:, 0], AT_MARGIN, 1)[0]


RULES = {
    "one effect": (one, 1),
    "within a range": (within, 1),
    "one in five unfit": (fitted, 1),
    "the lowest fifth unfit": (lowest_unfit, 1),
    f"every one of {RIVALS} rivals": (every, RIVALS),
    "chosen in other seeds (former)": (chosen, RIVALS),
}


def rates(rule: str, shape: str, seeds: int, shift: float, *, draws: int = 1000, seed: int = 0) -> dict[str, float]:
    """How often a rule says holds and fails of effects whose mean lies this far from the margin.

    Of several rivals all lie at that distance; their effects of one seed are independent.
    """
    verdict, columns = RULES[rule]
    rng = np.random.default_rng([seed, seeds])
    words = [verdict(SHAPES[shape](rng, (seeds, columns)) + shift) for _ in range(draws)]
    return {word: words.count(word) / draws for word in ("holds", "fails")}


def boundary(shape: str, seeds: int, *, draws: int = 1000) -> float:
    """How often "beats every rival" holds falsely where one rival is at the margin and all others lie far above."""
    rng = np.random.default_rng([1, seeds])
    far = np.array([0.0] + [3.0] * (RIVALS - 1))
    return float(np.mean([every(SHAPES[shape](rng, (seeds, RIVALS)) + far) == "holds" for _ in range(draws)]))


def measure(*, draws: int = 1000) -> dict:
    """Shares of draws called "holds" or "fails": at the margin, and half a standard deviation above and below it."""
    rows = []
    for rule in RULES:
        for shape in SHAPES:
            for seeds in SEEDS:
                null, off = (rates(rule, shape, seeds, shift, draws=draws) for shift in (0.0, 0.5))
                near = rates(rule, shape, seeds, -0.5, draws=draws)
                found = {"holds_at_margin": null["holds"], "fails_at_margin": null["fails"]}
                found |= {"holds_half_above": off["holds"], "fails_half_below": near["fails"]}
                found |= {"holds_half_below": near["holds"], "fails_half_above": off["fails"]}
                rows.append({"rule": rule, "shape": shape, "seeds": seeds, **found})
    edge = {shape: {n: boundary(shape, n, draws=draws) for n in SEEDS} for shape in SHAPES}
    return {"draws": draws, "rows": rows, "one_rival_at_margin_holds": edge}


def markdown(found: dict) -> str:
    """The table of `docs/rules.md`: percentages at 5, 8, 12 and 40 seeds."""
    head = f"| rule | effects | {' | '.join(HEADS.values())} |\n{'|---' * (2 + len(HEADS))}|"
    lines = []
    for rule in RULES:
        for shape in SHAPES:
            mine = [r for r in found["rows"] if (r["rule"], r["shape"]) == (rule, shape)]
            cells = ["  ".join(f"{100 * r[key]:.1f}" for r in mine) for key in HEADS]
            lines.append(f"| {rule} | {shape} | {' | '.join(cells)} |")
    edge = [
        f"| {shape} | {'  '.join(f'{100 * r:.1f}' for r in by.values())} |"
        for shape, by in found["one_rival_at_margin_holds"].items()
    ]
    return "\n".join([head, *lines, "", "| effects | false *holds* |", "|---|---|", *edge])


HEADS = {
    "holds_at_margin": "at the margin: *holds*",
    "fails_at_margin": "at the margin: *fails*",
    "holds_half_above": "½ sd above: *holds*",
    "fails_half_above": "½ sd above: *fails* (wrong)",
    "fails_half_below": "½ sd below: *fails*",
    "holds_half_below": "½ sd below: *holds* (wrong)",
}


if __name__ == "__main__":
    print(markdown(measure(draws=4000)))
