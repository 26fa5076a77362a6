"""What a call, a webhook or an envelope can fail with."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence


class OstiaryError(Exception):
    """An error that the service returned, or the reason why no answer came (`status` 0)."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "UNKNOWN",
        request_id: Optional[str] = None,
        details: Sequence[Mapping[str, Any]] = (),
        retry_after: Optional[float] = None,
        node_status: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: HTTP status; 0 when there was no answer.
        self.status = status
        #: Of the service (docs/errors.md), or `INVALID_OPTION` (nothing was sent), `CONNECTION_FAILED`, `TIMED_OUT`, `NOT_JSON`, `UNKNOWN`.
        self.code = code
        self.request_id = request_id
        #: Of a refused body: which field, and why.
        self.details = list(details)
        #: Seconds, from the body or the header `Retry-After`.
        self.retry_after = retry_after
        #: The `status` in a body of area E; None elsewhere.
        self.node_status = node_status


class WebhookError(Exception):
    """A request that is not accepted as a webhook. Answer 4xx; the service sends it again."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        #: One of the words that README.md lists, the same in every language.
        self.reason = reason
        self.message = message


class EnvelopeError(Exception):
    """An envelope of area E that does not open: damaged, made with another key, or for another purpose."""


def invalid(message: str) -> OstiaryError:
    return OstiaryError(message, code="INVALID_OPTION")
