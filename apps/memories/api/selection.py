"""Select memories by a query string, as lists and retractions in bulk do."""

from uuid import UUID

from django.db.models import Q

from apps.api.schemas import checked_scope
from apps.api.validation import read_id
from apps.memories.api.selection_bodies import MemorySelection, list_filter
from apps.memories.filter import filter_condition, told_in_session, wanted_statuses
from apps.memories.querysets import MemoryQuerySet
from apps.memories.source_filter import told_by_source
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import checked_moment, checked_name


def statuses_of(query: MemorySelection, *, shown: tuple[Status, ...]) -> tuple[Status, ...]:
    """Return the statuses that are meant: those given, or those shown by default and those that the filter names."""
    wanted = list_filter(query)
    return query.statuses or (*shown, *(wanted_statuses(wanted) if wanted else ()))


def selected(rows: MemoryQuerySet, query: MemorySelection, *, end_user_id: UUID | None) -> MemoryQuerySet:
    """Filter memories of an end user, or of all, by a query string.

    Their status and the times `as_of` and `known_at` are left to the caller.
    """
    rows = _told(rows if end_user_id is None else rows.for_end_user(end_user_id), query)
    if query.types:
        rows = rows.filter(type__in=query.types)
    if query.topics:
        rows = rows.filter(topic__in=query.topics)
    if query.tags:
        rows = rows.filter(tags__contains=list(query.tags))
    if query.entities:
        entities = [read_id(Prefix.ENTITY, each, at="entities") for each in query.entities]
        shown = [show(Prefix.ENTITY, each) for each in entities]
        rows = rows.filter(Q(subject_id__in=entities) | Q(object__entity__in=shown))
    if query.since is not None:
        rows = rows.filter(said_at__gte=checked_moment(query.since, at="since"))
    if query.until is not None:
        rows = rows.filter(said_at__lte=checked_moment(query.until, at="until"))
    return rows


def _told(rows: MemoryQuerySet, query: MemorySelection) -> MemoryQuerySet:
    """Filter by who told a memory, by the session in which it was told, and by the filter."""
    rows = rows.filter(told_by_source(scope=checked_scope(query, at=""), metadata={}))
    if query.session_id is not None:
        rows = rows.filter(told_in_session(checked_name(query.session_id, at="session_id")))
    if (wanted := list_filter(query)) is not None:
        rows = rows.filter(filter_condition(wanted))
    return rows
