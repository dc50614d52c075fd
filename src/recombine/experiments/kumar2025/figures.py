"""The figure of fracture: both scores of designed, rotated, untrained and trained networks, and what two look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recombine.experiments.pictures import figures, moments

if TYPE_CHECKING:
    import pandas as pd

DESIGNED, ROTATED, UNTRAINED, TRAINED, OTHERS = "designed", "rotated", "untrained", "trained", "trained by others"
SCORES = {
    "R": "R: size of changes over the target's",
    "map_zip": "size of unit maps, bytes per pixel",
    "yes_matched": "share of yes, changes of equal effect",
    "yes_fixed": "share of yes, changes of one size",
}


def figure(settings: Any, table: pd.DataFrame):
    """Scores, a dot per network and seed; unit maps and changes of the designed and of a trained network."""
    from matplotlib.figure import Figure

    rows = table[table["kind"].notna()]
    picture = Figure(figsize=(12, 10), layout="constrained")
    parts: Any = picture.subfigures(2, 1, height_ratios=(1, 2))
    scores(parts[0].subplots(1, 4), rows)
    places = parts[1].subplots(2, 2, width_ratios=(1.4, 1))
    first = shown(rows)
    for (maps, strip), kind in zip(places, (DESIGNED, TRAINED), strict=True):
        seen = rows[(rows["goal"] == first) & (rows["kind"] == kind)].reindex(columns=["maps", "strip"]).dropna()
        for _, one in seen.iterrows():
            figures.show_maps(maps, one["maps"], f"{kind}: what each unit renders ({first})")
            figures.show_strip(strip, one["strip"], f"{kind}: four weights, changed")
    return picture


def shown(rows: pd.DataFrame) -> str:
    """The first picture whose trained network to show is alive."""
    kept = rows.reindex(columns=[*rows, *({"maps"} - {*rows})])
    trained = kept[(kept["kind"] == TRAINED) & kept["maps"].notna()]
    return min({*trained[moments.alive(trained) == 1]["goal"]} or {*rows["goal"]})


def scores(places: Any, rows: pd.DataFrame) -> None:
    """One panel per score, one colour per picture."""
    kinds = [k for k in (DESIGNED, ROTATED, UNTRAINED, TRAINED, OTHERS) if (rows["kind"] == k).any()]
    for place, (column, title) in zip(places, SCORES.items(), strict=True):
        figures.dots(place, rows, column, by="kind", kinds=kinds)
        place.set_title(title, fontsize=9)
    places[0].legend(fontsize=7, frameon=False)
