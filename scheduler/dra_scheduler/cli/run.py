"""`dra-scheduler run`: schedule pods of a real cluster until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import sys
import time
from typing import TYPE_CHECKING

from dra_scheduler.cli.durations import duration
from dra_scheduler.cli.exit_codes import BAD_INPUT, INTERRUPTED, NO_RESOURCE_API, OK
from dra_scheduler.cli.gates import AddGates, feature_gates
from dra_scheduler.cli.shadow_options import add_shadow

if TYPE_CHECKING:
    from dra_scheduler.settings import Settings

FAILED = 1
LOG_FORMAT = "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s"

EXAMPLE = """exit codes:
  0 stopped by SIGTERM or SIGINT, 1 an error, 2 bad usage or kubeconfig, 3 the cluster has no resource.k8s.io

example:
  dra-scheduler run --kubeconfig ~/.kube/config --http 127.0.0.1:10259
  dra-scheduler run --shadow --shadow-for 600 -o json                   # beside kube-scheduler, writes nothing
  kubectl apply -f manifests/rbac.yaml -f manifests/deployment.yaml     # in the cluster

The cluster is found as kubectl finds it: --kubeconfig, $KUBECONFIG, ~/.kube/config; else, inside a pod, with the pod's
service account."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `run`."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, ~/.kube/config, or in-cluster")
    parser.add_argument("--context", metavar="NAME", help="context in the kubeconfig; default: its current one")
    parser.add_argument(
        "--scheduler-name",
        action="append",
        metavar="NAME",
        help="schedule pods with this spec.schedulerName; repeatable; default: dra-scheduler (of a shadow: all)",
    )
    add_shadow(parser)
    parser.add_argument("--http", metavar="HOST:PORT", help="serve /livez, /readyz and /metrics there; default: not")
    parser.add_argument(
        "--feature-gates",
        type=feature_gates,
        action=AddGates,
        default={},
        metavar="A=true,B=false",
        help="as on kube-scheduler, repeatable; default: those of the server's version",
    )
    parser.add_argument(
        "--filter-timeout",
        type=duration,
        metavar="TIME",
        help="for one attempt to allocate: seconds, or 1m30s; 0: no limit; default: 10",
    )
    parser.add_argument(
        "--binding-timeout",
        type=duration,
        metavar="TIME",
        help="for the binding conditions of a pod's devices: seconds, or 1m30s; default: 600",
    )
    parser.add_argument("--max-in-flight", type=int, metavar="N", help="pods whose writes are under way; default: 64")
    parser.add_argument(
        "--log-level", choices=("debug", "info", "warning", "error"), default="info", help="default: info"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT; returns the exit code."""
    from pydantic import ValidationError

    from dra_scheduler.client.errors import ConnectError, NoResourceApiError
    from dra_scheduler.errors import SchedulerError
    from dra_scheduler.http import AddressError
    from dra_scheduler.process import run_process

    logging.basicConfig(format=LOG_FORMAT, datefmt="%Y-%m-%dT%H:%M:%S", level=arguments.log_level.upper())
    logging.Formatter.converter = time.gmtime
    try:
        settings = _settings(arguments)
        if not arguments.shadow and (arguments.shadow_for is not None or arguments.output != "text"):
            print("error: --shadow-for and --output go with --shadow", file=sys.stderr)
            return BAD_INPUT
        if arguments.shadow:
            return _shadow(settings, arguments)
        asyncio.run(run_process(settings, arguments.kubeconfig, arguments.context))
    except ValidationError as error:
        for problem in error.errors():
            print(f"error: {'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}", file=sys.stderr)
        return BAD_INPUT
    except (ConnectError, AddressError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except NoResourceApiError as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_RESOURCE_API
    except SchedulerError as error:
        if error.__cause__ is not None:
            logging.getLogger(__name__).debug("cause", exc_info=error)
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    except asyncio.CancelledError:
        return INTERRUPTED
    return OK


def _shadow(settings: Settings, arguments: argparse.Namespace) -> int:
    """Decide without writing until told to stop; returns the exit code. Raises as `run_process` does."""
    from dra_api.transport import TransportError
    from dra_scheduler.cli.shadow import shadow

    if settings.http is not None:
        print("error: --http does not go with --shadow", file=sys.stderr)
        return BAD_INPUT
    try:
        asyncio.run(shadow(settings, arguments))
    except TransportError as error:
        print(f"error: the API server does not answer: {error}", file=sys.stderr)
        return FAILED
    return OK


def _settings(arguments: argparse.Namespace) -> Settings:
    """The settings that the options make; what is not given keeps its default. Raises ValidationError."""
    from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGates
    from dra_scheduler.settings import Settings

    given = {
        "scheduler_names": tuple(dict.fromkeys(arguments.scheduler_name)) if arguments.scheduler_name else None,
        "http": arguments.http,
        "feature_gates": arguments.feature_gates,
        "max_in_flight": arguments.max_in_flight,
        "filter_timeout": arguments.filter_timeout,
        "binding_timeout": arguments.binding_timeout,
        "instance": f"dra-scheduler-{socket.gethostname()}"[:128],
    }
    values = {name: value for name, value in given.items() if value is not None}
    gates = FeatureGates.of(arguments.feature_gates, NEWEST_MINOR)
    if values.get("filter_timeout") == 0 or not gates.enabled("DRASchedulerFilterTimeout"):
        values["filter_timeout"] = None
    return Settings.model_validate(values)
