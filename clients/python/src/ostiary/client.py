"""The client of one installation."""

from __future__ import annotations

import urllib.parse
from typing import Any, Dict, Iterator, Mapping, Optional, cast

from ._arguments import checked_api_key, checked_base_url
from ._http import Call, Http, OnRetry, OnWarning
from .credentials import CredentialedHttp
from .node import Node
from .sessions import AgeSessions, Moment, Sender, VerificationSessions, all_pages, moment_text, page_of
from .types import Page, StreamEvent


class Client:
    """For servers: an API key must not be in a browser. One client may be used by several threads.

    `timeout` is in seconds, for each attempt: to connect, and between two parts of an answer. After a lost connection, 408, 429, 500,
    502, 503 or 504 a call is tried `max_retries` times more; if it would have to wait longer than `max_wait` seconds, it fails at once.
    """

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        timeout: float = 10.0,
        max_retries: int = 3,
        max_wait: float = 20.0,
        on_retry: Optional[OnRetry] = None,
        on_warning: Optional[OnWarning] = None,
    ) -> None:
        headers = {} if api_key is None else {"x-api-key": checked_api_key(api_key)}
        http = Http(
            checked_base_url(base_url),
            headers,
            timeout=timeout,
            max_retries=max_retries,
            max_wait=max_wait,
            on_retry=on_retry,
            on_warning=on_warning,
        )
        verification_http: Sender = http
        if client_id is not None or client_secret is not None:
            verification_http = CredentialedHttp(http, client_id or "", client_secret or "")
        self._http = http
        self.age = AgeSessions(http)
        self.verification = VerificationSessions(verification_http)
        self.node = Node(http, api_key)
        self.webhooks = Deliveries(http)
        self.events = Events(verification_http)
        self.test = TestMode(http)

    def describe(self) -> Dict[str, Any]:
        """What the installation is: name, version, areas."""
        return cast(Dict[str, Any], self._http.send(Call("GET", "/")).body)

    def health(self) -> Dict[str, Any]:
        """Returns for a degraded service too: look at `status`."""
        return cast(Dict[str, Any], self._http.send(Call("GET", "/health", also_ok=(503,))).body)


class Deliveries:
    """The webhooks that the service has sent: `client.webhooks`."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        state: Optional[str] = None,
        session_id: Optional[str] = None,
        since: Moment = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page[Dict[str, Any]]:
        query = {"state": state, "sessionId": session_id, "since": moment_text(since), "limit": limit, "cursor": cursor}
        return page_of(self._http.send(Call("GET", "/webhooks/deliveries", query)))

    def all(self, **filters: Any) -> Iterator[Dict[str, Any]]:
        return all_pages(lambda cursor: self.list(cursor=cursor, **filters))

    def get(self, delivery_id: str) -> Dict[str, Any]:
        """With its attempts."""
        return cast(Dict[str, Any], self._http.send(Call("GET", self._path(delivery_id))).body)

    def replay(self, delivery_id: str) -> Dict[str, Any]:
        """Sends it again, in any state."""
        return cast(Dict[str, Any], self._http.send(Call("POST", f"{self._path(delivery_id)}/replay")).body)

    def replay_since(self, since: Moment, *, state: str = "dead") -> int:
        """Sends all dead deliveries (or `delivered`, or `all`) since a moment again. Returns how many."""
        count, start = 0, moment_text(since)
        while start is not None:
            body = {"since": start, "state": state}
            reply = self._http.send(Call("POST", "/webhooks/replay", make_body=lambda: body)).body
            count, start = count + reply["count"], reply["continueFrom"]
        return count

    def _path(self, delivery_id: str) -> str:
        return f"/webhooks/deliveries/{urllib.parse.quote(delivery_id, safe='')}"


class Events:
    """The stream of events, for development: `client.events`. In production use webhooks."""

    def __init__(self, http: Sender) -> None:
        self._http = http

    def list(self, *, cursor: Optional[str] = None, wait: int = 0, limit: Optional[int] = None) -> Dict[str, Any]:
        """`items` and the `cursor` after them. Without a cursor: from now on; `start`: from the oldest that is kept."""
        call = Call("GET", "/events", {"cursor": cursor, "wait": wait or None, "limit": limit}, timeout=wait + 10.0)
        return cast(Dict[str, Any], self._http.send(call).body)

    def stream(self, *, cursor: Optional[str] = None) -> Iterator[StreamEvent]:
        """Every event from the cursor on. It never ends: stop to iterate when you have what you need."""
        while True:
            page = self.list(cursor=cursor, wait=25 if cursor else 0)
            yield from page["items"]
            cursor = page["cursor"]


class TestMode:
    """What test keys can do: `client.test`."""

    __test__ = False  # not a test of pytest

    def __init__(self, http: Http) -> None:
        self._http = http

    def outcome(self, session_id: str, body: Optional[Mapping[str, Any]] = None) -> None:
        """Ends a test session without a device. docs/api/age.md and verification.md, "Test mode", have the fields."""
        path = f"/test/sessions/{urllib.parse.quote(session_id, safe='')}/outcome"
        self._http.send(Call("POST", path, make_body=lambda: body or {}, repeatable=False))

    def advance_clock(self, seconds: int) -> None:
        """Everything that the tenant's test sessions and their webhooks wait for comes nearer by so many seconds."""
        self._http.send(Call("POST", "/test/clock/advance", make_body=lambda: {"seconds": seconds}, repeatable=False))

    def fail_delivery(self, delivery_id: str, *, times: int = 1) -> None:
        """Sends a delivery again and lets its next attempts fail without being sent."""
        path = f"/test/webhooks/{urllib.parse.quote(delivery_id, safe='')}/fail"
        self._http.send(Call("POST", path, {"times": times}, repeatable=False))
