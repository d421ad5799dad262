"""The same as `plugin_cases` for PodGroups and the claims that their pods share."""

from __future__ import annotations

_CLAIMS = "scheduler/gang/test_group_claims.py::"
_ONCE = _CLAIMS + "test_the_groups_claim_is_reserved_once_for_all_its_pods"
_EACH = _CLAIMS + "test_without_the_gate_each_pod_has_its_own_reservation"
_TEMPLATE = _CLAIMS + "test_a_claim_made_from_the_groups_template_is_reserved_for_the_group"
_WRONG_NODE = _CLAIMS + "test_a_claim_on_the_wrong_node_is_given_up_while_no_pod_of_the_group_has_one"
_GATE_OFF = _CLAIMS + "test_without_the_gate_a_group_reservation_is_somebody_elses"
_RUNNING = _CLAIMS + "test_a_claim_stays_while_a_pod_of_the_group_runs_with_it"
_OTHERS = _CLAIMS + "test_of_two_claims_on_the_wrong_node_the_one_that_others_use_stays"
_OWN = _CLAIMS + "test_a_pod_of_a_group_gives_up_its_own_claim_too"
_NOTHING = _CLAIMS + "test_what_a_group_gives_up_without_a_claim_is_nothing"

GROUPS_WHOLE_CYCLES: dict[str, str] = {
    "podgroup-claim-reference-feature-disabled-reserves-for-pod": _EACH,
    "podgroup-claim-reference": _ONCE,
    "podgroup-claim-template": _TEMPLATE,
    "podgroup-with-resources": _ONCE,
    "podgroup-with-resources-feature-disabled-reserves-for-pod": _EACH,
    "bind-podgroup-failure": _CLAIMS + "test_a_binding_that_fails_leaves_the_groups_reservation",
    "reserved-okay-podgroup": _ONCE,
    "postfilter-unreserve-podgroup": _WRONG_NODE,
    "postfilter-skip-unreserve-podgroup-feature-disabled": _GATE_OFF,
    "postfilter-deallocate-podgroup": _WRONG_NODE,
    "postfilter-skip-unreserve-podgroup-when-pods-active": _RUNNING,
    "postfilter-skip-unreserve-podgroup-other-claim-deallocated": _OTHERS,
    "postfilter-deallocate-reserved-podgroup": _WRONG_NODE,
    "postfilter-skip-deallocate-reserved-podgroup-feature-disabled": _GATE_OFF,
    "postfilter-deallocate-unreserved-podgroup": _WRONG_NODE,
    "postfilter-skip-deallocate-reserved-podgroup-when-pods-active": _RUNNING,
}

GROUPS: dict[str, dict[str, str]] = {
    "TestPodGroupPostFilter": {
        "disabled": "scheduler/core/test_feature_gates.py::"
        + "test_gates_that_cannot_be_had_are_refused_with_the_reason",
        "empty": _NOTHING,
        "deallocate-pod-level-claim": _OWN,
        "deallocate-podgroup-level-claim": _WRONG_NODE,
        "delete-pod-level-extended-claim": _CLAIMS
        + "test_a_pod_of_a_group_gives_up_the_special_claim_of_an_earlier_attempt",
        "unreserve-podgroup-claim": _CLAIMS + "test_a_group_without_room_lets_its_claim_go",
        "unreserve-podgroup-multiple-unscheduled-pods": _CLAIMS + "test_a_group_without_room_lets_its_claim_go",
        "mixed-pod-level-and-podgroup-claims": _OTHERS,
        "skip-deallocate-feature-disabled": _GATE_OFF,
        "skip-deallocate-topology-aware-podgroup": "A group with schedulingConstraints is held with that reason: "
        "nothing of it is tried, so nothing is given up.",
    },
}

GROUPS_ON_NODES: dict[str, dict[str, str]] = {
    "TestValidateNodeAllocatableDRAClaimSharing": {
        "mapped claim, reserved for same pod group, workload claims enabled - allowed since no pods on node": _CLAIMS
        + "test_a_mapped_claim_of_the_group_is_for_one_of_its_pods_at_a_time",
        "mapped claim, reserved for different pod group, workload claims enabled - exit early": _CLAIMS
        + "test_a_mapped_claim_of_the_group_is_for_one_of_its_pods_at_a_time",
    },
}
