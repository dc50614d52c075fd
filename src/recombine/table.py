"""From networks to rows of a table, and from rows to numbers by seed.

A table has one row per network. `system` says what a row is: "network", or the name of a system whose answer is known
(perfect, blind, untrained, ...). `variant` says under which protocol it was made; "primary" is the experiment's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.core import Check, at_least_one

if TYPE_CHECKING:
    import pandas as pd

NETWORK = "network"
PRIMARY = "primary"
_OLD_CONTROL = "control: "
_OLD_NAMES = {"r": "R", "reuse": "distinct_share", "directions": "participation_ratio", "even": "even_share"}
_OLD_NAMES |= {"hot": "max_active", "telling": "task_encoding"}
_OLD_WORDS = {r"\bcomposed\b": "designed", r"\bturned\b": "rotated"}

Effect = Any  # a function of a table: one number per seed, or a column of them for each rival, picture or depth


@dataclass(frozen=True)
class Cell:
    """A piece of work small enough to lose: some seeds (`members`) of one point of an experiment's grid.

    `cell.depth` reads `at["depth"]`.
    """

    settings: Any
    members: tuple[int, ...]
    at: tuple[tuple[str, Any], ...] = field(default=())

    def __getattr__(self, name: str) -> Any:
        for key, value in self.__dict__.get("at", ()):
            if key == name:
                return value
        raise AttributeError(f"a cell has no {name!r}")


def blocks(settings: Any) -> list[tuple[int, ...]]:
    """The seeds 0 .. `settings.seeds` - 1, cut into blocks of `settings.block` that train together."""
    seeds: Any = getattr(settings, "seeds", None)
    at_least_one(seeds=seeds, block=(size := getattr(settings, "block", seeds)))
    return [tuple(range(settings.seeds)[i : i + size]) for i in range(0, settings.seeds, size)]


def cells(settings: Any, points: Iterable[Mapping[str, Any]] = ({},)) -> list[Cell]:
    """One cell for each point of an experiment's grid and each block of seeds."""
    return [Cell(settings, members, tuple(point.items())) for point in points for members in blocks(settings)]


def rows(run: Any, meta: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[str, Any]]) -> list[dict]:
    """One row per network of a run: who it is, how training ended, what was measured (NaN if it diverged)."""
    if np.shape(run.losses)[:-1] != (len(meta),) or len(measured) != len(meta):
        raise ValueError(f"a population of {len(run.losses)} has {len(meta)} meta and {len(measured)} measured")
    ends = zip(meta, measured, run.losses[:, -1], run.diverged_at, strict=True)
    return [
        {"system": NETWORK, **who, "loss": float(loss), "diverged_at": int(at), **nan_if_diverged(found, int(at))}
        for who, found, loss, at in ends
    ]


def nan_if_diverged(measured: Mapping[str, Any], diverged_at: int) -> dict[str, Any]:
    """Measures as they are, or NaN in place of each if the network diverged."""
    if diverged_at < 0:
        return dict(measured)
    return {name: np.full(np.shape(value), np.nan) if np.ndim(value) else np.nan for name, value in measured.items()}


def control_rows(measure: Callable[[Any], Mapping[str, Any]], systems: Mapping[str, Any]) -> list[dict]:
    """One row per system whose answer is known, measured as networks are."""
    return [{"system": name, "seed": 0, **measure(system)} for name, system in systems.items()]


def modern(table: pd.DataFrame) -> pd.DataFrame:
    """A table with today's columns, `system` and `variant` among them, whenever it was made.

    Older tables named controls by a prefix of their condition: "control: perfect", "control: composed, face".
    """
    old = {name: name.replace("more ", "auc_") for name in map(str, table) if name.startswith("more ")} | _OLD_NAMES
    table = table.rename(columns={name: new for name, new in old.items() if new not in table})
    table = table if "variant" in table else table.assign(variant=PRIMARY)
    if "system" in table:
        return _over_target(table)
    for column in {"kind", "condition"} & set(table):
        table = table.assign(**{column: table[column].replace(_OLD_WORDS, regex=True)})
    condition = table["condition"].fillna("").astype(str) if "condition" in table else None
    if condition is None:
        return table.assign(system=NETWORK)
    controls, words = condition.str.startswith(_OLD_CONTROL), condition.str.removeprefix(_OLD_CONTROL).str.split(", ")
    return _over_target(
        table.assign(
            system=words.str[0].where(controls, NETWORK), condition=words.str[1].where(controls, table["condition"])
        )
    )


def _over_target(table: pd.DataFrame) -> pd.DataFrame:
    """R relative to the size of the target, which a designed network renders; NaN where there is none.

    Older tables have it relative to what each network renders itself, which is now called `r_own`.
    """
    if "r_own" in table or not {"R", "change_zip", "goal"} <= set(table):
        return table
    designed = table[(table["system"] == "designed") | (table.get("kind", table["system"]) == "designed")]
    sizes = (designed["change_zip"] / designed["R"]).groupby(designed["goal"]).median()
    return table.assign(r_own=table["R"], R=table["change_zip"] / table["goal"].map(sizes))


def networks(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of networks, without the systems whose answer is known."""
    _need(table, "system")
    return table[table["system"] == NETWORK]


def pick(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows whose columns have these values (a list or tuple: one of them); networks unless `system` is named."""
    for name, value in ({"system": NETWORK} | where).items():
        _need(table, name)
        chosen = list(value) if isinstance(value, list | tuple) else [value]
        table = table[table[name].isin(chosen)]
    return table


class NoSuchColumn(KeyError):
    """A table lacks a column that an effect reads."""

    def __str__(self) -> str:
        return str(self.args[0])


def _need(table: pd.DataFrame, *columns: str) -> None:
    for column in (name for name in columns if name not in table):
        import difflib

        close = difflib.get_close_matches(column, [str(name) for name in table], n=1)
        raise NoSuchColumn(f"no column is called {column!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))


def by_seed(table: pd.DataFrame, column: str, **where: Any) -> pd.Series:
    """One value per training seed, from the networks that match; the pieces of which effects are made."""
    found = pick(table, **where)
    _need(table, column, "seed")
    if found.empty or found["seed"].duplicated().any():
        raise ValueError(f"{where} must pick one row per seed, it picks {len(found)}")
    return found.set_index("seed")[column]


class NoSuchRow(ValueError):
    """A table has no row for a system whose answer is known, or several."""


def control(table: pd.DataFrame, system: str, column: str, **where: Any) -> float:
    """What a measure reads on a system whose answer is known."""
    _need(table, column)
    found = pick(table, system=system, **where).dropna(subset=[column])
    if len(found) != 1:
        raise NoSuchRow(f"the table has {len(found)} rows of the control {system!r}, it should have one: run it again")
    return float(found[column].iloc[0])


def reads(system: str, column: str, *, at_least: float = -np.inf, at_most: float = np.inf, **where: Any) -> Check:
    """The check that a measure reads what it must on a system whose answer is known."""
    return Check(f"{column} of the control {system}", lambda t: control(t, system, column, **where), at_least, at_most)


def value(column: str, **where: Any) -> Effect:
    """The effect of a claim: one column of the networks that match, by seed."""
    return lambda table: by_seed(table, column, **where)


def difference(column: str, first: Any, second: Any, *, by: str = "condition", **where: Any) -> Effect:
    """The effect of a claim: a column of networks of one kind minus that of another, by seed."""
    return lambda t: by_seed(t, column, **{by: first}, **where) - by_seed(t, column, **{by: second}, **where)


def log_ratio(column: str, first: Any, second: Any, *, by: str = "condition", **where: Any) -> Effect:
    """The effect of a claim: log10 of a column of networks of one kind over that of another, by seed."""

    def effect(table: pd.DataFrame) -> pd.Series:
        one, other = (by_seed(table, column, **{by: kind}, **where) for kind in (first, second))
        return np.log10(one / other)  # pyrefly: ignore

    return effect


def each(kinds: Mapping[str, Effect]) -> Effect:
    """The effect of a claim about several rivals, pictures or depths: a column for each, judged one by one."""

    def effects(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({str(name): effect(table) for name, effect in kinds.items()})

    return effects


def each_of(column: str, effect: Effect) -> Effect:
    """An effect taken apart: a column for each value of a column among the networks (each depth, each picture)."""

    def apart(table: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        _need(table, column)
        kinds = sorted(networks(table)[column].dropna().unique())
        return pd.DataFrame({_plain(kind): effect(table[table[column].isin([kind])]) for kind in kinds})

    return apart


def _plain(kind: Any) -> str:
    """A depth of 8.0 is called 8."""
    return f"{kind:g}" if isinstance(kind, float) else str(kind)


@dataclass(frozen=True)
class Fitted:
    """By seed, 1 if every network that matches has learnt what it was shown, 0 if one has not, NaN if one diverged."""

    column: str
    at_least: float
    at_most: float
    where: tuple[tuple[str, Any], ...]

    def __call__(self, table: pd.DataFrame) -> pd.Series:
        _need(table, self.column)
        found = pick(table, **dict(self.where))
        values = found[self.column]
        within = values.between(self.at_least, self.at_most).astype(float).where(values.notna())
        return within.groupby(found["seed"]).agg(lambda each: each.min(skipna=False))

    def shortfall(self, table: pd.DataFrame) -> str:
        """Which conditions did not fit, the mean of each, and what was asked; nothing if all did."""
        found = pick(table, **dict(self.where)).dropna(subset=[self.column])
        kind = found["condition"].fillna(NETWORK) if "condition" in found else found["system"]
        short = kind[~found[self.column].between(self.at_least, self.at_most)].unique()
        means = [f"{name}: {self.column} {found[self.column][kind == name].mean():.2g}" for name in short]
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        asked = " and ".join(f"{word} {bound:g}" for word, bound in bounds if np.isfinite(bound))
        return f"{', '.join(means)}, asked {asked}" if means else ""


def fitted(column: str, *, at_least: float = -np.inf, at_most: float = np.inf, **where: Any) -> Fitted:
    """By seed, 1 if every network that matches has learnt what it was shown, 0 if one has not, NaN if one diverged."""
    return Fitted(column, at_least, at_most, tuple(where.items()))


def correlation_by_seed(
    first: str, second: str, among: Callable[[Any], Any] = networks, of: Callable[[Any, Any], float] | None = None
) -> Effect:
    """By seed, the rank correlation (or `of`) of two columns over some networks; NaN for fewer than three of them."""

    def effect(table: pd.DataFrame) -> pd.Series:
        from recombine.measures.similarity import rank_correlation

        _need(table, "seed", first, second)
        pairs, correlation = among(table)[["seed", first, second]].dropna(), of or rank_correlation

        def one(seed: int) -> float:
            mine = pairs[pairs["seed"] == seed]
            return correlation(mine[first], mine[second]) if len(mine) > 2 else float("nan")

        seeds = networks(table)["seed"].drop_duplicates().sort_values()
        return seeds.map(one).set_axis(seeds)

    return effect


def grouped_correlation(
    rows: pd.DataFrame, group: str, first: str, second: str, *, draws: int = 1000
) -> tuple[float, float, float]:
    """The rank correlation of two columns over all rows, with the 95 % interval of a bootstrap over groups.

    Networks of one group are alike, so that whole groups are drawn: it says how far the number rests on those tried.
    """
    from recombine.measures.similarity import rank_correlation

    _need(rows, group, first, second)
    rows = rows[[group, first, second]].dropna()
    groups = [part[[first, second]].to_numpy() for _, part in rows.groupby(group)]
    if len(groups) < 2:
        return float("nan"), float("nan"), float("nan")
    rng = np.random.default_rng(0)

    def correlation(chosen: np.ndarray) -> float:
        pairs = np.concatenate([groups[i] for i in chosen])
        return rank_correlation(pairs[:, 0], pairs[:, 1])

    again = [correlation(rng.integers(len(groups), size=len(groups))) for _ in range(draws)]
    low, high = np.quantile(again, [0.025, 0.975])
    return correlation(np.arange(len(groups))), float(low), float(high)
