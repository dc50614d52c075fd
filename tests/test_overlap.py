"""Several cells at a time: the same results in the same order, nothing lost when one fails, and an honest clock."""

from __future__ import annotations

from functools import partial
from threading import Barrier, Event

import pytest

from recombine.engine import overlap
from recombine.engine.overlap import Clock, in_order, union
from recombine.train.monitor import Progress


def chunk(began: float, ended: float) -> Progress:
    return Progress(1, 3, 4, 0.5, began=began, ended=ended)


@pytest.mark.parametrize("at_a_time", [1, 2, 5])
def test_results_come_in_order(at_a_time):
    assert list(in_order([partial(int, str(i)) for i in range(7)], at_a_time)) == list(range(7))


def test_two_are_at_work_together():
    meet = Barrier(2, timeout=5)
    assert len(list(in_order([meet.wait, meet.wait], 2))) == 2


def test_after_a_failure_none_begins_and_those_at_work_end():
    failed, ended, begun = Event(), [], []

    def fail() -> None:
        failed.set()
        raise ValueError("no")

    def slow() -> None:
        failed.wait(5)
        ended.append(1)

    later = [partial(begun.append, i) for i in range(100)]
    with pytest.raises(ValueError, match="no"):
        list(in_order([fail, slow, *later], 2))
    assert ended == [1]


def test_the_union_of_intervals_counts_each_moment_once():
    assert union([]) == 0
    assert union([(0, 2), (1, 3), (5, 6), (5.5, 5.75)]) == 4


def test_the_clock_leaves_out_compiling_and_counts_shared_time_once():
    clock = Clock()
    for name, spans in {"a": [(0, 9), (9, 10), (11, 12)], "b": [(2, 8), (11, 12), (12, 14)], "c": [(0, 50)]}.items():
        for span in spans:
            clock.chunk(name, chunk(*span))
    # 9..10, 11..12 and 12..14, and a first chunk each of a and b at their best: 1 and 1. One chunk tells nothing.
    assert clock.training == 4 + 2
    assert Clock().training == 0


def test_a_run_is_the_same_with_several_cells_at_a_time(tmp_path, monkeypatch):
    from recombine.engine import RunRequest, catalogue, execute
    from recombine.train.monitor import Monitor

    experiment = catalogue.find("liang2025/failure")
    settings = experiment.settings("quick")
    monkeypatch.setattr(overlap.os, "cpu_count", lambda: 8)
    one = execute(RunRequest(experiment, "quick", settings, tmp_path / "one"), Monitor())
    monkeypatch.setitem(overlap.IN_FLIGHT, "cpu", 3)
    three = execute(RunRequest(experiment, "quick", settings, tmp_path / "three"), Monitor())
    assert (one.folder / "table.parquet").read_bytes() == (three.folder / "table.parquet").read_bytes()
