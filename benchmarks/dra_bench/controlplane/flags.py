"""The command lines of the control plane's components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dra_bench.controlplane.errors import ConfigurationError
from dra_bench.controlplane.kubeconfig import User
from dra_bench.controlplane.ports import LOOPBACK

ETCD: Final = "etcd"
APISERVER: Final = "kube-apiserver"
CONTROLLER_MANAGER: Final = "kube-controller-manager"
SCHEDULER: Final = "kube-scheduler"
COMPONENTS: Final = (ETCD, APISERVER, CONTROLLER_MANAGER, SCHEDULER)
"""Every component, in the order in which they are started."""

DEFAULT_CONTROLLERS: Final = (
    "resourceclaim-controller",
    "device-taint-eviction-controller",
    "garbage-collector-controller",
    "namespace-controller",
)

NO_CONTROLLER_SERVES: Final = ("ServiceAccount", "TaintNodesByCondition")
"""Admission plugins that keep pods and nodes waiting for controllers or kubelets that do not run here."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Flags that decide how fast the control plane may go."""

    name: str
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Extra flags by component."""
    scheduler_client: Mapping[str, float] = field(default_factory=dict)
    """kube-scheduler's ``clientConnection``: ``qps`` (requests a second) and ``burst``."""

    def describe(self) -> str:
        """Return one line that states every flag, to be printed beside a figure."""
        parts = [f"{component} {' '.join(flags)}" for component, flags in self.flags.items()]
        if self.scheduler_client:
            parts.append(f"{SCHEDULER} " + " ".join(f"{k}={v:g}" for k, v in self.scheduler_client.items()))
        return f"{self.name}: {'; '.join(parts) if parts else 'the components’ own defaults'}"


DEFAULTS: Final = Profile("defaults")
"""What a cluster has unless somebody changes it: 20 to 50 requests a second for each component."""

THROUGHPUT: Final = Profile(
    "throughput",
    {
        ETCD: ("--unsafe-no-fsync",),
        APISERVER: (
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=3000",
            "--max-mutating-requests-inflight=1000",
        ),
        CONTROLLER_MANAGER: ("--kube-api-qps=2000", "--kube-api-burst=4000"),
    },
    {"qps": 5000, "burst": 5000},
)
"""Nothing throttles a client, so that what is measured is the scheduler."""


@dataclass(frozen=True, slots=True)
class Options:
    """What control plane to start; every field has a default that gives a plain Kubernetes without a scheduler."""

    profile: Profile = DEFAULTS
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """By Kubernetes' names, for every Kubernetes component."""
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    """API versions to serve or not, for instance ``{"resource.k8s.io/v1beta1": True}``."""
    controllers: tuple[str, ...] = DEFAULT_CONTROLLERS
    kube_scheduler: bool = False
    """Whether kube-scheduler runs, too."""
    scheduler_configuration: Mapping[str, Any] = field(default_factory=dict)
    """Top-level fields of kube-scheduler's KubeSchedulerConfiguration that replace ours."""
    extra_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """More flags by component; they come last and so win."""
    extra_users: tuple[User, ...] = ()
    manifests: tuple[Path, ...] = ()
    """Files applied as admin before the control plane counts as started."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.extra_flags) - set(COMPONENTS))
        if unknown:
            raise ConfigurationError(f"extra_flags: no component {unknown[0]!r}; there are {', '.join(COMPONENTS)}")

    def components(self) -> tuple[str, ...]:
        """Return the names of the components to run, in starting order."""
        return COMPONENTS if self.kube_scheduler else COMPONENTS[:-1]


@dataclass(frozen=True, slots=True)
class Ports:
    """The loopback port of each server."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie in a control plane's own folder."""

    folder: Path

    @property
    def tokens(self) -> Path:
        """The API server's token file."""
        return self.folder / "tokens.csv"

    @property
    def signing_key(self) -> Path:
        """The private key that signs ServiceAccount tokens, PEM."""
        return self.folder / "service-account.key"

    @property
    def scheduler_configuration(self) -> Path:
        """kube-scheduler's configuration file."""
        return self.folder / "kube-scheduler.json"

    def certificate(self, component: str) -> Path:
        """The PEM file that a component's own certificate is checked against, written by it at its first start."""
        name = "apiserver.crt" if component == APISERVER else f"{component}.crt"
        return self.state(component) / name

    def state(self, component: str) -> Path:
        """The folder that a component keeps its data or its certificate in."""
        return self.folder / component

    def log(self, component: str) -> Path:
        """The file that a component logs to."""
        return self.folder / "logs" / f"{component}.log"

    def kubeconfig(self, key: str) -> Path:
        """The kubeconfig of the user ``key``."""
        return self.folder / f"{key}.kubeconfig"


def component_flags(component: str, options: Options, ports: Ports, layout: Layout) -> list[str]:
    """Return the flags of one component: ours, then the profile's, then the caller's."""
    base = {
        ETCD: _etcd,
        APISERVER: _apiserver,
        CONTROLLER_MANAGER: _controller_manager,
        SCHEDULER: _scheduler,
    }[component](options, ports, layout)
    if component != ETCD and options.feature_gates:
        base.append(f"--feature-gates={_pairs(options.feature_gates)}")
    return [*base, *options.profile.flags.get(component, ()), *options.extra_flags.get(component, ())]


def _etcd(options: Options, ports: Ports, layout: Layout) -> list[str]:
    client, peer = f"http://{LOOPBACK}:{ports.etcd}", f"http://{LOOPBACK}:{ports.etcd_peer}"
    return [
        f"--data-dir={layout.state(ETCD)}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=warn",
    ]


def _apiserver(options: Options, ports: Ports, layout: Layout) -> list[str]:
    flags = [
        f"--etcd-servers=http://{LOOPBACK}:{ports.etcd}",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={ports.apiserver}",
        f"--cert-dir={layout.state(APISERVER)}",
        "--endpoint-reconciler-type=none",  # it refuses to publish a loopback address
        "--authorization-mode=RBAC",
        "--anonymous-auth=false",
        f"--token-auth-file={layout.tokens}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={layout.signing_key}",
        f"--service-account-key-file={layout.signing_key}",
        f"--disable-admission-plugins={','.join(NO_CONTROLLER_SERVES)}",
    ]
    if options.runtime_config:
        flags.append(f"--runtime-config={_pairs(options.runtime_config)}")
    return flags


def _controller_manager(options: Options, ports: Ports, layout: Layout) -> list[str]:
    return [
        f"--kubeconfig={layout.kubeconfig(CONTROLLER_MANAGER)}",
        f"--controllers={','.join(options.controllers)}",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.controller_manager}",
        f"--cert-dir={layout.state(CONTROLLER_MANAGER)}",
    ]


def _scheduler(options: Options, ports: Ports, layout: Layout) -> list[str]:
    kubeconfig = layout.kubeconfig(SCHEDULER)
    return [
        f"--config={layout.scheduler_configuration}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.scheduler}",
        f"--cert-dir={layout.state(SCHEDULER)}",
    ]


def scheduler_configuration(options: Options, layout: Layout) -> dict[str, Any]:
    """Return kube-scheduler's configuration: no leader election (it is alone), the profile's client limits."""
    client = {"kubeconfig": str(layout.kubeconfig(SCHEDULER)), **options.profile.scheduler_client}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": client,
        "leaderElection": {"leaderElect": False},
        **options.scheduler_configuration,
    }


def _pairs(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in values.items())
