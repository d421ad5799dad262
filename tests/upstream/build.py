"""Build Kubernetes' own tests of Dynamic Resource Allocation so that they can run another scheduler.

Run it with ``make upstream`` (``--performance``: the workloads of scheduler_perf as well). The sources come from the Go
module proxy, pinned by go.mod and go.sum beside this file, and are copied to a folder that Git ignores; external.go is
put into the copy, and one function of it is made to start ``$EXTERNAL_SCHEDULER`` where that is set. Needs Go and
nothing else: this file imports the standard library only. It does nothing when what is there was built from the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

MODULE = Path(__file__).resolve().parent
sys.path.insert(0, str(MODULE.parents[1] / "benchmarks"))

from dra_bench.controlplane.binaries import KUBERNETES_VERSION  # noqa: E402  (nothing is installed when this runs)
from dra_bench.upstream.places import (  # noqa: E402
    PERFORMANCE,
    SUITES,
    performance_program,
    suite_program,
    upstream_folder,
)

SOURCES = ("go.mod", "go.sum", "tools.go", "external.go")
STAMP = ".built-from"
SOURCE_STAMP = ".copied-from"
UTIL = Path("test/integration/util")
HERE = "func StartSchedulerWithDone("
BEFORE = "\tevtBroadcaster := events.NewBroadcaster(&events.EventSinkImpl{\n"
HOOK = (
    '\tif command := os.Getenv("EXTERNAL_SCHEDULER"); command != "" {\n'
    "\t\treturn nil, informerFactory, startExternalScheduler(tCtx, command, cfg, informerFactory)\n\t}\n"
)


def controlplane_build() -> ModuleType:
    """Return the module that builds the control plane: it knows how to find a Go tool chain."""
    path = MODULE.parent / "controlplane" / "build.py"
    spec = importlib.util.spec_from_file_location("controlplane_build", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is missing: the checkout is incomplete")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOLS = controlplane_build()


def fingerprint(module: Path = MODULE) -> str:
    """Return a digest of everything that decides what the programs are."""
    digest = hashlib.sha256(f"{HOOK}{BEFORE}{KUBERNETES_VERSION}".encode())
    for name in SOURCES:
        digest.update(name.encode() + b"\0" + (module / name).read_bytes())
    return digest.hexdigest()


def hooked(source: str) -> str:
    """Return util.go with the hook where the scheduler is started; raises BuildError if that place is not there."""
    head, found, tail = source.partition(HERE)
    body, mark, rest = tail.partition(BEFORE)
    if not found or not mark or "import (\n" not in head:
        raise TOOLS.BuildError(f"{UTIL}/util.go has changed: the place for the hook is not there")
    if '\n\t"os"\n' not in head:
        head = head.replace("import (\n", 'import (\n\t"os"\n', 1)
    return head + found + body + HOOK + mark + rest


def module_source(go: str) -> Path:
    """Return the folder of Kubernetes' sources in the module cache, downloaded if need be."""
    command = [go, "mod", "download", "-json", f"k8s.io/kubernetes@v{KUBERNETES_VERSION}"]
    answer = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise TOOLS.BuildError(f"the sources cannot be had: {answer.stdout.strip()} {answer.stderr.strip()}")
    return Path(json.loads(answer.stdout)["Dir"])


def copy_source(source: Path, target: Path) -> None:
    """Copy the sources, writable: the module cache is not, and Go takes nothing in it from elsewhere."""
    stamp = target / SOURCE_STAMP
    if stamp.is_file() and stamp.read_text().strip() == KUBERNETES_VERSION:
        return
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target)
    for folder, _, names in os.walk(target):
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    stamp.write_text(KUBERNETES_VERSION + "\n")


def prepare(go: str, folder: Path) -> None:
    """Make the folder a Go module with our part in it."""
    source = module_source(go)
    copy_source(source, folder / "kubernetes")
    shutil.copy(MODULE / "external.go", folder / "kubernetes" / UTIL / "external.go")
    (folder / "kubernetes" / UTIL / "util.go").write_text(hooked((source / UTIL / "util.go").read_text()))
    for name in ("go.mod", "go.sum", "tools.go"):
        shutil.copy(MODULE / name, folder / name)


def targets(performance: bool) -> dict[Path, str]:
    """Return the programs to build, with the package of each."""
    tests = "k8s.io/kubernetes/test/integration"
    found = {suite_program(suite): f"{tests}/dra/{suite}" for suite in SUITES}
    if performance:
        found |= {performance_program(package): f"{tests}/scheduler_perf/{package}" for package in PERFORMANCE}
    return found


def build_one(go: str, package: str, target: Path) -> None:
    """Build one test program; raises BuildError, the compiler's output is on stderr."""
    partial = target.with_name(f".{target.name}.partial")
    command = [go, "test", "-c", "-vet=off", "-ldflags", "-s -w", "-o", str(partial), package]
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
    if subprocess.run(command, cwd=target.parent, env=environment, check=False).returncode != 0:
        raise TOOLS.BuildError(f"building {package} failed; the compiler's output is above")
    partial.replace(target)


def build_all(performance: bool) -> None:
    """Build every program that is not there yet."""
    folder, wanted = upstream_folder(), fingerprint()
    stamp, programs = folder / STAMP, targets(performance)
    if stamp.is_file() and stamp.read_text().strip() == wanted and all(path.is_file() for path in programs):
        TOOLS.say(f"upstream {KUBERNETES_VERSION}: up to date in {folder}")
        return
    go = TOOLS.find_go(TOOLS.required_go(MODULE))
    folder.mkdir(parents=True, exist_ok=True)
    TOOLS.say(f"upstream {KUBERNETES_VERSION}: building into {folder}; the first time takes 3 to 10 minutes")
    started = time.monotonic()
    if not stamp.is_file() or stamp.read_text().strip() != wanted:
        stamp.unlink(missing_ok=True)
        for path in targets(True):
            path.unlink(missing_ok=True)
        prepare(go, folder)
        stamp.write_text(wanted + "\n")
    for number, (target, package) in enumerate(programs.items(), start=1):
        if not target.is_file():
            TOOLS.say(f"[{number}/{len(programs)}] {package} ...")
            build_one(go, package, target)
    TOOLS.say(f"upstream {KUBERNETES_VERSION}: built in {time.monotonic() - started:.0f} s")


def main() -> int:
    """Build, and turn a BuildError into a line on stderr and exit code 1."""
    try:
        build_all("--performance" in sys.argv[1:])
    except TOOLS.BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
