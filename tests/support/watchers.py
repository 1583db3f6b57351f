#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many open pages against one bringupd, for tests/bench/api:

    tests/support/watchers.py PORT WATCHERS COMMAND...

Each watcher has the whole status, as a page does, and waits for the next version. Then
COMMAND makes one change. Meanwhile another client asks for a small thing again and again:
the longest time that it waits is the longest turn of the loop. Prints, in milliseconds,
the worst small request, and how long the first and the last watcher waited for the
change, and the bytes that all of them got.
"""
import json
import selectors
import socket
import subprocess
import sys
import threading
import time

SMALL = "/v1/rollouts"
PATIENCE_S = 120


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.left = b""

    def ask(self, path):
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def take(self, block):
        """Adds what has come; the body when the answer is whole, else None."""
        self.left += block
        head, mark, rest = self.left.partition(b"\r\n\r\n")
        if not mark:
            return None
        size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:"))
        return rest if len(rest) >= size else None

    def get(self, path):
        self.ask(path)
        blocks, head = [], None
        while True:
            block = self.socket.recv(1 << 20)
            if not block:
                raise SystemExit(f"{path}: the connection was closed")
            blocks.append(block)
            if head is None:
                whole = b"".join(blocks)
                blocks = [whole]
                start, mark, _ = whole.partition(b"\r\n\r\n")
                if not mark:
                    continue
                size = next(int(line.split(b":")[1]) for line in start.split(b"\r\n")
                            if line.lower().startswith(b"content-length:"))
                head = len(start) + 4
            if sum(map(len, blocks)) >= head + size:
                return b"".join(blocks)[head:]


class Probe(threading.Thread):
    """Asks for a small thing again and again; worst: the longest answer, in seconds."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.worst = 0.0
        self.stopped = False

    def run(self):
        while not self.stopped:
            begun = time.monotonic()
            self.client.get(SMALL)
            self.worst = max(self.worst, time.monotonic() - begun)
            time.sleep(0.002)


def wait_for(clients):
    """Seconds until each client's answer was whole, sorted, and the bytes of all."""
    begun = time.monotonic()
    waiting = selectors.DefaultSelector()
    sizes = {}
    for client in clients:
        client.socket.setblocking(False)
        waiting.register(client.socket, selectors.EVENT_READ, client)
        sizes[client] = None
    got = {client: 0 for client in clients}
    took = []
    while len(took) < len(clients):
        ready = waiting.select(PATIENCE_S)
        if not ready:
            raise SystemExit(f"{len(clients) - len(took)} watchers got no answer")
        for key, _ in ready:
            client = key.data
            block = client.socket.recv(1 << 20)
            if not block:
                raise SystemExit("a watcher's connection was closed")
            got[client] += len(block)
            if sizes[client] is None:
                client.left += block
                head, mark, _ = client.left.partition(b"\r\n\r\n")
                if not mark:
                    continue
                sizes[client] = len(head) + 4 + next(
                    int(line.split(b":")[1]) for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:"))
            if got[client] >= sizes[client]:
                waiting.unregister(client.socket)
                took.append(time.monotonic() - begun)
    return sorted(took), sum(got.values())


def main():
    port, count, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    first = Client(port)
    begun = time.monotonic()
    status = first.get("/v1/status")
    first_ms = 1000 * (time.monotonic() - begun)
    version = json.loads(status)["version"]
    watchers = [Client(port) for _ in range(count)]
    for watcher in watchers:
        watcher.ask(f"/v1/status?since={version}&wait=60")
    time.sleep(1)
    probe = Probe(port)
    probe.start()
    time.sleep(0.5)
    calm = probe.worst
    change = threading.Thread(target=subprocess.run, args=(command,),
                              kwargs={"check": True, "stdout": subprocess.DEVNULL})
    change.start()
    took, size = wait_for(watchers)
    change.join()
    time.sleep(0.5)
    probe.stopped = True
    probe.join()
    print(f"whole status: {len(status) / 1e6:.3f} MB in {first_ms:.0f} ms")
    print(f"worst small request before: {1000 * calm:.1f} ms")
    print(f"bytes to {count} watchers after one change: {size / 1e6:.3f} MB")
    print(f"first watcher told after: {1000 * took[0]:.0f} ms")
    print(f"last watcher told after: {1000 * took[-1]:.0f} ms")
    print(f"worst small request meanwhile: {1000 * probe.worst:.1f} ms (goal 100)")


main()
