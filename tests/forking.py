"""A process that has imported what the programs of a test begin with, and forks for each of them:
torch is imported once, and still each program has a process of its own, to its very end.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
LOOP = """
import json, os, signal, sys
names = {"__name__": "__main__"}
exec(sys.argv[1], names)
for asked in iter(sys.stdin.readline, ""):
    program, *told, limit = json.loads(asked)
    child = os.fork()
    if not child:
        signal.alarm(limit)
        for path, number in zip(told, (1, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        exec(program, names)
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextlib.contextmanager
def forking(begin):
    """Yield a function that runs a program after `begin`, for at most so many seconds; it returns
    the exit code, what was printed and what was complained of. `folder` must be a new one.
    """
    environment = os.environ | {
        "PYTHONPATH": f"{TESTS}:{TESTS.parent}",
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-c", LOOP, begin]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=TESTS.parent, env=environment, **pipes) as process:

        def run(program, folder, limit=120):
            told = folder / "said", folder / "complained"
            print(json.dumps([program, *map(str, told), limit]), file=process.stdin, flush=True)
            code = int(process.stdout.readline())
            return code, *(path.read_text(encoding="utf-8") for path in told)

        yield run
        process.stdin.close()
