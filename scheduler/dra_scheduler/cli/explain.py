"""`dra-scheduler explain`: why a pod is pending, or why its devices are the ones that it has."""

from __future__ import annotations

import argparse
import asyncio
import difflib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dra_api.references import CORE_EVENT, NAMESPACE, POD, RESOURCE_CLAIM_TEMPLATE, key_of
from dra_api.transport import Transport
from dra_scheduler.cli.cluster_access import add_access, guarded, look, on_cluster, report_gaps
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.cli.explained import rejection_lines
from dra_scheduler.cli.output import print_data
from dra_scheduler.client.api import Api
from dra_scheduler.client.errors import ApiStatusError
from dra_scheduler.explain.account import Account, ClaimAccount, account
from dra_scheduler.explain.placed import Chosen
from dra_scheduler.report.explanation import Viewer, as_data, note, summary
from dra_scheduler.survey.api_server import take
from dra_scheduler.survey.known import known
from dra_scheduler.survey.snapshot import Object, Snapshot
from dra_scheduler.system_clock import SystemClock

DEFAULT = "default"
EXAMPLE = """Works for pods of any scheduler. What is said of a pending pod is what this program's own scheduling cycle
finds in the cluster as it is now, as if the pod came next; what its scheduler said is shown beside it.

exit codes: 0 explained, 2 there is no such pod or something cannot be read, 3 the cluster has no resource.k8s.io

example:
  dra-scheduler explain pod/training-0 -n research
  dra-scheduler explain training-0 -o json
  dra-scheduler explain pod/training-0 -f dump.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `explain`."""
    parser.add_argument("pod", metavar="pod/NAME", help="the pod; `pod/` may be left out")
    parser.add_argument(
        "-n", "--namespace", metavar="NS", help="its namespace; default: that of the context, or default"
    )
    add_access(parser)
    parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text", help="default: text")


def execute(arguments: argparse.Namespace) -> int:
    """Explain; returns the exit code."""
    kind, slash, name = arguments.pod.rpartition("/")
    if slash and kind not in ("pod", "pods", "po"):
        print(f"error: {kind} cannot be explained; name a pod: pod/{name}", file=sys.stderr)
        return BAD_INPUT
    if not name:
        print("error: name a pod: pod/NAME", file=sys.stderr)
        return BAD_INPUT
    if arguments.filename:
        return guarded(lambda: asyncio.run(_explain(arguments, name, look(arguments), None)))
    return on_cluster(arguments, lambda transport: _live(arguments, name, transport))


async def _live(arguments: argparse.Namespace, name: str, transport: Transport) -> int:
    snapshot = await take(transport, SystemClock())
    report_gaps(snapshot)
    events = await _events(transport, arguments.namespace or DEFAULT, name)
    return await _explain(arguments, name, snapshot, events)


async def _events(transport: Transport, namespace: str, name: str) -> list[Object]:
    query = {"fieldSelector": f"involvedObject.kind=Pod,involvedObject.name={name}"}
    try:
        found = await Api(transport).list(CORE_EVENT.path(namespace=namespace), query)
    except ApiStatusError as error:
        print(f"warning: events are not shown: {error}", file=sys.stderr)
        return []
    items: list[Object] = found.get("items") or []
    return items


async def _explain(arguments: argparse.Namespace, name: str, snapshot: Snapshot, events: list[Object] | None) -> int:
    namespace = arguments.namespace or DEFAULT
    pod = snapshot.find(POD, namespace, name)
    if pod is None:
        print(f"error: {_no_such(snapshot, namespace, name)}", file=sys.stderr)
        return BAD_INPUT
    cluster, problems = known(snapshot)
    mine = f"Pod {namespace}/{name}:"
    for problem in problems:
        if problem.startswith(mine):
            print(f"error: the pod cannot be read: {problem}", file=sys.stderr)
            return BAD_INPUT
    told = await account(cluster, pod, snapshot.of(CORE_EVENT) if events is None else events, SystemClock())
    told = replace(told, notes=(*told.notes, *_templates(snapshot, told)))
    if arguments.output == "text":
        print("\n".join(_lines(told)))
    else:
        print_data(_data(told), arguments.output)
    return OK


def _templates(snapshot: Snapshot, told: Account) -> Iterator[str]:
    """Yield which templates that claims are to be made from do not exist: a scheduler does not know, a reader does."""
    verdict = told.verdict
    if verdict is None or verdict.explanation is None or not snapshot.has(RESOURCE_CLAIM_TEMPLATE):
        return
    known = [key_of(obj) for obj in snapshot.of(RESOURCE_CLAIM_TEMPLATE)]
    here = [name for _, namespace, name in known if namespace == told.namespace]
    for wanted in dict.fromkeys(one.template for one in verdict.explanation.missing if one.template):
        if wanted not in here:
            near = difflib.get_close_matches(wanted, here, 1)
            elsewhere = [namespace for _, namespace, name in known if name == wanted]
            hint = f"; did you mean {near[0]}?" if near else ""
            hint = f"; there is one in namespace {elsewhere[0]}" if elsewhere else hint
            yield f"ResourceClaimTemplate {told.namespace}/{wanted} does not exist{hint}"


def _no_such(snapshot: Snapshot, namespace: str, name: str) -> str:
    if not snapshot.has(POD):
        return "pods may not be read"
    pods = [pod["metadata"] for pod in snapshot.of(POD)]
    elsewhere = sorted({one["namespace"] for one in pods if one["name"] == name})
    spaces = {one["namespace"] for one in pods} | {one["metadata"]["name"] for one in snapshot.of(NAMESPACE)}
    if elsewhere:
        return f"there is no pod {name} in namespace {namespace}, but in {', '.join(elsewhere)}: use -n"
    if namespace not in spaces and snapshot.has(NAMESPACE):
        near = difflib.get_close_matches(namespace, sorted(spaces), 1)
        return f"there is no namespace {namespace}" + (f"; did you mean {near[0]}?" if near else "")
    near = difflib.get_close_matches(name, [one["name"] for one in pods if one["namespace"] == namespace], 1)
    return f"there is no pod {name} in namespace {namespace}" + (f"; did you mean {near[0]}?" if near else "")


def _lines(told: Account) -> Iterator[str]:
    where = f" on {told.node}" if told.node else ""
    yield f"Pod {told.namespace}/{told.name} is {told.state}{where} (scheduler {told.scheduler})"
    yield from (f"  {note}" for note in told.notes)
    yield from _verdict_lines(told)
    for claim in told.claims:
        yield from _claim_lines(claim)
    if told.said.condition or told.said.events:
        yield f"what was said about it by {told.scheduler} and others:"
    known = _known_texts(told)
    if told.said.condition:
        yield f"  condition PodScheduled: {_once(told.said.condition, known)}"
    yield from (f"  event {_once(event, known)}" for event in told.said.events)


def _known_texts(told: Account) -> tuple[str, ...]:
    """Return what the verdict's lines have said: in an event, and in the condition."""
    verdict = told.verdict
    if verdict is None or not verdict.reason:
        return ()
    if verdict.explanation is None:
        return (verdict.reason,)
    own = Viewer(told.namespace, told.viewer.name_of)
    return note(verdict.reason, verdict.explanation, own), verdict.reason


def _once(text: str, known: Iterable[str]) -> str:
    """Return what somebody said, unless it has been said: then only who said it."""
    told = next((one for one in known if text.endswith(f": {one}")), None)
    return text if told is None else f"{text.removesuffix(told)}as above"


def _verdict_lines(told: Account) -> Iterator[str]:
    verdict = told.verdict
    if verdict is None:
        return
    if verdict.waits:
        yield f"  {verdict.waits}"
    elif verdict.node:
        yield f"  it fits on {verdict.node} now" + (" with:" if verdict.devices else ", with the devices that it has")
        yield from (f"    claim {claim}, request {request}: {device}" for claim, request, device in verdict.devices)
    else:
        lines = rejection_lines(verdict.reason, verdict.explanation, told.viewer)
        yield from (f"  {line}" for line in lines)


def _claim_lines(claim: ClaimAccount) -> Iterator[str]:
    yield f"claim {claim.name}: {claim.state}"
    for one in claim.skipped:
        yield f"  request {one.request} was preferred, but: {one.why}"
    for device in claim.devices:
        yield from _device_lines(device)


def _device_lines(one: Chosen) -> Iterator[str]:
    admin = ", admin access" if one.admin else ""
    gone = ", which is not published any more" if one.missing else ""
    yield f"  {one.device}{gone}"
    yield f"    for request {one.request}: {one.asked or 'not in the claim'} of class {one.device_class or '?'}{admin}"
    for selection in one.selections:
        holds = "holds" if selection.now == "true" else f"does not hold now: {selection.now}"
        yield f"    selector of the {selection.origin} {holds}: {' '.join(selection.text.split())}"
    for bound in one.constraints:
        same = "all the same" if bound.kind == "match" else "all different"
        yield f"    constraint: {bound.attribute} {same}, here {bound.value}"
    if one.consumed:
        yield f"    takes a share: {', '.join(f'{name} {amount}' for name, amount in one.consumed)}"
    yield from (f"    configured {text}" for text in one.config)


def _data(told: Account) -> dict[str, Any]:
    found: dict[str, Any] = {
        "namespace": told.namespace,
        "name": told.name,
        "scheduler": told.scheduler,
        "state": told.state,
        "node": told.node,
        "notes": list(told.notes),
        "said": {"condition": told.said.condition, "events": list(told.said.events)},
        "claims": [_claim_data(claim) for claim in told.claims],
    }
    if told.verdict is not None:
        found["verdict"] = _verdict_data(told)
    return {key: value for key, value in found.items() if value not in ("", [])}


def _verdict_data(told: Account) -> dict[str, Any]:
    verdict = told.verdict
    assert verdict is not None
    if verdict.waits:
        return {"waits": verdict.waits}
    if verdict.node:
        devices = [{"claim": claim, "request": request, "device": device} for claim, request, device in verdict.devices]
        return {"fits": {"node": verdict.node, "devices": devices}}
    found: dict[str, Any] = {"reason": verdict.reason}
    if verdict.explanation is not None:
        found["summary"] = summary(verdict.explanation, told.viewer)
        found["explanation"] = as_data(verdict.explanation, told.viewer)
    return found


def _claim_data(claim: ClaimAccount) -> dict[str, Any]:
    skipped = [{"request": one.request, "why": one.why} for one in claim.skipped]
    found = {
        "name": claim.name,
        "state": claim.state,
        "skipped": skipped,
        "devices": [_device_data(one) for one in claim.devices],
    }
    return {key: value for key, value in found.items() if value != []}


def _device_data(one: Chosen) -> dict[str, Any]:
    found = {
        "request": one.request,
        "device": one.device,
        "class": one.device_class,
        "asked": one.asked,
        "selectors": [{"of": s.origin, "expression": s.text, "now": s.now} for s in one.selections],
        "constraints": [{"kind": b.kind, "attribute": b.attribute, "value": b.value} for b in one.constraints],
        "consumed": dict(one.consumed),
        "config": list(one.config),
        "adminAccess": one.admin,
        "missing": one.missing,
    }
    return {key: value for key, value in found.items() if value not in ("", [], {}, False)}
