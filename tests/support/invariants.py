"""What must hold in every cluster that our scheduler has worked on."""

from __future__ import annotations

from dra_bench.simulation.judge import unsafe
from dra_bench.simulation.state import read_state
from dra_embedded.clients.api import Api
from support.stage import Stage


async def check_invariants(stage: Stage) -> None:
    """No device has two users, nothing is bound unreserved, nothing is leaked, nothing beyond what a node has."""
    assert list(unsafe(await read_state(Api(stage.cluster.transport)))) == []
