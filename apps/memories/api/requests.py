"""Requests of /v1/memories: bodies, and the query strings that select memories for lists and retractions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from apps.api.authentication import Caller
from apps.api.schemas import (
    CONTENT_CHARACTERS,
    AdjustmentResponse,
    AgentScopeBody,
    AgentScopeQuery,
    DayEnd,
    DayStart,
    Identifier,
    Label,
    Limit,
    Metadata,
    Moment,
    RequestBody,
    Share,
    Topic,
    adjusted_text,
    adjusted_time,
    checked_metadata,
    checked_names,
    checked_scope,
)
from apps.api.validation import read_id
from apps.memories.filter import MemoryFilter, filter_condition, parse_filter, told_in_session, wanted_statuses
from apps.memories.querysets import MemoryQuerySet
from apps.memories.services.revising import Revision
from apps.memories.services.store import StoreRequest
from apps.memories.source_filter import told_by_source
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import (
    CATEGORY_ALIASES,
    EntityType,
    Grounding,
    MemoryType,
    Polarity,
    Precision,
    Scope,
    SourceConfidence,
    SpeechAct,
    Status,
)
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import BadInput, checked_moment, checked_name, checked_said_at, cleaned_text
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import EXTRACTOR, NewMemory

MAX_MEMORIES = 100

_TYPE_NAMES = [*MemoryType, *(alias for alias in CATEGORY_ALIASES if alias not in set(MemoryType))]
TypeName = Annotated[str, Meta(extra_json_schema={"enum": [str(name) for name in _TYPE_NAMES]})]
Content = Annotated[str, Meta(min_length=1, extra_json_schema={"maxLength": CONTENT_CHARACTERS})]
LongText = Annotated[str, Meta(extra_json_schema={"maxLength": CONTENT_CHARACTERS})]
Predicate = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Tag = Annotated[str, Meta(min_length=1, max_length=64)]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=32)]
Language = Annotated[str, Meta(max_length=8)]


class NameBody(RequestBody):
    """An entity by name, created if it is new. "User" is the end user."""

    name: Identifier
    type: EntityType = EntityType.OTHER


class ObjectBody(RequestBody):
    """The object of a triple: exactly one of the three fields."""

    literal: Annotated[str, Meta(min_length=1, max_length=2_000)] | None = None
    entity: NameBody | Identifier | None = None
    list: Annotated[tuple[Identifier, ...], Meta(min_length=1, max_length=100)] | None = None


class MemoryBody(AgentScopeBody, kw_only=True):
    """A memory to store as given. Omitted fields get defaults."""

    type: TypeName
    content: Content
    subject: NameBody | Identifier | None = None
    predicate: Predicate | None = None
    object: ObjectBody | None = None
    polarity: Polarity = Polarity.POSITIVE
    stateful: bool | None = None
    topic: Topic | None = None
    tags: Tags = ()
    metadata: Metadata | None = None
    language: Language = ""
    event_at: Moment | None = None
    event_precision: Precision | None = None
    said_at: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    expires_at: Moment | None = None
    superseded_by: str | None = None
    status: Status | None = None
    confidence: Share | None = None
    source_confidence: SourceConfidence = SourceConfidence.DIRECT
    grounding: Grounding = Grounding.SUPPORTED
    speech_act: SpeechAct = SpeechAct.ASSERTED
    importance: Share = 0.5
    session_id: Identifier | None = None
    evidence: LongText | None = None
    context: LongText | None = None
    extractor: Label = EXTRACTOR


class MemoriesBody(RequestBody):
    """Memories of one end user to store."""

    user_id: Identifier
    memories: Annotated[tuple[MemoryBody, ...], Meta(min_length=1, max_length=MAX_MEMORIES)]


class RevisionBody(RequestBody):
    """New values for a memory; omitted fields stay unchanged. `version` is the version that the caller has read.

    Without `object`, a new `content` changes the triple too: words that replace the old object become the new one, and
    an object that cannot be read from the content becomes empty.
    """

    content: Content | UnsetType = UNSET
    object: ObjectBody | UnsetType | None = UNSET
    topic: Topic | UnsetType = UNSET
    tags: Tags | UnsetType = UNSET
    importance: Share | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    metadata: Metadata | UnsetType = UNSET
    event_at: Moment | UnsetType | None = UNSET
    event_precision: Precision | UnsetType | None = UNSET
    valid_from: Moment | UnsetType = UNSET
    valid_until: Moment | UnsetType | None = UNSET
    expires_at: Moment | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    version: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


def new_memories(body: MemoriesBody, *, now: datetime) -> tuple[NewMemory, ...]:
    """Return the memories to store, their texts cleaned. Raises BadInput, TooLarge."""
    return tuple(new_memory(each, at=f"/memories/{index}", now=now) for index, each in enumerate(body.memories))


def adjustments(body: MemoriesBody, taken: Sequence[NewMemory]) -> list[AdjustmentResponse]:
    """Return what was changed in the memories of a request before they were stored."""
    return [
        each
        for index, (given, new) in enumerate(zip(body.memories, taken, strict=True))
        for each in (
            adjusted_text(given.content, new.content, at=f"/memories/{index}/content"),
            adjusted_text(given.evidence, new.evidence, at=f"/memories/{index}/evidence"),
            adjusted_text(given.context, new.context, at=f"/memories/{index}/context"),
            adjusted_time(given.said_at, new.said_at, at=f"/memories/{index}/said_at"),
        )
        if each
    ]


def new_memory(body: MemoryBody, *, at: str, now: datetime) -> NewMemory:
    """Return a memory to store, its texts cleaned. Raises BadInput, TooLarge with pointers below `at`."""
    kind, tag = _type(body.type, at=f"{at}/type")
    successor = body.superseded_by
    tags = checked_names(body.tags, at=f"{at}/tags")
    predicate = checked_name(body.predicate or "", at=f"{at}/predicate")
    given: dict[str, Any] = {name: getattr(body, name) for name in _AS_GIVEN}
    given |= {name: checked_name(getattr(body, name) or "", at=f"{at}/{name}") for name in _NAMES}
    given |= {name: checked_moment(getattr(body, name), at=f"{at}/{name}") for name in _MOMENTS}
    return NewMemory(
        type=kind,
        content=cleaned_text(body.content, at=f"{at}/content", most=CONTENT_CHARACTERS),
        subject=_mention(body.subject, at=f"{at}/subject") if body.subject else Mention(text=""),
        predicate=predicate,
        object=_object(body.object, at=f"{at}/object") if body.object else ObjectValue(),
        stateful=is_stateful(predicate) if body.stateful is None else body.stateful,
        tags=tuple(dict.fromkeys((*tags, tag) if tag else tags)),
        metadata=checked_metadata(body.metadata, at=f"{at}/metadata"),
        agent_scope=checked_scope(body, at=f"{at}/"),
        said_at=checked_said_at(body.said_at, at=f"{at}/said_at", now=now),
        superseded_by=read_id(Prefix.MEMORY, successor, at=f"{at}/superseded_by") if successor else None,
        evidence=_long_text(body.evidence, at=f"{at}/evidence"),
        context=_long_text(body.context, at=f"{at}/context"),
        **given,
    )


_NAMES = ("topic", "language", "session_id", "extractor")
_MOMENTS = ("event_at", "valid_from", "valid_until", "expires_at")
_AS_GIVEN = (
    *("polarity", "event_precision", "status", "confidence", "source_confidence", "grounding", "speech_act"),
    "importance",
)


def _type(name: str, *, at: str) -> tuple[MemoryType, str | None]:
    """Return the memory type, and a tag if the name is a category of another system."""
    if name in set(MemoryType):
        return MemoryType(name), None
    if name not in CATEGORY_ALIASES:
        raise BadInput(f"must be one of {', '.join(_TYPE_NAMES)}", at=at)
    return CATEGORY_ALIASES[name]


def _mention(body: NameBody | str, *, at: str) -> Mention:
    text, kind = (body.name, body.type) if isinstance(body, NameBody) else (body, EntityType.OTHER)
    if not canonical_text(text):
        raise BadInput("must contain a letter or a digit", at=at)
    return Mention(text=checked_name(text, at=at), type=kind)


def _object(body: ObjectBody, *, at: str) -> ObjectValue:
    given = [value for value in (body.literal, body.entity, body.list) if value is not None]
    if len(given) != 1:
        raise BadInput("must have exactly one of literal, entity and list", at=at)
    if body.entity is not None:
        return ObjectValue(entity=_mention(body.entity, at=f"{at}/entity"))
    if body.list is not None:
        return ObjectValue(items=checked_names(body.list, at=f"{at}/list"))
    return ObjectValue(literal=checked_name(body.literal or "", at=f"{at}/literal"))


def _long_text(text: str | None, *, at: str) -> str:
    return cleaned_text(text, at=at, most=CONTENT_CHARACTERS) if text else ""


def revision_of(
    body: RevisionBody, *, memory_id: UUID, caller: Caller, expected_version: int | None = None
) -> Revision:
    """Return the revision that a caller asks for, texts cleaned. Raises BadInput, TooLarge."""
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    given.pop("version")
    return Revision(
        project_id=caller.project_id,
        memory_id=memory_id,
        changes={name: _revised(name, value) for name, value in given.items()},
        expected_version=body.version or expected_version,
        may_review=caller.may(Scope.ADMIN),
        is_trusted=caller.may(Scope.TRUST),
    )


def store_request(user_id: str, memories: Sequence[NewMemory], *, caller: Caller) -> StoreRequest:
    """Return the request of a caller to store memories of an end user."""
    return StoreRequest(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=checked_name(user_id, at="/user_id"),
        memories=tuple(memories),
        is_trusted=caller.may(Scope.TRUST),
    )


def _revised(name: str, value: Any) -> Any:
    at = f"/{name}"
    if isinstance(value, datetime):
        return checked_moment(value, at=at)
    if name == "object":
        return _object(value, at=at) if value is not None else ObjectValue()
    if name == "content":
        return cleaned_text(value, at=at, most=CONTENT_CHARACTERS)
    if name == "tags":
        return list(dict.fromkeys(checked_names(value, at=at)))
    if name == "metadata":
        return checked_metadata(value, at=at)
    if name == "topic":
        return checked_name(value, at=at)
    return "" if name == "event_precision" and value is None else value


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
    given = {
        "end_user_id": end_user_id,
        "type__in": query.types,
        "topic__in": query.topics,
        "tags__contains": list(query.tags),
        "said_at__gte": checked_moment(query.since, at="since"),
        "said_at__lte": checked_moment(query.until, at="until"),
    }
    told = told_by_source(scope=checked_scope(query, at=""), metadata={})
    rows = rows.filter(told, **{lookup: value for lookup, value in given.items() if value})
    if query.entities:
        rows = rows.about([read_id(Prefix.ENTITY, each, at="entities") for each in query.entities])
    if query.session_id is not None:
        rows = rows.filter(told_in_session(checked_name(query.session_id, at="session_id")))
    if (wanted := list_filter(query)) is not None:
        rows = rows.filter(filter_condition(wanted))
    return rows
