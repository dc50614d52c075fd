"""What can be said against a claim from its table."""

from __future__ import annotations

import pandas as pd

import recombine as rc
from recombine.engine import audit
from recombine.engine.audit import in_place
from recombine.table import modern

SEEDS = range(6)


def against(claim: rc.Claim, table: pd.DataFrame) -> list[str]:
    return audit.against(claim, audit.Seen(table))


def table(**conditions) -> pd.DataFrame:
    rows = [
        {"system": "network", "condition": name, "seed": seed, "score": value + 0.001 * seed, "fit": 1.0}
        for name, value in conditions.items()
        for seed in SEEDS
    ]
    rows += [{"system": "perfect", "seed": 0, "score": 1.0, "fit": 1.0}]
    rows += [{"system": "untrained", "seed": 0, "score": 0.3, "fit": 0.1}]
    return modern(pd.DataFrame(rows))


def claim(effect, **more) -> rc.Claim:
    return rc.Claim("c", "says", "where", effect, **more)


def test_a_margin_that_even_perfect_networks_hardly_clear_is_told():
    gain = claim(rc.difference("score", "after", "before"), above=0.1)
    assert "at the ceiling" in against(gain, table(before=0.8985, after=0.95))[0]
    assert against(gain, table(before=0.5, after=0.55)) == []


def test_a_margin_that_untrained_networks_keep_is_told_unless_they_do_not_fit():
    lost = rc.difference("score", "before", "after")
    rows = table(before=0.9, after=0.89)
    assert "untrained networks" in against(claim(lost, below=0.05), rows)[0]
    assert against(claim(lost, below=0.05, fits=(rc.fitted("fit", at_least=0.9),)), rows) == []
    assert "untrained networks" in against(claim(rc.value("score", condition="after"), above=0.2), rows)[0]


def test_a_control_that_is_misread_is_told():
    impossible = rc.reads("perfect", "score", at_most=0.9)
    said = against(claim(rc.value("score", condition="after"), above=0.5, controls=(impossible,)), table(after=0.95))
    assert "a control is misread, whatever is trained" in said[0]


def test_each_network_gets_the_numbers_of_the_control_of_its_own_picture():
    rows = table(a=0.9, b=0.8).assign(goal="face", width=16)
    rows.loc[rows["condition"] == "b", "goal"] = "moth"
    own = [
        {"system": "untrained", "goal": g, "seed": 0, "score": s, "width": 4} for g, s in (("face", 0.1), ("moth", 0.2))
    ]
    both = pd.concat([rows[rows["system"] != "untrained"], pd.DataFrame(own)], ignore_index=True)
    found = in_place(modern(both), "untrained")
    assert set(rc.pick(found, condition="a")["score"]) == {0.1}
    assert set(rc.pick(found, condition="b")["score"]) == {0.2}
    assert set(rc.networks(found)["width"]) == {16}, "what a network is, is no measure"
