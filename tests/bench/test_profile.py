"""Where CPU time goes: samples, stages, accounts."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from dra_bench.main import main
from dra_bench.profile.account import Account, Stage, after_start, stages
from dra_bench.profile.errors import ProfileError
from dra_bench.profile.sampler import Sampler, read, write
from dra_bench.profile.show import hot_spots, table
from dra_bench.profile.stages import EVENT_LOOP, READING, stage

LOOP = ("asyncio.base_events:BaseEventLoop._run_once", "dra_scheduler.cli.run:execute")
TLS = ("asyncio.sslproto:SSLProtocol._do_write",)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (("dra_allocator.search:Search.step", "dra_allocator.attempt:Attempt.step"), "decide: devices"),
        (("dra_scheduler.cycle.score:scores",), "decide: filters, score, commit"),
        ((*TLS, "dra_scheduler.writes.claim_writer:ClaimWriter._protect"), "write: finalizer"),
        ((*TLS, "dra_scheduler.writes.claim_writer:ClaimWriter._write_once"), "write: claim status"),
        ((*TLS, "dra_scheduler.writes.binding_writer:BindingWriter.bind"), "write: binding"),
        ((*TLS, "dra_scheduler.writes.event_writer:EventWriter._create"), "write: event"),
        (("dra_api.versions.conversion:to_v1", "dra_scheduler.client.reflector:Reflector._take"), "decode: versions"),
        (("dra_scheduler.cache.pod_info:pod_info", "dra_scheduler.cache.cluster:Cluster.apply_pod"), "decode: objects"),
        (("dra_scheduler.cache.pod_store:PodStore.observe",), "cache: stores and ledger"),
        (("dra_scheduler.client.reflector:Reflector._take",), "decode: JSON of watches"),
        (("dra_bench.cluster.ceiling:Writer._finalizer",), "write: finalizer"),
        (TLS, READING),
        ((), EVENT_LOOP),
    ],
)
def test_a_sample_counts_for_what_its_calls_are_for(calls: tuple[str, ...], expected: str) -> None:
    assert stage((*calls, *LOOP)) == expected


def test_what_comes_before_the_first_decision_is_no_pod_s() -> None:
    loading, deciding, reading = (
        ("dra_scheduler.client.reflector:Reflector._list",),
        ("dra_scheduler.cycle.walk:x",),
        TLS,
    )
    samples = [(1.0, loading), (1.0, reading), (0.5, deciding), (0.25, reading)]
    assert after_start(samples) == samples[2:]
    assert after_start(samples[:2]) == []


def test_milliseconds_are_per_pod_and_those_of_http_are_told_apart() -> None:
    binding = "dra_scheduler.writes.binding_writer:BindingWriter.bind"
    samples = [(0.010, (binding,)), (0.030, (*TLS, binding)), (0.020, ("dra_scheduler.cycle.walk:x",))]
    found = stages(samples, 10)
    assert found == (Stage("write: binding", 4.0, 3.0), Stage("decide: devices", 2.0, 0.0))
    with pytest.raises(ProfileError, match="race more pods"):
        stages([], 10)


def test_the_tables_have_a_column_for_each_scheduler() -> None:
    ours = Account("ours", 1, 2, False, 3, 4.0, 5, 6.0, (Stage("write: binding", 4.0, 3.0),))
    other = Account("ceiling", 1, 2, False, 3, 4.0, 5, 6.0, (Stage(EVENT_LOOP, 1.0, 0.0),))
    shown = table([ours, other])
    assert [column.header for column in shown.columns] == ["stage", "ours", "ceiling"]
    assert list(shown.columns[1].cells) == ["4.00 (3.00)", "", "6.00", "4.0"]
    assert hot_spots("ours", [(0.003, ("a:b",)), (0.001, ())], 1, 1).row_count == 1


def test_a_sampler_finds_the_function_that_takes_the_time(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGPROF)
    sampler = Sampler()
    sampler.start()
    try:
        _busy(0.1)
    finally:
        sampler.stop()
        signal.signal(signal.SIGPROF, before)
    write(tmp_path / "samples", sampler.samples())
    samples = read(tmp_path / "samples")
    busy = sum(seconds for seconds, stack in samples if any(call.endswith(":_busy") for call in stack))
    assert busy > 0.05
    with pytest.raises(ProfileError, match="no samples"):
        read(tmp_path / "missing")


def _busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize("peers", ["kube-scheduler", "", "ours,else"])
def test_only_schedulers_of_ours_can_be_looked_into(peers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--peers", peers]) == 2
    assert "there are ours, ceiling" in capsys.readouterr().err


def test_more_pods_than_fit_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "--nodes", "1", "--devices", "1", "--pods", "2"]) == 2
    assert main(["memory", "--nodes", "1", "--devices", "1", "--pods", "2"]) == 2
    assert "do not fit" in capsys.readouterr().err
