"""The vision judge against a server on this machine that answers, stalls, fails and lies; no test really sleeps."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
import traceback
from dataclasses import replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from recombine.core import UserError
from recombine.vlm.asking import Manner, Pace, patiently
from recombine.vlm.endpoint import VARIABLES, Busy, Endpoint, find_endpoint
from recombine.vlm.vision import Estimate, Price, data_url, estimate, judge_pictures, parse, prompt

KEY = "sk-not/for+anyones%eyes-0123456789"


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self):
        self.time, self.slept, self._lock = 0.0, [], threading.Lock()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.time += seconds
            self.slept.append(seconds)


def says(text: object) -> tuple[int, dict, object]:
    return 200, {}, {"choices": [{"message": {"content": text}}]}


def fails(code: int, message: str = "", **headers: str) -> tuple[int, dict, object]:
    return code, {name.replace("_", "-"): value for name, value in headers.items()}, {"error": {"message": message}}


class Server(ThreadingHTTPServer):
    """Answers request i (from 0) with `script(i, handler, body)`, and remembers what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = lambda i, handler, body: says("yes")
        self.bodies, self.headers, self.lock = [], [], threading.Lock()

    def handle_error(self, request, client_address) -> None:
        """A client that hung up is no news."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with server.lock:
            i = len(server.bodies)
            server.bodies.append(json.loads(raw or b"null"))
            server.headers.append((self.path, dict(self.headers)))
        code, headers, payload = server.script(i, self, server.bodies[i])
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST

    def log_message(self, format, *args) -> None:
        """Monitor."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.005})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def manner(clock):
    """How to ask without haste or luck: one thread, as fast as can be, on the clock that only sleepers move."""
    usual = Manner(per_minute=6e6, at_once=1, now=clock.now, sleep=clock.sleep, luck=lambda: 0.5)
    return lambda **more: replace(usual, **more)


@pytest.fixture
def endpoint(server) -> Endpoint:
    return Endpoint(server.url, KEY, "eye-1")


@pytest.fixture
def ask(endpoint, manner, tmp_path):
    def judged(pairs, *, of=endpoint, cache=tmp_path, progress=None, confirm=None, **more) -> np.ndarray:
        return judge_pictures(pairs, of, cache=cache, progress=progress, confirm=confirm, manner=manner(**more))

    return judged


def never(estimated: Estimate) -> bool:
    raise AssertionError(f"there was nothing to ask: {estimated}")


def agree(estimated: Estimate) -> bool:
    print(estimated)
    return True


def pairs_of(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Grey pictures; the brightness of the second says which pair it is."""
    return [(np.zeros((4, 4, 3)), np.full((4, 4, 3), i / 255)) for i in range(count)]


def pictures(body: dict) -> list[np.ndarray]:
    links = [piece["image_url"]["url"] for piece in body["messages"][0]["content"] if piece["type"] == "image_url"]
    sent = [base64.b64decode(link.removeprefix("data:image/png;base64,")) for link in links]
    return [np.asarray(Image.open(io.BytesIO(png))) for png in sent]


def which(body: dict) -> int:
    return int(pictures(body)[1].flat[0])


def test_each_pair_gets_the_answer_to_its_own_pictures(server, ask):
    server.script = lambda i, handler, body: says("Yes." if which(body) % 3 else "no")
    pairs, told = pairs_of(7), []
    answers = ask([*pairs, pairs[0]], at_once=3, progress=lambda *n: told.append(n))
    np.testing.assert_array_equal(answers, [0, 1, 1, 0, 1, 1, 0, 0])
    assert len(server.bodies) == 7  # the pair given twice is asked once
    assert told == [(i, 7) for i in range(8)]


def test_a_request_has_prompt_original_and_perturbed_and_the_key_in_one_header(server, ask):
    original, perturbed = np.random.default_rng(0).integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    ask([(original, perturbed)])
    (path, headers), body = server.headers[0], server.bodies[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("eye-1", 0, 16)
    assert body["messages"][0]["content"][0] == {"type": "text", "text": prompt()}
    sent = pictures(body)
    assert [s.shape for s in sent] == [(140, 210, 3)] * 2  # 7 is the least factor that makes 20 at least 128
    np.testing.assert_array_equal(sent[0][::7, ::7], original)
    np.testing.assert_array_equal(sent[1][3::7, 6::7], perturbed)
    assert KEY not in json.dumps(body)


@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 1), (5, 6, 3), (5, 6, 4), (300, 200)])
def test_grey_coloured_and_transparent_pictures_are_sent(server, ask, shape):
    picture = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    assert ask([(picture, picture)]) == [1.0]
    assert min(pictures(server.bodies[0])[0].shape[:2]) >= 128


@pytest.mark.parametrize(
    "picture", [np.zeros(4), np.zeros((4, 4, 2)), np.zeros((0, 4)), np.full((4, 4), 128.0), np.full((4, 4), np.nan)]
)
def test_what_is_no_picture_is_refused(ask, picture):
    with pytest.raises(ValueError, match="a picture"):
        ask([(picture, picture)])


def test_the_pictures_of_a_pair_have_one_shape(endpoint):
    with pytest.raises(ValueError, match="one shape"):
        estimate([(np.zeros((4, 4)), np.zeros((4, 5)))], endpoint)


def test_what_was_answered_is_not_asked_again(server, ask):
    server.script = lambda i, handler, body: says(["no", "yes", "perhaps", "perhaps", "perhaps"][i])
    first = ask(pairs_of(3))
    np.testing.assert_array_equal(first, [0, 1, np.nan])
    again = ask(pairs_of(3), confirm=never)
    np.testing.assert_array_equal(again, first)
    assert len(server.bodies) == 5


@pytest.mark.parametrize("change", [{"model": "eye-2"}, {"options": {"temperature": 0, "max_tokens": 500}}])
def test_another_model_or_request_is_another_question(server, ask, endpoint, change):
    ask(pairs_of(1))
    other = replace(endpoint, **change)
    ask(pairs_of(1), of=other)
    assert len(server.bodies) == 2


def test_another_key_or_address_is_the_same_question(server, ask):
    ask(pairs_of(1))
    ask(pairs_of(1), of=Endpoint(server.url + "/", "other", "eye-1"))
    assert len(server.bodies) == 1


def test_swapping_the_pictures_is_another_question(server, ask):
    (a, b) = pairs_of(2)[1]
    ask([(a, b), (b, a)])
    assert len(server.bodies) == 2


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_run_that_is_broken_off_goes_on_where_it_was(server, ask, tmp_path, at_once):
    def break_off(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(pairs_of(12), at_once=at_once, progress=break_off)
    asked = len(server.bodies)
    assert 3 <= asked < 12
    assert len(list(tmp_path.glob("*.json"))) == asked  # also those under way when it was broken off
    answers = ask(pairs_of(12))
    assert len(server.bodies) == 12
    assert answers.tolist() == [1.0] * 12


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe", b"[]", b"{}", b'{"question": "x", "answer": "yes"}', b'{"answer": []}']
)
def test_a_damaged_answer_is_asked_again_and_mended(server, ask, tmp_path, damage):
    ask(pairs_of(1))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage)
    ask(pairs_of(1))
    assert len(server.bodies) == 2
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_one_clear_error(ask, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        ask(pairs_of(5), cache=tmp_path / "file")


def test_too_many_requests_waits_as_long_as_it_is_told(server, ask, clock):
    server.script = lambda i, handler, body: says("yes") if i else fails(429, "slow down", Retry_After="17")
    assert ask(pairs_of(1)) == [1.0]
    assert clock.slept[0] == 17
    assert len(server.bodies) == 2


def test_the_wait_may_be_a_date(server, ask, clock):
    date = formatdate(time.time() + 40, usegmt=True)
    server.script = lambda i, handler, body: says("yes") if i else fails(503, Retry_After=date)
    ask(pairs_of(1))
    assert clock.slept[0] == pytest.approx(40, abs=2)


@pytest.mark.parametrize("nonsense", ["", "soon", "-5", "nan", "inf"])
def test_a_wait_that_makes_no_sense_is_not_heard(server, ask, clock, nonsense):
    server.script = lambda i, handler, body: says("yes") if i else fails(429, Retry_After=nonsense)
    ask(pairs_of(1))
    assert clock.slept[0] == 0.75


def test_a_wait_of_hours_is_an_error(server, ask, clock):
    server.script = lambda i, handler, body: fails(429, "quota", Retry_After="7200")
    with pytest.raises(UserError, match=r"asks to wait 7200 s.*quota"):
        ask(pairs_of(1))
    assert not clock.slept


def test_nobody_asks_while_the_endpoint_rests(clock, manner):
    pace = Pace(manner())
    pace.hold(30)
    pace.turn()
    assert clock.now() == 30


def test_when_one_thread_is_told_to_wait_all_do(clock, manner):
    others = []

    def sleep(seconds: float) -> None:
        if not others:
            others.append("another thread, meanwhile")
            pace.turn()
            others.append(clock.now())
        clock.sleep(seconds)

    def request() -> str:
        if not others:
            raise Busy("slow down", 30.0)
        return "yes"

    pace = Pace(manner(sleep=sleep))
    assert patiently(request, pace, manner(sleep=sleep), "host") == "yes"
    assert others[1] == 30


def test_a_server_that_fails_for_ever_is_an_error_and_earlier_answers_are_kept(server, ask, clock, tmp_path):
    server.script = lambda i, handler, body: says("no") if i < 2 else fails(500, "out of\n memory")
    with pytest.raises(UserError, match=r"still fails after 4 tries: it answers 500 \(out of memory\).*kept"):
        ask(pairs_of(9), tries=4)
    assert len(server.bodies) == 2 + 4
    assert [s for s in clock.slept if s > 0.1] == [0.75, 1.5, 3.0]  # 2^k (1 + u) / 2 with u = 1/2
    assert len(list(tmp_path.iterdir())) == 2
    server.script = lambda i, handler, body: says("yes")
    answers = ask(pairs_of(9))
    np.testing.assert_array_equal(answers, [0, 0, 1, 1, 1, 1, 1, 1, 1])


def test_one_failure_for_good_stops_all_threads(server, ask):
    server.script = lambda i, handler, body: fails(401) if i == 5 else says("yes")
    with pytest.raises(UserError, match="refuses the key"):
        ask(pairs_of(60), at_once=3)
    assert len(server.bodies) < 60
    assert not [t for t in threading.enumerate() if t.name.startswith("judge")]


def test_a_long_real_wait_ends_when_the_asking_is_broken_off(server, ask):
    """Real sleeping, cut short: one thread is told to wait for minutes, the other meets a wrong address."""
    both = threading.Barrier(2, timeout=5)

    def script(i, handler, body):
        both.wait()
        return fails(404) if which(body) else fails(429, Retry_After="600")

    server.script, start = script, time.monotonic()
    with pytest.raises(UserError, match="no such address or model"):
        ask(pairs_of(2), at_once=2, now=time.monotonic, sleep=None)
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(
    ("code", "line"),
    [(401, VARIABLES["key"]), (403, "does not allow"), (404, VARIABLES["url"]), (400, r"400 \(no pictures here\)")],
)
def test_what_the_user_can_mend_is_one_line_and_not_tried_again(server, ask, endpoint, code, line):
    server.script = lambda i, handler, body: fails(code, "no pictures here")
    with pytest.raises(UserError, match=line) as caught:
        ask(pairs_of(3))
    assert "\n" not in str(caught.value)
    assert endpoint.host in str(caught.value)
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "reply",
    [b"<html>hello</html>", b"", b"\xff", b"[]", b"{}", b'{"choices": [{}]}', b'{"error": "busy"}', b'{"choices": 3}'],
)
def test_a_reply_that_is_no_completion_is_tried_again_and_then_an_error(server, ask, tmp_path, reply):
    server.script = lambda i, handler, body: (200, {}, reply)
    with pytest.raises(UserError, match="after 2 tries: its reply is not a chat completion"):
        ask(pairs_of(1), tries=2)
    assert not list(tmp_path.iterdir())


def test_a_server_that_stalls_is_tried_again(server, ask):
    over = threading.Event()

    def script(i, handler, body):
        if i == 0:
            over.wait(5)
        return says("yes")

    server.script = script
    assert ask(pairs_of(1), timeout=0.1) == [1.0]
    over.set()
    assert len(server.bodies) == 2


def test_nobody_there_is_an_error_after_all_tries(ask):
    nobody = Endpoint("http://127.0.0.1:1", KEY, "eye-1")
    with pytest.raises(UserError, match=r"127.0.0.1:1 still fails after 3 tries: it cannot be reached \(.*refused\)"):
        ask(pairs_of(1), of=nobody, tries=3)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(server, ask, code):
    server.script = lambda i, handler, body: fails(code, Location=f"http://localhost:{server.server_port}/elsewhere")
    with pytest.raises(UserError, match="redirects"):
        ask(pairs_of(1))
    assert [path for path, _ in server.headers] == ["/v1/chat/completions"]


def test_nonsense_is_asked_again_and_then_recorded_as_unknown(server, ask, tmp_path):
    server.script = lambda i, handler, body: says("That depends." if which(body) == 0 or i < 5 else "no")
    answers = ask(pairs_of(2), asks=3)
    np.testing.assert_array_equal(answers, [np.nan, 0])
    assert len(server.bodies) == 3 + 3
    kept = sorted(json.loads(path.read_bytes())["answer"] for path in tmp_path.iterdir())
    assert kept == ["no", "unknown"]


@pytest.mark.parametrize("text", ["yes", "YES!", " Yes.\n", "**yes**", "'yes'", "_Yes_", "(yes)", "“Yes”"])
def test_yes_is_yes_in_any_dress(text):
    assert parse(text) == 1
    assert parse(text.lower().replace("yes", "No")) == 0


@pytest.mark.parametrize("text", ["", "yes no", "yes, no", "yesterday", "nope", "not", "I think yes", "1", "oui", "y"])
def test_anything_else_is_no_answer(text):
    assert np.isnan(parse(text))


@given(st.text("yesnoYESNO .,!_*\n"))
def test_parsing_never_fails(text):
    assert parse(text) in (0, 1) or np.isnan(parse(text))


@pytest.mark.parametrize("text", [None, [{"type": "text", "text": "Yes"}, {"type": "text", "text": "."}], 7])
def test_a_refusal_has_no_text_and_pieces_are_joined(server, ask, text):
    server.script = lambda i, handler, body: says(text)
    answer = ask(pairs_of(1))
    np.testing.assert_array_equal(answer, [1.0 if isinstance(text, list) else np.nan])


def test_requests_keep_their_distance(server, ask, clock):
    at = []
    server.script = lambda i, handler, body: at.append(clock.now()) or says("yes")
    ask(pairs_of(5), per_minute=30)
    assert at == [0, 2, 4, 6, 8]


def test_threads_share_one_rate_limit(clock, manner):
    pace = Pace(manner(per_minute=20))
    threads = [threading.Thread(target=lambda: [pace.turn() for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clock.now() >= 19 * 3


def test_as_many_requests_are_under_way_as_allowed_and_no_more(server, ask):
    together, under_way, most = threading.Barrier(3, timeout=5), [], []

    def script(i, handler, body):
        under_way.append(i)
        together.wait()  # breaks, and the test fails, unless three come at once
        most.append(len(under_way))
        together.wait()
        under_way.remove(i)
        return says("yes")

    server.script = script
    answers = ask(pairs_of(6), at_once=3)
    assert answers.tolist() == [1.0] * 6
    assert max(most) == 3


def test_the_estimate_counts_what_is_still_to_be_asked(ask, endpoint, tmp_path):
    price = Price(tokens_per_image=100, tokens_per_answer=2, per_million=10.0, per_million_answered=50.0)
    ask(pairs_of(2))
    found = estimate([*pairs_of(5), pairs_of(1)[0]], endpoint, cache=tmp_path, price=price)
    text = -(-len(prompt()) // 4)
    assert (found.requests, found.known) == (3, 2)
    assert (found.tokens, found.answer_tokens) == (3 * (200 + text), 6)
    assert found.cost == pytest.approx((3 * (200 + text) * 10 + 6 * 50) / 1e6)
    assert "3 requests (2 answered before)" in str(found)
    assert estimate(pairs_of(5), endpoint).requests == 5
    assert "price not given" in str(estimate([], endpoint))


def test_a_refused_estimate_asks_nothing(server, ask, endpoint):
    seen = []
    with pytest.raises(UserError, match="refused"):
        ask(pairs_of(4), confirm=lambda e: bool(seen.append(e)))
    assert seen == [estimate(pairs_of(4), endpoint)]
    assert not server.bodies
    ask(pairs_of(4), confirm=lambda e: True)
    assert len(server.bodies) == 4


def test_no_pairs_need_no_questions(ask):
    assert ask([], confirm=never).shape == (0,)


@pytest.fixture
def outlets(capfd, caplog):
    """All that was printed and logged."""
    caplog.set_level(0)
    return lambda: [caplog.text, *capfd.readouterr()]


@pytest.mark.parametrize("code", [200, 302, 400, 401, 404, 429, 500])
def test_the_key_is_in_no_file_message_or_log(server, ask, tmp_path, outlets, code):
    """The server gives the key back in every place it can."""
    endpoint = Endpoint(server.url, KEY, "eye-1")

    def script(i, handler, body):
        echo = handler.headers["Authorization"] * 20
        return says(f"x{echo}") if code == 200 else fails(code, f"x{echo}", Location=f"http://localhost/{KEY}", X_K=KEY)

    server.script, seen = script, [repr(endpoint), str(endpoint), f"{[endpoint]}"]
    try:
        ask(pairs_of(1), tries=2, progress=print, confirm=agree)
    except UserError as error:
        seen += [str(error), repr(error), *traceback.format_exception(error)]
    seen += [path.name + path.read_bytes().decode() for path in tmp_path.rglob("*")]
    seen += outlets()
    assert not [s for s in seen if KEY in s or "0123456789" in s]


@pytest.mark.parametrize(
    "change",
    [
        {"url": ""},
        {"key": ""},
        {"model": " "},
        {"url": None, "key": None, "model": None},
        {"url": KEY},
        {"url": f"https://{KEY.replace('/', '')}@host/v1"},
        {"url": f"https://host/v1?key={KEY}"},
        {"url": "ftp://host/v1"},
        {"url": "file:///etc/passwd"},
        {"url": "https://"},
        {"url": "http://host:port/v1"},
        {"url": "http://[::1/v1"},
        {"url": "http://host/a b"},
        {"key": f"{KEY}\r\nX-Other: 1"},
        {"key": f"{KEY} {KEY}"},
        {"key": f"{KEY}é"},
    ],
)
def test_a_missing_or_malformed_endpoint_is_one_line_without_the_key(change):
    with pytest.raises(UserError, match="RECOMBINE_JUDGE_") as caught:
        replace(Endpoint("https://host/v1", KEY, "eye-1"), **change)
    assert "\n" not in str(caught.value)
    assert "0123456789" not in "".join(traceback.format_exception(caught.value))


def test_arguments_come_before_the_environment():
    environment = {VARIABLES["url"]: "http://there/v1", VARIABLES["key"]: f" {KEY}\n", VARIABLES["model"]: "eye-1"}
    found = find_endpoint(environment=environment)
    assert (found.url, found.key, found.model) == ("http://there/v1", KEY, "eye-1")
    assert find_endpoint(model="eye-2", environment=environment).model == "eye-2"
    with pytest.raises(UserError, match=r"its url and key: set RECOMBINE_JUDGE_URL and RECOMBINE_JUDGE_KEY"):
        find_endpoint(model="eye-2", environment={})


def test_the_whole_address_is_taken_too():
    assert Endpoint("http://[::1]:8000/v1/chat/completions/", KEY, "m").url == "http://[::1]:8000/v1"


@pytest.mark.parametrize("wrong", [{"per_minute": 0}, {"at_once": 0}, {"tries": 0}, {"asks": 0}, {"timeout": 0}])
def test_a_manner_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        Manner(**wrong)


def test_enlarging_keeps_every_pixel_sharp():
    checks = (np.indices((3, 3)).sum(axis=0) % 2 * 255).astype(np.uint8)
    png = base64.b64decode(data_url(checks).partition(",")[2])
    large = np.asarray(Image.open(io.BytesIO(png)))
    assert large.shape == (129, 129)
    np.testing.assert_array_equal(large, np.kron(checks, np.ones((43, 43), np.uint8)))
