"""Turns one chat request into one reply of an OpenAI-compatible endpoint, and its failures into one clear line.

The key goes into one header of requests to the one address given: no message, file or redirect ever has it.
"""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPException
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, quote_plus, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from recombine.core import UserError

VARIABLES = {"url": "RECOMBINE_JUDGE_URL", "key": "RECOMBINE_JUDGE_KEY", "model": "RECOMBINE_JUDGE_MODEL"}
PLAIN = MappingProxyType({"temperature": 0, "max_tokens": 16})
LONGEST_REPLY = 1 << 20
LONGEST_QUOTE = 200
_PATH = "/chat/completions"
_ADVICE = {
    401: f"refuses the key (401): check {VARIABLES['key']}",
    403: f"does not allow this (403): check {VARIABLES['key']} and what it may use",
    404: f"has no such address or model (404): check {VARIABLES['url']} and {VARIABLES['model']}",
}
_PASSING = {408, 425, 429}


class Busy(Exception):
    """A failure that may pass; `wait` is how many seconds the endpoint asks to be left alone, if it says so."""

    def __init__(self, says: str, wait: float | None = None):
        super().__init__(says)
        self.wait = wait


@dataclass(frozen=True)
class Endpoint:
    """Where a judge is asked: `url` up to and with /v1, the `key`, the `model`, and what else each request says.

    `options` are fields of the request body: some models take `max_completion_tokens`, or refuse a temperature.
    """

    url: str
    key: str = field(repr=False)
    model: str
    options: Mapping[str, Any] = field(default_factory=lambda: PLAIN, hash=False)

    def __post_init__(self) -> None:
        values = {name: str(getattr(self, name) or "").strip() for name in VARIABLES}
        if missing := [name for name, value in values.items() if not value]:
            where = " and ".join(VARIABLES[name] for name in missing)
            raise UserError(f"the judge needs its {' and '.join(missing)}: set {where} (a local server takes any key)")
        if not _one_word(values["key"]):
            raise UserError(f"the judge's key must be one word of plain characters: check {VARIABLES['key']}")
        if not _sound(values["url"]):
            says = "must look like https://host/v1 or http://host:port/v1, without a name, password or query"
            raise UserError(f"the judge's URL {says}: check {VARIABLES['url']}")
        values["url"] = values["url"].rstrip("/").removesuffix(_PATH)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


def find_endpoint(
    *,
    url: str | None = None,
    key: str | None = None,
    model: str | None = None,
    environment: Mapping[str, str] = os.environ,
    options: Mapping[str, Any] = PLAIN,
) -> Endpoint:
    """An endpoint from what is given, and for the rest from the RECOMBINE_JUDGE_ variables of the environment."""
    found = {name: environment.get(variable, "") for name, variable in VARIABLES.items()}
    return Endpoint(url or found["url"], key or found["key"], model or found["model"], options)


def post(endpoint: Endpoint, content: list[dict[str, Any]], *, timeout: float) -> str:
    """What the model says to one message; raises Busy where trying again may help, else UserError."""
    body = {"model": endpoint.model, "messages": [{"role": "user", "content": content}], **endpoint.options}
    request = Request(endpoint.url + _PATH, json.dumps(body).encode(), {"Content-Type": "application/json"})
    request.add_unredirected_header("Authorization", f"Bearer {endpoint.key}")
    try:
        with _opener().open(request, timeout=timeout) as reply:
            received = reply.read(LONGEST_REPLY)
    except HTTPError as error:
        with error:
            problem = _problem(endpoint, error)
        raise problem from None
    except (OSError, HTTPException) as error:
        raise _unreachable(endpoint, error) from None
    try:
        return _text(json.loads(received))
    except (ValueError, LookupError, TypeError):
        raise Busy("its reply is not a chat completion") from None


def clean(text: str, key: str) -> str:
    """Foreign text as one short line that does not hold the key."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for form in {key, quote(key), quote(key, safe=""), quote_plus(key), json.dumps(key)[1:-1]}:
        text = text.replace(form, "***")
    return text[:LONGEST_QUOTE]


@cache
def _opener() -> OpenerDirector:
    """What speaks HTTP and HTTPS and follows no redirect, since urllib would take the key along."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    return opener


def _one_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _sound(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            _one_word(url)
            and parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and not (parts.username or parts.password or parts.query or parts.fragment)
        )
    except ValueError:
        return False


def _text(reply: Any) -> str:
    """The text of a chat completion; some servers send it in pieces, and a refusal has none."""
    content = reply["choices"][0]["message"].get("content") if reply["choices"] else None
    if isinstance(content, list):
        return "".join(str(piece.get("text") or "") for piece in content if isinstance(piece, dict))
    return str(content or "")


def _problem(endpoint: Endpoint, error: HTTPError) -> Exception:
    """The exception for a status that is not success."""
    code = error.code
    if code in _ADVICE:
        return UserError(f"the judge at {endpoint.host} {_ADVICE[code]}")
    if 300 <= code < 400:
        return UserError(
            f"the judge at {endpoint.host} redirects ({code}): set {VARIABLES['url']} to its final address"
        )
    says = f"it answers {code}{_quoted(endpoint, error)}"
    if code in _PASSING or code >= 500:
        return Busy(says, _wait(error.headers))
    return UserError(f"the judge at {endpoint.host} cannot be asked: {says}")


def _quoted(endpoint: Endpoint, error: HTTPError) -> str:
    """The endpoint's own words about a failure, if it has any."""
    try:
        reply = json.loads(error.read(LONGEST_REPLY))
        inner = reply.get("error", reply)
        says = inner.get("message") if isinstance(inner, dict) else inner
    except (OSError, HTTPException, ValueError, AttributeError):
        return ""
    return f" ({clean(says, endpoint.key)})" if isinstance(says, str) and says else ""


def _wait(headers: Message) -> float | None:
    """The seconds of Retry-After, which is a number or a date (set against the reply's own clock, if it has one)."""
    said = headers.get("Retry-After") or ""
    if said.strip().isdecimal():
        return float(said)
    try:
        then = parsedate_to_datetime(said)
        now = parsedate_to_datetime(headers["Date"]) if headers["Date"] else datetime.now(UTC)
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _unreachable(endpoint: Endpoint, error: Exception) -> Exception:
    reason = error.reason if isinstance(error, URLError) else error
    says = clean(str(getattr(reason, "strerror", None) or reason) or type(reason).__name__, endpoint.key)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return UserError(f"the judge at {endpoint.host} shows a certificate that is not trusted: {says}")
    return Busy(f"it cannot be reached ({says})")
