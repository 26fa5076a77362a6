"""Area D's client credentials: an access token is fetched when it is needed and used until shortly before it ends."""

from __future__ import annotations

import base64
import threading
import time
import urllib.parse
from dataclasses import replace
from typing import Optional

from ._http import Call, Form, Http, Reply
from .errors import OstiaryError, invalid

#: A token that ends while its call is on the way would be refused.
EARLY_SECONDS = 30


class CredentialedHttp:
    """Sends calls with a bearer token. Threads share one token."""

    def __init__(self, http: Http, client_id: str, client_secret: str) -> None:
        if not client_id or not client_secret:
            raise invalid("Client credentials are a client_id and a client_secret: one of them is missing")
        pair = f"{urllib.parse.quote(client_id, safe='')}:{urllib.parse.quote(client_secret, safe='')}"
        basic = base64.b64encode(pair.encode()).decode()
        self.http = http
        self.token_http = http.with_headers({"authorization": f"Basic {basic}"})
        self.lock = threading.Lock()
        self.token: Optional[str] = None
        self.ends_at = 0.0

    def send(self, call: Call) -> Reply:
        token = self.current()
        try:
            return self.authorised(call, token)
        except OstiaryError as error:
            if error.code != "INVALID_CLIENT_CREDENTIALS":
                raise
        # The token may have ended early, with a change of the master key. A new one is tried once.
        self.forget(token)
        return self.authorised(call, self.current())

    def authorised(self, call: Call, token: str) -> Reply:
        return self.http.send(replace(call, headers={**call.headers, "authorization": f"Bearer {token}"}))

    def current(self) -> str:
        with self.lock:
            if self.token is None or time.monotonic() >= self.ends_at:
                asked_at = time.monotonic()
                form = Form(b"grant_type=client_credentials", "application/x-www-form-urlencoded")
                body = self.token_http.send(Call("POST", "/oauth/token", make_body=lambda: form)).body
                self.token = str(body["access_token"])
                self.ends_at = asked_at + body["expires_in"] - EARLY_SECONDS
            return self.token

    def forget(self, token: str) -> None:
        with self.lock:
            if self.token == token:
                self.token = None
