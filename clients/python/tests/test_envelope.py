"""Area E's encryption against the published test vectors, and against another implementation of JWE."""

import importlib.util
import json
import os
import pathlib
import unittest

from ostiary import EnvelopeError
from ostiary.envelope import COMPACT, decode, derive_key, header_text, open_envelope, read_header, seal, seal_with

# Of the clone, unless the test runs from a copy of this folder.
CLONE = pathlib.Path(__file__).resolve().parents[3]
VECTORS = pathlib.Path(os.environ.get("OSTIARY_VECTORS", CLONE / "docs" / "node-test-vectors.json"))
API_KEY = "ost_test_this-key-is-invented"
HAS = {name: importlib.util.find_spec(name) is not None for name in ("cryptography", "jwcrypto")}


@unittest.skipUnless(HAS["cryptography"], "cryptography is not installed")
class Vectors(unittest.TestCase):
    def setUp(self):
        self.published = json.loads(VECTORS.read_text(encoding="utf-8"))

    def test_each_is_opened_and_made_again_byte_for_byte(self):
        self.assertGreater(len(self.published["vectors"]), 3)
        for vector in self.published["vectors"]:
            with self.subTest(vector["name"]):
                salt, nonce = bytes.fromhex(vector["salt_hex"]), bytes.fromhex(vector["nonce_hex"])
                key = derive_key(vector["api_key"], salt, vector["op"])
                header = header_text(vector["op"], vector["mv"], vector["iat"], vector["jti"], salt)
                self.assertEqual(key.hex(), vector["key_hex"])
                self.assertEqual(header, vector["header"])
                self.assertEqual(seal_with(key, nonce, header, vector["plaintext"]), vector["compact"])
                self.assertEqual(open_envelope(vector["api_key"], vector["compact"], vector["op"]), vector["plaintext"])

    def test_those_that_must_not_open_do_not(self):
        self.assertGreater(len(self.published["refused"]), 3)
        for refused in self.published["refused"]:
            with self.subTest(refused["name"]), self.assertRaises(EnvelopeError):
                open_envelope(refused["api_key"], refused["compact"], refused["op"])


@unittest.skipUnless(HAS["cryptography"], "cryptography is not installed")
class Sealing(unittest.TestCase):
    def test_an_envelope_opens_for_its_purpose_and_key_alone(self):
        compact = seal(API_KEY, "enroll", "FACE3_1", "Größe 🎂")
        self.assertEqual(open_envelope(API_KEY, compact, "enroll"), "Größe 🎂")
        for api_key, op in ((API_KEY, "predict"), (API_KEY + "x", "enroll")):
            with self.assertRaises(EnvelopeError):
                open_envelope(api_key, compact, op)

    def test_every_envelope_has_its_own_salt_nonce_and_id(self):
        made = [COMPACT.fullmatch(seal(API_KEY, "predict", "FACE3_3", "[]")).groups() for _ in range(20)]
        headers = [read_header(first) for first, *_ in made]
        self.assertEqual({len({header[name] for header in headers}) for name in ("salt", "jti")}, {20})
        self.assertEqual(len({nonce for _, nonce, *_ in made}), 20)

    def test_no_changed_character_opens(self):
        compact = seal(API_KEY, "puid", "FACE3_1", "0199")
        for at, character in enumerate(compact):
            if character == ".":
                continue
            changed = compact[:at] + ("A" if character != "A" else "B") + compact[at + 1 :]
            with self.assertRaises(EnvelopeError, msg=f"at {at}"):
                open_envelope(API_KEY, changed, "puid")

    @unittest.skipUnless(HAS["jwcrypto"], "jwcrypto is not installed")
    def test_another_implementation_opens_it(self):
        from jwcrypto.common import base64url_encode
        from jwcrypto.jwe import JWE
        from jwcrypto.jwk import JWK

        compact = seal(API_KEY, "predict", "FACE3_1", "[1]")
        key = derive_key(API_KEY, decode(read_header(compact.split(".")[0])["salt"]), "predict")
        other = JWE(algs=["dir", "A256GCM"])
        other.deserialize(compact, key=JWK(kty="oct", k=base64url_encode(key)))
        self.assertEqual(other.payload, b"[1]")


if __name__ == "__main__":
    unittest.main()
