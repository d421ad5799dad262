"""Which test of ours shows what a case of kube-scheduler's DynamicResources plugin shows: its test of whole cycles.

Per case `file::test` below tests/, or a sentence that says why there is none. The other tables are in
`plugin_part_cases`.
"""

from __future__ import annotations

_CORE = "scheduler/core/"
BINDING = f"{_CORE}test_binding.py::"
BEHAVIOURS = f"{_CORE}test_plugin_behaviours.py::"
CLAIM_STORE = f"{_CORE}test_claim_store.py::"
CYCLE = f"{_CORE}test_cycle.py::"
END_TO_END = f"{_CORE}test_end_to_end.py::"
EXTENDED = f"{_CORE}test_extended_resources.py::"
LISTS = f"{_CORE}test_prioritized_lists.py::"
NODE_RESOURCES = f"{_CORE}test_node_resources.py::"
SMALL = f"{_CORE}test_small_parts.py::"
WRITER = "scheduler/writes/test_claim_writer.py::"

WHOLE_CYCLES: dict[str, str] = {
    "empty": END_TO_END + "test_a_pod_without_claims_goes_to_the_least_allocated_node",
    "empty-with-extended-resources-enabled": END_TO_END + "test_a_pod_without_claims_goes_to_the_least_allocated_node",
    "claim-reference": WRITER + "test_a_second_pod_only_adds_its_reservation_and_no_timestamp",
    "claim-template": END_TO_END + "test_a_pod_with_a_claim_from_a_template_gets_its_device_and_runs",
    "missing-claim": END_TO_END + "test_a_claim_that_appears_later_is_waited_for_without_an_attempt",
    "deleted-claim": CYCLE + "test_claims_that_cannot_be_used_reject_before_any_node",
    "wrong-claim": CYCLE + "test_a_generated_claim_of_another_pod_is_refused",
    "no-resources": END_TO_END
    + "test_who_finds_no_device_waits_with_kube_schedulers_words_and_gets_one_that_becomes_free",
    "with-resources": END_TO_END + "test_a_pod_with_a_claim_from_a_template_gets_its_device_and_runs",
    "with-resources-has-finalizer": BEHAVIOURS
    + "test_an_allocated_claim_has_one_finalizer_whether_or_not_it_had_it_before",
    "with-resources-finalizer-gets-removed": BEHAVIOURS
    + "test_a_finalizer_that_comes_or_goes_under_our_write_is_there_once_in_the_end",
    "with-resources-finalizer-gets-added": BEHAVIOURS
    + "test_a_finalizer_that_comes_or_goes_under_our_write_is_there_once_in_the_end",
    "skip-bind": CYCLE + "test_what_was_assumed_is_free_again_once_forgotten",
    "exhausted-resources-in-informer-cache": END_TO_END
    + "test_who_finds_no_device_waits_with_kube_schedulers_words_and_gets_one_that_becomes_free",
    "exhausted-resources-in-flight-claim": BEHAVIOURS
    + "test_a_decision_that_is_not_written_yet_takes_its_device_and_no_other",
    "other-resources-in-flight-claim": BEHAVIOURS
    + "test_a_decision_that_is_not_written_yet_takes_its_device_and_no_other",
    "tainted-device-disabled": BEHAVIOURS + "test_taints_of_devices_keep_pods_off_unless_the_gate_is_off",
    "tainted-device-enabled": BEHAVIOURS + "test_taints_of_devices_keep_pods_off_unless_the_gate_is_off",
    "request-admin-access-with-DRAAdminAccess-featuregate": BEHAVIOURS
    + "test_admin_access_gets_a_device_in_use_and_needs_its_gate",
    "request-admin-access-without-DRAAdminAccess-featuregate": BEHAVIOURS
    + "test_admin_access_gets_a_device_in_use_and_needs_its_gate",
    "structured-ignore-allocated-admin-access": BEHAVIOURS + "test_a_device_that_only_an_admin_uses_is_free",
    "claim-parameters-CEL-runtime-error": f"{_CORE}test_error_text.py::"
    + "test_a_selector_that_fails_is_told_as_kube_scheduler_does",
    "class-parameters-CEL-runtime-error": BEHAVIOURS
    + "test_a_selector_of_the_class_that_fails_everywhere_is_the_pods_error",
    # Here we differ on purpose: the node is out, the pod goes to another.
    "CEL-runtime-error-for-one-of-two-nodes": BEHAVIOURS + "test_a_selector_that_fails_on_one_node_leaves_the_others",
    "CEL-runtime-error-for-one-of-three-nodes": BEHAVIOURS + "test_a_selector_that_fails_on_one_node_leaves_the_others",
    "missing-class": END_TO_END + "test_an_unknown_class_is_named_and_the_pod_moves_when_it_is_created",
    "wrong-topology": END_TO_END + "test_an_allocation_that_fits_no_node_any_more_is_given_up_if_nobody_uses_it",
    "good-topology": CYCLE + "test_an_allocated_claim_keeps_the_pod_on_its_node",
    "bind-failure": BINDING + "test_a_refused_binding_takes_back_the_reservation_and_is_tried_again",
    "reserved-okay": WRITER + "test_a_pod_that_is_reserved_already_needs_no_write",
    "DRA-disabled": f"{_CORE}test_feature_gates.py::test_gates_that_cannot_be_had_are_refused_with_the_reason",
    "claim-with-request-with-unknown-device-class": CYCLE + "test_claims_that_cannot_be_used_reject_before_any_node",
    "claim-with-prioritized-list-feature-disabled": BEHAVIOURS
    + "test_a_prioritized_list_needs_its_gate_and_all_its_classes",
    "claim-with-prioritized-list-unknown-device-class": BEHAVIOURS
    + "test_a_prioritized_list_needs_its_gate_and_all_its_classes",
    "claim-with-prioritized-list": BEHAVIOURS
    + "test_a_prioritized_list_is_allocated_under_the_name_of_its_alternative",
    "extended-resource-name-with-node-resource": EXTENDED
    + "test_a_device_plugin_wins_where_there_is_one_even_when_all_is_taken",
    "extended-resource-one-device-plugin-one-dra": EXTENDED + "test_one_resource_by_the_plugin_and_one_by_devices",
    "extended-resource-name-with-zero-allocatable": EXTENDED + "test_a_node_that_has_none_of_it_is_served_by_devices",
    "non-DRA-extended-resource-name-with-zero-allocatable": EXTENDED
    + "test_no_class_stands_for_the_resource_until_there_is_one",
    "extended-resource-name-no-resource": EXTENDED + "test_no_devices_leave_the_pod_waiting_without_a_claim",
    "extended-resource-name-with-resources": EXTENDED + "test_devices_serve_a_resource_that_the_node_does_not_have",
    "implicit-extended-resource-name-with-resources": f"{_CORE}test_special_claim.py::"
    + "test_an_explicit_and_an_implicit_name_of_one_class_are_two_requests",
    "implicit-extended-resource-name-two-containers-with-resources": f"{_CORE}test_special_claim.py::"
    + "test_a_request_per_container",
    "extended-resource-name-with-resources-fail-patch": EXTENDED
    + "test_a_failing_write_of_the_status_undoes_the_claim",
    "extended-resource-name-with-resources-has-claim": EXTENDED
    + "test_the_claim_of_an_earlier_attempt_is_deleted_and_made_anew",
    "extended-resource-name-with-resources-delete-claim": EXTENDED
    + "test_the_claim_of_an_earlier_attempt_is_deleted_and_made_anew",
    "extended-resource-name-bind-failure": EXTENDED
    + "test_a_binding_that_fails_leaves_no_claim_and_a_name_that_the_next_replaces",
    "extended-resource-name-skip-bind": EXTENDED + "test_a_decision_that_is_not_carried_out_leaves_nothing",
    "extended-resource-name-claim-creation-failure": EXTENDED
    + "test_a_quota_that_refuses_the_claim_leaves_the_pod_unschedulable_until_it_does_not",
    # Nobody cancels a search here; a pod that goes while it is searched for is the nearest.
    "canceled": CYCLE + "test_a_pod_that_is_deleted_meanwhile_is_not_decided",
    "timeout": CYCLE + "test_an_attempt_that_takes_too_long_is_an_error_that_says_so",
    "timeout_disabled": BEHAVIOURS + "test_without_a_time_out_a_search_may_take_its_time",
    "timeout_zero": BEHAVIOURS + "test_without_a_time_out_a_search_may_take_its_time",
    "dont-add-allocation-timestamp": "A new allocation has its time wherever the API has the field, whatever the "
    "gate says: without it the claim could not be shared with pods of kube-scheduler.",
    "add-allocation-timestamp": WRITER
    + "test_a_new_allocation_is_a_finalizer_and_then_one_status_write_that_follows_its_resource_version",
    "add-allocation-timestamp-failure": WRITER + "test_a_claim_deallocated_before_our_pod_joins_is_lost",
    "bind-claim-with-binding-conditions": BINDING + "test_waiting_for_binding_conditions_ends_with_the_time_out",
    "bind-failure-concurrent-deallocation": BINDING + "test_waiting_for_binding_conditions_ends_with_the_time_out",
    "bound-claim-with-succeeded-binding-conditions": BINDING
    + "test_a_pod_is_bound_only_when_its_devices_binding_conditions_are_true",
    "bound-claim-with-failed-binding": BINDING + "test_a_true_failure_condition_voids_the_allocation",
    "bound-claim-with-timed-out-binding": BEHAVIOURS + "test_conditions_of_other_kinds_do_not_count",
    "prebind-fail-with-binding-timeout": BINDING + "test_waiting_for_binding_conditions_ends_with_the_time_out",
    "bound-claim-with-mixed-binding-conditions": BEHAVIOURS + "test_conditions_of_other_kinds_do_not_count",
    "bound-claim-without-binding-conditions": SMALL + "test_a_claim_without_binding_conditions_is_ready",
    "multi-claims-binding-conditions-all-success": BEHAVIOURS + "test_two_claims_whose_devices_are_ready_are_used",
    "multi-claims-binding-conditions-one-fail": BEHAVIOURS
    + "test_of_two_claims_only_the_one_whose_device_failed_is_given_up",
    "single-claim-prioritized-list-scoring": LISTS + "test_the_node_with_the_first_alternative_is_chosen",
    "multiple-claims-prioritized-list-scoring": LISTS + "test_the_sum_over_claims_decides",
    "multiple-requests-prioritized-list-scoring": LISTS + "test_the_sum_over_requests_decides",
    "node-allocatable-resource-multiplier": NODE_RESOURCES
    + "test_what_the_devices_take_is_in_the_status_and_counts_on_the_node",
    "node-allocatable-resource-capacitykey": NODE_RESOURCES + "test_consumed_capacity_counts",
    "node-allocatable-resource-capacitykey-and-multiplier": NODE_RESOURCES
    + "test_what_is_consumed_of_a_capacity_is_multiplied",
    "node-allocatable-resource-insufficient-resources-with-multiplier": NODE_RESOURCES
    + "test_a_device_that_takes_more_than_the_node_has_does_not_fit",
    "node-allocatable-resource-insufficient-with-capacityKey": NODE_RESOURCES
    + "test_more_capacity_than_the_device_has_is_refused_before_anything_is_counted",
    "allocated-skip-node-operations-missing-feature": BEHAVIOURS
    + "test_an_allocation_that_skips_node_operations_needs_a_node_that_can",
    "allocated-skip-node-operations-with-feature": BEHAVIOURS
    + "test_an_allocation_that_skips_node_operations_needs_a_node_that_can",
    "bind-failure-preserves-inflight-until-unreserve": BINDING
    + "test_everything_stays_assumed_while_the_outcome_of_the_binding_is_unknown",
    "node-allocatable-mapping-and-overhead-in-same-device": NODE_RESOURCES
    + "test_what_the_devices_take_is_in_the_status_and_counts_on_the_node",
    "node-allocatable-direct-mapped-sharing-rejected": NODE_RESOURCES
    + "test_a_claim_with_a_mapped_device_is_for_one_pod_only",
    "node-allocatable-mapping-and-overhead-sharing-rejected": NODE_RESOURCES
    + "test_a_claim_with_a_mapped_device_is_for_one_pod_only",
    "node-allocatable-overhead-only-sharing-allowed": NODE_RESOURCES
    + "test_overhead_alone_is_counted_for_each_pod_that_shares",
    "node-allocatable-unreferenced-claim-direct-mapped": NODE_RESOURCES
    + "test_a_claim_that_no_container_uses_is_counted_in_the_status",
    "node-allocatable-unreferenced-claim-overhead": NODE_RESOURCES
    + "test_a_claim_that_no_container_uses_is_counted_in_the_status",
}
