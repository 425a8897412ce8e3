"""The page on which somebody can mend what an alert is about."""

from dataclasses import dataclass
from enum import StrEnum

from apps.actions.alerts.conditions import subject_of
from apps.alerts.enums import AlertKind
from apps.traces.funnel_metrics import Ratio


class RemedyPage(StrEnum):
    """A page of the console, by the name of its URL."""

    QUEUE = "queue"
    DASHBOARD = "dashboard"
    PATTERNS = "patterns"
    CONFIGURATION = "configuration"
    EVALUATION = "evaluation"
    WEBHOOKS = "webhooks"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do, as the label of a link, and where; `query` are parameters of the page."""

    label: str
    page: RemedyPage
    query: str = ""


_REMEDIES: dict[AlertKind, Remedy] = {
    AlertKind.MODEL_UNAVAILABLE: Remedy("See its error and try it now", RemedyPage.QUEUE),
    AlertKind.EMBEDDER_UNAVAILABLE: Remedy("See its error and try it now", RemedyPage.QUEUE),
    AlertKind.NO_WORKER: Remedy("See the workers", RemedyPage.QUEUE),
    AlertKind.QUEUE_AGE: Remedy("See what waits", RemedyPage.QUEUE),
    AlertKind.DEAD_WORK: Remedy("Retry the failed work", RemedyPage.QUEUE, "state=dead"),
    AlertKind.VECTOR_LAG: Remedy("See what waits", RemedyPage.QUEUE),
    AlertKind.STAGE_LATENCY: Remedy("See the latencies", RemedyPage.DASHBOARD, "range=24h"),
    AlertKind.RATIO: Remedy("Check the settings of the extraction", RemedyPage.CONFIGURATION),
    AlertKind.SUDDEN_CHANGE: Remedy("Adapt the rules", RemedyPage.PATTERNS),
    AlertKind.EVALUATION_PRECISION: Remedy("See what is wrong", RemedyPage.EVALUATION),
    AlertKind.WEBHOOK_FAILING: Remedy("See its deliveries", RemedyPage.WEBHOOKS),
}
_OF_FAILED_CALLS = Remedy("See the model's error", RemedyPage.QUEUE)


def remedy_of(kind: AlertKind, *, subject: str) -> Remedy:
    """Return the remedy of an alert."""
    if (kind, subject) == (AlertKind.RATIO, subject_of(Ratio.FAILED_CALLS)):
        return _OF_FAILED_CALLS
    return _REMEDIES[kind]
