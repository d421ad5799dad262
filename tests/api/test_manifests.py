"""Reading manifests: documents, old spellings, and the line of everything that is wrong."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_api.manifests import MAX_FILE, MAX_OBJECT, Manifests, read_text


def read(text: str) -> Manifests:
    return read_text(dedent(text).encode(), "f.yaml")


def only_problem(text: str) -> str:
    result = read(text)
    assert len(result.problems) == 1, result.problems
    return str(result.problems[0])


def clean(text: str) -> Manifests:
    result = read(text)
    assert (result.problems, result.warnings) == ((), ())
    return result


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: gpu.example.com
"""


def test_documents_have_their_line_and_the_default_namespace() -> None:
    result = clean(f"# first\n{CLAIM}---\n---  # empty\n---\n{CLAIM.replace('gpu', 'b')}")
    assert [(str(document.key), document.line) for document in result.documents] == [
        ("ResourceClaim default/gpu", 2),
        ("ResourceClaim default/b", 15),
    ]
    first = result.documents[0]
    assert first.line_of("spec.devices.requests[0].exactly.deviceClassName") == 11
    assert first.line_of("spec.devices.requests[0].exactly.count") == 10
    assert first.line_of("metadata.namespace") == 4


def test_older_versions_are_converted_and_lines_found_all_the_same() -> None:
    text = """\
        apiVersion: resource.k8s.io/v1beta1
        kind: ResourceSlice
        metadata: {name: s}
        spec:
          driver: d.example.com
          nodeName: n
          pool: {name: p, generation: 1, resourceSliceCount: 1}
          devices:
          - name: a
            basic:
              attributes:
                model: {string: x}
              capacity:
                memory: {value: 8Gi}
        """
    (document,) = clean(text).documents
    assert (document.api_version, document.object["apiVersion"]) == ("resource.k8s.io/v1beta1", "resource.k8s.io/v1")
    assert document.object["spec"]["devices"][0]["attributes"] == {"model": {"string": "x"}}
    assert document.line_of("spec.devices[0].attributes[model].string") == 12
    assert document.line_of("spec.devices[0].capacity[memory].value") == 14


def test_json_and_lists_of_both_kinds_are_flattened() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [pod, pod | {"metadata": {"name": "b"}}]},
        indent=1,
    )
    result = clean(text)
    assert [str(document.key) for document in result.documents] == ["Pod default/a", "Pod default/b"]
    assert [document.line for document in result.documents] == [5, 12]
    typed = {"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "n"}}]}
    assert [str(document.key) for document in clean(json.dumps(typed)).documents] == ["Node n"]


def test_json_documents_may_follow_each_other() -> None:
    pod = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"}}'
    assert [document.line for document in clean(f"{pod % 'a'}\n\n{pod % 'b'}").documents] == [1, 3]


@pytest.mark.parametrize("separator", ["–--", "—", "----", "−−−", "--", "— — —".replace(" ", ""), "---–  "])
def test_a_line_of_only_dashes_of_any_kind_separates_with_a_warning(separator: str) -> None:
    result = read(f"{CLAIM}{separator}\n{CLAIM.replace('gpu', 'b')}")
    assert [document.line for document in result.documents] == [1, 12]
    assert [str(warning) for warning in result.warnings] == [
        f"f.yaml:11: {separator.strip()!r} is taken for a separator; write exactly three hyphens: ---"
    ]
    assert result.problems == ()


def test_a_single_hyphen_is_a_list_item_and_indented_dashes_are_text() -> None:
    result = clean(
        """\
        apiVersion: v1
        kind: Pod
        metadata:
          name: a
          annotations:
            text: |
              –--
              ----
        spec:
          containers:
          -
            name: c
        """
    )
    assert result.documents[0].object["metadata"]["annotations"]["text"] == "–--\n----\n"


def test_a_name_beside_kind_is_taken_with_a_warning() -> None:
    result = read("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nname: gpu\nspec: {}\n")
    assert [str(document.key) for document in result.documents] == ["DeviceClass gpu"]
    assert "name" not in result.documents[0].object
    assert [str(warning) for warning in result.warnings] == [
        "f.yaml:3: DeviceClass gpu: name: name belongs under metadata; API servers refuse it here"
    ]


def test_two_different_names_are_refused() -> None:
    text = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nname: a\nmetadata: {name: b}\nspec: {}\n"
    assert only_problem(text) == (
        "f.yaml:3: DeviceClass b: name: 'a' differs from metadata.name 'b'; keep metadata.name only"
    )


TEMPLATE = """\
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaimTemplate
metadata:
  name: t
spec:
  spec:
    devices:
      requests:
      - name: r
        deviceClassName: gpu.example.com
"""


def test_v1alpha2_with_device_requests_is_read_as_v1alpha3() -> None:
    result = read(TEMPLATE)
    requests = result.documents[0].object["spec"]["spec"]["devices"]["requests"]
    assert requests == [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]
    assert [str(warning) for warning in result.warnings] == [
        "f.yaml:1: ResourceClaimTemplate t: apiVersion: v1alpha2 is read as v1alpha3; write apiVersion: "
        "resource.k8s.io/v1"
    ]


def test_v1alpha2_of_kubernetes_1_30_is_refused() -> None:
    text = TEMPLATE.replace("    devices:", "    resourceClassName: gpu\n    devices:")
    assert only_problem(text) == (
        "f.yaml:7: ResourceClaimTemplate t: spec.spec.resourceClassName: is of Kubernetes 1.30 and older; "
        "use devices.requests"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "resource.k8s.io/v1\n",
            "resource.k8s.io/v1beta1\n",
            "f.yaml:9: ResourceClaim gpu: spec.devices.requests[0].exactly: is not a field of "
            "v1beta1; it fits apiVersion "
            "resource.k8s.io/v1 and v1beta2; here its fields stand directly in the request",
        ),
        (
            "exactly:\n        deviceClassName",
            "deviceClassName",
            "f.yaml:9: ResourceClaim gpu: spec.devices.requests[0].deviceClassName: is not a field "
            "of a request in v1; here "
            "it belongs under exactly; in a request it fits apiVersion resource.k8s.io/v1beta1 and v1alpha3",
        ),
        (
            "deviceClassName: gpu.example.com",
            "deviceClasName: gpu.example.com",
            "f.yaml:10: ResourceClaim gpu: spec.devices.requests[0].exactly.deviceClasName: unknown "
            "field; did you mean "
            "deviceClassName?",
        ),
        (
            "deviceClassName: gpu.example.com",
            "count: '2'",
            "f.yaml:10: ResourceClaim gpu: spec.devices.requests[0].exactly.count: must be an "
            "integer, not a string ('2'); "
            "write it without quotes",
        ),
        (
            "name: r",
            "name: yes",
            "f.yaml:8: ResourceClaim gpu: spec.devices.requests[0].name: must be a string, not a "
            "boolean (true); write it "
            'with quotes: "true"',
        ),
        (
            "  name: gpu",
            "  title: gpu",
            "f.yaml:3: ResourceClaim: metadata.name: is missing; every object needs a name",
        ),
        ("kind: ResourceClaim", "kind: ", "f.yaml:2: kind: is missing or not a string; every manifest needs it"),
        (
            "kind: ResourceClaim",
            "kind: ResourceClass",
            "f.yaml:2: ResourceClass gpu: kind: ResourceClass is not a kind of resource.k8s.io; use "
            "those of Kubernetes "
            "1.31 and newer",
        ),
        (
            "  name: gpu",
            "  name: gpu\n  name: other",
            "f.yaml:5: metadata.name: is there twice in the same object; keep one of the two",
        ),
        ("spec:\n", "spec:\n  devices: }\n", "f.yaml:6: column 12: malformed YAML: "),
        ("  name: gpu", "\tname: gpu", "f.yaml:4: column 1: malformed YAML: "),
        ("metadata:\n  name: gpu", "metadata: *x", "f.yaml:3: column 11: malformed YAML: "),
        (
            "metadata:\n  name: gpu",
            "metadata: &x [*x]",
            "f.yaml:3: column 15: malformed YAML: alias *x has no anchor before",
        ),
        (
            "name: r",
            "name: !python/object:os.system r",
            "f.yaml:8: column 13: malformed YAML: the tag !python/object:os.system",
        ),
        ("name: r", "name: .inf", "f.yaml:8: column 13: .inf is not a number that JSON can hold"),
        ("name: r", "name: " + "[" * 200 + "]" * 200, "f.yaml:8: column 109: is nested more than 100 levels deep"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, message: str) -> None:
    assert old in CLAIM
    assert only_problem(CLAIM.replace(old, new)).startswith(message)


def test_tabs_get_a_hint() -> None:
    assert only_problem(CLAIM.replace("  name: gpu", "\tname: gpu")).endswith("indent with spaces, YAML allows no tabs")


def test_a_problem_in_one_document_leaves_the_others() -> None:
    result = read(f"a: b: c\n---\n{CLAIM}---\n- 1\n---\n{CLAIM.replace('gpu', 'b')}")
    assert [str(document.key) for document in result.documents] == [
        "ResourceClaim default/gpu",
        "ResourceClaim default/b",
    ]
    assert [(problem.line, problem.problem) for problem in result.problems] == [
        (1, "column 5: malformed YAML: mapping values are not allowed in this context"),
        (14, "is not an object"),
    ]


def test_a_pod_with_source_is_refused() -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        metadata:
          name: p
        spec:
          resourceClaims:
          - name: gpu
            source:
              resourceClaimTemplateName: t
        """
    assert only_problem(text) == (
        "f.yaml:8: Pod p: spec.resourceClaims[0].source: is of Kubernetes 1.30 and older; write resourceClaimName or "
        "resourceClaimTemplateName directly in the entry"
    )


def test_the_parts_of_pods_and_nodes_that_are_read_are_checked_and_others_kept() -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        metadata:
          name: p
          labels: {a: 1}
        spec:
          hostPID: maybe
          containers:
          - name: c
            image: [x]
            resources:
              requests: {cpu: lots}
        """
    assert [str(problem) for problem in read(text).problems] == [
        'f.yaml:5: Pod p: metadata.labels[a]: must be a string, not an integer (1); write it with quotes: "1"',
        "f.yaml:12: Pod p: spec.containers[0].resources.requests[cpu]: 'lots' is not a quantity; a "
        "quantity is a number "
        'with an optional suffix, such as "16Gi", "500m" or "1e3"',
    ]


def test_unknown_kinds_are_kept_with_a_warning() -> None:
    result = read(
        """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web}
        ---
        apiVersion: example.com/v1
        kind: Thing
        metadata: {name: t}
        """
    )
    assert [str(document.key) for document in result.documents] == ["Deployment web", "Thing t"]
    assert [str(warning) for warning in result.warnings] == [
        "f.yaml:2: Deployment web: kind: a Deployment is not scheduled and creates no Pods here; "
        "write the Pods themselves",
        "f.yaml:6: Thing t: kind: Thing is not a kind that is known here; it is kept and otherwise ignored",
    ]


@pytest.mark.parametrize(("version", "kind"), [("example.com/v1", "Thing"), ("apps/v1", "StatefulSet")])
def test_the_head_of_an_object_of_any_kind_has_the_right_types(version: str, kind: str) -> None:
    text = f"""\
        apiVersion: {version}
        kind: {kind}
        metadata:
          name: [t]
        """
    assert read(text).documents == ()
    assert only_problem(text).startswith(f"f.yaml:4: {kind} ['t']: metadata.name: must be a string, not a list")


def test_a_known_kind_in_an_unknown_version_is_refused() -> None:
    assert only_problem("apiVersion: v2\nkind: Pod\nmetadata: {name: a}\n") == (
        "f.yaml:1: Pod a: apiVersion: 'v2' is not known here; use v1"
    )


def test_aliases_and_merge_keys_work_as_in_kubectl() -> None:
    result = clean(
        """\
        apiVersion: v1
        kind: Pod
        metadata:
          name: a
          labels: &labels {app: web, tier: front}
          annotations:
            <<: *labels
            tier: back
        """
    )
    assert result.documents[0].object["metadata"]["annotations"] == {"app": "web", "tier": "back"}


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    assert "more than 2000000 values once its aliases are followed" in only_problem("\n".join(lines))


def test_malformed_json_is_named_with_line_and_column() -> None:
    assert only_problem('{\n  "kind": Pod}') == "f.yaml:2: column 11: malformed JSON: unexpected 'P'"
    assert only_problem('{"a": 1,\n "a": 2, "kind": "x", "apiVersion": 1}\n'.replace("1}", "[}")).startswith(
        "f.yaml:2: column"
    )
    duplicate = read('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a",\n "name": "b"}}')
    assert [str(problem) for problem in duplicate.problems] == [
        "f.yaml:2: metadata.name: is there twice in the same object; keep one of the two"
    ]


def test_bytes_that_are_not_utf_8_are_refused_and_a_byte_order_mark_is_not() -> None:
    result = read_text(b"a: b\nc: \xff\n", "f.yaml")
    assert [str(problem) for problem in result.problems] == ["f.yaml:2: is not UTF-8 (byte 8); save the file as UTF-8"]
    assert read_text(b"\xef\xbb\xbf" + CLAIM.encode(), "f.yaml").documents


def test_files_and_objects_have_limits() -> None:
    too_long = read_text(b" " * (MAX_FILE + 1), "f.yaml")
    assert str(too_long.problems[0]).startswith(f"f.yaml: has {MAX_FILE + 1} bytes")
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {a: '" + "x" * MAX_OBJECT + "'}}\n"
    assert "API servers take at most 3145728" in only_problem(text)


@given(st.text(max_size=200) | st.text(alphabet='{}[]:,-–"\n a*&!|>#%1', max_size=60))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    read_text(text.encode("utf-8", "surrogatepass"), "f")
