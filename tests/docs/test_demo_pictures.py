"""The pictures of the demo in docs/ are what it shows."""

from __future__ import annotations

from support.tools import tool

render = tool("render_demo")


def test_the_pictures_are_up_to_date() -> None:
    for width, scenario in render.PICTURES:
        text = (render.DOCS / f"demo-{width}.svg").read_text()
        assert text == render.render(width, scenario), "run python tools/render_demo.py"
