"""What /metrics tells about a scheduler."""

from __future__ import annotations

import gc
import resource

from dra_scheduler.client.reflector import Reflector
from dra_scheduler.loop_watch import LoopWatch
from dra_scheduler.metrics import Figures, Metric
from dra_scheduler.queue.entry import Place
from dra_scheduler.scheduler import Scheduler


def figures(scheduler: Scheduler, watch: LoopWatch) -> list[Metric]:
    """All figures at this moment; asking resets only the worst delay of the event loop."""
    out = Figures()
    out.gauge("ready", "1 once every watch has delivered its first list.", float(scheduler.ready))
    for place in Place:
        count = scheduler.queue.count(place)
        out.gauge("queue_pods", "Pods to be scheduled, by where they wait.", count, place=place.value)
    _outcomes(out, scheduler)
    for reflector in scheduler.reflectors:
        _reflector(out, reflector)
    _writers(out, scheduler)
    _process(out, watch)
    return out.metrics()


def _outcomes(out: Figures, scheduler: Scheduler) -> None:
    counts = scheduler.counts
    text = "Attempts to schedule a pod, by how they ended."
    out.counter("attempts_total", text, counts.bound, outcome="bound")
    out.counter("attempts_total", text, counts.unschedulable, outcome="unschedulable")
    out.counter("attempts_total", text, counts.errors, outcome="error")
    out.counter("attempts_total", text, counts.conflicts, outcome="conflict")
    out.counter(
        "contested_devices_total",
        "Devices that another scheduler allocated too, at about the same time.",
        counts.contested,
    )


def _reflector(out: Figures, reflector: Reflector) -> None:
    kind = reflector.resource.plural
    out.gauge("objects", "Objects that are known.", len(reflector.mirror), resource=kind)
    out.gauge("unreadable_objects", "Objects that are skipped.", len(reflector.mirror.unreadable), resource=kind)
    out.counter("lists_total", "Complete lists from the API server.", reflector.lists, resource=kind)
    out.counter("watches_total", "Watches opened.", reflector.watches, resource=kind)
    out.counter("watch_events_total", "Changes that watches have brought.", reflector.events, resource=kind)


def _writers(out: Figures, scheduler: Scheduler) -> None:
    for name, writer in scheduler.background_writers.items():
        out.gauge("reports_waiting", "Events and conditions that are not written yet.", writer.waiting, kind=name)
        out.counter("reports_dropped_total", "Those that were given up, being too many.", writer.dropped, kind=name)
        out.counter("reports_failed_total", "Those that the API server did not take.", writer.failed, kind=name)


def _process(out: Figures, watch: LoopWatch) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    out.counter("event_loop_late_total", "Times that the event loop was held for more than 10 ms.", watch.late)
    out.counter("event_loop_late_seconds_total", "For how long, all together.", watch.late_seconds)
    out.gauge("event_loop_worst_delay_seconds", "The longest since this was last asked.", watch.take_worst())
    out.counter("process_cpu_seconds_total", "Processor time used.", usage.ru_utime + usage.ru_stime)
    out.gauge("process_max_resident_bytes", "The most memory used so far.", usage.ru_maxrss * 1024)
    for generation, stats in enumerate(gc.get_stats()):
        text = "Searches for cyclic garbage."
        out.counter("gc_collections_total", text, stats["collections"], generation=str(generation))
