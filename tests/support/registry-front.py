# SPDX-License-Identifier: Apache-2.0
"""For tests/system/oci-token: registry-front.py PORT WORK

PORT is a docker-registry with its files in WORK/registry. PORT + 1 stands before it and
redirects its blobs to 127.0.0.1:PORT + 3, another host than localhost, where the first
transfer of each ends in the middle. PORT + 2 gives tokens to admin:right. What was asked
for is a line of WORK/seen each.
"""
import base64
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse

PORT, WORK = int(sys.argv[1]), sys.argv[2]
LOCK = threading.Lock()
CUT = set()


def seen(line):
    with LOCK, open(f"{WORK}/seen", "a") as file:
        print(line, file=file)


def plain(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(scopes):
    der = subprocess.run(
        ["openssl", "x509", "-in", f"{WORK}/cert.pem", "-outform", "DER"],
        stdout=subprocess.PIPE, check=True).stdout
    access = []
    for scope in scopes:
        kind, name, actions = scope.split(":")
        access.append({"type": kind, "name": name, "actions": actions.split(",")})
    now = int(time.time())
    head = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
    body = {"iss": "tokens", "sub": "admin", "aud": "shelf", "nbf": now - 60,
            "iat": now - 60, "exp": now + 600, "jti": str(now), "access": access}
    text = plain(json.dumps(head).encode()) + "." + plain(json.dumps(body).encode())
    signature = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", f"{WORK}/key.pem"],
        input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
    return text + "." + plain(signature)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self, what):
        seen(f"{what} {self.path} range={self.headers.get('Range', '-')} "
             f"authorization={self.headers.get('Authorization', '-')}")

    def log_message(self, *args):
        pass


class Token(Handler):
    def do_GET(self):
        self.note("token")
        right = "Basic " + base64.b64encode(b"admin:right").decode()
        if self.headers.get("Authorization") != right:
            return self.answer(401, b"{}", [("WWW-Authenticate", 'Basic realm="t"')])
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        text = token(query.get("scope", []))
        self.answer(200, json.dumps({"token": text}).encode())


class Front(Handler):
    def do_GET(self):
        blob = re.fullmatch(r"/v2/.*/blobs/sha256:([0-9a-f]{64})", self.path)
        self.note("asked" if blob else "manifest")
        upstream = http.client.HTTPConnection("127.0.0.1", PORT)
        keep = {name: self.headers[name] for name in ("Authorization", "Accept")
                if name in self.headers}
        upstream.request("HEAD" if blob else "GET", self.path, headers=keep)
        reply = upstream.getresponse()
        body = reply.read()
        if blob and reply.status == 200:
            to = f"http://127.0.0.1:{PORT + 3}/{blob[1]}"
            return self.answer(307, b"", [("Location", to)])
        names = ("Content-Type", "WWW-Authenticate", "Docker-Content-Digest")
        self.answer(reply.status, body,
                    [(name, reply.headers[name]) for name in names if reply.headers[name]])


class Blob(Handler):
    def do_GET(self):
        self.note("blob")
        digest = os.path.basename(self.path)
        path = f"{WORK}/registry/docker/registry/v2/blobs/sha256/{digest[:2]}/{digest}/data"
        with open(path, "rb") as file:
            data = file.read()
        at = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(at[1]) if at else 0
        self.send_response(206 if at else 200)
        if at:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        whole = digest in CUT or len(data) < 100000
        CUT.add(digest)
        self.wfile.write(data[begin:] if whole else data[begin:len(data) // 2])
        self.close_connection = True


for offset, handler in ((1, Front), (2, Token), (3, Blob)):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT + offset), handler)
    threading.Thread(target=server.serve_forever, daemon=offset != 3).start()
