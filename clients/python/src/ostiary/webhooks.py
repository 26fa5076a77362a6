"""Receives webhooks: checks the signature and gives a typed event, or the reason why it is not genuine."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
import urllib.parse
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Literal, Mapping, Optional, Protocol, Sequence, Tuple, Union, cast

from ._arguments import checked_api_key, checked_base_url
from ._http import Call, Http
from .errors import WebhookError, invalid
from .types import AgeResult, VerificationResult

TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 20 * 1024 * 1024
SECRET_LABEL = b"ostiary/standard-webhooks/v1"
#: A rotation has two. A sender must not be able to ask for thousands of comparisons.
SIGNATURES_MAX = 8

#: Every `reason` of a WebhookError, the same words as in the SDK for TypeScript. What can be known: the signature says only that it does not
#: match; which cause it is follows from the hint at the key (`X-Service-Key`) and a second look at the body. Nobody signs the hint, so a
#: forger can choose the reason; they cannot choose to be accepted.
WEBHOOK_REASONS = {
    "body_parsed": "The body was parsed and written again. Pass the bytes as they came, before any JSON parser",
    "body_changed": "A key of yours signed this webhook, but over another body: something on the way changes it",
    "wrong_key": "It is signed with a key of another tenant or installation: which API key creates your sessions?",
    "other_mode": "It is signed with a key of the other mode: test webhooks need test keys, live webhooks live keys",
    "key_not_listed": "It is signed with another key of your tenant: a rotated one that you have dropped, or a new one that you have not added",
    "outside_window": "The signature is right and its time too far from now: this machine's clock is wrong, or somebody sends an old webhook again",
    "signature_wrong": "No key matches, and the webhook does not say which one signed it: a wrong key or a changed body",
    "headers_missing": "webhook-id, webhook-timestamp and webhook-signature are not there once each: no webhook of Ostiary, or a proxy drops them",
    "no_key_pair_signature": "public_keys demand a signature of the tenant's key pair (v1a), and there is not one",
    "key_pair_wrong": "No public key matches the signature of the key pair (v1a): those of the other mode, or of another tenant?",
    "body_too_large": "The body is larger than a webhook can be",
    "unknown_event": "It is genuine, and its body is not one that this version of the client knows: update the client",
    "event_mismatch": "It is genuine, and its header X-Service-Event names another event than its body: something changes headers",
}

AgeEvent = Literal["age.session.completed", "age.session.cancelled", "age.session.expired"]
VerificationEvent = Literal["verification.succeeded", "verification.failed"]
Jwk = Mapping[str, Any]


class Headers(Protocol):
    """What frameworks give: http.server, WSGI wrappers, Flask, Django, Starlette, or a dict."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


@dataclass(frozen=True)
class WebhookEvent:
    """`event` is read from the body and `id` is signed too. `id` is the same in all attempts: count what comes twice once."""

    event: Union[AgeEvent, VerificationEvent]
    id: str
    #: Compare it with the sessions that you created.
    session_id: str
    livemode: bool
    #: 1 for the first attempt. From a header that is not signed: for logs.
    attempt: int
    #: Unix seconds, when this attempt was signed.
    timestamp: int
    #: Of an `age.*` event an AgeResult, of a `verification.*` event a VerificationResult.
    body: Union[AgeResult, VerificationResult]


def receive_webhook(
    headers: Headers,
    body: Union[bytes, str],
    *,
    api_keys: Sequence[str] = (),
    public_keys: Union[Sequence[Jwk], Mapping[str, Any], None] = None,
    tolerance: int = TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> WebhookEvent:
    """The event of a genuine webhook. Raises a WebhookError, whose `reason` says what is wrong, for anything else.

    `body` is the bytes as they came, before any JSON parser. `api_keys` are all keys of yours that are not revoked. With `public_keys`
    (a list of JWKs or the key set, see `fetch_webhook_keys`) the signature of the service's key pair is demanded, and API keys count
    for nothing: a leaked one forges no webhook. `tolerance` is in seconds.
    """
    keys = [api_keys] if isinstance(api_keys, str) else list(api_keys)
    if public_keys is None and not keys:
        raise invalid("receive_webhook needs api_keys or public_keys")
    for key in keys:
        checked_api_key(key)
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise refusal("body_parsed", f"the body is of type {type(body).__name__}, not bytes or text")
    received = Received(read_headers(headers), body.encode() if isinstance(body, str) else bytes(body))
    if len(received.body) > BODY_BYTES_MAX:
        raise refusal("body_too_large")
    if public_keys is None:
        check_api_keys(received, keys)
    else:
        check_key_pair(received, public_keys["keys"] if isinstance(public_keys, Mapping) else public_keys)
    # After the signature: a time that nobody signed says nothing.
    seconds = round((time.time() if now is None else now) - int(received.timestamp))
    # Not `>`: a tolerance that is not a number would accept every time.
    if not abs(seconds) <= tolerance:
        raise refusal("outside_window", f"signed {seconds} s ago" if seconds > 0 else f"signed {-seconds} s in the future")
    return read_event(received)


def refusal(reason: str, detail: Optional[str] = None) -> WebhookError:
    meaning = WEBHOOK_REASONS[reason]
    return WebhookError(reason, meaning if detail is None else f"{meaning} ({detail})")


@dataclass(frozen=True)
class Received:
    #: By their names in lower case.
    headers: Mapping[str, str]
    body: bytes

    @property
    def timestamp(self) -> str:
        return self.headers["webhook-timestamp"]

    def signed(self, body: bytes) -> bytes:
        """What a signature covers: the id too, which `X-Service-Signature` leaves out."""
        return f"{self.headers['webhook-id']}.{self.timestamp}.".encode() + body

    def signatures(self) -> List[str]:
        return self.headers["webhook-signature"].split(" ")[:SIGNATURES_MAX]


SHAPES = {"webhook-id": r"[A-Za-z0-9_-]{1,100}", "webhook-timestamp": r"[0-9]{1,15}", "webhook-signature": r"[\x20-\x7e]+"}


def read_headers(headers: Headers) -> Dict[str, str]:
    """A header that came twice counts as absent: two verifiers could read different ones."""
    found: Dict[str, str] = {}
    twice = set()
    for name, value in headers.items():
        key = name.lower()
        if key in found:
            twice.add(key)
        found[key] = value
    for key in twice:
        del found[key]
    for name, shape in SHAPES.items():
        if not isinstance(found.get(name), str) or not re.fullmatch(shape, found[name]):
            raise refusal("headers_missing", f"see {name}")
    return found


def check_api_keys(received: Received, api_keys: Sequence[str]) -> None:
    if is_signed_by(api_keys, received, received.body):
        return
    written_again = compact(received.body)
    if written_again is not None and is_signed_by(api_keys, received, written_again):
        raise refusal("body_parsed")
    hints = received.headers.get("x-service-key")
    shown = None if hints is None else "signed by " + re.sub(r"[^\w. ]", "?", hints, flags=re.ASCII)[:100]
    raise refusal(reason_of(api_keys, hints or ""), shown)


def is_signed_by(api_keys: Sequence[str], received: Received, body: bytes) -> bool:
    """Each signature is compared with one of each key, in constant time."""
    is_found = False
    for key in api_keys:
        secret = hmac.new(key.encode(), SECRET_LABEL, hashlib.sha256).digest()
        made = base64.b64encode(hmac.new(secret, received.signed(body), hashlib.sha256).digest())
        for given in received.signatures():
            is_found = hmac.compare_digest(b"v1," + made, given.encode()) or is_found
    return is_found


def reason_of(api_keys: Sequence[str], hints: str) -> str:
    """What the hints at the keys that signed (`ost_test_7k...9f2c`) say about a signature that matches no key of ours."""
    signers = [hint for hint in hints.split(" ") if re.fullmatch(r"ost_(live|test)_[0-9a-z]{2}\.{3}[0-9a-z]{4}", hint)]
    if not signers:
        return "signature_wrong"
    if any(hint_of(key) in signers for key in api_keys):
        return "body_changed"
    modes, tenants = {hint[:8] for hint in signers}, {hint[:11] for hint in signers}
    if not any(key[:8] in modes for key in api_keys):
        return "other_mode"
    return "key_not_listed" if any(key[:11] in tenants for key in api_keys) else "wrong_key"


def hint_of(api_key: str) -> str:
    """Mode, the bucket of the tenant and the last four characters."""
    return f"{api_key[:11]}...{api_key[-4:]}"


def compact(body: bytes) -> Optional[bytes]:
    """The body as the service would write it, if it is JSON: shows whether it was parsed and printed with other spaces or escapes."""
    try:
        return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None


def check_key_pair(received: Received, keys: Sequence[Jwk]) -> None:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise invalid("public_keys need the package cryptography: pip install 'ostiary[ed25519]'") from None
    given = [one for one in received.signatures() if one.startswith("v1a,")]
    if not given:
        raise refusal("no_key_pair_signature")
    public = [Ed25519PublicKey.from_public_bytes(key_bytes(jwk)) for jwk in keys]

    def is_genuine(body: bytes) -> bool:
        for one in given:
            if not re.fullmatch(r"v1a,[A-Za-z0-9+/]{86}==", one):
                continue
            for key in public:
                try:
                    key.verify(base64.b64decode(one[4:]), received.signed(body))
                    return True
                except InvalidSignature:
                    pass
        return False

    if is_genuine(received.body):
        return
    written_again = compact(received.body)
    is_rewritten = written_again is not None and is_genuine(written_again)
    raise refusal("body_parsed" if is_rewritten else "key_pair_wrong")


def key_bytes(jwk: Jwk) -> bytes:
    try:
        data = base64.urlsafe_b64decode(jwk["x"] + "=")
    except (KeyError, TypeError, binascii.Error):
        data = b""
    if jwk.get("crv") != "Ed25519" or len(data) != 32:
        raise invalid("public_keys must be the JWKs of the key set: kty OKP, crv Ed25519")
    return data


def read_event(received: Received) -> WebhookEvent:
    try:
        body = json.loads(received.body)
    except (ValueError, RecursionError):
        raise refusal("unknown_event") from None
    name = event_name(body) if isinstance(body, dict) else None
    if name is None:
        raise refusal("unknown_event")
    if received.headers.get("x-service-event", name) != name:
        raise refusal("event_mismatch", f"the body is of {name}")
    attempt = received.headers.get("x-service-attempt", "1")
    return WebhookEvent(
        name,
        received.headers["webhook-id"],
        body["sessionId"],
        body["livemode"],
        int(attempt) if re.fullmatch(r"[0-9]{1,9}", attempt) else 1,
        int(received.timestamp),
        cast(Union[AgeResult, VerificationResult], body),
    )


def event_name(body: Mapping[str, Any]) -> Union[AgeEvent, VerificationEvent, None]:
    """From the body, because the signature does not cover the header `X-Service-Event`."""
    if not isinstance(body.get("sessionId"), str) or not isinstance(body.get("livemode"), bool):
        return None
    if body.get("flowStatus") in ("COMPLETED", "CANCELLED", "EXPIRED"):
        return cast(AgeEvent, f"age.session.{body['flowStatus'].lower()}")
    if body.get("type") in ("ENROLL", "SIGN-IN", "VERIFY"):
        return "verification.succeeded" if body.get("status") == "SUCCESS" else "verification.failed"
    return None


def fetch_webhook_keys(base_url: str, tenant_id: str, *, mode: Literal["live", "test"] = "live", timeout: float = 10.0) -> List[Jwk]:
    """The public keys of a tenant's webhooks. Keep them for at most five minutes, and read them again when none fits.

    Never accept both modes at one receiver: test webhooks say what a test key asks for.
    """
    address = checked_base_url(base_url)
    host = urllib.parse.urlsplit(address).hostname
    if not address.startswith("https://") and host not in ("localhost", "127.0.0.1", "::1"):
        raise invalid("Public keys must come by https: on the way, anybody could put other ones in their place")
    http = Http(address, {}, timeout=timeout, max_retries=2, max_wait=20.0, on_retry=None, on_warning=None)
    path = f"/.well-known/ostiary-webhook-keys/{urllib.parse.quote(tenant_id, safe='')}.json"
    keys: List[Jwk] = http.send(Call("GET", path, {"mode": mode})).body["keys"]
    return keys
