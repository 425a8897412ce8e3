"""Memories of mem0, and those exported here: as sure as hearsay can be.

Their words were chosen by an extractor that we don't know, and no quote supports them: by the formula of confidence
they are told at normal stakes, and never at high ones, until a person or the end user confirms them.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

import msgspec

from apps.imports.readers.entries import (
    MOST_CONTENT,
    MOST_NAME,
    ImportedMemory,
    ImportEntry,
    ImportSource,
    end_of_day,
    fields_of,
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
_HEARSAY = {"source_confidence": SourceConfidence.INFERRED, "grounding": Grounding.UNKNOWN, "extractor": EXTRACTOR}
_KEPT = {Status.ACTIVE: None, Status.PENDING_REVIEW: Status.PENDING_REVIEW, Status.SUPERSEDED: Status.SUPERSEDED}
_COPIED = "type content polarity tags said_at valid_from valid_until expires_at private_to".split()
Name = Annotated[str, msgspec.Meta(max_length=MOST_NAME)]


def read_mem0(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a memory of mem0 as a fact; relations of its graph are not read."""
    fields = fields_of(raw)
    content, external_id = fields.get("memory", fields.get("data")), text_of(fields.get("id"))
    if not isinstance(content, str) or not external_id:
        raise BadInput("has no memory or no id")
    metadata, categories = fields.get("metadata"), fields.get("categories")
    memory = NewMemory(
        type=MemoryType.FACT,
        content=content,
        metadata=(metadata if isinstance(metadata, dict) else {})
        | ({"categories": categories} if isinstance(categories, list) and categories else {}),
        said_at=moment_of(fields.get("created_at")),
        expires_at=end_of_day(fields.get("expiration_date")),
        agent_scope=AgentScope(
            **{name: text_of(fields.get(name))[:MOST_NAME] for name in ("agent_id", "app_id", "run_id")}
        ),
    )
    yield _hearsay(source.owner(text_of(fields.get("user_id"))), external_id, memory, source.now)


class _Memory(msgspec.Struct, kw_only=True):
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


def read_memory(raw: Any, at: str, source: ImportSource) -> Iterator[ImportEntry]:
    """Yield a memory that holds or held, without its history. Raises BadInput for one that was taken back."""
    line = msgspec.convert(raw, _Memory)
    if line.status not in _KEPT:
        raise BadInput(f"is {line.status}")
    triple: dict[str, Any] = {}
    if line.predicate and line.object:
        triple = {"predicate": line.predicate, "object": ObjectValue(literal=line.object)}
        triple["stateful"] = is_stateful(line.predicate)
    memory = NewMemory(
        **{name: getattr(line, name) for name in _COPIED},
        **triple,
        subject=Mention(text=line.subject or ""),
        importance=min(1.0, max(0.0, line.importance)),
        confidence=None if line.confidence is None else min(1.0, max(0.0, line.confidence)),
        status=_KEPT[line.status],
        agent_scope=AgentScope(agent_id=line.agent_id, app_id=line.app_id, run_id=line.run_id),
    )
    yield _hearsay(source.owner(line.user_id), line.id, memory, source.now)


def _hearsay(user_id: str, external_id: str, new: NewMemory, now: datetime) -> ImportedMemory:
    """Return the memory as hearsay with its text cleaned. Raises BadInput."""
    literal = new.object.literal
    try:
        check_json(new.metadata, max_depth=METADATA_DEPTH)
    except BadInput as bad:
        raise BadInput(str(bad), at="metadata") from bad  # without the place in it: its keys are words too
    if len(msgspec.json.encode(new.metadata)) > METADATA_BYTES:
        raise BadInput(f"is larger than {METADATA_BYTES:,} bytes", at="metadata")
    checked = new.evolve(
        **_HEARSAY,
        content=cleaned_text(new.content, at="content", most=MOST_CONTENT),
        subject=replace(new.subject, text=checked_name(new.subject.text, at="subject")),
        predicate=checked_name(new.predicate, at="predicate")[:MOST_PREDICATE],
        object=new.object
        if literal is None
        else replace(new.object, literal=checked_name(literal, at="object")[:MOST_OBJECT]),
        tags=tuple(checked_name(tag, at="tags") for tag in new.tags),
        private_to=checked_name(new.private_to, at="private_to"),
        said_at=checked_said_at(new.said_at, at="said_at", now=now),
        valid_from=checked_moment(new.valid_from, at="valid_from"),
        valid_until=checked_moment(new.valid_until, at="valid_until"),
        expires_at=checked_moment(new.expires_at, at="expires_at"),
    )
    for name, value in new.agent_scope.given().items():
        checked_name(value, at=name)
    check_new(checked, at="", now=now)
    return ImportedMemory(user_id, checked_name(external_id, at="id")[:MOST_NAME], checked)


def with_origin(entry: ImportedMemory, *, file_format: str, import_id: str) -> NewMemory:
    """Return the memory with its origin in its metadata: the format, its identifier in the file, and the import."""
    origin = {"from": file_format, "id": entry.external_id, "import": import_id}
    return entry.memory.evolve(metadata={**entry.memory.metadata, ORIGIN: origin})
