"""Sessions of areas C (age) and D (verification)."""

from __future__ import annotations

import json
import time
import urllib.parse
import uuid
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Protocol, TypeVar, Union, cast

from ._http import Call, Reply
from .errors import OstiaryError
from .types import (
    AgeResult,
    CreateAgeSession,
    CreatedAgeSession,
    CreatedVerification,
    CreateVerification,
    Page,
    SessionSummary,
    VerificationResult,
    VerificationSummary,
)

Item = TypeVar("Item")
Moment = Union[datetime, str, None]
WAIT_SECONDS_MAX = 25
ANSWER_SECONDS = 10.0
POLL_PAUSE_SECONDS = 1.0


class Sender(Protocol):
    def send(self, call: Call) -> Reply: ...


class AgeSessions:
    """Area C: `client.age`."""

    def __init__(self, http: Sender) -> None:
        self._http = http

    def create(
        self, body: CreateAgeSession, *, idempotency_key: Optional[str] = None, bearer: Optional[str] = None
    ) -> CreatedAgeSession:
        """`bearer`: a token of your identity provider for the user, if the tenant has one configured.

        An `idempotency_key` of your own makes the call repeatable across restarts of your program.
        """
        headers = idempotency(idempotency_key)
        if bearer is not None:
            headers["authorization"] = f"Bearer {bearer}"
        reply = self._http.send(Call("POST", "/session", make_body=lambda: body, headers=headers))
        made = reply.body
        return CreatedAgeSession(
            made["token"], made["launchUrl"], made["sessionId"], made["expiresAt"], made["livemode"], reply.warnings
        )

    def result(self, token: str, *, wait: int = 0) -> AgeResult:
        """`flowStatus` is None until the flow has ended. `wait`: seconds, at most 25, to hold the answer back until then."""
        call = Call("GET", f"{self._path(token)}/result", {"wait": wait or None}, timeout=wait + ANSWER_SECONDS)
        return cast(AgeResult, self._http.send(call).body)

    def wait_for_result(self, token: str, *, timeout: float = 900) -> AgeResult:
        """Asks until the flow has ended. If the time runs out first, it returns the unfinished result: check `flowStatus`."""
        ends_at = time.monotonic() + timeout
        while True:
            left = ends_at - time.monotonic()
            found = self.result(token, wait=int(max(0, min(WAIT_SECONDS_MAX, left))))
            if found["flowStatus"] is not None or time.monotonic() >= ends_at:
                return found
            time.sleep(min(POLL_PAUSE_SECONDS, max(0.0, ends_at - time.monotonic())))

    def get(self, token: str) -> SessionSummary:
        """The state of the flow, without the result."""
        return cast(SessionSummary, self._http.send(Call("GET", self._path(token))).body)

    def cancel(self, token: str) -> AgeResult:
        reply = cancel(self._http, self._path(token), lambda: self.result(token))
        return cast(AgeResult, reply)

    def confirm(self, token: str, code: str, *, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Takes the `code` that a browser has brought back, once: `CODE_USED` or `CODE_WRONG` (409) otherwise."""
        return confirm(self._http, self._path(token), code, idempotency_key)

    def erase(self, token: str) -> None:
        """Erases result and metadata of an ended session before its retention period ends."""
        self._http.send(Call("DELETE", self._path(token)))

    def list(
        self,
        *,
        state: Optional[str] = None,
        since: Moment = None,
        until: Moment = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        metadata: Optional[Mapping[str, Union[str, int, float, bool]]] = None,
    ) -> Page[SessionSummary]:
        """`metadata` keeps sessions that have these values at the top level of theirs."""
        query = {
            "state": state,
            "since": moment_text(since),
            "until": moment_text(until),
            "limit": limit,
            "cursor": cursor,
            "metadata": None if metadata is None else json.dumps(metadata),
        }
        return page_of(self._http.send(Call("GET", "/sessions", query)))

    def all(self, **filters: Any) -> Iterator[SessionSummary]:
        """Every session, page by page, newest first. The filters are those of `list`."""
        return all_pages(lambda cursor: self.list(cursor=cursor, **filters))

    def _path(self, token: str) -> str:
        return f"/session/{urllib.parse.quote(token, safe='')}"


class VerificationSessions:
    """Area D: `client.verification`."""

    def __init__(self, http: Sender) -> None:
        self._http = http

    def create(self, body: CreateVerification, *, idempotency_key: Optional[str] = None) -> CreatedVerification:
        headers = idempotency(idempotency_key)
        reply = self._http.send(Call("POST", "/v2/verification-session", make_body=lambda: body, headers=headers))
        made = reply.body
        return CreatedVerification(
            made["launchUrl"], made["sessionId"], made["expiresAt"], made["livemode"], reply.warnings
        )

    def get(self, session_id: str) -> VerificationSummary:
        """The state of the flow. `outcome` is None until it has ended."""
        return cast(VerificationSummary, self._http.send(Call("GET", self._path(session_id))).body)

    def webhook(self, session_id: str) -> VerificationResult:
        """The body of the webhook again, without images. `SESSION_OPEN` (409) until the flow has ended."""
        return cast(VerificationResult, self._http.send(Call("GET", f"{self._path(session_id)}/webhook")).body)

    def cancel(self, session_id: str) -> VerificationResult:
        reply = cancel(self._http, self._path(session_id), lambda: self.webhook(session_id))
        return cast(VerificationResult, reply)

    def confirm(self, session_id: str, code: str, *, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Takes the `code` that a browser has brought back, once: `CODE_USED` or `CODE_WRONG` (409) otherwise."""
        return confirm(self._http, self._path(session_id), code, idempotency_key)

    def delete(self, session_id: str) -> None:
        """Erases what an ended session holds. The person stays enrolled: `client.node.delete_user` removes them."""
        self._http.send(Call("DELETE", self._path(session_id)))

    def lockout(self, *, puid: Optional[str] = None, customer_id: Optional[str] = None) -> Dict[str, Any]:
        """What counts against a person whose comparisons failed. Needs a key with `verify:lockouts`, as `unlock` does."""
        return self._at_lockout("find", puid, customer_id)

    def unlock(self, *, puid: Optional[str] = None, customer_id: Optional[str] = None) -> Dict[str, Any]:
        """Frees a person who is locked out. Returns the lockout as it was; a second call finds none."""
        return self._at_lockout("clear", puid, customer_id)

    def _at_lockout(self, action: str, puid: Optional[str], customer_id: Optional[str]) -> Dict[str, Any]:
        given = {"puid": puid, "customerId": customer_id}
        person = {name: value for name, value in given.items() if value is not None}
        call = Call("POST", f"/v2/verification-lockout/{action}", make_body=lambda: person)
        return cast(Dict[str, Any], self._http.send(call).body)

    def list(
        self,
        *,
        state: Optional[str] = None,
        since: Moment = None,
        until: Moment = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        transaction_id: Optional[str] = None,
    ) -> Page[VerificationSummary]:
        query = {
            "state": state,
            "since": moment_text(since),
            "until": moment_text(until),
            "limit": limit,
            "cursor": cursor,
            "transactionID": transaction_id,
        }
        return page_of(self._http.send(Call("GET", "/v2/verification-sessions", query)))

    def all(self, **filters: Any) -> Iterator[VerificationSummary]:
        """Every session, page by page, newest first. The filters are those of `list`."""
        return all_pages(lambda cursor: self.list(cursor=cursor, **filters))

    def _path(self, session_id: str) -> str:
        return f"/v2/verification-session/{urllib.parse.quote(session_id, safe='')}"


def idempotency(key: Optional[str]) -> Dict[str, str]:
    """Made once for a call, so that all its attempts have the same key."""
    return {"idempotency-key": key or str(uuid.uuid4())}


def cancel(http: Sender, path: str, read: Callable[[], Any]) -> Any:
    lost: Dict[str, bool] = {}
    try:
        return http.send(Call("POST", f"{path}/cancel", on_maybe_done=lambda: lost.update(it=True))).body
    except OstiaryError as error:
        # Only the answer to an earlier attempt was lost: the session is cancelled, and this is what it answered.
        if not lost or error.code != "SESSION_NOT_OPEN":
            raise
        found = read()
        if found["outcome"] != "CANCELLED":
            raise
        return found


def confirm(http: Sender, path: str, code: str, idempotency_key: Optional[str]) -> Dict[str, Any]:
    call = Call("POST", f"{path}/confirm", make_body=lambda: {"code": code}, headers=idempotency(idempotency_key))
    return cast(Dict[str, Any], http.send(call).body)


def page_of(reply: Reply) -> Page[Any]:
    return Page(reply.body["items"], reply.body["nextCursor"])


def all_pages(read: Callable[[Optional[str]], Page[Item]]) -> Iterator[Item]:
    cursor: Optional[str] = None
    while True:
        page = read(cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def moment_text(moment: Moment) -> Optional[str]:
    """A datetime without a time zone is taken as local time, as Python does."""
    if not isinstance(moment, datetime):
        return moment
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
