"""What the processes of a class hold and use, read from /proc: proportional memory, processor time,
open ports.
"""

import contextlib
import os
from pathlib import Path

LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
LISTENING = "0A"


def owned_by(uid):
    """Return the ids of all processes of one user."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                found.append(int(entry.name))
    return found


def family_of(process):
    """Return the id of a process and of all that descend from it and have the same owner."""
    owner, parents = Path(f"/proc/{process}").stat().st_uid, {}
    for one in owned_by(owner):
        with contextlib.suppress(OSError):
            parents[one] = int(fields(one)[1])
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def fields(process):
    """Return what stands in a process's `stat` after its name: state, parent and so on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def command(process):
    """Return a process's command line; "" if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def memory(processes):
    """Return the proportional set size in MiB: a page that n processes share counts for 1/n."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


def processor(processes):
    """Return the seconds of processor time that these processes and their ended children used."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError):
            total += sum(map(int, fields(process)[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def open_to_others(uids, ports):
    """Return the listening sockets of these users, or at these ports, that other machines reach."""
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            (
                _,
                local,
                _,
                state,
                *_,
            ) = line.split()
            uid = int(line.split()[7])
            address, port = local.split(":")
            ours = uid in uids or int(port, 16) in ports
            if state == LISTENING and ours and address not in LOOPBACK:
                found.append(f"{address}:{int(port, 16)} of user {uid}")
    return found
