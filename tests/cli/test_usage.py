"""What is said about a command line that cannot be meant."""

from __future__ import annotations

import pytest

from support.cli import run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explian", "x"), "error: there is no command 'explian'; did you mean explain?"),
        (("zzz",), "error: there is no command 'zzz'; there are run, simulate, "),
        (("devices", "extra"), "dra-scheduler devices: error: unrecognized arguments: extra"),
        (("explain", "p", "-A"), "dra-scheduler explain: error: unrecognized arguments: -A"),
        (("audit", "--settle", "-5"), "dra-scheduler audit: error: argument --settle: "),
        (("audit", "--settle", "nan"), "argument --settle: 'nan' is not a duration"),
        (("run", "--shadow", "--shadow-for", "soon"), "argument --shadow-for: 'soon' is not a duration"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_usage_is_answered_by_the_command_that_is_meant(words: tuple[str, ...], said: str) -> None:
    ran = run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
