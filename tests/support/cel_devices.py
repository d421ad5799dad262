"""Four devices that selector tests evaluate, and the letters in which they note outcomes."""

from __future__ import annotations

from dra_cel import CompileError, DeviceFields, EvaluationError, Quantity, Semver, compile_selector, qualify

GPU = "gpu.example.com"
A = f'device.attributes["{GPU}"]'
C = f'device.capacity["{GPU}"]'


def device(
    driver: str, sharing: bool = False, capacity: dict[str, str] | None = None, **attributes: object
) -> DeviceFields:
    """Build a device; names that hold `__` stand for domain and name."""
    named = {qualify(name, driver): value for name, value in attributes.items()}
    sizes = {qualify(name, driver): Quantity.parse(text) for name, text in (capacity or {}).items()}
    return DeviceFields(driver, named, sizes, sharing)  # type: ignore[arg-type]


_D1 = device(
    GPU,
    capacity={"memory": "80Gi", "ext.example.com/slots": "7"},
    model="A100",
    index=0,
    ecc=True,
    numa=1,
    driverVersion=Semver.parse("535.104.5"),
    nics=("n0", "n1"),
    lanes=(8, 16),
    **{"ext.example.com/rack": "r7"},
)
_D2 = device(
    GPU,
    sharing=True,
    capacity={"memory": "40960Mi"},
    model="H100",
    index=1,
    ecc=False,
    driverVersion=Semver.parse("550.54.15-rc.1"),
)
_D3 = device("nic.example.com", capacity={"bandwidth": "100G"}, speed=100, **{"gpu.example.com/model": "none"})
_D4 = device(GPU)

DEVICES = [_D1, _D2, _D3, _D4]


def outcomes(text: str, **options: bool) -> str:
    """Return one letter per device: T, F, E (run-time error), or CCCC where the text does not compile."""
    text = text.replace("$A", A).replace("$C", C)
    try:
        selector = compile_selector(text, **options)
    except CompileError:
        return "CCCC"
    return "".join(outcome(selector.matches, device) for device in DEVICES)


def outcome(evaluate: object, *args: object) -> str:
    """Return the letter of one evaluation."""
    try:
        return "T" if evaluate(*args) else "F"  # type: ignore[operator]
    except EvaluationError:
        return "E"
