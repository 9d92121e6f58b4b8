"""Whose processes run, and which ports they open to other machines."""

import contextlib

import psutil

LOOPBACK = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


def owned_by(uid):
    """Return the ids of all processes of one user."""
    found = psutil.process_iter(["uids"])
    return [one.pid for one in found if one.info["uids"] and one.info["uids"].effective == uid]


def command(process):
    """Return a process's command line; "" if it has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(psutil.Process(process).cmdline())
    return ""


def open_to_others(uids, ports):
    """Return the listening sockets of these users, or at these ports, that other machines reach."""
    owned = {process: uid for uid in uids for process in owned_by(uid)}
    found = []
    for one in psutil.net_connections("tcp"):
        ours = one.pid in owned or one.laddr.port in ports
        if one.status == psutil.CONN_LISTEN and ours and one.laddr.ip not in LOOPBACK:
            found.append(f"{one.laddr.ip}:{one.laddr.port} of user {owned.get(one.pid, '?')}")
    return found
