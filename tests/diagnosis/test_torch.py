"""The PyTorch door, where PyTorch is installed: hooks by name, and the module left exactly as it was."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

import recombine as rc
from recombine.diagnosis.from_torch import list_layers

torch = pytest.importorskip("torch")
nn = torch.nn
Z = np.array(list(product(range(6), repeat=2)))
X = torch.tensor(np.concatenate([np.eye(6)[column] for column in Z.T], axis=1), dtype=torch.float32)
Y = torch.tensor(np.random.default_rng(0).normal(size=(36, 3)), dtype=torch.float32)
GIVEN = {"factors": {"a": Z[:, 0], "b": Z[:, 1]}, "trained": Z.sum(axis=1) % 6 < 4}


class Restless(nn.Module):
    """Normalises by the batch, drops units, counts its calls and draws random numbers, in evaluation mode too."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5))
        self.head = nn.Linear(32, 3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        torch.rand(3)
        return self.head(self.body(x))


@pytest.fixture
def model():
    torch.manual_seed(0)
    made = Restless()
    made.body[1].eval()  # a part that its owner froze
    made(X).sum().backward()
    return made


def test_the_model_is_left_exactly_as_it_was(model):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    gradients = [p.grad.clone() for p in model.parameters()]
    flags, random = [m.training for m in model.modules()], torch.get_rng_state()
    first = rc.diagnose(model, (X, Y), **GIVEN)
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())
    assert all(torch.equal(g, p.grad) for g, p in zip(gradients, model.parameters(), strict=True))
    assert [m.training for m in model.modules()] == flags
    assert torch.equal(torch.get_rng_state(), random)
    assert not any(m._forward_hooks for m in model.modules())
    again = rc.diagnose(model, (X, Y), batch=7, **GIVEN)  # dropout is off, and batches do not matter
    assert np.allclose(first.evidence.answers.given, again.evidence.answers.given, atol=1e-5)


def test_layers_by_name_glob_and_default(model):
    assert [layer.name for layer in rc.diagnose(model, (X, Y), **GIVEN).layers] == [
        "input",
        "body.0",
        "body.1",
        "body.2",
        "head",
        "output",
    ]
    some = rc.diagnose(model, (X, Y), layers=["body.*"], **GIVEN)
    assert [layer.name for layer in some.layers] == ["input", "body.0", "body.1", "body.2", "body.3", "output"]
    with pytest.raises(rc.UserError, match="no layer 'haed': did you mean 'head'"):
        rc.diagnose(model, (X, Y), layers=["haed"], **GIVEN)
    assert ("head", "Linear", "(3,)") in list_layers(model, X)


class Wrapped(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.core = kind, nn.Linear(12, 3)

    def forward(self, x):
        y = self.core(x)
        return {"tuple": (y, x), "dict": {"features": x, "logits": y}, "list": [y]}[self.kind]


@pytest.mark.parametrize("kind", ["tuple", "dict", "list"])
def test_models_that_return_several_things(kind):
    model = Wrapped(kind)
    found = rc.diagnose(model, (X, Y), **GIVEN)
    scale = np.asarray(Y).std(axis=0)
    with torch.no_grad():
        wanted = (model.core(X).numpy() - np.asarray(Y).mean(axis=0)) / scale
    assert np.allclose(found.evidence.answers.given, wanted, atol=1e-4)
    assert any("was taken" in note for note in found.notes)
    with pytest.raises(rc.UserError, match="choose output="):
        rc.diagnose(model, (X, Y), output=9 if kind != "dict" else "nothing", **GIVEN)


def test_half_precision_and_data_that_do_not_fit(model):
    assert rc.diagnose(model.bfloat16(), (X, Y), **GIVEN).verdict == "cannot tell"
    with pytest.raises(rc.UserError, match="the model cannot take these data"):
        rc.diagnose(model, (X[:, :5], Y), **GIVEN)


def test_a_model_that_raises_and_one_that_is_wrapped_are_told_so(model):
    class Broken(nn.Module):
        def forward(self, x):
            return {}["weights"]

    with pytest.raises(rc.UserError, match="there are 0 examples"):
        rc.diagnose(model, (X[:0], Y[:0]), factors=Z[:0], trained=GIVEN["trained"][:0])
    with pytest.raises(rc.UserError, match="it raised KeyError: 'weights'"):
        rc.diagnose(Broken(), (X, Y), **GIVEN)
    with pytest.raises(rc.UserError, match=r"give the PyTorch nn\.Module itself"):
        rc.diagnose(lambda x: 2 * model(x), (X.numpy(), Y.numpy()), **GIVEN)


def test_layers_come_in_the_order_of_their_calls():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.first = nn.Linear(8, 3), nn.Linear(12, 8)

        def forward(self, x):
            return self.last(self.first(x))

    found = rc.diagnose(Backwards(), (X, Y), **GIVEN)
    assert [layer.name for layer in found.layers] == ["input", "first", "last", "output"]
    last, output = found.layers[-2:]
    assert last.decodability == output.decodability  # they are one tensor


def test_dropout_that_is_always_on_is_noticed():
    class Leaky(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(12, 3)

        def forward(self, x):
            return nn.functional.dropout(self.linear(x), 0.5)

    assert any("asked twice" in note for note in rc.diagnose(Leaky(), (X, Y), **GIVEN).notes)
    steady = rc.diagnose(nn.Sequential(nn.Linear(12, 3), nn.Dropout(0.5)), (X, Y), **GIVEN)
    assert not any("asked twice" in note for note in steady.notes)


def test_a_tiny_transformer_passes():
    transformers = pytest.importorskip("transformers")
    settings = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=20, n_positions=8)
    model = transformers.GPT2ForSequenceClassification(settings.__class__(**{**settings.to_dict(), "num_labels": 4}))
    model.config.pad_token_id = 0
    tokens = torch.tensor(Z + np.array([1, 10]))
    labels = torch.tensor(Z.sum(axis=1) % 4)
    found = rc.diagnose(model, ({"input_ids": tokens}, labels), layers=["transformer.h.*"], **GIVEN)
    assert found.verdict == "cannot tell"
    assert "transformer.h.1" in [layer.name for layer in found.layers]


class Changing(nn.Module):
    """Binds a buffer and a number anew, registers a cache, and draws from NumPy's and Python's random numbers."""

    def __init__(self, fails=False):
        super().__init__()
        self.core, self.steps, self.fails = nn.Linear(12, 3), 0, fails
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls = self.calls + 1
        self.steps += 1
        self.register_buffer("cache", x.mean(dim=0))
        np.random.rand()
        random.random()
        if self.fails and self.steps > 1:
            raise RuntimeError("out of luck")
        return self.core(x)


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_forward_pass_binds_and_draws_is_undone(fails):
    model = Changing(fails).train()
    buffer, names = model.calls, set(vars(model))
    numpy, python = str(np.random.get_state()), random.getstate()
    if fails:
        with pytest.raises(rc.UserError, match="out of luck"):
            rc.diagnose(model, (X, Y), **GIVEN)
    else:
        rc.diagnose(model, (X, Y), **GIVEN)
    assert model.calls is buffer
    assert model.calls.item() == 0
    assert model.steps == 0
    assert dict(model.named_buffers()).keys() == {"calls"}
    assert set(vars(model)) == names
    assert model.training
    assert model.core.training
    assert str(np.random.get_state()) == numpy  # the place in the stream is printed in full
    assert random.getstate() == python
    assert not any(m._forward_hooks for m in model.modules())


class Merging(nn.Linear):
    """Adds its low-rank part to its weights when it leaves training, as adapters do."""

    def __init__(self):
        super().__init__(12, 3)
        self.low, self.merged = nn.Parameter(torch.ones(3, 12)), False

    def train(self, mode=True):
        if mode == self.merged:
            self.weight.data += self.low.data * (-1 if mode else 1)
            self.merged = not mode
        return super().train(mode)

    def forward(self, x):
        return nn.functional.linear(x, self.weight + (0 if self.merged else 1) * self.low, self.bias)


def test_a_module_whose_train_merges_weights_is_not_merged():
    model = nn.Sequential(Merging()).train()
    before = model[0].weight.detach().clone()
    found = rc.diagnose(model, (X, Y), **GIVEN)
    assert not model[0].merged
    assert torch.equal(model[0].weight, before)
    assert any("the train() of Merging was not called" in note for note in found.notes)
    merged = rc.diagnose(model.eval(), (X, Y), **GIVEN)
    assert model[0].merged
    assert np.allclose(found.evidence.answers.given, merged.evidence.answers.given, atol=1e-4)


def test_an_embedding_that_is_rescaled_when_asked_stays_as_it_was():
    model = nn.Sequential(nn.Embedding(12, 3, max_norm=0.1), nn.Flatten(), nn.Linear(6, 3))
    before = model[0].weight.detach().clone()
    rc.diagnose(model, (torch.tensor(Z + np.array([0, 6])), Y), **GIVEN)
    assert torch.equal(model[0].weight, before)


@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning", "ignore:.torch.jit:DeprecationWarning")
def test_a_scripted_module_is_left_as_it_was():
    model = torch.jit.script(nn.Sequential(nn.Linear(12, 3), nn.BatchNorm1d(3))).train()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(rc.UserError, match=r"give layers=\[\]"):
        rc.diagnose(model, (X, Y), **GIVEN)
    rc.diagnose(model, (X, Y), layers=[], **GIVEN)
    assert model.training
    assert all(torch.equal(state[name], value) for name, value in model.state_dict().items())


def test_of_many_examples_only_those_that_are_measured_are_asked(monkeypatch):
    from recombine.diagnosis import evidence

    monkeypatch.setattr(evidence, "MOST", 72)
    rows, asked = np.repeat(np.arange(36), 10), []

    class Counting(nn.Linear):
        def forward(self, x):
            asked.append(len(x))
            return super().forward(x)

    given = {"factors": Z[rows], "trained": GIVEN["trained"][rows]}
    found = rc.diagnose(nn.Sequential(Counting(12, 3)), (X[rows], Y[rows]), batch=30, **given)
    assert sum(asked) == 72 + 30  # the first batch is asked twice
    assert [len(v) for v in found.evidence.layers.values()] == [72, 72]
    kept = found.evidence.layers["input"]
    assert np.array_equal(np.asarray(kept)[:, :6].argmax(axis=1), found.evidence.factors[0].codes)


def test_names_of_outputs_that_have_none_and_modules_that_are_called_twice():
    with pytest.raises(rc.UserError, match="choose output= by number"):
        rc.diagnose(Wrapped("tuple"), (X, Y), output="logits", **GIVEN)
    with pytest.raises(rc.UserError, match="the model returns one tensor"):
        rc.diagnose(nn.Linear(12, 3), (X, Y), output="logits", **GIVEN)
    act = nn.ReLU()
    reused = rc.diagnose(nn.Sequential(nn.Linear(12, 9), act, nn.Linear(9, 3), act), (X, Y), layers=["1"], **GIVEN)
    assert any("the layer '1' is called 2 times for one answer: the last is measured" in n for n in reused.notes)


def test_wide_layers_report_their_own_units():
    model = nn.Sequential(nn.Linear(12, 2100), nn.ReLU(), nn.Linear(2100, 3))
    assert [layer.units for layer in rc.diagnose(model, (X, Y), **GIVEN).layers] == [12, 2100, 2100, 3, 3]


def test_a_layer_is_kept_before_the_next_writes_into_it():
    model = nn.Sequential(nn.Linear(12, 5), nn.ReLU(inplace=True), nn.Linear(5, 3))
    assert np.min(rc.diagnose(model, (X, Y), **GIVEN).evidence.layers["0"]) < 0
