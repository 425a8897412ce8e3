"""Events as receivers and readers see them: identifiers, states and numbers; sentences only where they are asked for.

A sentence is read when the message is made, and only while its memory is active and shared: what was retracted,
rejected or erased in the meantime is never sent, however late a delivery is tried again. Of an end user whose erasure
has begun nothing is told any more; that it has ended is an event of its own, which belongs to no end user.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from apps.events.models import ProjectEvent
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import EndUser


def event_messages(events: Sequence[ProjectEvent], *, includes_content: bool) -> list[dict[str, Any]]:
    """Return the messages about events of one project, in their order, with two queries.

    There is none about an end user who is being erased.
    """
    users = {each.end_user_id for each in events if each.end_user_id is not None}
    names = dict(EndUser.objects.filter(id__in=users).present().values_list("id", "external_id")) if users else {}
    told = [each for each in events if each.end_user_id is None or each.end_user_id in names]
    contents = _contents(told) if includes_content else {}
    return [_message(each, names, contents) for each in told]


def _contents(events: Sequence[ProjectEvent]) -> dict[UUID, str]:
    users = {each.end_user_id for each in events if each.memory_id is not None}
    wanted = {each.memory_id for each in events if each.memory_id is not None}
    told = Memory.objects.filter(end_user_id__in=users, id__in=wanted, status=Status.ACTIVE, private_to="")
    return dict(told.values_list("id", "content")) if wanted else {}


def _message(event: ProjectEvent, names: Mapping[UUID, str], contents: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "id": event.shown_id,
        "number": event.number,
        "type": event.type,
        "timestamp": event.created_at.isoformat(),
        "data": {**_subject(event, names), **_details(event.details), **_content(event, contents)},
    }


def _subject(event: ProjectEvent, names: Mapping[UUID, str]) -> dict[str, Any]:
    subject: dict[str, Any] = {}
    if event.end_user_id is not None:
        subject["user_id"] = names.get(event.end_user_id) or None
        subject["end_user"] = show(Prefix.END_USER, event.end_user_id)
    if event.memory_id is not None:
        subject["memory_id"] = show(Prefix.MEMORY, event.memory_id)
    if event.trace_id is not None:
        subject["trace_id"] = show(Prefix.TRACE, event.trace_id)
    return subject


def _details(details: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: value for name, value in details.items() if value is not None and name != "other"}
    if details.get("other"):
        shown["other_memory_id"] = show(Prefix.MEMORY, UUID(details["other"]))
    return shown


def _content(event: ProjectEvent, contents: Mapping[UUID, str]) -> dict[str, str]:
    content = contents.get(event.memory_id) if event.memory_id is not None else None
    return {} if content is None else {"content": content}
