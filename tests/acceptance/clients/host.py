"""A host that uses the client in Python: sessions of areas C and D, made, ended, cancelled, read and listed. Prints what it got."""

import json
import os
import sys

from ostiary import Client, OstiaryError

URL, KEY = os.environ["OSTIARY_URL"], os.environ["OSTIARY_API_KEY"]
ostiary = Client(URL, KEY, on_warning=lambda warning: None)
callback = {"url": os.environ["CALLBACK_URL"], "headers": {"x-host": "host-1"}}


def age(**more):
    order = {"order": os.environ["ORDER"], "text": "Größe 44 / 🎂"}
    body = {"redirectUrl": "https://shop.example/done", "ageThreshold": 30, "callback": callback, "metadata": order}
    return ostiary.age.create({**body, **more})


def verification(kind):
    body = {"type": kind, "redirectURL": "https://shop.example/back", "callback": callback, "transactionID": os.environ["ORDER"]}
    return ostiary.verification.create(body)


def code_of(call):
    try:
        return call()
    except OstiaryError as error:
        return [error.status, error.code]


completed = age(ageThreshold=18)
open_result = ostiary.age.result(completed.token)
ostiary.test.outcome(completed.session_id, {"outcome": "AGE_ABOVE_THRESHOLD"})
cancelled = age()
enrolled, failed = verification("ENROLL"), verification("SIGN-IN")
open_code = code_of(lambda: ostiary.verification.webhook(enrolled.session_id))
ostiary.test.outcome(enrolled.session_id)
ostiary.test.outcome(failed.session_id, {"outcome": "spoof"})
same_key = [age_id.session_id for age_id in (ostiary.age.create(
    {"redirectUrl": "https://shop.example/done", "ageThreshold": 30}, idempotency_key=os.environ["ORDER"]) for _ in range(2))]
credentials = {"client_id": os.environ["CLIENT_ID"], "client_secret": os.environ["CLIENT_SECRET"]}
live = Client(URL, os.environ["LIVE_KEY"], **credentials)
json.dump(
    {
        "ids": [completed.session_id, cancelled.session_id, enrolled.session_id, failed.session_id],
        "warnings": [str(one) for one in completed.warnings],
        "open": open_result["flowStatus"],
        "completed": ostiary.age.wait_for_result(completed.token)["status"],
        "state": ostiary.age.get(completed.token)["state"],
        "cancelled": ostiary.age.cancel(cancelled.token)["outcome"],
        "cancelledAgain": code_of(lambda: ostiary.age.cancel(cancelled.token)),
        "openWebhook": open_code,
        "enrolled": ostiary.verification.webhook(enrolled.session_id)["status"],
        "failed": ostiary.verification.get(failed.session_id)["outcome"],
        "listed": sorted(one["sessionId"] for one in ostiary.age.all(metadata={"order": os.environ["ORDER"]}, limit=1)),
        "listedVerifications": len(ostiary.verification.list(limit=2).items),
        "isOneSession": len(set(same_key)) == 1,
        "live": len(live.verification.list(limit=1).items) <= 1,
        "withoutCredentials": code_of(lambda: Client(URL, os.environ["LIVE_KEY"]).verification.list())[0],
        "unknown": code_of(lambda: ostiary.age.get("at_unknown")),
        "refused": code_of(lambda: ostiary.age.create({"redirectUrl": "https://shop.example/"})),
        "key": ostiary.node.check_key()["status"],
    },
    sys.stdout,
)
