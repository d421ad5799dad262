"""Run one program and end it when whoever asked for it is gone; executed as a script, never imported.

``python guard.py PROGRAM ARGUMENTS...`` starts the program with stdout and stderr on this script's stderr and prints
its process id. Standard input is the leash: the words ``term``, ``kill``, ``stop`` and ``cont``, one a line, become
signals to the program, and the end of the input, which is also what the death of the owner by SIGKILL looks like,
kills it. On Linux the kernel in turn kills the program when this script dies. The script exits as the program does.

Why not PR_SET_PDEATHSIG straight from the owner: it follows the *thread* that started the program, so a control plane
started in a worker thread would end with that thread. Here the thread is the main one of a script that does nothing
else. Signals go through this script because only the parent of a process knows that its id has not been reused.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

SIGNALS = {
    b"term": signal.SIGTERM,
    b"kill": signal.SIGKILL,
    b"stop": signal.SIGSTOP,
    b"cont": signal.SIGCONT,
}
PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Ask the kernel to kill the calling process when its parent dies; runs between fork and exec."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died before the request was in place
        os._exit(1)


def follow_leash(program: subprocess.Popen[bytes]) -> None:
    """Turn lines of standard input into signals, and its end into SIGKILL."""
    for line in sys.stdin.buffer:
        number = SIGNALS.get(line.strip())
        if number is not None:
            program.send_signal(number)
    program.kill()


def main() -> int:
    """Start the program, print its process id and return its exit code (128 + n when signal n ended it)."""
    own = os.getpid()
    try:
        program = subprocess.Popen(
            sys.argv[1:],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            preexec_fn=lambda: die_with(own),  # noqa: PLW1509 (no thread has been started yet)
        )
    except OSError as error:
        print(f"cannot start {sys.argv[1]}: {error}", file=sys.stderr, flush=True)
        return 127
    print(program.pid, flush=True)
    threading.Thread(target=follow_leash, args=(program,), daemon=True).start()
    code = program.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    # Not sys.exit: finalising the interpreter would wait for the lock that the leash's thread holds on stdin.
    os._exit(main())
