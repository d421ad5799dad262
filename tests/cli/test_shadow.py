"""`dra-scheduler run --shadow`: what people and machines read, and which options go together."""

from __future__ import annotations

import json

import pytest

from dra_scheduler.cli.shadow import print_compared, print_summary
from dra_scheduler.shadow.opinion import KINDS, SERIOUS, Compared
from dra_scheduler.shadow.tally import Tally
from support.cli import run
from support.stage import claim, device_class, node, pod, resource_slice
from support.survey import run_on, serve

OTHER = Compared(
    "other-node",
    "default",
    "p",
    "default-scheduler",
    our_node="a",
    our_devices={"one": ("gpu=gpu.example.com/a/gpu-0",)},
    their_node="b",
    their_devices={"one": ("gpu=gpu.example.com/b/gpu-0",)},
    our_seconds=0.0012,
    their_seconds=0.034,
)
WRONG = Compared("only-theirs", "default", "q", "default-scheduler", their_node="b", text="none of 2 devices matches")


def test_each_difference_is_a_line_and_a_contradiction_stands_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_compared(OTHER, "text")
    print_compared(WRONG, "text")
    assert capsys.readouterr().out.splitlines() == [
        "other-node: pod default/p (default-scheduler): ours: a with gpu=gpu.example.com/a/gpu-0, "
        "theirs: b with gpu=gpu.example.com/b/gpu-0",
        "! only-theirs: pod default/q (default-scheduler): ours: nowhere, theirs: b; none of 2 devices matches",
    ]


def test_machines_get_a_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    for compared in (OTHER, WRONG):
        tally.add(compared)
        print_compared(compared, "json")
    print_summary(tally, "json")
    first, second, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (first["kind"], first["serious"], first["ours"]["node"], first["ourMilliseconds"]) == (
        "other-node",
        False,
        "a",
        1.2,
    )
    assert (second["serious"], second["theirs"]["node"]) == (True, "b")
    assert last["summary"]["pods"] == {"other-node": 1, "only-theirs": 1}
    assert last["summary"]["milliseconds"]["theirs"]["max"] == 34.0


def test_the_summary_says_what_the_kinds_mean_and_how_long_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    tally.add(OTHER)
    print_summary(tally, "text")
    out = capsys.readouterr().out
    assert f"1 other-node ({KINDS['other-node']})" in out
    assert "they bind after 34.0 ms (median)" in out
    assert tally.serious == 0
    assert set(KINDS) >= SERIOUS


def test_a_shadow_runs_for_as_long_as_it_is_told_and_only_reads() -> None:
    served = serve(node("a"), device_class(), resource_slice("a", 1), claim("one"), pod("p", claim="one"))
    ran = run_on(served, "run", "--shadow", "--shadow-for", "0.3")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        "shadowing every scheduler; nothing is written",
        "summary: nothing to compare yet, pods that we have decided: 1",
    ]
    assert served.methods == {"GET", "WATCH"}


def test_a_shadow_that_may_not_read_says_so_and_does_not_wait_for_the_right() -> None:
    served = serve(node("a"), forbidden=("/api/v1/nodes",))
    ran = run_on(served, "run", "--shadow", "--shadow-for", "0.3")
    assert ran.code == 1
    assert "error: nodes may not be listed: the rule for apiGroups [''], resources ['nodes']" in ran.err


@pytest.mark.parametrize(
    "words", [("--shadow", "--http", "127.0.0.1:0"), ("--shadow-for", "5"), ("-o", "json")], ids=" ".join
)
def test_options_that_do_not_go_together_are_refused(words: tuple[str, ...]) -> None:
    ran = run("run", *words)
    assert ran.code == 2
    assert "--shadow" in ran.err
