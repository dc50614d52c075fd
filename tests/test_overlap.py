"""Several cells at a time: the same results in the same order, nothing lost when one fails, and an honest clock."""

from __future__ import annotations

from functools import partial
from threading import Barrier, Event, Semaphore
from time import sleep

import pytest

from recombine.engine import overlap
from recombine.engine.overlap import Clock, together, union
from recombine.train.monitor import Progress


def chunk(began: float, ended: float) -> Progress:
    return Progress(1, 3, 4, 0.5, began=began, ended=ended)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_order(workers):
    assert together([partial(int, str(i)) for i in range(7)], workers) == list(range(7))


def test_two_are_at_work_together():
    meet = Barrier(2, timeout=5)
    assert len(together([meet.wait, meet.wait], 2)) == 2


def test_a_slot_bounds_how_many():
    now, most, slot = [0], [0], Semaphore(2)

    def job() -> None:
        now[0] += 1
        most[0] = max(most[0], now[0])
        sleep(0.01)
        now[0] -= 1

    together([job] * 8, 8, slot)
    assert most[0] <= 2


@pytest.mark.parametrize("slot", [Semaphore(2), Semaphore(8)])
def test_after_a_failure_none_begins_and_those_at_work_end(slot):
    failed, ended, begun = Event(), [], []

    def slow() -> None:
        failed.wait(5)
        sleep(0.05)
        ended.append(1)

    def fail() -> None:
        failed.set()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        together([slow, fail, *[partial(begun.append, i) for i in range(100)]], 2, slot)
    assert ended == [1]
    assert not begun


def test_the_union_of_intervals_counts_each_moment_once():
    assert union([]) == 0
    assert union([(0, 2), (1, 3), (5, 6), (5.5, 5.75)]) == 4


def test_the_clock_leaves_out_compiling_and_counts_shared_time_once():
    clock = Clock()
    for name, spans in {"a": [(0, 9), (9, 10), (11, 12)], "b": [(2, 8), (11, 12), (12, 14)], "c": [(0, 50)]}.items():
        for span in spans:
            clock.chunk(name, chunk(*span))
    # 7..8 and 8..9 are the ends of first chunks, then 9..10, 11..12 and 12..14. One chunk alone tells nothing.
    assert clock.training == 1 + 1 + 1 + 1 + 2
    assert Clock().training == 0


def test_a_run_is_the_same_with_several_cells_at_a_time(tmp_path, monkeypatch):
    from recombine.engine import RunRequest, catalogue, execute
    from recombine.train.monitor import Monitor

    experiment = catalogue.find("liang2025/failure")
    settings = experiment.settings("quick")
    monkeypatch.setattr(overlap.machine, "cores", lambda: 8)
    one = execute(RunRequest(experiment, "quick", settings, tmp_path / "one"), Monitor())
    monkeypatch.setitem(overlap.IN_FLIGHT, "cpu", 3)
    three = execute(RunRequest(experiment, "quick", settings, tmp_path / "three"), Monitor())
    assert (one.folder / "table.parquet").read_bytes() == (three.folder / "table.parquet").read_bytes()
