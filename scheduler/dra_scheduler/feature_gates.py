"""Which of Kubernetes' feature gates are on: what `--feature-gates` says, else what the API server says of itself where
its metrics may be read, else the defaults of its version.

Gates have their Kubernetes names. Those that decide something here are in `OURS`, with their defaults in each minor
version; the others (known_gates.txt: every gate of Kubernetes 1.31 to 1.37) are accepted and change nothing, so that
the option can hold what the other components are given. A name that Kubernetes does not know is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

from dra_allocator.features import GATES, Features
from dra_scheduler.errors import SchedulerError

NEWEST_MINOR = 37
"""The Kubernetes 1.x whose defaults hold for newer servers too."""
_RULES_APART = 35
"""The Kubernetes 1.x that gave DeviceTaintRules a gate of their own."""
ALPHA, BETA, STABLE = "alpha", "beta", "stable"
_ALL = {"AllAlpha": ALPHA, "AllBeta": BETA}
_WORDS: Mapping[str, bool] = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
"""How Kubernetes' components take a gate's value, in whatever case."""

Since = tuple[int, str, bool]
"""From which minor version on a gate is at which stage, and whether it is on there by default."""

OURS: Mapping[str, tuple[Since, ...]] = MappingProxyType(
    {
        # On wherever the API is served, which up to 1.33 somebody has decided; without it there is nothing to do.
        "DynamicResourceAllocation": ((31, STABLE, True),),
        "DRAAdminAccess": ((32, ALPHA, False), (34, BETA, True), (36, STABLE, True)),
        "DRAConsumableCapacity": ((34, ALPHA, False), (36, BETA, True)),
        "DRADerivedAttributes": ((37, ALPHA, False),),
        "DRADeviceBindingConditions": ((34, ALPHA, False), (36, BETA, True)),
        "DRADeviceCompatibilityGroups": ((37, ALPHA, False),),
        # Before 1.35 there was one gate for both.
        "DRADeviceTaintRules": ((33, "", False), (35, ALPHA, False), (36, BETA, False), (37, STABLE, True)),
        "DRADeviceTaints": ((33, ALPHA, False), (36, BETA, True), (37, STABLE, True)),
        "DRAExtendedResource": ((34, ALPHA, False), (36, BETA, True), (37, STABLE, True)),
        # On only where --min-compatibility-version is 1.37, of which a scheduler learns nothing.
        "DRAFractionalCapacityRange": ((37, BETA, False),),
        "DRAListTypeAttributes": ((36, ALPHA, False),),
        "DRANodeAllocatableResources": ((36, ALPHA, False),),
        "DRAOptionalNodeOperations": ((37, ALPHA, False),),
        "DRAPartitionableDevices": ((33, ALPHA, False), (36, BETA, True)),
        "DRAPrioritizedList": ((33, ALPHA, False), (34, BETA, True), (36, STABLE, True)),
        "DRAResourceClaimDeviceStatus": ((32, ALPHA, False), (33, BETA, True), (37, STABLE, True)),
        "DRASchedulerFilterTimeout": ((34, BETA, True),),
        "DRAWorkloadResourceClaims": ((36, ALPHA, False), (37, BETA, False)),
        "GangScheduling": ((35, ALPHA, False),),
        "GenericWorkload": ((35, ALPHA, False), (37, BETA, False)),
        "NodeDeclaredFeatures": ((35, ALPHA, False), (36, BETA, True), (37, STABLE, True)),
    }
)

NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "DRADeviceBindingConditions": ("DRAResourceClaimDeviceStatus",),
        "DRADeviceCompatibilityGroups": ("DRAPartitionableDevices",),
        "DRADeviceTaintRules": ("DRADeviceTaints",),
        "DRAFractionalCapacityRange": ("DRAConsumableCapacity",),
        "DRAOptionalNodeOperations": ("NodeDeclaredFeatures",),
        "DRAWorkloadResourceClaims": ("GenericWorkload",),
        "GangScheduling": ("GenericWorkload",),
    }
)
"""What a gate needs besides DynamicResourceAllocation; without it the gate is off."""


class FeatureGateError(SchedulerError, ValueError):
    """Gates that were asked for and cannot be had. Whoever wrote the option mends it; the text says how."""


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """The gates in force; immutable once made."""

    values: Mapping[str, bool]
    """Every gate of `OURS`."""
    minor: int = NEWEST_MINOR
    """The Kubernetes 1.x that the gates are of."""

    @classmethod
    def of(cls, overrides: Mapping[str, bool], minor: int, server: Mapping[str, bool] | None = None) -> FeatureGates:
        """Return the gates of a Kubernetes 1.`minor` server, changed by `overrides`.

        They are what the `server` says; one that it does not know is off. None: it does not say, so the defaults of its
        version. A gate that the version does not have is off unless it is asked for: gates cannot be told from a
        version, and a server that drops a field is found out when it answers. Raises FeatureGateError as `check` does.
        """
        check(overrides)
        values = {}
        for name, history in OURS.items():
            stage, default = _at(history, min(minor, NEWEST_MINOR))
            if server is not None and name != "DynamicResourceAllocation":
                default = server.get(name, False)
            for group, member in _ALL.items():
                if stage == member:
                    default = overrides.get(group, default)
            values[name] = overrides.get(name, default)
        if minor < _RULES_APART and "DRADeviceTaintRules" not in overrides:
            values["DRADeviceTaintRules"] = values["DRADeviceTaints"]
        for name, wanted in NEEDS.items():
            values[name] = values[name] and all(values[gate] for gate in wanted)
        return cls(MappingProxyType(values), minor)

    @classmethod
    def having(cls, features: Features) -> FeatureGates:
        """Return the newest defaults, with the allocator's features as given."""
        given = {gate: bool(getattr(features, field)) for gate, field in GATES.items()}
        return cls(MappingProxyType({**cls.of({}, NEWEST_MINOR).values, **given}))

    def enabled(self, name: str) -> bool:
        """Whether a gate of `OURS` is on. Raises KeyError for any other name: that is a mistake in the program."""
        return self.values[name]

    def features(self) -> Features:
        """Return what of it concerns the allocator."""
        return Features.from_gates(self.values)


def check(overrides: Mapping[str, bool]) -> None:
    """Raise FeatureGateError for a name that Kubernetes does not know, and for gates that exclude each other."""
    for name in overrides:
        if name not in OURS and name not in _ALL and name not in known_names():
            raise FeatureGateError(f"unknown feature gate {name!r}{_hint(name)}")
    if not overrides.get("DynamicResourceAllocation", True):
        raise FeatureGateError("DynamicResourceAllocation=false leaves this scheduler nothing to do: do not run it")
    for name, wanted in NEEDS.items():
        missing = [gate for gate in wanted if not overrides.get(gate, True)]
        if overrides.get(name) and missing:
            raise FeatureGateError(f"{name}=true needs {missing[0]}=true, which is given as false")


@cache
def known_names() -> frozenset[str]:
    """Every gate of Kubernetes 1.31 to 1.37, as its components and libraries register them."""
    return frozenset(resources.files("dra_scheduler").joinpath("known_gates.txt").read_text().split())


def parse_gates(text: str) -> dict[str, bool]:
    """Read `A=true,B=false`, as kube-scheduler's option: also `kube:A=1`. Raises FeatureGateError."""
    gates: dict[str, bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.removeprefix("kube:").partition("=")
        on = _WORDS.get(value.strip().lower())
        if on is None:
            raise FeatureGateError(f"{part!r} is not GATE=true or GATE=false")
        gates[name.strip()] = on
    check(gates)
    return gates


def _at(history: Iterable[Since], minor: int) -> tuple[str, bool]:
    """Stage and default in a minor version; a gate that is not there yet has no stage and is off."""
    found = ("", False)
    for since, stage, default in history:
        if since <= minor:
            found = (stage, default)
    return found


def _hint(name: str) -> str:
    near = difflib.get_close_matches(name, known_names() | set(OURS), 1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; those that decide something here are {', '.join(sorted(OURS))}"
