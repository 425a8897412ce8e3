"""Query strings that select memories: for lists, and for retractions in bulk."""

from typing import Annotated

import msgspec
from msgspec import Meta

from apps.api.schemas import AgentScopeQuery, DayEnd, DayStart, Identifier, Limit, Topic
from apps.memories.api.bodies import Tag
from apps.memories.filter import MemoryFilter, parse_filter
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.input_validation import BadInput

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
