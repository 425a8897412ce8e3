"""Request a replay: choose its traces and estimate what it costs; it runs once somebody starts it."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound, Unfit
from apps.actions.replays.choice import TraceChoice, chosen_traces
from apps.actions.replays.estimate_replay import estimate_replay
from apps.providers import registry
from apps.traces.models import ConfigurationVersion, Replay, ReplayedTrace
from apps.traces.run_heads import batches_of, run_heads


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What to replay and how; without a version each trace runs under its own."""

    project_id: UUID
    choice: TraceChoice
    version: int | None = None
    is_isolated: bool = False
    allows_live_calls: bool = False
    person_id: int | None = None
    api_key_id: UUID | None = None


def request_replay(*, request: ReplayRequest) -> Replay:
    """Create a replay with its traces and its estimate, in one transaction.

    Traces that shared model calls are replayed together, so that it may have more traces than were chosen. Raises
    NotFound for an unknown version, Unfit if no trace fits, too many do, or there is no model for live calls.
    """
    version = _version(request)
    if request.allows_live_calls and not registry.has_model(version.as_policy().extraction.model if version else ""):
        raise Unfit("no model is configured", at="/live_calls")
    chosen = chosen_traces(project_id=request.project_id, choice=request.choice)
    with transaction.atomic():
        replay = Replay.objects.create(
            project_id=request.project_id,
            person_id=request.person_id,
            api_key_id=request.api_key_id,
            configuration=version,
            choice=request.choice.as_json(project_id=request.project_id),
            is_isolated=request.is_isolated,
            allows_live_calls=request.allows_live_calls,
        )
        for user, traces in chosen.items():
            replay.traces_total += _add_traces(replay, user, set(traces))
        replay.estimate = estimate_replay(replay=replay)
        replay.save(update_fields=["traces_total", "estimate"])
    return replay


def _version(request: ReplayRequest) -> ConfigurationVersion | None:
    if request.version is None:
        return None
    versions = ConfigurationVersion.objects.filter(project_id=request.project_id, number=request.version)
    version = versions.first()
    if version is None:
        raise NotFound("there is no such version")
    return version


def _add_traces(replay: Replay, end_user_id: UUID, chosen: set[UUID]) -> int:
    """Add an end user's traces in the order of their runs, whole batches; return how many."""
    batches = batches_of(run_heads(end_user_id=end_user_id))
    heads = [head for batch in batches if any(each.trace_id in chosen for each in batch) for head in batch]
    ReplayedTrace.objects.bulk_create(
        (
            ReplayedTrace(end_user_id=end_user_id, replay=replay, trace_id=head.trace_id, position=position)
            for position, head in enumerate(heads)
        ),
        batch_size=1_000,
    )
    return len(heads)
