"""Messages of the dashboard about what needs attention."""

from collections.abc import Iterator

from apps.console.labels import count_of, duration, label, percent
from apps.console.selectors.dashboard import Dashboard, QueueState
from apps.pipeline.core.funnel_metrics import Band, RatioHealth


def alerts(shown: Dashboard) -> Iterator[str]:
    """Yield the alerts of a dashboard: workers and queue first, then ratios, sudden changes and latencies."""
    yield from queue_alerts(shown.queue)
    for gauge in shown.gauges:
        if gauge.reading.health is RatioHealth.ALERT:
            yield f"{_sentence(gauge.label)}: {percent(gauge.reading.value)}, healthy is {band_text(gauge.band)}."
    if (change := shown.sudden_change) is not None:
        latest, before = percent(change.latest), percent(change.before)
        yield f"{_sentence(change.ratio)}: {latest} in the latest {shown.period.step}, {before} before."
    for speed in shown.speeds:
        if speed.p99 is not None and speed.limit is not None and speed.is_too_slow:
            p99, limit = duration(speed.p99), duration(speed.limit)
            yield f"{_sentence(label(speed.stage))}: the p99 latency is {p99}, its limit {limit}."


def queue_alerts(queue: QueueState) -> Iterator[str]:
    """Yield the alerts about workers and queue."""
    if not queue.workers:
        yield "No worker is running (last heartbeat over 30 s ago): accepted turns are waiting."
    if queue.failed:
        yield f"{count_of(queue.failed, 'queue entry', 'queue entries')} failed; see Queue."
    if queue.is_late:
        yield f"The oldest pending work has been waiting for {count_of(queue.oldest_seconds, 'second')}."


def band_text(band: Band) -> str:
    """Return the range of a healthy band as text."""
    if band.low <= 0:
        return f"at most {percent(band.high)}"
    return f"at least {percent(band.low)}" if band.high >= 1 else f"{percent(band.low)} to {percent(band.high)}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
