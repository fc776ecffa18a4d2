"""Whether `espalier serve` survives bad clients: malformed requests, slow and half-closed connections, many at once, and a
model that is replaced under load. It prints what was answered, and fails where something is wrong.

    python3 -m bench.serve.abuse [--requests 10000]

Everything goes to 127.0.0.1.
"""

import argparse
import collections
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from bench import lib
from bench.serve.load import serving

AT_ONCE, SLOW = 1000, 50


def post(body):
    return (b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(body)) + body


GOOD = post(json.dumps({"text": "Anna flew to Paris.", "marginals": True}).encode())
SEEDS = [GOOD, b"GET /v1/model HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-3\r\n\r\n",
         b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
         b"f\r\n{\"text\":\"Anna\"}\r\n0\r\n\r\n"]


def connect(address):
    return socket.create_connection((address.hostname, address.port), timeout=30)


def status_of(connection):
    """The status of an answer, or "none"."""
    try:
        head = connection.recv(65536)
    except (ConnectionError, TimeoutError):
        return "none"
    if not head:
        return "none"
    if not head.startswith(b"HTTP/1.1 "):
        return "garbage"
    return int(head[9:12])


def malformed(source):
    request = bytearray(source.choice(SEEDS))
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(request) + 1)
        kind = source.randrange(6)
        if kind == 0:
            request[at:at + 1] = bytes([source.randrange(256)])
        elif kind == 1:
            del request[at:at + source.randint(1, 30)]
        elif kind == 2:
            request[at:at] = request[at:at + source.randint(1, 60)]
        elif kind == 3:
            request[at:at] = source.randbytes(source.randint(1, 40))
        elif kind == 4:
            request[at:at] = b"\r\n"
        else:
            del request[at:]
        if not request:
            break
    return bytes(request)


def send_malformed(address, count):
    source, found = random.Random(1), collections.Counter()
    for _ in range(count):
        with connect(address) as connection:
            try:
                connection.sendall(malformed(source))
                connection.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass
            found[status_of(connection)] += 1
    return found


def be_slow(address):
    """A byte now and then, until the server has had enough."""
    connections = [connect(address) for _ in range(SLOW)]
    answered = 0
    for at in range(12):
        for connection in connections:
            try:
                connection.sendall(GOOD[at:at + 1])
            except ConnectionError:
                pass
        with connect(address) as other:
            other.sendall(GOOD)
            answered += status_of(other) == 200
        time.sleep(0.25)
    found = collections.Counter(status_of(connection) for connection in connections)
    for connection in connections:
        connection.close()
    return found, answered == 12


def at_once(address):
    found = collections.Counter()
    connections = [connect(address) for _ in range(AT_ONCE)]
    for connection in connections:
        connection.sendall(GOOD)
    for connection in connections:
        found[status_of(connection)] += 1
        connection.close()
    return found


def replace_under_load(address, model, others):
    """Requests of four clients while the file is replaced ten times."""
    found, done = collections.Counter(), threading.Event()

    def client():
        while not done.is_set():
            with connect(address) as connection:
                connection.sendall(GOOD)
                found[status_of(connection)] += 1
    clients = [threading.Thread(target=client) for _ in range(4)]
    for thread in clients:
        thread.start()
    for at in range(10):
        new = model.with_suffix(".new")
        shutil.copy(others[at % len(others)], new)
        os.replace(new, model)
        time.sleep(0.7)
    done.set()
    for thread in clients:
        thread.join()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10000, help="malformed ones")
    requests = parser.parse_args().requests
    wrong = []

    def say(what, found, good):
        print(f"{what}: {', '.join(f'{count:,} x {status}' for status, count in sorted(found.items(), key=str))}", flush=True)
        if not good:
            wrong.append(what)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, words = folder / "train.txt", folder / "words.txt"
        subprocess.run([lib.PROGRAM, "generate", "tag", "-n", "200", "-o", train], check=True)
        fields = (line.split("\t") for line in train.read_text().splitlines())
        words.write_text("".join(f"{f[0]}\t{f[2]}\n" if len(f) > 1 else "\n" for f in fields))
        models = [folder / f"{at}.esp" for at in range(2)]
        for model, l2 in zip(models, (1, 2)):
            lib.espalier("train", "tag", words, "--l2", l2, "--gap", 1e-2, model=model)
        model = folder / "model.esp"
        shutil.copy(models[0], model)
        with serving(model, "--timeout", 2, "--max-connections", AT_ONCE + 50) as text:
            address = urllib.parse.urlsplit(text)
            found = send_malformed(address, requests)
            say(f"{requests:,} malformed requests", found, "garbage" not in found and 500 not in found)
            found, answered = be_slow(address)
            say(f"{SLOW} slow clients", found, set(found) <= {408, "none"} and answered)
            found = at_once(address)
            say(f"{AT_ONCE:,} at once", found, found == {200: AT_ONCE})
            found = replace_under_load(address, model, models)
            say("while the model was replaced ten times", found, set(found) == {200})
            with connect(address) as connection:
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                said = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
            lines = dict(line.rsplit(" ", 1) for line in said.splitlines() if line.startswith("espalier_"))
            say("afterwards open connections", {lines["espalier_open_connections"]: 1}, lines["espalier_open_connections"] == "1")
            say("times the model was loaded anew", {lines["espalier_reloads_total"]: 1}, int(lines["espalier_reloads_total"]) >= 5)
    if wrong:
        sys.exit("wrong: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
