"""Calls with time-outs and retries. Standard library only."""

from __future__ import annotations

import http.client
import json
import logging
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Set, Tuple

from ._version import VERSION
from .errors import OstiaryError, invalid

RETRIED = frozenset({0, 408, 429, 500, 502, 503, 504})
FIRST_DELAY_SECONDS = 0.25
LONGEST_DELAY_SECONDS = 8.0
log = logging.getLogger("ostiary")


@dataclass(frozen=True)
class ConfigWarning:
    """What the service says about a call that it accepted: it will disappoint. docs/api/age.md lists the codes."""

    code: str
    #: What it is about, where the code alone does not say it: the name of an ignored field.
    subject: Optional[str] = None

    def __str__(self) -> str:
        return self.code if self.subject is None else f"{self.code}: {self.subject}"


#: Gets the failure, the number of the attempt that failed, and the seconds until the next one.
OnRetry = Callable[[OstiaryError, int, float], None]
OnWarning = Callable[[ConfigWarning], None]


@dataclass
class Call:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    #: Made again for each attempt: an envelope of area E is accepted only once.
    make_body: Optional[Callable[[], Any]] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    also_ok: Tuple[int, ...] = ()
    timeout: Optional[float] = None
    #: False: an attempt whose answer was lost may have worked and must not be repeated.
    repeatable: bool = True
    #: Called before a further attempt when the failed one may have worked.
    on_maybe_done: Callable[[], None] = lambda: None


@dataclass
class Reply:
    status: int
    body: Any
    warnings: Tuple[ConfigWarning, ...]


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the API key would go to the address that it names."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Http:
    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        max_retries: int,
        max_wait: float,
        on_retry: Optional[OnRetry],
        on_warning: Optional[OnWarning],
    ) -> None:
        self.base_url = base_url
        self.headers = {"accept": "application/json", "x-client": f"ostiary-python/{VERSION}", **headers}
        self.timeout = timeout
        self.max_retries = max_retries
        self.max_wait = max_wait
        self.on_retry = on_retry
        self.on_warning = on_warning
        self.logged: Set[ConfigWarning] = set()
        self.opener = urllib.request.build_opener(NoRedirects)

    def with_headers(self, headers: Mapping[str, str]) -> "Http":
        """The same without its own headers: the token endpoint does not get the API key."""
        return Http(
            self.base_url,
            headers,
            timeout=self.timeout,
            max_retries=self.max_retries,
            max_wait=self.max_wait,
            on_retry=self.on_retry,
            on_warning=self.on_warning,
        )

    def send(self, call: Call) -> Reply:
        maybe_done = False
        attempt = 0
        while True:
            try:
                reply = self.attempt(call)
                self.warn(reply.warnings)
                return reply
            except OstiaryError as failure:
                # An earlier attempt may have deleted it, and only the answer was lost.
                if maybe_done and call.method == "DELETE" and failure.status in (404, 410):
                    return Reply(204, None, ())
                if attempt >= self.max_retries or not is_retried(call, failure):
                    raise
                delay = delay_before(attempt, failure.retry_after)
                if delay > self.max_wait:
                    raise
                # Only a call that hit the rate limit certainly did nothing.
                if failure.status != 429:
                    maybe_done = True
                    call.on_maybe_done()
                attempt += 1
                if self.on_retry:
                    self.on_retry(failure, attempt, delay)
            time.sleep(delay)

    def attempt(self, call: Call) -> Reply:
        data, content_type = encode_body(call.make_body)
        headers = {**self.headers, **call.headers}
        if any(re.search(r"[^\x20-\x7e]", value) for value in headers.values()):
            raise invalid("An idempotency key or bearer token must be printable ASCII, without line breaks")
        if content_type:
            headers["content-type"] = content_type
        request = urllib.request.Request(self.base_url + call.path + query_of(call.query), data, headers, method=call.method)
        try:
            with self.opener.open(request, timeout=call.timeout or self.timeout) as response:
                status, answered, text = response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            status, answered, text = error.code, error.headers, self.read_error(error)
        except (OSError, http.client.HTTPException) as error:
            raise no_answer(error) from error
        return read_reply(call, status, {name.lower(): value for name, value in answered.items()}, text)

    def read_error(self, error: urllib.error.HTTPError) -> bytes:
        try:
            return error.read()
        except (OSError, http.client.HTTPException) as lost:
            raise no_answer(lost) from lost
        finally:
            error.close()

    def warn(self, warnings: Tuple[ConfigWarning, ...]) -> None:
        for warning in warnings:
            if self.on_warning:
                self.on_warning(warning)
            # A busy shop gets the same warning with every session: one line says it.
            if warning not in self.logged:
                log.warning("%s (docs/api/age.md says what this warning means)", warning)
            self.logged.add(warning)


def no_answer(error: Exception) -> OstiaryError:
    reason = getattr(error, "reason", error)
    # Before Python 3.10 a time-out of a socket has a class of its own.
    if isinstance(reason, (TimeoutError, socket.timeout)):
        return OstiaryError("The service did not answer in time", code="TIMED_OUT")
    return OstiaryError("The service could not be reached", code="CONNECTION_FAILED")


def is_retried(call: Call, failure: OstiaryError) -> bool:
    return failure.status == 429 or (call.repeatable and failure.status in RETRIED and failure.code != "INVALID_OPTION")


def delay_before(attempt: int, retry_after: Optional[float]) -> float:
    """Seconds. The jitter keeps clients that failed together from coming back together."""
    if retry_after is not None:
        return retry_after * random.uniform(1, 1.1)
    return random.uniform(0, min(FIRST_DELAY_SECONDS * 2**attempt, LONGEST_DELAY_SECONDS))


def encode_body(make_body: Optional[Callable[[], Any]]) -> Tuple[Optional[bytes], Optional[str]]:
    if make_body is None:
        return None, None
    body = make_body()
    if isinstance(body, Form):
        return body.data, body.content_type
    return json.dumps(body, allow_nan=False).encode(), "application/json"


@dataclass(frozen=True)
class Form:
    """A body that is not JSON."""

    data: bytes
    content_type: str


def query_of(query: Mapping[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"?{urllib.parse.urlencode(given)}" if given else ""


def read_reply(call: Call, status: int, headers: Mapping[str, str], text: bytes) -> Reply:
    hint = retry_after_of(headers)
    try:
        body = json.loads(text) if text else None
    except ValueError as error:
        message = "The answer is not JSON: is base_url the address of Ostiary?"
        raise OstiaryError(message, status=status, code="NOT_JSON", retry_after=hint) from error
    if 200 <= status < 300 or status in call.also_ok:
        return Reply(status, body, warnings_in(headers.get("x-config-warning", "")))
    raise error_of(status, body if isinstance(body, dict) else {}, headers, hint)


def warnings_in(header: str) -> Tuple[ConfigWarning, ...]:
    """Reads `estimate-without-buffer, ignored-field: livenessEnabled`."""
    entries = [entry.strip().partition(":") for entry in header.split(",") if entry.strip()]
    return tuple(ConfigWarning(code, subject.strip() or None) for code, _, subject in entries)


def error_of(status: int, body: Dict[str, Any], headers: Mapping[str, str], hint: Optional[float]) -> OstiaryError:
    """A proxy may answer JSON of its own: a field of another type than ours counts as absent."""

    def text(*names: str) -> Optional[str]:
        return next((body[name] for name in names if isinstance(body.get(name), str)), None)

    def number(name: str) -> Optional[int]:
        return body[name] if isinstance(body.get(name), int) else None

    wait = number("retryAfter")
    return OstiaryError(
        text("message", "error_description") or f"The service answered {status}",
        status=status,
        code=text("code", "error") or "UNKNOWN",
        request_id=text("requestId") or headers.get("x-request-id"),
        details=body["details"] if isinstance(body.get("details"), list) else (),
        retry_after=hint if wait is None else wait,
        node_status=number("status"),
    )


def retry_after_of(headers: Mapping[str, str]) -> Optional[float]:
    text = headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"[0-9]{1,9}", text) else None
