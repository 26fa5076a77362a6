"""Area E's encryption, version 1: a compact JWE (RFC 7516) with `dir` and `A256GCM`. Needs the package `cryptography`.

Its key is HKDF-SHA256(secret = the whole API key in UTF-8, salt = 16 bytes, info = "ostiary/node/v1/" + op, length = 32), and its
protected header holds, besides alg and enc:

    v     1, the encryption version
    salt  the salt in base64url, new for every envelope
    mv    the model version, as in the path of the call
    op    what the envelope is for: enroll, predict or deleteUser in requests, puid or guid in replies
    iat   when it was made, in Unix seconds; features that were encrypted more than five minutes ago are refused
    jti   an id of its own; an envelope is accepted once
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
import uuid
from typing import Any, Dict

from .errors import EnvelopeError, invalid

SALT_BYTES = 16
NONCE_BYTES = 12
TAG_BYTES = 16
HEADER_CHARS = 2048
# Header, no encrypted key, nonce of 12 bytes, content, tag of 16 bytes.
COMPACT = re.compile(r"([\w-]+)\.\.([\w-]{16})\.([\w-]*)\.([\w-]{22})", re.ASCII)


def seal(api_key: str, op: str, model_version: str, text: str) -> str:
    """Encrypts a text for one operation. Make a new envelope for every call, repeated ones too."""
    salt, nonce = secrets.token_bytes(SALT_BYTES), secrets.token_bytes(NONCE_BYTES)
    header = header_text(op, model_version, int(time.time()), str(uuid.uuid4()), salt)
    return seal_with(derive_key(api_key, salt, op), nonce, header, text)


def seal_with(key: bytes, nonce: bytes, header: str, text: str) -> str:
    """With a given nonce, which must be new for every envelope: only test vectors have fixed ones."""
    first = encode(header.encode())
    sealed = aes_gcm(key).encrypt(nonce, text.encode(), first.encode())
    return ".".join([first, "", encode(nonce), encode(sealed[:-TAG_BYTES]), encode(sealed[-TAG_BYTES:])])


def open_envelope(api_key: str, compact: str, op: str) -> str:
    """Decrypts an envelope that was made for `op`. Raises an EnvelopeError for any other."""
    parts = COMPACT.fullmatch(compact)
    if not parts:
        raise EnvelopeError("this is no compact JWE")
    first, nonce, content, tag = parts.groups()
    header = read_header(first)
    if header["op"] != op:
        raise EnvelopeError(f"the envelope is for {header['op']}, not for {op}")
    key = derive_key(api_key, decode(header["salt"]), op)
    from cryptography.exceptions import InvalidTag

    try:
        return aes_gcm(key).decrypt(decode(nonce), decode(content) + decode(tag), first.encode()).decode()
    except (InvalidTag, UnicodeDecodeError) as error:
        raise EnvelopeError("the envelope does not open with this API key") from error


def header_text(op: str, model_version: str, issued_at: int, envelope_id: str, salt: bytes) -> str:
    """The protected header. Its fields may stand in any order; this is the order of the test vectors."""
    header = {
        "alg": "dir",
        "enc": "A256GCM",
        "v": 1,
        "salt": encode(salt),
        "mv": model_version,
        "op": op,
        "iat": issued_at,
        "jti": envelope_id,
    }
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False)


def read_header(first: str) -> Dict[str, Any]:
    """The header of an envelope of version 1, checked before a key is derived from it."""
    if len(first) > HEADER_CHARS:
        raise EnvelopeError("the header of the JWE is too long")
    try:
        header: Dict[str, Any] = json.loads(decode(first))
        fixed = (header["alg"], header["enc"], header["v"]) == ("dir", "A256GCM", 1)
        salted = len(decode(header["salt"])) == SALT_BYTES
        plain = isinstance(header["op"], str) and "zip" not in header and "crit" not in header
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvelopeError("the header of the JWE is not as described") from error
    if not (fixed and salted and plain):
        raise EnvelopeError("the header of the JWE is not as described")
    return header


def derive_key(api_key: str, salt: bytes, op: str) -> bytes:
    """HKDF (RFC 5869) for one block, which is all that 32 bytes need. Another salt or purpose gives an unrelated key."""
    pseudo_random = hmac.new(salt, api_key.encode(), hashlib.sha256).digest()
    info = f"ostiary/node/v1/{op}".encode()
    return hmac.new(pseudo_random, info + b"\x01", hashlib.sha256).digest()


def aes_gcm(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise invalid("Area E's encryption needs the package cryptography: pip install 'ostiary[node]'") from None
    return AESGCM(key)


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    """Refuses a text that is not the only one for its bytes: a changed envelope would open."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise EnvelopeError("a part of the JWE is not exact base64url")
    return data
