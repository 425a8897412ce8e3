"""What an alert says: its cause, and what it costs.

Webhooks and mails send these texts to others, so they contain no text of end users and no error of a server, which may
quote one.
"""

from collections.abc import Callable
from datetime import datetime

from apps.actions.alerts.conditions import Condition, ratio_of
from apps.actions.number_formats import age, count_of, duration, percent
from apps.alerts.enums import AlertKind
from apps.traces.funnel_metrics import BANDS, Band


def cause_text(condition: Condition) -> str:
    """Return what is wrong, in one sentence."""
    return _CAUSES[condition.kind](condition)


def cost_text(condition: Condition) -> str:
    """Return what it costs while it lasts, in one sentence."""
    return _COSTS[condition.kind](condition)


def band_text(band: Band) -> str:
    """Return the range of a healthy band as text."""
    if band.low <= 0:
        return f"at most {percent(band.high)}"
    return f"at least {percent(band.low)}" if band.high >= 1 else f"{percent(band.low)} to {percent(band.high)}"


def _unavailable(of: Condition) -> str:
    what = "embedder" if of.kind is AlertKind.EMBEDDER_UNAVAILABLE else "model"
    since = datetime.fromisoformat(of.figures["since"])
    return f"The {what} {of.subject} has not answered since {since:%Y-%m-%d %H:%M} UTC."


def _requests_wait(of: Condition) -> str:
    waiting = of.figures["waiting"]
    verb = "waits" if waiting == 1 else "wait"
    return f"{count_of(waiting, 'request')} {verb} for it; what was said is remembered once it answers."


def _work_is_queued(of: Condition) -> str:
    verb = "is" if of.figures["open"] == 1 else "are"
    return f"{count_of(of.figures['open'], 'piece', 'pieces')} of work {verb} queued; what was said is remembered late."


def _stage_latency(of: Condition) -> str:
    p99, limit = duration(of.figures["p99_us"]), duration(of.figures["limit_us"])
    return f"The p99 latency of the stage {of.subject} is {p99}, its limit {limit}."


def _slow_runs(of: Condition) -> str:
    spans = count_of(of.figures["spans"], "run")
    return f"One in a hundred of {spans} took longer ({_window(of)}): memories come late."


def _ratio(of: Condition) -> str:
    ratio = ratio_of(of.subject)
    name = f"{ratio.value[:1].upper()}{ratio.value[1:]}"
    return f"{name}: {percent(of.figures['value'])}, healthy is {band_text(BANDS[ratio])}."


def _sudden_change(of: Condition) -> str:
    ratio = ratio_of(of.subject).value
    latest, before = percent(of.figures["latest"]), percent(of.figures["before"])
    return f"{ratio[:1].upper()}{ratio[1:]}: {latest} in the latest hour, {before} before."


def _precision(of: Condition) -> str:
    precision, least = percent(of.figures["precision"]), percent(of.figures["least"])
    return f"Precision of the memories that were labelled last: {precision}, it should be at least {least}."


def _wrong_memories(of: Condition) -> str:
    wrong, judged = of.figures["wrong"], of.figures["judged"]
    return f"{wrong:,} of {judged:,} judged memories are wrong, and agents are told them."


def _silent_receiver(of: Condition) -> str:
    since = datetime.fromisoformat(of.figures["since"])
    ends = ", and is paused" if of.figures["paused"] else ""
    return f"The webhook {of.subject} has delivered nothing since {since:%Y-%m-%d %H:%M} UTC{ends}."


def _deliveries_wait(of: Condition) -> str:
    waiting = of.figures["waiting"]
    verb = "waits" if waiting == 1 else "wait"
    return f"{count_of(waiting, 'event')} {verb} for it, and what is not taken within three days is given up."


def _window(of: Condition) -> str:
    return "last hour" if of.window_hours == 1 else f"last {of.window_hours} hours"


_CAUSES: dict[AlertKind, Callable[[Condition], str]] = {
    AlertKind.MODEL_UNAVAILABLE: _unavailable,
    AlertKind.EMBEDDER_UNAVAILABLE: _unavailable,
    AlertKind.NO_WORKER: lambda of: (
        f"No worker is running, and the oldest work has waited for {age(of.figures['seconds'])}."
    ),
    AlertKind.QUEUE_AGE: lambda of: f"The oldest queued work has waited for {age(of.figures['seconds'])}.",
    AlertKind.DEAD_WORK: lambda of: f"{count_of(of.figures['dead'], 'piece', 'pieces')} of work failed for good.",
    AlertKind.VECTOR_LAG: lambda of: f"The oldest memory without vectors has waited for {age(of.figures['seconds'])}.",
    AlertKind.STAGE_LATENCY: _stage_latency,
    AlertKind.RATIO: _ratio,
    AlertKind.SUDDEN_CHANGE: _sudden_change,
    AlertKind.EVALUATION_PRECISION: _precision,
    AlertKind.WEBHOOK_FAILING: _silent_receiver,
}
_COSTS: dict[AlertKind, Callable[[Condition], str]] = {
    AlertKind.MODEL_UNAVAILABLE: _requests_wait,
    AlertKind.EMBEDDER_UNAVAILABLE: _requests_wait,
    AlertKind.NO_WORKER: _work_is_queued,
    AlertKind.QUEUE_AGE: _work_is_queued,
    AlertKind.DEAD_WORK: lambda of: "What these requests say is not remembered until somebody retries them.",
    AlertKind.VECTOR_LAG: lambda of: "Searches find new memories by their words alone.",
    AlertKind.STAGE_LATENCY: _slow_runs,
    AlertKind.RATIO: lambda of: f"This concerns {of.figures['part']:,} of {of.figures['whole']:,} ({_window(of)}).",
    AlertKind.SUDDEN_CHANGE: lambda of: (
        "Callers send other texts than before: rules may drop what matters, or pass what only costs model calls."
    ),
    AlertKind.EVALUATION_PRECISION: _wrong_memories,
    AlertKind.WEBHOOK_FAILING: _deliveries_wait,
}
