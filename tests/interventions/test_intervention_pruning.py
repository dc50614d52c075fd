from __future__ import annotations

import time
from itertools import combinations, pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.cppn.designed import designs
from recombine.cppn.network import from_weights, parse_mix
from recombine.cppn.picbreeder import network
from recombine.cppn.prune.magnitude import (
    alive,
    at_random,
    count,
    counts,
    magnitude,
    maps_of,
    rewound,
    rounds,
    shares,
    wanda,
)
from recombine.cppn.prune.rewire import narrowed, rewired, wired
from recombine.cppn.prune.similarity import (
    centred_cosine,
    cosine,
    dropped,
    evenly,
    folded,
    moved,
    similar_links,
    similar_units,
    spread,
    strength,
)
from recombine.cppn.prune.units import everywhere, layer_widths, taylor_importance, taylor_units, widest
from recombine.cppn.task import grid
from recombine.theory.sparsity import live_links, live_units

MIX = (("cache", 3), ("gaussian", 2), ("sin", 2))
WIDTH, DEPTH = 7, 3
SHAPES = [(4, WIDTH), *[(WIDTH, WIDTH)] * (DEPTH - 1), (WIDTH, 3)]
DENSE = sum(a * b for a, b in SHAPES)
X = grid(9)
UNSTRUCTURED = {
    "magnitude": magnitude,
    "magnitude, pooled": lambda model, target: magnitude(model, target, pooled=True),
    "wanda": lambda model, target: wanda(model, X, target),
    "random": lambda model, target: at_random(model, np.random.default_rng(1), target),
    "random, pooled": lambda model, target: at_random(model, np.random.default_rng(1), target, pooled=True),
}
seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int = 0, share: float = 1.0):
    """Weights drawn at random, this share of them not 0."""
    random = np.random.default_rng(seed)
    return [random.normal(0, 0.7, s) * (random.uniform(size=s) < share) for s in SHAPES]


def net(matrices=None):
    return from_weights(MIX, drawn() if matrices is None else matrices)


def arrays(model) -> list[np.ndarray]:
    return [np.asarray(w) for w in model.weights]


def hsv(model) -> np.ndarray:
    return np.asarray(model(jnp.asarray(X))[1]["hsv"])


def only_zeros_added(before, after) -> bool:
    return all(np.all((b != 0) | (a == 0)) for b, a in zip(arrays(before), arrays(after), strict=True))


def twins(first: int, second: int, factor: float = 1.0, layer: int = 1):
    """A dense network in which one unit reads what another does, times a factor."""
    matrices = drawn()
    matrices[layer][:, second] = factor * matrices[layer][:, first]
    return net(matrices)


@pytest.mark.parametrize("prune", UNSTRUCTURED.values(), ids=list(UNSTRUCTURED))
@settings(deadline=None, max_examples=25)
@given(seed=seeds, share=st.sampled_from([0.4, 1.0]), part=st.floats(0.1, 1))
def test_single_weights_go_to_the_exact_count_and_the_others_stay_as_they_were(prune, seed, share, part):
    model = net(drawn(seed, share))
    target = max(len(SHAPES), round(part * count(model)))
    pruned = prune(model, target)
    assert count(pruned) == target
    assert all(np.all((a == 0) | (a == b)) for b, a in zip(arrays(model), arrays(pruned), strict=True))


@settings(deadline=None, max_examples=25)
@given(seed=seeds, share=st.sampled_from([0.4, 1.0]), part=st.floats(0.15, 1))
def test_magnitude_keeps_the_largest_of_each_layer_in_proportion(seed, share, part):
    model = net(drawn(seed, share))
    target = round(part * count(model))
    pruned = magnitude(model, target)
    for before, after, n, left in zip(arrays(model), arrays(pruned), counts(model), counts(pruned), strict=True):
        lost = np.abs(before[(before != 0) & (after == 0)])
        assert np.abs(after[after != 0]).min() >= lost.max(initial=0)
        assert abs(left - n * target / count(model)) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_random_pruning_matched_to_another_network_has_its_counts_in_every_layer(seed):
    model, rng = net(), np.random.default_rng(seed)
    other = similar_units(model, X, target=70)
    pruned = at_random(model, rng, counts(other))
    assert counts(pruned) == counts(other)
    again = at_random(model, rng, counts(other))
    assert any(not np.array_equal(a != 0, b != 0) for a, b in zip(arrays(pruned), arrays(again), strict=True))


def test_random_pruning_takes_every_weight_as_often_as_another():
    model, rng = net(), np.random.default_rng(0)
    kept = np.mean([[w[0, 0] != 0 for w in arrays(at_random(model, rng, DENSE // 2))] for _ in range(200)], axis=0)
    assert np.allclose(kept, 0.5, atol=0.15)


def test_wanda_compares_the_size_of_what_is_read_within_each_unit():
    x = np.array([[1.0, 2.0, 3.0, 10.0]], np.float32)
    into = np.array([[4.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 3.0]])
    model = from_weights((("identity", 2),), [into, np.ones((2, 3))])
    assert np.array_equal(maps_of(model, x)[1], [[14, 36]])
    pruned = arrays(wanda(model, x, [4, 3]))
    assert np.array_equal(pruned[0], [[4, 0], [0, 0], [0, 1], [0.5, 3]])
    assert np.array_equal(pruned[1], [[0, 0, 0], [1, 1, 1]])
    assert np.array_equal(arrays(magnitude(model, [4, 3]))[0], [[4, 1], [1, 0], [0, 0], [0, 3]])


def test_wanda_leaves_every_unit_as_many_parents_give_or_take_one():
    parents = [np.count_nonzero(w, axis=0) for w in arrays(wanda(net(), X, DENSE // 2))]
    assert all(np.ptp(p) <= 1 for p in parents)
    fewest = [np.count_nonzero(w, axis=0) for w in arrays(wanda(net(), X, sum(s[1] for s in SHAPES)))]
    assert all(np.all(p == 1) for p in fewest)


def test_one_threshold_for_all_layers_can_cut_off_an_output_and_we_are_told():
    matrices = drawn()
    matrices[-1][:, 2] *= 1e-3
    model = net(matrices)
    assert alive(model).tolist() == [True, True, True]
    cut = magnitude(model, DENSE - WIDTH, pooled=True)
    assert alive(cut).tolist() == [True, True, False]
    matrices[-1] *= 1e-3
    collapsed = magnitude(net(matrices), DENSE // 2, pooled=True)
    assert not alive(collapsed).any()
    assert counts(collapsed)[-1] == 0
    assert counts(magnitude(net(matrices), DENSE // 2))[-1] > 0


def test_a_constant_unit_is_no_path_from_an_input():
    matrices = [np.zeros(s) for s in SHAPES]
    matrices[0][0, 0] = matrices[1][0, 0] = matrices[2][0, 0] = matrices[3][0, 2] = 1.0
    matrices[3][3, 1] = 1.0  # an unwired gaussian is 1
    assert alive(net(matrices)).tolist() == [False, False, True]
    assert np.allclose(hsv(net(matrices))[:, 1], 1)


@pytest.mark.parametrize(("first", "second", "factor"), [(3, 4, 1.0), (5, 6, -1.0), (0, 1, 2.5), (3, 4, -1.0)])
def test_duplicates_are_merged_without_changing_the_picture(first, second, factor):
    model = twins(first, second, factor)
    merged = similar_units(model, X, threshold=1 - 1e-6)
    assert layer_widths(merged) == [WIDTH, WIDTH - 1, WIDTH]
    assert count(merged) == DENSE - 2 * WIDTH
    assert np.allclose(hsv(merged), hsv(model), atol=1e-5)
    assert only_zeros_added(model, merged)
    by_count = similar_units(model, X, target=count(merged))
    assert all(np.array_equal(a, b) for a, b in zip(arrays(by_count), arrays(merged), strict=True))
    unmerged = similar_units(model, X, threshold=1 - 1e-6, merge=dropped)
    assert not np.allclose(hsv(unmerged), hsv(model), atol=1e-2)


def test_a_chain_of_duplicates_ends_in_one_unit_that_stands_for_all():
    matrices = drawn()
    for unit, factor in ((1, 2.0), (2, -0.5)):
        matrices[1][:, unit] = factor * matrices[1][:, 0]
    merged = similar_units(net(matrices), X, threshold=1 - 1e-6)
    assert layer_widths(merged) == [WIDTH, WIDTH - 2, WIDTH]
    assert np.allclose(hsv(merged), hsv(net(matrices)), atol=1e-5)


def test_in_a_sparse_network_a_duplicate_keeps_the_picture_only_if_its_links_may_move():
    matrices = drawn(share=0.6)
    matrices[1][:, 4] = matrices[1][:, 3] = drawn()[1][:, 3]
    matrices[2][3], matrices[2][4] = 0, 0
    matrices[2][3, :4], matrices[2][4, 4:] = 1.0, -1.0
    model = net(matrices)
    there, elsewhere = (similar_units(model, X, threshold=1 - 1e-6, merge=m) for m in (folded, moved))
    assert layer_widths(there)[1] == layer_widths(elsewhere)[1] == WIDTH - 1
    assert np.allclose(hsv(elsewhere), hsv(model), atol=1e-5)
    assert only_zeros_added(model, there)
    assert not only_zeros_added(model, elsewhere)
    assert not np.allclose(hsv(there), hsv(model), atol=1e-2)


@settings(deadline=None, max_examples=15)
@given(
    seed=seeds,
    share=st.sampled_from([0.5, 1.0]),
    alike=st.sampled_from([cosine, centred_cosine]),
    size=st.sampled_from([spread, strength, evenly]),
    threshold=st.floats(0.2, 0.95),
)
def test_no_pair_of_units_more_similar_than_the_threshold_is_left(seed, share, alike, size, threshold):
    model = net(drawn(seed, share))
    pruned = similar_units(model, X, threshold=threshold, alike=alike, size=size)
    assert only_zeros_added(model, pruned)
    for maps, out in zip(maps_of(model, X)[1:], arrays(pruned)[1:], strict=True):
        left = alike(maps)[np.ix_(out.any(axis=1), out.any(axis=1))]
        assert np.all(left[~np.eye(len(left), dtype=bool)] <= threshold)


@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(12, DENSE), st.sampled_from([everywhere, widest]))
def test_units_go_until_the_count_is_as_near_to_the_target_as_a_unit_allows(seed, target, among):
    model = net(drawn(seed))
    for pruned in (
        similar_units(model, X, target=target, among=among),
        similar_units(model, X, target=target, merge=dropped, among=among),
    ):
        assert abs(count(pruned) - target) <= WIDTH
        assert only_zeros_added(model, pruned)
        assert min(layer_widths(pruned)) >= 1
        assert alive(pruned).all()
        if among is widest:
            assert np.ptp(layer_widths(pruned)) <= 1


def test_a_target_below_what_structure_allows_gives_the_smallest_network():
    smallest = similar_units(net(), X, target=1)
    assert layer_widths(smallest) == [1] * DEPTH
    assert count(smallest) == 4 + (DEPTH - 1) + 3
    assert count(similar_links(net(), X, target=1)) == sum(s[1] for s in SHAPES)
    assert count(similar_units(net(), X, target=DENSE)) == count(similar_links(net(), X, target=DENSE)) == DENSE


def test_which_of_two_alike_stays_is_by_spread_times_weights_out_of_it():
    matrices = drawn()
    matrices[1][:, 1] = 2 * matrices[1][:, 0]
    for row, stays in ((1.0, 1), (0.3, 0)):
        matrices[2][0], matrices[2][1] = 1.0, row
        left = arrays(similar_units(net(matrices), X, threshold=1 - 1e-6))[2].any(axis=1)
        assert np.flatnonzero(left)[0] == stays
    matrices[2][1] = 0.9
    assert not arrays(similar_units(net(matrices), X, threshold=1 - 1e-6, size=evenly))[2][1].any()


def test_constant_units_are_alike_and_merge_exactly():
    matrices = drawn()
    matrices[1][:, [3, 4]] = 0  # both gaussians of the second layer are 1
    model = net(matrices)
    for alike, size in ((cosine, strength), (centred_cosine, spread)):
        merged = similar_units(model, X, threshold=1 - 1e-6, alike=alike, size=size)
        assert layer_widths(merged) == [WIDTH, WIDTH - 1, WIDTH]
        assert np.allclose(hsv(merged), hsv(model), atol=1e-5)
    constant = np.stack([np.ones(5), 3 * np.ones(5), np.zeros(5), np.arange(5.0)], axis=1)
    assert np.allclose(centred_cosine(constant)[:3, :3], 1)
    assert np.allclose(centred_cosine(constant)[3], [0, 0, 0, 1])
    assert np.allclose(cosine(constant)[2], 1)
    assert np.all(np.isfinite(cosine(constant)))


def test_a_unit_that_is_gone_is_not_taken_for_a_constant_one():
    once = similar_units(net(), X, target=80)
    gone = arrays(once)[2].any(axis=1)
    assert not gone.all()
    twice = similar_units(once, X, target=40)
    assert only_zeros_added(once, twice)
    assert abs(count(twice) - 40) <= WIDTH
    assert alive(twice).all()


@settings(deadline=None, max_examples=15)
@given(seed=seeds, share=st.sampled_from([0.5, 1.0]), alike=st.sampled_from([cosine, centred_cosine]))
def test_parents_that_a_unit_keeps_are_less_alike_than_the_threshold(seed, share, alike):
    model = net(drawn(seed, share))
    pruned = similar_links(model, X, threshold=0.5, alike=alike)
    assert only_zeros_added(model, pruned)
    for maps, before, after in zip(maps_of(model, X), arrays(model), arrays(pruned), strict=True):
        pairs = alike(maps)
        assert np.array_equal(before.any(axis=0), after.any(axis=0))
        for links in after.T:
            assert all(pairs[i, j] < 0.5 for i, j in combinations(np.flatnonzero(links), 2))


@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(sum(s[1] for s in SHAPES), DENSE))
def test_links_are_pruned_by_similarity_to_the_count_or_one_beside_it(seed, target):
    model = net(drawn(seed))
    pruned = similar_links(model, X, target=target)
    assert abs(count(pruned) - target) <= 1  # x, y and 1 are equally unlike each other, and go together
    assert only_zeros_added(model, pruned)


def test_links_from_duplicates_fold_into_one_without_changing_the_picture():
    model = twins(0, 1, -2.5)
    merged = similar_links(model, X, threshold=1 - 1e-6)
    assert counts(merged) == [*counts(model)[:2], WIDTH * (WIDTH - 1), *counts(model)[3:]]
    assert np.allclose(hsv(merged), hsv(model), atol=1e-5)
    assert not np.allclose(hsv(similar_links(model, X, threshold=1 - 1e-6, merge=dropped)), hsv(model), atol=1e-2)


def test_importance_is_the_sum_over_all_weights_of_a_unit():
    model = net()
    scores = taylor_importance(model, lambda m: jnp.sum(jnp.concatenate([w.ravel() for w in m.weights])))
    sizes = [np.abs(w) for w in arrays(model)]
    assert np.allclose(scores, [a.sum(axis=0) + b.sum(axis=1) for a, b in pairwise(sizes)])


def test_the_unit_without_effect_goes_first_and_layers_lose_equally_many():
    matrices = drawn()
    for k, unit in ((1, 2), (2, 5), (3, 0)):
        matrices[k][unit] = 1e-9
    loss = jax.jit(lambda model: jnp.mean((model(jnp.asarray(X))[0] - 0.3) ** 2))
    model = net(matrices)
    pruned = taylor_units(model, loss, sum((a - (a == WIDTH)) * (b - (b == WIDTH)) for a, b in SHAPES))
    assert layer_widths(pruned) == [WIDTH - 1] * DEPTH
    assert [np.flatnonzero(~w.any(axis=1)).tolist() for w in arrays(pruned)[1:]] == [[2], [5], [0]]
    assert np.allclose(hsv(pruned), hsv(model), atol=1e-5)
    smaller = taylor_units(model, loss, 60)
    assert np.ptp(layer_widths(smaller)) <= 1
    assert abs(count(smaller) - 60) <= WIDTH
    assert only_zeros_added(model, smaller)


def test_going_back_takes_the_initial_weights_at_the_kept_places():
    initial, trained = net(drawn(1)), net(drawn(2))
    pruned = magnitude(trained, 50)
    back = rewound(pruned, initial)
    for old, kept, new in zip(arrays(initial), arrays(pruned), arrays(back), strict=True):
        assert np.array_equal(new, np.where(kept != 0, old, 0))


def test_rounds_take_a_fifth_each_until_the_target():
    assert rounds(5478, 1404) == (4382, 3506, 2805, 2244, 1795, 1436, 1404)
    assert rounds(5478, 1404, 1.0) == (1404,)
    assert rounds(100, 100) == (100,)
    assert rounds(100, 80) == (80,)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12).filter(any), st.data())
def test_shares_add_up_and_larger_groups_never_get_less(numbers, data):
    total = data.draw(st.integers(sum(n > 0 for n in numbers), sum(numbers)))
    parts = shares(numbers, total)
    assert sum(parts) == total
    assert all(min(n, 1) <= p <= n for n, p in zip(numbers, parts, strict=True))
    assert all(
        p >= q for n, p in zip(numbers, parts, strict=True) for m, q in zip(numbers, parts, strict=True) if n > m
    )


@settings(deadline=None)
@given(seeds, st.sampled_from([0.15, 0.3, 1.0]), st.booleans())
def test_a_rewired_net_has_as_many_links_in_each_layer_and_the_same_living_outputs(seed, share, same):
    wiring = drawn(seed, share)
    if not live_units(wiring)[-1].any():
        with pytest.raises(ValueError, match="no path"):
            rewired(wiring, np.random.default_rng(seed))
        return
    new = rewired(wiring, np.random.default_rng(seed), same_units=same)
    for old, link, was, is_now in zip(wiring, new, live_links(wiring), live_links(new), strict=True):
        assert np.count_nonzero(link) == np.count_nonzero(old)
        assert is_now.sum() >= was.sum()
    before, after = live_units(wiring), live_units(new)
    assert np.all(after[-1] >= before[-1])
    if same:
        assert all(np.all(a >= b) for a, b in zip(after, before, strict=True))


def test_a_composed_picture_is_rewired_elsewhere_with_every_link_live():
    for genome in designs().values():
        wiring = live_links(arrays(network(genome)))
        new = rewired(wiring, np.random.default_rng(0))
        assert [m.sum() for m in live_links(new)] == [m.sum() for m in wiring]
        assert any(not np.array_equal(a, b) for a, b in zip(new, wiring, strict=True))
        assert alive(wired(network(genome), wiring)).all()


def test_fresh_weights_lie_on_the_wiring_and_copies_may_start_at_one():
    wiring = drawn(3, 0.3)
    wiring[1][:, 0] = np.eye(WIDTH)[4]  # a cache unit with one parent
    wiring[1][:, 5] = np.eye(WIDTH)[4]  # a sine with one parent is no copy
    wiring[3][:, 2] = np.eye(WIDTH)[1]  # an output with one parent
    fresh = net()
    plain, copied = wired(fresh, wiring), wired(fresh, wiring, copies_at_one=True)
    for w, link, full in zip(arrays(plain), wiring, arrays(fresh), strict=True):
        assert np.array_equal(w, np.where(link != 0, full, 0))
    assert arrays(copied)[1][4, 0] == arrays(copied)[3][1, 2] == 1
    assert arrays(copied)[1][4, 5] == arrays(fresh)[1][4, 5]
    assert counts(copied) == counts(plain)
    signed = wired(fresh, wiring, signs=True)
    assert all(np.array_equal(np.sign(w), np.sign(link)) for w, link in zip(arrays(signed), wiring, strict=True))
    scaled = wired(fresh, wiring, by_fan_in=True)
    assert np.allclose(arrays(scaled)[1][4, 5], arrays(fresh)[1][4, 5] * np.sqrt(WIDTH))


def skull(share: float = 1.0):
    depth, mix = parse_mix("12;cache:15,gaussian:4,identity:2,sin:1")
    random = np.random.default_rng(0)
    shapes = [(4, 22), *[(22, 22)] * (depth - 1), (22, 3)]
    return from_weights(mix, [random.normal(0, s[0] ** -0.5, s) * (random.uniform(size=s) < share) for s in shapes])


def test_a_narrow_dense_network_has_about_as_many_weights_and_all_unit_types():
    assert narrowed(skull(), 1404) == (("cache", 7), ("gaussian", 2), ("identity", 1), ("sin", 1))
    assert narrowed(skull(0.3), 5478) == skull().mix
    assert narrowed(skull(), 60) == (("cache", 1), ("gaussian", 1))
    assert narrowed(skull(), 1) == (("cache", 1),)


def test_twelve_layers_of_22_lose_three_quarters_of_their_weights_in_a_moment():
    model, x = skull(), grid(64)
    maps_of(model, x)
    began = time.process_time()
    pruned = similar_units(model, x, target=1404)
    assert time.process_time() - began < 2
    assert abs(count(pruned) - 1404) <= 22
    assert count(similar_units(model, x, target=1404, among=widest)) == 1408


@pytest.mark.parametrize("target", [0, -3, DENSE + 1, 10.5, True, None])
def test_a_count_that_cannot_be_kept_is_one_clear_complaint(target):
    for prune in (
        *UNSTRUCTURED.values(),
        lambda m, t: taylor_units(m, lambda model: jnp.sum(model.weights[0]), t),
        narrowed,
    ):
        if target is None and prune is not narrowed:
            continue
        with pytest.raises(ValueError, match=r"whole number of weights from 1 to|cannot be shared"):
            prune(net(), target)
    with pytest.raises(ValueError, match=r"whole number of weights|give one of them"):
        similar_units(net(), X, target=target)


def test_other_nonsense_is_refused_in_one_line():
    model = net()
    with pytest.raises(ValueError, match="cannot be shared by 4 groups with 4 to"):
        magnitude(model, 2)
    with pytest.raises(ValueError, match="targets for each layer"):
        magnitude(model, [1, 2, 3])
    with pytest.raises(ValueError, match="targets for each layer"):
        magnitude(model, [4 * WIDTH + 1, 1, 1, 1])
    with pytest.raises(ValueError, match="give one of them"):
        similar_links(model, X, target=50, threshold=0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        similar_units(model, X, threshold=1.5)
    with pytest.raises(ValueError, match="pixels x 4 inputs"):
        wanda(model, X[:, :3], 50)
    with pytest.raises(ValueError, match="one network at a time"):
        count(jax.tree.map(lambda a: jnp.stack([a, a]), model))
    with pytest.raises(ValueError, match="not numbers"):
        magnitude(jax.tree.map(lambda a: a * jnp.nan, model), 50)
    with pytest.raises(ValueError, match="share of the weights"):
        rounds(100, 50, 0.0)
    with pytest.raises(ValueError, match="of its own shape"):
        rewound(model, skull())
    with pytest.raises(ValueError, match="cannot have a wiring"):
        wired(model, drawn()[:-1])
    with pytest.raises(ValueError, match="do not make a wiring"):
        rewired(drawn()[::-1], np.random.default_rng(0))
