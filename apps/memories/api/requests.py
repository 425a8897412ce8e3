"""Bodies of /v1/memories, and the query strings that select memories for lists and retractions."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.api.authentication import Caller
from apps.api.serializers import (
    CONTENT_CHARACTERS,
    OPTIONAL,
    AgentScopeQuery,
    AgentScopeSerializer,
    ApiSerializer,
    DayEndField,
    DayStartField,
    EnumField,
    MetadataField,
    MomentField,
    NameField,
    PageQuery,
    PublicIdField,
    adjusted_text,
    adjusted_time,
    adjusted_value,
    agent_scope_of,
    validated,
)
from apps.common.errors import NotAllowed
from apps.memories.filter import MemoryFilter, parse_filter, told_in_session
from apps.memories.models import Memory
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
from apps.pipeline.core.input_validation import BadInput, checked_said_at, cleaned_text
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import EXTRACTOR, NewMemory, storing_needs_trust

MAX_MEMORIES = 100
MAX_ENTITIES = 20
MAX_FILTER = 8_000  # characters of a filter in a query string
_TYPE_NAMES = [str(each) for each in (*MemoryType, *(name for name in CATEGORY_ALIASES if name not in set(MemoryType)))]


@extend_schema_field({"type": "string", "enum": _TYPE_NAMES})
class TypeNameField(serializers.CharField):
    """A memory type, or a category of another system, which becomes a type and a tag."""

    def to_internal_value(self, data: Any) -> str:
        """Return the name. Raises ValidationError."""
        name = super().to_internal_value(data)
        if name not in _TYPE_NAMES:
            raise ValidationError(f"must be one of {', '.join(_TYPE_NAMES)}")
        return name


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": CONTENT_CHARACTERS})
class ContentField(serializers.CharField):
    """A sentence; one that is too long is refused with a code of its own when it is cleaned."""


@extend_schema_field({"type": "string", "maxLength": CONTENT_CHARACTERS})
class LongTextField(serializers.CharField):
    """A text that may be empty, checked as a sentence is."""


class ShareField(serializers.FloatField):
    """A number from 0 to 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=1, **options)


class TagsField(serializers.ListField):
    """Up to 32 tags, each once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=NameField(max_length=64), max_length=32, **options)

    def to_internal_value(self, data: Any) -> list[str]:
        """Return the tags in their order. Raises ValidationError."""
        return list(dict.fromkeys(super().to_internal_value(data)))


class NameSerializer(ApiSerializer):
    """An entity by name, created if it is new. "User" is the end user."""

    name = NameField()
    type = EnumField(EntityType, default=EntityType.OTHER)


class MentionField(serializers.Field[Any, Any, Any, Any]):
    """An entity, by its name alone or with its type."""

    def to_internal_value(self, data: Any) -> Mention:
        """Return the mention. Raises ValidationError."""
        if isinstance(data, str):
            name, kind = NameField().run_validation(data), EntityType.OTHER
        else:
            given = validated(NameSerializer, data)
            name, kind = given["name"], given["type"]
        if not canonical_text(name):
            raise ValidationError("must contain a letter or a digit")
        return Mention(text=name, type=kind)


class MentionFieldExtension(OpenApiSerializerFieldExtension):
    """Describe both forms of a mention."""

    target_class = MentionField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """Return the choice between the two forms."""
        with_type = auto_schema.resolve_serializer(NameSerializer, "request")
        return {"oneOf": [with_type.ref, {"type": "string", "minLength": 1, "maxLength": 255}]}


class ObjectSerializer(ApiSerializer):
    """The object of a triple: exactly one of the three fields."""

    default_error_messages = {"invalid": "must be an object with exactly one of literal, entity and list"}

    literal = NameField(max_length=2_000, **OPTIONAL)
    entity = MentionField(**OPTIONAL)
    list = serializers.ListField(child=NameField(), min_length=1, max_length=100, **OPTIONAL)

    def validate(self, attrs: dict[str, Any]) -> Any:
        """Return the object. Raises ValidationError."""
        if sum(value is not None for value in attrs.values()) != 1:
            raise ValidationError("must have exactly one of literal, entity and list")
        if attrs["entity"] is not None:
            return ObjectValue(entity=attrs["entity"])
        if attrs["list"] is not None:
            return ObjectValue(items=tuple(attrs["list"]))
        return ObjectValue(literal=attrs["literal"])


@extend_schema_serializer(component_name="MemoryBody")
class NewMemorySerializer(AgentScopeSerializer):
    """A memory to store as given. Omitted fields get defaults."""

    type = TypeNameField()
    content = ContentField()
    subject = MentionField(**OPTIONAL)
    predicate = serializers.RegexField(r"^[a-z][a-z0-9_]{0,63}\Z", **OPTIONAL)
    object = ObjectSerializer(**OPTIONAL)
    polarity = EnumField(Polarity, default=Polarity.POSITIVE)
    stateful = serializers.BooleanField(**OPTIONAL)
    topic = NameField(max_length=64, allow_blank=True, **OPTIONAL)
    tags = TagsField(default=list)
    metadata = MetadataField(**OPTIONAL)
    language = NameField(max_length=8, allow_blank=True, default="")
    event_at = MomentField(**OPTIONAL)
    event_precision = EnumField(Precision, **OPTIONAL)
    said_at = serializers.DateTimeField(default_timezone=UTC, **OPTIONAL)
    valid_from = MomentField(**OPTIONAL)
    valid_until = MomentField(**OPTIONAL)
    expires_at = MomentField(**OPTIONAL)
    superseded_by = PublicIdField(Prefix.MEMORY, **OPTIONAL)
    status = EnumField(Status, **OPTIONAL)
    confidence = ShareField(**OPTIONAL)
    source_confidence = EnumField(SourceConfidence, default=SourceConfidence.DIRECT)
    grounding = EnumField(Grounding, default=Grounding.SUPPORTED)
    speech_act = EnumField(SpeechAct, default=SpeechAct.ASSERTED)
    importance = ShareField(default=0.5)
    session_id = NameField(**OPTIONAL)
    evidence = LongTextField(allow_blank=True, **OPTIONAL)
    context = LongTextField(allow_blank=True, **OPTIONAL)  # type: ignore[assignment]  # no attribute of the class
    extractor = NameField(max_length=120, allow_blank=True, default=EXTRACTOR)


@extend_schema_serializer(component_name="MemoriesBody")
class NewMemoriesSerializer(ApiSerializer):
    """Memories of one end user to store."""

    user_id = NameField()
    memories = serializers.ListField(child=NewMemorySerializer(), min_length=1, max_length=MAX_MEMORIES)


class RevisionSerializer(ApiSerializer):
    """New values for a memory; omitted fields stay unchanged. `version` is the version that the caller has read.

    Without `object`, a new `content` changes the triple too: words that replace the old object become the new one, and
    an object that cannot be read from the content becomes empty.
    """

    content = ContentField(required=False)
    object = ObjectSerializer(required=False, allow_null=True)
    topic = NameField(max_length=64, allow_blank=True, required=False)
    tags = TagsField(required=False)
    importance = ShareField(required=False)
    confidence = ShareField(required=False)
    metadata = MetadataField(required=False)
    event_at = MomentField(required=False, allow_null=True)
    event_precision = EnumField(Precision, required=False, allow_null=True)
    valid_from = MomentField(required=False)
    valid_until = MomentField(required=False, allow_null=True)
    expires_at = MomentField(required=False, allow_null=True)
    status = EnumField(Status, required=False)
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, **OPTIONAL)


def new_memories(body: Mapping[str, Any], *, caller: Caller, now: datetime) -> tuple[NewMemory, ...]:
    """Return the memories that a caller stores, their texts cleaned. Raises BadInput, TooLarge, NotAllowed."""
    return tuple(
        new_memory(each, at=f"/memories/{index}", caller=caller, now=now) for index, each in enumerate(body["memories"])
    )


def adjustments(given: Mapping[str, Any], new: NewMemory, limited: Memory | None, *, at: str) -> list[dict[str, str]]:
    """Return what was stored otherwise than it was sent, with pointers below `at`.

    `limited` is the row of a memory whose key has not the scope trust, so that values that vouch for it were lowered.
    """
    texts = ("content", "evidence", "context")
    found = [adjusted_text(given[name], getattr(new, name), at=f"{at}/{name}") for name in texts]
    found.append(adjusted_time(given["said_at"], new.said_at, at=f"{at}/said_at"))
    if limited is not None:
        is_confirmed = given["source_confidence"] is SourceConfidence.CONFIRMED
        names = ("confidence", "extractor", *(["source_confidence"] if is_confirmed else []))
        asked = {name: given[name] for name in names if given[name]}
        found += [adjusted_value(value, getattr(limited, name), at=f"{at}/{name}") for name, value in asked.items()]
    return [each for each in found if each]


_AS_GIVEN = (
    *("polarity", "event_precision", "status", "confidence", "source_confidence", "grounding", "speech_act"),
    *("importance", "event_at", "valid_from", "valid_until", "expires_at", "superseded_by"),
)


def new_memory(body: Mapping[str, Any], *, at: str, caller: Caller, now: datetime) -> NewMemory:
    """Return a memory that a caller stores, its texts cleaned.

    Raises BadInput and TooLarge with pointers below `at`, and NotAllowed for values that take the scope trust.
    """
    name, predicate = body["type"], body["predicate"] or ""
    kind, tag = (MemoryType(name), None) if name in set(MemoryType) else CATEGORY_ALIASES[name]
    texts: dict[str, Any] = {
        name: cleaned_text(body[name], at=f"{at}/{name}", most=CONTENT_CHARACTERS) if body[name] else ""
        for name in ("content", "evidence", "context")
    }
    given = {name: body[name] for name in _AS_GIVEN}
    given |= {name: body[name] or "" for name in ("topic", "language", "session_id", "extractor")}
    new = NewMemory(
        type=kind,
        subject=body["subject"] or Mention(text=""),
        predicate=predicate,
        object=body["object"] or ObjectValue(),
        stateful=is_stateful(predicate) if body["stateful"] is None else body["stateful"],
        tags=tuple(dict.fromkeys((*body["tags"], tag) if tag else body["tags"])),
        metadata=body["metadata"] or {},
        agent_scope=agent_scope_of(body),
        said_at=checked_said_at(body["said_at"], at=f"{at}/said_at", now=now),
        **texts,
        **given,
    )
    if not caller.may(Scope.TRUST) and (field := storing_needs_trust(new, now=now)):
        raise NotAllowed(f"{at}/{field}: storing this value needs the scope trust")
    return new


def store_request(user_id: str, memories: Sequence[NewMemory], *, caller: Caller) -> StoreRequest:
    """Return the request of a caller to store memories of an end user."""
    return StoreRequest(
        project_id=caller.project_id,
        api_key_id=caller.api_key_id,
        user_id=user_id,
        memories=tuple(memories),
        is_trusted=caller.may(Scope.TRUST),
    )


def revision_of(
    body: Mapping[str, Any], *, memory_id: UUID, caller: Caller, expected_version: int | None = None
) -> Revision:
    """Return the revision that a caller asks for, texts cleaned. Raises BadInput, TooLarge."""
    changes = {name: value for name, value in body.items() if name != "version"}
    if "content" in changes:
        changes["content"] = cleaned_text(changes["content"], at="/content", most=CONTENT_CHARACTERS)
    if "object" in changes:
        changes["object"] = changes["object"] or ObjectValue()
    if "event_precision" in changes:
        changes["event_precision"] = changes["event_precision"] or ""
    return Revision(
        project_id=caller.project_id,
        memory_id=memory_id,
        changes=changes,
        expected_version=body.get("version") or expected_version,
        may_review=caller.may(Scope.ADMIN),
        is_trusted=caller.may(Scope.TRUST),
    )


class MemorySelection(AgentScopeQuery):
    """Which memories of an end user are meant.

    `since` and `until` limit when it was said; a memory must have all `tags` and one of `entities`. `agent_id`,
    `app_id` and `run_id` select what one request told that named all of them, `session_id` what was told in a session.
    What is private to an agent is meant too. Only active memories, unless `statuses` or `filter` name others.
    """

    user_id = NameField(**OPTIONAL)
    types = serializers.ListField(child=EnumField(MemoryType), default=list)
    topics = serializers.ListField(child=serializers.CharField(max_length=64, allow_blank=True), default=list)
    tags = serializers.ListField(child=serializers.CharField(max_length=64), default=list)
    statuses = serializers.ListField(child=EnumField(Status), default=list)
    entities = serializers.ListField(child=PublicIdField(Prefix.ENTITY), max_length=MAX_ENTITIES, default=list)
    session_id = NameField(**OPTIONAL)
    since = DayStartField(**OPTIONAL)
    until = DayEndField(**OPTIONAL)
    filter = serializers.CharField(max_length=MAX_FILTER, help_text="A filter as JSON, as in a search.", **OPTIONAL)

    def validate_filter(self, text: str | None) -> MemoryFilter | None:
        """Return the filter. Raises ValidationError."""
        try:
            return None if text is None else parse_filter(json.loads(text), at="")
        except BadInput as error:
            raise ValidationError(f"{error.at} {error}".strip()) from error
        except (ValueError, RecursionError) as error:
            raise ValidationError("must be JSON") from error


class MemoriesQuery(PageQuery, MemorySelection):
    """Filters for a list of memories. `user_id` is optional for keys with scope admin.

    `as_of` selects what was true at a moment, superseded memories as well unless `statuses` are given; `known_at` what
    had been stored by a moment, in the wording of that time.
    """

    as_of = DayEndField(**OPTIONAL)
    known_at = DayEndField(**OPTIONAL)


class RetractionQuery(MemorySelection):
    """The memories to retract; `confirm` is their number, which a request without it tells."""

    user_id = NameField()
    confirm = serializers.IntegerField(min_value=0, **OPTIONAL)


def statuses_of(query: Mapping[str, Any], *, shown: tuple[Status, ...]) -> tuple[Status, ...]:
    """Return the statuses that are meant: those given, or those shown by default and those that the filter names."""
    wanted: MemoryFilter | None = query["filter"]
    return tuple(query["statuses"]) or (*shown, *(wanted.statuses if wanted else ()))


def selected(rows: MemoryQuerySet, query: Mapping[str, Any], *, end_user_id: UUID | None) -> MemoryQuerySet:
    """Filter memories of an end user, or of all, by a query string.

    Their status and the times `as_of` and `known_at` are left to the caller.
    """
    given = {
        "end_user_id": end_user_id,
        "type__in": query["types"],
        "topic__in": query["topics"],
        "tags__contains": query["tags"],
        "said_at__gte": query["since"],
        "said_at__lte": query["until"],
    }
    told = told_by_source(scope=agent_scope_of(query), metadata={})
    rows = rows.filter(told, **{lookup: value for lookup, value in given.items() if value})
    if query["entities"]:
        rows = rows.about(query["entities"])
    if query["session_id"] is not None:
        rows = rows.filter(told_in_session(query["session_id"]))
    return rows.filter(query["filter"].condition) if query["filter"] else rows
