"""Refuses an address or a key that cannot work, before the first call."""

from __future__ import annotations

import re
import urllib.parse
import zlib

from .errors import invalid

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
API_KEY = re.compile(f"ost_(live|test)_[{ALPHABET}]{{60}}")
CHECKSUM_CHARS = 6


def checked_base_url(base_url: str) -> str:
    """The address without a slash at its end."""
    if not isinstance(base_url, str):
        raise invalid("base_url is missing: is OSTIARY_URL set?")
    try:
        parts = urllib.parse.urlsplit(base_url)
        port = parts.port
    except ValueError:
        raise invalid("base_url is not a URL: its host or its port cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise invalid("base_url must begin with https:// (or http:// on this machine) and name a host, as in https://ostiary.example.com")
    if port == 0 or re.search(r"[\s\x00-\x1f\x7f]", base_url):
        raise invalid("base_url must not have spaces, line breaks or port 0")
    if parts.username is not None or parts.password is not None:
        raise invalid("base_url must not have a user name or a password: the API key is an argument of its own")
    if "?" in base_url or "#" in base_url:
        raise invalid("base_url must not have a query or a fragment")
    return base_url.rstrip("/")


def checked_api_key(api_key: str) -> str:
    if not is_api_key(api_key):
        raise invalid("This is not an Ostiary API key: was it copied completely?")
    return api_key


def is_api_key(text: object) -> bool:
    """Whether a text can be a key: its checksum shows a cut-off or mistyped one."""
    if not isinstance(text, str) or not API_KEY.fullmatch(text):
        return False
    body, given = text[:-CHECKSUM_CHARS], text[-CHECKSUM_CHARS:]
    checksum = zlib.crc32(body.encode())
    shifts = range((CHECKSUM_CHARS - 1) * 5, -1, -5)
    return given == "".join(ALPHABET[(checksum >> shift) % 32] for shift in shifts)
