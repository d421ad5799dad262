"""What the documents say is checked: their links, commands, files and the list of dependencies."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from dra_scheduler.cli.main import COMMANDS, PROGRAM

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("manifests/*.md")])
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))


def shell_lines(document: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(), re.DOTALL)
    lines = (line.split(" # ")[0].split("    #")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def inline_commands(document: Path) -> list[str]:
    return re.findall(r"`((?:make|\.venv/bin/dra-scheduler|dra-scheduler) [^`\n]+)`", document.read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_link_into_the_project_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_every_command_in_a_document_exists(document: Path) -> None:
    for line in shell_lines(document) + inline_commands(document):
        words = [word for word in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=\S*", word)]
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= TARGETS, line
        elif words[0].endswith("dra-scheduler") and len(words) > 1 and words[1] in COMMANDS:
            PROGRAM.parser(words[1]).parse_args([word for word in words[1:] if word not in ("...", "[...]")])


def test_every_makefile_target_explains_itself() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == TARGETS


def test_every_file_of_a_contract_exists_and_states_it() -> None:
    table = re.search(r"## The five contracts.*?\n\n(?=## )", (ROOT / "docs/architecture.md").read_text(), re.DOTALL)
    assert table is not None
    rows = re.findall(r"^\| (\d)\. .*\| (.*) \|$", table.group(0), re.MULTILINE)
    assert [number for number, _ in rows] == ["1", "2", "3", "4", "5"]
    for number, files in rows:
        paths = re.findall(r"`([^`]+)`", files)
        first = ROOT / paths[0]
        for name in paths:
            path = ROOT / name if "/" in name else first.parent / name
            assert path.is_file(), name
            assert f"contract {number}" in path.read_text().lower(), f"{name} does not state contract {number}"


def test_every_dependency_is_pinned_and_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()}
    reasons = (ROOT / "docs/dependencies.md").read_text().lower()
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        name = re.split(r"[<>=\[]", requirement)[0].lower().replace("_", "-")
        assert name in pinned, f"{name} is not pinned in constraints.txt"
        assert name in reasons, f"{name} has no reason in docs/dependencies.md"
