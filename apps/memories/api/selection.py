"""Select memories by a query string, as lists and retractions in bulk do."""

from typing import Annotated
from uuid import UUID

import msgspec
from django.db.models import Q
from msgspec import Meta

from apps.api.schemas import AgentScopeQuery, DayEnd, DayStart, Identifier, Limit, Topic, checked_scope
from apps.api.validation import read_id
from apps.memories.api.bodies import Tag
from apps.memories.filter import MemoryFilter, filter_condition, parse_filter, told_in_session, wanted_statuses
from apps.memories.querysets import MemoryQuerySet
from apps.memories.source_filter import told_by_source
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import BadInput, checked_moment, checked_name

FilterText = Annotated[str, Meta(max_length=8_000, description="A filter as JSON, as in a search.")]

MAX_ENTITIES = 20


class MemorySelection(AgentScopeQuery):
    """Which memories of an end user are meant.

    `since` and `until` limit when it was said; a memory must have all `tags` and one of `entities`. `agent_id`,
    `app_id` and `run_id` select what one request told that named all of them, `session_id` what was told in a session.
    What is private to an agent is meant too. Only active memories, unless `statuses` or `filter` name others.
    """

    user_id: Identifier | None = None
    types: tuple[MemoryType, ...] = ()
    topics: tuple[Topic, ...] = ()
    tags: tuple[Tag, ...] = ()
    statuses: tuple[Status, ...] = ()
    entities: Annotated[tuple[Identifier, ...], Meta(max_length=MAX_ENTITIES)] = ()
    session_id: Identifier | None = None
    since: DayStart | None = None
    until: DayEnd | None = None
    filter: FilterText | None = None


class MemoriesQuery(MemorySelection):
    """Filters for a list of memories. `user_id` is optional for keys with scope admin.

    `as_of` selects what was true at a moment, superseded memories as well unless `statuses` are given; `known_at` what
    had been stored by a moment, in the wording of that time.
    """

    as_of: DayEnd | None = None
    known_at: DayEnd | None = None
    cursor: str | None = None
    limit: Limit = 50


class RetractionQuery(MemorySelection, kw_only=True):
    """The memories to retract; `confirm` is their number, which a request without it tells."""

    user_id: Identifier
    confirm: Annotated[int, Meta(ge=0)] | None = None


def list_filter(query: MemorySelection) -> MemoryFilter | None:
    """Return the filter of a list, which is JSON in the query string. Raises BadInput about the parameter."""
    if query.filter is None:
        return None
    try:
        return parse_filter(msgspec.json.decode(query.filter), at="")
    except msgspec.DecodeError as error:
        raise BadInput("must be JSON", at="filter") from error
    except BadInput as error:
        raise BadInput(f"{error.at} {error}".strip(), at="filter") from error


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
