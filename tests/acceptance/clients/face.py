"""One call of area E by the client in Python: `enroll`, `predict` or `delete`, with vectors or an id as JSON on the standard input."""

import dataclasses
import json
import os
import sys

from ostiary import Client

node = Client(os.environ["OSTIARY_URL"], os.environ["OSTIARY_API_KEY"]).node
given = json.load(sys.stdin)
if sys.argv[1] == "enroll":
    enrolled = node.enroll(given)
    print(json.dumps({"puid": enrolled.puid, "guid": enrolled.guid, "isNew": enrolled.is_new}))
elif sys.argv[1] == "predict":
    print(json.dumps([dataclasses.asdict(found) for found in node.predict(given, k=2)]))
else:
    print(json.dumps(node.delete_user(given)))
