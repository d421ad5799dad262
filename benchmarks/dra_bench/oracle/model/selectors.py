"""Values of expressions, asked of Kubernetes: the model must not depend on our own selector language."""

from __future__ import annotations

from typing import Any, Protocol

from dra_bench.oracle.model.pools import AttemptFailedError, DeviceKey, Pool

JSON = dict[str, Any]


class Asks(Protocol):
    """The oracle, as far as the model needs it."""

    def ask(self, question: JSON) -> JSON:
        """Return the answer to a question."""
        ...


class Expressions:
    """Evaluates each expression once, over all devices of the pools."""

    def __init__(self, oracle: Asks, features: JSON, pools: list[Pool]) -> None:
        self._oracle = oracle
        self._gates = {
            "EnableConsumableCapacity": features["ConsumableCapacity"],
            "EnableListTypeAttributes": features["ListTypeAttributes"],
        }
        self._keys = [pool.key(device) for pool in pools for device, _ in pool.devices()]
        self._devices = [
            {"driver": pool.driver} | {k: v for k, v in device.items() if k in _READ}
            for pool in pools
            for device, _ in pool.devices()
        ]
        self._answers: dict[tuple[str, str], JSON] = {}

    def matches(self, text: str, key: DeviceKey) -> bool:
        """Whether a selector holds on a device. Raises AttemptFailedError where it cannot be evaluated."""
        answer = self._answer("cel", text)
        letter = answer["letters"][self._keys.index(key)]
        if letter in "CE":
            raise AttemptFailedError(f"selector {text} on {key}")
        return bool(letter == "T")

    def derived(self, text: str, key: DeviceKey) -> JSON:
        """The derived attribute of a device. Raises AttemptFailedError."""
        answer = self._answer("derived", text)
        index = self._keys.index(key)
        if answer["letters"][index] in "CE":
            raise AttemptFailedError(f"derived attribute {text} on {key}")
        attribute: JSON = answer["attributes"][index]
        return attribute

    def _answer(self, kind: str, text: str) -> JSON:
        if (kind, text) not in self._answers:
            question = {"kind": kind, "expression": text, "devices": self._devices, "gates": self._gates}
            self._answers[kind, text] = self._oracle.ask(question)
        return self._answers[kind, text]


_READ = ("attributes", "capacity", "allowMultipleAllocations")
