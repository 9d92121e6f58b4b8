"""What the processes of a class hold and use: proportional memory, processor time, open ports."""

import contextlib

import psutil

LOOPBACK = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


def owned_by(uid):
    """Return the ids of all processes of one user."""
    found = psutil.process_iter(["uids"])
    return [one.pid for one in found if one.info["uids"] and one.info["uids"].effective == uid]


def family_of(process):
    """Return the id of a process and of all that run, descend from it and have the same owner."""
    first = psutil.Process(process)
    owned = owned_by(first.uids().effective)
    found = [one.pid for one in (first, *first.children(recursive=True))]
    return [one for one in found if one in owned and command(one)]


def command(process):
    """Return a process's command line; "" if it has ended."""
    with contextlib.suppress(psutil.Error):
        return " ".join(psutil.Process(process).cmdline())
    return ""


def memory(processes):
    """Return the proportional set size in MiB: a page that n processes share counts for 1/n."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            total += psutil.Process(process).memory_full_info().pss
    return total / 2**20


def processor(processes):
    """Return the seconds of processor time that these processes and their ended children used."""
    total = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(process).cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def open_to_others(uids, ports):
    """Return the listening sockets of these users, or at these ports, that other machines reach."""
    owned = {process: uid for uid in uids for process in owned_by(uid)}
    found = []
    for one in psutil.net_connections("tcp"):
        ours = one.pid in owned or one.laddr.port in ports
        if one.status == psutil.CONN_LISTEN and ours and one.laddr.ip not in LOOPBACK:
            found.append(f"{one.laddr.ip}:{one.laddr.port} of user {owned.get(one.pid, '?')}")
    return found
