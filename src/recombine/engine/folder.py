"""Which folder a run's results go to: short names, whose results a folder holds, and what must not be replaced."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.core import UserError
from recombine.engine import store
from recombine.engine.catalogue import TIERS, Experiment
from recombine.table import PRIMARY

if TYPE_CHECKING:
    from recombine.engine.request import RunRequest

LONGEST = 60
"""Characters of a folder's name; settings that do not fit are counted and hashed."""
SEEDS = "seeds"
"""The setting that is no part of a folder's name: a folder grows with its seeds."""
OLD_SETTINGS = {"hot": "max_active", "asked": "n_eval", "swept": "n_weights", "tellings": "task_encodings"}
"""What settings were called when older results were made."""
_LABEL = re.compile(r"\w[\w.+=-]*")
_RESERVED = ("cells", *TIERS)


def flat(value: Any) -> str:
    """A setting as it stands in the name of a folder."""
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def short_name(tier: str, changed: Mapping[str, Any]) -> str:
    """The tier and the settings that differ from it, as `laptop,width=32`; those that do not fit, as `7more-1f0c9a`."""
    words = [f"{name}={flat(value)}".replace("/", "_") for name, value in changed.items() if name != SEEDS]
    whole = ",".join([tier, *words])
    if len(whole) <= LONGEST:
        return whole
    digest, shown = hashlib.sha256(whole.encode()).hexdigest()[:6], [tier]
    for word in words:
        if len(",".join([*shown, word])) > LONGEST - len(",99more-") - len(digest):
            break
        shown.append(word)
    return ",".join([*shown, f"{len(words) - len(shown) + 1}more-{digest}"])


def check_label(label: str) -> None:
    """Refuse a label that cannot be a folder's name, or that names a folder with another purpose."""
    if not _LABEL.fullmatch(label) or len(label) > LONGEST:
        rule = f"letters, digits and . _ + = -, at most {LONGEST} of them, the first a letter, digit or _"
        raise UserError(f"--name {label[:80]!r} cannot name a folder: use {rule}")
    if label in _RESERVED:
        raise UserError(f"--name {label!r} is taken: results have folders called {', '.join(_RESERVED)}")


def owner(facts: Any, experiment: Experiment) -> str:
    """Whose results these are, if they are those of another study of the same name that still exists."""
    source = facts.get("source") if isinstance(facts, dict) else None
    if not isinstance(source, str) or source == experiment.source:
        return ""
    return source if not source.endswith(".py") or Path(source).exists() else ""


def claim_folder(order: RunRequest) -> None:
    """Refuse a folder that belongs to another study of the same name, or whose label names other settings."""
    for path in order.home.glob("*/settings.json"):
        try:
            whose = owner(store.read_json(path), order.experiment)
        except (UserError, TypeError):
            continue
        if whose:
            raise UserError(f"{order.home} holds the results of {whose}: choose another --out for this study")
    stored = _stored(order.folder)
    if order.label and stored and (said := _difference(order, stored)):
        raise UserError(f"{order.folder} has other settings ({said}): choose another --name")


def holds_more(order: RunRequest) -> str:
    """What a folder already has beyond what is ordered, at the same settings: seeds, or protocol variants.

    Refuses an order by which some would be lost: it has other settings, or more of the one and less of the other.
    """
    stored = _stored(order.folder)
    if not stored:
        return ""
    seeds, wanted = stored["settings"].get(SEEDS, 0), getattr(order.settings, SEEDS, 0)
    there = set(stored.get("variants") or ()) & {variant.name for variant in order.experiment.variants}
    ordered = set(order.protocols) - {PRIMARY}
    if seeds <= wanted and there <= ordered:
        return ""
    said = f"{seeds} seeds" + (f" and {len(there)} protocol variant{'s' * (len(there) > 1)}" if there else "")
    if changed := _difference(order, stored):
        raise UserError(f"{order.folder} has {said} at other settings ({changed}): order as many, or give a --name")
    if seeds < wanted or not ordered <= there:
        raise UserError(f"{order.folder} has {said}, some of which would be lost: order them too, or give a --name")
    return said


def _stored(folder: Path) -> dict[str, Any]:
    """What a folder's settings.json says; nothing where it has no table, or is damaged."""
    try:
        facts = store.read_json(folder / "settings.json")
    except UserError:
        return {}
    sound = isinstance(facts, dict) and isinstance(facts.get("settings"), dict)
    return facts if sound and (folder / "table.parquet").exists() else {}


def _difference(order: RunRequest, stored: Mapping[str, Any]) -> str:
    """The first thing in which an order differs from a stored result, beside its seeds; settings it lacks are equal."""
    if stored.get("tier") != order.tier:
        return f"tier {stored.get('tier')}, not {order.tier}"
    for name, value in stored["settings"].items():
        now = getattr(order.settings, OLD_SETTINGS.get(name, name), value)
        if name != SEEDS and store.plain(now) != value:
            return f"{name} {flat(value)}, not {flat(now)}"
    return ""
