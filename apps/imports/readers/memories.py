"""Memories of mem0, and those exported here: as sure as hearsay can be.

Their words were chosen by an extractor that we don't know, and no quote supports them: by the formula of confidence
they are told at normal stakes, and never at high ones, until a person or the end user confirms them.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import msgspec

from apps.imports.readers.entries import (
    MOST_CONTENT,
    MOST_NAME,
    ImportEntry,
    ImportSource,
    end_of_day,
    fields_of,
    fields_or_none,
    moment_of,
    text_of,
)
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import Grounding, MemoryType, Polarity, SourceConfidence, Status
from apps.pipeline.core.input_validation import (
    METADATA_BYTES,
    METADATA_DEPTH,
    BadInput,
    check_json,
    checked_moment,
    checked_name,
    checked_said_at,
    cleaned_text,
)
from apps.pipeline.core.predicates import is_stateful
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory, check_new

EXTRACTOR = "import"
ORIGIN = "imported"  # the key of the metadata under which the origin of an imported memory is kept
MOST_PREDICATE = 64
MOST_OBJECT = 2_000
_AGENT = ("agent_id", "app_id", "run_id")
_KEPT = {Status.ACTIVE: None, Status.PENDING_REVIEW: Status.PENDING_REVIEW, Status.SUPERSEDED: Status.SUPERSEDED}
Name = Annotated[str, msgspec.Meta(max_length=MOST_NAME)]


class _Memory(msgspec.Struct, kw_only=True):
    """A memory as this product exports it."""

    id: str
    content: str
    type: MemoryType
    user_id: str = ""
    status: Status = Status.ACTIVE
    subject: str | None = None
    predicate: str = ""
    object: str = ""
    polarity: Polarity = Polarity.POSITIVE
    confidence: float | None = None
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    said_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    agent_id: Name = ""
    app_id: Name = ""
    run_id: Name = ""
    private_to: Name = ""


def read_mem0(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a memory of mem0 as a fact; relations of its graph are not read."""
    fields = fields_of(raw)
    content, external_id = fields.get("memory", fields.get("data")), text_of(fields.get("id"))
    if not isinstance(content, str) or not external_id:
        raise BadInput("has no memory or no id")
    metadata, categories = fields_or_none(fields.get("metadata")), fields.get("categories")
    if isinstance(categories, list) and categories:
        metadata = {**metadata, "categories": categories}
    agent: dict[str, Any] = {name: text_of(fields.get(name))[:MOST_NAME] for name in _AGENT}
    memory = _Memory(
        id=external_id,
        content=content,
        type=MemoryType.FACT,
        user_id=text_of(fields.get("user_id")),
        said_at=moment_of(fields.get("created_at")),
        expires_at=end_of_day(fields.get("expiration_date")),
        **agent,
    )
    yield _hearsay(memory, metadata, source)


def read_memory(raw: bytes, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a memory that holds or held, without its history. Raises BadInput for one that was taken back."""
    memory = msgspec.json.decode(raw, type=_Memory)
    if memory.status not in _KEPT:
        raise BadInput(f"is {memory.status}")
    yield _hearsay(memory, {}, source)


def _hearsay(given: _Memory, metadata: dict[str, Any], source: ImportSource) -> ImportEntry:
    """Return a memory as hearsay with its text cleaned. Raises BadInput."""
    try:
        check_json(metadata, max_depth=METADATA_DEPTH)
    except BadInput as bad:
        raise BadInput(str(bad), at="metadata") from bad  # without the place in it: its keys are words too
    if len(msgspec.json.encode(metadata)) > METADATA_BYTES:
        raise BadInput(f"is larger than {METADATA_BYTES:,} bytes", at="metadata")
    triple: dict[str, Any] = {}
    if given.predicate and given.object:
        literal = checked_name(given.object, at="object")[:MOST_OBJECT]
        triple = {"object": ObjectValue(literal=literal), "stateful": is_stateful(given.predicate)}
        triple["predicate"] = checked_name(given.predicate, at="predicate")[:MOST_PREDICATE]
    memory = NewMemory(
        **triple,
        type=given.type,
        polarity=given.polarity,
        status=_KEPT[given.status],
        content=cleaned_text(given.content, at="content", most=MOST_CONTENT),
        subject=Mention(text=checked_name(given.subject or "", at="subject")),
        source_confidence=SourceConfidence.INFERRED,
        grounding=Grounding.UNKNOWN,
        extractor=EXTRACTOR,
        metadata=metadata,
        importance=min(1.0, max(0.0, given.importance)),
        confidence=None if given.confidence is None else min(1.0, max(0.0, given.confidence)),
        tags=tuple(checked_name(tag, at="tags") for tag in given.tags),
        said_at=checked_said_at(given.said_at, at="said_at", now=source.now),
        valid_from=checked_moment(given.valid_from, at="valid_from"),
        valid_until=checked_moment(given.valid_until, at="valid_until"),
        expires_at=checked_moment(given.expires_at, at="expires_at"),
        agent_scope=AgentScope(**{name: checked_name(getattr(given, name), at=name) for name in _AGENT}),
        private_to=checked_name(given.private_to, at="private_to"),
    )
    check_new(memory, at="", now=source.now)
    return ImportEntry(source.owner(given.user_id), checked_name(given.id, at="id")[:MOST_NAME], memory)


def with_origin(memory: NewMemory, name: str, *, file_format: str, import_id: str) -> NewMemory:
    """Return a memory with its origin in its metadata: the format, its identifier in the file, and the import."""
    origin = {"from": file_format, "id": name, "import": import_id}
    return memory.evolve(metadata={**memory.metadata, ORIGIN: origin})
