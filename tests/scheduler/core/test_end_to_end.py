"""Whole stories in virtual time: embedded API server, claim controller, kubelets, and our scheduler."""

from support.stage import Raw, Stage, claim, device_class, node, on_stage, pod, resource_slice, template


def test_a_pod_with_a_claim_from_a_template_gets_its_device_and_runs() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(node("n0"), device_class(), resource_slice("n0", 1), template(), pod("p", template="gpu"))
        await stage.settle()
        bound = await stage.pod("p")
        assert bound["spec"]["nodeName"] == "n0"
        assert bound["status"]["phase"] == "Running"
        (made,) = (await stage.claims()).values()
        (result,) = made["status"]["allocation"]["devices"]["results"]
        assert (result["pool"], result["device"]) == ("n0", "gpu-0-0")
        assert [entry["uid"] for entry in made["status"]["reservedFor"]] == [bound["metadata"]["uid"]]
        (event,) = await stage.events("Scheduled")
        assert event["note"] == "Successfully assigned default/p to n0"

    on_stage(play)


HELPLESS = "preemption: 0/{n} nodes are available: {n} Preemption is not helpful for scheduling."


def cluster(nodes: int, devices: int) -> list[Raw]:
    names = [f"n{i}" for i in range(nodes)]
    return [*map(node, names), device_class(), template(), *(resource_slice(name, devices) for name in names)]


def test_a_pod_without_claims_goes_to_the_least_allocated_node() -> None:
    async def play(stage: Stage) -> dict[str, str]:
        await stage.create(node("n0"), node("n1"), pod("big", cpu="4", nodeSelector={"kubernetes.io/hostname": "n0"}))
        await stage.settle()
        await stage.create(pod("p"))
        await stage.settle()
        return await stage.nodes_of_pods()

    assert on_stage(play) == {"big": "n0", "p": "n1"}


def test_who_finds_no_device_waits_with_kube_schedulers_words_and_gets_one_that_becomes_free() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(2, 1), *(pod(f"p{i}", template="gpu") for i in range(3)))
        await stage.settle()
        where = await stage.nodes_of_pods()
        (waiting,) = [name for name, at in where.items() if not at]
        status, reason, message = await stage.condition(waiting)
        assert (status, reason) == ("False", "Unschedulable")
        assert message == f"0/2 nodes are available: 2 cannot allocate all claims. {HELPLESS.format(n=2)}"
        (shown,) = stage.scheduler.pending() if stage.scheduler else []
        assert (shown.name, shown.reason) == (waiting, message)
        assert "in use" in shown.explanation
        (event,) = await stage.events("FailedScheduling")
        assert event["note"].endswith(message)
        assert event["regarding"]["name"] == waiting
        bound = next(name for name, at in where.items() if at)
        await stage.delete(pod(bound))
        await stage.settle()
        assert (await stage.nodes_of_pods())[waiting] == where[bound]
        assert (await stage.condition(waiting))[0] == "True"

    on_stage(play)


def test_several_pods_share_one_claim_on_its_node() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(3, 2), claim("shared"), *(pod(f"p{i}", claim="shared") for i in range(4)))
        await stage.settle()
        nodes = set((await stage.nodes_of_pods()).values())
        assert len(nodes) == 1
        assert nodes != {""}
        shared = (await stage.claims())["shared"]
        assert len(shared["status"]["reservedFor"]) == 4
        assert len(shared["status"]["allocation"]["devices"]["results"]) == 1

    on_stage(play)


def test_a_claim_that_appears_later_is_waited_for_without_an_attempt() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(1, 1), pod("p", claim="late"))
        await stage.settle(30)
        (shown,) = stage.scheduler.pending() if stage.scheduler else []
        assert shown.reason == 'could not find ResourceClaim "default/late"'
        assert await stage.condition("p") == ("", "", "")
        await stage.create(claim("late"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_an_unknown_class_is_named_and_the_pod_moves_when_it_is_created() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(1, 1), claim("c", of="later"), pod("p", claim="c"))
        await stage.settle()
        expected = f"0/1 nodes are available: request gpu: device class later does not exist. {HELPLESS.format(n=1)}"
        assert await stage.condition("p") == ("False", "Unschedulable", expected)
        await stage.create(device_class("later"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_nothing_of_a_pool_is_used_until_all_its_slices_are_there() -> None:
    async def play(stage: Stage) -> None:
        first = resource_slice("n0", 2, slices=2)
        second = resource_slice("n0", 2, slices=2, number=1)
        await stage.create(node("n0"), device_class(), template(), first, pod("p", template="gpu"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.create(second)
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_a_cluster_without_nodes_says_so_and_a_new_node_helps() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(pod("p"))
        await stage.settle()
        assert await stage.condition("p") == ("False", "Unschedulable", "no nodes available to schedule pods")
        await stage.create(node("n0"))
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_every_nodes_first_reason_is_counted() -> None:
    tainted = node("tainted")
    tainted["spec"] = {"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]}
    cordoned = node("cordoned")
    cordoned["spec"] = {"unschedulable": True}
    small = node("small", cpu="1", memory="1Gi")
    full = node("full", pods="1")

    async def play(stage: Stage) -> None:
        await stage.create(tainted, cordoned, small, full)
        await stage.create(pod("filler", nodeSelector={"kubernetes.io/hostname": "full"}))
        await stage.settle()
        await stage.create(pod("p", cpu="2", affinity=NOT_HERE))
        await stage.settle()
        assert (await stage.condition("p"))[2] == (
            "0/4 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s), "
            "1 node(s) were unschedulable. preemption: 0/4 nodes are available: 1 No preemption victims found for "
            "incoming pod, 3 Preemption is not helpful for scheduling."
        )

    on_stage(play)


NOT_HERE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["nowhere"]}]}
            ]
        }
    }
}


def test_a_pod_put_on_a_node_by_hand_gets_its_claims_there() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(3, 1), pod("p", template="gpu", nodeName="n2"))
        await stage.settle()
        placed = await stage.pod("p")
        assert placed["status"]["phase"] == "Running"
        (made,) = (await stage.claims()).values()
        assert made["status"]["allocation"]["devices"]["results"][0]["pool"] == "n2"
        assert [entry["uid"] for entry in made["status"]["reservedFor"]] == [placed["metadata"]["uid"]]

    on_stage(play)


def test_pods_of_other_schedulers_are_left_alone_but_count() -> None:
    async def play(stage: Stage) -> dict[str, str]:
        await stage.create(
            node("n0", cpu="2"), pod("theirs", cpu="2", schedulerName="default-scheduler", nodeName="n0")
        )
        await stage.create(pod("pending", schedulerName="default-scheduler"), pod("ours", cpu="1"))
        await stage.settle()
        return await stage.nodes_of_pods()

    assert on_stage(play) == {"theirs": "n0", "pending": "", "ours": ""}


def test_scheduling_gates_are_respected_until_they_are_removed() -> None:
    async def play(stage: Stage) -> None:
        gated = pod("p", schedulingGates=[{"name": "example.com/quota"}])
        await stage.create(node("n0"), gated)
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == ""
        await stage.patch(gated, {"spec": {"schedulingGates": None}})
        await stage.settle()
        assert (await stage.nodes_of_pods())["p"] == "n0"

    on_stage(play)


def test_an_allocation_that_fits_no_node_any_more_is_given_up_if_nobody_uses_it() -> None:
    async def play(stage: Stage) -> None:
        await stage.create(*cluster(2, 1), claim("c"), pod("first", claim="c"))
        await stage.settle()
        at = (await stage.nodes_of_pods())["first"]
        await stage.stop()
        # Without this finalizer the claim controller leaves the allocation as it is.
        await stage.patch(claim("c"), {"metadata": {"finalizers": None}})
        await stage.delete(pod("first"))
        await stage.cluster.settle()
        status = (await stage.claims())["c"]["status"]
        assert status["allocation"]
        assert not status.get("reservedFor")
        other = "n1" if at == "n0" else "n0"
        await stage.create(pod("second", claim="c", nodeSelector={"kubernetes.io/hostname": other}))
        await stage.start()
        await stage.settle()
        assert (await stage.nodes_of_pods())["second"] == other

    on_stage(play)


def test_an_unsupported_requirement_is_refused_by_name() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]

    async def play(stage: Stage) -> None:
        await stage.create(node("n0"), pod("p", volumes=volumes))
        await stage.settle()
        status, _, message = await stage.condition("p")
        assert status == "False"
        assert "volumes of kind persistentVolumeClaim are not supported by this scheduler" in message

    on_stage(play)
