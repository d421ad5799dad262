"""Manifests from files, directories and the standard input."""

from __future__ import annotations

from pathlib import Path

from dra_api.manifests import read_paths

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


def test_paths_are_files_directories_and_the_standard_input(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yml").write_text(CLAIM.replace("gpu", "b"))
    (tmp_path / "a.yaml").write_text(CLAIM)
    (tmp_path / "notes.txt").write_text("no: manifest")
    result = read_paths([tmp_path, "-"], stdin=CLAIM.replace("gpu", "c").encode(), namespace="ns")
    assert [str(document.key) for document in result.documents] == [
        "ResourceClaim ns/gpu",
        "ResourceClaim ns/b",
        "ResourceClaim ns/c",
    ]
    missing = read_paths([tmp_path / "nothing.yaml"]).problems
    assert str(missing[0]).endswith("nothing.yaml: cannot be read: No such file or directory")


def test_an_object_that_is_there_twice_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{CLAIM}---\n{CLAIM}")
    result = read_paths([tmp_path])
    assert len(result.documents) == 1
    assert str(result.problems[0]) == (
        f"{tmp_path}/a.yaml:12: ResourceClaim default/gpu: is already defined at {tmp_path}/a.yaml:1; "
        f"keep one of the two"
    )
