"""What follows from what: consequences are shown in the alert about their cause, not beside it."""

from collections.abc import Collection

from apps.actions.alerts.hourly_conditions import subject_of
from apps.alerts.enums import AlertKind
from apps.pipeline.core.enums import Stage
from apps.traces.funnel_metrics import Ratio

Key = tuple[AlertKind, str]  # kind and subject

_ASKING_STAGES = frozenset({Stage.EXTRACT.value, Stage.RESOLVE_REFS.value, Stage.DEDUPE.value})  # they ask models
# Kind of the cause -> kinds that follow from it; None: any subject.
_FOLLOWS: dict[AlertKind, dict[AlertKind, frozenset[str] | None]] = {
    AlertKind.MODEL_UNAVAILABLE: {
        AlertKind.QUEUE_AGE: None,
        AlertKind.DEAD_WORK: None,
        AlertKind.VECTOR_LAG: None,
        AlertKind.STAGE_LATENCY: _ASKING_STAGES,
        AlertKind.RATIO: frozenset({subject_of(Ratio.FAILED_CALLS)}),
    },
    AlertKind.EMBEDDER_UNAVAILABLE: {
        AlertKind.QUEUE_AGE: None,
        AlertKind.DEAD_WORK: None,
        AlertKind.VECTOR_LAG: None,
        AlertKind.STAGE_LATENCY: frozenset({Stage.DEDUPE.value}),  # it compares vectors
    },
    AlertKind.NO_WORKER: {AlertKind.QUEUE_AGE: None, AlertKind.VECTOR_LAG: None},
    AlertKind.QUEUE_AGE: {AlertKind.VECTOR_LAG: None},
}


def cause_of(key: Key, *, among: Collection[Key]) -> Key | None:
    """Return the first of some conditions from which another follows; the cause of a cause comes first."""
    found = next((other for other in among if _follows(key, other)), None)
    return None if found is None else cause_of(found, among=among) or found


def _follows(key: Key, cause: Key) -> bool:
    kind, subject = key
    if kind not in _FOLLOWS.get(cause[0], {}):
        return False
    subjects = _FOLLOWS[cause[0]][kind]
    return subjects is None or subject in subjects
