#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An issuer of OpenID Connect for tests: issuer.py ADDRESS PORT DIR

DIR has cert.pem and key.pem of its TLS; `signs`, the name of the key that signs (DIR/NAME.rsa),
and `shows`, names of the keys in its key set, each read at every request. /confirm is the
browser: ?code=CODE&user=NAME&groups=A,B&aud=AUDIENCE&lasts=SECONDS, or ?code=CODE&deny=1.
"""
import base64
import http.server
import json
import secrets
import ssl
import subprocess
import sys
import time
import urllib.parse

address, port, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
issuer = f"https://{address}:{port}/realm"
codes = {}  # device code: what became of it
refreshes = {}  # refresh token: whose


def words(name):
    with open(f"{folder}/{name}", encoding="ascii") as file:
        return file.read().split()


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, data=b""):
    return subprocess.run(["openssl", *args], input=data, stdout=subprocess.PIPE, check=True).stdout


def public(name):
    text = openssl("rsa", "-in", f"{folder}/{name}.rsa", "-noout", "-modulus").decode()
    number = bytes.fromhex(text.strip().split("=")[1])
    return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": name, "n": encode(number), "e": "AQAB"}


def sign(claims):
    kid = words("signs")[0]
    header = {"alg": "RS256", "typ": "JWT", "kid": kid}
    text = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encode(openssl('dgst', '-sha256', '-sign', f'{folder}/{kid}.rsa', data=text.encode()))}"


def tokens(grant):
    now = int(time.time())
    refresh = secrets.token_urlsafe(24)
    refreshes[refresh] = grant
    claims = {"iss": issuer, "sub": "1", "aud": grant["aud"], "iat": now, "exp": now + grant["lasts"],
              "preferred_username": grant["user"], "groups": grant["groups"]}
    return {"token_type": "Bearer", "access_token": "opaque", "id_token": sign(claims),
            "refresh_token": refresh}


def begin(form):
    if form.get("client_id") != "bringup":
        return {"error": "invalid_client"}
    device, user = secrets.token_urlsafe(24), secrets.token_hex(4)
    codes[device] = {"user_code": user}
    return {"device_code": device, "user_code": user, "verification_uri": f"{issuer}/device",
            "interval": 1, "expires_in": 60}


def grant_token(form):
    if form.get("grant_type") == "refresh_token":
        grant = refreshes.pop(form.get("refresh_token"), None)
        return tokens(grant) if grant else {"error": "invalid_grant"}
    state = codes.get(form.get("device_code"))
    if not state:
        return {"error": "expired_token"}
    if "denied" in state:
        return {"error": "access_denied"}
    return tokens(state["grant"]) if "grant" in state else {"error": "authorization_pending"}


def confirm(query):
    for state in codes.values():
        if state["user_code"] == query.get("code") and "grant" not in state:
            if "deny" in query:
                state["denied"] = True
            else:
                state["grant"] = {"user": query["user"], "groups": query.get("groups", "").split(","),
                                  "aud": query.get("aud", "bringup"), "lasts": int(query.get("lasts", "300"))}
            return {}
    return {"error": "unknown code"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(400 if "error" in value else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/realm/.well-known/openid-configuration":
            self.answer({"issuer": issuer, "jwks_uri": f"{issuer}/keys", "token_endpoint": f"{issuer}/token",
                         "device_authorization_endpoint": f"{issuer}/begin"})
        elif url.path == "/realm/keys":
            self.answer({"keys": [public(name) for name in words("shows")]})
        else:
            self.answer(confirm(dict(urllib.parse.parse_qsl(url.query))))

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        form = dict(urllib.parse.parse_qsl(self.rfile.read(size).decode()))
        self.answer(begin(form) if self.path == "/realm/begin" else grant_token(form))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer((address, port), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
# A handshake that hangs is its own thread's.
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
