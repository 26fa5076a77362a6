#!/usr/bin/env python3
"""Ostiary's biometric node (area E) from Python: encryption version 1 and the three encrypted calls.

Needs Python 3.11 with jwcrypto and cryptography (Debian: python3-jwcrypto brings both).

    node = Node("https://node.example.com", api_key)
    user = enroll(node, [vector, another_vector])       # {"status": 0, "puid": "0199…", …}, already decrypted
    found = predict(node, [third_vector])               # status 0 and the same puid, or status -1
    delete_user(node, user["puid"])

What is encrypted travels in an envelope: a compact JWE (RFC 7516) with "alg": "dir" and "enc": "A256GCM". Its key is

    HKDF-SHA256(secret = the whole API key in UTF-8, salt = 16 bytes, info = "ostiary/node/v1/" + op, length = 32)

and its protected header holds, besides alg and enc:

    v     1, the encryption version
    salt  the salt in base64url, new for every envelope
    mv    the model version, as in the path of the call
    op    what the envelope is for: enroll, predict or deleteUser in requests, puid or guid in replies
    iat   when it was made, in Unix seconds; features that were encrypted more than five minutes ago are refused
    jti   an id of its own; features are taken once, so encrypt them anew for every call, repeated ones too

As a command it shows all of it against a running system, or checks this file against the published test vectors:

    OSTIARY_URL=… OSTIARY_API_KEY=… python3 ostiary_node.py
    python3 ostiary_node.py --vectors docs/node-test-vectors.json
"""

import argparse
import json
import math
import os
import random
import re
import secrets
import sys
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from jwcrypto.common import JWException, base64url_decode, base64url_encode
from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

ALGORITHMS = ["dir", "A256GCM"]
SALT_BYTES = 16
TIMEOUT_SECONDS = 30
# Header, no encrypted key, nonce of 12 bytes, content, tag of 16 bytes.
COMPACT = re.compile(r"[\w-]+\.\.[\w-]{16}\.[\w-]*\.[\w-]{22}", re.ASCII)


class EnvelopeError(Exception):
    """An envelope that does not open: damaged, made with another key, or for another purpose."""


class NodeError(Exception):
    """A call that was refused. `status` and `message` are those of the body, `http_status` that of the response."""

    def __init__(self, http_status, status, message):
        super().__init__(f"{message} (HTTP {http_status}, status {status})")
        self.http_status = http_status
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Node:
    """Where and as whom to call. The API key is also the secret of the encryption: it is never shown."""

    url: str
    api_key: str = field(repr=False)
    model_version: str = "FACE3_1"


# --- Envelopes ---


def seal(api_key, op, model_version, text):
    """Encrypts a text for one operation and returns the envelope, a compact JWE."""
    salt = secrets.token_bytes(SALT_BYTES)
    header = header_text(op, model_version, int(time.time()), str(uuid.uuid4()), salt)
    envelope = JWE(text.encode(), protected=header, algs=ALGORITHMS)
    envelope.add_recipient(as_jwk(derive_key(api_key, salt, op)))
    return envelope.serialize(compact=True)


def open_envelope(api_key, compact, op=None):
    """Decrypts an envelope and returns its text. With `op`, an envelope for anything else is refused."""
    header = read_header(compact)
    if op is not None and header["op"] != op:
        raise EnvelopeError(f"the envelope is for {header['op']}, not for {op}")
    key = derive_key(api_key, base64url_decode(header["salt"]), header["op"])
    envelope = JWE(algs=ALGORITHMS)
    try:
        envelope.deserialize(compact, key=as_jwk(key))
        return envelope.payload.decode()
    except (JWException, ValueError) as error:
        raise EnvelopeError("the envelope does not open with this API key") from error


def derive_key(api_key, salt, op):
    """The content key of one envelope. Another salt or another purpose gives an unrelated key."""
    info = f"ostiary/node/v1/{op}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(api_key.encode())


def header_text(op, model_version, issued_at, envelope_id, salt):
    """The protected header. Its fields may stand in any order; this is the order of the test vectors."""
    header = {
        "alg": "dir",
        "enc": "A256GCM",
        "v": 1,
        "salt": base64url_encode(salt),
        "mv": model_version,
        "op": op,
        "iat": issued_at,
        "jti": envelope_id,
    }
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False)


def read_header(compact):
    """The header of an envelope of version 1, checked before a key is derived from it."""
    if not COMPACT.fullmatch(compact):
        raise EnvelopeError("this is no compact JWE")
    try:
        header = json.loads(base64url_decode(compact.split(".")[0]))
        fixed = (header["alg"], header["enc"], header["v"]) == ("dir", "A256GCM", 1)
        salted = len(base64url_decode(header["salt"])) == SALT_BYTES
        plain = isinstance(header["op"], str) and "zip" not in header and "crit" not in header
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EnvelopeError("the header of the JWE is not as described") from error
    if not (fixed and salted and plain):
        raise EnvelopeError("the header of the JWE is not as described")
    return header


def as_jwk(key):
    return JWK(kty="oct", k=base64url_encode(key))


# --- Calls ---


def enroll(node, vectors, metadata_id=None):
    """Enrols the face that the vectors describe, or finds who has it. The reply's ids are decrypted."""
    body = {"features": seal_features(node, "enroll", vectors)}
    if metadata_id is not None:
        body["metadata"] = {"id": metadata_id}
    return open_ids(node, call(node, "enroll", body))


def predict(node, vectors, k=None, user_identifier=None):
    """Who has this face. Status -1 in the reply: nobody who is enrolled. With k above 1 the reply has PI_list."""
    body = {"features": seal_features(node, "predict", vectors)}
    if k is not None:
        body["K"] = k
    if user_identifier is not None:
        body["user_identifier"] = user_identifier
    return open_ids(node, call(node, "predict", body))


def delete_user(node, puid):
    """Deletes a user and all biometric data of the user. `puid` is the decrypted one."""
    return call(node, "deleteUser", {"puid": seal(node.api_key, "deleteUser", node.model_version, puid)})


def seal_features(node, op, vectors):
    features = [{"type": "face", "embedding_vector": vector} for vector in vectors]
    return seal(node.api_key, op, node.model_version, json.dumps(features, allow_nan=False))


def open_ids(node, reply):
    """The reply with its ids in clear, those of PI_list too. "-1" stands for no id and is not encrypted."""
    opened = dict(reply)
    for name in ("puid", "guid"):
        if reply.get(name, "-1") != "-1":
            opened[name] = open_envelope(node.api_key, reply[name], name)
    if "PI_list" in reply:
        opened["PI_list"] = [open_ids(node, candidate) for candidate in reply["PI_list"]]
    return opened


def call(node, operation, body):
    """Posts to the node and returns the body of its 200. Everything else is raised as a NodeError."""
    request = urllib.request.Request(
        f"{node.url.rstrip('/')}/node/{node.model_version}/{operation}",
        data=json.dumps({"api_key": node.api_key, **body}).encode(),
        headers={"content-type": "application/json", "x-encryption-version": "1"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            http_status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        http_status, text = error.code, error.read()
    try:
        reply = json.loads(text)
        status, message = reply["status"], reply["message"]
    except (ValueError, KeyError, TypeError) as error:
        raise NodeError(http_status, None, "the answer is not one of this interface") from error
    if http_status != 200:
        raise NodeError(http_status, status, message)
    return reply


# --- The demonstration ---


def demonstrate(node):
    """Every call once, for a made-up face that nobody has. Returns the decrypted replies by name."""
    face = random_direction(128)
    pictures = [another_picture(face) for _ in range(3)]
    probe = [another_picture(face)]
    name = f"python-{uuid.uuid4()}"
    enrolled = enroll(node, pictures, metadata_id=name)
    return {
        "enroll": enrolled,
        "enroll_again": enroll(node, probe),
        "predict": predict(node, probe),
        "predict_five": predict(node, probe, k=5),
        "predict_named": predict(node, probe, user_identifier=name),
        "enroll_other_key": refusal_of_another_key(node, "enroll", probe),
        "predict_other_key": refusal_of_another_key(node, "predict", probe),
        "delete": delete_user(node, enrolled["puid"]),
        "predict_deleted": predict(node, probe),
    }


def refusal_of_another_key(node, operation, vectors):
    """What the node answers to features that were encrypted with a key other than the one that is sent."""
    other = Node(node.url, f"{node.api_key}x", node.model_version)
    try:
        return call(node, operation, {"features": seal_features(other, operation, vectors)})
    except NodeError as error:
        return {"http_status": error.http_status, "status": error.status, "message": error.message}


def random_direction(dimension):
    return scaled([random.gauss(0, 1) for _ in range(dimension)])


def another_picture(face, cosine=0.99):
    """A vector as a model gives it for another picture of the same face: close by, never equal."""
    noise = random_direction(len(face))
    along = sum(n * f for n, f in zip(noise, face))
    across = scaled([n - along * f for n, f in zip(noise, face)])
    return [f * cosine + a * math.sqrt(1 - cosine**2) for f, a in zip(face, across)]


def scaled(vector):
    length = math.hypot(*vector)
    return [value / length for value in vector]


# --- The published test vectors ---


def verify_vectors(path):
    """Checks every vector of the file. Returns how many there are, and what is wrong with those that fail."""
    with open(path, encoding="utf-8") as file:
        published = json.load(file)
    faults = []
    for vector in published["vectors"]:
        faults += [f"{vector['name']}: {fault}" for fault in faults_of(vector)]
    for refused in published["refused"]:
        try:
            open_envelope(refused["api_key"], refused["compact"], refused["op"])
            faults.append(f"{refused['name']}: it was opened, although {refused['reason']}")
        except EnvelopeError:
            pass
    return len(published["vectors"]) + len(published["refused"]), faults


def faults_of(vector):
    """One vector in both directions: opened by jwcrypto, and made again byte for byte."""
    key, header, compact = seal_again(vector)
    try:
        text = open_envelope(vector["api_key"], vector["compact"], vector["op"])
    except EnvelopeError as error:
        text = error
    checks = {
        "the derived key differs": key.hex() == vector["key_hex"],
        "the header differs": header == vector["header"],
        "the envelope differs": compact == vector["compact"],
        "it does not open to its plaintext": text == vector["plaintext"],
    }
    return [fault for fault, passed in checks.items() if not passed]


def seal_again(vector):
    """Makes an envelope with a given salt and nonce, which is right for test vectors only: both must be new each time."""
    salt, nonce = bytes.fromhex(vector["salt_hex"]), bytes.fromhex(vector["nonce_hex"])
    key = derive_key(vector["api_key"], salt, vector["op"])
    header = header_text(vector["op"], vector["mv"], vector["iat"], vector["jti"], salt)
    first = base64url_encode(header)
    sealed = AESGCM(key).encrypt(nonce, vector["plaintext"].encode(), first.encode())
    parts = [first, "", base64url_encode(nonce), base64url_encode(sealed[:-16]), base64url_encode(sealed[-16:])]
    return key, header, ".".join(parts)


# --- The command ---


def main():
    parser = argparse.ArgumentParser(description="Shows the encrypted calls of Ostiary's biometric node.")
    parser.add_argument("--vectors", metavar="FILE", help="check the published test vectors instead; needs no server")
    options = parser.parse_args()
    if options.vectors:
        return report_vectors(options.vectors)
    url, api_key = os.environ.get("OSTIARY_URL"), os.environ.get("OSTIARY_API_KEY")
    if not url or not api_key:
        parser.error("set OSTIARY_URL and OSTIARY_API_KEY")
    try:
        print(json.dumps(demonstrate(Node(url, api_key)), indent=2))
    except (NodeError, EnvelopeError, urllib.error.URLError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def report_vectors(path):
    count, faults = verify_vectors(path)
    for fault in faults:
        print(fault, file=sys.stderr)
    failed = len({fault.split(":")[0] for fault in faults})
    print(f"{count - failed} of {count} test vectors passed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
