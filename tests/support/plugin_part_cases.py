"""The same as `plugin_cases` for the plugin's tests of single functions, by Kubernetes' test and case."""

from __future__ import annotations

from support.plugin_cases import BEHAVIOURS, CLAIM_STORE, EXTENDED, LISTS, NODE_RESOURCES

_CORE = "scheduler/core/"
_HINTS = f"{_CORE}test_hints.py::"
_QUEUE = f"{_CORE}test_queue.py::"
_SPECIAL = f"{_CORE}test_special_claim.py::"
_ROWS = "bench/test_conformance.py::test_kubernetes_cases_come_out_as_expected"

_CLAIM_HINT = _HINTS + "test_a_change_of_the_pods_claim_helps_if_its_status_changed_and_its_claims_can_be_used"
_OTHER_CLAIM = _QUEUE + "test_a_change_of_another_claim_moves_only_if_it_freed_devices"
_POD_CHANGED = _QUEUE + "test_our_own_condition_does_not_move_a_pod_but_a_changed_spec_does"
_CLAIM_APPEARS = _QUEUE + "test_a_pod_that_waits_for_its_claim_moves_when_the_claim_appears"
_TYPED = "Events have the type that their reflector reads: there is no object of a wrong one."
_RELISTED = (
    "A missed deletion is found by comparing a new list with what is known, which is then deleted with what it held: "
    "there is no unknown state."
)
_ONE_ALLOCATOR = "There is one allocator for all gates; each gate's effect is in the conformance cases."
_FREED = CLAIM_STORE + "test_deallocation_and_deletion_free_the_devices"
_FORGET = CLAIM_STORE + "test_devices_stay_taken_until_the_last_of_several_pods_forgets"
_SKIPS = BEHAVIOURS + "test_an_allocation_that_skips_node_operations_needs_a_node_that_can"
_SKIPS_NOTHING = BEHAVIOURS + "test_an_allocation_that_skips_nothing_can_be_used_everywhere"
_JOINS = BEHAVIOURS + "test_a_decided_allocation_that_skips_node_operations_keeps_joining_pods_off_nodes_that_cannot"
_LEVEL = NODE_RESOURCES + "test_the_pod_level_has_to_cover_containers_and_devices"
_LEVEL_OVERHEAD = NODE_RESOURCES + "test_overhead_counts_on_the_pod_level_once_per_pod_and_once_per_container"
_LACKING = NODE_RESOURCES + "test_what_is_missing_is_named_and_whether_other_pods_have_it"
_MAPPED_ONCE = NODE_RESOURCES + "test_a_claim_with_a_mapped_device_is_for_one_pod_only"
_AT_ONCE = NODE_RESOURCES + "test_two_pods_at_once_do_not_share_a_mapped_device_either"
_OVERHEAD_SHARED = NODE_RESOURCES + "test_overhead_alone_is_counted_for_each_pod_that_shares"
_NO_ENTRIES = NODE_RESOURCES + "test_devices_without_node_resources_have_no_entries"
_PER_DEVICE = NODE_RESOURCES + "test_a_device_stands_for_so_much_of_each_resource"
_BY_CAPACITY = NODE_RESOURCES + "test_what_is_consumed_of_a_capacity_is_multiplied"
_SORTED = NODE_RESOURCES + "test_entries_are_sorted_by_claim_and_name_the_containers_that_use_it_init_containers_first"
_UNUSED = NODE_RESOURCES + "test_a_claim_that_no_container_uses_counts_all_the_same"
_ADDED = NODE_RESOURCES + "test_several_devices_of_a_claim_add_up"
_TOLD = NODE_RESOURCES + "test_what_the_devices_take_is_in_the_status_and_counts_on_the_node"
_LEDGER = "allocator/test_ledger.py::"
_SHARES = _LEDGER + "test_a_claim_may_hold_several_shares_of_a_device"
_GATE_ONLY = (
    "With the gate off the server drops shares from claims, and a share is a share: the allocator never gives a device "
    "away whole of which a share is held (allocator/test_ledger.py)."
)
_TABLE = "allocator/test_table.py::"

HINTS: dict[str, dict[str, str]] = {
    "TestIsSchedulableAfterClaimChange": {
        "skip-deletes": _OTHER_CLAIM,
        "backoff-wrong-new-object": _TYPED,
        "backoff-wrong-old-object": _TYPED,
        "skip-wrong-claim": _CLAIM_HINT,
        "skip-unrelated-claim": _OTHER_CLAIM,
        "queue-on-add": _CLAIM_APPEARS,
        "skip-adding-finalizer": _CLAIM_HINT,
        "queue-on-status-change": _CLAIM_HINT,
        "claim-deallocate": _OTHER_CLAIM,
        "queue-on-delete-with-allocation": _FREED,
        "queue-on-delete-final-state-unknown": _RELISTED,
        "queue-on-delete-final-state-unknown-with-object": _RELISTED,
        "queue-on-delete-final-state-unknown-without-object": _RELISTED,
    },
    "TestIsSchedulableAfterPodChange": {
        "backoff-wrong-new-object": _TYPED,
        "complete": _CLAIM_APPEARS,
        "wrong-pod": "An event of a pod moves that pod only: the queue is asked by uid.",
        "missing-claim": _CLAIM_APPEARS,
        "incomplete": _CLAIM_APPEARS,
    },
    "TestIsSchedulableAfterTargetPodUpdate": {
        "backoff-wrong-new-object": _TYPED,
        "complete": _CLAIM_APPEARS,
        "missing-claim": _CLAIM_APPEARS,
        "incomplete": _CLAIM_APPEARS,
    },
    "TestPreQueueingHint": {
        "claim with no pod in indexer returns empty set": _OTHER_CLAIM,
        "shared claim returns nil": _OTHER_CLAIM,
        "claim with no matching pods returns empty set": _OTHER_CLAIM,
        "delete event uses oldObj": _OTHER_CLAIM,
        "delete of allocated claim returns AllPods": _OTHER_CLAIM,
        "deallocation returns nil to evaluate all pods": _OTHER_CLAIM,
        "non-claim object returns nil": _TYPED,
        "TestPreQueueingHint_WithPodInIndexer": _CLAIM_APPEARS,
        "TestPreQueueingHint_SharedClaimMultiplePods": f"{_CORE}test_end_to_end.py::"
        + "test_several_pods_share_one_claim_on_its_node",
        "TestPreQueueingHint_PodNotYetIndexed": "The pod's own event moves it when its status names the claim: "
        "nothing is missed that a flush would have to find.",
        "TestPreQueueingHint_DeleteEventWithPodInIndexer": _OTHER_CLAIM,
    },
}

SCORES: dict[str, dict[str, str]] = {
    "Test_computesScore": {
        "more-claims-than-allocations": LISTS + "test_a_claim_without_an_allocation_is_a_mistake",
        "mix-of-allocated-and-unallocated-claims": LISTS
        + "test_a_claim_without_lists_is_worth_nothing_and_an_allocated_one_what_it_has",
        **dict.fromkeys(
            (
                "single-request-only-subrequest-allocated",
                "single-request-last-subrequest-allocated",
                "multiple-requests-with-middle-subrequests-allocated",
                "multiple-requests-with-top-subrequests-allocated",
            ),
            LISTS + "test_a_list_is_worth_the_more_the_earlier_its_alternative",
        ),
        "multiple-claims-with-last-subrequests-allocated": LISTS + "test_points_of_several_claims_add_up",
        "multiple-claims-with-top-subrequests-allocated": LISTS + "test_points_of_several_claims_add_up",
    },
    "TestNormalizeScore": dict.fromkeys(
        (
            "empty",
            "single-score",
            "all-same",
            "all-same-very-large",
            "max-and-min-values",
            "mid-value",
            "large-spread-lost-precision",
        ),
        LISTS + "test_points_are_brought_to_a_hundred_by_the_highest",
    ),
}

BOOKS: dict[str, dict[str, str]] = {
    "TestAllocatorSelection": dict.fromkeys(
        (
            *("only-GA", "default", "alpha", "AdminAccess", "DeviceTaints", "PartitionableDevices", "PrioritizedList"),
            *("ConsumableCapacity", "DeviceBindingAndStatus", "FractionalCapacityRange", "CompatibilityGroups"),
            *("DerivedAttributes", "ListTypeAttributes", "OptionalNodeOperations"),
        ),
        _ONE_ALLOCATOR,
    ),
    "TestGatherAllocatedState": {
        "no-claims": _LEDGER + "test_holders_are_always_what_observed_and_assumed_results_say",
        "single-allocated-claim": _LEDGER + "test_what_the_api_says_is_held_until_it_says_otherwise",
        "single-allocated-claim-with-shared-device": _SHARES,
        "single-allocated-claim-with-capacity": _SHARES,
        "disabled-single-allocated-claim-with-capacity": _GATE_ONLY,
        "mixed-allocated-claim": _LEDGER + "test_shares_of_one_device_are_no_conflict_unless_one_wants_it_whole",
        "add-inflight-allocated-claim-with-capacity": _SHARES,
        "disabled-inflight-allocated-claim-with-capacity": _GATE_ONLY,
    },
    "Test_allocationResultRequiresDRAOptionalNodeOperations": {
        "nil": _SKIPS_NOTHING,
        "empty-results": _SKIPS_NOTHING,
        "no-skip-node-operations": _SKIPS_NOTHING,
        "empty-skip-node-operations": _SKIPS_NOTHING,
        "with-skip-node-operations": _SKIPS,
        "mixed-skip-node-operations": _SKIPS,
    },
    "Single tests": {
        "TestPostFilterNoOpStatusHasNoUserVisibleReason": f"{_CORE}test_report.py::test_the_message_is_kube_schedulers",
        "TestPreFilterReusesPendingAllocationWithNilNodeSelector": _JOINS,
        "TestFilterReusesPendingAllocationRequiresDRAOptionalNodeOperations": _JOINS,
        "TestDynamicResources_DeferredResizeSkipped": "Pods on a node whose resize is deferred are not scheduled here: "
        "only pods without a node are, and pods put on one by hand for their claims.",
    },
    "TestSignalClaimPendingAllocation": {
        "empty": CLAIM_STORE + "test_an_assumption_is_confirmed_by_the_observed_allocation",
        "claim-already-allocated": CLAIM_STORE + "test_forgetting_after_the_confirmation_changes_nothing",
        "extended-resource-claim-not-in-cache": EXTENDED + "test_a_decision_that_is_not_carried_out_leaves_nothing",
        "already-exists": f"{_CORE}test_cycle.py::"
        + "test_a_second_pod_joins_the_allocation_that_the_first_has_just_decided",
        "already-exists-ignores-different-claim-argument": f"{_CORE}test_cycle.py::"
        + "test_a_second_pod_joins_the_allocation_that_the_first_has_just_decided",
        "nil-claim": _FREED,
        "claim": f"{_CORE}test_cycle.py::test_a_device_is_assumed_in_the_tick_of_the_decision",
        "delete-last-sharer": _FORGET,
        "force-delete-last-sharer": CLAIM_STORE + "test_an_assumption_is_confirmed_by_the_observed_allocation",
        "decrement-remaining-sharers": _FORGET,
        "force-delete-remaining-sharers": CLAIM_STORE + "test_an_assumption_is_confirmed_by_the_observed_allocation",
    },
}

REQUESTS: dict[str, dict[str, str]] = {
    "Test_createRequestsAndMappings_requests and _mappings": {
        "nil": _SPECIAL + "test_nothing_served_by_devices_makes_no_request",
        **dict.fromkeys(
            (
                "one resource match",
                "one resource match, one resource not match",
                "two resources match",
                "one container, two requests",
            ),
            _SPECIAL + "test_a_request_per_resource_with_its_place_among_all_that_the_container_requests",
        ),
        "two containers match": _SPECIAL + "test_a_request_per_container",
        "two containers, two requests": _SPECIAL + "test_a_request_per_container",
        "one init container, one regular container": _SPECIAL
        + "test_init_containers_come_first_in_the_count_of_containers",
        "one init container, one regular container, one request": _SPECIAL
        + "test_an_init_container_uses_what_the_containers_after_it_will_have",
        "two init containers, one regular container": _SPECIAL
        + "test_init_containers_share_one_request_of_the_largest_size",
        "three containers (two are init container), two requests": _SPECIAL
        + "test_init_containers_share_one_request_of_the_largest_size",
        "three init containers, one sidecar, one regular container": _SPECIAL
        + "test_a_sidecar_keeps_its_own_and_only_init_containers_before_it_may_use_it",
        "four containers (two are init container, one sidecar), three requests": _SPECIAL
        + "test_a_sidecar_keeps_its_own_and_only_init_containers_before_it_may_use_it",
        "one container, one explicit and one implicit request": _SPECIAL
        + "test_an_explicit_and_an_implicit_name_of_one_class_are_two_requests",
        "three containers (two are init container), both explicit and implicit resources": _SPECIAL
        + "test_an_explicit_and_an_implicit_name_of_one_class_are_two_requests",
    },
}

ON_NODES: dict[str, dict[str, str]] = {
    "TestValidateNodeAllocatableDRAClaimSharing": {
        "empty claim": _NO_ENTRIES,
        "claim not allocated yet": _TOLD,
        "mapped claim, not shared (no other pods on node)": _TOLD,
        "mapped claim, same name but different namespace (sharing allowed)": "Who shares is read from the claim, which "
        "is found by the pod's namespace and its name.",
        "mapped claim, shared (other pod using it)": _MAPPED_ONCE,
        "mapped claim, shared (other pod using it via template)": _MAPPED_ONCE,
        "mapped claim, already reserved for another pod - early exit": _MAPPED_ONCE,
        "mapping and overhead in same device, shared (other pod using it)": _MAPPED_ONCE,
        "overhead-only mapped claim, shared (other pod using it)": _OVERHEAD_SHARED,
        "overhead-only claim, pending allocation by another pod in same group": _OVERHEAD_SHARED,
        "mapped claim, pending allocation by another pod in same group": _AT_ONCE,
        "mapped claim, pending allocation by same pod in same group": _AT_ONCE,
    },
    "TestBuildNodeAllocatableDRAInfo": {
        "empty": _NO_ENTRIES,
        "Fungible GPU/CPU claim - GPU selected": _NO_ENTRIES,
        "one container, one claim, per instance quantity": _PER_DEVICE,
        "Pod with Standard and DRA CPU and Memory Request": _BY_CAPACITY,
        "Fungible GPU/CPU claim - CPU selected": _BY_CAPACITY,
        "Combined CPU request and Auxiliary Request": _SORTED,
        "Multiple Claims per Container": _SORTED,
        "Pod Level Resources with shared CPU claim and sidecar containers": _SORTED,
        "Unreferenced Claims": _UNUSED,
        "Unreferenced Claims with Overhead": _UNUSED,
        "Unreferenced Claims with Overhead Per Container Only": _UNUSED,
        "Combined Capacity and PerAllocatedUnitQuantity": _BY_CAPACITY,
        "Capacity Key Missing in Allocation - Should be Ignored": NODE_RESOURCES
        + "test_a_capacity_that_was_not_consumed_counts_nothing_but_none_at_all_is_an_error",
        "Overhead Mappings": _UNUSED,
        "Overhead Mappings - Only PerPod": _TOLD,
        "Overhead Mappings - Only PerContainer": _OVERHEAD_SHARED,
        "Overhead Mappings - Multiple Containers": _LEVEL_OVERHEAD,
        "Combined direct mapped and overhead mappings for the same resource": _ADDED,
        "device with both mapped and overhead": _ADDED,
        "Driver name collision with same pool and device name": NODE_RESOURCES
        + "test_the_device_of_the_driver_counts_not_another_of_that_name",
        "Invalid -  Device Not Found": NODE_RESOURCES
        + "test_a_device_that_is_gone_beside_one_that_takes_something_is_an_error",
    },
    "TestPatchNodeAllocatableResourceClaimStatus": {
        "no node allocatable resource claims for this pod": NODE_RESOURCES
        + "test_with_the_gate_off_devices_take_nothing",
        "assumed pod status same as new status": _TOLD,
        "assumed pod status different from new status": "What was decided is written as it is: there is no second "
        "copy that could differ.",
        "pod status patch error": "scheduler/writes/test_pod_status_writer.py::"
        + "test_what_the_server_drops_or_refuses_is_told_apart",
    },
    "TestClearNodeAllocatableResourceClaimStatus": {
        "no status to clear": NODE_RESOURCES + "test_with_the_gate_off_devices_take_nothing",
        "status cleared": NODE_RESOURCES + "test_a_binding_that_fails_takes_it_back",
    },
    "TestNodeFitsNativeResources": dict.fromkeys(
        (
            *("empty pod request", "sufficient cpu and memory", "sufficient hugepages", "all resources sufficient"),
            *("insufficient cpu", "insufficient hugepages 2Mi", "insufficient hugepages 1Gi", "insufficient memory"),
        ),
        _LACKING,
    ),
    "TestValidatePodLevelResourcesCoverDRA": {
        "PodLevelResources enabled, no pod resources set": _LEVEL,
        "PodLevel resources sufficient": _LEVEL,
        "PodLevel resources sufficient with overheads": _LEVEL_OVERHEAD,
        "PodLevel resources sufficient with DRA Overhead": _LEVEL_OVERHEAD,
        "PodLevel insufficient for one of the resource": _LEVEL,
        "PodLevel insufficient for multiple resources": _LEVEL,
        "PodLevel resources insufficient with DRA Overhead": _LEVEL_OVERHEAD,
        "PodLevel limits cover DRA": _LEVEL,
        "PodLevel limits overcommitted but individual container limits with DRA covered by pod level limits": _LEVEL,
        "PodLevel limits does not cover DRA": _LEVEL,
    },
    "TestFilterSlicesForNode": {
        "matches NodeName exactly": _TABLE + "test_devices_with_their_own_node_are_seen_by_that_node_only",
        "matches AllNodes": _TABLE + "test_a_change_of_labels_changes_who_sees_a_shared_slice",
        "matches NodeSelector": _TABLE + "test_a_change_of_labels_changes_who_sees_a_shared_slice",
    },
}
