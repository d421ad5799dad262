from __future__ import annotations

from pathlib import Path

import pytest

from dra_bench.controlplane.errors import ConfigurationError
from dra_bench.controlplane.flags import (
    APISERVER,
    COMPONENTS,
    CONTROLLER_MANAGER,
    DEFAULTS,
    ETCD,
    SCHEDULER,
    THROUGHPUT,
    Layout,
    Options,
    Ports,
    component_flags,
    scheduler_configuration,
)

PORTS = Ports(etcd=1, etcd_peer=2, apiserver=3, controller_manager=4, scheduler=5)
LAYOUT = Layout(Path("/folder"))


def flags(component: str, options: Options | None = None) -> list[str]:
    return component_flags(component, options or Options(), PORTS, LAYOUT)


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("profile", [DEFAULTS, THROUGHPUT])
def test_every_server_listens_on_loopback_only(component: str, profile: object) -> None:
    given = flags(component, Options(profile=profile))  # type: ignore[arg-type]
    addresses = [flag for flag in given if "address=" in flag or "urls=" in flag]
    assert addresses
    assert all("127.0.0.1" in flag for flag in addresses)


def test_the_api_server_authorises_by_rbac_and_knows_tokens_only() -> None:
    given = flags(APISERVER)
    assert "--authorization-mode=RBAC" in given
    assert "--anonymous-auth=false" in given
    assert "--token-auth-file=/folder/tokens.csv" in given
    assert "--secure-port=3" in given
    assert "--etcd-servers=http://127.0.0.1:1" in given


def test_defaults_change_no_speed_and_throughput_lifts_every_limit() -> None:
    for component in COMPONENTS:
        assert set(flags(component, Options(profile=THROUGHPUT))) - set(flags(component)) == set(
            THROUGHPUT.flags.get(component, ())
        )
    assert "--unsafe-no-fsync" in flags(ETCD, Options(profile=THROUGHPUT))
    assert "--kube-api-qps=2000" in flags(CONTROLLER_MANAGER, Options(profile=THROUGHPUT))
    assert "--enable-priority-and-fairness=false" in flags(APISERVER, Options(profile=THROUGHPUT))


def test_a_profile_says_all_that_it_changes_in_one_line() -> None:
    line = THROUGHPUT.describe()
    assert line.startswith("throughput: ")
    assert "\n" not in line
    for flag in sum(THROUGHPUT.flags.values(), ()):
        assert flag in line
    assert "qps=5000 burst=5000" in line
    assert DEFAULTS.describe() == "defaults: the components’ own defaults"


def test_feature_gates_go_to_every_kubernetes_component_and_not_to_etcd() -> None:
    options = Options(feature_gates={"DRADeviceTaints": True, "DRAExtendedResource": False})
    for component in COMPONENTS:
        found = "--feature-gates=DRADeviceTaints=true,DRAExtendedResource=false" in flags(component, options)
        assert found == (component != ETCD)


def test_api_versions_are_switched_in_the_api_server_only() -> None:
    options = Options(runtime_config={"resource.k8s.io/v1beta1": True, "resource.k8s.io/v1": False})
    for component in COMPONENTS:
        found = "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1=false" in flags(component, options)
        assert found == (component == APISERVER)


def test_extra_flags_come_last() -> None:
    options = Options(profile=THROUGHPUT, extra_flags={APISERVER: ("--max-requests-inflight=1",)})
    assert flags(APISERVER, options)[-1] == "--max-requests-inflight=1"


def test_extra_flags_for_an_unknown_component_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="extra_flags: no component 'kubelet'"):
        Options(extra_flags={"kubelet": ("--v=4",)})


def test_controllers_are_the_ones_asked_for() -> None:
    assert "--controllers=job-controller" in flags(CONTROLLER_MANAGER, Options(controllers=("job-controller",)))


def test_kube_scheduler_runs_only_when_asked_for() -> None:
    assert SCHEDULER not in Options().components()
    assert Options(kube_scheduler=True).components() == COMPONENTS


def test_kube_scheduler_takes_its_limits_from_the_profile_and_fields_from_the_caller() -> None:
    plain = scheduler_configuration(Options(), LAYOUT)
    assert plain["clientConnection"] == {"kubeconfig": "/folder/kube-scheduler.kubeconfig"}
    assert plain["leaderElection"] == {"leaderElect": False}
    changed = scheduler_configuration(
        Options(
            profile=THROUGHPUT, scheduler_configuration={"parallelism": 2, "leaderElection": {"leaderElect": True}}
        ),
        LAYOUT,
    )
    assert changed["clientConnection"]["qps"] == 5000
    assert changed["parallelism"] == 2
    assert changed["leaderElection"] == {"leaderElect": True}
