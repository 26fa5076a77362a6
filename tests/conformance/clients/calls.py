"""The calls that clients.test.ts counts at its faulty server: each base URL is a fault of its own. Prints what came of them."""

import itertools
import json
import logging
import os
import sys

from ostiary import Client, OstiaryError

URL, KEY = os.environ["FAULTY_URL"], os.environ["API_KEY"]
BODY = {"redirectUrl": "https://shop.example/done", "ageThreshold": 30}
logging.disable()


def client(fault, **options):
    return Client(f"{URL}/{fault}", KEY, **options)


def failure(fault, call=lambda made: made.age.create(BODY), **options):
    try:
        call(client(fault, **options))
    except OstiaryError as error:
        return {
            "status": error.status,
            "code": error.code,
            "message": error.message,
            "requestId": error.request_id,
            "details": error.details,
            "retryAfter": error.retry_after,
        }
    return None


retries = []
transient = client("transient", on_retry=lambda error, attempt, wait: retries.append([error.status, attempt, wait >= 0]))
warnings = []
warned = client("warned", on_warning=lambda warning: warnings.append(str(warning))).age.create(BODY)
lost = client("lost")
lost.age.erase("at_1")
people = client("people")
credentials = client("credentials", client_id="id:1", client_secret="s/1")
json.dump(
    {
        "transient": [transient.age.create(BODY).session_id for _ in range(7)],
        "retries": retries,
        "refused": failure("refused"),
        "proxy": failure("proxy"),
        "injected": failure("stolen", lambda made: made.age.create(BODY, idempotency_key="a\r\nx-b: c")),
        "givenUp": failure("down", max_retries=2),
        "longWait": failure("busy"),
        "slow": failure("slow", timeout=0.3, max_retries=0),
        "notJson": failure("page", max_retries=0),
        "redirect": failure("moved"),
        "once": failure("lost-clock", lambda made: made.test.advance_clock(60)),
        "warnings": [warnings, [str(one) for one in warned.warnings]],
        "cancelled": lost.age.cancel("at_1")["outcome"],
        "isDeleted": lost.node.delete_user("0199"),
        "people": [
            people.verification.lockout(puid="p 1")["locked"],
            people.verification.unlock(customer_id="c 1")["locked"],
            people.verification.list(transaction_id="o/7 &", limit=5).items,
            people.node.delete_user(metadata_id="c 1"),
            people.node.delete_user("0199"),
        ],
        "tokens": [credentials.verification.get(str(one))["sessionId"] for one in range(3)],
        "events": [one["id"] for one in itertools.islice(client("events").events.stream(cursor="start"), 3)],
        "all": [one["sessionId"] for one in client("pages").age.all(state="COMPLETED", metadata={"order": "A 7"})],
    },
    sys.stdout,
)
