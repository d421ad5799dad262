"""Build the control plane that the cluster tests and the benchmarks run: etcd, three Kubernetes servers and kubectl.

Run it with ``make controlplane``. The sources come from the Go module proxy, pinned by go.mod and go.sum beside this
file. Needs Go and nothing else: this file imports the standard library only. It does nothing when the binaries that
are there were built from the same pins.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

MODULE = Path(__file__).resolve().parent
sys.path.insert(0, str(MODULE.parents[1] / "benchmarks"))

from dra_bench.controlplane.binaries import (  # noqa: E402  (the source root is not installed when this runs)
    BINARIES,
    KUBERNETES_VERSION,
    LOCATION_VARIABLE,
    binary_folder,
    missing_binaries,
)

PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
STAMP = ".built-from"
HEARTBEAT_SECONDS = 30.0


class BuildError(Exception):
    """The build cannot go on; the text says why and what to do. It becomes exit code 1."""


def fingerprint(module: Path = MODULE) -> str:
    """Return a digest of everything that decides what the binaries are."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((module / name).read_bytes())
    digest.update(linker_flags().encode())
    return digest.hexdigest()


def linker_flags() -> str:
    """Return the flags that strip the binaries and tell them their version."""
    major, minor, _ = KUBERNETES_VERSION.split(".")
    variable = "k8s.io/component-base/version"
    values = {"gitVersion": f"v{KUBERNETES_VERSION}", "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s", "-w", *(f"-X {variable}.{name}={value}" for name, value in values.items())])


def required_go(module: Path = MODULE) -> tuple[int, ...]:
    """Return the Go version that go.mod asks for."""
    found = re.search(r"^go (\d+(?:\.\d+)+)$", (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise BuildError(f"{module / 'go.mod'} has no `go` line")
    return version_of(found.group(1))


def pinned_version(module: Path = MODULE) -> str:
    """Return the Kubernetes version that go.mod pins, without the leading ``v``."""
    found = re.search(r"^\tk8s\.io/kubernetes v(\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise BuildError(f"{module / 'go.mod'} does not require k8s.io/kubernetes")
    return found.group(1)


def version_of(text: str) -> tuple[int, ...]:
    """Return the numbers of a version such as ``1.26.8``, ``go1.26.8`` or ``go1.27rc1``, padded to three."""
    numbers = [int(part) for part in re.findall(r"\d+", text.split("rc", maxsplit=1)[0])[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


def find_go(required: tuple[int, ...]) -> str:
    """Return the path of a Go tool chain that is new enough, or raise BuildError."""
    wanted = ".".join(map(str, required))
    go = shutil.which("go")
    if go is None:
        raise BuildError(f"Go is not installed (no `go` in PATH): install Go {wanted} or newer from https://go.dev/dl")
    answer = subprocess.run([go, "env", "GOVERSION"], cwd="/", capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise BuildError(f"`{go} env GOVERSION` failed: {answer.stderr.strip()}")
    if version_of(answer.stdout) < required:
        raise BuildError(f"{go} is {answer.stdout.strip()}, too old: install Go {wanted} or newer")
    return go


def is_current(folder: Path, wanted: str) -> bool:
    """Return whether ``folder`` holds every binary, built from the same pins.

    Raises BuildError when it holds binaries that this program has not built: they are not overwritten.
    """
    stamp = folder / STAMP
    if stamp.is_file():
        return stamp.read_text().strip() == wanted and not missing_binaries(folder)
    foreign = [name for name in BINARIES if (folder / name).exists()]
    if foreign:
        raise BuildError(
            f"{folder} holds {', '.join(foreign)} not built by this program; they are left alone. "
            f"Move them away, or unset {LOCATION_VARIABLE} to build into the default folder"
        )
    return False


def build_one(go: str, name: str, folder: Path) -> float:
    """Build one binary, saying every half a minute that it is still at it; return the seconds it took."""
    partial = folder / f".{name}.partial"
    command = [go, "build", "-mod=readonly", "-ldflags", linker_flags(), "-o", str(partial), PACKAGES[name]]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    started = time.monotonic()
    done = threading.Event()

    def heartbeat() -> None:
        while not done.wait(HEARTBEAT_SECONDS):
            say(f"  {name}: still building, {time.monotonic() - started:.0f} s")

    beat = threading.Thread(target=heartbeat, daemon=True)
    beat.start()
    try:
        result = subprocess.run(command, cwd=MODULE, env=environment, check=False)
    finally:
        done.set()
        beat.join()
    if result.returncode != 0:
        raise BuildError(f"building {name} failed with exit code {result.returncode}; the compiler's output is above")
    partial.replace(folder / name)
    return time.monotonic() - started


def build_all(folder: Path) -> None:
    """Build every binary into ``folder`` and leave the stamp, unless they are there already."""
    wanted = fingerprint()
    if is_current(folder, wanted):
        say(f"control plane {KUBERNETES_VERSION}: up to date in {folder}")
        return
    if pinned_version() != KUBERNETES_VERSION:
        raise BuildError(f"go.mod pins Kubernetes {pinned_version()}, the code {KUBERNETES_VERSION}: change both")
    go = find_go(required_go())
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / STAMP
    stamp.write_text("incomplete\n")
    say(f"control plane {KUBERNETES_VERSION}: building into {folder}; the first time takes 5 to 13 minutes")
    started = time.monotonic()
    for number, name in enumerate(BINARIES, start=1):
        say(f"[{number}/{len(BINARIES)}] {name} ...")
        seconds = build_one(go, name, folder)
        size = (folder / name).stat().st_size / 1e6
        say(f"[{number}/{len(BINARIES)}] {name}: {size:.0f} MB in {seconds:.0f} s")
    stamp.write_text(wanted + "\n")
    say(f"control plane {KUBERNETES_VERSION}: built in {time.monotonic() - started:.0f} s")


def say(line: str) -> None:
    """Print a line of progress at once, also into a pipe."""
    print(line, flush=True)


def main() -> int:
    """Build, and turn a BuildError into a line on stderr and exit code 1."""
    try:
        build_all(binary_folder())
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
