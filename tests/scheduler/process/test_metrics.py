from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_scheduler.metrics import Figures, render

LINE = re.compile(r'dra_scheduler_[a-z_]+(\{[a-z]+="(\\.|[^"\\\n])*"(,[a-z]+="(\\.|[^"\\\n])*")*\})? \S+')


def test_figures_of_one_name_are_one_family() -> None:
    figures = Figures()
    figures.gauge("queue_pods", "Pods.", 2, place="active")
    figures.counter("lists_total", "Lists.", 1)
    figures.gauge("queue_pods", "Pods.", 0.5, place='back"off\n')
    assert render(figures.metrics()) == (
        "# HELP dra_scheduler_queue_pods Pods.\n"
        "# TYPE dra_scheduler_queue_pods gauge\n"
        'dra_scheduler_queue_pods{place="active"} 2\n'
        'dra_scheduler_queue_pods{place="back\\"off\\n"} 0.5\n'
        "# HELP dra_scheduler_lists_total Lists.\n"
        "# TYPE dra_scheduler_lists_total counter\n"
        "dra_scheduler_lists_total 1\n"
    )


@given(st.text(), st.text(), st.floats())
def test_every_line_can_be_parsed_and_the_number_read_back(label: str, text: str, value: float) -> None:
    figures = Figures()
    figures.gauge("x", text, value, label=label)
    out = render(figures.metrics())
    *comments, line = [part for part in out.split("\n") if part]
    assert LINE.fullmatch(line)
    assert all(comment.startswith("# ") for comment in comments)
    number = float(line.rpartition(" ")[2].replace("Inf", "inf").replace("NaN", "nan"))
    assert number == pytest.approx(value) or (math.isnan(number) and math.isnan(value))
