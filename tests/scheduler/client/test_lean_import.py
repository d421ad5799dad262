from __future__ import annotations

import subprocess
import sys

BOTH_ORDERS = """
import sys
from dra_scheduler.client.lean_import import configuring
lean = configuring()
assert lean is configuring()
assert not [name for name in sys.modules if name.startswith("kubernetes_asyncio")], "left behind"
configuration = lean.configuration()
lean.loader({"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "c"}}],
             "clusters": [{"name": "c", "cluster": {"server": "http://x"}}]})
import kubernetes_asyncio
assert kubernetes_asyncio.client.V1Pod
assert kubernetes_asyncio.config.new_client_from_config
assert kubernetes_asyncio.config.kube_config.ApiClient is kubernetes_asyncio.client.ApiClient
"""
AFTER_THE_WHOLE = """
import kubernetes_asyncio
from dra_scheduler.client.lean_import import configuring
assert configuring().configuration is kubernetes_asyncio.client.Configuration
"""


def test_the_models_are_not_imported_and_whoever_wants_the_whole_package_gets_it() -> None:
    subprocess.run([sys.executable, "-c", BOTH_ORDERS], check=True, timeout=60)


def test_if_the_package_is_there_already_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", AFTER_THE_WHOLE], check=True, timeout=60)
