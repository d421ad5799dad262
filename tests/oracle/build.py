"""Build the oracle: Kubernetes' own allocator and selectors as a process that answers questions.

Run it with ``make oracle``. The sources come from the Go module proxy, pinned by go.mod and go.sum beside this file.
Needs Go and nothing else: this file imports the standard library only. It does nothing when the binary that is there
was built from the same sources.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

MODULE = Path(__file__).resolve().parent
sys.path.insert(0, str(MODULE.parents[1] / "benchmarks"))

from dra_bench.oracle.binary import oracle_path  # noqa: E402  (the source root is not installed when this runs)

STAMP = ".dra-oracle-built-from"


def controlplane_build() -> ModuleType:
    """Return the module that builds the control plane: it knows how to find a Go tool chain."""
    path = MODULE.parent / "controlplane" / "build.py"
    spec = importlib.util.spec_from_file_location("controlplane_build", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is missing: the checkout is incomplete")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint(module: Path = MODULE) -> str:
    """Return a digest of everything that decides what the binary is."""
    digest = hashlib.sha256()
    for path in [module / "go.mod", module / "go.sum", *sorted(module.glob("*.go"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def build(target: Path, go: str) -> None:
    """Build the oracle into ``target``; raises CalledProcessError, the compiler's output is on stderr."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    command = [go, "build", "-mod=readonly", "-ldflags", "-s -w", "-o", str(partial), "."]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    subprocess.run(command, cwd=MODULE, env=environment, check=True)
    partial.replace(target)


def main() -> int:
    """Build unless it is up to date; failures become a line on stderr and exit code 1."""
    tools = controlplane_build()
    target, wanted = oracle_path(), fingerprint()
    stamp = target.with_name(STAMP)
    if target.is_file() and stamp.is_file() and stamp.read_text().strip() == wanted:
        print(f"oracle: up to date at {target}")
        return 0
    try:
        go = tools.find_go(tools.required_go(MODULE))
        print(f"oracle: building {target}; the first time takes a minute or two", flush=True)
        started = time.monotonic()
        build(target, go)
    except (tools.BuildError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    stamp.write_text(wanted + "\n")
    print(f"oracle: built in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
