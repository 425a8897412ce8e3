"""Hourly totals for the dashboard; they can be recomputed from the traces at any time."""

from django.db import models

from apps.common.rows import Row
from apps.pipeline.core.enums import Stage, choices_of
from apps.traces.funnel_metrics import Measure


def measure_choices() -> list[tuple[str, str]]:
    """Return the choices of a measure; migrations refer to this function, so a new measure needs none."""
    return choices_of(Measure)


class HourlyTally(Row):
    """The total of one measure in one project and hour."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField(db_index=True, help_text="start of the hour")
    measure = models.CharField(max_length=16, choices=measure_choices)
    stage = models.CharField(max_length=16, blank=True)
    reason = models.CharField(max_length=96, blank=True)
    amount = models.FloatField()

    class Meta:
        verbose_name_plural = "hourly tallies"
        ordering = ("hour",)
        constraints = [
            models.UniqueConstraint(fields=("project", "hour", "measure", "stage", "reason"), name="tally_once"),
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.reason}: {self.amount:g}"


class HourlyLatency(Row):
    """The number of spans of a stage within an hour that took between 2^(bucket/8) and 2^((bucket+1)/8) µs."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField(db_index=True, help_text="start of the hour")
    stage = models.CharField(max_length=16, choices=choices_of(Stage))
    bucket = models.PositiveSmallIntegerField()
    spans = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "hourly latencies"
        ordering = ("hour",)
        constraints = [
            models.UniqueConstraint(fields=("project", "hour", "stage", "bucket"), name="latency_once"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} under bucket {self.bucket}: {self.spans}"


class TalliedHour(models.Model):
    """An hour whose totals have been computed, when that was last done, and up to which time its rows are counted."""

    hour = models.DateTimeField(primary_key=True)
    tallied_at = models.DateTimeField()
    counted_until = models.DateTimeField(null=True, blank=True, help_text="empty: the hour is counted from its start")

    class Meta:
        ordering = ("-hour",)

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h"
