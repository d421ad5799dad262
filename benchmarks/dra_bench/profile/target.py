"""The process that is looked into: `python -m dra_bench.profile.target SAMPLES ours|ceiling ARGUMENTS...`.

It is the scheduler as it always is, with a sampler beside it; the samples are written when it ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dra_bench.profile.sampler import Sampler, write


def main() -> int:
    """Run it as a process; returns the scheduler's exit code."""
    path, program, *arguments = sys.argv[1:]
    sampler = Sampler()
    sampler.start()
    try:
        return _run(program, arguments)
    finally:
        sampler.stop()
        write(Path(path), sampler.samples())


def _run(program: str, arguments: list[str]) -> int:
    if program == "ceiling":
        from dra_bench.cluster import ceiling

        sys.argv = ["ceiling", *arguments]
        ceiling.main()
        return 0
    from dra_scheduler.cli.main import main as ours

    return ours(arguments)


if __name__ == "__main__":
    sys.exit(main())
