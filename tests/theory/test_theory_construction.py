from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory.construction import Hyperteacher, construct, error_bound, pieces_for, span, square

SIZE, HOT = 8, 3
PIECES = (4, 8, 16, 32)


def cut_normal(random: np.random.Generator, shape, fan: int) -> np.ndarray:
    """Normal numbers cut at two standard deviations, of variance sqrt(3) / fan."""
    numbers = random.normal(size=(4, *shape))
    kept = np.take_along_axis(numbers, np.argmax(np.abs(numbers) < 2, axis=0)[None], axis=0)[0]
    return np.clip(kept, -2, 2) / 0.87962566 * np.sqrt(np.sqrt(3) / fan)


def drawn_teacher(modules: int, seed: int = 0) -> Hyperteacher:
    random = np.random.default_rng([seed, modules])
    theta = cut_normal(random, (modules, SIZE, SIZE), SIZE)
    return Hyperteacher(
        theta, random.uniform(0, 0.5, (modules, SIZE)), cut_normal(random, (SIZE, SIZE), SIZE), min(HOT, modules)
    )


def drawn_questions(modules: int, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Masks with 1 to 3 active modules, all equally likely, times 0.5, 0.6, .., 1; inputs uniform in [-1, 1]."""
    random = np.random.default_rng([seed, modules])
    odds = np.array([comb(modules, k) for k in range(1, HOT + 1)], float)
    active = random.choice(np.arange(1, HOT + 1), size=count, p=odds / odds.sum())
    ranks = random.permuted(np.tile(np.arange(modules), (count, 1)), axis=1)
    z = (ranks < active[:, None]) * random.choice(np.arange(5, 11) / 10, size=(count, modules))
    return z, random.uniform(-1, 1, (count, SIZE))


def sup_errors(modules: int, count: int) -> np.ndarray:
    teacher = drawn_teacher(modules)
    z, x = drawn_questions(modules, count)
    y = teacher(z, x)
    return np.array([np.abs(construct(teacher, n)(z, x) - y).max() for n in PIECES])


@settings(deadline=None)
@given(st.floats(0.1, 5.0), st.integers(1, 20))
def test_the_broken_line_meets_the_square_at_its_knots_and_is_above_it_by_at_most_its_bound(reach, pieces):
    knots, slopes = square(reach, pieces)
    s = np.linspace(-reach, reach, 8 * pieces + 1)
    above = reach**2 + np.maximum(s[:, None] - knots, 0) @ slopes - s**2
    tiny = 1e-12 * reach**2
    assert len(knots) == len(slopes) == pieces
    assert np.allclose(above[::8], 0, atol=tiny)
    assert np.all(above > -tiny)
    assert above.max() == pytest.approx(reach**2 / pieces**2, rel=1e-6)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 6))
def test_no_answer_is_further_from_the_teacher_than_the_bound(seed, max_active, pieces):
    random = np.random.default_rng(seed)
    modules, inputs, hidden, outputs = random.integers([max_active, 1, 1, 1], [7, 4, 4, 4])
    teacher = Hyperteacher(
        random.normal(size=(modules, inputs, hidden)),
        random.uniform(size=(modules, hidden)),
        random.normal(size=(hidden, outputs)),
        max_active,
    )
    active = random.permuted(np.tile(np.arange(modules), (200, 1)), axis=1) < max_active
    z, x = active * random.uniform(size=(200, modules)), random.uniform(-1, 1, (200, inputs))
    network = construct(teacher, pieces)
    assert np.abs(network(z, x) - teacher(z, x)).max() <= error_bound(teacher, pieces) * (1 + 1e-9)
    assert network.hidden == 2 * inputs * hidden * pieces + 2 * hidden
    assert network.inputs == modules + inputs


def test_a_teacher_is_its_formula():
    teacher = drawn_teacher(4)
    z, x = drawn_questions(4, 1)
    weight = sum(z[0, m] * teacher.modules[m] for m in range(4)) / np.sqrt(HOT)
    bias = sum(z[0, m] * teacher.biases[m] for m in range(4)) / np.sqrt(HOT)
    assert np.allclose(teacher(z, x)[0], np.maximum(x[0] @ weight + bias, 0) @ teacher.read_out)


@pytest.mark.parametrize("modules", [4, 16, 128])
def test_the_error_falls_with_the_square_of_the_pieces_and_modules_cost_inputs_alone(modules):
    teacher = drawn_teacher(modules)
    z, x = drawn_questions(modules, 500)
    y = teacher(z, x)
    networks = [construct(teacher, n) for n in PIECES]
    away = [network(z, x) - y for network in networks]
    typical = np.array([np.sqrt(np.mean(a**2)) for a in away])
    assert np.all((typical[:-1] / typical[1:] > 3.5) & (typical[:-1] / typical[1:] < 4.5))
    assert np.all([np.abs(a).max() * n**2 <= 25 for a, n in zip(away, PIECES, strict=True)])
    assert [network.hidden for network in networks] == [528, 1040, 2064, 4112]
    assert {network.neurons - network.hidden for network in networks} == {modules + SIZE}


@pytest.mark.slow
@pytest.mark.parametrize("modules", [4, 8, 16, 32, 64, 128])
def test_the_largest_error_of_twenty_thousand_falls_by_four_when_the_pieces_double(modules):
    worst = sup_errors(modules, 20_000)
    ratios = worst[:-1] / worst[1:]
    assert np.all((ratios >= 3) & (ratios <= 5.5)), ratios
    assert np.all(worst * np.square(PIECES) <= 25), worst


def test_a_wanted_error_says_how_many_pieces():
    teacher = drawn_teacher(8)
    for error in (1.0, 0.1, 0.013):
        pieces = pieces_for(teacher, error)
        assert error_bound(teacher, pieces) <= error < error_bound(teacher, pieces - 1)
    assert pieces_for(teacher, 1e-4) == pytest.approx(10 * pieces_for(teacher, 1e-2), rel=0.02)


def test_the_span_needs_no_more_than_the_strongest_modules_that_can_be_active():
    modules = np.array([1.0, -3.0, 2.0, 0.5]).reshape(4, 1, 1)
    teacher = Hyperteacher(modules, np.zeros((4, 1)), np.ones((1, 1)), 2)
    assert span(teacher) == pytest.approx((1 + 5 / np.sqrt(2)) / 2)


def test_negative_biases_and_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="negative"):
        Hyperteacher(np.ones((2, 3, 4)), -np.ones((2, 4)), np.ones((4, 1)), 2)
    with pytest.raises(ValueError, match="do not fit"):
        Hyperteacher(np.ones((2, 3, 4)), np.ones((2, 3)), np.ones((4, 1)), 2)
