"""The shapes of requests and answers, with the names of the wire. docs/api has what each field means.

What the service creates comes as a class, with the warnings about it. What it reports (results, summaries) stays the parsed JSON,
because a newer service may add fields: ignore those that you do not know.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Generic, List, Literal, Optional, Tuple, TypedDict, TypeVar

from ._http import ConfigWarning

if TYPE_CHECKING:
    from typing_extensions import Required
elif sys.version_info >= (3, 11):
    from typing import Required
else:  # Only type checkers tell them apart.
    Required = Optional

Item = TypeVar("Item")
ThresholdFormat = Literal["threshold", "exact", "both"]
Outcome = Optional[Literal["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"]]


class Callback(TypedDict, total=False):
    url: Required[str]
    headers: Dict[str, str]


class CreateAgeSession(TypedDict, total=False):
    """Area C: `POST /session`."""

    redirectUrl: Required[str]
    ageThreshold: Required[float]
    locale: str
    enableDesktop: bool
    requirements: List[Literal["face", "identity_document"]]
    documentAgeReturnFormat: ThresholdFormat
    facialAgeEstimationReturnFormat: ThresholdFormat
    faceMatchThreshold: float
    documentAgeThreshold: float
    stepUpEnabled: bool
    documentInDoubt: bool
    callback: Callback
    metadata: Dict[str, Any]
    sessionExpiry: int


class CreateVerification(TypedDict, total=False):
    """Area D: `POST /v2/verification-session`."""

    type: Required[Literal["ENROLL", "SIGN-IN", "VERIFY"]]
    redirectURL: Required[str]
    callback: Required[Callback]
    locale: str
    enableDesktop: bool
    requirements: List[Literal["face", "identity_document", "passkey"]]
    sendImages: bool
    estimateAge: bool
    transactionID: str
    sessionExpiry: Any
    deviceInfo: Dict[str, str]
    debugMode: Any
    puid: str
    customerId: str
    nonce: str
    contactInformation: Dict[str, str]


@dataclass(frozen=True)
class CreatedAgeSession:
    """Send the user to `launch_url`; keep `token` on your server: it is enough to read the result."""

    token: str
    launch_url: str
    session_id: str
    expires_at: str
    livemode: bool
    warnings: Tuple[ConfigWarning, ...]


@dataclass(frozen=True)
class CreatedVerification:
    """Send the user to `launch_url`. The outcome arrives by webhook."""

    launch_url: str
    session_id: str
    expires_at: str
    livemode: bool
    warnings: Tuple[ConfigWarning, ...]


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list, newest first. `next_cursor` is None on the last one."""

    items: List[Item]
    next_cursor: Optional[str]


class RiskEvaluation(TypedDict):
    score: float
    level: Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]
    #: Look at it after the status: a session that failed can carry `ALLOW`.
    recommendation: Literal["ALLOW", "REVIEW", "BLOCK"]
    flags: List[Any]
    signals: Dict[str, Any]
    policyVersion: str


class AgeResult(TypedDict, total=False):
    """Area C: the result, and the body of its webhook."""

    token: Required[str]
    sessionId: Required[str]
    sessionStatus: Required[str]
    #: `AGE_UNKNOWN` while the flow is open and whenever there is no verdict.
    status: Required[Literal["AGE_UNKNOWN", "AGE_BELOW_THRESHOLD", "AGE_ABOVE_THRESHOLD", "AGE_AT_THRESHOLD"]]
    #: None until the flow has ended.
    flowStatus: Required[Optional[Literal["COMPLETED", "CANCELLED", "EXPIRED"]]]
    result: Required[Dict[str, Any]]
    thresholds: Required[Dict[str, float]]
    metadata: Required[Dict[str, Any]]
    riskEvaluation: Required[RiskEvaluation]
    errors: Required[List[int]]
    errorDetails: Required[List[Dict[str, Any]]]
    outcome: Required[Outcome]
    assurance: Required[Dict[str, str]]
    createdAt: Required[str]
    expiresAt: Required[str]
    endedAt: Required[Optional[str]]
    livemode: Required[bool]
    indicators: Dict[str, Any]
    document: Optional[Dict[str, Any]]
    codeHash: Optional[str]
    consent: Optional[Dict[str, Any]]
    progress: Dict[str, Any]


class VerificationResult(TypedDict, total=False):
    """Area D: the body of the webhook."""

    sessionId: Required[str]
    #: `error`: a SIGN-IN that failed.
    status: Required[Literal["SUCCESS", "FAILED", "error"]]
    message: Required[str]
    errors: Required[List[Dict[str, Any]]]
    riskEvaluation: Required[RiskEvaluation]
    type: Required[Literal["ENROLL", "SIGN-IN", "VERIFY"]]
    outcome: Required[Literal["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"]]
    livemode: Required[bool]
    transactionId: str
    puid: str
    guid: str
    identityInformation: Dict[str, str]
    contactInformation: Dict[str, str]
    errorCodes: List[int]
    errorDetails: List[Dict[str, Any]]
    retryAfter: int
    images: List[Dict[str, str]]
    indicators: Dict[str, Any]
    document: Dict[str, Any]
    estimatedAge: int
    matchedBy: str
    nonce: str
    codeHash: Optional[str]
    captureConditions: Dict[str, Any]
    consent: Optional[Dict[str, Any]]


class SessionSummary(TypedDict):
    sessionId: str
    state: str
    flowStatus: Optional[str]
    createdAt: str
    expiresAt: str
    endedAt: Optional[str]
    livemode: bool
    metadata: Dict[str, Any]


class VerificationSummary(TypedDict, total=False):
    sessionId: Required[str]
    type: Required[Optional[str]]
    state: Required[str]
    outcome: Required[Outcome]
    requirements: Required[List[str]]
    createdAt: Required[str]
    expiresAt: Required[str]
    endedAt: Required[Optional[str]]
    livemode: Required[bool]
    transactionId: str
    debugLog: List[Dict[str, Any]]


class StreamEvent(TypedDict):
    """An event of the stream. `headers` and `body` are those of a delivery: hand them to `receive_webhook`."""

    id: str
    event: str
    sessionId: str
    sequence: int
    createdAt: str
    livemode: bool
    headers: Dict[str, str]
    #: Go on after this event by it.
    cursor: str
    body: str
