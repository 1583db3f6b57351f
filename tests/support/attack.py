#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts of tests/system/attacks: machines of nodes that are honest, and one that is not.

Each is started in its own network namespace; the appliance is 10.0.0.1. A command prints
what came of it and ends with 0 when that is what it should be.
"""
import fcntl
import http.client
import json
import os
import resource
import select
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

HOME, BOOT, AGENT = "10.0.0.1", 8080, 8443
PATIENCE = 10


def end(good, words):
    print(words)
    sys.exit(0 if good else 1)


def boot_get(path, host=None, source=None, method="GET"):
    """Status and body of a request to the boot listener; 0 when it was closed."""
    link = http.client.HTTPConnection(
        HOME, BOOT, timeout=PATIENCE, source_address=(source, 0) if source else None)
    try:
        link.putrequest(method, path, skip_host=True)
        link.putheader("Host", host or f"{HOME}:{BOOT}")
        link.endheaders()
        answer = link.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)
    finally:
        link.close()


def tls(folder, own=None):
    context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    if own:
        context.load_cert_chain(f"{own}.pem", f"{own}.key")
    return context


def agent_post(folder, path, body, own=None, source=None):
    """Status, answer and headers of a request to the agents' listener."""
    link = http.client.HTTPSConnection(
        HOME, AGENT, timeout=PATIENCE, context=tls(folder, own),
        source_address=(source, 0) if source else None)
    try:
        link.request("POST", path, json.dumps(body))
        answer = link.getresponse()
        return answer.status, json.loads(answer.read() or b"null"), answer.headers
    except (OSError, http.client.HTTPException, ValueError) as error:
        return 0, {"error": {"text": str(error)}}, {}
    finally:
        link.close()


def inventory(number, mac, boot="boot-1", product="Box", serial=None):
    return {
        "v": 1, "boot_id": boot, "kernel": "6.1", "firmware": "uefi",
        "memory_bytes": 1 << 34,
        "cpu": {"model": "x", "sockets": 1, "cores": 2, "threads": 2},
        "dmi": {"vendor": "ACME", "product": product,
                "serial": serial or f"S{number}", "uuid": ""},
        "disks": [{"name": "sda", "path": "/dev/sda", "serial": f"D{number}",
                   "size_bytes": 1 << 38, "rotational": False, "removable": False,
                   "signature": "none"}],
        "nics": [{"name": "eth0", "mac": mac, "driver": "virtio", "pci": "0000:01:00.0",
                  "speed_mbps": 1000, "operstate": "up"}],
        "pci": [], "gpus": [], "rdma": [], "links": [],
    }


def token_of(mac, source=None):
    """The token in this machine's boot script, None without one; and the script."""
    status, text = boot_get(f"/boot/script/{mac.replace(':', '-')}", source=source)
    for word in text.split():
        if word.startswith("bringup.token="):
            return word.split("=", 1)[1], text
    return None, f"{status} {text}"


def request_of(own):
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", f"{own}.key", "-subj", "/CN=x", "-out", f"{own}.csr"],
        check=True, capture_output=True)
    with open(f"{own}.csr", encoding="ascii") as file:
        return file.read()


def trade(folder, own, node, token, told, source=None):
    return agent_post(folder, "/v1/agent/enroll",
                      {"node": node, "token": token, "csr": request_of(own),
                       "inventory": told}, source=source)


def become(folder, node, number, mac):
    """An honest machine: script, token, certificate, hello."""
    own = f"{folder}/{node}"
    token, script = token_of(mac)
    if not token:
        end(False, f"{node} gets no token: {script}")
    with open(f"{own}.token", "w", encoding="ascii") as file:
        file.write(token)
    status, answer, _ = trade(folder, own, node, token, inventory(number, mac))
    if status != 200:
        end(False, f"{node} gets no certificate: {answer}")
    with open(f"{own}.pem", "w", encoding="ascii") as file:
        file.write(answer["cert"])
    status, answer, _ = agent_post(
        folder, "/v1/agent/hello",
        {"protocol": 1, "where": "ramdisk", "stamp": None, "inventory": inventory(number, mac)},
        own)
    end(status == 200, f"{node} is admitted: {answer}")


def serve(folder, node, stop):
    """Asks as an agent does, over a new connection each time, until `stop` is there."""
    own, worst, count, bad = f"{folder}/{node}", 0.0, 0, []
    while not os.path.exists(stop):
        begin = time.monotonic()
        status, answer, _ = agent_post(folder, "/v1/agent/clock", {}, own)
        took = time.monotonic() - begin
        if status == 200:
            status, _ = boot_get("/boot/ca.pem")
            took = max(took, time.monotonic() - begin - took)
        if status != 200:
            bad.append(f"{status} {answer}")
        if took > worst:
            worst = took
        count += 1
        time.sleep(0.1)
    if bad:
        end(False, f"{node} was not served {len(bad)} of {count} times: {bad[0]}")
    end(worst < 2, f"{node} was served {count} times, in {worst:.2f} s at most")


def is_open(link):
    """The other end has not closed it."""
    try:
        return link.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def knock(port, source, first):
    link = socket.socket()
    link.settimeout(PATIENCE)
    link.bind((source, 0))
    try:
        link.connect((HOME, port))
        if first:
            link.sendall(first)
    except OSError:
        pass
    link.setblocking(False)
    return link


def sources(count):
    return [f"10.0.{20 + i // 250}.{1 + i % 250}" for i in range(count)]


def idle(port, total, first, at_most_each, seconds):
    """Opens `total` connections from many addresses, 64 + 1 each, and keeps them."""
    own = sources((total + 64) // 65)
    links = [knock(port, own[i // 65], first) for i in range(total)]
    begin = time.monotonic()
    each = total
    while each > at_most_each and time.monotonic() - begin < 5:
        time.sleep(0.5)  # the last ones are taken, or closed
        each = max(sum(is_open(link) for link in links[i:i + 65])
                   for i in range(0, total, 65))
    left = sum(is_open(link) for link in links)
    begin = time.monotonic()
    while left and time.monotonic() - begin < seconds:
        time.sleep(0.5)
        if first:  # a byte now and then, which a limit of silence does not see
            for link in links:
                if is_open(link):
                    try:
                        link.send(b"x")
                    except OSError:
                        pass
        left_now = sum(is_open(link) for link in links)
        if left_now == 0:
            break
    took = time.monotonic() - begin
    rest = sum(is_open(link) for link in links)
    good = each <= at_most_each and left < total and (not seconds or rest == 0)
    end(good, f"{total} connections from {len(own)} addresses: {left} stayed, {each} of "
              f"one address at most, {rest} of them after {took:.0f} s")


def bodies(folder, total):
    """Half-sent bodies of 500 KB to the agents' listener, from few addresses."""
    own, links, text = sources(8), [], b" " * (500 << 10)
    head = (f"POST /v1/agent/discover HTTP/1.1\r\nHost: {HOME}\r\nContent-Length: "
            f"{len(text) + 1}\r\n\r\n").encode()
    refused = 0
    for i in range(total):
        raw = socket.socket()
        raw.settimeout(PATIENCE)
        raw.bind((own[i % len(own)], 0))
        try:
            raw.connect((HOME, AGENT))
            link = tls(folder).wrap_socket(raw, server_hostname=HOME)
            link.sendall(head)
            if select.select([link], [], [], 0.02)[0]:
                refused += b" 503 " in link.recv(4096)
            else:
                link.sendall(text)
            links.append(link)
        except OSError:
            refused += 1
    end(refused >= total - 100, f"{total} half-sent bodies from {len(own)} addresses: "
                               f"{refused} refused")


def inventories(folder, node, number, mac, seconds):
    """The root of a node: ever new inventories, boots and crashes."""
    own, counts = f"{folder}/{node}", {}
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        for boot in ("boot-1", f"boot-{time.monotonic_ns()}"):
            told = inventory(number, mac, boot, f"Box {time.monotonic_ns()}")
            told["pci"] = [{"address": f"0000:{i // 32:02x}:{i % 32:02x}.0",
                            "class": "020700", "vendor": "15b3", "device": "1021",
                            "driver": f"d{time.monotonic_ns() % 100000}"}
                           for i in range(200)]
            status, answer, headers = agent_post(
                folder, "/v1/agent/hello",
                {"protocol": 1, "where": "ramdisk", "stamp": None, "inventory": told,
                 "crash": {"kind": "Panic", "at_ms": time.time_ns() // 1000000,
                           "lines": [f"{time.monotonic_ns()} {'x' * 150}"] * 60}}, own)
            counts[status] = counts.get(status, 0) + 1
    end(counts.get(503, 0) > 0, f"hellos without end for {seconds} s: {counts}")


def unknown(folder, mac, total):
    """One card tells of ever other machines."""
    counts = {}
    for i in range(total):
        status, _, _ = agent_post(
            folder, "/v1/agent/discover",
            {"inventory": inventory(0, mac, serial=f"U{i}")})
        counts[status] = counts.get(status, 0) + 1
    end(counts.get(503, 0) > 0, f"{total} machines told by one card: {counts}")


def hear(folder, mac):
    """What everybody on the wire hears when this machine boots."""
    token, script = token_of(mac)
    with open(f"{folder}/heard", "w", encoding="ascii") as file:
        file.write(token or "")
    end(token, "a token was heard" if token else script)


def claim(folder, node, number, mac, source=None):
    """Asks for another's token, and shows one that it heard."""
    token, script = token_of(mac, source)
    with open(f"{folder}/heard", encoding="ascii") as file:
        heard = file.read().strip()
    status, answer, _ = trade(folder, f"{folder}/thief", node, heard,
                              inventory(number, mac), source)
    text = answer.get("error", {}).get("text", "")
    end(not token and "cert" not in answer,
        f"script: {'with its token' if token else 'no token'}; trade: {status} {text}")


def lie(folder, node, number, mac, own_mac, link_name):
    """The same while its ARP says that its address is at the machine's card."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806))
    packets.bind((link_name, 0))
    raw = [bytes.fromhex(text.replace(":", "")) for text in (own_mac, mac)]
    address = socket.inet_aton(own_address(link_name))
    home = socket.inet_aton(HOME)
    going = threading.Event()

    def tell():
        # A frame of its own card, in which ARP tells of another's.
        frame = (b"\xff" * 6 + raw[0] + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 2)
                 + raw[1] + address + b"\xff" * 6 + home)
        true = frame[:22] + raw[0] + frame[28:]
        turn = 0
        while not going.is_set():
            packets.send(frame if turn % 8 < 5 else true)
            turn += 1
            time.sleep(0.08)

    teller = threading.Thread(target=tell)
    teller.start()
    found = None
    for _ in range(4):
        found = found or token_of(mac)[0]
    with open(f"{folder}/heard", encoding="ascii") as file:
        status, answer, _ = trade(folder, f"{folder}/thief", node, file.read().strip(),
                                  inventory(number, mac))
    going.set()
    teller.join()
    end(not found and "cert" not in answer,
        f"script: {'with its token' if found else 'no token'}; trade: {status} "
        f"{answer.get('error', {}).get('text', '')}")


def own_address(link_name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        packed = fcntl.ioctl(link, 0x8915, struct.pack("256s", link_name.encode()))
    return socket.inet_ntoa(packed[20:24])


def hosts(names):
    got = {name: boot_get("/boot/ca.pem", name)[0] for name in names.split(",")}
    end(set(got.values()) == {421}, f"Host of others: {got}")


def traverse():
    paths = ["/boot/../keys/ca.key", "/boot/%2e%2e/keys/ca.key", "/boot/..%2fkeys%2fca.key",
             "/boot//etc/passwd", "/images/tiny/../../keys/token.secret",
             "/images/..%2f..%2fkeys/token.secret", "/bundle/..%2f..%2fetc%2fpasswd",
             "/images/tiny/%2e%2e%2f%2e%2e%2fjournal.db", "/digests/x/images/../../y/z",
             "//etc/passwd", "/boot/script/../../../etc/passwd"]
    got = {path: boot_get(path)[0] for path in paths}
    end(not set(got.values()) & {200, 206, 0}, f"paths out of its folders: {got}")


def foreign(folder):
    """A certificate of another CA, with the name of a machine."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{folder}/foreign.key", "-subj",
         "/CN=node001", "-out", f"{folder}/foreign.pem", "-days", "2"],
        check=True, capture_output=True)
    got = {}
    for own in (None, f"{folder}/foreign"):
        status, answer, _ = agent_post(folder, "/v1/agent/work", {}, own)
        got[own is not None] = f"{status} {answer.get('error', {}).get('text', '')}"
    end(all(not text.startswith("200") for text in got.values()),
        f"without a certificate: {got[False]}; with a foreign one: {got[True]}")


def dhcp(name, link_name):
    """Takes an address by DHCP and calls itself by this name (option 12)."""
    own = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    own.bind((link_name, 0))
    mac = own.getsockname()[4]
    own.settimeout(0.5)

    def send(options):
        bootp = struct.pack("!BBBBIHH16s6s10s192s", 1, 1, 6, 0, 7, 0, 0x8000, b"", mac,
                            b"", b"") + b"\x63\x82\x53\x63" + options + b"\x0c" + bytes(
                                [len(name)]) + name.encode() + b"\xff"
        bootp = bootp.ljust(300, b"\0")
        udp = struct.pack("!HHHH", 68, 67, 8 + len(bootp), 0) + bootp
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0,
                           b"\0" * 4, b"\xff" * 4)
        total = sum(struct.unpack("!10H", head))
        total = (total & 0xffff) + (total >> 16)
        head = head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:]
        own.send(b"\xff" * 6 + mac + b"\x08\x00" + head + udp)

    def answer(kind):
        until = time.monotonic() + 4
        while time.monotonic() < until:
            try:
                packet = own.recv(2000)
            except TimeoutError:
                continue
            bootp = packet[42:]
            if len(packet) > 290 and packet[23] == 17 and bootp[:1] == b"\x02" and \
                    bytes([53, 1, kind]) in bootp[240:]:
                return bootp[16:20]
        return None

    offered = None
    for _ in range(3):
        send(b"\x35\x01\x01")
        offered = offered or answer(2)
    if not offered:
        end(False, "no address was offered")
    send(b"\x35\x01\x03\x32\x04" + offered + b"\x36\x04" + socket.inet_aton(HOME))
    taken = answer(5)
    query = struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + bytes(
        [len(name)]) + name.encode() + b"\0" + struct.pack("!HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(3)
        link.sendto(query, (HOME, 53))
        reply = link.recv(512)
    found = struct.unpack("!H", reply[6:8])[0]
    end(taken is not None and not found,
        f"{socket.inet_ntoa(offered)} calls itself {name}: DNS has {found} addresses of it")


def main():
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    what, *words = sys.argv[1:]
    numbers = {"become": [2], "idle": [0, 1, 3, 4], "bodies": [1], "inventories": [2, 4],
               "unknown": [2], "claim": [2], "lie": [2]}
    for at in numbers.get(what, []):
        words[at] = int(words[at])
    if what == "idle":
        words[2] = bytes.fromhex(words[2])
    {f.__name__: f for f in (become, serve, idle, bodies, inventories, unknown, hear,
                             claim, lie,
                             hosts, traverse, foreign, dhcp)}[what](*words)


main()
