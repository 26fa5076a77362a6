"""Receiving webhooks: every reason, and that nothing but a genuine one is accepted."""

import base64
import hashlib
import hmac
import importlib.util
import json
import time
import unittest
from email.message import Message

from ostiary import OstiaryError, WebhookError, receive_webhook
from ostiary.webhooks import WEBHOOK_REASONS

# Of the right form and invented: they open nothing.
KEY = "ost_test_07000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfgv7bw1z"
SAME_TENANT = "ost_test_07144gj289144gj289144gj289144gj289144gj289144gj289144getqbsa"
OTHER_TENANT = "ost_test_081850m2ga1850m2ga1850m2ga1850m2ga1850m2ga1850m2ga1850za7r58"
LIVE = "ost_live_071c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gp2rb1c5gy4y38b"
BODY = json.dumps({"sessionId": "s-1", "status": "AGE_ABOVE_THRESHOLD", "flowStatus": "COMPLETED", "metadata": {"text": "Größe / 🎂"},
                   "livemode": False}, separators=(",", ":"), ensure_ascii=False)
HAS_CRYPTOGRAPHY = importlib.util.find_spec("cryptography") is not None


def hint(key):
    return f"{key[:11]}...{key[-4:]}"


def signed(keys=(KEY,), body=BODY, seconds=None, more=(), **headers):
    """What the service sends, as http.server gives it."""
    timestamp = str(int(time.time()) if seconds is None else seconds)
    message = f"d-1.{timestamp}.{body}".encode()
    v1 = []
    for key in keys:
        secret = hmac.new(key.encode(), b"ostiary/standard-webhooks/v1", hashlib.sha256).digest()
        v1.append("v1," + base64.b64encode(hmac.new(secret, message, hashlib.sha256).digest()).decode())
    values = {
        "Webhook-Id": "d-1",
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": " ".join([*v1, *(make(message) for make in more)]),
        "X-Service-Event": "age.session.completed",
        "X-Service-Attempt": "2",
        "X-Service-Key": " ".join(hint(key) for key in keys),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return {name: value for name, value in values.items() if value is not None}


class Receiving(unittest.TestCase):
    def refused(self, headers, body=BODY, **options):
        with self.assertRaises(WebhookError) as caught:
            receive_webhook(headers, body, **{"api_keys": [KEY], **options})
        self.assertTrue(caught.exception.message.startswith(WEBHOOK_REASONS[caught.exception.reason]))
        return caught.exception.reason

    def test_a_genuine_one_gives_its_event(self):
        for body in (BODY, BODY.encode(), bytearray(BODY.encode())):
            event = receive_webhook(signed(), body, api_keys=[KEY])
            self.assertEqual((event.event, event.id, event.session_id), ("age.session.completed", "d-1", "s-1"))
            self.assertEqual((event.attempt, event.livemode, event.body["metadata"]["text"]), (2, False, "Größe / 🎂"))
        message = Message()
        for name, value in signed().items():
            message[name] = value
        self.assertEqual(receive_webhook(message, BODY, api_keys=[KEY]).id, "d-1")

    def test_any_of_several_keys_will_do_on_both_sides(self):
        self.assertEqual(receive_webhook(signed(), BODY, api_keys=[OTHER_TENANT, KEY]).id, "d-1")
        self.assertEqual(receive_webhook(signed(keys=(SAME_TENANT, KEY)), BODY, api_keys=[KEY]).id, "d-1")

    def test_six_planted_faults_give_six_reasons(self):
        spaced = json.dumps(json.loads(BODY))
        reasons = [
            self.refused(signed(), spaced),
            self.refused(signed(keys=(OTHER_TENANT,))),
            self.refused(signed(keys=(LIVE,))),
            self.refused(signed(keys=(SAME_TENANT,))),
            self.refused(signed(seconds=int(time.time()) - 301)),
            self.refused(signed(), BODY.replace("ABOVE", "BELOW")),
        ]
        expected = ["body_parsed", "wrong_key", "other_mode", "key_not_listed", "outside_window", "body_changed"]
        self.assertEqual(reasons, expected)

    def test_the_other_reasons(self):
        self.assertEqual(self.refused(signed(), {"sessionId": "s-1"}), "body_parsed")
        self.assertEqual(self.refused(signed(), BODY + "x", tolerance=10**9), "body_changed")
        self.assertEqual(self.refused(signed(keys=(OTHER_TENANT,), X_Service_Key=None)), "signature_wrong")
        self.assertEqual(self.refused(signed(keys=(OTHER_TENANT,), X_Service_Key="<b>")), "signature_wrong")
        self.assertEqual(self.refused({}), "headers_missing")
        self.assertEqual(self.refused(signed(Webhook_Id="a b")), "headers_missing")
        self.assertEqual(self.refused({**signed(), "webhook-id": "d-2"}), "headers_missing")
        self.assertEqual(self.refused(signed(), b"x" * (20 * 1024 * 1024 + 1)), "body_too_large")
        self.assertEqual(self.refused(signed(X_Service_Event="age.session.expired")), "event_mismatch")
        self.assertEqual(self.refused(signed(body="[]"), "[]"), "unknown_event")
        self.assertEqual(self.refused(signed(body="{}"), "{}"), "unknown_event")
        self.assertEqual(self.refused(signed(), "[" * 100_000), "body_changed")

    def test_the_id_is_signed(self):
        self.assertEqual(self.refused(signed(Webhook_Id="d-2")), "body_changed")

    def test_the_window_counts_both_ways_and_can_be_wider(self):
        ahead = signed(seconds=int(time.time()) + 400)
        self.assertEqual(self.refused(ahead), "outside_window")
        self.assertEqual(self.refused(ahead, tolerance=float("nan")), "outside_window")
        self.assertEqual(receive_webhook(ahead, BODY, api_keys=[KEY], tolerance=500).id, "d-1")
        self.assertEqual(receive_webhook(signed(seconds=1_000), BODY, api_keys=[KEY], now=1_100).id, "d-1")

    def test_keys_that_could_check_nothing_are_refused(self):
        for options in ({}, {"api_keys": []}, {"api_keys": [""]}, {"api_keys": [KEY, KEY[:-1]]}):
            with self.assertRaises(OstiaryError):
                receive_webhook(signed(), BODY, **options)

    def test_every_event_is_read_from_its_body(self):
        verification = {"sessionId": "s-2", "type": "SIGN-IN", "outcome": "FAILED", "livemode": False}
        cases = {
            "age.session.cancelled": {**json.loads(BODY), "flowStatus": "CANCELLED"},
            "age.session.expired": {**json.loads(BODY), "flowStatus": "EXPIRED"},
            "verification.succeeded": {**verification, "status": "SUCCESS"},
            "verification.failed": {**verification, "status": "error"},
        }
        for name, body in cases.items():
            text = json.dumps(body)
            headers = signed(body=text, X_Service_Event=name)
            self.assertEqual(receive_webhook(headers, text, api_keys=[KEY]).event, name)


@unittest.skipUnless(HAS_CRYPTOGRAPHY, "cryptography is not installed")
class KeyPairs(unittest.TestCase):
    def setUp(self):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self.pairs = [Ed25519PrivateKey.generate() for _ in range(2)]
        public = [pair.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw) for pair in self.pairs]
        self.jwks = [
            {"kty": "OKP", "crv": "Ed25519", "x": base64.urlsafe_b64encode(one).rstrip(b"=").decode()} for one in public
        ]

    def signature_of(self, pair):
        return lambda message: "v1a," + base64.b64encode(pair.sign(message)).decode()

    def test_the_signature_of_the_key_pair_is_demanded(self):
        mine, other = self.pairs
        genuine = signed(more=[self.signature_of(mine)])
        self.assertEqual(receive_webhook(genuine, BODY, public_keys=self.jwks[:1]).id, "d-1")
        self.assertEqual(receive_webhook(genuine, BODY, public_keys={"keys": self.jwks}).id, "d-1")
        cases = [
            (signed(), BODY, "no_key_pair_signature"),
            (signed(more=[self.signature_of(other)]), BODY, "key_pair_wrong"),
            (genuine, BODY + " ", "body_parsed"),
            (genuine, BODY.replace("ABOVE", "BELOW"), "key_pair_wrong"),
            (signed(more=[self.signature_of(mine)], seconds=5), BODY, "outside_window"),
        ]
        for headers, body, reason in cases:
            with self.assertRaises(WebhookError) as caught:
                # A leaked API key is no help: it is not looked at.
                receive_webhook(headers, body, api_keys=[KEY], public_keys=self.jwks[:1])
            self.assertEqual(caught.exception.reason, reason)

    def test_a_key_that_is_no_public_key_is_refused(self):
        with self.assertRaises(OstiaryError):
            receive_webhook(signed(more=[self.signature_of(self.pairs[0])]), BODY, public_keys=[{"kty": "oct"}])


if __name__ == "__main__":
    unittest.main()
