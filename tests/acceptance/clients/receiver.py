"""Receives webhooks with the client in Python and prints a line for each: the event, or the reason why it is refused."""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from ostiary import WebhookError, receive_webhook


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = receive_webhook(self.headers, body, api_keys=os.environ["OSTIARY_API_KEYS"].split(","))
            facts = {"event": event.event, "id": event.id, "sessionId": event.session_id, "attempt": event.attempt}
            line, status = {**facts, "host": self.headers["x-host"], "text": event.body.get("metadata", {}).get("text")}, 204
        except WebhookError as error:
            line, status = {"refused": error.reason}, 401
        print(json.dumps(line), flush=True)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hook).serve_forever()
