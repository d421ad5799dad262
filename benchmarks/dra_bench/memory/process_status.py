"""What the kernel says of a process's memory."""

from __future__ import annotations

from pathlib import Path

from dra_bench.memory.errors import MemoryRunError


def peak_and_now(pid: int) -> tuple[float, float]:
    """Return the largest and the present resident memory of a process, MiB. Raises MemoryRunError."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError as error:
        raise MemoryRunError(f"the memory of process {pid} cannot be read (this needs Linux): {error}") from error
    return parse(text)


def parse(text: str) -> tuple[float, float]:
    """Read VmHWM and VmRSS, MiB. Raises MemoryRunError."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name in ("VmHWM", "VmRSS"):
            found[name] = int(rest.split()[0]) / 1024
    if len(found) < 2:
        raise MemoryRunError("the process has ended, or the system does not tell its memory")
    return found["VmHWM"], found["VmRSS"]
