"""`dra-scheduler demo` and `serve`: scenarios, the picture on terminals of any size, bad input, and the end."""

from __future__ import annotations

import asyncio
import io
import signal
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from dra_api.manifests import read_paths
from dra_embedded.http.listener import Place
from dra_scheduler.cli.embedded.cells import rows
from dra_scheduler.cli.embedded.colors import PALETTE, Colors
from dra_scheduler.cli.embedded.live import Screen, watching
from dra_scheduler.cli.embedded.picture import picture
from dra_scheduler.cli.embedded.running import StoppedError, running
from dra_scheduler.cli.embedded.scenarios import LARGEST, SCENARIOS, Scenario
from dra_scheduler.cli.embedded.sessions import Stage, kept, live_settings, shown
from dra_scheduler.cli.examples import example_path
from dra_scheduler.cli.exit_codes import OK, PENDING
from dra_scheduler.cli.simulate import settings_for
from dra_scheduler.cli.simulation import simulate
from support.cli import run
from support.tools import tool
from support.wall_clock import WallClock

scene_of = tool("render_demo").scene_of


def lines(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def terminal(width: int = 100, height: int = 30) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)


def pipe() -> Console:
    return Console(file=io.StringIO(), width=400, no_color=True)


def stage_of(scenario: Scenario) -> Stage:
    documents, begin = scenario.documents(), len(scenario.cluster)
    return Stage(documents[:begin], documents[begin:], live_settings(documents), seed=0)


def test_the_cats_are_those_of_the_example() -> None:
    example = read_paths([example_path("cats-cluster.yaml")]).documents
    published = [d.object["spec"] for d in example if d.object["kind"] == "ResourceSlice"]
    made = [obj["spec"] for obj in SCENARIOS["cats"](4, 8).cluster if obj["kind"] == "ResourceSlice"]
    assert made == published


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("nodes", "devices"), [(4, 8), (2, None), (7, 8)])
def test_each_scenario_ends_as_it_is_meant_to(name: str, nodes: int, devices: int | None) -> None:
    scenario = SCENARIOS[name](nodes, devices or LARGEST[name])
    documents = scenario.documents()
    result = simulate(documents, settings_for(documents))
    assert result.problems == []
    assert sum(not pod["spec"].get("nodeName") for pod in result.pods) == scenario.pending


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "full"])
def test_the_pods_to_try_do_what_their_names_say(name: str) -> None:
    scenario = SCENARIOS[name](4, 8)
    both = Scenario([*scenario.cluster, *scenario.pods], [*scenario.fits, *scenario.too_big], [], [], "")
    result = simulate(both.documents(), settings_for(both.documents()))
    assert [pod["metadata"]["name"] for pod in result.pods if not pod["spec"].get("nodeName")] == ["too-big"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--nodes", "0"), "--nodes 0: from 1 to 1000"),
        (("--devices", "99"), "--devices 99: from 1 to 31 in the scenario cats"),
        (("--scenario", "partitions", "--devices", "9"), "from 1 to 8 in the scenario partitions"),
        (("--kubeconfig", "x"), "go with --keep"),
        (("--listen", "127.0.0.1:6443"), "go with --keep"),
        (("--keep", "--listen", "0.0.0.0:0"), "--beyond-loopback allows it"),
        (("--keep", "--listen", "localhost"), "'localhost' is no IP address"),
        (("--keep", "--listen", "[::1"), "'[:' is no IP address"),
        (("--keep", "--listen", "127.0.0.1:http"), "'127.0.0.1:http' has no port from 0 to 65535"),
        (("--keep", "--kubeconfig", "/missing/folder/kubeconfig"), "/missing/folder/kubeconfig: the kubeconfig cannot"),
    ],
    ids=" ".join,
)
def test_bad_input_is_named(words: tuple[str, ...], problem: str) -> None:
    ran = run("demo", *words)
    assert ran.code == 2
    assert problem in ran.err
    assert "Traceback" not in ran.err


def test_ctrl_c_while_a_command_is_loaded_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dra_scheduler.cli.dispatch.import_module", interrupted)
    ran = run("demo")
    assert (ran.code, ran.err) == (130, "")


def test_a_port_in_use_is_named() -> None:
    with Place().open() as taken:
        ran = run("demo", "--keep", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert ran.code == 2
    assert "choose another port" in ran.err


def test_serve_says_what_is_wrong_with_its_files(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: Not_A_Name}\n")
    ran = run("serve", "-f", str(file))
    assert ran.code == 2
    assert f"{file}:" in ran.err


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50), (140, 12), (60, 15), (80, 13), (80, 5), (200, 6)])
def test_a_picture_keeps_within_its_terminal(name: str, width: int, height: int) -> None:
    console = terminal(width, height)
    console.print(picture(scene_of(name, 20, 8), Colors(), width, height))
    found = lines(console)
    assert max(len(line) for line in found) <= width
    assert len(found) <= height


def test_what_does_not_fit_is_counted() -> None:
    console = terminal(80, 30)
    console.print(picture(scene_of("full", 20), Colors(), 80, 30))
    text = "\n".join(lines(console))
    assert sum(line.startswith("+") for line in text.splitlines()) == 3, "nodes, pods, claims"
    assert "worker-21" in text, "what waits is shown first"


def test_a_whole_picture_has_everything_at_any_width() -> None:
    for width in (60, 80, 200):
        console = terminal(width)
        console.print(picture(scene_of("full", 12), Colors(), width))
        text = "\n".join(lines(console))
        assert all(f"node-{number}" in text for number in range(1, 13))
        assert "12 nodes, 96 devices, 96 in use; 13 pods, 12 placed, 1 pending" in " ".join(text.split())


def test_partitions_of_a_device_in_use_are_not_free() -> None:
    found = rows(scene_of("partitions", 1, 2))
    cells = {cell.name: cell for cell in found[0].cells}
    whole = next(name for name, cell in cells.items() if cell.holders == ("default/one-whole",))
    gpu = whole.removesuffix("-whole")
    assert {cell.blocked for name, cell in cells.items() if name.startswith(f"{gpu}-") and name != whole} == {True}
    assert found[0].free == 0 or all(not cells[f"{gpu}-quarter-{i}"].free for i in range(4))


def test_colors_stay_and_come_again() -> None:
    colors = Colors()
    given = [colors.of(f"pod-{number}") for number in range(len(PALETTE) + 1)]
    assert given[-1] == given[0]
    assert len(set(given)) == len(PALETTE)
    assert colors.of("pod-3") == given[3]


async def test_a_terminal_sees_it_happen_and_keeps_the_end() -> None:
    scenario, console = SCENARIOS["cats"](4, 8), terminal()
    assert await shown(stage_of(scenario), scenario.pending, console) == OK
    text = "\n".join(lines(console)[-25:])
    assert "1 pod, 1 placed" in text
    assert "pod-with-cats: assigned to node-" in text


async def test_pods_that_should_have_been_placed_make_the_exit_code() -> None:
    scenario, console = SCENARIOS["cats"](1, 2), terminal()
    assert await shown(stage_of(scenario), scenario.pending, console) == PENDING


async def test_a_kept_cluster_ends_by_a_signal_and_leaves_nothing() -> None:
    scenario, console = SCENARIOS["cats"](4, 8), terminal(120, 40)
    task = asyncio.create_task(kept(stage_of(scenario), Place(), None, console, scenario))
    async with asyncio.timeout(20):
        text = await _until(console, "export KUBECONFIG=")
    folder = Path(text.partition("export KUBECONFIG=")[2].split()[0]).parent
    assert folder.name.startswith("dra-")
    signal.raise_signal(signal.SIGINT)
    assert await task == OK
    assert "no RBAC" in text
    assert not await asyncio.to_thread(folder.exists)
    assert lines(console)[-1].endswith("The cluster is gone, and its files with it.")


async def test_a_kept_cluster_on_a_small_terminal_shows_all_that_is_to_be_pasted() -> None:
    scenario, console = SCENARIOS["cats"](4, 8), terminal(80, 24)
    footer = [f"line {number} {'x' * 70}" for number in range(8)]
    async with (
        running(scenario.documents(), None, WallClock(), Random(0)) as cluster,
        watching(cluster, WallClock()) as watched,
    ):
        console.print(Screen(console, cluster, watched, footer).frame(whole=False))
    found = lines(console)
    assert len(found) < 24
    assert found[-1].startswith("line 7")
    assert any("cat-7" in line for line in found), "no row is cut"


async def _until(console: Console, word: str) -> str:
    """What has been drawn once a word is in it: the clock is the machine's here, as the signal is."""
    while word not in (text := "\n".join(lines(console))):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    return text


async def test_a_part_that_ends_by_itself_ends_the_whole() -> None:
    async def broken() -> None:
        raise ValueError("broken")

    scenario = SCENARIOS["cats"](1, 8)
    async with running(scenario.documents(), None, WallClock(), Random(0)) as cluster:
        cluster.tasks.append(asyncio.create_task(broken(), name="a part"))
        with pytest.raises(StoppedError, match="a part has ended") as caught:
            await cluster.unless_stopped(asyncio.Event().wait())
    assert isinstance(caught.value.__cause__, ValueError)
