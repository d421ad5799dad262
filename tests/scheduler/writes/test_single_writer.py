from __future__ import annotations

import ast
from pathlib import Path

import dra_scheduler
import dra_scheduler.writes

PACKAGE = Path(dra_scheduler.__file__).parent
WRITING = {"create", "patch", "replace", "delete"}


def test_only_the_writers_write_to_the_cluster() -> None:
    offenders = []
    for file in PACKAGE.rglob("*.py"):
        inside = file.relative_to(PACKAGE)
        # `api` only names the verbs; commands of the shell write to the embedded cluster of their own; asking for
        # one's own rights is a POST that stores nothing.
        if inside.parts[0] in ("writes", "cli") or str(inside) in ("client/api.py", "survey/access_review.py"):
            continue
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Attribute) and called.attr in WRITING:
                    offenders.append(f"{inside}:{node.lineno}")
            if isinstance(node, ast.Constant) and node.value in ("POST", "PUT", "PATCH", "DELETE"):
                offenders.append(f"{inside}:{node.lineno}")
    assert offenders == []
