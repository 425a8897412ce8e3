"""The result of a replay as a file: every trace that ended otherwise, with each of its differences."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from apps.actions.csv_lines import csv_line
from apps.actions.errors import NotFound
from apps.actions.replays.shown_difference import shown_difference
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.streamed_rows import streamed_rows
from apps.traces.models import Replay, ReplayedState, ReplayedTrace

COLUMNS = ("user_id", "trace_id", "state", "what", "change", "object_id", "before", "after", "fields")


def find_replay(*, project_id: UUID, replay_id: UUID) -> Replay:
    """Return a replay of a project. Raises NotFound."""
    rows = Replay.objects.select_related("configuration", "person").filter(project_id=project_id, id=replay_id)
    replay = rows.first()
    if replay is None:
        raise NotFound("there is no such replay")
    return replay


def replay_as_json(replay: Replay) -> Iterator[str]:
    """Yield a JSON array of the traces that did not end as they were recorded, piece by piece."""
    yield "["
    for place, row in enumerate(_rows(replay)):
        told = {
            "user_id": row.end_user.external_id,
            "trace_id": show(Prefix.TRACE, row.trace_id),
            "state": row.state,
            "error": row.error,
            **shown_difference(row.diff),
        }
        yield ("," if place else "") + "\n" + msgspec.json.encode(told).decode()
    yield "\n]\n"


def replay_as_csv(replay: Replay) -> Iterator[str]:
    """Yield lines of CSV, one for each difference."""
    yield _line(dict(zip(COLUMNS, COLUMNS, strict=True)))
    for row in _rows(replay):
        about = {
            "user_id": row.end_user.external_id,
            "trace_id": show(Prefix.TRACE, row.trace_id),
            "state": row.state,
        }
        for change in _changes(row):
            yield _line({**about, **change})


def _rows(replay: Replay) -> Iterator[ReplayedTrace]:
    settled = (ReplayedState.WAITING, ReplayedState.SAME)
    rows = ReplayedTrace.objects.filter(replay=replay).exclude(state__in=settled).select_related("end_user")
    return streamed_rows(rows.order_by("end_user_id", "position"), project_id=replay.project_id)


def _changes(row: ReplayedTrace) -> Iterator[dict[str, Any]]:
    if row.error:
        yield {"what": "trace", "change": row.state, "after": row.error}
    for turn in row.diff.get("turns", ()):
        change = "kept" if not turn["after"] else "reason" if turn["before"] else "dropped"
        shown = show(Prefix.TURN, UUID(turn["turn_id"]))
        yield {**turn, "what": "turn", "change": change, "object_id": shown}
    for made in shown_difference(row.diff).get("operations", ()):
        yield {
            "what": made["operation"],
            "change": made["kind"],
            "object_id": made["object_id"],
            "before": made["before_content"],
            "after": made["content"],
            "fields": " ".join(each["name"] for each in made["fields"]),
        }
    for lost in row.diff.get("discards", ()):
        change = "discarded" if lost["is_new"] else "no longer discarded"
        yield {"what": "candidate", "change": change, "after": lost["content"], "fields": lost["reason"]}


def _line(values: dict[str, Any]) -> str:
    return csv_line(str(values.get(name, "")) for name in COLUMNS)
