"""Where the example manifests are: beside the package in a wheel, in manifests/examples of a checkout."""

from __future__ import annotations

from pathlib import Path


class ExampleMissingError(Exception):
    """The installation is incomplete: install the distribution anew."""


def example_path(name: str) -> Path:
    """The path of an example file such as `cats.yaml`. Raises ExampleMissingError."""
    package = Path(__file__).resolve().parent
    for folder in (package / "example_manifests", package.parents[2] / "manifests" / "examples"):
        if (folder / name).is_file():
            return folder / name
    raise ExampleMissingError(f"the example manifest {name} is not installed; install dra-scheduler anew")
