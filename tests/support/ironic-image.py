#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Ironic's agent does to write a disk image, for tests/bench/install:

    ironic-image.py raw URL DISK
    ironic-image.py qcow2 URL DISK FILE

As ironic_python_agent/extensions/standby.py does: chunks of 1 MiB by requests, each of
them hashed (SHA-256); a raw image goes to the disk as it comes, another one to FILE and
from there by qemu-img with the agent's flags. Then everything is synced. Prints "took",
seconds and CPU seconds, without what Python needs to start.
"""
import hashlib
import os
import resource
import subprocess
import sys
import time

import requests

CHUNK = 1024 * 1024


def cpu_s():
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(who) for who in both]
    return sum(each.ru_utime + each.ru_stime for each in used)


def fetch(url, path):
    digest = hashlib.new("sha256")
    answer = requests.get(url, stream=True, timeout=60)
    answer.raise_for_status()
    with open(path, "wb+") as out:
        for chunk in answer.iter_content(CHUNK):
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def main():
    kind, url, disk = sys.argv[1:4]
    start, start_cpu = time.perf_counter(), cpu_s()
    if kind == "raw":
        fetch(url, disk)
    else:
        fetch(url, sys.argv[4])
        subprocess.run(
            ["qemu-img", "convert", "-f", "qcow2", "-O", "host_device",
             "-t", "directsync", "-S", "0", "-W", sys.argv[4], disk],
            check=True)
        os.unlink(sys.argv[4])
    print("took %.3f %.3f" % (time.perf_counter() - start, cpu_s() - start_cpu))


if __name__ == "__main__":
    main()
