"""Tell of the stages that traces go through: a span around each, and counts of their results."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

from apps.pipeline.core.draft import StageSpan
from apps.pipeline.core.enums import Stage
from apps.telemetry.counted_metrics import counted_metrics
from apps.telemetry.tracing import OpenSpan, span


def stage_span(stage: Stage) -> AbstractContextManager[OpenSpan]:
    """Open a span around a stage."""
    return span(f"stage {stage}")


def count_stages(spans: Iterable[StageSpan]) -> None:
    """Count the stages of a trace that has got on."""
    metrics = counted_metrics()
    for each in spans:
        metrics.count_stage(each.stage.value, each.result.value, each.latency_us / 1_000_000)
