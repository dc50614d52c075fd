"""Do written steps carry a computation to larger sizes, or is length a matter of places?

Dziri et al. find that fine-tuned models fail on sizes above those they were trained on, also with scratchpads. Here
decoders learn the largest sum of non-adjacent numbers with all steps, in rows of up to five, and are asked for more.
Only how they are told where a token stands differs. Rows whose sums exceed the trained ones are scored apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import recombine as rc
from recombine.experiments.dziri2023 import programmes
from recombine.experiments.tokens import shared

if TYPE_CHECKING:
    import pandas as pd

PLAIN, COUPLED, NOWHERE, LEARNED, LOOPED = "plain", "coupled", "nowhere", "learned", "looped"
KINDS = (PLAIN, COUPLED, NOWHERE, LEARNED, LOOPED)


@dataclass(frozen=True, kw_only=True)
class Settings(programmes.Programmes):
    kinds: tuple[str, ...] = (PLAIN, COUPLED)
    """how networks are told where a token stands; "looped" is plain, with one layer as often as there are layers"""
    steps: int = 3000
    """updates of each network"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.kinds)) < len(self.kinds) or not {PLAIN, COUPLED} <= set(self.kinds) <= set(KINDS):
            raise rc.UserError(
                f"kinds have both {PLAIN} and {COUPLED}, and may have {', '.join(KINDS[2:])}; got {self.kinds}"
            )


_TINY = {"longest": 3, "larger": (4, 5), "rows": 200, "n_eval": 32, "width": 8, "head": 4, "depth": 1, "batch": 16}
QUICK = Settings(seeds=2, steps=20, **_TINY)  # pyrefly: ignore
LAPTOP = Settings(seed=4, steps=2000, batch=64)
_SIZES = {"width": 128, "depth": 4, "head": 32, "batch": 256, "kinds": (PLAIN, COUPLED, LEARNED)}
GPU = Settings(seed=3, seeds=8, block=8, steps=10_000, learning_rate=1e-3, precision="bfloat16", **_SIZES)  # pyrefly: ignore
PAPER = replace(
    GPU, kinds=KINDS, seeds=10, block=5, width=256, depth=8, steps=100_000, learning_rate=3e-4, precision="float32"
)
VARIANTS = (
    rc.Variant(
        "half the steps", "the length of training is ours", steps=lambda s: s.steps // 2, kinds=(PLAIN, COUPLED)
    ),
    rc.Variant(
        "fewer rows",
        "the paper's training sizes are not known here",
        rows=lambda s: s.rows // 4,
        kinds=(PLAIN, COUPLED),
    ),
    rc.Variant("more weight decay", "weight decay is ours", weight_decay=0.1, kinds=(PLAIN, COUPLED)),
)


def cells(settings: Settings) -> list[rc.Cell]:
    return rc.cells(settings, [{"kind": kind} for kind in settings.kinds])


def decoder(settings: programmes.Programmes, kind: str):
    """How a decoder is made that is told places in this way."""
    from recombine.models.decoder import nowhere, plain
    from recombine.tasks.subsequence import coupled

    room = 3 * max(settings.larger) + 3
    ways = {
        PLAIN: {"places": plain},
        COUPLED: {"places": coupled},
        NOWHERE: {"places": nowhere},
        LEARNED: {"places": nowhere, "learned": room},
        LOOPED: {"places": plain, "repeats": settings.depth},
    }
    sized = replace(settings, depth=1) if kind == LOOPED else settings
    return shared.decoder(sized, programmes.family(settings), **ways[kind])


def run(cell: rc.Cell, monitor) -> list[dict]:
    settings, make = cell.settings, decoder(cell.settings, cell.kind)
    who = [{"condition": cell.kind, "seed": seed} for seed in cell.members]
    chosen = [programmes.trained_rows(settings, seed) for seed in cell.members]
    task = programmes.family(settings)
    trained = shared.fit(settings, task, make, seeds=cell.members, chosen=chosen, monitor=monitor, label=cell.kind)
    found = []
    for i, (w, rows) in enumerate(zip(who, chosen, strict=True)):
        scores, record = programmes.larger_sizes(settings, trained[i].model)
        monitor.recorded(f"{cell.kind}-{w['seed']}", record)
        repeats = settings.depth if cell.kind == LOOPED else 1
        sizes = shared.sizes(make, record.x.shape[1], repeats)
        found.append(programmes.known_sizes(settings, trained[i].model, rows, w["seed"]) | scores | sizes)
    return rc.rows(trained, who, found)


def controls(settings: Settings) -> list[dict]:
    """A perfect solver of larger sizes, one that errs at random, a rememberer, and an untrained network."""
    scores, _ = programmes.larger_sizes(settings, shared.untrained(settings, decoder(settings, PLAIN)))
    known = programmes.known_systems(settings, programmes.trained_rows(settings, 0))
    return [*known, {"system": "untrained", "seed": 0} | scores]


def fits(*kinds: str) -> tuple:
    return (rc.fitted("exact_trained", at_least=programmes.fits, condition=list(kinds)),)


claim = partial(rc.Claim, controls=programmes.CONTROLS)
CLAIMS = (
    claim(
        "steps written out do not carry to larger sizes (the paper)",
        "With all steps written out, decoders are right on the sizes they were trained on and mostly wrong on larger.",
        "Dziri et al. (2023): near 100 % in distribution, near 0 % on larger, also with scratchpads (second-hand)",
        effect=lambda t: rc.value("exact_trained", condition=PLAIN)(t) - rc.value("exact_larger", condition=PLAIN)(t),
        above=0.5,
        unit="exact answers with steps and plain places, trained sizes minus larger ones",
        fits=fits(PLAIN),
    ),
    claim(
        "shared places carry dynamic programmes to larger sizes (ours)",
        "Where an input, its step and its answer share a place, decoders are right on larger sizes more often.",
        "ours, after Cho et al. (2024, arXiv 2405.20671) on addition",
        effect=rc.difference("exact_larger", COUPLED, PLAIN),
        above=0.2,
        unit="exact answers to larger sizes, coupled minus plain places",
        fits=fits(PLAIN, COUPLED),
    ),
)


def figure(settings: Settings, table: pd.DataFrame):
    """Exact answers and right steps against the number of inputs: one line per network, a colour per kind of places.

    Places tell a network where a token stands. Plain: the index of the token. Coupled: tokens that belong together, an
    input, its step and its answer, share a place. Learned: a vector per index, found in training. The paper tier adds
    networks without places (nowhere), and plain ones that pass a single layer several times (looped).
    """
    plots, rows = rc.plots, rc.networks(table)
    picture, axes = plots.panels(rows=1, columns=2, side=3.6)
    colours = dict(zip(KINDS, (plots.BAD, plots.GOOD, plots.NEUTRAL, "tab:purple", "tab:orange"), strict=True))
    sizes = [settings.longest, *settings.larger]
    for kind in settings.kinds:
        for i, (_, row) in enumerate(rows[rows["condition"] == kind].iterrows()):
            exact = [row["exact_held"], *(row[f"exact_{n}"] for n in settings.larger)]
            style = {"color": colours[kind], "alpha": 0.7, "linewidth": 1, "markersize": 3}
            axes[0, 0].plot(sizes, exact, "o-", label=kind if i == 0 else None, **style)
            axes[0, 1].plot(settings.larger, [row[f"node_{n}"] for n in settings.larger], "o-", **style)
    for _, row in table[table["system"] == "copies"].iterrows():
        copies = [row[f"node_{n}"] for n in settings.larger]
        axes[0, 1].plot(settings.larger, copies, ":", color="black", label="copies the step before")
        axes[0, 1].legend(fontsize=7, frameon=False)
    for place, asked in zip(axes[0], (sizes, settings.larger), strict=True):
        place.set_xticks(asked)
        place.set_xlim(asked[0] - 0.5, asked[-1] + 0.5)
    axes[0, 0].axvspan(sizes[0] - 0.4, sizes[0] + 0.4, color=plots.NEUTRAL, alpha=0.15, linewidth=0)
    axes[0, 0].legend(fontsize=7, frameon=False, title="places")
    axes[0, 0].set(xlabel="inputs (shaded: as in training)", ylabel="exact answers", ylim=(-0.03, 1.05))
    axes[0, 1].set(xlabel="inputs", ylabel="right steps, given right ones before", ylim=(-0.03, 1.05))
    return picture
