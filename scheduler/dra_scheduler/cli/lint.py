"""`dra-scheduler lint`: what in manifests, or in a cluster, an API server accepts and will not work all the same."""

from __future__ import annotations

import argparse
import sys

import orjson
import yaml

from dra_api.manifests import MAX_FILE, Manifests, read_paths
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK, PENDING
from dra_scheduler.cli.gates import AddGates, feature_gates
from dra_scheduler.feature_gates import NEWEST_MINOR, FeatureGateError, FeatureGates
from dra_scheduler.lint.linter import Report, lint
from dra_scheduler.lint.registry import RULES
from dra_scheduler.lint.surroundings import NOTHING, Surroundings, gates_of, of_snapshot

EXAMPLE = """exit codes: 0 nothing found, 1 findings, 2 something could not be read (the rest was looked at),
3 the cluster has no resource.k8s.io

example:
  dra-scheduler lint -f my-manifests/
  kubectl get deviceclasses,resourceslices -o yaml | dra-scheduler lint -f - -f pod.yaml
  dra-scheduler lint -f claim.yaml --ignore gate-needed -o json
  dra-scheduler lint -f claim.yaml --kubeconfig ~/.kube/config    (do my files fit that cluster?)
  dra-scheduler lint --kubeconfig ~/.kube/config                  (does the cluster fit together?)
  dra-scheduler lint --list"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `lint`."""
    parser.add_argument(
        "-f",
        "--filename",
        action="append",
        default=[],
        metavar="FILE|DIR|-",
        help="manifests: a file, a folder (its .yaml, .yml and .json files) or - for standard input; repeatable",
    )
    parser.add_argument("--kubeconfig", metavar="FILE", help="also look at this cluster (only reading it)")
    parser.add_argument("--context", metavar="NAME", help="context in the kubeconfig; default: its current one")
    parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text", help="default: text")
    parser.add_argument("--list", action="store_true", help="list the names of all findings and exit")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="NAME", help="leave out findings of this name; repeatable"
    )
    parser.add_argument(
        "--feature-gates",
        type=feature_gates,
        action=AddGates,
        default={},
        metavar="A=true,B=false",
        help="gates of the cluster, if not default; repeatable",
    )
    parser.add_argument(
        "--kubernetes",
        type=_minor,
        metavar="1.N",
        help=f"version of the cluster, for the defaults of its gates; default: the cluster's own, or 1.{NEWEST_MINOR}",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Read, look, print; returns the exit code."""
    if arguments.list:
        for rule in RULES.values():
            print(f"{rule.name:28} {rule.severity:8} {rule.summary}")
        return OK
    unknown = [name for name in arguments.ignore if name not in RULES]
    if unknown:
        print(f"error: --ignore {unknown[0]}: no finding has that name; see --list", file=sys.stderr)
        return BAD_INPUT
    names = arguments.filename
    manifests = read_paths(names, stdin=sys.stdin.buffer.read(MAX_FILE + 1) if "-" in names else None)
    if arguments.kubeconfig or arguments.context:
        from dra_scheduler.cli.cluster_access import guarded  # which takes a while to import

        return guarded(lambda: _with_cluster(manifests, arguments))
    if not arguments.filename:
        print("error: name the files to look at (-f), or a cluster (--kubeconfig, --context)", file=sys.stderr)
        return BAD_INPUT
    minor = arguments.kubernetes or NEWEST_MINOR
    return _report(manifests, arguments, FeatureGates.of(arguments.feature_gates, minor), minor)


def _with_cluster(manifests: Manifests, arguments: argparse.Namespace) -> int:
    from dra_scheduler.cli.cluster_access import look

    snapshot = look(argparse.Namespace(kubeconfig=arguments.kubeconfig, context=arguments.context))
    try:
        gates, minor = gates_of(snapshot, arguments.feature_gates)
    except FeatureGateError as error:  # what is asked for goes against what the cluster has
        print(f"error: --feature-gates: {error}", file=sys.stderr)
        return BAD_INPUT
    if arguments.kubernetes is not None:
        gates, minor = FeatureGates.of(arguments.feature_gates, arguments.kubernetes), arguments.kubernetes
    return _report(manifests, arguments, gates, minor, of_snapshot(snapshot))


def _report(
    manifests: Manifests,
    arguments: argparse.Namespace,
    gates: FeatureGates,
    minor: int,
    around: Surroundings = NOTHING,
) -> int:
    report = lint(manifests, gates, minor, around=around, ignored=arguments.ignore)
    if not report.objects and not report.findings and not report.unreadable:
        print("error: no objects in what was given", file=sys.stderr)
        return BAD_INPUT
    for problem in report.unreadable:
        print(f"error: {problem}", file=sys.stderr)
    _print(report, arguments.output)
    if report.unreadable:
        return BAD_INPUT
    return PENDING if report.findings else OK


def _print(report: Report, output: str) -> None:
    if output == "text":
        for finding in report.findings:
            print(finding)
        print(_summary(report), file=sys.stderr)
        return
    found = {
        "objects": report.objects,
        "findings": [finding.as_json() for finding in report.findings],
        "unreadable": [
            {"file": one.file, "line": one.line, "problem": one.problem, "hint": one.hint} for one in report.unreadable
        ],
    }
    if output == "json":
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        yaml.safe_dump(found, sys.stdout, sort_keys=False)


def _summary(report: Report) -> str:
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    parts = [_count(report.objects, "object"), _count(errors, "error"), _count(warnings, "warning")]
    return ", ".join(parts) + (f", {_count(len(report.unreadable), 'text')} unreadable" if report.unreadable else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _minor(text: str) -> int:
    major, _, minor = text.removeprefix("v").partition(".")
    if major != "1" or not minor.isascii() or not minor.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not 1.N, such as 1.{NEWEST_MINOR}")
    return int(minor)
