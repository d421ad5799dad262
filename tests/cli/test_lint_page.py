"""docs/lint.md: every finding is explained there, and every example does what the page says."""

from __future__ import annotations

import pytest

from dra_scheduler.lint.registry import RULES
from support.lint import names, report_on
from support.lint_page import BASE, SECTIONS


def test_every_finding_has_a_section_in_the_order_of_the_rules() -> None:
    assert list(SECTIONS) == list(RULES)


@pytest.mark.parametrize("name", RULES)
def test_the_page_gives_severity_and_summary(name: str) -> None:
    rule = RULES[name]
    assert SECTIONS[name].text.startswith(f"{rule.severity.capitalize()}: {rule.summary}.")


@pytest.mark.parametrize("name", RULES)
def test_the_bad_example_has_just_this_finding(name: str) -> None:
    report = report_on(BASE, SECTIONS[name].bad)
    assert not report.unreadable
    assert set(names(report)) == {name}, [str(one) for one in report.findings]
    assert all(one.problem.line and one.problem.problem for one in report.findings)


@pytest.mark.parametrize("name", RULES)
def test_the_good_example_has_no_finding(name: str) -> None:
    report = report_on(BASE, SECTIONS[name].good)
    assert not report.unreadable
    assert [str(one) for one in report.findings] == []


def test_the_objects_that_all_examples_share_have_no_finding() -> None:
    assert names(report_on(BASE)) == []
