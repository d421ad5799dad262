"""Write docs/demo-80.svg and docs/demo-200.svg: what `dra-scheduler demo` shows on narrow and wide terminals.

python tools/render_demo.py          write them
python tools/render_demo.py --check  exit code 1 if they are not up to date
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
from pathlib import Path
from random import Random

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from dra_embedded.virtual_time import VirtualClock, run_virtual
from dra_scheduler.cli.embedded.colors import Colors
from dra_scheduler.cli.embedded.live import watching
from dra_scheduler.cli.embedded.picture import picture
from dra_scheduler.cli.embedded.running import running
from dra_scheduler.cli.embedded.scenarios import SCENARIOS
from dra_scheduler.cli.embedded.scene import Scene
from dra_scheduler.cli.simulate import settings_for

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURES = ((80, "gpus"), (200, "full"))
# Terminals bring their own font; a picture in a repository loads none from elsewhere.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def scene_of(scenario_name: str, nodes: int = 4, devices: int = 8, seed: int = 0) -> Scene:
    """A scenario, lived through in virtual time: the same each time."""
    scenario = SCENARIOS[scenario_name](nodes, devices)
    documents, begin = scenario.documents(), len(scenario.cluster)

    async def play(clock: VirtualClock) -> Scene:
        settings = settings_for(documents)
        async with (
            running(documents[:begin], settings, clock, Random(seed)) as cluster,
            watching(cluster, clock) as watched,
        ):
            for document in documents[begin:]:
                cluster.add([document])
                await asyncio.sleep(1)
            await cluster.settle()
            return watched.scene()

    return run_virtual(play)


def render(width: int, scenario: str) -> str:
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(picture(scene_of(scenario), Colors(), width))
    title = f"dra-scheduler demo --scenario {scenario}"
    text = console.export_svg(title=title, code_format=FORMAT, unique_id=f"demo-{width}")
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def main(arguments: list[str]) -> int:
    stale = []
    for width, scenario in PICTURES:
        path, text = DOCS / f"demo-{width}.svg", render(width, scenario)
        if not path.exists() or path.read_text() != text:
            stale.append(path.name)
            if "--check" not in arguments:
                path.write_text(text)
    if stale and "--check" in arguments:
        print(f"out of date: {', '.join(stale)}; python tools/render_demo.py writes them")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
