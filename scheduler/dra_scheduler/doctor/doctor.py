"""All checks in the order in which things have to work."""

from __future__ import annotations

from dra_api.clock import Clock
from dra_api.references import LEASE
from dra_api.transport import Transport
from dra_scheduler.client.api import Api
from dra_scheduler.client.discovery import discover
from dra_scheduler.client.errors import ApiStatusError, NoResourceApiError
from dra_scheduler.doctor import server, workings
from dra_scheduler.doctor.check import Check
from dra_scheduler.doctor.rights import rights
from dra_scheduler.survey.api_server import take
from dra_scheduler.survey.known import known
from dra_scheduler.survey.snapshot import Object


async def examine(transport: Transport, clock: Clock, scheduler_name: str = "dra-scheduler") -> list[Check]:
    """Run all checks. Raises UnauthorizedError, ResponseError and TransportError if the server cannot be asked."""
    api = Api(transport)
    try:
        served = await discover(api)
    except NoResourceApiError as error:
        return [Check("api", "problem", str(error), "switch Dynamic Resource Allocation on, or update the cluster")]
    snapshot = await take(transport, clock)
    cluster, problems = known(snapshot)
    checks = [
        server.api(served),
        server.gates(snapshot),
        server.old_versions(served, snapshot),
        await server.clock(transport, clock),
        workings.claim_controller(snapshot),
        workings.drivers(snapshot, cluster),
        workings.classes(snapshot, cluster),
        workings.rivals(snapshot, cluster, await _kube_scheduler_lease(api), scheduler_name),
        *await rights(transport, served),
    ]
    if problems:
        text = f"{len(problems)} objects cannot be read: {problems[0]}"
        checks.append(Check("objects", "problem", text, "correct or delete them; audit names them all"))
    return checks


async def _kube_scheduler_lease(api: Api) -> Object | None:
    try:
        return await api.get(LEASE.path(namespace="kube-system", name="kube-scheduler"))
    except ApiStatusError:
        return None  # it does not exist where leader election is off, and may not be readable
