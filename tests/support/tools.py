"""The programs of tools/ as modules: they are no package, and on nobody's path."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "tools"


def tool(name: str) -> ModuleType:
    """Return tools/NAME.py as a module."""
    spec = spec_from_file_location(f"tools.{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
