"""Runs a command as two ranks on two hosts with a slow network between them.

    python3 -m bench.scaling.two_hosts build/espalier train tag train.txt --threads 1 -o model.esp --log run.jsonl
    python3 -m bench.scaling.two_hosts --delay 0.01 --bandwidth 1.25e8 build/espalier train ...

The hosts are network namespaces of this machine, with names of their own, since Open MPI tells machines apart by them.
The cable between them is this process: it delays every packet, and passes on so many bytes a second, each way. (The
kernel's own `tc qdisc add ... netem` does the same, where it is built in.) As root; needs iproute2, util-linux and
openmpi-bin.
"""

import argparse
import collections
import ctypes
import fcntl
import os
import shlex
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

HOSTS = {"10.77.0.1": "espalier-1", "10.77.0.2": "espalier-2"}
MTU = 9000
TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
AGENT = "--on"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


def plug_in(address, namespace):
    """The end of the cable in a namespace: what its packets are read from and written to."""
    with open("/proc/thread-self/ns/net", "rb") as here, open(f"/run/netns/{namespace}", "rb") as there:
        enter(there)
        end = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", b"cable", IFF_TUN | IFF_NO_PI))
        enter(here)
    ip("-n", namespace, "address", "add", f"{address}/24", "dev", "cable")
    ip("-n", namespace, "link", "set", "cable", "mtu", str(MTU), "up")
    return end


def carry(source, target, delay, bandwidth):
    """One direction of the cable, for ever. It holds what a second lets through, and drops what is too much."""
    waiting, there = collections.deque(), threading.Condition()

    def deliver():
        while True:
            with there:
                while not waiting:
                    there.wait()
                due, packet = waiting.popleft()
            time.sleep(max(0.0, due - time.monotonic()))
            os.write(target, packet)

    threading.Thread(target=deliver, daemon=True).start()
    free = time.monotonic()  # when the packet before has left
    while True:
        packet = os.read(source, MTU + 100)
        now = time.monotonic()
        if free > now + 1:
            continue
        free = max(free, now) + len(packet) / bandwidth
        with there:
            waiting.append((free + delay, packet))
            there.notify()


def run_on(address, words):
    """What mpirun has as its remote shell."""
    while words[0].startswith("-"):
        words = words[1:]
    script = f"hostname {HOSTS[address]} && {' '.join(words)}"
    os.execvp("ip", ["ip", "netns", "exec", HOSTS[address], "unshare", "--uts", "sh", "-c", script])


def main():
    if sys.argv[1:2] == [AGENT]:
        run_on(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=1e-3, help="seconds, one way (default: %(default)s)")
    parser.add_argument("--bandwidth", type=float, default=12.5e6, help="bytes a second (default: 100 Mbit/s)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("no command")

    for namespace in HOSTS.values():
        subprocess.run(["ip", "netns", "delete", namespace], check=False, stderr=subprocess.DEVNULL)
    try:
        ends = []
        for address, namespace in HOSTS.items():
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
            ends.append(plug_in(address, namespace))
        for source, target in (ends, reversed(ends)):
            threading.Thread(target=carry, args=(source, target, arguments.delay, arguments.bandwidth),
                             daemon=True).start()
        agent = f"{sys.executable} {Path(__file__).resolve()} {AGENT}"
        network = "10.77.0.0/24"
        launch = ["mpirun", "--host", ",".join(f"{address}:1" for address in HOSTS), "-n", "2", "--bind-to", "none",
                  "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network,
                  "--mca", "oob_tcp_if_include", network, *arguments.command]
        words = ["cd", os.getcwd(), "&&", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                 *map(shlex.quote, launch)]
        return subprocess.run(
            ["ip", "netns", "exec", next(iter(HOSTS.values())), "unshare", "--uts", "sh", "-c",
             f"hostname {next(iter(HOSTS.values()))} && {' '.join(words)}"], check=False).returncode
    finally:
        for namespace in HOSTS.values():
            subprocess.run(["ip", "netns", "delete", namespace], check=False)


if __name__ == "__main__":
    sys.exit(main())
