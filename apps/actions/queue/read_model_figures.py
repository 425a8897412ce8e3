"""Read what the calls of each configured model have come to in the last 24 hours."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from apps.pipeline.core.policy import Policy
from apps.pipeline.redaction.redact import redact
from apps.providers.configured import ConfiguredModel, configured_models, remote_embedder
from apps.traces.model_records import ModelRecord, model_records
from apps.traces.policies import active_policy

WITHIN = timedelta(hours=24)
MOST_ERROR = 300  # characters


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """One model; `use` is what the project uses it for, "" for nothing, `problem` what its settings lack."""

    name: str
    use: str
    calls: int
    failed: int
    last_answer: datetime | None
    last_failure: datetime | None
    last_error: str  # redacted
    median_seconds: float | None  # of the calls that were answered
    problem: str = ""


def read_model_figures(*, project_id: UUID) -> list[ModelFigures]:
    """Return the models that the project uses, then those that it could use.

    Calls of embedders are not recorded, so an embedder on another machine has test calls only.
    """
    policy = active_policy(project_id=project_id)
    records = model_records(project_id=project_id, since=timezone.now() - WITHIN)
    used = policy.extraction.model or settings.MODEL
    figures = [
        _figures(each, "extraction, judging, questions" if each.spec == used else "", records, policy)
        for each in configured_models(also=policy.extraction.model)
    ]
    if embedder := remote_embedder():
        model = ConfiguredModel(embedder, frozenset({embedder}))
        figures.append(_figures(model, "vectors of memories", records, policy))
    return sorted(figures, key=lambda each: not each.use)


def _figures(model: ConfiguredModel, use: str, records: Sequence[ModelRecord], policy: Policy) -> ModelFigures:
    own = [record for record in records if record.model in model.names]
    medians = [record.median_us for record in own if record.median_us is not None]
    failures = [(record.last_failure, record.last_error) for record in own if record.last_failure]
    last_failure, last_error = max(failures, default=(None, ""))
    return ModelFigures(
        name=model.spec,
        use=use,
        calls=sum(record.calls for record in own),
        failed=sum(record.failed for record in own),
        last_answer=max((record.last_answer for record in own if record.last_answer), default=None),
        last_failure=last_failure,
        last_error=redact(last_error, policy=policy.redaction).text[:MOST_ERROR],
        median_seconds=max(medians) / 1_000_000 if medians else None,
        problem=model.problem,
    )
