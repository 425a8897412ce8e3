"""A project with memories and turns to evaluate."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.pipeline.core.enums import LabelValue, SampleKind
from apps.tenants.models import Project
from apps.tuning.evaluation.samples import draw_samples
from tests.worker.worker_helper import Person

SAID = ("I live in Lisbon.", "I work as a nurse.", "I like green tea.", "Good morning!", "The weather is odd today.")


def told(project: Project, *, name: str = "ana") -> Person:
    """Return an end user of whose five turns three became memories."""
    person = Person(project, name)
    person.says(*SAID)
    person.is_worked_for()
    return person


def drawn(project: Project, *, seed: int = 7, days: int = 7) -> dict[SampleKind, EvaluationSample]:
    """Draw samples of the last days."""
    now = timezone.now()
    samples = draw_samples(project_id=project.pk, since=now - timedelta(days=days), until=now, seed=seed)
    return {SampleKind(sample.kind): sample for sample in samples}


def labelled(*values: LabelValue, **fields: Any) -> EvaluationItem:
    """Return an item that is not stored, with a label of another labeller for each value."""
    item = EvaluationItem(**fields)
    labels = [EvaluationLabel(labeller=f"person:{place}", value=value) for place, value in enumerate(values)]
    item._prefetched_objects_cache = {"labels": labels}
    return item


def contents(sample: EvaluationSample) -> list[str]:
    """Return the sentences of a sample in the order of the draw."""
    items = EvaluationItem.objects.filter(sample=sample).select_related("memory", "turn").order_by("position")
    return [item.memory.content if item.memory else item.turn.content for item in items]
