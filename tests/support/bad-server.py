#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves files below a folder over HTTP with ranges, and lies as it is told, for
tests/system/install-faults:

    bad-server.py DIR FAULT [GOOD [TIMES]]

The first GOOD (0) ranges of frames are answered as they should be, the next TIMES (all)
with the fault, those after them well again. DIR/asked gets a line for each range that is
asked for: its first byte, and how it was answered. Prints its port.
"""
import http.server
import os
import sys
import threading

FAULTS = ("none", "flip", "other", "cut", "away", "short", "long", "claims-more",
          "claims-less", "endless", "no-length", "whole", "other-range", "status",
          "redirect", "manifest-endless", "manifest-cut", "manifest-other")
JUNK = b"\x5a" * 65536


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = os.path.join(folder, self.path.lstrip("/"))
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        if wanted:
            first, last = (int(each) for each in wanted[6:].split("-"))
            self.answer_range(text, first, last)
        else:
            self.answer_whole(text)

    def answer_whole(self, text):
        is_manifest = self.path.endswith("manifest.json")
        if fault == "manifest-endless" and is_manifest:
            self.head(200, None)
            self.pour()
        elif fault == "manifest-cut" and is_manifest:
            self.head(200, len(text))
            self.send(text[:len(text) // 2])
            self.close_connection = True
        elif fault == "manifest-other" and is_manifest:
            self.head(200, len(text))
            self.send(text.replace(b'"arch":""', b'"arch":"x"')[:len(text)])
        else:
            self.head(200, len(text))
            self.send(text)

    def answer_range(self, text, first, last):
        with lock:
            count = len(asked)
            bad = good <= count < good + times and fault in RANGES
            asked.append(first)
            with open(os.path.join(folder, "asked"), "a") as file:
                file.write("%d %s\n" % (first, fault if bad else "good"))
        part = text[first:last + 1]
        if bad:
            RANGES[fault](self, text, first, part)
        else:
            self.head(206, len(part), first, last, len(text))
            self.send(part)

    def head(self, status, length, first=None, last=None, total=None):
        self.send_response(status)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        if first is not None:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, total))
        self.end_headers()

    def send(self, text):
        try:
            self.wfile.write(text)
        except OSError:
            self.close_connection = True

    def pour(self):
        for _ in range(1 << 20):
            try:
                self.wfile.write(JUNK)
            except OSError:
                return

    # --- what is wrong with a range ---

    def flip(self, _text, first, part):
        self.head(206, len(part), first, first + len(part) - 1, len(_text))
        self.send(part[:5] + bytes([part[5] ^ 1]) + part[6:])

    def other(self, text, first, part):
        """As many bytes, from the begin of the file."""
        self.head(206, len(part), first, first + len(part) - 1, len(text))
        self.send(text[7:7 + len(part)])

    def cut(self, _text, first, part):
        self.head(206, len(part), first, first + len(part) - 1, len(_text))
        self.send(part[:len(part) // 2])
        self.close_connection = True

    def away(self, _text, _first, _part):
        self.close_connection = True

    def short(self, _text, first, part):
        self.head(206, len(part) - 1, first, first + len(part) - 2, len(_text))
        self.send(part[:-1])

    def long(self, _text, first, part):
        self.head(206, len(part) + 1, first, first + len(part), len(_text))
        self.send(part + b"x")

    def claims_more(self, _text, first, part):
        self.head(206, 1 << 40, first, first + (1 << 40) - 1, len(_text))
        self.send(part)
        self.close_connection = True

    def claims_less(self, _text, first, part):
        self.head(206, 100, first, first + 99, len(_text))
        self.send(part)

    def endless(self, _text, first, part):
        self.head(206, 1 << 40, first, first + (1 << 40) - 1, len(_text))
        self.send(part)
        self.pour()

    def no_length(self, _text, first, part):
        self.head(206, None, first, first + len(part) - 1, len(_text))
        self.send(part)
        self.pour()

    def whole(self, text, _first, _part):
        self.head(200, len(text))
        self.send(text)

    def other_range(self, text, first, part):
        """It says so: as many bytes, but one further."""
        self.head(206, len(part), first + 1, first + len(part), len(text))
        self.send((text + b"x")[first + 1:first + 1 + len(part)])

    def status(self, _text, _first, _part):
        self.head(500, 4)
        self.send(b"busy")

    def redirect(self, _text, _first, _part):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()


RANGES = {name: getattr(Handler, name.replace("-", "_")) for name in FAULTS
          if name != "none" and not name.startswith("manifest")}
folder, fault = sys.argv[1:3]
if fault not in FAULTS:
    sys.exit("bad-server.py: no fault " + fault)
good = int(sys.argv[3]) if len(sys.argv) > 3 else 0
times = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 40
asked, lock = [], threading.Lock()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
