"""Area E, the biometric node: `client.node`. Features are encrypted on the way, and so are the ids in answers."""

from __future__ import annotations

import json
import urllib.parse
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._http import Call, Http
from .envelope import open_envelope, seal
from .errors import OstiaryError, invalid

DEFAULT_VERSION = "FACE3_1"
HEADERS = {"x-encryption-version": "1"}
Vector = Sequence[float]


@dataclass(frozen=True)
class Enrolled:
    puid: str
    guid: str
    enroll_level: int
    #: False when this face was already enrolled; `puid` is then that user's.
    is_new: bool


@dataclass(frozen=True)
class Candidate:
    puid: str
    guid: str
    #: The lower edge of a band (0.5, 0.9, 0.99), or exact where the tenant set `nodeScores` to `exact`.
    score: float
    #: The features are those of an enrolment itself, sent again: no new picture of a face.
    replay: bool = False


class Node:
    def __init__(self, http: Http, api_key: Optional[str]) -> None:
        self._http = http
        self._api_key = api_key

    def check_key(self) -> Dict[str, Any]:
        """Returns when the key may be used on this area; raises the reason otherwise."""
        body: Dict[str, Any] = self._http.send(Call("POST", "/node/api-key/checkApiKeyValid", make_body=dict)).body
        return body

    def enroll(self, vectors: Sequence[Vector], *, version: str = DEFAULT_VERSION, metadata_id: Optional[str] = None) -> Enrolled:
        """Enrols the face that 1 to 10 vectors of one person describe, or finds who has it."""
        more = {} if metadata_id is None else {"metadata": {"id": metadata_id}}
        reply = self.call("enroll", vectors, version, more)
        return Enrolled(reply["puid"], reply["guid"], reply["enroll_level"], reply["message"] == "Ok")

    def predict(
        self,
        vectors: Sequence[Vector],
        *,
        version: str = DEFAULT_VERSION,
        k: Optional[int] = None,
        user_identifier: Optional[str] = None,
    ) -> List[Candidate]:
        """The candidates, best first; an empty list when nobody who is enrolled has this face."""
        given = {"K": k, "user_identifier": user_identifier}
        more = {name: value for name, value in given.items() if value is not None}
        reply = self.call("predict", vectors, version, more)
        if reply["status"] != 0:
            return []
        replay = reply.get("replay", False)
        rows = reply.get("PI_list", [reply])
        return [Candidate(row["puid"], row["guid"], float(row["score"]), replay) for row in rows]

    def delete_user(self, puid: Optional[str] = None, *, metadata_id: Optional[str] = None) -> bool:
        """
        Deletes a user with all biometric data, by `puid` or by the `metadata_id` given at enrolment. False when there was no such user;
        True when a lost attempt deleted it.
        """
        lost: Dict[str, bool] = {}
        key = self._key()
        call = Call(
            "POST",
            f"/node/{DEFAULT_VERSION}/deleteUser",
            make_body=lambda: (
                {"metadata": {"id": metadata_id}} if puid is None else {"puid": seal(key, "deleteUser", DEFAULT_VERSION, puid)}
            ),
            headers=HEADERS,
            also_ok=(400,),
            on_maybe_done=lambda: lost.update(it=True),
        )
        body = self._http.send(call).body
        if body["status"] not in (200, 400):
            raise OstiaryError(body["message"], status=400, node_status=body["status"])
        return bool(body["status"] == 200 or lost)

    def call(self, op: str, vectors: Sequence[Vector], version: str, fields: Mapping[str, Any]) -> Dict[str, Any]:
        """The reply of `enroll` or `predict` as docs/api/biometrics.md has it, with its ids decrypted."""
        key = self._key()
        features = [{"type": "face", "embedding_vector": [float(value) for value in vector]} for vector in vectors]
        text = json.dumps(features, allow_nan=False)
        path = f"/node/{urllib.parse.quote(version, safe='')}/{op}"
        # Each attempt gets a new envelope: the service accepts each one only once.
        call = Call("POST", path, make_body=lambda: {"features": seal(key, op, version, text), **fields}, headers=HEADERS)
        reply: Dict[str, Any] = self._http.send(call).body
        return open_ids(key, reply)

    def _key(self) -> str:
        if self._api_key is None:
            raise invalid("Area E needs an API key: Client(base_url, api_key)")
        return self._api_key


def open_ids(api_key: str, reply: Dict[str, Any]) -> Dict[str, Any]:
    """Those of PI_list too. "-1" stands for no id and is not encrypted."""
    opened = dict(reply)
    for name in ("puid", "guid"):
        if reply.get(name, "-1") != "-1":
            opened[name] = open_envelope(api_key, reply[name], name)
    if "PI_list" in reply:
        opened["PI_list"] = [open_ids(api_key, candidate) for candidate in reply["PI_list"]]
    return opened
