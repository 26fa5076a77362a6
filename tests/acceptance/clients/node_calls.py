"""Every encrypted call of area E once, by the client in Python, for a made-up face that nobody has. Prints the decrypted replies by name."""

import json
import math
import os
import random
import sys
import uuid

from ostiary import Client, OstiaryError
from ostiary._http import Call
from ostiary.envelope import seal

VERSION = "FACE3_1"
API_KEY = os.environ["OSTIARY_API_KEY"]
node = Client(os.environ["OSTIARY_URL"], API_KEY).node


def refusal_of_another_key(operation):
    """What the node answers to features that were encrypted with a key other than the one that is sent."""
    body = {"features": seal(f"{API_KEY}x", operation, VERSION, "[]")}
    try:
        return node._http.send(Call("POST", f"/node/{VERSION}/{operation}", make_body=lambda: body)).body
    except OstiaryError as error:
        return {"http_status": error.status, "status": error.node_status, "message": error.message}


def delete(puid):
    body = {"puid": seal(API_KEY, "deleteUser", VERSION, puid)}
    return node._http.send(Call("POST", f"/node/{VERSION}/deleteUser", make_body=lambda: body)).body


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


face = random_direction(128)
probe = [another_picture(face)]
name = f"python-{uuid.uuid4()}"
enrolled = node.call("enroll", [another_picture(face) for _ in range(3)], VERSION, {"metadata": {"id": name}})
json.dump(
    {
        "enroll": enrolled,
        "enroll_again": node.call("enroll", probe, VERSION, {}),
        "predict": node.call("predict", probe, VERSION, {}),
        "predict_five": node.call("predict", probe, VERSION, {"K": 5}),
        "predict_named": node.call("predict", probe, VERSION, {"user_identifier": name}),
        "enroll_other_key": refusal_of_another_key("enroll"),
        "predict_other_key": refusal_of_another_key("predict"),
        "delete": delete(enrolled["puid"]),
        "delete_again": node.delete_user(enrolled["puid"]),
        "predict_deleted": node.call("predict", probe, VERSION, {}),
    },
    sys.stdout,
)
