"""Memories of another product as memories of this one: as sure as hearsay can be.

Their words were chosen by an extractor that we don't know, and no quote supports them: by the formula of confidence
they are told at normal stakes, and never at high ones, until a person or the end user confirms them.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from apps.imports.readers.entries import (
    MOST_CONTENT,
    MOST_NAME,
    MOST_TOPIC,
    ImportedMemory,
    ImportProblem,
    checked_user,
)
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import Grounding, SourceConfidence
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
from apps.pipeline.direct_write.new_memory import NewMemory, check_new

EXTRACTOR = "import"
ORIGIN = "imported"  # the key of the metadata under which the origin of an imported memory is kept
MOST_PREDICATE = 64
MOST_OBJECT = 2_000
_HEARSAY = {"source_confidence": SourceConfidence.INFERRED, "grounding": Grounding.UNKNOWN, "extractor": EXTRACTOR}


def checked_memory(entry: ImportedMemory, *, now: datetime) -> ImportedMemory | ImportProblem:
    """Return the memory as hearsay with its text cleaned, or the problem that makes it invalid."""
    new = entry.memory
    try:
        checked = new.evolve(
            **_HEARSAY,
            content=cleaned_text(new.content, at="content", most=MOST_CONTENT),
            subject=replace(new.subject, text=checked_name(new.subject.text, at="subject")),
            predicate=checked_name(new.predicate, at="predicate")[:MOST_PREDICATE],
            object=replace(new.object, literal=_object(new.object.literal)),
            topic=checked_name(new.topic, at="topic")[:MOST_TOPIC],
            tags=tuple(checked_name(tag, at="tags") for tag in new.tags),
            metadata=_metadata(new.metadata),
            agent_scope=_agent_scope(new.agent_scope),
            private_to=checked_name(new.private_to, at="private_to"),
            said_at=checked_said_at(new.said_at, at="said_at", now=now),
            valid_from=checked_moment(new.valid_from, at="valid_from"),
            valid_until=checked_moment(new.valid_until, at="valid_until"),
            expires_at=checked_moment(new.expires_at, at="expires_at"),
        )
        check_new(checked, at="")
        return ImportedMemory(
            entry.at, checked_user(entry.user_id), checked_name(entry.external_id, at="id")[:MOST_NAME], checked
        )
    except BadInput as bad:
        return ImportProblem(entry.at, f"{bad.at.removeprefix('/')} {bad}")


def _object(literal: str | None) -> str | None:
    return None if literal is None else checked_name(literal, at="object")[:MOST_OBJECT]


def _agent_scope(scope: AgentScope) -> AgentScope:
    for name, value in scope.given().items():
        checked_name(value, at=name)
    return scope


def _metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return metadata as large as a caller's. Raises BadInput without its place in them: their keys are words too."""
    try:
        check_json(metadata, max_depth=METADATA_DEPTH)
    except BadInput as bad:
        raise BadInput(str(bad), at="metadata") from bad
    if len(msgspec.json.encode(metadata)) > METADATA_BYTES:
        raise BadInput(f"is larger than {METADATA_BYTES:,} bytes", at="metadata")
    return metadata


def with_origin(entry: ImportedMemory, *, file_format: str, import_id: str) -> NewMemory:
    """Return the memory with its origin in its metadata: the format, its identifier in the file, and the import."""
    origin = {"from": file_format, "id": entry.external_id, "import": import_id}
    return entry.memory.evolve(metadata={**entry.memory.metadata, ORIGIN: origin})
