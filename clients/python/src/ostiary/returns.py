"""Binds the result of a sign-in to the browser that waits at your site: docs/api/verification.md says why."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import urllib.parse
from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class ReturnCheck:
    """Whether this browser belongs to the session. If not, `reason` says what is wrong:

    - `other_browser`: the cookie or the session is not this browser's. Somebody may have sent the link to somebody else.
    - `no_code_hash`: there is no hash. The webhook may not have arrived yet, or no browser has ended the session.
    - `wrong_code`: the browser has no code, or another session's.
    """

    is_bound: bool
    reason: Optional[str]


def new_state() -> str:
    """A random value for the cookie and for the parameter `state` of the redirect URL: one for each session."""
    return secrets.token_urlsafe(32)


def check_return(url: str, *, state: Optional[str], session_id: Optional[str], code_hash: Optional[str]) -> ReturnCheck:
    """Checks that a user comes back in the browser that has finished the session. Call it before you let anybody in.

    `url` is what the browser has called. `state` is the browser's cookie, `session_id` the session that you created for it, and
    `code_hash` comes from the webhook whose signature you have checked.
    """
    query = dict(reversed(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query)))
    if not (is_equal(state, query.get("state")) and is_equal(session_id, query.get("sessionId"))):
        return ReturnCheck(False, "other_browser")
    if not code_hash:
        return ReturnCheck(False, "no_code_hash")
    return ReturnCheck(True, None) if code_matches(query.get("code"), code_hash) else ReturnCheck(False, "wrong_code")


def code_matches(code: Optional[str], code_hash: Optional[str]) -> bool:
    """Whether a code is the one that the session has ended with. For popups and frames, which get the code by message."""
    if not code or not code_hash:
        return False
    return is_equal(code_hash.lower(), hashlib.sha256(code.encode()).hexdigest())


def is_equal(known: Optional[str], given: Optional[str]) -> bool:
    if not known or not given:
        return False
    return hmac.compare_digest(known.encode(), given.encode())
