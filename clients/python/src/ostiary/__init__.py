"""Client for an Ostiary installation. For servers: an API key must not be in a browser.

    from ostiary import Client, WebhookError, receive_webhook

    ostiary = Client("https://ostiary.example.com", api_key)
    session = ostiary.age.create(
        {
            "redirectUrl": "https://shop.example/checked",
            "ageThreshold": 30,  # who looks 30 passes by the face; the others are asked for a document
            "stepUpEnabled": True,
            "documentInDoubt": True,
            "documentAgeThreshold": 18,
        }
    )
    ostiary.age.wait_for_result(session.token)  # is_old_enough(result) decides
"""

from ._version import VERSION as __version__
from .client import Client
from .errors import EnvelopeError, OstiaryError, WebhookError
from .node import Candidate, Enrolled
from .returns import ReturnCheck, check_return, code_matches, new_state
from .types import (
    AgeResult,
    CreateAgeSession,
    CreatedAgeSession,
    CreatedVerification,
    CreateVerification,
    Page,
    SessionSummary,
    StreamEvent,
    VerificationResult,
    VerificationSummary,
)
from .verdict import is_old_enough
from .webhooks import WebhookEvent, fetch_webhook_keys, receive_webhook

__all__ = [
    "AgeResult",
    "Candidate",
    "Client",
    "CreateAgeSession",
    "CreateVerification",
    "CreatedAgeSession",
    "CreatedVerification",
    "Enrolled",
    "EnvelopeError",
    "OstiaryError",
    "Page",
    "ReturnCheck",
    "SessionSummary",
    "StreamEvent",
    "VerificationResult",
    "VerificationSummary",
    "WebhookError",
    "WebhookEvent",
    "__version__",
    "check_return",
    "code_matches",
    "fetch_webhook_keys",
    "is_old_enough",
    "new_state",
    "receive_webhook",
]
