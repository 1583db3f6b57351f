#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks, for tests: receiver.py FOLDER PORT [CERT KEY]

Verifies each request by Python's hmac with the secret in FOLDER/secret, as
https://www.standardwebhooks.com says: any other is answered 401. FOLDER/mode says what it
does with good ones: "take" answers 204 after a line in FOLDER/taken ("ID KIND SEQ NODE"),
"500" answers that, "drop" closes the connection without an answer, "lie" takes and then
drops, so that the sender cannot know. FOLDER/refused counts the others, a line each.
"""
import base64
import hashlib
import hmac
import http.server
import json
import pathlib
import ssl
import sys
import time

folder = pathlib.Path(sys.argv[1])


def note(name, text):
    with open(folder / name, "a", encoding="utf-8") as file:
        file.write(text + "\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def verify(self, body):
        secret = (folder / "secret").read_text().strip()
        key = (base64.b64decode(secret[6:]) if secret.startswith("whsec_")
               else secret.encode())
        stamp = self.headers["webhook-timestamp"]
        text = f"{self.headers['webhook-id']}.{stamp}.".encode() + body
        mac = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        return (abs(time.time() - int(stamp)) < 300 and
                hmac.compare_digest("v1," + mac, self.headers["webhook-signature"]))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode = (folder / "mode").read_text().strip()
        if not self.verify(body):
            note("refused", "signature")
            self.answer(401)
            return
        if mode == "500":
            note("refused", mode)
            self.answer(500)
            return
        if mode in ("take", "lie"):
            event = json.loads(body)
            data = event["data"]
            assert self.headers["webhook-id"].endswith(f"-{data['seq']}")
            note("taken", f"{self.headers['webhook-id']} {event['type']} "
                          f"{data['seq']} {data['node'] or '-'}")
        if mode in ("drop", "lie"):
            note("refused", mode)
            self.close_connection = True
            self.connection.close()
            return
        self.answer(204)


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
