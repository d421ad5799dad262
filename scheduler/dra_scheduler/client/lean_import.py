"""kubernetes_asyncio's configuration without its generated models.

Importing anything of that package imports all of it: some 900 modules of models, most of a second, none of it of use
here. So its configuration modules are imported under bare parent packages, and the process is left as if that had not
happened: whoever imports kubernetes_asyncio later gets it whole, unrelated to what we hold.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from dataclasses import dataclass
from functools import cache
from typing import Any

PACKAGE = "kubernetes_asyncio"


@dataclass(frozen=True, slots=True)
class Configuring:
    """What we use of kubernetes_asyncio."""

    configuration: Any
    """client.configuration.Configuration"""
    merger: Any
    """config.kube_config.KubeConfigMerger"""
    loader: Any
    """config.kube_config.KubeConfigLoader"""
    in_cluster: Any
    """config.incluster_config.InClusterConfigLoader"""
    error: type[Exception]
    """config.config_exception.ConfigException"""


@cache
def configuring() -> Configuring:
    """Import it, once for each process."""
    if PACKAGE in sys.modules:
        return _collect()  # somebody paid for all of it already
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return _collect()  # not installed as usual: the import itself says what is wrong
    root = spec.submodule_search_locations[0]
    bare = {name: _bare(name, root) for name in (PACKAGE, f"{PACKAGE}.client")}
    sys.modules.update(bare)
    try:
        client: Any = bare[f"{PACKAGE}.client"]
        client.Configuration = importlib.import_module(f"{PACKAGE}.client.configuration").Configuration
        client.ApiClient = None  # named by an import of kube_config, used only by functions that we do not call
        return _collect()
    finally:
        for name in [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]:
            del sys.modules[name]


def _collect() -> Configuring:
    kube_config = importlib.import_module(f"{PACKAGE}.config.kube_config")
    in_cluster = importlib.import_module(f"{PACKAGE}.config.incluster_config")
    return Configuring(
        configuration=kube_config.Configuration,
        merger=kube_config.KubeConfigMerger,
        loader=kube_config.KubeConfigLoader,
        in_cluster=in_cluster.InClusterConfigLoader,
        error=kube_config.ConfigException,
    )


def _bare(name: str, root: str) -> types.ModuleType:
    """A package that finds its modules but whose own code has not run."""
    module = types.ModuleType(name)
    module.__path__ = ["/".join([root, *name.split(".")[1:]])]
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    return module
