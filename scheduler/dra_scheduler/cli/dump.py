"""`dra-scheduler dump`: a cluster as one file, for a bug report or to try things on."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path

import orjson

from dra_api.manifests import MAX_FILE
from dra_scheduler.cli.cluster_access import add_access, guarded, look
from dra_scheduler.cli.exit_codes import BAD_INPUT, OK
from dra_scheduler.dump.dump import DUMPED, dump
from dra_scheduler.survey.snapshot import Object

EXAMPLE = """Left out: annotations, environment variables, commands, images, parameters for drivers: no secret is in it.
--anonymize also replaces the names of namespaces, nodes, pods, claims, templates, slices and pools, and leaves out
messages. Labels, names of drivers, classes, devices, attributes and their values stay: look through the file before you
give it away.

exit codes: 0 written, 2 the cluster cannot be read or the file not written, 3 the cluster has no resource.k8s.io

example:
  dra-scheduler dump -o cluster.json
  dra-scheduler dump --anonymize -o - | gzip > cluster.json.gz
  dra-scheduler simulate -f cluster.json
  dra-scheduler explain -f cluster.json pod/training-0"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `dump`."""
    add_access(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE|-", help="JSON, or YAML for .yaml and .yml; default: - (JSON)"
    )
    parser.add_argument("--anonymize", action="store_true", help="write other names, consistent in this one file")


def execute(arguments: argparse.Namespace) -> int:
    """Read and write; returns the exit code."""
    return guarded(lambda: _dump(arguments))


def _dump(arguments: argparse.Namespace) -> int:
    snapshot = look(arguments, DUMPED)
    if not any(snapshot.objects.values()):
        print("error: nothing could be read, so there is nothing to write", file=sys.stderr)
        return BAD_INPUT
    objects = dump(snapshot, secrets.token_bytes(32) if arguments.anonymize else None)
    as_yaml = arguments.output.endswith((".yaml", ".yml"))
    text = _yaml(objects) if as_yaml else as_json(objects)
    if len(text) > MAX_FILE:
        size, limit = len(text) >> 20, MAX_FILE >> 20
        print(
            f"warning: {size} MiB, more than the {limit} MiB of one file that the other commands read", file=sys.stderr
        )
    if arguments.output == "-":
        sys.stdout.write(text.decode())
        return OK
    try:
        # It is about a cluster: nobody else on this machine needs to read it.
        with open(os.open(arguments.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text)
    except OSError as error:
        print(f"error: {Path(arguments.output)}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    print(f"{len(objects)} objects in {arguments.output}", file=sys.stderr)
    return OK


def as_json(objects: list[Object]) -> bytes:
    """One object a line, in a list that kubectl and this program read."""
    lines = b",\n".join(orjson.dumps(obj) for obj in objects)
    return b'{"apiVersion":"v1","kind":"List","metadata":{},"items":[\n' + lines + b"\n]}\n"


def _yaml(objects: list[Object]) -> bytes:
    import yaml

    # The one in C takes a tenth of the time, and is not everywhere.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: bytes = yaml.dump_all(objects, Dumper=dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")
    return text
