"""A receiver of Ostiary's webhooks in Python 3, without dependencies.

    OSTIARY_API_KEY=ost_test_... PORT=9000 python3 docs/examples/webhooks/verify.py

Copy `verify_webhook`; the server below only shows how to get at the raw body.
"""

import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verify_webhook(api_key, timestamp, signature, raw_body, now=None, tolerance=300):
    """Whether the holder of the API key sent this webhook, and it is not older than allowed.

    `raw_body` is the bytes as they came: JSON that was parsed and written again is another text.
    `now` is Unix time in seconds; without it any age will do.
    """
    if not api_key or not re.fullmatch(r"[0-9]{1,15}", timestamp or ""):
        return False
    given = re.fullmatch(r"sha256=([0-9a-f]{64})", signature or "")
    if not given:
        return False
    message = timestamp.encode() + b"." + raw_body
    expected = hmac.new(api_key.encode(), message, hashlib.sha256).hexdigest()
    # Not ==, which answers sooner the earlier the texts differ.
    if not hmac.compare_digest(expected, given.group(1)):
        return False
    return now is None or abs(now - int(timestamp)) <= tolerance


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        tolerance = int(os.environ.get("TOLERANCE_SECONDS", "300"))
        genuine = verify_webhook(
            os.environ.get("OSTIARY_API_KEY", ""),
            self.headers.get("X-Service-Timestamp"),
            self.headers.get("X-Service-Signature"),
            raw_body,
            # 0 switches the window off.
            now=time.time() if tolerance > 0 else None,
            tolerance=tolerance,
        )
        # Answer first and work later: after 10 seconds the delivery counts as failed. It can come twice: remember its id.
        self.send_response(204 if genuine else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if genuine:
            body = json.loads(raw_body)
            event, delivery = self.headers["X-Service-Event"], self.headers["X-Service-Delivery"]
            print(event, delivery, body.get("outcome"), body.get("status"), flush=True)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
