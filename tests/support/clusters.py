"""Hypothesis strategies: small clusters in which everything that the allocator knows can happen."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass

from hypothesis import strategies as st

from dra_allocator.claim import Constraint, DeviceRequest, ResourceClaim, Toleration
from dra_allocator.device import CapacityPolicy, CapacityRange, Device, DeviceID, DeviceTaint, ResourceSlice
from dra_cel.quantity import Quantity
from support.devices import ANY, DRIVER, claim, counter_set, counters, device, distinct, match, request, resource_slice
from support.whole_choice import Held

NODES = ("n1", "n2")
MODEL = f'device.attributes["{DRIVER}"].model == "%s"'
_RANGE = CapacityRange(Quantity.from_int(1), Quantity.from_int(4), Quantity.from_int(2))
_POLICIES = (None, CapacityPolicy(default=Quantity.from_int(1)), CapacityPolicy(Quantity.from_int(1), (), _RANGE))


@dataclass(frozen=True, slots=True, repr=False)
class World:
    """Slices, who holds what, and what is asked for."""

    slices: tuple[ResourceSlice, ...]
    held: Held
    claims: tuple[ResourceClaim, ...]

    def __repr__(self) -> str:
        return "\n".join(_without_defaults(one) for one in (*self.slices, self.held, *self.claims))


def _without_defaults(value: object) -> str:
    if not is_dataclass(value) or isinstance(value, type | Quantity):
        if isinstance(value, tuple) and value and is_dataclass(value[0]):
            return "(" + ", ".join(_without_defaults(one) for one in value) + ")"
        return str(value)
    shown = [
        f"{entry.name}={_without_defaults(getattr(value, entry.name))}"
        for entry in fields(value)
        if getattr(value, entry.name) not in (entry.default, {}, ())
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


@st.composite
def devices(draw: st.DrawFn, name: str, rich: bool) -> Device:
    values: dict[str, object] = {"model": draw(st.sampled_from("ab"))}
    numa = draw(st.sampled_from((1, 2, None, (1, 2), (2, 3))))
    if numa is not None:
        values["numa"] = numa
    kind = draw(st.sampled_from(("plain", "plain", "tainted", "partition", "shared", "binding"))) if rich else "plain"
    if kind == "tainted":
        values["taints"] = (
            DeviceTaint(draw(st.sampled_from("xy")), effect=draw(st.sampled_from(("NoSchedule", "None")))),
        )
    if kind == "partition" or (kind == "shared" and draw(st.booleans())):
        groups = draw(st.sampled_from(((), (), ("g",), ("g", "h"), ("h",))))
        values["consumes_counters"] = (counters("set", groups, slots=draw(st.integers(1, 3))),)
    if kind == "binding":
        values["binding_conditions"] = ("attached",)
    if kind == "shared":
        values["allow_multiple_allocations"] = True
        return device(name, memory=str(draw(st.integers(1, 4))), policy=draw(st.sampled_from(_POLICIES)), **values)
    return device(name, **values)


@st.composite
def pools(draw: st.DrawFn, name: str, rich: bool) -> list[ResourceSlice]:
    count = draw(st.integers(1, 2))
    node = draw(st.sampled_from(("n1", "n1", "n2", None)))
    where = {"node": node} if node else {"scope": ANY}
    shape = {"pool": name, "slice_count": count + 1, "generation": draw(st.integers(1, 2))}
    slices = [resource_slice(f"{name}-0", shared_counters=(counter_set("set", slots=4),), **where, **shape)]
    for number in range(1, count + 1):
        some = [draw(devices(f"{name}{number}{i}", rich)) for i in range(draw(st.integers(0, 3)))]
        slices.append(resource_slice(f"{name}-{number}", some, **where, **shape))
    if draw(st.integers(0, 5)) == 0:
        slices.append(resource_slice(f"{name}-old", [device("old")], **where, pool=name, generation=0))
    return slices


@st.composite
def requests(draw: st.DrawFn, name: str, rich: bool) -> DeviceRequest:
    if rich and name != "sub" and draw(st.integers(0, 4)) == 0:
        subs = [draw(requests("sub", rich)) for _ in range(draw(st.integers(1, 2)))]
        named = [DeviceRequest(**{**_values(one), "name": f"s{number}"}) for number, one in enumerate(subs)]
        return DeviceRequest(name, first_available=tuple(named))
    values: dict[str, object] = {}
    if draw(st.booleans()):
        values["selectors"] = (MODEL % draw(st.sampled_from("ab")),)
    if rich:
        values["mode"] = draw(st.sampled_from(("ExactCount", "ExactCount", "ExactCount", "All")))
        values["tolerations"] = draw(
            st.sampled_from(((), (Toleration(operator="Exists"),), (Toleration("x", "Exists"),)))
        )
        values["admin_access"] = name != "sub" and draw(st.integers(0, 5)) == 0
        if draw(st.integers(0, 3)) == 0:
            values["capacity"] = {"memory": Quantity.from_int(draw(st.integers(1, 4)))}
    return request(name, draw(st.integers(1, 3)), **values)


def _values(one: DeviceRequest) -> dict[str, object]:
    return {name: getattr(one, name) for name in DeviceRequest.__slots__}


@st.composite
def claims(draw: st.DrawFn, name: str, rich: bool) -> ResourceClaim:
    asked = [draw(requests(f"r{number}", rich)) for number in range(draw(st.integers(1, 2)))]
    names = draw(st.sampled_from(((), ("r0",))))
    constraints: list[Constraint] = []
    for kind in draw(st.lists(st.sampled_from((match, distinct)), max_size=2)):
        constraints.append(kind(draw(st.sampled_from(("model", "numa"))), *names))
    return claim(*asked, name=name, constraints=constraints)


@st.composite
def worlds(draw: st.DrawFn, rich: bool = True) -> World:
    slices = [one for name in ("p", "q")[: draw(st.integers(1, 2))] for one in draw(pools(name, rich))]
    held: dict[DeviceID, list[dict[str, int] | None]] = {}
    for one in slices:
        for entry in one.devices:
            if draw(st.integers(0, 3)) == 0:
                share = {"memory": 10**9} if entry.capacity else {}
                is_shared = entry.allow_multiple_allocations and draw(st.booleans())
                held[DeviceID(one.driver, one.pool, entry.name)] = [share if is_shared else None]
    asked = [draw(claims(f"c{number}", rich)) for number in range(draw(st.integers(1, 2)))]
    return World(tuple(slices), held, tuple(asked))
