import pytest

from dra_scheduler.cache.pod_info import HostPort, PodClaim, pod_info
from dra_scheduler.errors import UnreadableObjectError
from support.objects import make_pod


def test_claims_by_name_from_templates_and_not_yet_created_ones_are_told_apart() -> None:
    claims = [
        {"name": "a", "resourceClaimName": "shared"},
        {"name": "b", "resourceClaimTemplateName": "t"},
        {"name": "c", "resourceClaimTemplateName": "t"},
        {"name": "d", "resourceClaimTemplateName": "t"},
        {"name": "e"},
    ]
    pod = make_pod("p", claims=claims, statuses={"b": "p-b-x1", "c": None})
    assert pod_info(pod).claims == (
        PodClaim("a", "shared", from_template=False),
        PodClaim("b", "p-b-x1", from_template=True, template_name="t"),
        PodClaim("c", None, from_template=True, template_name="t"),
        PodClaim("d", None, True, 'pod "default/p": ResourceClaim not created yet', "t"),
        PodClaim(
            "e",
            None,
            from_template=False,
            problem='pod "default/p", spec.resourceClaim "e": none of the supported fields are set',
        ),
    )


def test_host_ports_of_containers_and_sidecars_count() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    sidecar = {
        "name": "s",
        "restartPolicy": "Always",
        "ports": [{"hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}],
    }
    init = {"name": "i", "ports": [{"hostPort": 99}]}
    pod = make_pod("p", containers=[{"name": "m", "ports": ports}], initContainers=[sidecar, init])
    assert pod_info(pod).ports == (HostPort("0.0.0.0", "TCP", 8080), HostPort("10.0.0.1", "UDP", 53))


@pytest.mark.parametrize(
    ("spec", "plugin", "text"),
    [
        (
            {"topologySpreadConstraints": [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
            "PodTopologySpread",
            "topologySpreadConstraints",
        ),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
            "VolumeBinding",
            "volumes of kind persistentVolumeClaim",
        ),
        ({"schedulingGroup": {"other": "g"}}, "GangScheduling", "schedulingGroup by other"),
        ({"workloadRef": {"name": "w"}}, "GangScheduling", "workloadRef"),
    ],
)
def test_what_is_required_and_not_evaluated_is_noted(spec: dict[str, object], plugin: str, text: str) -> None:
    (unsupported,) = pod_info(make_pod("p", **spec)).unsupported
    assert unsupported.plugin == plugin
    assert text in unsupported.text


def test_preferences_and_plain_volumes_are_supported() -> None:
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}
    pod = make_pod(
        "p",
        affinity={"podAntiAffinity": preferred, "nodeAffinity": preferred},
        topologySpreadConstraints=[{"whenUnsatisfiable": "ScheduleAnyway"}],
        volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}],
    )
    assert pod_info(pod).unsupported == ()


def test_a_pod_that_cannot_be_read_is_an_error_that_names_it() -> None:
    with pytest.raises(UnreadableObjectError, match="Pod default/p: QuantityError"):
        pod_info(make_pod("p", requests={"cpu": "many"}))


@pytest.mark.parametrize(
    ("asked", "granted", "actual", "infeasible", "counted"),
    [
        ("1", None, None, False, 1000),
        ("1", "1", "1", False, 1000),
        ("1", "2", "2", False, 2000),
        ("1", "1", "2", False, 2000),
        ("3", "2", "1", False, 3000),
        ("3", "2", "1", True, 2000),
        ("3", "2", None, True, 2000),
        ("3", None, None, True, 3000),
    ],
)
def test_a_pod_that_is_being_resized_counts_with_the_most_that_it_asks_for_or_has(
    asked: str, granted: str | None, actual: str | None, infeasible: bool, counted: int
) -> None:
    told: dict[str, object] = {"name": "main"}
    if granted is not None:
        told["allocatedResources"] = {"cpu": granted}
    if actual is not None:
        told["resources"] = {"requests": {"cpu": actual}}
    raw = make_pod("p", node="n0", requests={"cpu": asked, "example.com/x": "1"}, phase="Running")
    raw["status"] |= {"containerStatuses": [told]}
    if infeasible:
        raw["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    found = pod_info(raw)
    assert found.requests["cpu"] == found.scored_cpu == counted


@pytest.mark.parametrize(
    ("asked", "granted", "actual", "infeasible", "counted"),
    [
        ("1", None, None, False, 1250),
        ("1", "1250m", "1", False, 1250),
        ("1", "4250m", "4", False, 4250),
        ("1", "1250m", "4", False, 4250),
        ("8", "4250m", "4", False, 8250),
        ("8", "4250m", "4", True, 4250),
        ("8", None, None, True, 8250),
    ],
)
def test_a_pod_that_is_being_resized_as_a_whole_counts_with_the_most_that_it_asks_for_or_has(
    asked: str, granted: str | None, actual: str | None, infeasible: bool, counted: int
) -> None:
    level = {"requests": {"cpu": asked}}
    raw = make_pod("p", node="n0", requests={"cpu": "500m"}, phase="Running", resources=level, overhead={"cpu": "250m"})
    if granted is not None:
        # A kubelet counts the overhead in what it has granted, and not in what the pod has.
        raw["status"] |= {"allocatedResources": {"cpu": granted}, "resources": {"requests": {"cpu": actual}}}
    if infeasible:
        raw["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    found = pod_info(raw)
    assert found.requests["cpu"] == found.scored_cpu == counted
