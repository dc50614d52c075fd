"""One self-contained HTML page: verdict, what it rests on, figures, layers, and the rules that were applied."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.diagnosis import figures
from recombine.diagnosis.diagnosis import Diagnosis, plain
from recombine.diagnosis.layers import Layer, pure_rows
from recombine.diagnosis.probes import PER_UNIT, on_new
from recombine.diagnosis.ruling import CANNOT_TELL, COMPOSES, MEMORIZES, PARTLY
from recombine.diagnosis.several import named_apart, over_models
from recombine.diagnosis.summary import advice, lost
from recombine.measures.gap import Interval

STYLE = """
:root { color-scheme: light dark; --ink: #1d2125; --paper: #fff; --faint: #667; --line: #d5d8dc; --wash: #f4f5f7 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e3; --paper: #16181b; --faint: #9aa; --line: #3a3f45; --wash: #202428 }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.2rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.35rem; margin: 0 0 .2rem } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem }
p { margin: .4rem 0 } .faint { color: var(--faint); font-size: .88rem }
.verdict { border-left: .4rem solid var(--mark); background: var(--wash); padding: .8rem 1rem; margin: .8rem 0 }
.verdict b { font-size: 1.3rem; color: var(--mark); text-transform: capitalize }
.scroll { overflow-x: auto } svg { width: min(var(--wide), max(100%, 31rem)); height: auto; color: var(--ink) }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { color: var(--faint); font-weight: 500 }
li { margin: .2rem 0 } code { font-size: .9em }
@media print { :root { --ink: #000; --paper: #fff; --wash: #f4f5f7; --line: #ccc; --faint: #555; color-scheme: light }
  body { max-width: none; padding: 0; font-size: 10.5pt } h2 { break-after: avoid }
  figure, .verdict, tr { break-inside: avoid } .scroll { overflow: visible }
  svg { width: min(var(--wide), 100%) } }
figure { margin: .6rem 0 } figcaption { color: var(--faint); font-size: .86rem }
"""
MARKS = {COMPOSES: "#2f9e6e", MEMORIZES: "#c8503c", PARTLY: "#c98a1b", CANNOT_TELL: "#77808a"}
MEANINGS = {
    COMPOSES: "its answers to new combinations are about as good as to seen ones, and better than memory explains",
    MEMORIZES: "its answers to new combinations are no better than what memory of seen ones would give",
    PARTLY: "some of what is new is answered as if it had been seen, and some as if from memory",
    CANNOT_TELL: "these data do not decide it",
}


def page(diagnoses: Sequence[Diagnosis]) -> str:
    """The report on one model, or on several with a comparison first."""
    title = diagnoses[0].name if len(diagnoses) == 1 else f"{len(diagnoses)} models"
    body = [_several(diagnoses)] if len(diagnoses) > 1 else []
    body += [_model(d, len(diagnoses) > 1) for d in diagnoses]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}: does it compose?</title><style>{STYLE}</style></head><body>\n"
        f"<h1>Does it compose or memorize? {escape(title)}</h1>\n{''.join(body)}</body></html>\n"
    )


def save(diagnoses: Sequence[Diagnosis], folder: Path | str) -> list[Path]:
    """Write the report on all of them and the numbers of each; of several, with means over them."""
    if not diagnoses:
        raise UserError("there is no diagnosis to save: the list is empty")
    diagnoses = named_apart(diagnoses)
    numbers = [d.numbers() for d in diagnoses]
    told = numbers[0] if len(numbers) == 1 else {"models": numbers, "over_models": plain(over_models(diagnoses))}
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UserError(f"{place} is a file, or lies below one: name a folder for the report") from error
    (place / "report.html").write_text(page(diagnoses), encoding="utf-8")
    (place / "numbers.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return [place / "report.html", place / "numbers.json"]


def _several(diagnoses: Sequence[Diagnosis]) -> str:
    rows = [[d.name, d.verdict, _interval(d.gap), f"{d.behaviour.fit:.2f}"] for d in diagnoses]
    over = [[name, _interval(i)] for name, i in over_models(diagnoses).items()]
    said = "Means over models, with 95 % intervals over them, for seeds or checkpoints of one model:"
    return (
        f"<h2>{len(diagnoses)} models</h2>{_table(['model', 'verdict', 'G', 'fit'], rows)}"
        "<p class='faint'>G is the extra error on new combinations as a share of a memory's: 0 composes, 1 memorizes."
        f"</p>{f'<p class=faint>{said}</p>' + _table(['', 'mean'], over) if over else ''}"
    )


def _model(d: Diagnosis, named: bool) -> str:
    c = d.coverage
    head = f"<h2>{escape(d.name)}</h2>" if named else ""
    caveats = "".join(f"<p>But {escape(said)}.</p>" for said in d.ruling.caveats)
    told = "".join(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in [*lost(d), *advice(d)])
    parts = [
        head,
        f"<div class='verdict' style='--mark: {MARKS[d.verdict]}'><b>{d.verdict}</b>"
        f"<p>{escape(d.why[0].upper() + d.why[1:])}.</p>{caveats}"
        f"<p class='faint'>{d.verdict}: {MEANINGS[d.verdict]}. Rule: {escape(d.ruling.rule)}.</p></div>{told}",
        "<h2>What was seen, and what is new</h2>",
        f"<p>{c.combinations:,} combinations of {' x '.join(map(escape, d.evidence.names))}: {c.seen:,} seen, {c.new:,}"
        f" new, {c.unseen_values:,} with a value never trained on. Seen: {_tuples(d)}. The seen combinations"
        f" {'hang together' if c.connected else f'fall into {c.parts} parts that share no value'}.</p>",
        _figure(figures.drawn(lambda: figures.coverage_map(d)), "Pairs of values that were seen and that are new."),
        "<h2>Errors</h2>",
        _figure(
            figures.drawn(lambda: figures.error_bars(d)),
            "Means over combinations; lines are 95 % intervals over combinations. Grey: what would be answered to new"
            " combinations without composing. The sum of parts knows each part, but not how they combine.",
        ),
        _readings(d),
        _figure(figures.drawn(lambda: figures.samples(d)), "Targets (above) and outputs (below) on new combinations."),
        _inside(d),
        _notes(d),
    ]
    return "\n".join(parts)


def _inside(d: Diagnosis) -> str:
    """The layers, which describe and do not decide."""
    if len(d.layers) < 2:
        return "<h2>Inside</h2><p>No layers were given: only answers could be measured.</p>"
    silent = list(dict.fromkeys(said for layer in d.layers for said in layer.silent))
    how = next((layer.how for layer in d.layers if layer.how), "combination means")
    return "".join(
        [
            "<h2>Inside, layer by layer</h2><p class='faint'>These describe the model. They do not decide: no"
            " measure of hidden layers was found to predict composition.</p>",
            _figure(
                figures.drawn(lambda: figures.layer_curves(d)),
                _probe_caption(d),
            ),
            _figure(
                figures.drawn(lambda: figures.shape_curves(d)),
                f"Shape of each layer over the combinations, by {how};"
                " band: 95 % interval over combinations; dashed: combinations shuffled.",
            ),
            _figure(
                figures.drawn(lambda: figures.kernels(d)),
                "Cosines between combinations, seen ones first (lines), beside those of AND and of OR.",
            ),
            _layer_table([*d.layers, *([d.target] if d.target else [])], d.evidence.names),
            "".join(f"<p class='faint'>{escape(said)}.</p>" for said in silent[:8]),
        ]
    )


def _probe_caption(d: Diagnosis) -> str:
    """What the curves show, on which combinations, and what was left out or cut."""
    where = (
        "reads each factor on new ones"
        if on_new(d.evidence)
        else (
            "reads each factor on seen ones that it was not fitted on (there are no new ones: this says nothing about"
            " composing)"
        )
    )
    more = ""
    if figures.cut(d):
        more += " Values and intervals below -1 are drawn at -1 (triangles)."
    if len(d.evidence.names) > figures.MOST_PANELS:
        more += f" The first {figures.MOST_PANELS} of {len(d.evidence.names)} factors are drawn; numbers.json has all."
    return (
        f"How well a linear probe, fitted on seen combinations, {where}; band: 95 % interval over combinations; dashed:"
        f" shuffled labels; hollow: fewer than {PER_UNIT} combinations per unit. The last point is the target itself:"
        f" what a right answer lets be read.{more}"
    )


def _layer_table(layers: Iterable[Layer], names: Sequence[str]) -> str:
    head = [
        "layer",
        "units",
        *(f"R² {n}" for n in names),
        "additive",
        "factorisation",
        "volume",
        "AND",
        "OR",
        "Schmidt",
    ]
    rows = [
        [
            layer.name,
            str(layer.units),
            *(f"{layer.decodability[n].value:.2f}{'*' * layer.few}" if n in layer.decodability else "–" for n in names),
            *map(layer.said, ("additive_share", "factorisation", "hole_depth", "and_agreement", "or_agreement")),
            "; ".join(layer.said(f"schmidt/{n}") for n in layer.schmidt) or "–",
        ]
        for layer in layers
    ]
    few = f"* fewer than {PER_UNIT} combinations per unit: do not trust it."
    told = "± is half a 95 % interval over combinations; in brackets, the same with combinations shuffled."
    return _table(head, [*rows, *pure_rows(list(layers), names)]) + f"<p class='faint'>{told} {few}</p>"


def _readings(d: Diagnosis) -> str:
    """What answers to new combinations look like."""
    if d.tells is None:
        return ""
    t = d.tells
    rows = [
        [name, f"{r.share.value:.2f} [{r.share.low:.2f}, {r.share.high:.2f}]", f"{r.truth:.2f}", f"{r.chance:.2f}"]
        for name, r in t.readings.items()
    ]
    said = (
        f"Superposition: the model's own answers to seen combinations that share a part explain {_share(t.r2_parts)} of"
        f" its answers to new ones (R² {_interval(t.r2_interval)}); parts of others {_share(t.r2_shuffled)}, the truth"
        f" {_share(t.r2_truth)}."
        f" Copies of the answer to a nearest seen combination: {_share(t.near_copies)} (of the truth:"
        f" {_share(t.true_copies)})."
    )
    head = ["factor", "right, by nearest target", "for the truth", "by chance"]
    return f"<p class='faint'>Which combination an answer looks like most:</p>{_table(head, rows)}<p>{said}</p>"


def _notes(d: Diagnosis) -> str:
    took = sum(d.seconds.values())
    split = ", ".join(f"{name} {s:.1f} s" for name, s in d.seconds.items() if s >= 0.05)
    notes = "".join(f"<li>{escape(note)}</li>" for note in d.notes)
    return (
        f"<h2>Notes</h2><ul>{notes}<li>Every number of this page is in numbers.json.</li>"
        f"<li>Measured in {took:.1f} s{f' ({split})' if split else ''}.</li></ul>"
    )


def _tuples(d: Diagnosis) -> str:
    words = {1: "values", 2: "pairs", 3: "triples"}
    return ", ".join(f"{100 * s:.0f} % of {words.get(k, f'{k}-tuples')}" for k, s in d.coverage.tuples.items())


def _figure(svg: str, caption: str) -> str:
    return f"<figure><div class='scroll'>{svg}</div><figcaption>{caption}</figcaption></figure>" if svg else ""


def _interval(i: Interval | None) -> str:
    return "–" if i is None or not np.isfinite(i.value) else f"{i.value:.2f} [{i.low:.2f}, {i.high:.2f}]"


def _share(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{100 * value:.0f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = "".join("<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in row) + "</tr>" for row in rows)
    heads = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f"<div class='scroll'><table><tr>{heads}</tr>{cells}</table></div>"
