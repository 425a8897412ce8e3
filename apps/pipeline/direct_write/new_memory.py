"""Memories that callers store directly: candidates without turns, which the stages after extraction settle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope, MemorySource
from apps.pipeline.core.enums import LIVE_STATUSES, EntityType, SourceConfidence, Status
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.policy import Policy, RedactionPolicy
from apps.pipeline.core.statement import Candidate, Given, Mention, ObjectValue, Statement
from apps.pipeline.direct_write.trust import doubts_about
from apps.pipeline.redaction.redact import redact, redact_json
from apps.pipeline.resolution.entity_index import EntityIndex
from apps.pipeline.resolution.names import fold_name

EXTRACTOR = "direct"
MAX_ENTITIES = 10_000  # names are searched among these; an end user has far fewer
_THE_USER = frozenset({"user", "the user"})
# Statuses that decisions on a memory give it.
_DECIDED = frozenset({Status.REJECTED, Status.RETRACTED, Status.MERGED})
_SURE = frozenset({SourceConfidence.DIRECT, SourceConfidence.CONFIRMED})
_TEXTS = ("content", "evidence", "context", "subject", "object", "topic", "tags", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory(Statement):
    """A memory as the caller sends it; None leaves the choice to the product.

    Entities are given by name: a known one, or a new one of the mention's type. "User" is the end user.
    """

    extractor: str = EXTRACTOR
    metadata: Mapping[str, Any] = field(default_factory=dict)
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: UUID | None = None
    status: Status | None = None
    confidence: float | None = None
    session_id: str = ""
    agent_scope: AgentScope = UNSCOPED
    private_to: str = ""  # the agent that alone is told of it; empty: as the policy says
    context: str = ""

    def begins(self, now: datetime) -> datetime:
        """Return since when it is true: as given, else since it was said.

        What is stored as superseded may have been said after it ended: it then begins where it ends.
        """
        if self.valid_from is not None:
            return self.valid_from
        said_at = self.said_at or now
        if self.status is Status.SUPERSEDED and self.valid_until is not None:
            return min(said_at, self.valid_until)
        return said_at


def check_new(new: NewMemory, *, at: str, now: datetime) -> None:
    """Refuse values that contradict each other. Raises BadInput with pointers below `at`."""
    if new.valid_until is not None and new.valid_until < new.begins(now):
        raise BadInput("must not lie before valid_from", at=f"{at}/valid_until")
    if new.status is Status.SUPERSEDED and new.valid_until is None:
        raise BadInput("is needed: what is superseded has ended", at=f"{at}/valid_until")
    if new.superseded_by is not None and new.status is not Status.SUPERSEDED:
        raise BadInput("is for status superseded only", at=f"{at}/superseded_by")
    if new.object.text and not new.predicate:
        raise BadInput("is needed: an object says nothing without it", at=f"{at}/predicate")


def storing_needs_trust(new: NewMemory, *, now: datetime) -> str:
    """Return the field of a new memory that requires the scope trust, or "" if none does."""
    if new.status in _DECIDED:
        return "status"
    return "expires_at" if new.expires_at is not None and new.expires_at <= now else ""


def on_own_word(new: NewMemory, *, extractor: str = EXTRACTOR) -> NewMemory:
    """Return a memory as a caller without trust may store it: not confirmed, and active only if it is confident enough.

    Free text is hearsay, below the user's own words. Its confidence is limited where it is computed.
    """
    source = new.source_confidence
    if source in _SURE:
        fills_slot = new.takes_one_value and bool(new.subject.text and new.object_text)
        source = SourceConfidence.DIRECT if fills_slot else SourceConfidence.INFERRED
    status = None if new.status is Status.ACTIVE else new.status
    return new.evolve(source_confidence=source, status=status, extractor=extractor)


def redacted_memory(new: NewMemory, *, policy: RedactionPolicy) -> NewMemory:
    """Return a memory without the sensitive data that the policy masks or drops, in any of its texts."""
    return new.evolve(**redacted_changes({name: getattr(new, name) for name in _TEXTS}, policy=policy))


def redacted_changes(changes: Mapping[str, Any], *, policy: RedactionPolicy) -> dict[str, Any]:
    """Return the changes of a memory by field, with each text redacted."""
    return {name: _redacted(value, policy) for name, value in changes.items()}


def _redacted(value: Any, policy: RedactionPolicy) -> Any:
    if isinstance(value, ObjectValue):
        parts = {name: getattr(value, name) for name in ("literal", "entity", "items")}
        return replace(value, **{name: _redacted(part, policy) for name, part in parts.items()})
    if isinstance(value, Mention):
        return replace(value, text=redact(value.text, policy=policy).text)
    if isinstance(value, tuple):
        return tuple(_redacted(each, policy) for each in value)
    if isinstance(value, Mapping | list) or type(value) is str:  # enums and times stay as they are
        return redact_json(value, policy=policy)
    return value


def candidates_of(
    memories: Sequence[NewMemory],
    *,
    entity_index: EntityIndex,
    policy: Policy,
    now: datetime,
    is_trusted: bool = True,
    may_replace: bool = True,
) -> list[Candidate]:
    """Convert new memories to candidates; entities that they name are found in the index or added to it."""
    found: list[Candidate] = []
    for index, new in enumerate(memories):
        said_at = new.said_at or now
        statement = {
            **new.statement_fields(),
            "subject": _resolved(new.subject, entity_index) if new.subject.text else new.subject,
            "object": resolved_object(new.object, entity_index),
            "reliability": policy.extraction.model_reliability,
        }
        candidate = Candidate(
            index=index,
            source_turn_ids=(),
            valid_from=new.begins(now),
            valid_until=new.valid_until,
            **statement,
        )
        given = Given(
            said_at=said_at,
            confidence=new.confidence,
            status=new.status,
            superseded_by=new.superseded_by,
            expires_at=new.expires_at,
            context=new.context,
            source=MemorySource(scope=new.agent_scope, metadata=new.metadata),
            is_trusted=is_trusted,
            may_replace=may_replace,
            doubts=doubts_about(candidate, is_trusted=is_trusted),
        )
        found.append(candidate.evolve(given=given))
    return found


def becomes_live(candidate: Candidate) -> bool:
    """Return True unless a caller stores a memory as history."""
    given = candidate.given
    return given is None or given.status is None or given.status in LIVE_STATUSES


def resolved_object(value: ObjectValue, entity_index: EntityIndex) -> ObjectValue:
    """Resolve an object that is an entity by its name; an unknown entity is added to the index."""
    return ObjectValue(entity=_resolved(value.entity, entity_index)) if value.entity else value


def _resolved(mention: Mention, entity_index: EntityIndex) -> Mention:
    """Resolve a mention by its name; an unknown entity is added to the index."""
    name, kind = mention.text, mention.type or EntityType.OTHER
    if fold_name(name) in _THE_USER:
        entity = entity_index.user()
    else:
        found = entity_index.named(name, kind=kind)
        entity = found[0] if found else entity_index.add(name=name, kind=kind, aliases=(name,))
    return Mention(text=name, type=entity.type, entity_id=entity.id)
